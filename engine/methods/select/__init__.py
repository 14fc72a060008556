"""Texts made elsewhere, chosen here by noisy votes of private records."""
