"""Values at fewer texts: what a measure that moves with the number of texts is compared by between unequal runs.

Most measures of use move with the number of texts that they are taken of, whatever the texts are. Each such finding
carries its value and interval at fixed smaller numbers too, taken of texts drawn from its own; two runs are held
against each other at the largest number that both have. What the bias of such scores does to a ranking: Chong and
Forsyth 2020.

Light: the web process imports this.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from engine.examine.findings.findings import Finding
from engine.examine.usefulness.metrics import METRICS
from engine.json_types import JSON

SIZES = (10, 14, 20, 28, 35, 50, 70, 100, 140, 200, 280, 400, 1_000, 2_000)
FEWER = "at_fewer_texts"
"""The setting with a finding's values at fewer texts: number of texts -> [value, low, high]."""
TEXTS = "texts_a_side"
_BASIS = ("method", "source", "own_sources_left_out")  # settings that hold at any number of texts
STEADY = {*(metric.name for metric in METRICS if metric.steady), "reference_loss"}


def apart(texts: float, others: float) -> bool:
    """Return whether one number of texts is clearly larger than the other.

    Numbers that differ by up to a quarter of the root of the smaller one count as equal. Of real notes of one source
    that moved no measure by half of its standard deviation; four times as many moved shares of words by 20 to 44.
    """
    return abs(texts - others) > math.sqrt(min(texts, others)) / 4


def moved(name: str, texts: float, others: float) -> bool:
    """Return whether a measure moves with the number of texts, and one number is clearly larger than the other."""
    return name not in STEADY and apart(texts, others)


def sizes_apart(one: Finding, other: Finding) -> bool:
    """Return whether a finding moves with the number of texts and was taken of clearly more of them in one run."""
    own = [finding.settings.get(TEXTS) for finding in (one, other)]
    return None not in own and moved(one.name, float(str(own[0])), float(str(own[1])))


def smaller(texts: int, least: int) -> list[int]:
    """Return the fixed numbers clearly below a number of texts at which a measure is taken too, from `least` on."""
    return [size for size in SIZES if least <= size < texts and apart(size, texts)]


def known(finding: Finding) -> tuple[int, ...]:
    """Return the numbers of texts at which a finding has a value, ascending."""
    own = finding.settings.get(TEXTS)
    if own is None:
        return ()
    fewer = [int(texts) for texts, values in finding.settings.get(FEWER, {}).items() if values[0] is not None]
    return tuple(sorted({*fewer, int(own)}))


def at(finding: Finding, texts: int) -> Finding | None:
    """Return a finding as it is at so many texts, or None where it has no value there."""
    if finding.settings.get(TEXTS) == texts:
        return finding
    values: Sequence[float | None] | None = finding.settings.get(FEWER, {}).get(str(texts))
    if values is None or values[0] is None:
        return None
    settings = {key: finding.settings[key] for key in _BASIS if key in finding.settings} | {TEXTS: texts}
    n = min(finding.n, texts)
    return replace(finding, value=values[0], low=values[1], high=values[2], n=n, settings=settings)


def in_common(sizes: Sequence[Iterable[int]]) -> tuple[int, ...] | None:
    """Return the largest number of texts that all have, as each has it, or None where there is none.

    Args:
        sizes: the numbers that each one has. Numbers that are not clearly apart count as one.
    """
    found = [sorted(own) for own in sizes]
    if not all(found):
        return None
    for most in sorted({size for own in found for size in own}, reverse=True):
        nearest = tuple(min(own, key=lambda size: abs(size - most)) for own in found)
        if not apart(min(nearest), max(nearest)):
            return nearest
    return None


def at_one_number(
    findings: Mapping[str, Sequence[Finding]], names: Iterable[str]
) -> tuple[dict[str, list[Finding]], dict[str, int]]:
    """Return runs' findings with measures that move with the number of texts at one number, and which number.

    Args:
        findings: run -> what was found. names: of the measures to bring to one number.

    Returns:
        The findings, and measure -> texts for those that are at fewer texts than some run has. A measure of which the
        runs have no number in common stays as it is.
    """
    result, cut = {run: list(rows) for run, rows in findings.items()}, {}
    for name in names:
        own = {run: _own(rows, name) for run, rows in result.items()}
        sizes = {run: known(found) for run, found in own.items() if found is not None}
        most = [max(numbers) for numbers in sizes.values() if numbers]
        shared = in_common(list(sizes.values())) if most and moved(name, min(most), max(most)) else None
        if shared is None:
            continue
        cut[name] = min(shared)
        for run, texts in zip(sizes, shared, strict=True):
            taken = [(one, at(one, texts) if one.name == name else one) for one in result[run]]
            # unrelated text is a level: of as many texts, or of all there are
            result[run] = [new or one for one, new in taken if new is not None or one.reference == "unrelated"]
    return result, cut


def none_in_common(findings: Mapping[str, Sequence[Finding]], names: Iterable[str]) -> list[str]:
    """Return the measures that runs were measured by at clearly other numbers of texts, after `at_one_number`."""
    found = []
    for name in names:
        own = [one for rows in findings.values() if (one := _own(rows, name)) is not None]
        if any(sizes_apart(*pair) for pair in combinations(own, 2)):
            found.append(name)
    return found


def _own(findings: Sequence[Finding], name: str) -> Finding | None:
    found = [f for f in findings if f.name == name and f.reference in ("none", "train") and f.value == f.value]
    return found[0] if found else None


def numbers(finding: Finding) -> list[float]:
    """Return every number that a finding tells: its value and interval, and those at fewer texts."""
    fewer = [end for values in finding.settings.get(FEWER, {}).values() for end in values]
    return [float(end) for end in (finding.value, finding.low, finding.high, *fewer) if end is not None]


def row(value: float, low: float | None, high: float | None) -> list[JSON]:
    """Return a value and its interval as a setting holds them; what is no number is None."""
    return [None if end is None or not math.isfinite(end) else float(end) for end in (value, low, high)]
