"""What training with noise promises and what its budget buys, from public quantities alone."""

from __future__ import annotations

import math
from dataclasses import dataclass

from engine.dp.accounting.accountant import ExactAccountant
from engine.dp.accounting.accounts import Accountant
from engine.dp.accounting.closed_form import mu_of
from engine.dp.events import Event
from engine.dp.guarantee import Guarantee
from engine.dp.noise.train import WHAT, Training, event_of
from engine.methods import label_list
from engine.methods.advice.budget_figures import Answer, Question, row
from engine.methods.base import Facts
from engine.methods.evolution import claim as pe_claim
from engine.methods.tuned.parameters import DpFinetuneParameters

LABELS, LENGTHS = "label histogram", "length histogram"


@dataclass(frozen=True)
class Schedule:
    """A run's mechanisms before calibration: those with a fixed share, and the training with noise of one C."""

    fixed: tuple[Event, ...]
    declared: tuple[Event, ...]
    training: Event


def rate_of(p: DpFinetuneParameters, facts: Facts) -> float:
    """Return q, the chance that a unit takes part in a step."""
    return min(1.0, p.units_a_step / max(1, facts.units))


def training_of(p: DpFinetuneParameters, facts: Facts, noise_multiplier: float, keep_every: int = 1) -> Training:
    """Return the public settings of the mechanism."""
    rate = rate_of(p, facts)
    return Training(p.steps, p.clip, noise_multiplier, rate, rate * facts.units, keep_every)


def schedule(p: DpFinetuneParameters, facts: Facts) -> Schedule:
    """Return the mechanisms of a run, fixed beforehand."""
    delta = pe_claim.delta_of(p, facts)
    facts, mu = label_list.known(p, facts), mu_of(p.epsilon, delta)
    fixed = [label_list.list_event(p, facts, delta)] if label_list.is_bought(p) else []
    if facts.labels and p.labels == "bought":
        fixed.append(pe_claim.gaussian(LABELS, p, facts, 1.0 / (mu * math.sqrt(p.label_share))))
    if p.lengths == "bought":
        fixed.append(pe_claim.gaussian(LENGTHS, p, facts, 1.0 / (mu * math.sqrt(p.length_share))))
    declared: tuple[Event, ...] = ()
    if facts.labels and p.labels == "public":
        declared = (pe_claim.declared("label declared public", p, facts),)
    return Schedule(tuple(fixed), declared, event_of(training_of(p, facts, 1.0), facts.unit, p.adjacency))


def guarantee_of(p: DpFinetuneParameters, facts: Facts, accountant: Accountant | None = None) -> Guarantee:
    """Return the claim: shares with their part of the budget, the training's noise calibrated for what is left.

    Raises:
        AccountingPending: `accountant` has no answer at once.
    """
    planned = schedule(p, facts)
    found = (accountant or ExactAccountant()).calibrate(
        [*planned.declared, *planned.fixed], [planned.training], p.epsilon, pe_claim.delta_of(p, facts)
    )
    named = {event.what: event for event in found.events}
    own = ((label_list.NAME, label_list.WHAT), ("labels", LABELS), ("lengths", LENGTHS))
    noise = {name: named[what] for name, what in own if what in named}
    q = rate_of(p, facts)
    drawn = f"all {facts.unit}s" if q == 1.0 else f"a random {q:.2%} of the {facts.unit}s"
    bought = ["a list of labels"] if label_list.WHAT in named else []
    bought += ["a histogram of labels"] if LABELS in named else []
    bought += ["a histogram of lengths"] if LENGTHS in named else []
    bought.append(f"{p.steps} training steps on gradients of {drawn}, each cut to length {p.clip:g}")
    return pe_claim.dp_guarantee(
        p, facts, found, bought=bought, noise={**noise, "training": named[WHAT]}, inputs=_inputs(p),
        assumptions=_assumptions(p, facts), voided_by=(
            "The loss curve was published, or the step, the settings or the run were chosen by it.",
            "It was published which units were drawn, or how long steps took.",
        ),
    )  # fmt: skip


def _inputs(p: DpFinetuneParameters) -> list[str]:
    found = ["the domain and the prompts", "the network and its start", "the settings of this plan"]
    if p.lengths == "public":
        found.append(f"the length asked for, {p.words} words")
    return found


def _assumptions(p: DpFinetuneParameters, facts: Facts) -> tuple[str, ...]:
    rate = rate_of(p, facts)
    documents = f", a {facts.unit}'s records averaged into one gradient" if facts.unit == "source" else ""
    found = [
        f"The training's settings are public: {p.steps} steps, {rate * facts.units:,.0f} {facts.unit}s expected in a "
        f"step, clip {p.clip:g}, learning rate, network and its start{documents}.",
        "The guarantee covers the weights of every step, so the tuned model too; it is kept inside all the same.",
        "The last step's weights are used; none was chosen by looking.",
        "Training's noise is a floating-point Gaussian, its generator seeded from the operating system's randomness; "
        "it is not cryptographic.",
        rounding(facts.unit),
    ]
    if rate < 1.0:
        found.append("Who takes part in a step is drawn from the operating system's randomness and stays secret.")
    if p.lengths == "public":
        found.append(f"The length asked for, {p.words} words, is public.")
    else:
        found.append("Lengths are counted in words, in classes with public limits.")
    if p.watch_loss:
        found.append("The loss is watched inside while training; it is no part of the output.")
    return tuple(found)


def rounding(unit: str) -> str:
    """Return what is assumed of gradients that are computed side by side, one sentence."""
    return (
        f"A {unit}'s gradient does not depend on which other {unit}s are computed beside it, but for the rounding of "
        "float32 arithmetic, for which no noise is added."
    )


def figures(request: Question) -> Answer:
    """Return `rows` and `advice`: what the noise leaves of a step's gradient at best, for the built-in model.

    Args:
        request: `parameters`, `facts`, `noise` (a statistic's levels).
    """
    p = DpFinetuneParameters.model_validate(
        {name: value for name, value in request["parameters"].items() if name in DpFinetuneParameters.model_fields}
    )
    facts = Facts(**request["facts"])
    noise = float(request["noise"]["training"]["sigma"])
    rate = rate_of(p, facts)
    expected, size = rate * facts.units, values_trained(p)
    signal = expected * p.clip / (noise * math.sqrt(size))
    passes = rate * p.steps
    rows = [
        row(
            "Signal of a step at best: C·B / (σ·√d)", f"{signal:.2g}",
            "every clipped gradient pointing one way, against the length of the noise; real gradients agree far less",
        ),
        row("The same over all steps, times √T", f"{signal * math.sqrt(p.steps):.2g}", "above 1 something is learned"),
        row("Noise over clip, σ / C", f"{noise / p.clip:.3g}", f"on a sum of {expected:,.0f} {facts.unit}s expected"),
        row("Weights that are trained, d", f"{size:,}", "built-in model; another one has its own number"),
        row("Passes over the corpus, q·T", f"{passes:.2g}", f"{p.steps:,} steps of {rate:.2%}"),
    ]  # fmt: skip
    advice = []
    if signal * math.sqrt(p.steps) < 1.0:
        advice.append(
            "At this budget the noise drowns the gradients even where all agree: draw more units a step, train fewer "
            "weights (a lower rank, attention layers only), or raise ε."
        )
    if p.units_a_step > facts.units:
        advice.append(f"There are {facts.units:,} {facts.unit}s: each step takes them all.")
    return {"rows": rows, "advice": advice}


def values_trained(p: DpFinetuneParameters) -> int:
    """Return how many weights of the built-in model are trained, from its sizes on disk."""
    import json

    from engine.models.builtin.shipped import builtin_models, lm_folder

    if not p.rank:
        return int(next(entry["parameters"] for entry in builtin_models() if entry["id"] == "builtin"))
    sizes = json.loads((lm_folder() / "config.json").read_text("utf-8"))
    hidden, wide = int(sizes["hidden_size"]), int(sizes["intermediate_size"])
    layer = 4 * 2 * hidden + (3 * (hidden + wide) if p.layers == "all" else 0)
    return int(sizes["num_hidden_layers"]) * p.rank * layer
