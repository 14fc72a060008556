"""Utility findings: each metric for synthetic, for real against real at the same n, and for unrelated text.

`train` rows hold synthetic texts against the first half of the training part, `real` rows texts of the second half,
equally many (`sides`). What moves with the number of texts is taken at fixed smaller numbers too, of texts drawn from
the same ones, so that runs of other numbers can be held against each other (`engine.examine.findings.sizes`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.examine.base import Side
from engine.examine.findings.findings import Finding, Reference
from engine.examine.findings.make import finding, missing
from engine.examine.findings.sizes import FEWER, TEXTS, row, smaller
from engine.examine.prepare import Prepared
from engine.examine.stats import intervals
from engine.examine.stats.intervals import Interval
from engine.examine.usefulness.meaning.distribution import PERMUTATIONS, chance_of_kid
from engine.examine.usefulness.meaning.embeddings import buckets
from engine.examine.usefulness.metrics import METRICS, Metric, Sample
from engine.examine.usefulness.sides import Trio, pick
from engine.json_types import JSON


def examine_usefulness(prepared: Prepared, unrelated: Side | None) -> list[Finding]:
    """Return the rows of every metric."""
    rows: list[Finding] = []
    for done, metric in enumerate(METRICS):
        prepared.report("utility", done, len(METRICS))
        if metric.needs == "embeddings" and prepared.given.embedder is None:
            why = "no embedder was given"
            rows += [missing(metric.name, "train", why), missing(metric.name, "real", why)]
            continue
        rows += _rows(metric, pick(prepared, metric.largest, metric.needs, unrelated), prepared)
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
        settings: dict[str, JSON] = {TEXTS: size, **metric.settings}
        if reference == "train":
            settings["own_sources_left_out"] = trio.apart
        if metric.name == "mauve":
            settings |= {"buckets": buckets(size), "note": f"compare only with MAUVE at {size} texts a side"}
        if size < metric.least:
            why = f"{size} texts a side are too few; at least {metric.least} are needed"
            rows.append(missing(metric.name, reference, why))
            continue
        if metric.excess and reference == "real":
            settings[FEWER] = {str(texts): row(0.0, None, None) for texts in _fewer(metric, size)}
            rows.append(finding(metric.name, reference, Interval(0.0, None, None, size, "none", "none"), **settings))
            continue
        target = target.drawn(size, prepared.seed)
        if metric.name == "kid" and reference != "unrelated":
            settings |= {"permutations": PERMUTATIONS, "p": chance_of_kid(candidate, target, prepared.seed)}
        less = trio.real.drawn(size, prepared.seed) if metric.excess else None
        interval = _measured(metric, candidate, target, less, prepared, spread=reference != "unrelated")
        if interval.value != interval.value:
            rows.append(missing(metric.name, reference, metric.nothing))
            continue
        settings |= _at_fewer(metric, candidate, target, less, prepared, spread=reference != "unrelated")
        rows.append(finding(metric.name, reference, interval, **settings))
    return rows


def _fewer(metric: Metric, size: int) -> list[int]:
    return [] if metric.steady else smaller(size, metric.least)


def _at_fewer(
    metric: Metric, candidate: Sample, target: Sample, less: Sample | None, prepared: Prepared, spread: bool
) -> dict[str, JSON]:
    """Return the setting that holds a metric's value and interval at each fixed smaller number of texts."""
    values: dict[str, JSON] = {}
    for texts in _fewer(metric, min(len(candidate), len(target))):
        ours, theirs = (side.drawn(texts, prepared.seed) for side in (candidate, target))
        other = None if less is None else less.drawn(texts, prepared.seed)
        found = _measured(metric, ours, theirs, other, prepared, spread)
        values[str(texts)] = row(found.value, found.low, found.high)
    return {FEWER: values} if values else {}


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
        groups = candidate.units if prepared.grouped and len(whole.parts) == n else whole.groups
        interval = intervals.mean(whole.parts, seed, groups)
        return Interval(whole.value, interval.low, interval.high, len(whole.parts), interval.method, interval.source)
    sides = [candidate, *([target] if metric.pair else []), *([less] if less is not None else [])]
    ends = np.cumsum([len(side) for side in sides])

    def without(rows: NDArray[np.int64]) -> float:
        prepared.check()
        if whole.again is not None:
            return whole.again(rows)
        kept = [
            side.take(rows[(rows >= end - len(side)) & (rows < end)] - (end - len(side)))
            for side, end in zip(sides, ends, strict=True)
        ]
        right = kept[1] if metric.pair else target
        taken = metric.score(kept[2], right, seed).value if less is not None else 0.0
        return metric.score(kept[0], right, seed).value - taken

    units = np.concatenate([side.units for side in sides])
    interval = intervals.jackknife(without, units, value, metric.bounds, seed)
    if metric.share:
        interval = intervals.no_narrower_than_wilson(interval, len(set(candidate.units)))
    return Interval(interval.value, interval.low, interval.high, n, interval.method, interval.source)
