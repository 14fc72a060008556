"""Run every part of a privacy examination in the order of `engine.examine.registry`."""

from __future__ import annotations

from functools import partial

import pandas as pd

from engine.examine import registry
from engine.examine.findings.part import Part
from engine.examine.keeping import measured
from engine.examine.prepare import Prepared, Progress

SO_FAR = "found so far"  # in `prepared.kept`: the Part of everything before


def run_battery(prepared: Prepared) -> Part:
    """Return everything the parts found, and the table `parts`: how long each took and what input it lacked."""
    whole, told, parts = Part(), prepared.progress, (*registry.EXAMINATIONS, *registry.LAST)
    rows = []
    for number, part in enumerate(parts, 1):
        prepared.check()
        prepared.progress = partial(_tell, told, f"{part.title} ({number} of {len(parts)})")
        prepared.kept[SO_FAR] = whole
        found, seconds = measured(prepared, part.key, part.run)
        whole.add(found)
        rows.append((part.title, seconds, ", ".join(part.lacks(prepared))))
    prepared.progress = told
    whole.tables["parts"] = pd.DataFrame(rows, columns=["part", "seconds", "lacked"])
    return whole


def _tell(told: Progress, where: str, stage: str, done: int, total: int) -> None:
    """Tell the part and what it is at; a stage called like its part is said once."""
    told(where if where.startswith(stage) else f"{where}: {stage}", done, total)
