"""Privacy loss for an attacker who does not know everything: the N most telling words, or a prior of word frequencies.

Top N (Stomakhin 2025, section 5.4.2, figure 13): the attacker watches the N words with the largest |LBF| only.
Three scenarios: `base` (words from the original data, attack on it), `synthetic from synthetic`, and `synthetic from
base` (words known from the original data, attack on the synthetic text): the last is the realistic one.

Background prior (section 3.6): the attacker knows what U wrote and believes the rest follows a Zipf–Mandelbrot law
over ranked words. Summing Pr[M(Y) = o] over data sets weighted by that belief gives the expected frequency, so the
subjective Bayes factor needs no sum over data sets. How often it exceeds ε is counted with the true frequencies.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from engine.errors import UserError
from engine.examine.curves.lbf import Floats
from engine.examine.curves.ngram_counts import Ints

TOP = (100, 1000, 5000)
EPSILONS = tuple(math.log(value) for value in (1.01, 1.2, 2.0, 10.0))
Scenario = Literal["base", "synthetic from synthetic", "synthetic from base"]


@dataclass(frozen=True)
class TopN:
    """δ of one scenario: words chosen by one pair's LBF, failures counted in a pair that may be another.

    Args:
        scenario: who knows what. top: how many words are watched, at most as many as there are.
        epsilons: float (e,). delta: strict δ at each, over watched words only.
        mass: chance that a draw is a watched word at all, the larger of both sides.
    """

    scenario: Scenario
    top: int
    epsilons: tuple[float, ...]
    delta: Floats
    mass: float


def top_words(x: Ints, y: Ints, number: int) -> NDArray[np.int64]:
    """Return the words with the largest |LBF|, at most `number`; among equals the likelier ones first."""
    p, q = _frequencies(x, y)
    size = np.abs(_lbf(p, q))
    seen = np.flatnonzero((p > 0) | (q > 0))
    order = np.lexsort((seen, -np.maximum(p, q)[seen], -size[seen]))
    return seen[order[:number]]


def watched(x: Ints, y: Ints, words: NDArray[np.int64], epsilons: Sequence[float] = EPSILONS) -> tuple[Floats, float]:
    """Return the strict δ of an attacker who watches some words only, at each ε, and those words' chance.

    A watched word counts as a failure where its LBF in this pair exceeds ε, in whichever direction is worse.
    """
    p, q = (side[words] for side in _frequencies(x, y))
    loss = _lbf(p, q)
    delta = [max(float(p[loss > e].sum()), float(q[-loss > e].sum())) for e in epsilons]
    return np.asarray(delta), max(float(p.sum()), float(q.sum()))


def scenarios(
    x: Ints,
    y: Ints,
    synthetic_x: Ints,
    synthetic_y: Ints,
    top: Sequence[int] = TOP,
    epsilons: Sequence[float] = EPSILONS,
) -> list[TopN]:
    """Return the three scenarios for each N (figure 13).

    Args:
        x, y: counts in X and X ∖ U, shape (g,). synthetic_x, synthetic_y: in the text generated from them.
    """
    base, made = (x, y), (synthetic_x, synthetic_y)
    found: list[TopN] = []
    for number in top:
        if number < 1:
            raise UserError(f"top: at least one word must be watched, got {number}")
        known, learnt = top_words(*base, number), top_words(*made, number)
        plans: tuple[tuple[Scenario, tuple[Ints, Ints], NDArray[np.int64]], ...] = (
            ("base", base, known),
            ("synthetic from synthetic", made, learnt),
            ("synthetic from base", made, known),
        )
        for name, attacked, words in plans:
            delta, mass = watched(*attacked, words, epsilons)
            found.append(TopN(name, number, tuple(epsilons), delta, mass))
    return found


def zipf(ranks: NDArray[np.int64], exponent: float = 1.0, offset: float = 2.7) -> Floats:
    """Return frequencies ∝ 1 / (rank + offset)^exponent, scaled to add up to one.

    Args:
        ranks: int (g,), 1 = most frequent; equal ranks share a frequency.

    Source: Piantadosi 2014, Psychonomic Bulletin & Review 21, equation 2 (exponent ≈ 1, offset ≈ 2.7).
    """
    if ranks.size == 0 or ranks.min() < 1 or exponent <= 0.0 or offset < 0.0:
        raise UserError("zipf: ranks start at 1, the exponent is above 0 and the offset not below 0")
    weights = (ranks + offset) ** -exponent
    return np.asarray(weights / weights.sum())


def ranks_of(counts: Ints) -> NDArray[np.int64]:
    """Return ranks by falling count in a reference text, ties in order of appearance.

    The reference should be public. Words it lacks come last.
    """
    order = np.argsort(-np.asarray(counts), kind="stable")
    ranks = np.empty(order.size, np.int64)
    ranks[order] = np.arange(1, order.size + 1)
    return ranks


@dataclass(frozen=True)
class Believed:
    """What an attacker with a prior concludes from one draw.

    Args:
        epsilons: float (e,). delta: chance that the believed |LBF| favours the true side by more than ε, the
            worse side. false_delta: chance that it favours the wrong side by more than ε.
        objective: strict δ of an attacker who knows all frequencies, at the same ε.
        error: mean |believed − true LBF| over draws from X with a finite true one, in nats.
    """

    epsilons: tuple[float, ...]
    delta: Floats
    false_delta: Floats
    objective: Floats
    error: float


def believed(
    x: Ints, y: Ints, background: Floats, known: Ints | None = None, epsilons: Sequence[float] = EPSILONS
) -> Believed:
    """Return the subjective curve of an attacker who knows U's own text and a prior for everything else.

    Args:
        x, y: true counts in X and X ∖ U, shape (g,). background: believed frequencies in X ∖ U, > 0, shape (g,).
        known: what the attacker knows U to have written, default all of it, x − y. The sizes of both are known.
    """
    own = np.asarray(x - y if known is None else known, dtype=float)
    if own.min(initial=0.0) < 0.0 or not (np.asarray(background) > 0.0).all():
        raise UserError("background: every word needs a believed frequency above 0, and counts of U are not negative")
    size = float(np.sum(y))
    with_u = (size * background + own) / (size + own.sum())
    belief = np.log(with_u / background)
    p, q = _frequencies(x, y)
    truth = _lbf(p, q)

    def chance(loss: Floats, sign: float) -> Floats:
        return np.asarray([max(p[sign * loss > e].sum(), q[-sign * loss > e].sum()) for e in epsilons])

    finite = np.isfinite(truth) & (p > 0.0)
    error = float(np.sum(p[finite] * np.abs(belief - truth)[finite]) / max(p[finite].sum(), 1e-300))
    return Believed(tuple(epsilons), chance(belief, 1.0), chance(belief, -1.0), chance(truth, 1.0), error)


def _frequencies(x: Ints, y: Ints) -> tuple[Floats, Floats]:
    first, second = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    if not (first.sum() > 0.0 and second.sum() > 0.0):
        raise UserError("counts: both sides need at least one word")
    return first / first.sum(), second / second.sum()


def _lbf(p: Floats, q: Floats) -> Floats:
    """Return ln p / q; 0 where both are 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where((p > 0.0) | (q > 0.0), np.log(p) - np.log(q), 0.0)
