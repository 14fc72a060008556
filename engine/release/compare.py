"""Hold runs side by side and say better, worse or cannot tell.

Two runs differ where their 95% intervals do not overlap. That is stricter than testing the
difference itself (Schenker and Gentleman 2001, The American Statistician 55, 3), so "cannot tell"
comes up somewhat too often and "better" somewhat too rarely, which is the safe side here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal

import pandas as pd

from engine.errors import UserError
from engine.examine.findings import Finding

Outcome = Literal["better", "worse", "cannot tell", "same", "not measured", ""]
KEYS = ["name", "group", "measure", "direction", "reference"]
EXCESS = "_excess"


def compare(findings: Mapping[str, Sequence[Finding]]) -> pd.DataFrame:
    """Return one row a (finding, reference), each run's numbers, and each run against the first.

    Args:
        findings: run id -> its findings, two to four runs.

    Returns:
        Columns name, group, measure, direction, reference, then a run `<id> value`, `<id> low`,
        `<id> high` and, from the second run on, `<id> against first`: better, worse, same,
        cannot tell, not measured (in one of the two at least), or empty on rows that are only there for reference.
    """
    if not 2 <= len(findings) <= 4:
        raise UserError(f"runs: {len(findings)} given; two to four can be compared")
    runs: dict[str, dict[tuple[str, str], Finding]] = {
        run: {(f.name, f.reference): f for f in rows} for run, rows in findings.items()
    }
    order = list(dict.fromkeys(key for rows in runs.values() for key in rows))
    order.sort(key=lambda key: [next(r[key] for r in runs.values() if key in r).group != "privacy"])
    first = next(iter(runs))
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
                line[f"{run} against first"] = _row_outcome(key, runs[first], rows)
        lines.append(line)
    columns = [*KEYS, *(f"{run} {part}" for run in runs for part in _parts(run == first))]
    return pd.DataFrame(lines, columns=columns)


def outcome(new: Finding | None, old: Finding | None) -> Outcome:
    """Return how `new` stands to `old` on a finding whose direction is lower or higher."""
    if new is None or old is None or math.isnan(new.value) or math.isnan(old.value):
        return "not measured"
    new_low, new_high, old_low, old_high = (_number(end) for end in (new.low, new.high, old.low, old.high))
    if not all(math.isfinite(end) for end in (new_low, new_high, old_low, old_high)):
        return "same" if new.value == old.value else "cannot tell"
    if new.direction == "closer to real is better" or not (new_high < old_low or new_low > old_high):
        return "cannot tell"
    lower = new_high < old_low
    return "better" if lower == new.direction.startswith("lower") else "worse"


def _row_outcome(
    key: tuple[str, str], first: Mapping[tuple[str, str], Finding], other: Mapping[tuple[str, str], Finding]
) -> Outcome:
    known = other.get(key) or first.get(key)
    if not _judges_the_run(key, other):
        return ""
    judged = outcome(other.get(key), first.get(key))
    if judged != "not measured" and known is not None and known.direction == "closer to real is better":
        return _closer(key, first, other)
    return judged


def _judges_the_run(key: tuple[str, str], rows: Mapping[tuple[str, str], Finding]) -> bool:
    """Whether a row speaks about the run; the others (holdout, real, …) hold something to judge it by."""
    name, reference = key
    if name.endswith(EXCESS) or reference == "none":
        return True
    return reference == "train" and (name, "none") not in rows


def _closer(
    key: tuple[str, str], first: Mapping[tuple[str, str], Finding], other: Mapping[tuple[str, str], Finding]
) -> Outcome:
    """Judge by distance from the real text's own value: the same finding held against `real`."""
    ranges = []
    for rows in (other, first):
        run = rows.get(key)
        real = rows.get((key[0], "real"))
        if run is None or real is None or run.low is None or run.high is None:
            return "cannot tell"
        ranges.append(_distance(run.low, run.high, real.value))
    (new_low, new_high), (old_low, old_high) = ranges
    if not all(math.isfinite(end) for end in (new_low, new_high, old_low, old_high)):
        return "cannot tell"
    if new_high < old_low:
        return "better"
    return "worse" if new_low > old_high else "cannot tell"


def _distance(low: float, high: float, target: float) -> tuple[float, float]:
    """Return the smallest and largest distance of [low, high] from `target`."""
    ends = (abs(low - target), abs(high - target))
    return (0.0 if low <= target <= high else min(ends)), max(ends)


def _parts(is_first: bool) -> tuple[str, ...]:
    return ("value", "low", "high") if is_first else ("value", "low", "high", "against first")


def _number(value: float | None) -> float:
    return math.nan if value is None else value
