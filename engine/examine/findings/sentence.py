"""One sentence of a verdict and its level.

Light: the web process imports this.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Level = Literal["leak", "unsure", "chance", "unknown", "proof", "no proof"]

NEGLIGIBLE = 0.02  # an excess whose upper end is at most this is called chance


@dataclass(frozen=True)
class Sentence:
    """One sentence of the privacy verdict, its level, and the finding or table it rests on."""

    text: str
    level: Level
    finding: str
