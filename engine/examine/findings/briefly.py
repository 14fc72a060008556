"""A leakage measure beside chance in one short line: how many texts, of how many, and how many would by chance.

Counts stand there where the shares are of the same texts and come out whole; else the shares alone.

Light: the web process imports this.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from engine.examine.findings.findings import Finding
from engine.examine.findings.leak_words import BRIEFLY, TEXTS_THAT
from engine.examine.findings.levels import NEAREST, ONE_PERSON
from engine.examine.findings.losses import find
from engine.examine.measures import show

WORDS = "verbatim_8gram"
WHOLE = 1e-6  # a count may lie so far from a whole number


def compared(findings: Sequence[Finding], name: str, train: Finding, holdout: Finding) -> str:
    """Return what a measure is of the records used, at equal numbers where that is known, and by chance; no full stop.

    Args:
        train, holdout: its findings against the training part and the holdout.
    """
    equal = train.settings.get("equal_size_value")
    ours, theirs = train.value if equal is None else float(equal), holdout.value
    if name not in TEXTS_THAT:
        return f"{shared(name, ours)} against {show(name, theirs)} by chance{_base(findings, name, train, holdout)}"
    of = _of(findings, name, train, holdout)
    said = f"{TEXTS_THAT[name]}{of}, by chance"
    counts = _counts(ours, theirs, train, holdout)
    if counts is None:
        return f"{show(name, ours)} of texts {said} {show(name, theirs)} would"
    return f"{counts[0]:,} of {train.n:,} texts ({show(name, ours)}) {said} {counts[1]:,} would ({show(name, theirs)})"


def shared(name: str, value: float) -> str:
    """Return a share with what it counts and what it is of in few words; what is no share by itself."""
    if name == NEAREST:
        return f"the nearest record lies at {show(name, value)}, where 1 is the same text,"
    if name not in BRIEFLY:
        return show(name, value)
    of = {"strict_elp": "their values", "canary_echo": "the canaries"}.get(name, "records")
    return f"{BRIEFLY[name]} {show(name, value)} of {of}"


def records(findings: Sequence[Finding], name: str, holdout: Finding) -> str:
    """Return how many records of each part were compared."""
    parent = name.removesuffix("_direct")
    for found in (find(findings, f"{parent}_excess", "holdout"), holdout):
        size = None if found is None else found.settings.get("reference_records")
        if size:
            return f"{int(size):,}"
    return "equally many"


def points(excess: Finding, value: float) -> str:
    """Return a difference in words: in points where it is one of shares."""
    return show(excess.name, value).replace(" pp", " points")


def _counts(ours: float, theirs: float, train: Finding, holdout: Finding) -> tuple[int, int] | None:
    """Return how many texts two shares of the same texts are, or None where they are not whole numbers of them."""
    if train.n != holdout.n or train.n <= 0:
        return None
    numbers = (ours * train.n, theirs * holdout.n)
    if any(not math.isfinite(number) or abs(number - round(number)) > WHOLE * train.n for number in numbers):
        return None
    return round(numbers[0]), round(numbers[1])


def _of(findings: Sequence[Finding], name: str, train: Finding, holdout: Finding) -> str:
    """Return whose values or words they are; empty where no number of records belongs to a share."""
    whose = "from" if name == WORDS else "of"
    if name == ONE_PERSON:
        return " of all that was used"
    if train.settings.get("equal_size_value") is None:
        return ""
    return f" {whose} {records(findings, name, holdout)} records used"


def _base(findings: Sequence[Finding], name: str, train: Finding, holdout: Finding) -> str:
    """Return of which records two shares are that are not of texts, in brackets; empty where that is not known."""
    if train.settings.get("equal_size_value") is None or name == NEAREST:
        return ""
    return f" (of {records(findings, name, holdout)} records used and as many that nobody used)"
