"""Attacks: they produce scores, never verdicts."""
