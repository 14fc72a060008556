"""Attacks: they produce scores, never verdicts.

`ATTACKS` lists every attack on released text; a new one is one file and one entry here.
"""

from __future__ import annotations

from engine.examine.base import Attack, Scores, Side
from engine.examine.repeats import longest_run, nearest, verbatim
from engine.examine.repeats import near_copies_scores as near_copies
from engine.examine.values import detected, entities

ATTACKS: tuple[Attack, ...] = (
    Attack("pipp", "Records with a private entity", ("spans",), entities.score_records),
    Attack("elp", "Private entities that leaked", ("spans",), entities.score_entities),
    Attack("pii_rate", "Identifiers a detector finds", ("detections",), detected.score),
    Attack("verbatim_8gram", "Records with an eight-word copy", (), verbatim.score),
    Attack("near_copies_05", "Records close to a copy", (), near_copies.score),
    Attack("longest_run", "Longest run of shared words", (), longest_run.score),
    Attack("nearest_similarity", "Closeness to the nearest record", ("embeddings",), nearest.score),
)

__all__ = ["ATTACKS", "Attack", "Scores", "Side"]
