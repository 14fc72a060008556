"""Usefulness measures of synthetic text."""
