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

from engine.analysis.part import Part
from engine.analysis.prepare import Prepared, Progress

# (stage, module, function)
PARTS: tuple[tuple[str, str, str], ...] = (
    ("private values, strictly", "engine.analysis.strict_leaks", "examine_strict"),
    ("leaked entities", "engine.analysis.leaks", "examine_leaks"),
    ("labels", "engine.analysis.label_leaks", "examine_labels"),
    ("original records", "engine.analysis.originals", "examine_originals"),
    ("copied text", "engine.analysis.copies", "examine_copies"),
    ("near copies", "engine.analysis.near_copies", "examine_near_copies"),
    ("readability", "engine.analysis.readable", "examine_readable"),
    ("closeness", "engine.analysis.closeness", "examine_closeness"),
    ("detected identifiers", "engine.analysis.found", "examine_found"),
    ("planted canaries", "engine.analysis.canaries", "examine_canaries"),
    ("blind baseline", "engine.analysis.membership", "examine_blind"),
    ("phrases of the synthetic text", "engine.analysis.ngram_membership", "examine_ngrams"),
    ("neighbours", "engine.analysis.neighbours", "examine_neighbours"),
    ("a person's words", "engine.analysis.authorship", "examine_words"),
    ("a person's style", "engine.analysis.authorship", "examine_style"),
    ("sets of records", "engine.analysis.set_membership", "examine_sets"),
    ("linked details", "engine.analysis.linkage", "examine_linkage"),
    ("guessing attributes", "engine.analysis.attribute_inference", "examine_inference"),
    ("models trained on the text", "engine.analysis.model_attacks", "examine_model_attacks"),
)


# Run behind all others: they compare what those kept.
LAST: tuple[tuple[str, str, str], ...] = (
    ("groups", "engine.analysis.groups", "examine_groups"),
    ("people at risk", "engine.analysis.unit_risk", "examine_units"),
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
