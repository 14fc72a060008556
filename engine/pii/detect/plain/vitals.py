"""Readings and clock times of clinical shorthand: "T97", "P88", "Ht 44", "BP120/80", "1110AM", "@ 0930".

They are measurements, not codes that point at one person.

Privacy posture: works on one text in memory; returns a yes or no.
"""

from __future__ import annotations

import regex

VALUE = r"\d{1,3}(?:\.\d{1,2})?"
VITAL = (
    rf"(?:t|p|r|hr|rr|ar|ap|bp|b/p|ht|wt|temp|tmax|ax|sats?|o2|spo2|fhr|hct|hgb|wbc|rbc|plt|glu|na|cl|co2|bun)"
    rf"[ :=.@-]{{0,2}}{VALUE}(?:k|%)?(?:[-–/ ]{{1,3}}{VALUE})?[-.,]?(?: ?(?:ax|po|f|c|r|rectal(?:ly)?|orally))?"
)
VITALS = regex.compile(rf"{VITAL}(?:[,;/ ]{{1,3}}{VITAL})*\.?", regex.I)
CLOCK = regex.compile(r"(?:0?[1-9]|1[0-2])(?:[:.]?[0-5]\d)? ?[ap]\.?m?\.?-?", regex.I)
HOURS = regex.compile(r"[-–]? ?(?:[01]\d|2[0-3])[0-5]\d[-–]?")
HOURS_BEFORE = regex.compile(r"(?:@|\bat|\btime:?|\bapprox|\d/\d{1,2}/\d{2,4}) ?$", regex.I)
SIZE = regex.compile(
    rf"{VALUE} ?x ?{VALUE} ?(?:cm|mm|in|inch(?:es)?)?|{VALUE}(?: ?- ?{VALUE})? ?(?:db|bpm|mmhg)", regex.I
)
FIGURES = regex.compile(rf"[(#]?{VALUE}(?: ?[-–/] ?{VALUE})*[-.]?\)?")
READING_BEFORE = regex.compile(
    r"\b(?:bp|b/p|temp(?:erature)?s?|t|tmax|hr|rr|p|r|pulse|resps?|wbc|o2|sats?|wt|ht|weight|height|vs|titers?|x"
    r"|fevers?|fast|rate)\b[\s:=(@#of-]{0,6}$",
    regex.I,
)


def are_vitals(surface: str) -> bool:
    """Return whether a text is one vital sign or several."""
    return VITALS.fullmatch(surface) is not None


def is_reading(text: str, start: int, end: int) -> bool:
    """Return whether text[start:end] is a measurement or a time of day written without marks."""
    surface = text[start:end]
    before = text[max(0, start - 16) : start]
    if are_vitals(surface) or CLOCK.fullmatch(surface) or SIZE.fullmatch(surface):
        return True
    if HOURS.fullmatch(surface) and HOURS_BEFORE.search(before):
        return True
    return FIGURES.fullmatch(surface) is not None and READING_BEFORE.search(before) is not None
