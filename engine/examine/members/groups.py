"""Whether some groups of records are told apart more easily than others: attacks by label, length, duplicates, person.

A cell with fewer than 20 units on either side has no number: a handful of people would be described, not a group.

Statistics: the area under the ROC curve with DeLong's variance summed over units (Obuchowski 1997, Nonparametric
analysis of clustered ROC curve data, Biometrics 53, section 3); with one record a unit it is DeLong et al. 1988.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from engine.examine.findings.part import Part
from engine.examine.members.blind import near_duplicates
from engine.examine.members.membership import SCORES, MembershipScores
from engine.examine.prepare import Prepared
from engine.examine.stats.intervals import LEVEL, Interval, freedom_of, t_quantile, wilson
from engine.examine.stats.ties import no_narrower_than_shares

LEAST_UNITS = 20
MOST_LABELS = 12
COLUMNS = ["group_by", "group", "attack", "auc", "low", "high", "members", "others", "units", "other_units", "greyed"]

Floats = NDArray[np.float64]
Names = NDArray[np.object_]


def examine_groups(prepared: Prepared) -> Part:
    """Return the table `groups`: each attack's area within each group, "too few" (NaN) where a cell is small."""
    kept: list[MembershipScores] = list(prepared.kept.get(SCORES, []))
    if not kept:
        return Part()
    rows = []
    for number, scores in enumerate(kept):
        prepared.report("groups", number, len(kept))
        for group_by, train, holdout in attributes(prepared):
            rows += _cells(prepared, scores, group_by, train, holdout)
    prepared.report("groups", len(kept), len(kept))
    return Part(tables={"groups": pd.DataFrame(rows, columns=COLUMNS)})


def attributes(prepared: Prepared) -> list[tuple[str, Names, Names]]:
    """Return each grouping with the group of every training and every holdout record; kept for all attacks."""
    found: list[tuple[str, Names, Names]] | None = prepared.kept.get("groups")
    if found is None:
        found = prepared.kept["groups"] = list(_attributes(prepared))
    return found


def _attributes(prepared: Prepared) -> Iterator[tuple[str, Names, Names]]:
    train, holdout = prepared.train, prepared.holdout
    yield "length", *_lengths(train.words.counts, holdout.words.counts)
    labels = [_labels(frame) for frame in (prepared.given.train, prepared.given.holdout)]
    known = pd.Series(np.concatenate(labels)).value_counts()
    if len(known) > 1:
        common = set(known.index[:MOST_LABELS])
        one, two = (np.array([v if v in common else "other labels" for v in side], dtype=object) for side in labels)
        yield "label", one, two
    near = near_duplicates(prepared)
    if near[0].any():
        names = np.array(["no near-duplicate on the other side", "near-duplicate on the other side"], dtype=object)
        yield "duplicates", names[near[0].astype(int)], names[near[1].astype(int)]
    if prepared.grouped:
        yield "records of the person", _sizes(train.units), _sizes(holdout.units)


def _labels(frame: pd.DataFrame) -> Names:
    if "label" not in frame:
        return np.array(["no label"] * len(frame), dtype=object)
    return np.array(["no label" if v is None or v != v or v == "" else str(v) for v in frame["label"]], dtype=object)


def _lengths(train: NDArray[np.int64], holdout: NDArray[np.int64]) -> tuple[Names, Names]:
    """Return thirds of the length in words, cut at the same places on both sides."""
    low, high = (int(q) for q in np.quantile(np.concatenate([train, holdout]), [1 / 3, 2 / 3]))
    names = np.array(
        [f"short (up to {low:,} words)", f"middle (to {high:,} words)", f"long (over {high:,} words)"], dtype=object
    )
    one, two = (names[(counts > low).astype(int) + (counts > high).astype(int)] for counts in (train, holdout))
    return one, two


def _sizes(units: Names) -> Names:
    codes, distinct = pd.factorize(units)
    counts = np.bincount(codes, minlength=len(distinct))[codes]
    names = np.array(["1 record", "2 to 5 records", "over 5 records"], dtype=object)
    sizes: Names = names[(counts > 1).astype(int) + (counts > 5).astype(int)]
    return sizes


def _place(name: str) -> int:
    """Return where a third of the length stands; other groups stand in the order of their names."""
    words = ("short", "middle", "long")
    first = str(name).split(" (")[0]
    return words.index(first) if first in words else len(words)


def _cells(
    prepared: Prepared, scores: MembershipScores, group_by: str, train: Names, holdout: Names
) -> list[tuple[object, ...]]:
    ours, theirs = train[scores.train_rows], holdout[scores.holdout_rows]
    our_units = prepared.train.units[scores.train_rows]
    their_units = prepared.holdout.units[scores.holdout_rows]
    rows: list[tuple[object, ...]] = []
    for group in sorted(set(ours) | set(theirs), key=lambda name: (_place(name), name)):
        one, two = ours == group, theirs == group
        units = len(set(our_units[one])), len(set(their_units[two]))
        counts = int(one.sum()), int(two.sum())
        area, low, high = math.nan, math.nan, math.nan
        if min(units) >= LEAST_UNITS:
            area, low, high = clustered_auc(scores.members[one], scores.others[two], our_units[one], their_units[two])
        else:  # small numbers are not printed either
            units, counts = (-1, -1), (-1, -1)
        rows.append((group_by, str(group), scores.attack, area, low, high, *counts, *units, scores.greyed))
    return rows


def clustered_auc(members: Floats, others: Floats, member_units: Names, other_units: Names) -> tuple[float, ...]:
    """Return the area under the ROC curve and its 95% interval with records of a unit taken together.

    Args:
        members, others: float (m,), (n,), both not empty. member_units, other_units: object, the unit of each.

    Source: Obuchowski 1997, equations 4 to 6, with no unit on both sides; Satterthwaite 1946 (Student's t).
    """
    m, n = len(members), len(others)
    pooled = _midranks(np.concatenate([members, others]))
    of_members = (pooled[:m] - _midranks(members)) / n
    of_others = 1.0 - (pooled[m:] - _midranks(others)) / m
    area = float(of_members.mean())
    smaller = min(len(set(member_units)), len(set(other_units)))
    if area in (0.0, 1.0):
        return (area, *wilson(area * smaller, smaller))
    terms = [_variance(of_members, member_units), _variance(of_others, other_units)]
    freedom = freedom_of(terms, [len(set(units)) for units in (member_units, other_units)])
    half = t_quantile(0.5 + LEVEL / 2, freedom) * math.sqrt(sum(terms))
    found = Interval(area, max(0.0, area - half), min(1.0, area + half), m + n, "clustered", "Obuchowski 1997")
    wide = no_narrower_than_shares(found, members, others, member_units, other_units)
    assert wide.low is not None
    assert wide.high is not None
    return wide.value, wide.low, wide.high


def _variance(parts: Floats, units: Names) -> float:
    codes = pd.factorize(units)[0]
    sums = np.bincount(codes, parts - parts.mean())
    count = len(sums)
    return float(np.sum(sums**2)) * count / (count - 1) / len(parts) ** 2 if count > 1 else 0.25


def _midranks(values: Floats) -> Floats:
    return np.asarray(pd.Series(values).rank(), np.float64)
