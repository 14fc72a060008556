"""The guarantee of dp-steer: one noisy sum, whatever is written from it.

Mechanism: each record's hidden states in a public model, compared with those of public texts; a unit's records are
averaged, the mean is cut to length 1, units are added up, exact Gaussian noise is added once (`engine.dp.noise.sums`).
Sensitivity: 1 in L2 norm for a record or a source that is there or not, 2 for one that is replaced; rounding included.
Public: the model, the texts that it wrote from public prompts, and what follows from them (layers, centre, spread,
scale, basis); the cut, the strength, the length of the texts, the number that the sum is divided by.
An attacker sees the noisy sum, everything public, and any number of texts, which follow from these.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from engine.dp.accounting.accountant import ExactAccountant
from engine.dp.events import Event
from engine.dp.guarantee import Guarantee
from engine.methods import label_list
from engine.methods.base import Facts
from engine.methods.dp_claim import dp_claim
from engine.methods.evolution import claim as pe_claim
from engine.methods.public_inputs import listed, settings_taken, size_taken
from engine.methods.steer.parameters import DpSteerParameters

if TYPE_CHECKING:
    from engine.dp.accounting.accountant import Accountant

SUM, WHAT = "sum", "sum of differences"
USUAL = 0.5  # length of the mean of cut differences of a corpus that differs from the public texts, in cuts
NUMBERS = 1024  # of a state, where the model is not known: those of models of some hundred million parameters


def counts_labels(p: DpSteerParameters, facts: Facts) -> bool:
    """Return whether the sum counts labels too: a declared list whose shares are not public."""
    return facts.labels > 0 and p.labels == "bought" and not label_list.is_bought(p)


def schedule(p: DpSteerParameters, facts: Facts) -> tuple[list[Event], Event]:
    """Return the events whose noise is fixed beforehand, and the sum, whose noise is calibrated for what is left."""
    delta = pe_claim.delta_of(p, facts)
    fixed = [label_list.list_event(p, facts, delta)] if label_list.is_bought(p) else []
    if label_list.known(p, facts).labels and p.labels == "public":
        fixed.append(pe_claim.declared("label declared public", p, facts))
    return fixed, pe_claim.vectors(WHAT, p, facts, 1.0)


def guarantee_of(p: DpSteerParameters, facts: Facts, accountant: Accountant | None = None) -> Guarantee:
    """Return (ε, δ) of the sum, and of a bought list of labels.

    Raises:
        AccountingPending: `accountant` has no answer at once.
    """
    delta, (fixed, free) = pe_claim.delta_of(p, facts), schedule(p, facts)
    found = (accountant or ExactAccountant()).calibrate(fixed, [free], p.epsilon, delta)
    named = {event.what: event for event in found.events}
    listing, labels = named.get(label_list.WHAT), counts_labels(p, facts)
    facts = label_list.known(p, facts)
    noise = {SUM: named[WHAT]}
    if listing is not None:
        noise = {label_list.NAME: listing, **noise}
    pe_claim.check_scales(noise)
    bought = ["a list of labels"] if listing is not None else []
    bought.append(
        f"one sum over {facts.unit}s, each one's part cut to a fixed length, of how their texts differ from public "
        "ones inside a language model" + (", and of their labels" if labels else "")
    )
    averaged = f", the mean of at most {facts.cap} records a source" if facts.unit == "source" else ""
    return dp_claim(
        facts,
        epsilon=p.epsilon,
        delta=delta,
        adjacency=p.adjacency,
        events=found.events,
        read=f"{listed(bought)} only, with noise{averaged}",
        inputs=_inputs(p),
        labels_public=p.labels == "public",
        list_event=listing,
        public=(
            size_taken(facts),
            settings_taken("the model", "the domain", "the prompts", "the settings of this plan"),
            "The language model was not trained on this corpus.",
        ),
        assumptions=_assumptions(p, facts),
        voided_by=(
            "The layers, the cut, the strength or the public texts were chosen by looking at private text.",
            "A model was used that has seen these records.",
        ),
        noise={
            name: label_list.level_of(event, facts) if event is listing else pe_claim.noise_of(event)
            for name, event in noise.items()
        },
        accounting={
            "epsilon_pld": found.epsilon,
            "epsilon_pld_low": found.epsilon_low,
            "epsilon_rdp": found.rdp_epsilon,
        },
    )


def _inputs(p: DpSteerParameters) -> list[str]:
    found = ["the model", "the texts that it wrote from public prompts", "the domain and the prompts"]
    found += [f"the length asked for, {p.words} words", "the settings of this plan"]
    if p.expected is not None:
        found.append(f"the number that the sum is divided by, {p.expected:,}")
    return found


def _assumptions(p: DpSteerParameters, facts: Facts) -> tuple[str, ...]:
    found = [
        "Which layers are read, how long a difference usually is and how far the model is moved follow from public "
        "texts and settings alone.",
        f"Each {facts.unit}'s part is at most as long as the cut, rounding included, whatever its texts hold; one "
        "without text adds nothing.",
        "Each text is read by itself, so that none changes what another adds.",
        "The noisy sum counts as part of the output: any number of texts may be written from it.",
    ]
    if p.basis:
        found.append(f"Only {p.basis} directions a layer are kept, which public texts fix.")
    return tuple(found)


def signal(p: DpSteerParameters, facts: Facts, claim: Guarantee) -> float:
    """Return how many times longer a usual mean difference is than its noise, from public quantities."""
    size = p.layers * (p.basis or NUMBERS)
    weight = math.sqrt(1.0 - p.label_share) if counts_labels(p, facts) else 1.0
    return USUAL * weight * facts.units / (float(claim.noise[SUM]["sigma"]) * math.sqrt(size))
