"""Which share of the way from real to unrelated text a measure lost, with its interval.

Real text differs from real text too, and more so where there is little of it. What describes a text alone, such as how
much it repeats itself, differs from real text with the interval of both, by square-and-add (Zou and Donner 2008,
Statistics in Medicine 27). What is held against other real text has that text's chance in its own interval already, as
much as the real side would add: there its own interval is that of the difference.

Light: the web process imports this.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from engine.examine.findings.findings import CLOSER, Finding, Reference
from engine.examine.usefulness.metrics import METRICS

_HELD_AGAINST = {*(metric.name for metric in METRICS if metric.pair), "tone_shift", "entity_mix"}
_SIZES = (("tokens_a_side", "tokens"), ("texts_trained_on", "texts"), ("texts_a_side", "texts"))


@dataclass(frozen=True)
class Loss:
    """A finding's loss, the ends of its interval cut at 0 and its width uncut, and what it rests on."""

    name: str
    value: float
    low: float
    high: float
    width: float
    size: int
    counted: str


def find(findings: Sequence[Finding], name: str, reference: Reference) -> Finding | None:
    """Return the finding with this name and reference that has a value, or None."""
    found = [f for f in findings if f.name == name and f.reference == reference and f.value == f.value]
    return found[0] if found else None


def loss_of(findings: Sequence[Finding], name: str) -> Loss | None:
    """Return the loss of a measure; None where it or its levels were not measured, or they do not stand in order."""
    if name == "readable":
        return _unread(findings)
    ours, real = find(findings, name, "train"), find(findings, name, "real")
    if ours is None or real is None:
        return None
    size, counted = _size(ours)
    held = name in _HELD_AGAINST
    differences = above_real(ours, replace(real, low=None, high=None) if held else real)
    if name == "classifier_f1":
        floor = find(findings, "classifier_majority", "none")
        gap = find(findings, "classifier_gap", "real")
        if floor is None or gap is None or gap.low is None or gap.high is None:
            return None
        least = max(floor.value, float(real.settings.get("at_random", 0.0)))
        if real.low is None or real.low <= least:
            return None  # as much real text teaches nothing either
        way = least - real.value
        differences = (-gap.value, -gap.low, -gap.high)
    else:
        far = find(findings, name, "unrelated")
        way = abs(real.value) if far is None else far.value - real.value
    worse = {"lower is better": way > 0, "higher is better": way < 0}
    alone = name != "classifier_f1" and find(findings, name, "unrelated") is None
    if way == 0 or not (alone or worse.get(ours.direction, True)):
        return None
    parts = [difference / way for difference in differences]
    width = abs(parts[2] - parts[1])
    if alone or ours.direction == CLOSER:
        low, high = sorted(parts[1:])
        nearest = 0.0 if low <= 0 <= high else min(abs(low), abs(high))
        return Loss(name, abs(parts[0]), nearest, max(abs(low), abs(high)), width, size, counted)
    value, low, high = (max(0.0, part) for part in (parts[0], min(parts[1:]), max(parts[1:])))
    return Loss(name, value, low, high, width, size, counted)


def overlaps_real(findings: Sequence[Finding], name: str) -> bool:
    """Return whether the interval of a measure and that of real against real share more than an end.

    Such a measure could lie where real text lies. An end that is not known is the value itself.
    """
    if name == "readable":
        ours, real = find(findings, name, "none"), find(findings, name, "baseline")
    else:
        ours, real = find(findings, name, "train"), find(findings, name, "real")
    if ours is None or real is None:
        return False
    return _end(ours, ours.low) < _end(real, real.high) and _end(ours, ours.high) > _end(real, real.low)


def above_real(ours: Finding, real: Finding) -> tuple[float, float, float]:
    """Return synthetic less real text with both ends; an end that is not known is the value itself."""
    value = ours.value - real.value
    low = math.hypot(ours.value - _end(ours, ours.low), _end(real, real.high) - real.value)
    high = math.hypot(_end(ours, ours.high) - ours.value, real.value - _end(real, real.low))
    return value, value - low, value + high


def _end(finding: Finding, end: float | None) -> float:
    return finding.value if end is None else end


def _unread(findings: Sequence[Finding]) -> Loss | None:
    ours, real = (find(findings, "readable", reference) for reference in ("none", "baseline"))
    if ours is None or (real is not None and real.value <= 0):
        return None
    level = 1.0 if real is None else real.value
    less = (1.0 - ours.value, 1.0 - _end(ours, ours.high), 1.0 - _end(ours, ours.low))
    if real is not None:
        value, low, high = above_real(ours, real)
        less = (-value, -high, -low)
    value, low, high = (max(0.0, part / level) for part in less)
    return Loss("readable", value, low, high, (less[2] - less[1]) / level, ours.n, "texts")


def _size(finding: Finding) -> tuple[int, str]:
    """Return how many texts, or tokens, a finding rests on."""
    for key, counted in _SIZES:
        if key in finding.settings:
            return int(finding.settings[key]), counted
    return finding.n, "texts"
