"""ROC curves of attack scores, each number with its interval; higher scores = more member-like, chance = 0.5.

Cited where used: DeLong, DeLong and Clarke-Pearson 1988 (Biometrics 44, 837-845); Sun and Xu 2014 (IEEE Signal
Processing Letters 21, 1389-1393: the same in the time of a sort); Clopper and Pearson 1934; Campbell 1994
(Statistics in Medicine 13, 499-508: joint rectangles about points of a ROC curve); Carlini et al. 2022 (Membership
inference attacks from first principles, section III: true positives at low false positives); Phipson and Smyth 2010
(permutation p values are never zero).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from engine.errors import InternalError
from engine.examine.stats.intervals import (
    DRAWS,
    LEVEL,
    Interval,
    Z,
    design_effect,
    freedom_of,
    group_numbers,
    t_quantile,
    wilson,
)
from engine.examine.stats.ties import no_narrower_than_shares

Floats = NDArray[np.float64]
Groups = NDArray[np.object_] | None

LEAST_FALSE = 10  # false positives that must be possible before a rate is estimated
PERMUTATIONS = 999
POINTS = 80  # rows of a ROC table at most, before its two ends
FEW_UNITS = 10

_DELONG = "DeLong, DeLong and Clarke-Pearson 1988, equations 4 to 6, computed as in Sun and Xu 2014; Satterthwaite 1946"
_BOOTSTRAP = "Efron and Tibshirani 1993, chapter 13 (percentile), section 8.3 (what is drawn again)"


@dataclass(frozen=True)
class _Clusters:
    """Whole units to draw again: each side's codes, and how many units there are.

    joint: whether a unit may lie on both sides; then units are drawn for both at once.
    """

    ours: NDArray[np.int64]
    theirs: NDArray[np.int64]
    our_units: int
    their_units: int
    joint: bool

    @property
    def plain(self) -> bool:
        """Whether every score is a unit of its own."""
        return not self.joint and self.our_units == len(self.ours) and self.their_units == len(self.theirs)

    def draw(self, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Return how often each score is drawn, both sides."""
        ours = _times(rng, self.our_units)
        theirs = ours if self.joint else _times(rng, self.their_units)
        return ours[self.ours], theirs[self.theirs]


def _times(rng: np.random.Generator, units: int) -> Floats:
    return np.bincount(rng.integers(0, units, units), minlength=units).astype(np.float64)


def _clusters(members: Floats, others: Floats, member_groups: Groups, other_groups: Groups) -> _Clusters:
    for scores, groups, name in ((members, member_groups, "member_groups"), (others, other_groups, "other_groups")):
        if groups is not None and len(groups) != len(scores):
            raise InternalError(f"{name}: expected one a score, {len(scores)}, got {len(groups)}")
    if member_groups is not None and other_groups is not None and set(member_groups) & set(other_groups):
        both = group_numbers(np.concatenate([member_groups, other_groups]))
        units = int(both.max()) + 1
        return _Clusters(both[: len(members)], both[len(members) :], units, units, True)
    ours = np.arange(len(members)) if member_groups is None else group_numbers(member_groups)
    theirs = np.arange(len(others)) if other_groups is None else group_numbers(other_groups)
    return _Clusters(ours, theirs, int(ours.max(initial=-1)) + 1, int(theirs.max(initial=-1)) + 1, False)


def _scores(values: ArrayLike, name: str) -> Floats:
    scores = np.asarray(values, dtype=np.float64)
    if not np.isfinite(scores).all():
        raise InternalError(f"{name}: scores must be finite; replace what is not before they are compared")
    return scores


def _midranks(values: Floats) -> Floats:
    """Return ranks from 1; ties share their mean rank."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return np.asarray((ends - (counts - 1) / 2.0)[inverse], dtype=np.float64)


def delong(members: Floats, others: Floats) -> tuple[float, float]:
    """Return the area under the ROC curve and its variance, from midranks.

    Source: Sun and Xu 2014, equations 4 to 9; DeLong et al. 1988.
    """
    value, terms = _terms(members, others)
    return value, sum(terms)


def _terms(members: Floats, others: Floats) -> tuple[float, tuple[float, float]]:
    """Return the area and what each side gives to its variance."""
    m, n = len(members), len(others)
    pooled = _midranks(np.concatenate([members, others]))
    of_members = (pooled[:m] - _midranks(members)) / n  # (m,) share of others each member passes
    of_others = 1.0 - (pooled[m:] - _midranks(others)) / m  # (n,) share of members that pass each other
    spread = [float(np.var(part, ddof=1)) if len(part) > 1 else 0.25 for part in (of_members, of_others)]
    return float(of_members.mean()), (spread[0] / m, spread[1] / n)


def auc(
    members: ArrayLike,
    others: ArrayLike,
    *,
    member_groups: Groups = None,
    other_groups: Groups = None,
    seed: int = 0,
) -> Interval:
    """Return the area under the ROC curve: Pr[member's score > other's] + half of Pr[equal]; chance 0.5.

    Args:
        members, others: float (m,), (n,), finite, higher = more member-like.
        member_groups, other_groups: object (m,), (n,), the unit of each score. Without, or where every unit has one
            score, the interval is DeLong's, with Student's t; else whole units are drawn again (percentile bootstrap).
            Where most scores of a side are equal it is no narrower than that of shares (`ties`).
        seed: fixes the bootstrap.
    """
    ours, theirs = _scores(members, "members"), _scores(others, "others")
    total = len(ours) + len(theirs)
    if not len(ours) or not len(theirs):
        return Interval(math.nan, None, None, total, "not estimable", _DELONG)
    clusters = _clusters(ours, theirs, member_groups, other_groups)
    value, terms = _terms(ours, theirs)
    if not clusters.plain:
        found = _grouped(value, ours, theirs, clusters, seed)
        return no_narrower_than_shares(found, ours, theirs, member_groups, other_groups)
    if value in (0.0, 1.0):  # the two sides do not overlap: DeLong's variance is 0 and says too much
        low, high = wilson(value * min(len(ours), len(theirs)), min(len(ours), len(theirs)))
        return Interval(value, low, high, total, "Wilson at the smaller side (no overlap)", "Wilson 1927")
    freedom = freedom_of(terms, (len(ours), len(theirs)))
    half = t_quantile(0.5 + LEVEL / 2, freedom) * math.sqrt(sum(terms))
    found = Interval(value, max(0.0, value - half), min(1.0, value + half), total, "DeLong", _DELONG, freedom)
    return no_narrower_than_shares(found, ours, theirs, None, None)


def _grouped(value: float, members: Floats, others: Floats, clusters: _Clusters, seed: int) -> Interval:
    """Return the area with a percentile interval over units drawn again as wholes."""
    units = min(clusters.our_units, clusters.their_units)
    total = len(members) + len(others)
    method = f"percentile bootstrap, {DRAWS} draws of units"
    if units < 2:
        return Interval(value, None, None, total, method, _BOOTSTRAP)
    if value in (0.0, 1.0):
        low, high = wilson(value * units, units)
        return Interval(value, low, high, total, "Wilson at the smaller side's units (no overlap)", "Wilson 1927")
    draws = np.array([_weighted_auc(*pair) for pair in _drawn(members, others, clusters, seed)])
    low, high = (float(q) for q in np.quantile(draws, [(1 - LEVEL) / 2, (1 + LEVEL) / 2]))
    if units < FEW_UNITS:  # a percentile interval of few units is too narrow by about sqrt((k - 1) / k) and its tails
        wider = t_quantile(0.5 + LEVEL / 2, units - 1) / Z * math.sqrt(units / (units - 1))
        low, high = value - (value - low) * wider, value + (high - value) * wider
        method += f", widened by Student's t for {units} units"
    return Interval(value, max(0.0, low), min(1.0, high), total, method, _BOOTSTRAP, units - 1.0)


def _drawn(members: Floats, others: Floats, clusters: _Clusters, seed: int) -> Iterator[tuple[Floats, Floats]]:
    """Yield, a draw, the weight of each distinct pooled score on both sides, scores rising: (2, distinct)."""
    distinct, at = np.unique(np.concatenate([members, others]), return_inverse=True)
    ours, theirs = at[: len(members)], at[len(members) :]
    rng = np.random.default_rng(seed)
    made = 0
    while made < DRAWS:
        one, two = clusters.draw(rng)
        if one.sum() > 0 and two.sum() > 0:
            made += 1
            sides = (np.bincount(at, times, len(distinct)) for at, times in ((ours, one), (theirs, two)))
            first, second = (np.asarray(side, dtype=np.float64) for side in sides)
            yield first, second


def _weighted_auc(ours: Floats, theirs: Floats) -> float:
    below = np.cumsum(theirs) - theirs / 2.0
    return float(ours @ below / (ours.sum() * theirs.sum()))


def _weighted_tpr(ours: Floats, theirs: Floats, fpr: float) -> float:
    """Return the largest share of members above a threshold that at most `fpr` of the others pass."""
    passed = np.concatenate([[0.0], np.cumsum(theirs[::-1])]) / theirs.sum()
    caught = np.concatenate([[0.0], np.cumsum(ours[::-1])]) / ours.sum()
    return float(caught[int(np.searchsorted(passed, fpr + 1e-12, side="right")) - 1])


def tpr_at(
    members: ArrayLike,
    others: ArrayLike,
    fpr: float,
    *,
    member_groups: Groups = None,
    other_groups: Groups = None,
    seed: int = 0,
) -> Interval:
    """Return the share of members recognised where at most `fpr` of the others are taken for members.

    The interval is the percentile bootstrap over both sides (the threshold is estimated too), never narrower than
    Wilson's for the share at the observed threshold. "Not estimable", value NaN, with fewer than 10 / fpr others.
    Source: Carlini et al. 2022, section III.
    """
    ours, theirs = _scores(members, "members"), _scores(others, "others")
    total = len(ours) + len(theirs)
    source = f"Carlini et al. 2022, section III; {_BOOTSTRAP}"
    if not len(ours) or len(theirs) < LEAST_FALSE / fpr * (1 - 1e-9):
        return Interval(math.nan, None, None, total, "not estimable", source)
    clusters = _clusters(ours, theirs, member_groups, other_groups)
    distinct, at = np.unique(np.concatenate([ours, theirs]), return_inverse=True)
    counts = [np.bincount(part, minlength=len(distinct)).astype(float) for part in (at[: len(ours)], at[len(ours) :])]
    value = _weighted_tpr(counts[0], counts[1], fpr)
    caught = ours > np.quantile(ours, 1 - value, method="higher") if 0 < value < 1 else np.full(len(ours), value == 1)
    effective = len(ours) / (1.0 if member_groups is None else design_effect(caught, member_groups))
    draws = np.array([_weighted_tpr(one, two, fpr) for one, two in _drawn(ours, theirs, clusters, seed)])
    low, high = (float(q) for q in np.quantile(draws, [(1 - LEVEL) / 2, (1 + LEVEL) / 2]))
    least, most = wilson(value * effective, effective)
    what = "scores" if clusters.plain else "units"
    method = f"percentile bootstrap, {DRAWS} draws of {what}, joined with Wilson's"
    return Interval(value, min(low, least), max(high, most), total, method, source)


def roc_table(
    members: ArrayLike, others: ArrayLike, *, member_groups: Groups = None, other_groups: Groups = None
) -> pd.DataFrame:
    """Return points of the ROC curve with a simultaneous 95% band: columns fpr, tpr, tpr_low, tpr_high.

    At each of K thresholds (false positives spaced by factors toward 0) both rates get exact limits at level
    1 - 0.05 / (2 K); with a chance of 95% all K rectangles hold at once, and a ROC curve never falls, so the curve
    lies above every lower right corner to its left. Exact for independent scores however they are distributed;
    grouped scores enter by their effective number.
    Source: Campbell 1994 (rectangles); Clopper and Pearson 1934; Bonferroni.
    """
    from scipy.stats import beta

    ours, theirs = _scores(members, "members"), _scores(others, "others")
    columns = ["fpr", "tpr", "tpr_low", "tpr_high"]
    if not len(ours) or not len(theirs):
        return pd.DataFrame({name: pd.Series(dtype=float) for name in columns})
    falling = np.sort(theirs)[::-1]
    wanted = np.unique(np.round(np.geomspace(1, len(falling), POINTS)).astype(int) - 1)
    cuts = np.unique(falling[wanted])[::-1]
    tail = (1 - LEVEL) / (4 * len(cuts))  # two rates, two ends, K thresholds
    rates, limits = [], []
    for scores, groups in ((theirs, other_groups), (ours, member_groups)):
        passed = scores[None, :] > cuts[:, None]  # (K, n)
        share = passed.mean(axis=1)
        effects = np.ones(len(cuts)) if groups is None else np.array([design_effect(row, groups) for row in passed])
        size = len(scores) / effects
        hits = share * size
        low = np.where(hits > 0, beta.ppf(tail, np.maximum(hits, 1e-9), size - hits + 1), 0.0)
        high = np.where(hits < size, beta.ppf(1 - tail, hits + 1, np.maximum(size - hits, 1e-9)), 1.0)
        rates.append(share)
        limits.append((low, high))
    fpr, tpr = (np.append(rate, 1.0) for rate in rates)  # the first threshold is the highest other: no false positive
    (false_low, false_high), (true_low, true_high) = limits
    sure = [float(true_low[false_high <= f].max(initial=0.0)) for f in fpr]
    most = [float(true_high[false_low >= f].min(initial=1.0)) for f in fpr]
    return pd.DataFrame({"fpr": fpr, "tpr": tpr, "tpr_low": sure, "tpr_high": most})


def permutation_p(members: ArrayLike, others: ArrayLike, groups: Groups = None, seed: int = 0) -> float:
    """Return the two-sided p value of an area other than 0.5, from membership dealt out again among units.

    Args:
        members, others: float (m,), (n,).
        groups: object (m + n,), the unit of each score, members first; a unit keeps its scores together. None: each
            score for itself.
        seed: fixes the deals.

    Source: Phipson and Smyth 2010, section 2.2 ((b + 1) / (deals + 1)).
    """
    ours, theirs = _scores(members, "members"), _scores(others, "others")
    m, total = len(ours), len(ours) + len(theirs)
    if not m or m == total:
        return math.nan
    ranks = _midranks(np.concatenate([ours, theirs]))
    is_member = np.arange(total) < m
    codes = np.arange(total)
    if groups is not None:  # a unit on both sides counts as two
        codes = group_numbers([f"{side}:{unit}" for side, unit in zip(is_member, groups, strict=True)])
    units = int(codes.max()) + 1
    sums, sizes = np.bincount(codes, ranks, units), np.bincount(codes, minlength=units)
    first = np.flatnonzero(np.bincount(codes, is_member, units) > 0)

    def away(chosen: NDArray[np.int64]) -> float:
        size = float(sizes[chosen].sum())
        other = total - size
        return abs((float(sums[chosen].sum()) - size * (size + 1) / 2) / (size * other) - 0.5)

    rng = np.random.default_rng(seed)
    observed = away(first) - 1e-12
    beyond = sum(away(rng.permutation(units)[: len(first)]) >= observed for _ in range(PERMUTATIONS))
    return (1 + beyond) / (1 + PERMUTATIONS)
