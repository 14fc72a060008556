"""Equal samples for every measure of usefulness: synthetic text, two halves of the real text, unrelated text.

The training part is cut in two by units; synthetic text and the second half are both held against the first. Where
records name their source, those that stem from the first half are left out of the comparison, so a rewritten record is
never held against itself. The same examination gets the same samples, and gets them once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from engine.examine.base import Side
from engine.examine.prepare import Prepared
from engine.examine.samples import halves, sample, sample_units
from engine.examine.usefulness.base import Need, Sample
from engine.examine.usefulness.meaning.distribution import clustered
from engine.examine.usefulness.meaning.embeddings import embedded
from engine.examine.usefulness.wording.features import of_texts, usual_headings

FEWEST_APART = 50
TARGET, REAL = "target", "real"  # for what units are put in seeded order
UNRELATED = 200  # unrelated texts embedded: they give a level, not a number to report closely


@dataclass(frozen=True)
class Trio:
    """Equal samples: synthetic, the real target, other real text; and unrelated text (maybe fewer)."""

    synthetic: Sample
    target: Sample
    real: Sample
    unrelated: Sample | None
    apart: bool


def as_sample(side: Side) -> Sample:
    """Return a side as metrics take it."""
    words = tuple(side.words.of(row) for row in range(len(side)))
    return Sample(words, side.units, side.embeddings, texts=tuple(str(text) for text in side.texts))


@dataclass(frozen=True)
class Sides:
    """Equal sides: synthetic, the real target, other real text; and unrelated text (maybe fewer).

    apart: whether synthetic records that stem from the target were left out.
    """

    synthetic: Side
    target: Side
    real: Side
    unrelated: Side | None
    apart: bool

    def samples(self) -> Trio:
        """Return the sides as metrics take them; fewer real texts of them are those that a smaller examination has."""
        other = None if self.unrelated is None else as_sample(self.unrelated)
        target, real = replace(as_sample(self.target), order=TARGET), replace(as_sample(self.real), order=REAL)
        return Trio(as_sample(self.synthetic), target, real, other, self.apart)


def equal_sides(prepared: Prepared, largest: int, embed: bool, unrelated: Side | None) -> Sides:
    """Return sides of at most `largest` texts, the same ones for the same examination, with embeddings if asked for."""
    key = f"sides {largest} {embed} {unrelated is None}"
    if key not in prepared.kept:
        prepared.kept[key] = _equal_sides(prepared, largest, embed, unrelated)
    found: Sides = prepared.kept[key]
    return found


def _equal_sides(prepared: Prepared, largest: int, embed: bool, unrelated: Side | None) -> Sides:
    train, synthetic, seed = prepared.train, prepared.synthetic, prepared.seed
    rows = prepared.embedding_rows() if embed else {}
    pool = train.take(rows["train"]) if embed else train
    texts = synthetic.take(rows["synthetic"]) if embed else synthetic
    first = halves(train.units, seed, "halves")
    in_first = dict(zip(train.record_ids, first, strict=True))
    first_rows = np.array([in_first[record] for record in pool.record_ids], bool)
    usable = without_sources(texts, in_first)
    apart = usable is not None
    made = np.arange(len(texts)) if usable is None else usable
    one, other_half = np.flatnonzero(first_rows), np.flatnonzero(~first_rows)
    size = min(largest, len(one), len(other_half), len(made))
    target = pool.take(one[sample_units(pool.units[one], size, seed, TARGET)])  # what is taken alone is copied
    real = pool.take(other_half[sample_units(pool.units[other_half], size, seed, REAL)])
    texts = texts.take(made[sample(texts.record_ids[made], size, seed, "utility")])
    other = None
    if unrelated is not None and len(unrelated):
        most = min(size, UNRELATED) if embed else size
        other = unrelated.take(sample(unrelated.record_ids, most, seed, "unrelated"))
    if embed:
        texts, target, real = (
            prepared.embedded(side, name) for side, name in ((texts, "synthetic"), (target, "train"), (real, "train"))
        )
        other = None if other is None else prepared.embedded(other, "unrelated")
    return Sides(texts, target, real, other, apart)


def pick(prepared: Prepared, largest: int, needs: Need, unrelated: Side | None) -> Trio:
    """Return the samples for metrics of at most `largest` texts a side."""
    key = f"samples {largest} {needs} {unrelated is None}"
    if key not in prepared.kept:
        prepared.kept[key] = _pick(prepared, largest, needs, unrelated)
    found: Trio = prepared.kept[key]
    return found


def _pick(prepared: Prepared, largest: int, needs: Need, unrelated: Side | None) -> Trio:
    found = equal_sides(prepared, largest, needs == "embeddings", unrelated).samples()
    if needs == "embeddings":
        return _with_clusters(found, prepared.seed)
    return _with_features(found) if needs == "features" else found


def _with_features(trio: Trio) -> Trio:
    """Return the samples with what is counted in each text."""
    names = ("synthetic", "target", "real", "unrelated")
    sides = [side for name in names if (side := getattr(trio, name)) is not None]
    headings = usual_headings(trio.target)
    counted = [replace(side, features=of_texts(side.texts, headings)) for side in sides]
    return Trio(counted[0], counted[1], counted[2], counted[3] if len(counted) > 3 else None, trio.apart)


def _with_clusters(trio: Trio, seed: int) -> Trio:
    """Return the samples with the clusters of both halves of the real text, so that no half has made them alone."""
    centres = clustered(np.concatenate([embedded(trio.target), embedded(trio.real)]), seed)
    return Trio(
        replace(trio.synthetic, centres=centres), replace(trio.target, centres=centres),
        replace(trio.real, centres=centres),
        None if trio.unrelated is None else replace(trio.unrelated, centres=centres), trio.apart,
    )  # fmt: skip


def without_sources(texts: Side, in_first: dict[str, bool]) -> NDArray[np.int64] | None:
    """Return the rows that stem from no record of the first half, or None where that leaves too few or all.

    Args:
        in_first: whether a training record is in the first half, by its id.
    """
    if texts.lineage is None:
        return None
    rows = np.flatnonzero([not in_first.get(source, False) for source in texts.lineage])
    return rows if min(FEWEST_APART, len(texts) / 4) <= len(rows) < len(texts) else None
