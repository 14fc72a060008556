"""What a finding's words are made of.

Light: the web process imports this.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from engine.examine.findings import Direction, Group

Scale = Literal["share", "number", "cosine", "divergence", "score"]
LOWER: Direction = "lower is safer"
REAL: Direction = "closer to real is better"


@dataclass(frozen=True)
class Measure:
    """A finding's words.

    Args:
        name: the finding's name.
        title: a few plain words for an axis or a row.
        measure: what is measured, with its unit.
        direction, group: as in `Finding`.
        scale: how to print it (`share` as per cent).
        means: what a reader may take from it.
        caveat: what it does not show.
        source: author, year, section of the definition.
    """

    name: str
    title: str
    measure: str
    direction: Direction
    group: Group
    scale: Scale
    means: str
    caveat: str
    source: str
