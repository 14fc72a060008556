"""Utility findings: each metric for synthetic, for real against real at the same n, and for unrelated text.

The training part is cut in two by units. `train` rows hold synthetic texts against the first half, `real`
rows texts of the second half, equally many. Where records name their source, those that stem from the
first half are left out of the comparison, so a rewritten record is never held against itself.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from engine.examine.base import Side
from engine.examine.findings import Finding, Reference
from engine.examine.make import finding, missing
from engine.examine.prepare import Prepared
from engine.examine.samples import halves, sample, sample_units
from engine.examine.stats import intervals
from engine.examine.stats.intervals import Interval
from engine.examine.usefulness.distribution import PERMUTATIONS, chance_of_kid, clustered
from engine.examine.usefulness.embeddings import buckets, embedded
from engine.examine.usefulness.metrics import METRICS, Metric, Sample
from engine.json_types import JSON

FEWEST_APART = 50
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
    return Sample(tuple(side.words.of(row) for row in range(len(side))), side.units, side.embeddings)


def pick(prepared: Prepared, largest: int, embed: bool, unrelated: Side | None) -> Trio:
    """Return the samples for metrics of at most `largest` texts a side."""
    train, synthetic, seed = prepared.train, prepared.synthetic, prepared.seed
    rows = prepared.embedding_rows() if embed else {}
    pool = train.take(rows["train"]) if embed else train
    texts = synthetic.take(rows["synthetic"]) if embed else synthetic
    first = halves(train.units, seed, "halves")
    in_first = dict(zip(train.record_ids, first, strict=True))
    first_rows = np.array([in_first[record] for record in pool.record_ids], bool)
    usable = _apart(texts, in_first)
    apart = usable is not None
    texts = texts.take(usable) if usable is not None else texts
    target, real = pool.take(np.flatnonzero(first_rows)), pool.take(np.flatnonzero(~first_rows))
    size = min(largest, len(target), len(real), len(texts))
    target = target.take(sample_units(target.units, size, seed, "target"))
    real = real.take(sample_units(real.units, size, seed, "real"))
    texts = texts.take(sample(texts.record_ids, size, seed, "utility"))
    other = None
    if unrelated is not None and len(unrelated):
        most = min(size, UNRELATED) if embed else size
        other = unrelated.take(sample(unrelated.record_ids, most, seed, "unrelated"))
    if embed:
        texts, target, real = (
            prepared.embedded(side, name) for side, name in ((texts, "synthetic"), (target, "train"), (real, "train"))
        )
        other = None if other is None else prepared.embedded(other, "unrelated")
    found = Trio(
        as_sample(texts), as_sample(target), as_sample(real), None if other is None else as_sample(other), apart
    )
    return _with_clusters(found, seed) if embed else found


def _with_clusters(trio: Trio, seed: int) -> Trio:
    """Return the samples with the clusters of both halves of the real text, so that no half has made them alone."""
    centres = clustered(np.concatenate([embedded(trio.target), embedded(trio.real)]), seed)
    return Trio(
        replace(trio.synthetic, centres=centres), replace(trio.target, centres=centres),
        replace(trio.real, centres=centres),
        None if trio.unrelated is None else replace(trio.unrelated, centres=centres), trio.apart,
    )  # fmt: skip


def _apart(texts: Side, in_first: dict[str, bool]) -> NDArray[np.int64] | None:
    """Return the rows that stem from no record of the first half, or None where that leaves too few or all."""
    if texts.lineage is None:
        return None
    rows = np.flatnonzero([not in_first.get(source, False) for source in texts.lineage])
    return rows if min(FEWEST_APART, len(texts) / 4) <= len(rows) < len(texts) else None


def examine_usefulness(prepared: Prepared, unrelated: Side | None) -> list[Finding]:
    """Return the rows of every metric."""
    rows: list[Finding] = []
    trios: dict[tuple[int, bool], Trio] = {}
    for done, metric in enumerate(METRICS):
        prepared.report("utility", done, len(METRICS))
        embed = metric.needs == "embeddings"
        if embed and prepared.given.embedder is None:
            why = "no embedder was given"
            rows += [missing(metric.name, "train", why), missing(metric.name, "real", why)]
            continue
        key = (metric.largest, embed)
        if key not in trios:
            trios[key] = pick(prepared, metric.largest, embed, unrelated)
        rows += _rows(metric, trios[key], prepared)
    prepared.report("utility", len(METRICS), len(METRICS))
    return rows


def _rows(metric: Metric, trio: Trio, prepared: Prepared) -> list[Finding]:
    """Return the `train`, `real` and `unrelated` rows of one metric.

    A metric of one sample alone is cut to what synthetic and real text both have, so neither is favoured.
    """
    rows: list[Finding] = []
    cases: list[tuple[Reference, Sample, Sample]] = [
        ("train", trio.synthetic, trio.target if metric.pair else trio.real),
        ("real", trio.real, trio.target if metric.pair else trio.synthetic),
    ]
    if trio.unrelated is not None and metric.pair:
        cases.append(("unrelated", trio.unrelated, trio.target))
    for reference, candidate, target in cases:
        size = min(len(candidate), len(target))
        settings: dict[str, JSON] = {"texts_a_side": size}
        if reference == "train":
            settings["own_sources_left_out"] = trio.apart
        if metric.name == "mauve":
            settings |= {"buckets": buckets(size), "note": f"compare only with MAUVE at {size} texts a side"}
        if size < metric.least:
            why = f"{size} texts a side are too few; at least {metric.least} are needed"
            rows.append(missing(metric.name, reference, why))
            continue
        if metric.excess and reference == "real":
            rows.append(finding(metric.name, reference, Interval(0.0, None, None, size, "none", "none"), **settings))
            continue
        target = target.take(np.arange(size)) if size < len(target) else target
        if metric.name == "kid" and reference != "unrelated":
            settings |= {"permutations": PERMUTATIONS, "p": chance_of_kid(candidate, target, prepared.seed)}
        less = trio.real.take(np.arange(size)) if metric.excess else None
        interval = _measured(metric, candidate, target, less, prepared, spread=reference != "unrelated")
        rows.append(finding(metric.name, reference, interval, **settings))
    return rows


def _measured(
    metric: Metric, candidate: Sample, target: Sample, less: Sample | None, prepared: Prepared, spread: bool
) -> Interval:
    """Return a metric's value with its interval: bootstrap where it is a mean, else jackknife over units.

    Where `less` is given, the value of `less` against the same target is taken off.
    """
    seed = prepared.seed
    whole = metric.score(candidate, target, seed)
    n = len(candidate)
    value = whole.value - (metric.score(less, target, seed).value if less is not None else 0.0)
    if not spread:
        return Interval(value, None, None, n, "none (a level to compare with)", "none")
    if whole.parts is not None and less is None:
        groups = candidate.units if prepared.grouped and len(whole.parts) == n else None
        interval = intervals.mean(whole.parts, seed, groups)
        return Interval(whole.value, interval.low, interval.high, len(whole.parts), interval.method, interval.source)
    sides = [candidate, *([target] if metric.pair else []), *([less] if less is not None else [])]
    ends = np.cumsum([len(side) for side in sides])

    def without(rows: NDArray[np.int64]) -> float:
        prepared.check()
        kept = [
            side.take(rows[(rows >= end - len(side)) & (rows < end)] - (end - len(side)))
            for side, end in zip(sides, ends, strict=True)
        ]
        right = kept[1] if metric.pair else target
        taken = metric.score(kept[2], right, seed).value if less is not None else 0.0
        return metric.score(kept[0], right, seed).value - taken

    interval = intervals.jackknife(without, np.concatenate([side.units for side in sides]), value, metric.bounds, seed)
    return Interval(interval.value, interval.low, interval.high, n, interval.method, interval.source)
