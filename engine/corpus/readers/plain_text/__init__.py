"""Readers of plain text: a folder of files, or a zip archive of one."""
