"""Shift dates and write them back in the very format they were in."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from engine.pii.surrogates.keyed import Draw

_MONTHS = "january february march april may june july august september october november december".split()
_DAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_MONTH = (
    r"(?P<M>(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)(?![a-z])\.?)"
)
_WEEKDAY = r"(?:(?P<W>(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\b)(?P<_w>\.?,? (?:the )?))?"
_DAY = r"(?P<D>\d{1,2})(?P<O>st|nd|rd|th)?"
_YEAR = r"(?P<Y>['’]?\d{4}|['’]?\d{2})\b"
_PATTERNS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\b(?P<Y>\d{4})(?P<s>[-/.])(?P<m>\d{1,2})(?P<iso>(?P=s))(?P<D>\d{1,2})(?!\d)",
        _WEEKDAY + r"(?<!\d)(?P<D>\d{1,2})(?P<s>[-/.] ?)(?P<m>\d{1,2})(?P=s)(?P<Y>\d{4}|\d{2})(?!\d)",
        _WEEKDAY + r"(?<!\d)" + _DAY + r"(?: day)?(?: of)?(?P<dash>[ .\-/]*)" + _MONTH
        + r",?[ .\-/,]*" + _YEAR,
        _WEEKDAY + _MONTH + r"[ .\-]*(?:the )?" + _DAY + r"(?!\d),?[ \-]+" + _YEAR,
        _WEEKDAY + r"(?<!\d)" + _DAY + r"(?: day)?(?: of)?[ .\-]*" + _MONTH,
        _WEEKDAY + _MONTH + r"[ .\-]*(?:the )?" + _DAY + r"(?![\d:])",
        _MONTH + r",?(?: of)?[ \-./]*" + _YEAR,
        r"(?<![\d:.])(?P<Y>(?:1[5-9]|20)\d{2})(?P<m>0[1-9]|1[0-2])(?P<D>(?P<iso>0[1-9]|[12]\d|3[01]))(?!\d)",
        r"(?<![\d:./])(?P<m>0?[1-9]|1[0-2])[/.\-](?P<Y>(?:1[5-9]|20)\d{2}|3[2-9]|[4-9]\d)(?![\d:])",
        r"(?<![\d:./])(?P<D>\d{1,2})(?P<s>[/.])(?P<m>\d{1,2})(?![\d:]|[/.]\d| ?[ap]\.?m)",
        r"(?<![\d:])(?P<Y>(?:1[5-9]|20)\d{2})(?P<decade>s?)(?!\d)",
        r"(?<![\w])(?P<Y>['’]\d{2})(?P<decade>s?)(?!\d)",
        _MONTH,
        r"(?<!\d)(?P<h>[01]?\d|2[0-4])(?P<c>[:.h])(?P<n>[0-5]\d)(?!\d)",
        r"\b(?P<W>(?:mon|tues|wednes|thurs|fri|satur|sun)day)(?P<plural>s?)\b",
    )
)  # fmt: skip
_LEFT_AS_IS = re.compile(r"\b(?:last|next|this|previous|following|coming)\b", re.IGNORECASE)


@dataclass(frozen=True)
class ShiftedDate:
    """A date's surrogate; `kept` says that nothing in it could be shifted."""

    text: str
    kept: bool = False


def shift_date(text: str, days: int, draw: Draw, *, month_first: bool = False) -> ShiftedDate:
    """Return the text with each date in it moved by `days` (never 0), formats and other words kept.

    Partial dates move at least one of their own units in the same direction, so they always change;
    impossible dates become a possible one of the same shape. A relative day ("last Tuesday") stays.
    """
    if _LEFT_AS_IS.search(text) and not any(c.isdigit() for c in text):
        return ShiftedDate(text, kept=True)
    out: list[str] = []
    at = 0
    while at < len(text):
        found = _first(text, at)
        if found is None:
            break
        out.append(text[at : found.start()])
        out.append(_rewrite(found, days, draw, month_first))
        at = found.end()
    out.append(text[at:])
    result = "".join(out)
    return ShiftedDate(result, kept=result == text)


def _first(text: str, at: int) -> re.Match[str] | None:
    """Return the earliest match at or after `at`; of those that begin together, the most complete."""
    best: re.Match[str] | None = None
    for pattern in _PATTERNS:
        found = pattern.search(text, at)
        if found and (best is None or found.start() < best.start()):
            best = found
    return best


def parse_month_year(text: str) -> tuple[int | None, int] | None:
    """Return (month or None, year) of the first date in `text`, or None where there is no year."""
    found = _first(text, 0)
    if found is None or not found.groupdict().get("Y"):
        return None
    groups = found.groupdict()
    _, month = _order(groups)
    return (month if month and 1 <= month <= 12 else None), _year(str(groups["Y"]))


def month_first(values: Iterable[str]) -> bool:
    """Return whether more of these dates can only be month first ("12/25/98") than only day first."""
    votes = 0
    for value in values:
        found = _PAIR.search(value)
        if found:
            one, two = int(found.group(1)), int(found.group(2))
            votes += (two > 12 >= one) - (one > 12 >= two)
    return votes > 0


_PAIR = re.compile(r"(?<![\d/.\-])(\d{1,2})[-/.](\d{1,2})(?:[-/.](?:\d{4}|\d{2}))?(?!\d)")


def _order(groups: dict[str, str | None], month_first: bool = False) -> tuple[int | None, int | None]:
    """Return (day, month) of a match."""
    day = int(str(groups["D"])) if groups.get("D") else None
    if groups.get("M"):
        return day, _month_number(str(groups["M"]))
    month = int(str(groups["m"])) if groups.get("m") else None
    return (month, day) if _swapped(groups, month_first) else (day, month)


def _swapped(groups: dict[str, str | None], month_first: bool) -> bool:
    """Return whether the number where a day is written first stands for the month.

    A pair that fits one order only has that order; one that fits both has the text's usual one.
    """
    if not groups.get("D") or not groups.get("m") or groups.get("iso"):
        return False
    first, second = int(str(groups["D"])), int(str(groups["m"]))
    return second > 12 >= first or (month_first and first <= 12)


def _rewrite(match: re.Match[str], days: int, draw: Draw, month_first: bool) -> str:
    groups = match.groupdict()
    new: dict[str, str] = {}
    if groups.get("h"):
        minutes = (int(str(groups["h"])) * 60 + int(str(groups["n"])) + days % 720 // 9 + 7) % (
            12 * 60 if int(str(groups["h"])) <= 12 else 1440
        )
        hour = minutes // 60 or (12 if len(str(groups["h"])) == 1 else 0)
        new = {"h": f"{hour:0{len(str(groups['h']))}d}", "n": f"{minutes % 60:02d}"}
    elif groups.get("W") and not groups.get("D"):
        index = _DAYS.index(str(groups["W"]).lower())
        new = {"W": _cased(str(groups["W"]), _DAYS[(index + (days % 7 or 3)) % 7])}
    else:
        new = _moved(groups, days, draw, month_first)
    return _substitute(match, new)


def _moved(groups: dict[str, str | None], days: int, draw: Draw, month_first: bool) -> dict[str, str]:
    day, month = _order(groups, month_first)
    sign = 1 if days > 0 else -1
    if day is None and month is None:
        return {"Y": _year_text(str(groups["Y"]), _year(str(groups["Y"])) + sign * (10 if groups.get("decade") else 1))}
    if day is None and month is not None:
        year = _year(str(groups["Y"])) if groups.get("Y") else 2000
        count = year * 12 + month - 1 + sign * max(1, round(abs(days) / 30.44))
        if not groups.get("Y") and (count - year * 12 - month + 1) % 12 == 0:
            count += sign
        return _written(groups, dt.date(min(max(count // 12, 1), 9999), count % 12 + 1, 1), month_first)
    year = _year(str(groups["Y"])) if groups.get("Y") else 2000
    try:
        old = dt.date(year, month or 1, day or 1)
        moved = old + dt.timedelta(days=days)
    except (ValueError, OverflowError):
        old = moved = dt.date(min(max(year, 1), 9998), draw.between(1, 12), draw.between(13, 28))
    if not groups.get("Y") and (moved.month, moved.day) == (old.month, old.day):
        moved += dt.timedelta(days=sign)
    return _written(groups, moved, month_first)


def _written(groups: dict[str, str | None], day: dt.date, month_first: bool) -> dict[str, str]:
    """Return each component of `day` written as the one it replaces."""
    new: dict[str, str] = {}
    numbers = [g for k in ("D", "m") if (g := groups.get(k))]
    dashed = "-" in str(groups.get("dash"))
    padded = all(len(n) == 2 for n in numbers) and (len(numbers) == 2 or dashed or any(n[0] == "0" for n in numbers))
    width = 2 if padded else 1
    swapped = len(numbers) == 2 and _swapped(groups, month_first)
    if groups.get("D"):
        new["D"] = f"{day.month if swapped else day.day:0{width}d}"
    if groups.get("m"):
        new["m"] = f"{day.day if swapped else day.month:0{width}d}"
    if groups.get("O"):
        new["O"] = _ordinal(day.day, str(groups["O"]))
    if groups.get("M"):
        new["M"] = _month_text(str(groups["M"]), day.month, short=dashed or groups.get("dash") == "")
    if groups.get("Y"):
        new["Y"] = _year_text(str(groups["Y"]), day.year)
    if groups.get("W"):
        old = str(groups["W"])
        name = _DAYS[day.weekday()]
        new["W"] = _cased(old, name if old.lower().endswith("day") else name[:3])
    return new


def _substitute(match: re.Match[str], new: dict[str, str]) -> str:
    text, start = match.group(), match.start()
    pieces = sorted((match.start(k) - start, match.end(k) - start, v) for k, v in new.items())
    out, at = [], 0
    for low, high, value in pieces:
        out += [text[at:low], value]
        at = high
    return "".join(out) + text[at:]


def _month_number(name: str) -> int:
    return [m[:3] for m in _MONTHS].index(name.lower()[:3]) + 1


def _month_text(old: str, month: int, *, short: bool) -> str:
    name = _MONTHS[month - 1]
    bare = old.rstrip(".")
    may_be_short = bare.lower() == "may" and (short or old.endswith("."))
    text = name[:3] if bare.lower() not in _MONTHS or may_be_short else name
    return _cased(bare, text) + ("." if old.endswith(".") else "")


def _year(text: str) -> int:
    digits = text.lstrip("'’")
    number = int(digits)
    return number if len(digits) == 4 else number + (1900 if number >= 40 else 2000)


def _year_text(old: str, year: int) -> str:
    mark = old[: len(old) - len(old.lstrip("'’"))]
    return mark + (f"{year % 100:02d}" if len(old) - len(mark) == 2 else f"{year:04d}")


def _ordinal(day: int, old: str) -> str:
    suffix = "th" if 10 <= day % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    return suffix.upper() if old.isupper() else suffix


def _cased(old: str, new: str) -> str:
    change: Callable[[str], str] = (
        str.upper if old.isupper() and len(old) > 1 else str.lower if old.islower() else str.capitalize
    )
    return change(new)
