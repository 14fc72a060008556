"""Redact by leaving the value out."""

from __future__ import annotations

from dataclasses import dataclass

from engine.pii.redact.base import Memory


@dataclass(frozen=True)
class Remove:
    """Leave the value out."""

    id: str = "remove"
    title: str = "Removed"
    sentence: str = "Each value is left out, and one of the blanks around it with it."

    def replacement(self, value: str, label: str, memory: Memory) -> str:
        """Return nothing."""
        return ""
