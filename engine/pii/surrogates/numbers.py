"""Perturb ages and quantities, keeping the way they are written."""

from __future__ import annotations

import re
from collections.abc import Callable

from engine.pii.surrogates.keyed import Draw

_UNITS = ("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
          "seventeen "
          "eighteen nineteen").split()  # fmt: skip
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_WORD = (
    rf"(?:(?:{'|'.join(_TENS)})(?:[- ](?:{'|'.join(_UNITS[1:10])}))?|{'|'.join(sorted(_UNITS, key=len, reverse=True))})"
)
_WORD_NUMBER = re.compile(rf"\b{_WORD}\b", re.IGNORECASE)
_FIGURE = re.compile(r"\d{1,3}(?:[,' ]\d{3})+(?:\.\d+)?|\d+(?:\.\d{3})+(?:,\d+)?(?!\d)|\d+(?:[.,]\d+)?")
OLDEST = 89


def word_value(word: str) -> int:
    """Return the value of an English number word below one hundred."""
    parts = re.split(r"[- ]", word.lower())
    return sum(_UNITS.index(p) if p in _UNITS else (_TENS.index(p) + 2) * 10 for p in parts)


def number_word(value: int) -> str:
    """Return the English word of a number in [0, 99]."""
    if value < 20:
        return _UNITS[value]
    tens, rest = divmod(value, 10)
    return _TENS[tens - 2] + (f"-{_UNITS[rest]}" if rest else "")


def first_number(text: str) -> int | None:
    """Return the first whole number in figures or words, or None."""
    figure, word = re.search(r"\d+", text), _WORD_NUMBER.search(text)
    if figure and (not word or figure.start() < word.start()):
        return int(figure.group())
    return word_value(word.group()) if word else None


def shift_age(text: str, years: int) -> str:
    """Return the text with its ages moved by `years` (in -4..4, not 0), kept between 1 and 89.

    Ages from 90 on are written "90 or older" (or "90+" inside a longer phrase).
    """

    def moved(value: int) -> int:
        return moved_age(value, years)

    def figure(match: re.Match[str]) -> str:
        value = int(match.group())
        if value > OLDEST:
            return "90 or older" if text.strip() == match.group() else "90+"
        return str(moved(value))

    if re.search(r"\d", text):
        return re.sub(r"\d+", figure, text)
    return _WORD_NUMBER.sub(lambda m: _cased(m.group(), _age_word(word_value(m.group()), moved)), text)


def moved_age(value: int, years: int) -> int:
    """Return an age moved by `years`, less for children; children and adults stay what they are, nobody passes 89."""
    step = years if value >= 18 else (years > 0) - (years < 0) if value < 6 else max(-2, min(2, years))
    other = value + step
    return other if 1 <= other <= OLDEST and (value < 18) == (other < 18) else value - step


def _age_word(value: int, moved: Callable[[int], int]) -> str:
    return "ninety or older" if value > OLDEST else number_word(moved(value))


def perturb_quantity(text: str, draw: Draw) -> str:
    """Return the text with each number changed by 5 to 15 per cent (by one where that rounds to nothing)."""
    share = draw.between(50, 150) / 1000 * draw.choice((-1, 1))

    def figure(match: re.Match[str]) -> str:
        return _refigured(match.group(), share)

    if re.search(r"\d", text):
        return _FIGURE.sub(figure, text)
    return _WORD_NUMBER.sub(lambda m: _cased(m.group(), number_word(_near(word_value(m.group()), share, 99))), text)


def _near(value: int, share: float, most: int | None = None) -> int:
    other = round(value * (1 + share))
    if other == value:
        other = value + (1 if share > 0 or value <= 1 else -1)
    return other if most is None or other <= most else value - 1


def _refigured(figure: str, share: float) -> str:
    separators = re.findall(r"\D", figure)
    decimal = ""
    if separators:
        last = separators[-1]
        tail = figure.rsplit(last, 1)[1]
        if (len(separators) == 1 and (len(tail) != 3 or (last == "." and figure.startswith("0")))) or len(
            set(separators)
        ) > 1:
            decimal = last
    group = next((s for s in separators if s != decimal), "")
    places = len(figure.rsplit(decimal, 1)[1]) if decimal else 0
    scaled = _near(int(re.sub(r"\D", "", figure)), share)
    whole, rest = divmod(scaled, 10**places)
    text = f"{whole:,}".replace(",", group) if group else str(whole)
    if figure.startswith("0") and not decimal:
        text = text.zfill(len(figure))
    return text + (f"{decimal}{rest:0{places}d}" if places else "")


def round_quantity(text: str) -> str:
    """Return the text with each figure rounded to one leading digit."""

    def figure(match: re.Match[str]) -> str:
        found = match.group()
        value = float(
            re.sub(r"[,' ](?=\d{3})", "", found).replace(",", ".") if found.count(".") < 2 else found.replace(".", "")
        )
        if value == 0:
            return "0"
        size = 10 ** max(0, len(str(int(value))) - 1)
        rounded = int(round(value / size) * size)
        return f"{rounded:,}" if "," in found and rounded >= 1000 else str(rounded)

    return _FIGURE.sub(figure, text)


def _cased(old: str, new: str) -> str:
    return new.upper() if old.isupper() else new.capitalize() if old[:1].isupper() else new
