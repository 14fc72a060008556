"""The parts of a privacy examination, in the order in which they are run.

How to add one: a function `examine_x(prepared) -> Part` in a module of its own, and a line here. It reports progress
at least once a batch (that is also where it can be cancelled), is the same for the same `prepared.seed`, and says
`missing(...)` with the reason where an input is lacking.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from importlib import import_module

import pandas as pd

from engine.examine.part import Part
from engine.examine.prepare import Prepared, Progress

# (stage, module, function)
PARTS: tuple[tuple[str, str, str], ...] = (
    ("private values, strictly", "engine.examine.values.strict", "examine_strict"),
    ("leaked entities", "engine.examine.values.leaks", "examine_leaks"),
    ("labels", "engine.examine.values.label_leaks", "examine_labels"),
    ("original records", "engine.examine.repeats.originals", "examine_originals"),
    ("copied text", "engine.examine.repeats.copies", "examine_copies"),
    ("near copies", "engine.examine.repeats.near_copies", "examine_near_copies"),
    ("readability", "engine.examine.usefulness.readable", "examine_readable"),
    ("closeness", "engine.examine.repeats.closeness", "examine_closeness"),
    ("detected identifiers", "engine.examine.values.found", "examine_found"),
    ("planted canaries", "engine.examine.values.canaries", "examine_canaries"),
    ("blind baseline", "engine.examine.members.membership", "examine_blind"),
    ("phrases of the synthetic text", "engine.examine.members.ngrams", "examine_ngrams"),
    ("neighbours", "engine.examine.members.neighbours", "examine_neighbours"),
    ("a person's words", "engine.examine.persons.authorship", "examine_words"),
    ("a person's style", "engine.examine.persons.authorship", "examine_style"),
    ("sets of records", "engine.examine.persons.record_sets", "examine_sets"),
    ("linked details", "engine.examine.persons.linkage", "examine_linkage"),
    ("guessing attributes", "engine.examine.guesses.attributes", "examine_inference"),
    ("models trained on the text", "engine.examine.members.models", "examine_model_attacks"),
)


# Run behind all others: they compare what those kept.
LAST: tuple[tuple[str, str, str], ...] = (
    ("groups", "engine.examine.members.groups", "examine_groups"),
    ("people at risk", "engine.examine.members.unit_risk", "examine_units"),
)
SO_FAR = "found so far"  # in `prepared.kept`: the Part of everything before


def run_battery(prepared: Prepared) -> Part:
    """Return everything the parts found, and the table `parts` of how long each took."""
    whole, told, parts = Part(), prepared.progress, (*PARTS, *LAST)
    seconds = []
    for number, (title, module, name) in enumerate(parts, 1):
        prepared.check()
        where = f"{title} ({number} of {len(parts)})"
        prepared.progress = partial(_tell, told, where)
        prepared.kept[SO_FAR] = whole
        examine: Callable[[Prepared], Part] = getattr(import_module(module), name)
        begun = time.perf_counter()
        whole.add(examine(prepared))
        seconds.append(time.perf_counter() - begun)
    prepared.progress = told
    whole.tables["parts"] = pd.DataFrame({"part": [title for title, _, _ in parts], "seconds": seconds})
    return whole


def _tell(told: Progress, where: str, stage: str, done: int, total: int) -> None:
    """Tell the part and what it is at; a stage called like its part is said once."""
    told(where if where.startswith(stage) else f"{where}: {stage}", done, total)
