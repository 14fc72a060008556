"""Clinic letters in German."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from engine.training.samples.abroad import GERMAN, letters
from engine.training.samples.grammar import Segment
from engine.training.samples.novelty import Novelty

SOURCE_PREFIX = "patient-de-"


def source(rng: Random, visits: int, novelty: Novelty) -> Iterator[tuple[list[Segment], str]]:
    """Yield the segments and outcome of each of a patient's records, oldest first."""
    yield from letters(GERMAN, rng, visits, novelty)
