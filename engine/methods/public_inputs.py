"""What a formal claim takes as public, in words: by whose word, and what that leaves unprotected.

A person declares a list of labels, and shares of labels (stored and audited). Nobody declares the number of units N and
the number of outputs: N follows from the file, and the count from N (`engine.jobs.planning.default_count`) unless
somebody asks for another. They are taken as public. Under both adjacencies the two corpora that are compared have the
same N (one unit's data are replaced by null, or by others), so that N protects nobody by itself: who knows everybody
else in the file, and N, knows whether one more is in it.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.methods.base import Facts

COUNT = "the number of outputs (it follows from N unless another was asked for)"


def given(facts: Facts, inputs: Sequence[str], *, shares_public: bool = False, own_list: str = "") -> str:
    """Return the condition that a claim's own sentence carries: everything it takes as public.

    Args:
        facts: N, unit, cap and the number of labels in the public list. inputs: a method's own, as nouns.
        shares_public: whether the shares of the labels were declared public too. own_list: what to say of a list of
            labels that the run buys.
    """
    own = [f"the number of {facts.unit}s, N = {facts.units:,}"]
    if facts.unit == "source":
        own.append(f"the cap of {facts.cap} records a source")
    own += [COUNT, *inputs]
    tail = own_list or ("" if facts.labels else " The outputs carry no labels.")
    if facts.unit == "record" and facts.sources_named:
        tail += (
            " The bound is for one record at a time: the file names whose each record is, and a person with several "
            "records is not protected as one; the bound for such a person grows with their number."
        )
    return (
        f"It holds given these inputs, which are taken as public: {listed(own)}{declared_labels(facts, shares_public)}."
        f" N follows from the file and is not hidden: whoever knows N and all other {facts.unit}s knows whether one "
        f"more is in it.{tail}"
    )


def declared_labels(facts: Facts, shares_public: bool) -> str:
    """Return the list of labels, and their shares, as what the custodian declared public; nothing without a list."""
    if not facts.labels:
        return ""
    several = facts.labels > 1
    named = f"the list of the {facts.labels} labels" if several else "the list of the one label"
    named += f" and {'their' if several else 'its'} shares" if shares_public else ""
    return f"; and given {named}, which the custodian declared public"


def size_taken(facts: Facts) -> str:
    """Return the assumption about N, one sentence."""
    return (
        f"The number of {facts.unit}s, N = {facts.units:,}, is taken as public: it follows from the file, nobody "
        "declared it, and the bound does not hide it."
    )


def settings_taken(*others: str) -> str:
    """Return the assumption about the number of outputs and a method's settings, given as nouns, one sentence."""
    return f"T{listed([COUNT[1:], *others])} are taken as public."


def listed(parts: Sequence[str]) -> str:
    """Return nouns as one phrase."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
