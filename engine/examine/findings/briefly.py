"""A leakage measure beside chance in one short line: how many texts, of how many, and how many would by chance.

Counts stand there where the shares are of the same texts and come out whole; else the shares alone.

Light: the web process imports this.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from engine.examine.findings.findings import UNSHARED, Finding
from engine.examine.findings.leak_words import BRIEFLY, TEXTS_THAT
from engine.examine.findings.levels import NEAREST, ONE_PERSON
from engine.examine.findings.losses import find
from engine.examine.measures import show

Side = tuple[float, int]  # a share, and of how many texts or values
WORDS = "verbatim_8gram"
WHOLE = 1e-6  # a count may lie so far from a whole number
EXACT = 1e-6  # tenths of a point that an end may lie above one


def compared(findings: Sequence[Finding], name: str, train: Finding, holdout: Finding) -> str:
    """Return what a measure is of the records used, at equal numbers where that is known, and by chance; no full stop.

    Args:
        train, holdout: its findings against the training part and the holdout.
    """
    (ours, texts), (theirs, others) = judged(findings, name, train, holdout)
    if name not in TEXTS_THAT:
        return f"{shared(name, ours)} against {show(name, theirs)} by chance{_base(findings, name, train, holdout)}"
    said = f"{TEXTS_THAT[name]}{_of(findings, name, train, holdout)}, by chance"
    apart = "" if unshared(findings, name) is None else ", both without what many people share"
    counts = _counts(ours, theirs, texts, others)
    if counts is None:
        return f"{show(name, ours)} of texts {said} {show(name, theirs)} would{apart}"
    all_ = f"{texts:,} text{'' if texts == 1 else 's'}"
    return f"{counts[0]:,} of {all_} ({show(name, ours)}) {said} {counts[1]:,} would ({show(name, theirs)}){apart}"


def judged(findings: Sequence[Finding], name: str, train: Finding, holdout: Finding) -> tuple[Side, Side]:
    """Return the two shares that are held against each other, training part first, each with what it is of.

    They are those whose difference the excess is: where that leaves out what many people share, they do.
    """
    found = unshared(findings, name)
    if found is not None:
        return found
    equal = train.settings.get("equal_size_value")
    return (train.value if equal is None else float(equal), train.n), (holdout.value, holdout.n)


def unshared(findings: Sequence[Finding], name: str) -> tuple[Side, Side] | None:
    """Return the shares without what many people share, where there is any and the excess leaves it out; else None."""
    excess = find(findings, f"{name}_excess", "holdout")
    if excess is None or not excess.settings.get("set_aside"):
        return None
    sides: list[Side] = []
    for place in UNSHARED:
        level = excess.settings.get(place)
        if not isinstance(level, list | tuple) or len(level) != 2 or not isinstance(level[0], int | float):
            return None
        sides.append((float(level[0]), int(level[1])))
    return sides[0], sides[1]


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


def points(excess: Finding, high: float) -> str:
    """Return the upper end of a difference in words, never below it: in points where it is one of shares."""
    said = show(excess.name, high)
    if said.endswith(" pp") and math.isfinite(high):
        said = show(excess.name, math.ceil(1000 * high - EXACT) / 1000)
    return said.replace(" pp", " points")


def _counts(ours: float, theirs: float, texts: int, others: int) -> tuple[int, int] | None:
    """Return how many texts two shares of the same texts are, or None where they are not whole numbers of them."""
    if texts != others or texts <= 0:
        return None
    numbers = (ours * texts, theirs * texts)
    if any(not math.isfinite(number) or abs(number - round(number)) > WHOLE * texts for number in numbers):
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
