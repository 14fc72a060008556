"""One sentence of a verdict and its level.

Light: the web process imports this.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Level = Literal["leak", "slight", "unsure", "chance", "unknown", "proof", "no proof"]

NEGLIGIBLE = 0.02  # an excess whose upper end is at most this is called chance


@dataclass(frozen=True)
class Sentence:
    """One sentence of the privacy verdict, its level, the finding or table it rests on, and what was held together."""

    text: str  # names one number, or one beside what chance gives
    level: Level
    finding: str
    more: str = ""  # whole sentences in small print, one number a line: the other numbers
