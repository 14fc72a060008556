"""What a histogram of topics, and a training behind the same conditions, promise and cost."""

from __future__ import annotations

import math

from engine.dp.accounting.accountant import ExactAccountant
from engine.dp.accounting.accounts import Accountant
from engine.dp.accounting.closed_form import mu_of
from engine.dp.events import Event
from engine.dp.guarantee import Guarantee
from engine.dp.noise.train import WHAT as TRAINING
from engine.dp.noise.train import event_of
from engine.methods import label_list
from engine.methods.base import Facts
from engine.methods.evolution import claim as pe_claim
from engine.methods.public_inputs import listed
from engine.methods.topics.histogram import steps_of
from engine.methods.topics.parameters import DpTopicsParameters
from engine.methods.tuned.claim import rate_of, rounding, training_of

HISTOGRAM = "joint histogram"


def steps(p: DpTopicsParameters, facts: Facts) -> int:
    """Return how many steps from the root topics are counted."""
    share = p.histogram_share if p.tuning == "noisy" else 1.0
    return p.refinements or steps_of(facts.units, p.epsilon * math.sqrt(share))


def questions(p: DpTopicsParameters, facts: Facts) -> int:
    """Return how many noisy histograms a run draws at most: one a step, and one of lengths."""
    return steps(p, facts) + (1 if p.lengths == "bought" else 0)


def schedule(p: DpTopicsParameters, facts: Facts) -> tuple[list[Event], list[Event]]:
    """Return the events whose noise is fixed beforehand, and those that are calibrated for what is left."""
    delta = pe_claim.delta_of(p, facts)
    fixed = [label_list.list_event(p, facts, delta)] if label_list.is_bought(p) else []
    if label_list.known(p, facts).labels and p.labels == "public":
        fixed.append(pe_claim.declared("label declared public", p, facts))
    asked = questions(p, facts)
    if p.tuning == "none":
        return fixed, [pe_claim.gaussian(HISTOGRAM, p, facts, math.sqrt(asked), asked)]
    own = math.sqrt(asked / p.histogram_share) / mu_of(p.epsilon, delta)
    fixed.append(pe_claim.gaussian(HISTOGRAM, p, facts, own, asked))
    return fixed, [event_of(training_of(p, facts, 1.0), facts.unit, p.adjacency)]


def guarantee_of(p: DpTopicsParameters, facts: Facts, accountant: Accountant | None = None) -> Guarantee:
    """Return the claim: the histogram's questions, and the training's steps where the model is fitted.

    Raises:
        AccountingPending: `accountant` has no answer at once.
    """
    fixed, free = schedule(p, facts)
    found = (accountant or ExactAccountant()).calibrate(fixed, free, p.epsilon, pe_claim.delta_of(p, facts))
    named = {event.what: event for event in found.events}
    own = ((label_list.NAME, label_list.WHAT), ("histogram", HISTOGRAM), (pe_claim.FLOATING, TRAINING))
    counted = ["topic"] + (["length"] if p.lengths == "bought" else [])
    counted += ["label"] if facts.labels or label_list.is_bought(p) else []
    what = listed(counted) + (" together" if len(counted) > 1 else "")
    bought = ["a list of labels"] if label_list.WHAT in named else []
    bought.append(f"a histogram of {what}, refined in {questions(p, facts)} questions")
    if p.tuning == "noisy":
        q = rate_of(p, facts)
        who = f"all {facts.unit}s" if q == 1.0 else f"a random {q:.2%} of the {facts.unit}s"
        bought.append(f"{p.steps} training steps on gradients of {who}, each cut to length {p.clip:g}")
    return pe_claim.dp_guarantee(
        p, facts, found, bought=bought, noise={name: named[event] for name, event in own if event in named},
        inputs=_inputs(p), assumptions=_assumptions(p, facts.unit), voided_by=_voided(p),
    )  # fmt: skip


def _inputs(p: DpTopicsParameters) -> list[str]:
    found = ["the domain and the prompts", "the topics with their key words", "the settings of this plan"]
    if p.tuning == "noisy":
        found.append("the network and its start")
    if p.lengths == "public":
        found.append(f"the length asked for, {p.words} words")
    return found


def _assumptions(p: DpTopicsParameters, unit: str) -> tuple[str, ...]:
    found = [
        "The topics were made from public text that ships with none of this corpus in it.",
        "Which topics are counted more finely follows from earlier noisy counts and a public threshold.",
    ]
    if p.lengths == "bought":
        found.append("Lengths are counted in words, in four classes with public limits.")
    else:
        found.append(f"The length asked for, {p.words} words, is public.")
    if p.tuning == "noisy":
        found += [
            "A record is learned behind key words of its nearest topic, its label and its length.",
            "The last step's weights are used; none was chosen by looking.",
            "Training's noise is a floating-point Gaussian, its generator seeded from the operating system's "
            "randomness; it is not cryptographic.",
            rounding(unit),
        ]
    if p.tuning == "noisy" and p.watch_loss:
        found.append("The loss is watched inside while training; it is no part of the output.")
    return tuple(found)


def _voided(p: DpTopicsParameters) -> tuple[str, ...]:
    if p.tuning == "none":
        return ("The topics or their key words were changed by looking at private text.",)
    return (
        "The topics or their key words were changed by looking at private text.",
        "The loss curve was published, or the step, the settings or the run were chosen by it.",
        "It was published which units were drawn, or how long steps took.",
    )
