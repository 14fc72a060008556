"""Find the custodian's known identifiers: as written, rearranged, shortened, reformatted, misspelt.

Texts and values are compared as runs of words with everything between words ignored, so that
"14.03.1961", "14/3/1961" and "14 March 1961" are one value, and "O'Brien, Mary" is "Mary O'Brien".

Privacy posture: the values live in this object only; spans say where a value is, not which.

Source: rapidfuzz's optimal string alignment (Damerau 1964) for misspellings.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import regex

from engine.pii.detect.settings import KnownIdentifier
from engine.pii.spans import Span, default_identifier_type

WORD = regex.compile(r"[^\W_](?:[^\W_]|\p{M})*")
MAX_GAP = 4
MONTHS = ("january february march april may june july august september october november december").split()
EXACT, REARRANGED, INITIAL, FUZZY, PART, SHORT = 1.0, 0.97, 0.93, 0.75, 0.8, 0.6


def fold(word: str) -> str:
    """Return a word case-folded and without accents."""
    return "".join(c for c in unicodedata.normalize("NFKD", word.casefold()) if not unicodedata.combining(c))


def parse_date(value: str) -> date | None:
    """Return the date a value writes, day first where both orders are possible; None if it is none."""
    parts = [fold(w) for w in regex.findall(r"\d+|[^\W\d_]+", value)]
    parts = [p for p in parts if p not in {"st", "nd", "rd", "th", "of", "the"}]
    if len(parts) != 3:
        return None
    named = [i for i, p in enumerate(parts) if len(p) >= 3 and any(m.startswith(p) for m in MONTHS)]
    try:
        if named:
            word = parts.pop(named[0])
            month = next(i for i, m in enumerate(MONTHS) if m.startswith(word)) + 1
            day, year = sorted(parts, key=lambda p: (len(p) > 2, int(p)))
        elif len(parts[0]) == 4:
            year, month_text, day = parts
            month = int(month_text)
        else:
            day, month_text, year = parts
            month = int(month_text)
            if month > 12:
                day, month = month_text, int(day)
        number = int(year) if len(year) == 4 else 1900 + int(year) + (100 if int(year) < 30 else 0)
        return date(number, month, int(day))
    except (ValueError, StopIteration):
        return None


def date_forms(value: date) -> Iterable[tuple[str, float]]:
    """Yield (key, score) of the ways to write a date; keys are folded words run together."""
    d, m, y = value.day, value.month, value.year
    name = MONTHS[m - 1]
    days = {str(d), f"{d:02}", f"{d}{_suffix(d)}"}
    for day in days:
        for month in {name, name[:3], name[:4]}:
            for year in {str(y), f"{y % 100:02}"}:
                yield f"{day}{month}{year}", EXACT
                yield f"{month}{day}{year}", EXACT
            yield f"{day}of{month}{y}", EXACT
            yield f"{day}{month}", SHORT
            yield f"{month}{day}", SHORT
    for day in {str(d), f"{d:02}"}:
        for month in {str(m), f"{m:02}"}:
            for year in {str(y), f"{y % 100:02}"}:
                yield f"{day}{month}{year}", REARRANGED
                yield f"{month}{day}{year}", REARRANGED
            yield f"{y}{month}{day}", EXACT


def _suffix(day: int) -> str:
    return "th" if 10 < day < 14 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")


def name_forms(words: Sequence[str]) -> Iterable[tuple[str, float]]:
    """Yield (key, score) of the ways to write a person's name of two or more words."""
    first, last = words[0], words[-1]
    yield last + "".join(words[:-1]), REARRANGED
    yield first + last, REARRANGED
    yield first[0] + last, INITIAL
    yield last + first[0], INITIAL
    yield "".join(w[0] for w in words[:-1]) + last, INITIAL
    for part in words:
        if len(part) >= 3:
            yield part, PART


@dataclass(frozen=True)
class _Form:
    label: str
    score: float


class KnownIdentifiers:
    """Finds known values in texts; built once, used for many texts."""

    def __init__(self, known: Sequence[KnownIdentifier], *, fuzzy: bool = True) -> None:
        self.forms: dict[str, _Form] = {}
        self.initials: dict[str, str] = {}
        self.targets: dict[int, dict[str, str]] = {}
        for item in known:
            self._add(item)
        self.fuzzy = fuzzy
        self.longest = max((len(k) for k in self.forms), default=0)

    def _add(self, item: KnownIdentifier) -> None:
        words = [fold(m.group()) for m in WORD.finditer(item.value)]
        if not words:
            return
        self._put("".join(words), item.label, EXACT)
        found = parse_date(item.value)
        if found is not None:
            for key, score in date_forms(found):
                self._put(key, item.label, score)
            return
        if item.label == "PERSON" and len(words) > 1:
            for key, score in name_forms(words):
                self._put(key, item.label, score)
            self.initials["".join(w[0] for w in words)] = item.label
        if item.label == "PERSON" or not any(c.isdigit() for c in item.value):
            joined = " ".join(words)
            if len(joined) >= 6:
                self.targets.setdefault(len(words), {})[joined] = item.label
            if item.label == "PERSON" and len(words) > 1 and len(words[-1]) >= 6:
                self.targets.setdefault(1, {})[words[-1]] = item.label

    def _put(self, key: str, label: str, score: float) -> None:
        if len(key) >= 2 and (key not in self.forms or self.forms[key].score < score):
            self.forms[key] = _Form(label, score)

    def find(self, text: str) -> list[Span]:
        """Return spans of known values, overlapping ones included, with an empty record id."""
        if not self.forms:
            return []
        places = [m.span() for m in WORD.finditer(text)]
        words = [fold(text[a:b]) for a, b in places]
        out = self._exact(text, places, words) + self._by_initials(text)
        taken = {(s.start, s.end) for s in out}
        return out + [s for s in self._fuzzy(text, places, words) if (s.start, s.end) not in taken]

    def _exact(self, text: str, places: list[tuple[int, int]], words: list[str]) -> list[Span]:
        out = []
        for i in range(len(words)):
            key, best = "", None
            for j in range(i, len(words)):
                if j > i and places[j][0] - places[j - 1][1] > MAX_GAP:
                    break
                key += words[j]
                if len(key) > self.longest:
                    break
                form = self.forms.get(key)
                if form is not None:
                    best = _span(places[i][0], places[j][1], form.label, form.score)
            if best is not None:
                out.append(best)
        return out

    def _by_initials(self, text: str) -> list[Span]:
        out = []
        for match in regex.finditer(r"(?<![\w.])(?:\p{Lu}\. ?){2,4}(?!\w)", text):
            letters = fold("".join(c for c in match.group() if c.isalpha()))
            if letters in self.initials:
                end = match.start() + len(match.group().rstrip())
                out.append(_span(match.start(), end, self.initials[letters], SHORT))
        return out

    def _fuzzy(self, text: str, places: list[tuple[int, int]], words: list[str]) -> list[Span]:
        """Return windows one edit away from a value of 6 to 9 letters, two edits from a longer one."""
        if not self.fuzzy or not self.targets:
            return []
        from rapidfuzz import process
        from rapidfuzz.distance import OSA

        out = []
        for size, targets in self.targets.items():
            windows: dict[str, list[int]] = {}
            for i in range(len(words) - size + 1):
                joined = " ".join(words[i : i + size])
                if len(joined) >= 5 and joined not in targets and joined[0].isalpha():
                    windows.setdefault(joined, []).append(i)
            if not windows:
                continue
            keys = list(targets)
            distances: Any = process.cdist(list(windows), keys, scorer=OSA.distance, score_cutoff=2, workers=1)
            for row, (window, at) in enumerate(windows.items()):
                column = int(distances[row].argmin())
                target, far = keys[column], int(distances[row, column])
                if far > (1 if len(target) < 10 else 2) or (window[0] != target[0] and far > 1):
                    continue
                label = targets[target]
                out += [_span(places[i][0], places[i + size - 1][1], label, FUZZY) for i in at if places]
        return out


def _span(start: int, end: int, label: str, score: float) -> Span:
    return Span("", start, end, label, score, "known", default_identifier_type(label))
