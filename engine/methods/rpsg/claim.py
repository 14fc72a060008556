"""What RPSG may say about its noise, and why that is no guarantee for its output.

Sources: Ma and Rajtmajer, section 3.2, equation 1 and appendix A.3; Balle and Wang 2018 for the exact ε of a
Gaussian release; Dwork and Roth 2014, theorem A.1 (its σ is proven for ε <= 1 only).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.special import ndtr

from engine.dp.accounting import closed_form
from engine.dp.events import Event
from engine.dp.guarantee import Guarantee
from engine.methods.base import Facts

SENSITIVITY = 1.0
EXAMPLE = (0.7, 0.9)
"""Utilities of candidates of one seed usually lie about here: all tell the same story."""


def sigma_of(epsilon: float, delta: float) -> float:
    """Return the standard deviation of equation 1: √(2 ln(1.25/δ)) / ε at sensitivity 1."""
    return SENSITIVITY * closed_form.classical_noise_multiplier(epsilon, delta)


def best_wins(utilities: Sequence[float], sigma: float) -> float:
    """Return how often the best of the utilities also has the best noisy utility, Gaussian noise, in [0, 1].

    ∫ φ(t) Π_j Φ(t + (u_best − u_j) / σ) dt over the others, by the trapezium rule.
    """
    values = np.sort(np.asarray(utilities, dtype=np.float64))
    grid = np.linspace(-9.0, 9.0, 4001)
    density = np.exp(-(grid**2) / 2.0) / math.sqrt(2.0 * math.pi)
    beaten = np.prod([ndtr(grid + (values[-1] - u) / sigma) for u in values[:-1]], axis=0)
    return float(np.trapezoid(density * beaten, grid))


def best_wins_exact(utilities: Sequence[float], epsilon: float) -> float:
    """Return how often the exponential mechanism at sensitivity 1 takes the best utility, in [0, 1]."""
    values = np.asarray(utilities, dtype=np.float64)
    weights = np.exp(epsilon * (values - values.max()) / (2.0 * SENSITIVITY))
    return float(weights[values.argmax()] / weights.sum())


def example(candidates: int) -> list[float]:
    """Return evenly spaced utilities of that many candidates."""
    return [float(u) for u in np.linspace(*EXAMPLE, candidates)]


def example_sentence(noise: str, epsilon: float, delta: float, candidates: int) -> str:
    """Return one sentence that says how much the noise leaves of the choice."""
    utilities = example(candidates)
    if noise == "paper":
        sigma = sigma_of(epsilon, delta)
        wins, how = best_wins(utilities, sigma), f"with noise of σ = {sigma:.2f}"
    else:
        wins, how = best_wins_exact(utilities, epsilon), f"by a choice with ε = {epsilon:g}"
    return (
        f"Of {candidates} candidates with utilities between {EXAMPLE[0]:g} and {EXAMPLE[1]:g} the best wins "
        f"{wins:.0%} of the draws {how} (chance {1 / candidates:.0%})."
    )


def claim(noise: str, epsilon: float, delta: float | None, candidates: int, facts: Facts) -> Guarantee:
    """Return the guarantee of kind `selection-only`.

    Args:
        noise: `paper` (equation 1) or `exact` (ε of the choice among given candidates).
        epsilon, delta: what the choice is calibrated for; None is 1/(N ln N).
        candidates: m, how many the choice is among.
        facts: the corpus' public quantities.
    """
    delta = closed_form.default_delta(facts.units) if delta is None else closed_form.check_delta(delta)
    learn = (
        "The candidates themselves are written from the private record, whatever the noise: whoever reads the output "
        "can still learn what a record tells, phrases of it included, and that its author is in the data."
    )
    common = {
        "kind": "selection-only",
        "scope": "the choice among the candidates of one seed, once they are given",
        "unit": facts.unit,
        "voided_by": (
            "It is read as a statement about the output: the candidates are private text in other words.",
            "Several seeds stem from one person: their choices add up.",
        ),
    }
    if noise == "exact":
        event = Event("selection", "choice among candidates", epsilon=epsilon, sensitivity=SENSITIVITY)
        return Guarantee(
            **common,  # type: ignore[arg-type]
            sentence=f"No guarantee covers the output. Only the choice among {candidates} candidates of each seed is "
            f"noisy, with ε = {epsilon:g} for given candidates. {learn}",
            events=(event.as_dict(),),
            assumptions=_assumptions(candidates),
            noise={"selection": _scale(epsilon)},
            accounting={"epsilon_given_candidates": epsilon},
        )
    sigma = sigma_of(epsilon, delta)
    event = Event("selection", "choice among candidates", noise_multiplier=sigma, sensitivity=SENSITIVITY)
    single, joint = (closed_form.epsilon(size / sigma, delta) for size in (1.0, math.sqrt(candidates)))
    unproven = "" if epsilon <= 1.0 else " The formula for σ is proven for ε up to 1 only."
    return Guarantee(
        **common,  # type: ignore[arg-type]
        sentence=f"No guarantee covers the output. Only the choice among {candidates} candidates of each seed is "
        f"noisy: Gaussian noise of σ = {sigma:.2f} on each utility, which the authors state as ε = {epsilon:g}, "
        f"δ = {delta:.3g}. {learn}",
        events=(event.as_dict(),),
        assumptions=(
            *_assumptions(candidates),
            f"σ follows equation 1 of the paper.{unproven} If one utility changes by at most 1 the exact ε is "
            f"{single:.2f}; {candidates} utilities of one record change together, which gives {joint:.2f}.",
        ),
        noise={"selection": {"sigma": sigma, "noise_multiplier": sigma / SENSITIVITY, "sensitivity": SENSITIVITY}},
        accounting={
            "epsilon_paper": epsilon,
            "delta_paper": delta,
            "epsilon_sensitivity_1": single,
            f"epsilon_sensitivity_sqrt{candidates}": joint,
            "best_candidate_wins": best_wins(example(candidates), sigma),
        },
    )


def _scale(epsilon: float) -> dict[str, float]:
    """Return the noise of a choice that is ε-DP for given candidates: Gumbel noise of scale 2/ε, as a deviation."""
    sigma = math.pi / math.sqrt(6.0) * 2.0 * SENSITIVITY / epsilon
    return {"sigma": sigma, "noise_multiplier": sigma / SENSITIVITY, "sensitivity": SENSITIVITY, "epsilon": epsilon}


def _assumptions(candidates: int) -> tuple[str, ...]:
    return (
        f"The {candidates} candidates of a seed are given; how they came about is not covered.",
        "A utility is a cosine similarity scaled to lie between 0 and 1.",
        "Each training record is the seed of at most one output; more outputs than records break this.",
    )
