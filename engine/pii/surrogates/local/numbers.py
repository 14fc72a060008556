"""Telephone numbers, national numbers and dates as a pack's country writes them."""

from __future__ import annotations

import datetime as dt
import re

from engine.pii.languages.inflection import NOMINATIVE
from engine.pii.languages.national_ids import NationalId, national_ids
from engine.pii.languages.pack import Pack
from engine.pii.surrogates.codes import same_shape
from engine.pii.surrogates.keyed import Draw
from engine.pii.surrogates.people import cased

_TRIES = 200
_CUT = {"mrt": 3, "mrz": 3, "veebr": 2, "janv": 1, "févr": 2, "juil": 7}
_OTHER = _CUT | {"jänner": 1, "feber": 2, "setiembre": 9, "fevrier": 2, "aout": 8, "decembre": 12}
_FIRSTS = frozenset({"premier", "primero", "primeiro", "eerste", "tweede", "derde"})  # ordinals among cardinals
_SHORT = {
    ("nl", "maart"): "mrt", ("fr", "juin"): "juin", ("fr", "juillet"): "juil", ("et", "jaanuar"): "jaan",
    ("et", "veebruar"): "veebr", ("et", "juuni"): "juuni", ("et", "juuli"): "juuli", ("et", "märts"): "märts",
    ("et", "september"): "sept", ("et", "detsember"): "dets",
}  # fmt: skip
"""Months that are not cut to three letters."""
_SIGNS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def phone(value: str, draw: Draw, own: Pack) -> str:
    """Return a telephone number of the country; the prefix stays where there was one.

    Shapes whose numbers the regulator keeps for fiction belong to nobody; of the others that cannot be promised.
    """
    digits = sum(c.isdigit() for c in value)
    if digits < 7:
        return same_shape(value, draw)
    shape = draw.choice(own.data.phones)
    number = "".join(str(draw.number(10)) if c == "#" else c for c in shape)
    foreign = re.match(r"\s*(?:\+|00)\s?\d{1,3}", value)
    if not foreign:
        return number
    return f"{own.data.prefix} {number.removeprefix('0')}"


def national_id(value: str, draw: Draw, own: Pack, days: int = 0) -> str:
    """Return a number of the same kind with a plausible body and a wrong check sign, so that it is nobody's.

    Args:
        days: what the dates of the unit move by; a number that tells the day of birth moves with them.
    """
    kinds = [k for k in national_ids() if k.shape.fullmatch(value.strip())]
    home = [k for k in kinds if k.country in own.data.countries and k.valid(value)] or [
        k for k in kinds if k.valid(value)
    ]
    home = home or [k for k in kinds if k.country in own.data.countries and k.sure]  # mistyped, but meant as one
    if not home:
        return same_shape(value, draw)
    kind = next((k for k in kinds if _born(value.strip(), draw, k, days) and k.country in own.data.countries), home[0])
    for _ in range(_TRIES):
        body = _born(value.strip(), draw, kind, days) or _similar(value.strip(), draw)
        right = _completions(body, kind)
        if right and body != value.strip():
            last = _last(body)
            signs = [s for s in _SIGNS if s.isdigit() == body[last].isdigit() and s not in right]
            made = body[:last] + draw.choice(signs) + body[last + 1 :]
            if not kind.valid(made):
                return made
    return same_shape(value, draw)


def clock(value: str, draw: Draw) -> str | None:
    """Return another time of the day, written as "7.30" or "07:30" was; None where the value is none.

    "12.05" may be the twelfth of May, so what replaces it can be read as a day too.
    """
    match = re.fullmatch(r"([01]?\d|2[0-3])([.:])([0-5]\d)", value)
    if match is None:
        return None
    hours, sign, minutes = match.groups()
    hour = draw.between(7, 20)
    minute = draw.between(1, 12) if sign == "." and 1 <= int(minutes) <= 12 else 5 * draw.number(12)
    return f"{hour:0{2 if hours[0] == '0' else 1}d}{sign}{minute:02d}"


def _born(value: str, draw: Draw, kind: NationalId, days: int) -> str | None:
    """Return an Estonian or Lithuanian number whose day of birth is moved; None for other numbers.

    Its first digit tells century and sex (1800: 1 and 2, 1900: 3 and 4, 2000: 5 and 6), six digits the day.
    """
    match = re.fullmatch(r"([1-6])(\d\d)(\d\d)(\d\d)\d{4}", value) if kind.country in {"EE", "LT"} else None
    if match is None or not days:
        return None
    first, year, month, day = map(int, match.groups())
    try:
        moved = dt.date(1800 + 100 * ((first - 1) // 2) + year, month, day) + dt.timedelta(days=days)
    except ValueError:
        return None
    sign = 2 * (moved.year // 100 - 18) + 1 + (first - 1) % 2
    return f"{sign}{moved:%y%m%d}{draw.number(1000):03d}{value[-1]}"


def _similar(value: str, draw: Draw) -> str:
    """Return the value with about half its digits drawn anew; the first one, which often codes the sex, stays."""
    out = list(value)
    for i in range(1, len(out)):
        if out[i].isdigit() and draw.number(2):
            out[i] = str(draw.number(10))
    return "".join(out)


def _last(value: str) -> int:
    return max(i for i, c in enumerate(value) if c.isalnum())


def _completions(body: str, kind: NationalId) -> set[str]:
    """Return the last signs that would make a body valid; of two check digits only the last is tried."""
    last = _last(body)
    return {s for s in _SIGNS if kind.valid(body[:last] + s + body[last + 1 :])}


def local_date(value: str, days: int, own: Pack) -> str | None:
    """Return a date with a month in words moved by `days`, the month in the case it stood in; None without one."""
    months = own.data.months
    worded = _worded(value, days, own)
    if worded is not None:
        return worded
    match = re.search(
        r"(?:(?P<d>(?<!\d)\d{1,2})(?P<a>[-/]|(?:º|er|\.)?\s?(?:(?:de|del)\s)?))?"
        r"(?P<m>[^\W\d_]{3,})(?P<b>[-/]|\.?,?\s(?:(?:de|del)\s)?)?(?P<y>(?:1[5-9]|20)\d\d)?",
        value,
    )
    at = 0
    while match is not None:
        found = _month(match.group("m"), own)
        if found is not None:
            break
        at = match.end("m")
        pattern = match.re
        match = pattern.search(value, at)
    if match is None or (found := _month(match.group("m"), own)) is None:
        return None
    number, case, short = found
    day = int(match.group("d") or 15)
    year = int(match.group("y") or 2001)
    try:
        moved = dt.date(year, number, min(day, 28) if day > 31 else day) + dt.timedelta(days=days)
    except (ValueError, OverflowError):
        moved = dt.date(year, number, 15) + dt.timedelta(days=days)
    name = months[moved.month - 1]
    if own.inflection is not None and case != NOMINATIVE:
        name = own.inflection.inflected(name, case)
    name = cased(match.group("m"), _SHORT.get((own.code, name), name[:3]) if short else name)
    new = ""
    if match.group("d"):
        mark = match.group("a").removeprefix("er")
        mark = "er" + mark if own.code == "fr" and moved.day == 1 else mark
        new += (f"{moved.day:02d}" if match.group("d").startswith("0") else str(moved.day)) + mark
    new += name
    if match.group("y"):
        new += (match.group("b") or " ") + str(moved.year)
        return value[: match.start()] + new + value[match.end() :]
    return value[: match.start()] + new + value[match.end("m") :]


def _worded(value: str, days: int, own: Pack) -> str | None:
    """Return a date whose day is in words with another such word and a month moved by a part of a year, or None.

    The word is one of the same ending where there are some, since cases and kinds of numbers end alike.
    """
    words = sorted(own.data.numbers, key=len, reverse=True)
    match = re.match(rf"({'|'.join(map(re.escape, words))})(\s(?:(?:de|del)\s)?)", value, re.IGNORECASE)
    rest = None if match is None else local_date(value[match.end() :], days, own)
    if match is None or rest is None:
        return None
    low = match.group(1).lower()
    alike = [w for w in own.data.numbers if w != low and w[-3:] == low[-3:]]
    alike = alike if len(alike) > 2 else [w for w in own.data.numbers if w != low and w not in _FIRSTS]
    return cased(match.group(1), alike[days % len(alike)]) + match.group(2) + rest


def weekday(value: str, days: int, own: Pack) -> str | None:
    """Return a day of the week moved by `days`, never to itself, in the form it stood in; None where there is none."""
    names = [name.lower() for name in own.data.weekdays]
    for match in re.finditer(r"[^\W\d_]{3,}(?:-[^\W\d_]+)?", value):
        low = match.group().lower()
        case, first = NOMINATIVE, low
        if own.inflection is not None:
            case, first = own.inflection.case_of(low, frozenset(names))
        if first in names:
            new = names[(names.index(first) + (days % 7 or 3)) % 7]
            new = own.inflection.inflected(new, case) if own.inflection is not None and case != NOMINATIVE else new
        elif (begun := next((n for n in names if low.startswith(n)), None)) is not None:  # montags, måndagen
            alike = [n for n in names if n != begun and n[-2:] == begun[-2:]]
            new = (alike[days % len(alike)] if alike else names[names.index(begun) - 1]) + low[len(begun) :]
        else:
            continue
        return value[: match.start()] + cased(match.group(), new) + value[match.end() :]
    return None


def _month(word: str, own: Pack) -> tuple[int, str, bool] | None:
    """Return (month from 1, case, whether it is cut short) of a written month."""
    low = word.lower()
    names = [m.lower() for m in own.data.months]
    if own.inflection is not None:
        case, first = own.inflection.case_of(low, frozenset(names))
        if first in names:
            return names.index(first) + 1, case, False
    if low in names:
        return names.index(low) + 1, NOMINATIVE, False
    if low in _OTHER:
        return _OTHER[low], NOMINATIVE, low in _CUT
    short = [i for i, n in enumerate(names) if len(low) in {3, 4} and n.startswith(low)]
    return (short[0] + 1, NOMINATIVE, True) if len(short) == 1 else None
