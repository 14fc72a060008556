"""Redact with blocks of the value's own length."""

from __future__ import annotations

from dataclasses import dataclass

from engine.pii.redact.base import Memory

BLOCK = "█"


@dataclass(frozen=True)
class Mask:
    """Black out each character."""

    id: str = "mask"
    title: str = "Blacked out"
    sentence: str = "Each value becomes blocks of the same length; the length stays visible."

    def replacement(self, value: str, label: str, memory: Memory) -> str:
        """Return as many blocks as the value has characters."""
        return BLOCK * len(value)
