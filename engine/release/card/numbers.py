"""Find numbers that were counted or measured on private data among words that are about to leave.

A number is read in the spellings of several languages: 1234, 1,234, 1.234, 1 234, 1'234, 0.421, 0,421, .421, 42.1 %,
42 per cent, 1e3, 4.21×10^-1. What could be read in two ways is read in both. Numbers in words ("forty") are not read.

Privacy posture: the statistics stay in memory for one check; an answer says where, never which number.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

_GAP = ",.'\u2019\u00b7\u066c\u00a0\u2009\u202f "
_NUMBER = re.compile(
    rf"(?<![\w.,])[.,]\d+(?!\d)|\d{{1,3}}(?:([{_GAP}])\d{{3}}(?!\d))(?:\1\d{{3}}(?!\d))*(?:[.,]\d+)?|\d+(?:[.,]\d+)?"
)
_POWER = re.compile(r"[eE]([-+\u2212]?\d{1,3})(?!\w)|\s*[x\u00d7\u00b7*]\s*10\s*\^\s*([-+\u2212]?\d{1,3})")
_PERCENT = re.compile(r"\s*(?:[%\uff05\u066a]|per\s?cent\b|pct\b|prozent\b)", re.IGNORECASE)
_SEPARATORS = re.compile(rf"[{_GAP}]")
LEAST_COUNT = 20  # a smaller whole number stands everywhere
DIGITS = 3  # significant digits from which on a fraction is no coincidence
PERCENT_DIGITS = 2  # of a number that says itself that it is a share
COMMON_SHARES = (50.0, 100.0)  # half and all


@dataclass(frozen=True)
class _Reading:
    """One way to read a number: its value, the decimal places that it gives (negative: rounded to tens), its digits."""

    value: float
    places: int
    digits: int
    percent: bool


def private_numbers(text: str, statistics: Collection[float], public: Collection[float] = ()) -> int:
    """Return how many numbers in `text` are one of `statistics`, as they are, rounded or as a percentage.

    Args:
        statistics: what was counted or measured on private data; not a number and infinite ones are left out.
        public: numbers that may stand although a statistic happens to equal them.
    """
    known = [s for s in statistics if math.isfinite(s) and s not in public]
    return sum(any(_is(one, s) for one in readings for s in known) for readings in _numbers(text))


def _numbers(text: str) -> Iterator[list[_Reading]]:
    """Yield the readings of each number that stands in a text."""
    at = 0
    while (found := _NUMBER.search(text, at)) is not None:
        at = found.end()
        power = _POWER.match(text, at)
        at = power.end() if power else at
        exponent = int((power[1] or power[2]).replace("\u2212", "-")) if power else 0
        percent = _PERCENT.match(text, at) is not None
        yield [
            _Reading(float(f"{written}e{exponent}"), len(behind) - exponent, _significant(written), percent)
            for written, behind in _written(found.group())
        ]


def _written(token: str) -> Iterator[tuple[str, str]]:
    """Yield what a token may mean: digits with a point, and the digits behind it."""
    marks = _SEPARATORS.findall(token)
    if not marks:
        yield token, ""
        return
    if re.fullmatch(rf"\d{{1,3}}(?:[{_GAP}]\d{{3}})+", token) and len(set(marks)) == 1:
        yield _SEPARATORS.sub("", token), ""
    if marks[-1] in ",." and marks.count(marks[-1]) == 1:  # the last mark may be the decimal one
        before, _, behind = token.rpartition(marks[-1])
        whole = _SEPARATORS.sub("", before) or "0"
        yield f"{whole}.{behind}", behind


def _significant(written: str) -> int:
    return len(written.replace(".", "").lstrip("0"))


def _is(one: _Reading, statistic: float) -> bool:
    if float(statistic).is_integer():
        return abs(statistic) >= LEAST_COUNT and one.value == abs(statistic)
    if one.percent and one.value in COMMON_SHARES:
        return False
    if not one.percent and (one.places <= 0 or one.digits < DIGITS):
        return False
    if one.percent and one.digits < PERCENT_DIGITS:
        return False
    return any(
        math.isclose(one.value, round(abs(form), one.places), rel_tol=1e-9) for form in (statistic, 100.0 * statistic)
    )
