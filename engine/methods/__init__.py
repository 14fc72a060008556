"""Synthesis methods, one a file.

    choice/ evolution/ examples/ filter/ prediction/ prefix/ rpsg/ select/ steer/ topics/ tuned/   a family a folder
    surrogate, rewrite, public              the families of one
    base, parameters, presets               what a method is, what several share of their settings, settings by name
    dp_claim, public_inputs, label_list     a formal claim, what it takes as public, its list of labels
    batches                                 writing in batches that several workers can share
    domains, readable                       prompt domains of a corpus; readability as a choice around every method
    advice/                                 what can be said before any private text is looked at

May import `engine.pii` and below. One more method: see CONTRIBUTING.md; its line is in `REGISTRY`.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from engine.errors import UserError

if TYPE_CHECKING:
    from engine.methods.base import Method

# (id, module, attribute): what the cards, the command line and the worker offer, in this order.
REGISTRY: tuple[tuple[str, str, str], ...] = (
    ("surrogate", "engine.methods.surrogate", "SurrogateMethod"),
    ("filter", "engine.methods.filter.method", "FilterMethod"),
    ("icl", "engine.methods.examples.icl", "IclMethod"),
    ("control-icl", "engine.methods.examples.control_icl", "ControlIclMethod"),
    ("control-icl-blocked", "engine.methods.examples.control_icl_blocked", "ControlIclBlockedMethod"),
    ("control-prefix", "engine.methods.prefix.control_prefix", "ControlPrefixMethod"),
    ("control-prefix-masked", "engine.methods.prefix.control_prefix_masked", "ControlPrefixMaskedMethod"),
    ("public", "engine.methods.public", "PublicMethod"),
    ("aug-pe", "engine.methods.evolution.aug_pe", "AugPeMethod"),
    ("dpga", "engine.methods.evolution.dpga", "DpgaMethod"),
    ("dp-select", "engine.methods.select.method", "DpSelectMethod"),
    ("paid-choice", "engine.methods.choice.method", "PaidChoiceMethod"),
    ("finetune", "engine.methods.tuned.finetune", "FinetuneMethod"),
    ("goldfish", "engine.methods.tuned.goldfish", "GoldfishMethod"),
    ("dp-finetune", "engine.methods.tuned.dp_finetune", "DpFinetuneMethod"),
    ("dp-topics", "engine.methods.topics.method", "DpTopicsMethod"),
    ("dp-steer", "engine.methods.steer.method", "DpSteerMethod"),
    ("private-prediction", "engine.methods.prediction.method", "PrivatePredictionMethod"),
    ("rpsg", "engine.methods.rpsg.method", "RpsgMethod"),
    ("rpsg-public", "engine.methods.rpsg.public", "RpsgPublicMethod"),
    ("rewrite", "engine.methods.rewrite", "RewriteMethod"),
)


def method_ids() -> tuple[str, ...]:
    """Return the ids of every method in the order they are offered."""
    return tuple(entry[0] for entry in REGISTRY)


@cache
def get_method(method_id: str) -> Method:
    """Return the method with this id; `filter:ID` is the method ID with the filter behind it.

    Raises:
        UserError: there is no such method.
    """
    if method_id.startswith("filter:"):
        from engine.methods.filter.around import wrap

        return wrap(get_method(method_id.removeprefix("filter:")))
    for known, module, attribute in REGISTRY:
        if known == method_id:
            method: Method = getattr(import_module(module), attribute)()
            return method
    raise UserError(f"method {method_id!r} does not exist; choose one of {', '.join(method_ids())}")


def methods() -> tuple[Method, ...]:
    """Return every method."""
    return tuple(get_method(method_id) for method_id in method_ids())
