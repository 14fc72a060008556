"""The guarantee of dp-select: one noisy count a candidate, one a class, and the pool's own promise."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from engine.dp.accounting.accountant import ExactAccountant
from engine.dp.guarantee import Guarantee
from engine.errors import UserError
from engine.methods import label_list
from engine.methods.base import Facts
from engine.methods.dp_claim import dp_claim
from engine.methods.evolution import claim as pe_claim
from engine.methods.public_inputs import listed, settings_taken, size_taken
from engine.methods.select.parameters import HISTOGRAM, DpSelectParameters, PoolPromise

if TYPE_CHECKING:
    from engine.dp.accounting.accountant import Accountant

CHECKING = (
    "The pool was chosen, cut or changed because of a comparison with these records: what such a comparison finds is "
    "internal and no noise covers it."
)


def labelled(parameters: DpSelectParameters, facts: Facts) -> bool:
    """Return whether records vote within their label: the pool carries labels, and a list is declared or bought."""
    known = facts.labels > 0 or label_list.is_bought(parameters)
    return known and (parameters.promise is None or bool(parameters.pool_labels))


def buys_classes(parameters: DpSelectParameters, facts: Facts) -> bool:
    """Return whether a histogram of classes is drawn: of lengths, or of labels whose shares are not known otherwise."""
    if parameters.lengths:
        return True
    declared = facts.labels > 0 and not label_list.is_bought(parameters)
    return labelled(parameters, facts) and declared and parameters.labels == "bought"


def guarantee(parameters: DpSelectParameters, facts: Facts, accountant: Accountant | None = None) -> Guarantee:
    """Return (ε, δ) of one Gaussian release of votes and, where there are classes, one of their counts.

    Raises:
        UserError: a list of labels would be bought for a pool without labels.
    """
    by_label, delta = labelled(parameters, facts), pe_claim.delta_of(parameters, facts)
    if label_list.is_bought(parameters) and not by_label:
        raise UserError("label_list: the pool's texts carry no labels, so a list of labels would be paid for nothing")
    histogram = buys_classes(parameters, facts)
    open_ = [label_list.list_event(parameters, facts, delta)] if label_list.is_bought(parameters) else []
    facts = label_list.known(parameters, facts) if by_label else replace(facts, labels=0)
    if by_label and facts.labels and parameters.labels == "public":
        open_.append(pe_claim.declared("label declared public", parameters, facts))
    share = parameters.class_share if histogram else 0.0
    free = [pe_claim.gaussian("votes", parameters, facts, math.sqrt(1.0 / (1.0 - share)))]
    if histogram:
        free.insert(0, pe_claim.gaussian("class histogram", parameters, facts, math.sqrt(1.0 / share)))
    found = (accountant or ExactAccountant()).calibrate(open_, free, parameters.epsilon, delta)
    named = {event.what: event for event in found.events}
    noise = {"votes": named["votes"]}
    if histogram:
        noise = {HISTOGRAM: named["class histogram"], **noise}
    listing = named.get(label_list.WHAT)
    if listing is not None:
        noise = {label_list.NAME: listing, **noise}
    pe_claim.check_scales(noise)
    bought = [
        *(["a list of labels"] if listing is not None else []),
        *([f"a histogram of {'labels and ' * by_label * bool(parameters.lengths)}{_classes(parameters)}"] * histogram),
        "one count of votes for each candidate of a pool",
    ]
    cap = pe_claim.cap_of(facts)
    capped = f", each {facts.unit} counting with at most {cap} records" if facts.unit == "source" else ""
    claim = dp_claim(
        facts,
        epsilon=parameters.epsilon,
        delta=delta,
        adjacency=parameters.adjacency,
        events=found.events,
        read=f"{listed(bought)} only, with noise{capped}",
        inputs=("the pool", "the settings of this plan", *_edges(parameters)),
        labels_public=by_label and parameters.labels == "public",
        list_event=listing,
        public=(
            size_taken(facts),
            settings_taken("the pool with its order and its labels", "the settings of this plan"),
            pe_claim.ENCODER,
        ),
        assumptions=(*assumptions(parameters.promise), NOISY),
        voided_by=("The pool holds text of these records, or was made with a look at them.", CHECKING),
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
    return replace(claim, sentence=f"{claim.sentence} {promised(parameters.promise)}")


NOISY = (
    "The noisy votes of the candidates count as part of the output: which of them won, and by how much, may stand in a "
    "prompt pack."
)


def promised(promise: PoolPromise | None) -> str:
    """Return what the pool itself is said to be, one sentence that ends the claim's."""
    if promise is None:
        return (
            "The outputs are texts of a pool, which is not chosen yet; the bound relies on its being made without "
            "these data."
        )
    by = f"{promise.declared_by} declared on {promise.declared_on}"
    texts = f"The outputs are texts of the pool {promise.name} ({promise.texts:,} texts)."
    if promise.rounds:
        runs = listed([f"run {run}" for run in promise.rounds])
        return (
            f"{texts} The bound relies on its being made without these data but for the protected output of {runs}, as "
            f"{by}; what {runs} spent is counted beside it."
        )
    return f"{texts} The bound relies on its being made without these data, as {by}; nothing here proves that."


def assumptions(promise: PoolPromise | None) -> tuple[str, ...]:
    """Return where the pool is from and what may be done with it, as its importer wrote."""
    if promise is None:
        return ()
    return (
        f"The pool {promise.name} (digest {promise.digest[:12]}) was made without these data, as {promise.declared_by} "
        f"declared on {promise.declared_on}. Where it is from: {promise.origin}. Its licence: {promise.licence}.",
    )


def _classes(parameters: DpSelectParameters) -> str:
    return "lengths" if parameters.lengths else "labels"


def _edges(parameters: DpSelectParameters) -> tuple[str, ...]:
    if not parameters.lengths:
        return ()
    return (f"the edges of length classes, {listed([str(edge) for edge in parameters.lengths])} words",)
