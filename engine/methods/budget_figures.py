"""One line of what a budget buys, as the Plan page shows it before any private text is looked at."""

from __future__ import annotations


def row(figure: str, value: str, reference: str) -> dict[str, str]:
    """Return a line of what a budget buys."""
    return {"figure": figure, "value": value, "reference": reference}
