"""The list of labels that a method with a formal guarantee works with: declared public, or bought within its run."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Protocol

from pydantic import BaseModel

from engine.dp.accounting.closed_form import mu_of
from engine.dp.events import Event, count_sensitivity
from engine.dp.noise.label_list import threshold
from engine.dp.upward import upward
from engine.errors import InternalError
from engine.methods.base import Context, Facts

NAME, WHAT = "label_list", "label list"
DELTA_SHARE = 0.1
"""Part of δ that covers a label only one unit has."""


def is_bought(parameters: BaseModel) -> bool:
    """Return whether a run buys its list of labels."""
    return getattr(parameters, "label_list", "declared") == "bought"


def known(parameters: BaseModel, facts: Facts) -> Facts:
    """Return the facts without a declared list where the run buys its own."""
    return replace(facts, labels=0) if is_bought(parameters) else facts


def list_delta(parameters: BaseModel, delta: float) -> float:
    """Return the part of δ that the list takes; 0 where none is bought."""
    return DELTA_SHARE * delta if is_bought(parameters) else 0.0


class Budget(Protocol):
    """Parameters of a method that can buy its list."""

    @property
    def epsilon(self) -> float:
        """ε of the run."""
        ...

    @property
    def adjacency(self) -> str:
        """Neighbouring relation."""
        ...

    @property
    def list_share(self) -> float:
        """The list's share of the budget."""
        ...


def list_event(parameters: Budget, facts: Facts, delta: float, noise_multiplier: float | None = None) -> Event:
    """Return the event of a bought list.

    Args:
        parameters: of the run. delta: of the whole run.
        noise_multiplier: where it follows from another accounting than μ².
    """
    own = DELTA_SHARE * delta
    if noise_multiplier is None:
        noise_multiplier = 1.0 / (mu_of(parameters.epsilon, delta - own) * math.sqrt(parameters.list_share))
    cap = facts.cap if facts.unit == "source" else 1
    return Event(
        "gaussian", WHAT, noise_multiplier=noise_multiplier, delta=own,
        sensitivity=count_sensitivity(cap, parameters.adjacency), unit=facts.unit, adjacency=parameters.adjacency,
    )  # fmt: skip


def level_of(event: Event, facts: Facts) -> dict[str, float]:
    """Return the noise of a bought list as a guarantee names it, with its δ and its threshold in records."""
    multiplier = float(event.noise_multiplier or 0.0)
    sigma, cap = multiplier * event.sensitivity, facts.cap if facts.unit == "source" else 1
    return {
        "sigma": sigma, "noise_multiplier": multiplier, "sensitivity": event.sensitivity, "delta": event.delta,
        "threshold": threshold(cap, sigma, event.delta),
    }  # fmt: skip


def sentence(event: Event, facts: Facts) -> str:
    """Return what a bought list means, in one sentence."""
    least = level_of(event, facts)["threshold"]
    return (
        f" Labels are those whose noisy count of records reaches {least:,.0f}; one that a single {facts.unit} has gets "
        f"there with a probability of at most {upward(event.delta, 2)}, which is part of δ."
    )


def with_labels(context: Context) -> Context:
    """Return a run's context with its list of labels, bought now or when the run began.

    Labels outside the list then count as none for every mechanism of the run.
    """
    if context.mechanisms is None or context.guarantee is None or context.guarantee.kind != "dp":
        return context
    level = context.guarantee.noise.get(NAME)
    if is_bought(context.parameters) != (level is not None):
        raise InternalError("the reserved guarantee and the settings differ in whether a list of labels is bought")
    if level is not None:
        found = context.mechanisms.noisy_label_list(
            WHAT, noise_multiplier=float(level["noise_multiplier"]), delta=float(level["delta"])
        )
        context = replace(context, labels=tuple(found), label_shares=found)
    assert context.mechanisms is not None
    context.mechanisms.keep_labels(context.labels)
    return context
