"""Build a formal claim: one sentence that carries its conditions, its assumptions, and what would make it untrue."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from engine.dp.accounting import delta_rules
from engine.dp.events import Event
from engine.dp.groups import with_named
from engine.dp.guarantee import Guarantee
from engine.dp.upward import upward
from engine.json_types import JSON
from engine.methods import label_list
from engine.methods.base import Facts
from engine.methods.public_inputs import given

_NEIGHBOURS = {
    "zero-out": "whether or not the data of any single {unit} are in it",
    "replace-one": "whichever data any single {unit} has in it",
}


def dp_claim(
    facts: Facts,
    *,
    epsilon: float,
    delta: float,
    adjacency: str,
    events: Sequence[Event],
    read: str,
    inputs: Sequence[str],
    labels_public: bool,
    list_event: Event | None,
    public: Sequence[str],
    assumptions: Sequence[str],
    voided_by: Sequence[str],
    noise: Mapping[str, Mapping[str, float]],
    accounting: Mapping[str, JSON],
) -> Guarantee:
    """Return the claim that a run's complete output is (ε, δ)-differentially private.

    Args:
        facts: with the labels that the run uses (`label_list.known`).
        events: all that is drawn, in order. read: what private text is read for, ends the sentence "Private text is
            read for …".
        inputs: a method's own public inputs, as nouns. labels_public: whether the labels' shares were declared public.
        list_event: the event that buys the list of labels, if one does.
        public: assumptions about public inputs, before those about labels; assumptions: further ones, behind them.
        voided_by: what voids this claim beside what voids every one. noise, accounting: as in `Guarantee`.
    """
    shown, allowed = upward(epsilon, 6), upward(delta)
    large = delta_rules.warning(delta, facts.units, facts.unit)
    labels = [f"The list of the {facts.labels} labels was declared public."] if facts.labels else []
    labels += ["The label shares were declared public."] if facts.labels and labels_public else []
    own_list = "" if list_event is None else label_list.sentence(list_event, facts)
    claim = Guarantee(
        kind="dp",
        sentence=(
            f"The run's complete output is (ε = {shown}, δ = {allowed})-differentially private for each "
            f"{facts.unit}: the probability of anything that can be seen in it is at most e^{shown} = "
            f"{upward(math.exp(epsilon))} times as large, plus {allowed}, "
            f"{_NEIGHBOURS[adjacency].format(unit=facts.unit)}. Private text is read for {read}. "
            f"{given(facts, inputs, shares_public=labels_public, own_list=own_list)}"
        ),
        scope="the run's complete output",
        epsilon=epsilon,
        delta=delta,
        unit=facts.unit,
        adjacency=adjacency,
        events=tuple(event.as_dict() for event in events),
        assumptions=(*([large] if large else []), *public, *labels, *assumptions),
        voided_by=(
            "Outputs or runs were filtered, approved or chosen with anything computed from private text.",
            f"One person stands behind several {facts.unit}s: the loss then grows with their number.",
            "Parameters were chosen by looking at private text or at the results of attacks on it.",
            *voided_by,
        ),
        noise=noise,
        accounting=accounting,
    )
    return with_named(claim)
