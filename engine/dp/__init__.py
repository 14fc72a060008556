"""Differential privacy: events, accounting and guarantees."""
