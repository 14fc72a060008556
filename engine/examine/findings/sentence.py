"""One sentence of a verdict and its level.

Light: the web process imports this.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Level = Literal["leak", "slight", "unsure", "chance", "unknown", "proof", "no proof"]

NEGLIGIBLE = 0.02  # an excess whose upper end is at most this is called chance
BARELY = 0.10  # an unsure excess that ends at most here, or an unsure attack at most so far from chance, shows nothing


@dataclass(frozen=True)
class Sentence:
    """One sentence of the privacy verdict, its level, the finding or table it rests on, and what was held together.

    Args:
        brief: the same in one short line; empty where `text` is one already.
        nothing: of an unsure one: nothing beyond chance was seen, and its text says what the size cannot exclude.
        look: of an unsure one: no number tells whether it is chance, so a person has to look at it.
    """

    text: str  # names one number, or one beside what chance gives
    level: Level
    finding: str
    more: str = ""  # whole sentences in small print, one number a line: the other numbers
    brief: str = ""
    nothing: bool = False
    look: bool = False
