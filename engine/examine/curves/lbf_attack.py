"""ε–δ curves of an attack by one score: the best threshold at each ε, with a band that holds the whole curve at once.

Theorem 6 of Stomakhin 2025 (section 3.7) is theorem 5 for A ∘ M: with X, Y and the attack A fixed and ε > 0, δ is what
A's outputs give away. A score in ℝ gives away what its distribution does, which no sample shows for every set. The
attacks judged here are all that say whether the score passes a threshold, in either direction, and δ(ε) is that of the
best of them at this ε. Where a higher score always speaks more for one side, that is all the score gives away; an
attacker who knows another rule may see more.

- **Band.** Both distribution functions are held at once by `ecdf_band` (chance of missing X's 2.5%, Y's 2.5%, whatever
  joins the two sides). Every threshold, direction and ε is read off these limits, so the strict and standard δ of the
  best threshold lie between the ends for all ε together in at least 95 of 100 samples, at any size.
- **Clusters.** Scores of one cluster (a person, a training run) may depend on each other in any way: one score a
  cluster is drawn, many times over, and the band is the median of the bands of the draws, each at half the chance of
  missing. The band fails only where half of them do, so the level stays (Markov's inequality; Gasparin and Ramdas
  2024, Merging uncertainty sets via majority vote). Each cluster counts once. Clusters must be independent.
- **Estimate.** Thresholds are chosen on one half of the clusters and judged on the other, both ways round, over several
  halvings. On average it lies below δ of the best threshold, as one chosen on few is not the best. It is not shown
  below its band, so where δ is 0 it lies above 0 by chance; `gain` is the value before that.
- **Cannot tell.** Where not even two sides without any overlap would bring the lower end above 0, the verdict is
  "too few" and there is no estimate. A δ of 0 is never claimed: the upper end says what is still possible.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.errors import UserError
from engine.examine.curves.lbf import Floats
from engine.examine.stats.ecdf_band import Band, band

LEVEL = 0.95
DRAWS = 51  # of one score a cluster
HALVINGS = 10
THRESHOLDS = 400  # tried in a choosing half
SHOWN, NOT_SHOWN, TOO_FEW = "shown", "not shown", "too few"
METHOD = "whole curve at once, from exact bands of both distribution functions"


@dataclass(frozen=True)
class SideScores:
    """Scores of one side.

    Args:
        scores: float (n,), any direction. clusters: int (n,), number of the cluster; the same on both sides where a
            cluster was scored on both.
    """

    scores: Floats
    clusters: NDArray[np.int64]

    def __len__(self) -> int:
        return int(self.scores.size)


def sides(
    x: ArrayLike,
    y: ArrayLike,
    clusters_x: Sequence[object] | None = None,
    clusters_y: Sequence[object] | None = None,
) -> tuple[SideScores, SideScores]:
    """Return scores under X (member, included) and Y (non-member, excluded) with numbered clusters.

    Args:
        x, y: scores, finite, shapes (n,) and (m,).
        clusters_x, clusters_y: cluster of each score, default each score its own.

    Raises:
        UserError: a score is not finite, or a side has none.
    """
    first, second = (np.asarray(side, dtype=float) for side in (x, y))
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        raise UserError("scores: must be finite; replace infinite ones by the largest finite score")
    if not (first.size and second.size):
        raise UserError("scores: both sides need at least one")
    names: list[object] = list(clusters_x) if clusters_x is not None else [("x", i) for i in range(first.size)]
    names += list(clusters_y) if clusters_y is not None else [("y", i) for i in range(second.size)]
    numbers = np.unique([repr(name) for name in names], return_inverse=True)[1].astype(np.int64)
    return SideScores(first, numbers[: first.size]), SideScores(second, numbers[first.size :])


@dataclass(frozen=True)
class AttackCurve:
    """δ of the best threshold at each ε, with a 95% band for the whole curve.

    Args:
        epsilon: float (n,), > 0, rising. delta, delta_standard: estimates; NaN where it cannot be told (strict δ: also
            where the band does not exclude 0). gain: mean of Pr[A | one side] − e^ε·Pr[A | other side] of thresholds
            judged on what did not choose them, before it is cut; NaN where halves cannot be formed.
        delta_low, delta_high, standard_low, standard_high: ends of the band, strict and standard, together 95%.
        verdict: a word an ε: "shown" (δ above 0), "not shown", "too few" (no data of this size could show it).
        clusters: independent clusters of X and of Y. scores: scores of X and of Y. method: how the band was made.
    """

    epsilon: Floats
    delta: Floats
    delta_low: Floats
    delta_high: Floats
    delta_standard: Floats
    standard_low: Floats
    standard_high: Floats
    gain: Floats
    verdict: tuple[str, ...]
    clusters: tuple[int, int]
    scores: tuple[int, int]
    method: str

    def columns(self) -> dict[str, object]:
        """Return the curve as columns of a table."""
        return {
            "epsilon": self.epsilon, "delta": self.delta, "delta_low": self.delta_low, "delta_high": self.delta_high,
            "delta_standard": self.delta_standard, "standard_low": self.standard_low,
            "standard_high": self.standard_high, "gain": self.gain, "verdict": list(self.verdict),
            "clusters": sum(self.clusters), "smaller_side": min(self.clusters),
        }  # fmt: skip


COLUMNS = [
    "epsilon", "delta", "delta_low", "delta_high", "delta_standard", "standard_low", "standard_high", "gain",
    "verdict", "clusters", "smaller_side",
]  # fmt: skip


def attack_curve(x: SideScores, y: SideScores, epsilons: Sequence[float] | Floats, *, seed: int = 0) -> AttackCurve:
    """Return the curve of an attacker who sees whether one score passes the best threshold.

    Args:
        epsilons: each > 0 and finite. seed: of the draws of one score a cluster, and of the halvings.

    Raises:
        UserError: an ε is not above 0 and finite.
    """
    grid = np.sort(np.asarray(epsilons, dtype=float))
    if not ((grid > 0.0) & np.isfinite(grid)).all():
        raise UserError("epsilons: theorem 6 holds for ε > 0; leave out 0 and infinity")
    grown = np.exp(grid)
    numbers = tuple(int(np.unique(side.clusters).size) for side in (x, y))
    single = numbers == (len(x), len(y))
    miss = (1.0 - LEVEL) / 2.0 / (1.0 if single else 2.0)
    bands = band(numbers[0], miss), band(numbers[1], miss)
    rng = np.random.default_rng(seed)
    drawn = []
    for _ in range(1 if single else DRAWS):
        ours, theirs = ((side.scores if single else _one_each(side, rng)) for side in (x, y))
        drawn.append(_ends(ours, theirs, bands, grown))
    strict_low, strict_high, low, high = np.median(np.array(drawn), axis=0)
    gain, share = _judged(x, y, grown, rng)
    few = _most_shown(bands, grown) <= 0.0
    estimate = np.where(few, np.nan, np.clip(gain, low, high))
    strict = np.where(few | (strict_low <= 0.0), np.nan, np.clip(np.fmax(share, estimate), strict_low, strict_high))
    verdict = tuple(TOO_FEW if f else SHOWN if at > 0.0 else NOT_SHOWN for f, at in zip(few, low, strict=True))
    method = METHOD if single else f"{METHOD}, median over {DRAWS} draws of one score a cluster"
    return AttackCurve(
        grid, strict, strict_low, strict_high, estimate, low, high, gain, verdict, (numbers[0], numbers[1]),
        (len(x), len(y)), method,
    )  # fmt: skip


def _one_each(side: SideScores, rng: np.random.Generator) -> Floats:
    """Return one score of each cluster, drawn at random."""
    order = rng.permutation(len(side))
    _, first = np.unique(side.clusters[order], return_index=True)
    return side.scores[order[first]]


def _ends(x: Floats, y: Floats, bands: tuple[Band, Band], grown: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Return the ends of strict and of standard δ of the best threshold, from one independent score a cluster."""
    x, y = np.sort(x), np.sort(y)
    # between two neighbouring scores the counts do not change, so these are all thresholds that the data tell apart
    cuts = np.unique(np.concatenate([x, y]))
    limits = []
    for scores, held in ((x, bands[0]), (y, bands[1])):
        below = np.append(0, np.searchsorted(scores, cuts, side="right"))
        limits += list(held.at(below))
    states = np.stack(limits)
    # limits rise with the threshold, so equal states are neighbours
    changed = np.append(True, (np.diff(states, axis=1) != 0.0).any(axis=0))
    return _of_limits(states[:, changed], grown)


def _of_limits(limits: Floats, grown: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Return least and largest strict and standard δ of the best attack.

    An attack of chance p under one side and q under the other has standard δ p − e^ε·q, and strict δ p where
    p > e^ε·q (its other answer is then likelier under the other side).

    Args:
        limits: at each threshold the lower and upper limit of X's distribution function, and those of Y's: (4, t).
        grown: e^ε, (n,).
    """
    x, y = (limits[0], limits[1]), (limits[2], limits[3])
    least: list[tuple[Floats, Floats]] = []  # (p, q), worst for the attacker
    most: list[tuple[Floats, Floats]] = []
    for p, q in ((x, y), (y, x)):
        least += [(p[0], q[1]), (1.0 - p[1], 1.0 - q[0])]  # the answers "at most the threshold" and "above it"
        most += [(p[1], q[0]), (1.0 - p[0], 1.0 - q[1])]
    strict_low, low = _best(least, grown)
    strict_high, high = _best(most, grown)
    return strict_low, strict_high, low, high


def _best(attacks: list[tuple[Floats, Floats]], grown: Floats) -> tuple[Floats, Floats]:
    """Return the largest strict and standard δ of attacks, each (n,)."""
    p, q = (np.concatenate([attack[i] for attack in attacks]) for i in (0, 1))
    gains = p - np.multiply.outer(grown, q)
    return np.where(gains > 0.0, p, 0.0).max(axis=1), np.clip(gains.max(axis=1), 0.0, 1.0)


def _most_shown(bands: tuple[Band, Band], grown: Floats) -> Floats:
    """Return the largest lower end of standard δ that any scores of these numbers could have: without overlap."""
    first, second = bands
    limits = [[first.low[-1], first.low[0]], [first.high[-1], first.high[0]],
              [second.low[0], second.low[-1]], [second.high[0], second.high[-1]]]  # fmt: skip
    return _of_limits(np.array(limits), grown)[2]


def _judged(x: SideScores, y: SideScores, grown: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return the mean gain, and the mean chance, of thresholds chosen on one half of the clusters on the other half."""
    number = int(max(x.clusters.max(), y.clusters.max())) + 1
    gains, shares = [], []
    for _ in range(HALVINGS):
        half = rng.permutation(number) % 2 == 0
        parts = [[_weighed(side, half[side.clusters] == wanted) for side in (x, y)] for wanted in (True, False)]
        if not all(scores.size for part in parts for scores, _ in part):
            continue
        for choose, judge in (parts, parts[::-1]):
            cuts = np.unique(np.quantile(np.concatenate([s for s, _ in choose]), np.linspace(0, 1, THRESHOLDS)))
            seen, held = _answers(choose, cuts), _answers(judge, cuts)
            best = np.argmax(seen[0] - np.multiply.outer(grown, seen[1]), axis=1)
            gains.append(held[0][best] - grown * held[1][best])
            shares.append(held[0][best])
    if not gains:
        return np.full(grown.size, np.nan), np.full(grown.size, np.nan)
    return np.mean(gains, axis=0), np.mean(shares, axis=0)


def _weighed(side: SideScores, kept: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Return the scores kept, sorted, with weights by which each cluster counts once."""
    codes = np.unique(side.clusters[kept], return_inverse=True)[1]
    order = np.argsort(side.scores[kept], kind="stable")
    weights = 1.0 / np.bincount(codes)[codes] if codes.size else np.zeros(0)
    return side.scores[kept][order], weights[order]


def _answers(sides: list[tuple[Floats, Floats]], cuts: Floats) -> tuple[Floats, Floats]:
    """Return (p, q) of the attacks: X above a cut, X not above, Y above, Y not above; the last one never answers."""
    above = []
    for scores, weights in sides:
        mass = np.append(np.cumsum(weights[::-1])[::-1], 0.0) / weights.sum()
        above.append(mass[np.searchsorted(scores, cuts, side="right")])
    x, y = above
    return np.concatenate([x, 1 - x, y, 1 - y, [0.0]]), np.concatenate([y, 1 - y, x, 1 - x, [0.0]])
