"""Prefixes trained on control codes and texts, plain and turned away from private values (Zhao and Field 2025)."""
