"""Readers of JSON: a list of objects, or an object a line."""
