"""Findings from near-verbatim copies and from the longest run of words a record shares with another.

The `train` rows hold every training record against the synthetic ones: that is the threat. A highest value over more
records is larger by itself, so settings carry `equal_size_value`, and the `_excess` rows compare equal numbers. The
`baseline` rows put holdout records in the place of the synthetic ones: the level of stock phrases.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from engine.corpus.text.words import WordTable
from engine.examine.base import Side
from engine.examine.each import each_output
from engine.examine.findings.findings import Finding
from engine.examine.findings.make import finding, missing
from engine.examine.findings.part import Part
from engine.examine.prepare import NEAR_DUPLICATES, Prepared
from engine.examine.repeats.longest_run import common_run, longest_runs
from engine.examine.repeats.near_copies_scores import (
    SHINGLE_WORDS,
    Groups,
    NearPairs,
    near_pairs,
    near_pairs_in_blocks,
    sketch,
)
from engine.examine.samples import sample_units
from engine.examine.stats import intervals
from engine.examine.stats.highest import highest_excess, parts_of, share_excess
from engine.examine.values.leaks import NO_HOLDOUT
from engine.json_types import JSON

STAGE = "near copies"
RUNS = "longest shared runs"
LEVELS = (("near_copies_05", 0.5), ("near_copies_08", 0.8))
DUPLICATE = 0.7  # as at import
PAIRS_A_RECORD = 5
MOST_PAIRS = 1000
WHAT = "holdout records in the place of the synthetic ones, against the training part"
COLUMNS = ["record_id", "reference", "source_record_id", "equal_records", "jaccard", "estimate", "words",
           "start", "end", "source_start", "source_end"]  # fmt: skip

Numbers = NDArray[np.float64]


def examine_near_copies(prepared: Prepared) -> Part:
    """Return shares of near copies and longest shared runs, each against train, holdout and baseline, and the pairs."""
    part = Part()
    size = min(len(prepared.train), len(prepared.holdout))
    small = sample_units(prepared.train.units, size, prepared.seed, "equal size")
    _copies(prepared, small, part)
    _runs(prepared, small, part)
    return part


@dataclass(frozen=True)
class _Levels:
    """One number a record: synthetic against train, an equal-size part of it, and holdout; holdout against train."""

    train: Numbers
    small: Numbers
    holdout: Numbers
    baseline: Numbers


@dataclass(frozen=True)
class _Found:
    """The distinct texts of the three sides, and the near pairs of synthetic and real ones."""

    made: Groups
    train: Groups
    holdout: Groups
    to_train: NearPairs
    to_holdout: NearPairs
    real: NearPairs


def _pairs(prepared: Prepared) -> _Found:
    """Return the near pairs; the training texts pass by in blocks, and all hashes are gone afterwards."""

    def told(name: str) -> Callable[[int, int], None]:
        return lambda done, total: prepared.report(f"{STAGE}: {name}", done, total)

    made = sketch(prepared.synthetic.texts.tolist(), told("synthetic"))
    holdout = sketch(prepared.holdout.texts.tolist(), told("holdout"))
    to_holdout = near_pairs(made, holdout, prepared.check)
    train, (to_train, real) = near_pairs_in_blocks((made, holdout), prepared.train.texts.tolist(), told("train"))
    return _Found(made.groups, train, holdout.groups, to_train, to_holdout, real)


def _copies(prepared: Prepared, small: NDArray[np.int64], part: Part) -> None:
    """Add the shares of near copies, the table of pairs, and a signal a synthetic record."""
    found = _pairs(prepared)
    made, train, holdout = found.made, found.train, found.holdout
    to_train, to_holdout, real = found.to_train, found.to_holdout, found.real
    levels = _Levels(to_train.best(made), to_train.best(made, train.holds(small)), to_holdout.best(made),
                     real.best(holdout))  # fmt: skip
    ours = _by_tenth(prepared, prepared.train, small, lambda rows: to_train.best(made, train.holds(rows)))
    theirs = _by_tenth(prepared, prepared.holdout, np.arange(len(prepared.holdout)),
                       lambda rows: to_holdout.best(made, holdout.holds(rows)))  # fmt: skip
    _keep_duplicates(prepared, real, train, holdout)
    for name, least in LEVELS:
        excess = (
            share_excess(ours >= least, theirs >= least, prepared.synthetic_groups()) if len(prepared.holdout) else None
        )
        part.findings += _triple(prepared, name, levels, least, excess, threshold=least, shingle_words=SHINGLE_WORDS)
        part.add(Part(tables=each_output(prepared, name, "train", levels.train >= least)))
        if len(prepared.holdout):
            more = (levels.small >= least).astype(float) - (levels.holdout >= least)
            part.add(Part(tables=each_output(prepared, f"{name}_excess", "holdout", more)))
    part.signals |= {"near_train": levels.train, "near_holdout": levels.holdout}
    rows = _pair_rows(prepared, "train", to_train, made, train)
    rows += _pair_rows(prepared, "holdout", to_holdout, made, holdout)
    part.tables["near_copies"] = pd.DataFrame(rows, columns=COLUMNS)
    prepared.report(STAGE, 3, 3)


def _by_tenth(
    prepared: Prepared, side: Side, rows: NDArray[np.int64], best: Callable[[NDArray[np.int64]], Numbers]
) -> Numbers:
    """Return a column a tenth of the units of a side's rows: what the synthetic records reach there at best."""
    tenths = parts_of(side.units[rows], prepared.seed)
    columns = [best(rows[tenths == tenth]) for tenth in np.unique(tenths)]
    return np.column_stack(columns) if columns else np.empty((len(prepared.synthetic), 0))


def _runs(prepared: Prepared, small: NDArray[np.int64], part: Part) -> None:
    """Add the mean of the longest run of words each record shares with one reference record."""
    made, train, holdout = prepared.synthetic.words, prepared.train, prepared.holdout

    def longest(ours: WordTable, theirs: WordTable) -> Numbers:
        return longest_runs(ours, theirs, lambda done, total: prepared.check()).astype(np.float64)

    def by_tenth(side: Side) -> Numbers:
        return _by_tenth(prepared, side, np.arange(len(side)), lambda rows: longest(made, side.words.take(rows)))

    prepared.report(RUNS, 0, 4)
    whole = longest(made, train.words)
    part.signals["longest_shared_train"] = whole
    part.add(Part(tables=each_output(prepared, "longest_run", "train", whole)))
    if not len(holdout):
        empty = np.zeros(len(made.counts))
        part.findings += _triple(prepared, "longest_run", _Levels(whole, empty, empty, empty), None)
        return
    prepared.report(RUNS, 1, 4)
    ours = by_tenth(train.take(small))
    prepared.report(RUNS, 2, 4)
    theirs = by_tenth(holdout)
    prepared.report(RUNS, 3, 4)
    levels = _Levels(whole, ours.max(axis=1), theirs.max(axis=1), longest(holdout.words, train.words))
    excess = highest_excess(ours, theirs, prepared.synthetic_groups())
    part.findings += _triple(prepared, "longest_run", levels, None, excess)
    prepared.report(RUNS, 4, 4)


def _triple(
    prepared: Prepared,
    name: str,
    levels: _Levels,
    least: float | None,
    excess: intervals.Interval | None = None,
    **settings: JSON,
) -> list[Finding]:
    """Return train, holdout, baseline and excess of one measure: its mean, or the share of at least `least`."""
    groups = prepared.synthetic_groups()
    real_groups = prepared.holdout.units if prepared.grouped else None

    def level(values: Numbers, units: NDArray[np.object_] | None) -> intervals.Interval:
        if least is None:
            return intervals.mean(values, prepared.seed, units)
        return intervals.share(np.asarray(values >= least), units)

    size = min(len(prepared.train), len(prepared.holdout))
    train = settings | {"reference_records": len(prepared.train), "highest": float(levels.train.max())}
    if not size:
        why = [missing(name, "holdout", NO_HOLDOUT), missing(name, "baseline", NO_HOLDOUT)]
        return [finding(name, "train", level(levels.train, groups), **train), *why,
                missing(f"{name}_excess", "holdout", NO_HOLDOUT)]  # fmt: skip
    equal = float(np.mean(levels.small if least is None else levels.small >= least))
    assert excess is not None
    return [
        finding(name, "train", level(levels.train, groups), equal_size_value=equal, **train),
        finding(name, "holdout", level(levels.holdout, groups), reference_records=len(prepared.holdout),
                highest=float(levels.holdout.max()), **settings),
        finding(name, "baseline", level(levels.baseline, real_groups), what=WHAT,
                highest=float(levels.baseline.max()), **settings),
        finding(f"{name}_excess", "holdout", excess, reference_records=size, **settings),
    ]  # fmt: skip


def _keep_duplicates(prepared: Prepared, real: NearPairs, train: Groups, holdout: Groups) -> None:
    """Leave word which records have a near-duplicate on the other side, so that nobody looks for them again."""
    close = real.jaccard >= DUPLICATE
    sides = []
    for groups, one in ((real.theirs[close], train), (real.ours[close], holdout)):
        flags = np.zeros(len(one.first) + 1, bool)  # one more, for texts without words (-1)
        flags[groups] = True
        sides.append(flags[one.group])
    prepared.kept.setdefault(NEAR_DUPLICATES, (sides[0], sides[1]))


def _pair_rows(
    prepared: Prepared, name: str, pairs: NearPairs, made: Groups, reference: Groups
) -> list[tuple[object, ...]]:
    """Return the closest pairs of each synthetic record: ids, similarities, and where the longest shared run lies."""
    side: Side = getattr(prepared, name)
    mine, theirs = prepared.synthetic, side
    starts = np.searchsorted(pairs.ours, np.arange(len(made.first) + 1))
    best = pairs.best(made)
    rows: list[tuple[object, ...]] = []
    for row in np.argsort(-best, kind="stable").tolist():
        if best[row] == 0 or len(rows) >= MOST_PAIRS:
            break
        prepared.check()
        group = made.group[row]
        for slot in range(starts[group], min(starts[group + 1], starts[group] + PAIRS_A_RECORD)):
            source = int(reference.first[pairs.theirs[slot]])
            words, at, there = common_run(mine.words.of(row), theirs.words.of(source))
            head = (mine.record_ids[row], name, theirs.record_ids[source],
                    int(reference.sizes[pairs.theirs[slot]]), float(pairs.jaccard[slot]),
                    float(pairs.estimate[slot]), words)  # fmt: skip
            rows.append((*head, *_offsets(mine, row, at, words), *_offsets(theirs, source, there, words)))
    return rows


def _offsets(side: Side, row: int, first: int, words: int) -> tuple[int, int]:
    """Return the code-point offsets of a run of words in a text; (0, 0) for none."""
    if not words:
        return 0, 0
    start = int(side.words.offsets[row]) + first
    return int(side.words.starts[start]), int(side.words.ends[start + words - 1])
