"""May I publish this fragment while that model is public? An answer with numbers.

A fragment that its writer's group would publish lets anybody ask the public model how surprising it is; an unusually
low surprisal says that the group was in training (Stomakhin 2025, Framework for Privacy-Preserving Synthesis of
Textual Data, section 6.4, which leaves the numbers to others). Here the distributions come from models trained with
and without groups of people: how surprising records are to models that saw them, and to models that did not.

The answer holds for an attacker who knows those distributions and nothing else, and for this fragment alone: several
fragments of one person add up.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.errors import UserError
from engine.examine.curves.lbf import Floats

FEW = 40
DRAWS = 500
SMALL = math.log(1.2)


@dataclass(frozen=True)
class Fragment:
    """What the model's score of a fragment gives away.

    Args:
        score: its member-like score. included, excluded: shares of records that were, and were not, in training with
            at least this score. loss: LBF of scores near the fragment's, included against excluded, in nats; above 0
            speaks for membership. low, high: ends of its 95% band over clusters. posterior: belief in membership that
            starts at one half, at `loss`; posterior_low, posterior_high: at the ends of the band. answer: in words.
    """

    score: float
    included: float
    excluded: float
    loss: float
    low: float
    high: float
    posterior: float
    posterior_low: float
    posterior_high: float
    answer: str


def assess(
    score: float,
    included: ArrayLike,
    excluded: ArrayLike,
    clusters_included: Sequence[object] | None = None,
    clusters_excluded: Sequence[object] | None = None,
    seed: int = 0,
) -> Fragment:
    """Return what publishing a fragment would give away about its writer.

    Args:
        score: member-like score of the fragment under the public model, the same that `included` and `excluded` have.
        included, excluded: scores of records under models that saw them and that did not, (n,), (m,).
        clusters_included, clusters_excluded: training × source of each, default each its own.

    Raises:
        UserError: fewer than 40 scores of a side, or one is not finite.
    """
    x, y = (np.asarray(side, float) for side in (included, excluded))
    if min(x.size, y.size) < FEW or not (np.isfinite(x).all() and np.isfinite(y).all() and math.isfinite(score)):
        raise UserError(f"fragment: at least {FEW} finite scores of each side are needed, got {x.size} and {y.size}")
    place_x, place_y = (
        np.unique([repr(name) for name in (names if names is not None else range(size))], return_inverse=True)[1]
        for names, size in ((clusters_included, x.size), (clusters_excluded, y.size))
    )
    own_x, own_y = _near(score, x, y)
    loss = _loss(own_x, own_y, np.ones(x.size), np.ones(y.size))
    rng = np.random.default_rng(seed)
    drawn = [
        _loss(own_x, own_y, *(np.bincount(rng.integers(0, n, n), minlength=n).astype(float)[place]
                              for place in (place_x, place_y) for n in [int(place.max()) + 1]))
        for _ in range(DRAWS)
    ]  # fmt: skip
    low, high = (float(v) for v in np.quantile(drawn, [0.025, 0.975]))
    worse = high if abs(high) >= abs(low) else low
    return Fragment(
        score, float(np.mean(x >= score)), float(np.mean(y >= score)), loss, low, high, _belief(loss), _belief(low),
        _belief(high), _answer(loss, low, high, worse),
    )  # fmt: skip


def _near(score: float, x: Floats, y: Floats) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which scores are among those nearest to the fragment's, at least 20 and a twentieth of all.

    A window of neighbours and not bins that both sides fill: where members and others hardly overlap such bins would
    join to one, and the answer would be that nothing can be learned.
    """
    distance = np.abs(np.concatenate([x, y]) - score)
    width = np.partition(distance, (size := max(20, distance.size // 20)) - 1)[size - 1]
    return distance[: x.size] <= width, distance[x.size :] <= width


def _loss(own_x: NDArray[np.bool_], own_y: NDArray[np.bool_], weight_x: Floats, weight_y: Floats) -> float:
    """Return the log ratio of the shares near the fragment, half a record added to each to keep it finite."""
    share_x = (weight_x[own_x].sum() + 0.5) / (weight_x.sum() + 1.0)
    share_y = (weight_y[own_y].sum() + 0.5) / (weight_y.sum() + 1.0)
    return float(math.log(share_x / share_y))


def _belief(loss: float) -> float:
    return 1.0 / (1.0 + math.exp(-loss))


def _answer(loss: float, low: float, high: float, worse: float) -> str:
    odds = f"the odds that its writer was in training move by a factor of {math.exp(loss):.2f} "
    odds += f"(95% band {math.exp(low):.2f} to {math.exp(high):.2f})"
    if abs(worse) <= SMALL:
        return f"By this attack, yes: {odds}, at most a fifth."
    if low <= 0.0 <= high:
        return f"Cannot tell: {odds}; the models scored are too few to rule out more than a fifth."
    side = "was" if loss > 0 else "was not"
    return f"Better not while the model is public: {odds}; whoever asks the model learns that its writer {side} in."
