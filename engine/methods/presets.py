"""Settings by name, a table a method: a quick look, the standard, a thorough run.

Data alone: how many outputs at most, and what differs from the parameters' defaults. A method's standard is what was
measured to be best where something was (one round of dense votes, see `engine.methods.advice.sizes`), else its
defaults.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from engine.json_types import JSON
from engine.methods.base import Facts, MethodSpec

FEW, USUAL, MANY = 50, 500, 2_000
ENOUGH = 120  # outputs of fewer of which most uses are not judged: 50 texts at least, and up to half do not count


@dataclass(frozen=True)
class Preset:
    """One name for a set of settings.

    Args:
        id, title: what it is called. outputs: how many outputs at most (1 or more).
        parameters: what differs from the method's defaults. says: what it does, in words; a clause without full stop.
    """

    id: str
    title: str
    outputs: int
    says: str
    parameters: Mapping[str, JSON] = field(default_factory=lambda: MappingProxyType({}))

    def count(self, spec: MethodSpec, facts: Facts) -> int:
        """Return how many outputs a run by it makes: public quantities alone decide, since the number leaves."""
        if spec.one_to_one:
            return max(1, min(self.outputs, facts.records))
        people = facts.units if self.outputs <= USUAL else 4 * facts.units
        if spec.kind != "dp":  # of a method with a proof more outputs share the same votes, or take more records
            people = max(people, ENOUGH)
        return min(self.outputs, people)


def _three(
    quick: tuple[str, dict[str, JSON]], standard: tuple[str, dict[str, JSON]], thorough: tuple[str, dict[str, JSON]],
    outputs: tuple[int, int, int] = (FEW, USUAL, MANY),
) -> tuple[Preset, ...]:  # fmt: skip
    named = zip(("quick", "standard", "thorough"), ("Quick look", "Standard", "Thorough"), strict=True)
    return tuple(
        Preset(name, title, count, says, MappingProxyType(values))
        for (name, title), count, (says, values) in zip(named, outputs, (quick, standard, thorough), strict=True)
    )


_DENSE: dict[str, JSON] = {"votes": "dense", "rounds": 1}
_WRITES = _three(
    ("few texts, tried again once", {"retries": 1}),
    ("as published", {}),
    ("many texts, tried again up to ten times", {"retries": 10}),
)
_PREFIX = _three(
    ("few texts, one pass over the records", {"epochs": 1}),
    ("three passes over the records", {}),
    ("many texts, six passes: nearer to the records, and more of them is remembered", {"epochs": 6}),
)
_TUNED = _three(
    ("few texts, one pass over the records", {"epochs": 1}),
    ("three passes over the records", {}),
    ("many texts, five passes: nearer to the records, and more of them is remembered", {"epochs": 5}),
)

PRESETS: dict[str, tuple[Preset, ...]] = {
    "surrogate": _three(
        ("the first records only", {}),
        ("dates move by up to a year", {}),
        (
            "dates move by up to three years, and records that say nothing are left out",
            {"date_shift_days_max": 1095, "unreadable": "drop"},
        ),
        (FEW, 1_000_000, 1_000_000),
    ),
    "filter": _three(
        ("few texts", {}),
        ("what looks like an identifier afterwards is replaced", {}),
        (
            "many texts; weaker findings are replaced too, and so are words that no list knows",
            {"minimum_score": 0.3, "flag_unknown": "redact"},
        ),
    ),
    "icl": _WRITES,
    "control-icl": _WRITES,
    "control-icl-blocked": _WRITES,
    "control-prefix": _PREFIX,
    "control-prefix-masked": _PREFIX,
    "public": _three(("few texts", {}), ("as many as there are people, at most 500", {}), ("many texts", {})),
    "aug-pe": (
        *_three(
            ("few texts, few candidates for each", {**_DENSE, "variations": 3}),
            ("one round in which everyone scores all candidates", _DENSE),
            ("one such round with twice as many candidates", {**_DENSE, "variations": 14}),
            (FEW, USUAL, USUAL),
        ),
        Preset("paper", "As published", USUAL, "ten rounds of votes for the nearest candidate"),
    ),
    "dpga": _three(
        ("few texts, one round", {"rounds": 1}),
        ("three rounds", {}),
        ("ten rounds, as published for large models; each further round adds noise", {"rounds": 10}),
        (FEW, USUAL, USUAL),
    ),
    "dp-select": _three(
        ("few texts, so the votes for each weigh more", {}),
        ("copies of a chosen text are held back", {}),
        ("many texts; votes alone decide", {"suppression": "off"}),
        (FEW, USUAL, MANY),
    ),
    "finetune": _TUNED,
    "goldfish": _TUNED,
    "dp-finetune": _three(
        ("few texts, fifty steps", {"steps": 50}),
        ("two hundred steps of 128 people", {}),
        ("three hundred steps of 1,024 people, as published", {"steps": 300, "units_a_step": 1_024}),
        (FEW, USUAL, MANY),
    ),
    "dp-topics": _three(
        ("few texts, one try for each", {"candidates": 1}),
        ("the best of four tries for each text", {}),
        ("many texts, the best of eight tries for each", {"candidates": 8}),
    ),
    "dp-steer": _three(
        ("few texts, fewer public ones to compare with", {"public_texts": 50}),
        ("compared with a hundred public texts", {}),
        ("many texts, compared with three hundred public ones", {"public_texts": 300}),
    ),
    "paid-choice": _three(
        ("few texts of each run are compared", {}),
        ("as many texts of each run as are wanted are compared", {}),
        ("the choice is twice as sure and costs twice as much", {"epsilon": 1.0}),
        (FEW, USUAL, USUAL),
    ),
    "private-prediction": _three(
        ("short texts, of about thirty words", {"tokens": 40}),
        ("texts of about eighty words, each from forty records", {}),
        ("longer texts, each from eighty records, so fewer of them", {"tokens": 150, "batch_size": 80}),
    ),
    "rpsg": _three(
        ("few texts, three outlines for each", {"oversampling": 3, "candidates": 3}),
        ("ten outlines for each text, as published", {}),
        ("twenty outlines for each text, the choice is among ten", {"oversampling": 20, "candidates": 10}),
        (FEW, USUAL, USUAL),
    ),
    "rpsg-public": _three(
        ("few texts, two candidates for each", {"candidates": 2, "epochs": 1}),
        ("five candidates for each text, as published", {}),
        ("a longer look for what was memorised", {"epochs": 10}),
        (FEW, USUAL, USUAL),
    ),
    "rewrite": _three(
        ("the first records, rewritten once", {"rounds": 1}),
        ("rewritten up to five times", {}),
        ("rewritten up to eight times, judged among ten records", {"rounds": 8, "candidates": 10}),
        (20, 1_000_000, 1_000_000),
    ),
}


def presets_of(method: str) -> tuple[Preset, ...]:
    """Return the presets of a method by its id, also behind `filter:`."""
    return PRESETS.get(method.removeprefix("filter:"), ())
