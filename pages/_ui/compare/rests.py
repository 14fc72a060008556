"""Copied text has two shares: of all that was used, on which Privacy's verdict rests, and one at equal numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine import COPIES, MEASURES, Finding, rests_on_all, show_measure
from pages._ui.compare.table import EXCESS

Rows = Sequence[Finding]


def resting(findings: Mapping[str, Rows], name: str) -> list[str]:
    """Return the runs whose verdict on copies rests on all that was used; `name` with or without "_excess"."""
    return [run for run, rows in findings.items() if rests_on_all(rows, name.removesuffix(EXCESS))]


def beside(rows: Rows, name: str) -> str:
    """Return how often real records that nobody used repeat what was used, to follow a share of copies in a cell."""
    real = None if name not in COPIES else _found(rows, name, "baseline")
    return "" if real is None else f"; real records {show_measure(name, real.value)}"


def first(rows: Rows, name: str) -> str:
    """Return the share that the verdict rests on, to stand before one at equal numbers; empty where that is the one."""
    whole = name.removesuffix(EXCESS)
    used = _found(rows, whole, "train")
    if name == whole or used is None or not rests_on_all(rows, whole):
        return ""
    return f"{show_measure(whole, used.value)} of all that was used{beside(rows, whole)}. At equal numbers "


def sentence(numbers: Mapping[str, str], findings: Mapping[str, Rows], name: str) -> str:
    """Return which other number there is, and which of the two Privacy's verdict rests on; empty where one is all.

    Args:
        numbers: run id -> the number it is called by. findings: run id -> what was found. name: of the finding shown.
    """
    whole, some = name.removesuffix(EXCESS), resting(findings, name)
    if whole not in COPIES:
        return ""
    if name != whole:
        said = [
            f"run {numbers[run]} {show_measure(whole, used.value)}"
            for run in some if (used := _found(findings[run], whole, "train")) is not None
        ]  # fmt: skip
        what = f"“{MEASURES[name].title}” is at equal numbers. Privacy's verdict rests on all that was used"
        return f"{what}: {', '.join(said)}." if said else ""
    said = []
    for run, rows in findings.items():
        used, others = (_found(rows, whole, reference) for reference in ("train", "holdout"))
        equal = None if used is None else used.settings.get("equal_size_value")
        if equal is not None and others is not None:
            ours, theirs = show_measure(whole, float(equal)), show_measure(whole, others.value)
            said.append(f"run {numbers[run]} {ours} against {theirs} by chance")
    if not said:
        return ""
    return (
        f"“{MEASURES[whole].title}” is of all that was used, beside real records. At equal numbers, of as many records "
        f"as are set aside: {', '.join(said)}."
    )


def _found(rows: Rows, name: str, reference: str) -> Finding | None:
    return next((one for one in rows if one.name == name and one.reference == reference), None)
