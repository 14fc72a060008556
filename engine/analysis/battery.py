"""The parts of a privacy examination, in the order in which they are run.

How to add one: a function `examine_x(prepared) -> Part` in a module of its own, and a line here. It reports progress
at least once a batch (that is also where it can be cancelled), is the same for the same `prepared.seed`, and says
`missing(...)` with the reason where an input is lacking.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from engine.analysis.part import Part
from engine.analysis.prepare import Prepared

# (stage, module, function)
PARTS: tuple[tuple[str, str, str], ...] = (
    ("leaked entities", "engine.analysis.leaks", "examine_leaks"),
    ("copied text", "engine.analysis.copies", "examine_copies"),
    ("near copies", "engine.analysis.near_copies", "examine_near_copies"),
    ("closeness", "engine.analysis.closeness", "examine_closeness"),
    ("detected identifiers", "engine.analysis.found", "examine_found"),
    ("planted canaries", "engine.analysis.canaries", "examine_canaries"),
    ("blind baseline", "engine.analysis.membership", "examine_blind"),
)


def run_battery(prepared: Prepared) -> Part:
    """Return everything the parts found."""
    whole = Part()
    for _, module, name in PARTS:
        prepared.check()
        examine: Callable[[Prepared], Part] = getattr(import_module(module), name)
        whole.add(examine(prepared))
    return whole
