"""Adversaries who choose their attack beforehand, and those who choose it after seeing the output.

Source: Stomakhin 2025, section 3.7, definitions 9 (static) and 10 (adaptive), for one class of attacks: probes, each of
which says whether one of its outputs occurs among k independent draws. With every single output a probe this is the
word probe of section 3.8, "does w occur in a text of k words?", and with k = 1 definition 10 is theorem 5.

A probe a with chance p of being hit by one draw answers 1 with chance 1 − (1 − p)^k, so its LBF needs no sampling:

    LBF_a = ln [1 − (1 − p_a)^k] / [1 − (1 − q_a)^k]

Adaptive δ is Pr[some probe answers 1 and has LBF > ε]: k draws of which at least one hits a probe that fails. Static δ
is that of the worst probe fixed beforehand (theorem 6: both answers count, so at small ε it can be the larger, where
definition 10 counts probes that answer 1). Both are strict, the worse of both directions, and for the two distributions
given, where the definitions ask for all adjacent data sets. Neither is the δ of an accountant; and the LBF of a probe
picked for what was seen is not the adversary's posterior odds, since the other draws, which may speak against it, are
left aside.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.errors import UserError
from engine.examine.curves.lbf import TIE, Floats

MOST_ROUNDS = 1_000_000
CLAIM = (
    "Strict δ of definitions 9 and 10 for these two data sets and the class of probes “does this output occur among "
    "the draws?”: `delta` where the probe is chosen after seeing them, `delta_fixed` where it is chosen beforehand. It "
    "is not the δ of accountants, and the evidence of a probe picked afterwards is not the attacker's odds."
)


@dataclass(frozen=True)
class Probes:
    """A class of probes against k draws.

    Args:
        rounds: k. chances: of each probe's answer 1 under X and Y, (2, a). best: largest LBF of a probe that each
            output hits, X against Y and Y against X, (2, n); −∞ where none does. mass: chance of each output a draw,
            or of all alike together, under X and Y, (2, n).
    """

    rounds: int
    chances: Floats
    best: Floats
    mass: Floats

    def adaptive(self, epsilons: ArrayLike) -> Floats:
        """Return δ at each ε > 0 against an adversary who picks a probe after seeing the k draws (definition 10)."""
        grid = np.asarray(epsilons, dtype=float)
        return np.max([self._hit(side, grid) for side in (0, 1)], axis=0)

    def _hit(self, side: int, grid: Floats) -> Floats:
        order = np.argsort(self.best[side], kind="stable")
        above = np.append(np.cumsum(self.mass[side][order][::-1])[::-1], 0.0)
        failing = above[np.searchsorted(self.best[side][order], grid + TIE, side="right")]
        return _any(np.clip(failing, 0.0, 1.0), self.rounds)

    def fixed(self, epsilons: ArrayLike) -> Floats:
        """Return δ at each ε > 0 against the best probe chosen beforehand (definition 9, theorem 6)."""
        grid = np.asarray(epsilons, dtype=float)
        worst = np.zeros(grid.size)
        for answers in (self.chances, 1.0 - self.chances):
            for p, q in (answers, answers[::-1]):
                worst = np.maximum(worst, _largest(p, _ratio(p, q), grid))
        return worst

    def floor(self) -> float:
        """Return the least adaptive δ with a finite ε: the chance to draw what only one side has a probe for."""
        only = [self.mass[side][np.isposinf(self.best[side])].sum() for side in (0, 1)]
        return float(_any(np.clip(np.array(only), 0.0, 1.0), self.rounds).max())


def probes(
    x: ArrayLike,
    y: ArrayLike,
    rounds: int = 1,
    *,
    times: ArrayLike | None = None,
    attacks: NDArray[np.bool_] | None = None,
) -> Probes:
    """Return a class of probes of k draws.

    Args:
        x, y: counts or probabilities of the outputs of one draw under X and Y, (n,). rounds: k, draws seen.
        times: how many outputs have these two counts, (n,), default 1; each of them has its own probe.
        attacks: bool (a, n), probe i is hit by the outputs of its row; default a probe for each output.

    Raises:
        UserError: fewer than one draw, or too many.
    """
    if not 1 <= rounds <= MOST_ROUNDS:
        raise UserError(f"rounds: between 1 and {MOST_ROUNDS:,} draws can be seen, got {rounds}")
    counts = np.stack([np.asarray(side, dtype=float) for side in (x, y)])
    alike = np.ones(counts.shape[1]) if times is None else np.asarray(times, dtype=float)
    totals = (counts * alike).sum(axis=1, keepdims=True)
    mass = counts * alike / totals
    hits = None if attacks is None else np.asarray(attacks, dtype=bool)
    once = counts / totals if hits is None else np.clip(mass @ hits.T, 0.0, 1.0)
    chances = _any(once, rounds)
    losses = np.stack([_ratio(*chances), _ratio(*chances[::-1])])
    if hits is not None:
        masked = np.where(hits[None], losses[:, :, None], -np.inf)
        losses = masked.max(axis=1, initial=-np.inf)
    return Probes(rounds, chances, losses, mass)


def _any(chance: Floats, rounds: int) -> Floats:
    """Return the chance that at least one of k independent draws does what one does with this chance."""
    with np.errstate(divide="ignore"):
        return np.asarray(-np.expm1(rounds * np.log1p(-chance)))


def _ratio(p: Floats, q: Floats) -> Floats:
    """Return ln p/q; −∞ where p is 0, so that what never happens is no evidence."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.log(p) - np.log(q)
    return np.where(p > 0.0, found, -np.inf)


def _largest(p: Floats, losses: Floats, grid: Floats) -> Floats:
    """Return the largest p whose loss is above each ε."""
    order = np.argsort(losses, kind="stable")
    largest = np.append(np.maximum.accumulate(p[order][::-1])[::-1], 0.0)
    return np.asarray(largest[np.searchsorted(losses[order], grid + TIE, side="right")])
