"""Clinic letters in Estonian."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from engine.training.samples.abroad import ESTONIAN, letters
from engine.training.samples.grammar import Segment
from engine.training.samples.novelty import Novelty

SOURCE_PREFIX = "patient-et-"


def source(rng: Random, visits: int, novelty: Novelty) -> Iterator[tuple[list[Segment], str]]:
    """Yield the segments and outcome of each of a patient's records, oldest first."""
    yield from letters(ESTONIAN, rng, visits, novelty)
