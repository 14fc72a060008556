"""The workspace on disk."""
