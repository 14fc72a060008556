"""Hold runs side by side and say better, worse or cannot tell.

Differences are tested, not read off overlapping intervals. Where both runs were measured on the same items (records
that both rewrote, real texts whose likeness both were searched for), the item's two values are held against each other
and signs are flipped a person at a time: what one item has in common in both runs then cancels. Elsewhere the two
intervals give that of the difference (square-and-add: Newcombe 1998b; Zou and Donner 2008, Statistics in Medicine 27).
Many measures of use move with the number of texts that they are taken of, whatever the texts are: runs of clearly
different sizes are held against each other at the largest number of texts that both were measured at too
(`engine.examine.findings.sizes`). Where there is none that is told, and it is no "cannot tell" either.
A table holds many differences, so a few would look large by chance: per group (privacy, utility) and pair of runs,
"better" and "worse" are said at a false discovery rate of 5% (Benjamini and Hochberg 1995).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

import numpy as np
import pandas as pd

from engine.errors import UserError
from engine.examine.findings.embedders import embedders_apart
from engine.examine.findings.findings import CLOSER, Finding
from engine.examine.findings.sizes import at, in_common, known, sizes_apart

Outcome = Literal["better", "worse", "cannot tell", "same", "other size", "other embedder", "not measured", ""]
Key = tuple[str, str]
KEYS = ["name", "group", "measure", "direction", "reference"]
EXCESS = "_excess"
REAL = ("real", "baseline")  # a measure has one of them at most
LEVELS = ("classifier_majority",)  # what to judge by, though no other text is behind it
LEVEL = 0.05  # false discovery rate
FEWEST_PAIRS = 20  # people with both values; below this signs say too little
FLIPS = 9_999
_NORMAL = NormalDist()
_Z = _NORMAL.inv_cdf(0.975)


@dataclass(frozen=True)
class Difference:
    """A run less another on one finding.

    Args:
        value: of the run less that of the other; for what should be close to real text, of each one's distance from
            the real text beside it.
        p: two-sided, or NaN where no interval is known.
        how: `paired` or `independent`; pairs: people with both values.
    """

    value: float
    p: float
    how: Literal["paired", "independent"]
    pairs: int = 0


def compare(
    findings: Mapping[str, Sequence[Finding]], each: Mapping[str, pd.DataFrame | None] | None = None
) -> pd.DataFrame:
    """Return one row a (finding, reference), each run's numbers, and each run against the first.

    Args:
        findings: run id -> its findings, two to four runs.
        each: run id -> the table `each` of its examination (`engine.examine.each`), or None.

    Returns:
        Columns name, group, measure, direction, reference, then a run `<id> value`, `<id> low`, `<id> high` and, from
        the second run on, `<id> against first` (better, worse, same, cannot tell, other size where the measure moves
        with the number of texts and they have none in common, other embedder where it rests on embeddings and they are
        of different ones, not measured in one of the two at least or nothing real
        to hold them against, or empty on rows that are only there for reference), `<id> difference`, `<id> p`,
        `<id> pairs` (people measured in both; 0 where the samples are independent) and `<id> texts` (at how many texts
        they were held against each other where one run was measured at clearly more; else 0).

    Raises:
        UserError: fewer than two runs, or more than four.
    """
    if not 2 <= len(findings) <= 4:
        raise UserError(f"runs: {len(findings)} given; two to four can be compared")
    runs: dict[str, dict[Key, Finding]] = {
        run: {(f.name, f.reference): f for f in rows} for run, rows in findings.items()
    }
    order = list(dict.fromkeys(key for rows in runs.values() for key in rows))
    order.sort(key=lambda key: [next(r[key] for r in runs.values() if key in r).group != "privacy"])
    first = next(iter(runs))
    items = {run: _by_key(table) for run, table in (each or {}).items()}
    lines = []
    for key in order:
        known = next(rows[key] for rows in runs.values() if key in rows)
        line: dict[str, object] = {column: getattr(known, column) for column in KEYS}
        for run, rows in runs.items():
            found = rows.get(key)
            line[f"{run} value"] = found.value if found else math.nan
            line[f"{run} low"] = _number(found.low) if found else math.nan
            line[f"{run} high"] = _number(found.high) if found else math.nan
            if run != first:
                judged = _judged(key, rows, runs[first], items.get(run, {}).get(key), items.get(first, {}).get(key))
                line |= {f"{run} {part}": value for part, value in judged.items()}
        lines.append(line)
    columns = [*KEYS, *(f"{run} {part}" for run in runs for part in _parts(run == first))]
    table = pd.DataFrame(lines, columns=columns)
    for run in runs:
        if run != first:
            _correct(table, run)
    return table


def difference(new: Finding, old: Finding, levels: tuple[float, float] | None = None) -> Difference:
    """Return `new` less `old` for independent samples; with `levels`, of the distances of each from its own.

    The p value is that of the narrowest interval of the difference that reaches 0, its ends growing in proportion.
    """
    own, its = levels or (None, None)
    a, b = _range(new, own), _range(old, its)
    value = a[0] - b[0]
    toward = (a[0] - a[1], b[2] - b[0]) if value > 0 else (a[2] - a[0], b[0] - b[1])
    half = math.hypot(*toward)
    if not math.isfinite(half) or not math.isfinite(value):
        return Difference(value, math.nan, "independent")
    if half <= 0 and value:  # no text left out changed either: that proves no certainty
        return Difference(value, math.nan, "independent")
    z = abs(value) / half * _Z if value else 0.0
    return Difference(value, 2 * (1 - _NORMAL.cdf(z)), "independent")


def paired(new: pd.DataFrame, old: pd.DataFrame) -> Difference | None:
    """Return the mean difference over the items that both tables hold, or None where too few people are in both.

    Args:
        new, old: columns item, unit, value; an item may stand in several rows, which are averaged.

    The p value is of random signs, one a person (a seeded draw of `FLIPS`, so it repeats exactly).
    """
    both = _means(new).join(_means(old)["value"], how="inner", rsuffix="_old")
    if both["unit"].nunique() < FEWEST_PAIRS:
        return None
    gap = (both["value"] - both["value_old"]).groupby(both["unit"]).sum().to_numpy(float)
    value = float(gap.sum() / len(both))
    moved = gap[gap != 0]
    if not len(moved):
        return Difference(0.0, 1.0, "paired", len(gap))
    rng = np.random.default_rng(len(moved))
    seen = abs(moved.sum()) * (1 - 1e-12)
    hits = 0
    for start in range(0, FLIPS, 500):
        signs = rng.integers(0, 2, (min(500, FLIPS - start), len(moved)), dtype=np.int8) * 2 - 1
        hits += int((np.abs(signs @ moved) >= seen).sum())
    return Difference(value, (1 + hits) / (1 + FLIPS), "paired", len(gap))


def _means(table: pd.DataFrame) -> pd.DataFrame:
    return table.groupby("item", sort=True).agg(unit=("unit", "first"), value=("value", "mean"))


def _by_key(table: pd.DataFrame | None) -> dict[Key, pd.DataFrame]:
    if table is None:
        return {}
    return {(str(name), str(reference)): rows for (name, reference), rows in table.groupby(["name", "reference"])}


def _judged(
    key: Key,
    rows: Mapping[Key, Finding],
    first: Mapping[Key, Finding],
    items: pd.DataFrame | None,
    first_items: pd.DataFrame | None,
) -> dict[str, object]:
    """Return the outcome before other rows are looked at, the difference, its p and the people measured in both."""
    nothing: dict[str, object] = {"difference": math.nan, "p": math.nan, "pairs": 0, "texts": 0}
    if not _judges_the_run(key, rows):
        return {"against first": "", **nothing}
    new, old = rows.get(key), first.get(key)
    if new is None or old is None or math.isnan(new.value) or math.isnan(old.value):
        return {"against first": "not measured", **nothing}
    if embedders_apart((new, old)):
        return {"against first": "other embedder", **nothing}
    texts = None
    if sizes_apart(new, old):
        texts = in_common([known(new), known(old)])
        taken = (None, None) if texts is None else (at(new, texts[0]), at(old, texts[1]))
        if texts is None or taken[0] is None or taken[1] is None:
            return {"against first": "other size", **nothing}
        new, old = taken[0], taken[1]
    levels = None
    if new.direction == CLOSER:
        levels = _levels(key[0], rows, first, texts)
        if levels is None:
            return {"against first": "not measured", **nothing}
    found = None
    if texts is None and levels is None and items is not None and first_items is not None:
        found = paired(items, first_items)
    found = found or difference(new, old, levels)
    if math.isnan(found.p):
        outcome: Outcome = "same" if new.value == old.value else "cannot tell"
    else:
        lower = new.direction.startswith("lower") or levels is not None
        outcome = "better" if (found.value < 0) == lower else "worse"
        outcome = outcome if found.value else "cannot tell"
    fewer = 0 if texts is None else min(texts)
    return {
        "against first": outcome, "difference": found.value, "p": found.p, "pairs": found.pairs, "texts": fewer
    }  # fmt: skip


def _levels(
    name: str, rows: Mapping[Key, Finding], first: Mapping[Key, Finding], texts: tuple[int, ...] | None
) -> tuple[float, float] | None:
    """Return what real text has beside each of the two runs, that of the other where one lacks it.

    Each run's own, since real text is cut to as many texts, words or bytes as that run has; at so many texts of each
    where they are held against each other at fewer.
    """
    values = []
    for place, found in enumerate((rows, first)):
        for reference in REAL:
            level = found.get((name, reference))
            level = level if level is None or texts is None else at(level, texts[place])
            if level is not None and not math.isnan(level.value):
                values.append(level.value)
    return (values[0], values[-1]) if values else None


def _correct(table: pd.DataFrame, run: str) -> None:
    """Keep better and worse only where the false discovery rate of the group allows it; in place."""
    for group in table["group"].unique():
        rows = table.index[(table["group"] == group) & table[f"{run} p"].notna()]
        p = table.loc[rows, f"{run} p"].to_numpy(float)
        order = np.argsort(p, kind="stable")
        allowed = p[order] <= LEVEL * np.arange(1, len(p) + 1) / max(1, len(p))
        kept = rows[order[: int(np.flatnonzero(allowed).max()) + 1]] if allowed.any() else rows[:0]
        table.loc[rows.difference(kept), f"{run} against first"] = "cannot tell"


def _judges_the_run(key: Key, rows: Mapping[Key, Finding]) -> bool:
    """Whether a row speaks about the run; the others (holdout, real, …) hold something to judge it by."""
    name, reference = key
    if name in LEVELS:
        return False
    if name.endswith(EXCESS) or reference == "none":
        return True
    return reference == "train" and (name, "none") not in rows


def _range(found: Finding, real: float | None) -> tuple[float, float, float]:
    """Return value, low and high of a finding, or of its distance from `real`."""
    value, low, high = found.value, _number(found.low), _number(found.high)
    if real is None:
        return value, low, high
    ends = (abs(low - real), abs(high - real))
    return abs(value - real), 0.0 if low <= real <= high else min(ends), max(ends)


def _parts(is_first: bool) -> tuple[str, ...]:
    own = ("value", "low", "high")
    return own if is_first else (*own, "against first", "difference", "p", "pairs", "texts")


def _number(value: float | None) -> float:
    return math.nan if value is None else value
