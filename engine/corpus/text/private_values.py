"""Find private values in text: as written, re-formatted, joined, cut short, or a keystroke or two away.

A text is compared as a row of parts (`Part`): runs of letters or digits, cut at apostrophes and at capitals inside
a word. A value is found where

* `whole`: consecutive parts, run together, are the value run together, whatever stands between them; a value of fewer
  than five letters and digits must also be cut in the same places. Dates are compared as dates, day and month in both
  orders where both are possible. A number of nine digits or more also counts by its last eight (country codes);
* `partial`: a distinctive word (five letters or more, no everyday word) carries an ending of up to two letters; one of
  seven or more begins or ends a longer word; the first letters of a distinctive value of six or more stand alone, at
  most three short, or the last ones, at most two short; a code of seven or more stands inside a longer number;
* `near`: a distinctive word of six to eight letters is one edit away, a longer one two; a code (five or more letters
  and digits, four of them digits) of five or six characters one edit, a longer one two, its length changed by one at
  most. Everyday words are never near. Of more than 20,000 words and codes, only one edit is surely found.

A value given as a `name` is an everyday or very short word that is also somebody's name ("Young", "Ng"): it counts
behind a form of address or an initial, and, months and days aside, with a capital inside a sentence or right before
a mark or the end of a line.

Not seen: what `engine.corpus.text.folding` does not see, paraphrase, translation, initials alone, other shortened
forms, an everyday name that a sentence begins with and goes on behind, everyday words cut short or misspelt.

Source: deletion neighbourhoods, Mor and Fraenkel 1982; edits are those of optimal string alignment (Damerau 1964).
Privacy posture: values live in the object only; what is found says where and which number, never the value.
"""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Literal

from rapidfuzz.distance import OSA

from engine.corpus.text.folding import Atom, atoms, dates, spellings

How = Literal["whole", "partial", "near"]
TITLES = frozenset("dr judge justice lady lord madam miss mr mrs ms mx nurse prof professor sir".split())
_CALENDAR = frozenset(
    """january february march april may june july august september october november december monday tuesday wednesday
    thursday friday saturday sunday""".split()
)
_SHORT = 5  # characters from which a value is found whatever stands between its parts
_GAP = 6  # characters between two parts of one value at most
_ENDED, _GLUED, _NEAR_WORD, _FAR_WORD = 5, 7, 6, 9
_CODE, _CODE_DIGITS, _LONG_CODE, _PHONE, _PHONE_TAIL = 5, 4, 7, 9, 8
_CODE_LETTERS = 6
_LONGEST = 64  # characters of a value that is also looked for in other ways of writing: they grow with its square
_MANY = 20_000  # distinctive words and codes from which only one edit is surely found: two would take gigabytes
_SENTENCE_ENDS = ".!?:;\n\r"
_ALONE = ("", *".,:;!?\n\r)'’")  # what follows a name that a sentence or a line begins with


@dataclass(frozen=True, slots=True)
class Part:
    """One run of letters or digits: its folded form, half-open code-point offsets, and how it is written."""

    key: str
    start: int
    end: int
    digits: bool


@dataclass(frozen=True, slots=True)
class Found:
    """A value in a text: its number, half-open code-point offsets, and how it was found."""

    value: int
    start: int
    end: int
    how: How


def parts_of(text: str, base: int = 0) -> list[Part]:
    """Return the parts of a text; `base` is added to the offsets."""
    return [part for atom in atoms(text) for part in _cut(atom, base)]


def _cut(atom: Atom, base: int) -> Iterator[Part]:
    places = [(0, atom.start), *atom.joints, (len(atom.key), atom.end)]
    for (low, start), (high, end) in pairwise(places):
        yield Part(atom.key[low:high], start + base, end + base, atom.digits)


class PrivateValues:
    """Finds values in texts; built once, used for many texts.

    Args:
        values: what counts wherever it stands, by number.
        names: what counts only where it stands as a name; numbers go on from those of `values`.
        everyday: folded everyday words: never distinctive, never near.
    """

    def __init__(
        self, values: Sequence[str], names: Sequence[str] = (), everyday: Container[str] = frozenset()
    ) -> None:
        self._everyday = everyday
        self._whole: dict[str, list[tuple[int, frozenset[tuple[str, ...]] | None]]] = defaultdict(list)
        self._dates: dict[dt.date, list[int]] = defaultdict(list)
        self._names: dict[str, list[int]] = defaultdict(list)
        self._words: dict[str, list[int]] = defaultdict(list)  # distinctive single words
        self._cut_short: dict[str, list[int]] = defaultdict(list)
        self._codes: dict[str, list[int]] = defaultdict(list)
        self._varied: list[tuple[str, int]] = []
        self._code_tails: dict[str, list[int]] = defaultdict(list)
        self._known_words: dict[str, tuple[tuple[int, How], ...]] = {}
        self._known_codes: dict[str, tuple[tuple[int, How], ...]] = {}
        self._endings: set[str] = set()
        self.count = len(values) + len(names)
        for number, value in enumerate(values):
            self._add(number, value)
        for number, name in enumerate(names, start=len(values)):
            for key in spellings(name):
                self._names[key].append(number)
        most = 1 if len(self._varied) > _MANY else 2
        self._around: dict[str, set[str]] = defaultdict(set)  # deletion variants of words and codes
        for key, edits in dict.fromkeys(self._varied):
            for variant in _deletions(key, min(edits, most)):
                self._around[variant].add(key)
        self._code_sizes = frozenset(map(len, self._codes))
        self._near_sizes = frozenset(size + more for size in self._code_sizes for more in (-1, 0, 1))
        self._longest_code = max(self._code_sizes, default=0)
        self._most_letters = max((sum(c.isalpha() for c in code) for code in self._codes), default=0) + 1

    def __bool__(self) -> bool:
        return bool(self._whole or self._dates or self._names)

    def _add(self, number: int, value: str) -> None:
        runs = atoms(value)
        if not runs:
            return
        keys = spellings(value)
        split = tuple(part.key for run in runs for part in _cut(run, 0))
        for key in keys:
            if len(key) <= _LONGEST:
                self._endings.update(key[at:] for at in range(len(key)))
            else:
                self._endings.update((key, *_ends(split)))
            self._whole[key].append((number, _splits(key, split) if len(key) < _SHORT else None))
        read = [(last - first + 1, days) for first, last, days in dates(value, runs)]
        if len(read) == 1 and read[0][0] == len(runs):
            for day in read[0][1]:
                self._dates[day].append(number)
            return
        digits = sum(c.isdigit() for c in keys[0])
        if len(keys[0]) > _LONGEST:
            return
        if digits >= _CODE_DIGITS and len(keys[0]) >= _CODE and len(keys[0]) - digits <= _CODE_LETTERS:
            self._codes[keys[0]].append(number)
            self._vary(keys[0], _edits(len(keys[0]), _LONG_CODE))
            if digits == len(keys[0]) >= _PHONE:
                self._code_tails[keys[0][-_PHONE_TAIL:]].append(number)
        elif not digits and len(runs) == 1:
            for key in keys:
                self._add_word(number, key)

    def _add_word(self, number: int, key: str) -> None:
        if len(key) < _ENDED or key in self._everyday:
            return
        self._words[key].append(number)
        if len(key) < _NEAR_WORD:
            return
        for size in range(max(4, len(key) - 3), len(key)):
            self._cut_short[key[:size]].append(number)
        for size in range(max(_ENDED, len(key) - 2), len(key)):
            self._cut_short[key[-size:]].append(number)
        self._vary(key, _edits(len(key), _FAR_WORD))

    def _vary(self, key: str, edits: int) -> None:
        self._varied.append((key, edits))

    def find(self, text: str) -> list[Found]:
        """Return where values stand in a text, one a place and value, in order of their ends."""
        if not self:
            return []
        parts = parts_of(text)
        found = [hit for at in range(len(parts)) for hit in self.ending_at(text, parts, at)]
        return found + self.dated(text)

    def contains(self, text: str) -> bool:
        """Return whether any value stands in a text."""
        if not self:
            return False
        parts = parts_of(text)
        return any(True for at in range(len(parts)) for _ in self.ending_at(text, parts, at)) or bool(self.dated(text))

    def ending_at(self, text: str, parts: Sequence[Part], at: int) -> Iterator[Found]:
        """Yield the values, dates aside, that end with part `at` of a text's parts."""
        part = parts[at]
        if not part.digits:
            for number, how in self._word(part.key):
                yield Found(number, part.start, part.end, how)
            if part.key in self._names and _as_name(text, parts, at):
                yield from (Found(number, part.start, part.end, "whole") for number in self._names[part.key])
        key, letters, figures = "", 0, 0
        for first in range(at, -1, -1):
            here = parts[first]
            if first < at and parts[first + 1].start - here.end > _GAP:
                return
            key = here.key + key
            letters, figures = letters + (not here.digits) * len(here.key), figures + here.digits * len(here.key)
            code = figures and letters <= self._most_letters and len(key) <= self._longest_code + _PHONE
            if not code and key not in self._endings and not (key[-1:] == "s" and key[:-1] in self._endings):
                return
            for number, splits in self._whole.get(key, ()):
                if splits is None or tuple(p.key for p in parts[first : at + 1]) in splits:
                    yield Found(number, here.start, part.end, "whole")
            if not part.digits and key[-1:] == "s" and len(key) > _SHORT and key[:-1] not in self._words:
                for number, _ in self._whole.get(key[:-1], ()):
                    yield Found(number, here.start, part.end, "partial")
            if code:
                for number, how in self._code(key):
                    yield Found(number, here.start, part.end, how)

    @property
    def has_dates(self) -> bool:
        """Return whether a value is a date."""
        return bool(self._dates)

    def dated(self, text: str) -> list[Found]:
        """Return where the dates among the values stand in a text."""
        if not self._dates:
            return []
        runs = atoms(text)
        return [
            Found(number, runs[first].start, runs[last].end, "whole")
            for first, last, days in dates(text, runs)
            for number in dict.fromkeys(n for day in days for n in self._dates.get(day, ()))
        ]

    def _word(self, key: str) -> tuple[tuple[int, How], ...]:
        """Return the values that a word of letters gives away though it is not one of them."""
        known = self._known_words.get(key)
        if known is None:
            known = self._known_words[key] = tuple(dict.fromkeys(self._given_away(key)))
        return known

    def _given_away(self, key: str) -> Iterator[tuple[int, How]]:
        if len(key) < 4 or key in self._words or key in self._everyday:
            return
        for ending in (1, 2):
            if len(key) - ending >= _ENDED:
                yield from ((number, "partial") for number in self._words.get(key[:-ending], ()))
        for size in range(_GLUED, min(len(key), _LONGEST + 1)):
            for piece in (key[:size], key[-size:]):
                yield from ((number, "partial") for number in self._words.get(piece, ()))
        yield from ((number, "partial") for number in self._cut_short.get(key, ()))
        if _NEAR_WORD - 1 <= len(key) <= _LONGEST + 2:
            for other in self._neighbours(key, _edits(len(key) + 1, _FAR_WORD)):
                if other in self._words and OSA.distance(key, other) <= _edits(len(other), _FAR_WORD):
                    yield from ((number, "near") for number in self._words[other])

    def _code(self, key: str) -> tuple[tuple[int, How], ...]:
        """Return the codes that parts run together are near to or hold."""
        known = self._known_codes.get(key)
        if known is None:
            known = self._known_codes[key] = tuple(dict.fromkeys(self._coded(key)))
        return known

    def _coded(self, key: str) -> Iterator[tuple[int, How]]:
        if len(key) < _CODE or sum(c.isdigit() for c in key) < _CODE_DIGITS - 1:
            return
        for size in self._code_sizes:
            if _LONG_CODE <= size < len(key):
                for at in range(len(key) - size + 1):
                    yield from ((number, "partial") for number in self._codes.get(key[at : at + size], ()))
        if len(key) >= _PHONE_TAIL:
            yield from ((number, "whole") for number in self._code_tails.get(key[-_PHONE_TAIL:], ()))
        if len(key) not in self._near_sizes:
            return
        for other in self._neighbours(key, _edits(len(key) + 1, _LONG_CODE)):
            if other in self._codes and 0 < OSA.distance(key, other) <= _edits(len(other), _LONG_CODE):
                yield from ((number, "near") for number in self._codes[other])

    def _neighbours(self, key: str, edits: int) -> set[str]:
        return {other for variant in _deletions(key, edits) for other in self._around.get(variant, ())}


def _ends(split: Sequence[str]) -> Iterator[str]:
    """Yield the ends of a long value that begin where one of its parts does."""
    end = ""
    for part in reversed(split):
        end = part + end
        yield end


def _edits(size: int, far: int) -> int:
    return 2 if size >= far else 1


def _splits(key: str, split: tuple[str, ...]) -> frozenset[tuple[str, ...]]:
    """Return how a short value may be cut: as it is, and a number with or without its mark of thousands."""
    if key.isdigit() and (len(split) == 1 or (len(key) == 4 and len(split[0]) == 1 and len(split) == 2)):
        return frozenset({split, (key,), (key[:1], key[1:])} if len(key) == 4 else {split})
    return frozenset({split})


def _deletions(key: str, most: int) -> Iterator[str]:
    for count in range(most + 1):
        for gone in combinations(range(len(key)), count):
            yield "".join(c for i, c in enumerate(key) if i not in gone)


def _as_name(text: str, parts: Sequence[Part], at: int) -> bool:
    """Return whether an everyday word stands as a name: behind a title or initial, or capitalised inside a sentence."""
    part = parts[at]
    before = parts[at - 1] if at else None
    if before is not None and part.start - before.end <= 2 and "\n" not in text[before.end : part.start]:
        initial = len(before.key) == 1 and text[before.start].isupper() and text[part.start].isupper()
        if before.key in TITLES or (initial and before.key not in ("a", "i")):
            return True
    surface = text[part.start : part.end]
    if not surface[:1].isupper() or (len(surface) > 1 and surface.isupper()) or part.key in _CALENDAR:
        return False
    if text[part.end : part.end + 1] in _ALONE:
        return True
    lead = text[: part.start].rstrip(" \t\u00a0\"'“”‘’([*_-")
    return bool(lead) and lead[-1] not in _SENTENCE_ENDS


def distinct(values: Iterable[str]) -> tuple[str, ...]:
    """Return the values that hold a letter or a digit, each once, in order."""
    return tuple(dict.fromkeys(value for value in values if atoms(value)))
