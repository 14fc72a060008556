"""Readability as a choice around every method: what public rules find unreadable is dropped, or kept and counted.

The rules (`engine.corpus.text.readability`) are fixed and look at one output at a time: no record, no list and no
statistic of the corpus is at hand. Behind a method of kind `dp` leaving out such outputs is therefore post-processing
and costs nothing (Dwork and Roth 2014, proposition 2.1). How many are kept, and how many were dropped for which reason,
is a function of the mechanism's output as well, so the statement covers it; how many are asked for stays what a person
declared. A dropped output is not replaced here: nothing private is asked again because of it. Writers that can write
from the same public prompt again do so first (`rejects`), with another seed and before anything is committed.

Whoever makes a piece of a run judges its texts too; what is dropped is the worker's to say that has the run. That comes
last: behind the three-stage filter, so that what leaves is what was judged, and before the records are stored, so that
no approval, examination or policy meets a dropped text. It holds no state of its own: a step's dropped outputs are
counted in the transaction that commits the step, so a resumed run judges none of them again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import cast

from engine.corpus.text.readability import REASONS, Readability, Rules, readability, unreadable
from engine.json_types import JSON, JSONObject, as_list, as_number
from engine.methods.base import Context, Make, Method, Piece, Spreading, Step
from engine.methods.parameters import Choice

FIELD, NOTED = "unreadable", "readability"  # the parameter, and the name in a run's notes


def rejects(parameters: object) -> Callable[[str], str]:
    """Return a function that says why a text will be dropped, or says nothing where none is."""
    return unreadable if getattr(parameters, FIELD, None) == "drop" else _nothing


def run(method: Method, context: Context) -> Iterator[Step]:
    """Yield a method's steps with the unreadable outputs dropped or counted, as its parameters ask."""
    choice = getattr(context.parameters, FIELD, None)
    if choice is None:
        yield from method.run(context)
        return
    known: dict[str, Readability] = {}

    def spread(pieces: Sequence[Piece], given: JSON, make: Make) -> Iterator[JSONObject]:
        for made in context.spread(pieces, given, judging(make)):
            known.clear()
            known.update(_read(made))
            yield made

    for step in method.run(replace(context, spread=spread)):
        yield judged(step, choice, known)


def maker(method: Spreading, context: Context, known: JSON) -> Make:
    """Return what makes pieces of a method's run and looks at their texts, as `run` would."""
    make = method.maker(context, known)
    return make if getattr(context.parameters, FIELD, None) is None else judging(make)


def judging(make: Make) -> Make:
    """Return what makes a piece and says of each of its `texts` what rules found."""

    def made(piece: Piece) -> JSONObject:
        found = make(piece)
        judged_ones = map(readability, _texts(found))
        return {**found, NOTED: [[one.reason, one.unknown, one.rules] for one in judged_ones]}

    return made


def judged(step: Step, choice: Choice, known: Mapping[str, Readability] | None = None) -> Step:
    """Return the step without its unreadable records, or with their count; dropped ones move from kept to a reason.

    known: what was found of some texts already.
    """
    if not step.records:
        return step
    found = [(known or {}).get(record.text) or readability(record.text) for record in step.records]
    reasons = Counter(REASONS[one.reason] for one in found if one.reason)
    verb = "dropped" if choice == "drop" else "flagged"
    funnel: Counter[str] = Counter(step.funnel)
    funnel.update({f"{verb}: {reason}": count for reason, count in reasons.items()})
    records = step.records
    if choice == "drop" and reasons:
        records = tuple(record for record, one in zip(records, found, strict=True) if one.readable)
        funnel["kept"] = step.funnel.get("kept", len(step.records)) - (len(step.records) - len(records))
    noted = {**step.diagnostics, NOTED: _rules_used(found)}
    return replace(step, records=records, funnel=dict(funnel), diagnostics=noted)


def _texts(made: JSONObject) -> list[str]:
    return [str(text) for text in as_list(made["texts"]) if text is not None]


def _read(made: JSONObject) -> dict[str, Readability]:
    """Return what was found of each text of a piece."""
    found = {}
    for text, one in zip(_texts(made), as_list(made[NOTED]), strict=True):
        reason, unknown, rules = as_list(one)
        found[text] = Readability(str(reason), as_number(unknown), cast("Rules", rules))
    return found


def _rules_used(found: list[Readability]) -> dict[str, int]:
    """Return how many texts were judged by which rules."""
    return dict(Counter(one.rules for one in found))


def _nothing(text: str) -> str:
    return ""
