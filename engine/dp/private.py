"""Private data behind mechanisms: the only way a `dp` method touches records."""

from __future__ import annotations


class Mechanisms:
    """Data-bound noisy statistics."""
