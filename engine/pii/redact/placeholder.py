"""Redact with the type in square brackets: `[PERSON]`."""

from __future__ import annotations

from dataclasses import dataclass

from engine.pii.redact.base import Memory


@dataclass(frozen=True)
class Placeholder:
    """Write the type instead of the value."""

    id: str = "placeholder"
    title: str = "Type in brackets"
    sentence: str = "Each value becomes its type in brackets, such as [PERSON]."

    def replacement(self, value: str, label: str, memory: Memory) -> str:
        """Return the bracketed type."""
        return f"[{label}]"
