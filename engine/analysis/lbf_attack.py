"""ε–δ curves of an attack: what its score gives away, in bins or by a threshold (theorem 6).

Theorem 6 of Stomakhin 2025 (section 3.7) is theorem 5 for A ∘ M: with X, Y and the attack function A fixed and ε > 0,
the least δ is the larger of Pr[A(M(X)) fails] and Pr[A(M(Y)) fails]. For scores seen as samples its conditions are:

- A is fixed before the outputs it is judged on. Bins and thresholds are chosen on one half of the clusters
  (training run × source) and judged on the other; `Halves` refuses clusters that lie on both sides.
- A has a finite range whose probabilities can be estimated. A score in ℝ is cut into bins or at a threshold, and
  bins are joined until each would hold `least` scores of both sides in the half that chooses if both were alike.
- ε > 0; every score falls into a bin, since the outer bins are open.

The probabilities are still estimates: a curve of samples has a band, drawn from clusters as wholes, and a bin that
one side misses by chance looks like certainty. The band includes that; the point curve does not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.analysis.intervals import LEVEL, _codes
from engine.analysis.lbf import Curve, Floats, curve, loss_of_counts
from engine.dp.pld import PrivacyLoss
from engine.errors import UserError

BINS = 20
LEAST = 10
DRAWS = 300
THRESHOLDS = 200


@dataclass(frozen=True)
class Side:
    """Scores of one side.

    Args:
        scores: float (n,), any direction. clusters: int (n,), number of the cluster (training run × source).
    """

    scores: Floats
    clusters: NDArray[np.int64]

    def __len__(self) -> int:
        return int(self.scores.size)


@dataclass(frozen=True)
class Halves:
    """Scores under X (member, included) and Y (non-member, excluded), halved by cluster.

    Args:
        choose: sides on which bins and thresholds are chosen. judge: sides on which curves are computed.
    """

    choose: tuple[Side, Side]
    judge: tuple[Side, Side]

    def __post_init__(self) -> None:
        chosen, judged = (set(np.concatenate([side.clusters for side in half])) for half in (self.choose, self.judge))
        if chosen & judged:
            raise UserError(
                f"clusters: {len(chosen & judged)} lie in both halves; theorem 6 needs an attack fixed before"
            )


def halve(
    x: ArrayLike,
    y: ArrayLike,
    seed: int,
    clusters_x: Sequence[object] | None = None,
    clusters_y: Sequence[object] | None = None,
) -> Halves:
    """Return scores halved at random by cluster.

    Args:
        x, y: scores under X and Y, finite, shapes (n,) and (m,).
        clusters_x, clusters_y: cluster of each score, default each score its own. A cluster named on both sides
            (a training run scored on included and excluded texts) stays together.

    Raises:
        UserError: a score is not finite, or a half would have no score of one side.
    """
    first, second = (np.asarray(side, dtype=float) for side in (x, y))
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        raise UserError("scores: must be finite; replace infinite ones by the largest finite score")
    names: list[object] = list(clusters_x) if clusters_x is not None else [("x", i) for i in range(first.size)]
    names += list(clusters_y) if clusters_y is not None else [("y", i) for i in range(second.size)]
    codes = _codes([repr(name) for name in names])
    number = int(codes.max()) + 1 if codes.size else 0
    chosen = np.random.default_rng(seed).permutation(number) < number // 2
    parts: list[tuple[Side, Side]] = []
    for wanted in (True, False):
        sides = []
        for scores, own in ((first, codes[: first.size]), (second, codes[first.size :])):
            keep = chosen[own] == wanted
            sides.append(Side(scores[keep], own[keep]))
        if not (len(sides[0]) and len(sides[1])):
            raise UserError(f"clusters: {number} are too few to halve; a half has no score of one side")
        parts.append((sides[0], sides[1]))
    return Halves(parts[0], parts[1])


def choose_bins(halves: Halves, bins: int = BINS, least: int = LEAST) -> Floats:
    """Return inner edges of bins: quantiles of the choosing half, joined until alike sides would fill every bin.

    A side may be missing from a bin that it would fill if it were like the other: where an attack separates the two,
    that is what it sees, and the half that judges says whether it was chance.

    Returns:
        Rising edges, shape (b - 1,); a score s lies in bin number `searchsorted(edges, s, side="right")`.
    """
    x, y = (side.scores for side in halves.choose)
    edges = np.unique(np.quantile(np.concatenate([x, y]), np.linspace(0, 1, bins + 1)[1:-1]))
    pooled = np.sort(np.concatenate([x, y]))
    needed = least * pooled.size / min(x.size, y.size)  # of both, so that the smaller side expects `least`
    kept: list[float] = []
    at = 0
    for edge in edges:
        below = int(np.searchsorted(pooled, edge, side="left"))
        if below - at >= needed and pooled.size - below >= needed:
            kept.append(float(edge))
            at = below
    return np.asarray(kept)


@dataclass(frozen=True)
class AttackCurve:
    """An attack's curve on the judging half, with the band of its estimates.

    Args:
        curve: point estimates. delta_low, delta_high, standard_low, standard_high: ends of the 95% band at each
            ε, pointwise, shape (n,). cuts: the bins' edges, or the threshold used at each ε.
        clusters: clusters in the judging half. method: how the band was made.
    """

    curve: Curve
    delta_low: Floats
    delta_high: Floats
    standard_low: Floats
    standard_high: Floats
    cuts: Floats
    clusters: int
    method: str


def binned(halves: Halves, epsilons: Sequence[float], *, bins: int = BINS, seed: int = 0) -> AttackCurve:
    """Return the curve of an attacker who sees which bin a score lies in."""
    edges = choose_bins(halves, bins)

    def estimate(x: Floats, y: Floats, weight_x: Floats, weight_y: Floats) -> Curve:
        return curve(_loss(x, y, weight_x, weight_y, edges), epsilons, "one score, in bins")

    return _banded(halves, estimate, edges, seed)


def thresholded(halves: Halves, epsilons: Sequence[float], *, seed: int = 0) -> AttackCurve:
    """Return the curve of an attacker who sees whether a score passes a threshold, chosen for each ε.

    The threshold with the largest standard δ in the choosing half is taken: it has few false alarms where ε is large.
    """
    grid = np.sort(np.asarray(epsilons, dtype=float))
    cuts = np.array([_threshold(halves, float(e)) for e in grid])

    def estimate(x: Floats, y: Floats, weight_x: Floats, weight_y: Floats) -> Curve:
        points = [curve(_loss(x, y, weight_x, weight_y, np.array([c])), [e]) for e, c in zip(grid, cuts)]
        strict, standard = (np.array([getattr(p, n)[0] for p in points]) for n in ("delta", "delta_standard"))
        return Curve(grid, strict, standard, "one score, against a threshold")

    return _banded(halves, estimate, cuts, seed)


def _loss(x: Floats, y: Floats, weight_x: Floats, weight_y: Floats, edges: Floats) -> PrivacyLoss:
    """Return the loss between weighted scores in bins."""
    counts = [
        np.bincount(np.searchsorted(edges, scores, side="right"), weights=weights, minlength=edges.size + 1)
        for scores, weights in ((x, weight_x), (y, weight_y))
    ]
    return loss_of_counts(counts[0], counts[1])


def _threshold(halves: Halves, epsilon: float) -> float:
    """Return the threshold with the largest hockey-stick δ of the yes/no attack in the choosing half."""
    x, y = (np.sort(side.scores) for side in halves.choose)
    pooled = np.concatenate([x, y])
    candidates = np.unique(np.quantile(pooled, np.linspace(0.005, 0.995, THRESHOLDS)))
    above_x, above_y = (1.0 - np.searchsorted(side, candidates, side="left") / side.size for side in (x, y))
    grown = np.exp(epsilon)
    gains = [above_x - grown * above_y, above_y - grown * above_x]
    gains += [(1 - above_x) - grown * (1 - above_y), (1 - above_y) - grown * (1 - above_x)]
    best = np.max(gains, axis=0)
    # Where no threshold gains anything, the middle is a guess as fixed as any.
    return float(candidates[int(np.argmax(best))] if best.max() > 0.0 else np.median(pooled))


def _banded(
    halves: Halves, estimate: Callable[[Floats, Floats, Floats, Floats], Curve], cuts: Floats, seed: int
) -> AttackCurve:
    """Return the estimate on the judging half with a percentile band over clusters drawn again as wholes."""
    x, y = halves.judge
    names, codes = np.unique(np.concatenate([x.clusters, y.clusters]), return_inverse=True)
    ours, theirs = codes[: len(x)], codes[len(x) :]
    point = estimate(x.scores, y.scores, np.ones(len(x)), np.ones(len(y)))
    rng = np.random.default_rng(seed)
    strict: list[Floats] = []
    standard: list[Floats] = []
    while len(strict) < DRAWS:
        times = np.bincount(rng.integers(0, names.size, names.size), minlength=names.size).astype(float)
        if times[ours].sum() == 0.0 or times[theirs].sum() == 0.0:
            continue
        drawn = estimate(x.scores, y.scores, times[ours], times[theirs])
        strict.append(drawn.delta)
        standard.append(drawn.delta_standard)
    ends = [(1.0 - LEVEL) / 2.0, (1.0 + LEVEL) / 2.0]
    low, high = np.quantile(np.array(strict), ends, axis=0)
    standard_low, standard_high = np.quantile(np.array(standard), ends, axis=0)
    method = f"percentile bootstrap, {DRAWS} draws of clusters (training run × source), pointwise"
    return AttackCurve(point, low, high, standard_low, standard_high, cuts, int(names.size), method)
