"""Fold text into the one form in which private values and texts are compared: for blocking, meters and copy checks.

Characters: compatibility forms (NFKD) without combining marks, without case; letters that do not decompose (ł ø đ ı ß
æ) written plainly; Cyrillic, Greek, Armenian and small-capital look-alikes of Latin letters as those; digits of every
script as 0-9; soft hyphens, zero-width and other invisible characters left out; one hyphen, one apostrophe, one blank.
Words: runs of letters (an apostrophe inside joins, a possessive ending goes) and runs of digits; an underscore or a
change between letters and digits ends a word; in scripts written without blanks each character is a word.
Canonical words: a date with day, month and year is `2006-08-31` ("31st of August 2006", "August 31, 2006",
"31/08/2006"); digits with only marks and blanks between them are one number ("(555) 013-4267", "1,570", "36244 / 06").

Not seen: digits for letters ("0" for "o"), capitals that only look alike in capitals (Greek H and N), look-alikes
outside the tables, numbers and dates in words, month names other than English, the order of day and month where both
are possible ("01/02/2006" stays a number), dates without a year, "ue" for "ü". `spellings` adds the last for one value.
Marks between digits are nothing, so "1.5" and "15" are one number here.

Source of the letter classes: Unicode 15, general category and NFKD; look-alikes: a table of our own, of letters whose
common printed shapes coincide (the idea is the skeleton of Unicode Technical Standard 39, section 4).
Privacy posture: nothing is kept but a table of characters.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import accumulate

import regex

_UNSPACED = r"\u0e00-\u0e7f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_LETTERS = rf"[[\p{{L}}\p{{M}}\p{{Nl}}\p{{No}}]--[{_UNSPACED}]]+"
_ATOM = regex.compile(rf"[{_UNSPACED}]|{_LETTERS}(?:'{_LETTERS})*|[0-9]+", regex.V1)
_ATOM_ASCII = re.compile("[a-z]+(?:'[a-z]+)*|[0-9]+")
_POSSESSIVE = re.compile(r"(?<=.)(?:'s)+\Z", re.DOTALL)
_FIGURE = re.compile("[0-9]")
_APOSTROPHES = "'’‘‛ʼʻʽ`´＇′ꞌʹ"
_MARKS = {
    **dict.fromkeys(_APOSTROPHES, "'"),
    **dict.fromkeys("−⁃﹘", "-"),
    **dict.fromkeys("ᅟᅠㅤﾠ⠀", ""),  # blank letters
    **{chr(c): "" for c in (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0), 0x034F, 0x17B4, 0x17B5, 0x180F)},
}
_PLAIN = {
    "ł": "l", "ø": "o", "đ": "d", "ð": "d", "ħ": "h", "ı": "i", "ȷ": "j", "ß": "ss", "æ": "ae", "œ": "oe", "þ": "th",
    "ŧ": "t", "ŋ": "n", "ĸ": "k", "ɨ": "i", "ʉ": "u", "ɖ": "d", "ƀ": "b", "ƈ": "c", "ɗ": "d", "ɓ": "b", "ƙ": "k",
    "ƒ": "f", "ɠ": "g", "ɣ": "g", "ɲ": "n", "ɛ": "e", "ɔ": "o", "ə": "e", "ǝ": "e", "ɵ": "o", "ʋ": "v", "ƴ": "y",
    "ƶ": "z", "ȥ": "z", "ɫ": "l", "ɬ": "l", "ⱡ": "l", "ⱥ": "a", "ⱦ": "t", "ɍ": "r", "ɏ": "y", "ȼ": "c", "ɇ": "e",
    "ɉ": "j", "ꝥ": "th", "ƿ": "w", "ȝ": "g", "ĳ": "ij", "ꜳ": "aa", "ʒ": "z", "ǥ": "g",
}  # fmt: skip
_ALIKE = {  # lower case: what is read as the Latin letter in the common shapes of both cases, or of the small one
    "а": "a", "в": "b", "е": "e", "к": "k", "м": "m", "н": "h", "о": "o", "р": "p", "с": "c", "т": "t", "у": "y",
    "х": "x", "п": "n", "і": "i", "ј": "j", "ѕ": "s", "ԁ": "d", "һ": "h", "ԛ": "q", "ԝ": "w", "ӏ": "l", "ѵ": "v",
    "ү": "y", "ѡ": "w", "ԍ": "g", "ҽ": "e", "ґ": "r", "ԃ": "d", "ө": "o",
    "α": "a", "β": "b", "γ": "y", "ε": "e", "ζ": "z", "η": "n", "ι": "i", "κ": "k", "μ": "m", "ν": "v", "ο": "o",
    "ρ": "p", "τ": "t", "υ": "u", "χ": "x", "ω": "w", "ϲ": "c", "ϳ": "j",
    "ո": "n", "օ": "o", "ս": "u", "հ": "h", "ց": "g", "զ": "q", "լ": "l", "ա": "w",
    "ɑ": "a", "ɡ": "g", "ɩ": "i", "ɪ": "i", "ʀ": "r", "ʏ": "y", "ꜱ": "s", "ᴀ": "a", "ʙ": "b", "ᴄ": "c", "ᴅ": "d",
    "ᴇ": "e", "ꜰ": "f", "ɢ": "g", "ʜ": "h", "ᴊ": "j", "ᴋ": "k", "ʟ": "l", "ᴍ": "m", "ɴ": "n", "ᴏ": "o", "ᴘ": "p",
    "ᴛ": "t", "ᴜ": "u", "ᴠ": "v", "ᴡ": "w", "ᴢ": "z", "ǃ": "i", "ǀ": "l", "ⅼ": "l",
}  # fmt: skip
_MONTHS = ("january february march april may june july august september october november december").split()
_MONTH = {name: i for i, full in enumerate(_MONTHS, 1) for name in {full, full[:3]}} | {"sept": 9}
_ORDINALS = frozenset({"st", "nd", "rd", "th"})
_BETWEEN = frozenset({"of", "the", "day"})
_DIGRAPHS = (("ä", "ae"), ("ö", "oe"), ("ü", "ue"), ("ø", "oe"), ("å", "aa"), ("đ", "dj"))
_YEARS = range(1500, 2200)
_YEAR_FIGURES = 4
_ISO_LENGTH = 5  # atoms a date may take: day, ordinal, "of", month, year


class _Characters(dict[int, str]):
    """The folded form of each character, made at first sight."""

    def __missing__(self, code: int) -> str:
        found = self[code] = _character(chr(code))
        return found


def _character(character: str) -> str:
    """Return what a character folds to, such that folding it again changes nothing."""
    before, now = "", _once(character)
    for _ in range(8):
        if now == before:
            break
        before, now = now, "".join(map(_once, now))
    return now


def _once(character: str) -> str:
    if character in _MARKS:
        return _MARKS[character]
    decimal = unicodedata.decimal(character, None)
    if decimal is not None:
        return str(decimal)
    category = unicodedata.category(character)
    if character.isspace() or category in ("Zs", "Zl", "Zp"):
        return " "
    if category in ("Cf", "Cs") or unicodedata.combining(character):
        return ""
    if category == "Pd":
        return "-"
    bare = "".join(c for c in unicodedata.normalize("NFKD", character) if not unicodedata.combining(c)).casefold()
    return "".join(_PLAIN.get(c, _ALIKE.get(c, c)) for c in bare)


_TABLE = _Characters()


@dataclass(frozen=True, slots=True)
class Atom:
    """A run of letters or of digits: its folded form, its half-open code-point offsets, and where it may be cut.

    joints: (place in `key`, code-point offset) of each letter that begins a capitalised part ("HenrikHasslund") or
    stands behind an apostrophe ("d'Hasslund").
    """

    key: str
    start: int
    end: int
    joints: tuple[tuple[int, int], ...] = ()

    @property
    def digits(self) -> bool:
        """Return whether this is a run of digits."""
        return self.key[0].isdigit() and self.key.isdigit()


@dataclass(frozen=True, slots=True)
class Word:
    """A canonical word: its folded form and its half-open code-point offsets."""

    key: str
    start: int
    end: int


def fold_characters(text: str) -> tuple[str, Sequence[int]]:
    """Return the text folded character by character, and for each of its characters the offset it came from."""
    if text.isascii():
        return text.translate(_TABLE), range(len(text))
    forms = [_TABLE[ord(c)] for c in text]
    return "".join(forms), [i for i, form in enumerate(forms) for _ in form]


def atoms(text: str) -> list[Atom]:
    """Return the runs of letters and of digits of a text, in order."""
    flat, places = fold_characters(text)
    found = []
    for match in _pattern(flat).finditer(flat):
        first, stop = match.span()
        start, end = places[first], max(places[stop - 1] + 1, places[stop] if stop < len(flat) else len(text))
        surface = key = match.group()
        if "'" in surface:
            surface = _POSSESSIVE.sub("", surface)
            key = surface.replace("'", "")
        if key:
            found.append(Atom(key, start, end, _joints(text, surface, first, places)))
    return found


def _pattern(flat: str) -> regex.Pattern[str]:
    return _ATOM_ASCII if flat.isascii() else _ATOM


def _without_apostrophes(surface: str) -> str:
    return _POSSESSIVE.sub("", surface).replace("'", "") if "'" in surface else surface


def _joints(text: str, surface: str, first: int, places: Sequence[int]) -> tuple[tuple[int, int], ...]:
    rest = text[places[first] + 1 : places[first + len(surface) - 1] + 1]
    if "'" not in surface and (rest.islower() or rest.isupper() or not rest):
        return ()
    found, at = [], 0
    for i, character in enumerate(surface):
        if character == "'":
            continue
        if at:
            here, before = places[first + i], places[first + i - 1]
            if surface[i - 1] == "'" or (here != before and text[here].isupper() and text[before].islower()):
                found.append((at, here))
        at += 1
    return tuple(found)


def folded_words(text: str) -> list[Word]:
    """Return a text's canonical words: letters, numbers run together, full dates as ISO."""
    found, again = _canonical(text)
    while again:  # a number run together may be what a date lacked: "August 1, 20 06"
        before = found
        starts = [0, *accumulate(len(word.key) + 1 for word in before)][:-1]
        merged, again = _canonical(" ".join(word.key for word in before))
        found = []
        for word in merged:
            first, last = bisect_right(starts, word.start) - 1, bisect_left(starts, word.end) - 1
            found.append(Word(word.key, before[first].start, before[last].end))
        again = again and len(found) < len(before)
    return found


def _canonical(text: str) -> tuple[list[Word], bool]:
    """Return the canonical words, and whether a number run together is short enough to belong to a date."""
    parts = atoms(text)
    marks = _Marks(text, parts)
    found: list[Word] = []
    at, open_number, short = 0, False, False
    while at < len(parts):
        read = _date_at(parts, marks, at)
        if read is not None:
            size, days = read
            found.append(Word(days[0].isoformat(), parts[at].start, parts[at + size - 1].end))
            at, open_number = at + size, False
            continue
        atom = parts[at]
        if atom.digits and open_number:
            found[-1] = Word(found[-1].key + atom.key, found[-1].start, atom.end)
            short = short or len(found[-1].key) <= _YEAR_FIGURES
        else:
            found.append(Word(atom.key, atom.start, atom.end))
        open_number = atom.digits
        at += 1
    return found, short


def folded(text: str) -> str:
    """Return a text as its canonical words with one blank between them; two texts equal in this form are one text."""
    flat = text.translate(_TABLE)
    if not _FIGURE.search(flat):  # nothing to run together or to read as a date
        found = _pattern(flat).findall(flat)
        return " ".join(found if "'" not in flat else filter(None, map(_without_apostrophes, found)))
    return " ".join(word.key for word in folded_words(text))


def dates(text: str, parts: Sequence[Atom]) -> Iterator[tuple[int, int, tuple[date, ...]]]:
    """Yield (first atom, last atom, readings) of each full date; two readings where day and month may be swapped.

    Two figures for a year are read in both centuries that they may stand for.
    """
    marks = _Marks(text, parts)
    at = 0
    while at < len(parts):
        read = _date_at(parts, marks, at, loose=True)
        if read is None:
            at += 1
            continue
        yield at, at + read[0] - 1, read[1]
        at += read[0]


def spellings(value: str) -> tuple[str, ...]:
    """Return the folded letters and digits of a value run together, and where German or Nordic letters have another
    plain spelling ("Müller": muller, mueller), that too.
    """
    forms = [value]
    composed = unicodedata.normalize("NFC", value)
    wide = composed
    for letter, plain in _DIGRAPHS:
        wide = wide.replace(letter, plain).replace(letter.upper(), plain)
    forms.append(wide)
    keys = ["".join(atom.key for atom in atoms(form)) for form in forms]
    narrow = keys[0]
    for _, plain in _DIGRAPHS[:3]:
        narrow = narrow.replace(plain, plain[0])
    keys.append(narrow if len(narrow) >= 5 else keys[0])
    return tuple(dict.fromkeys(key for key in keys if key))


class _Marks:
    """What stands behind each atom but the last, folded, without blanks; one blank where nothing else is."""

    def __init__(self, text: str, parts: Sequence[Atom]) -> None:
        self._text, self._parts = text, parts

    def __getitem__(self, at: int) -> str:
        between = self._text[self._parts[at].end : self._parts[at + 1].start].translate(_TABLE)
        return "".join(between.split()) or (" " if between else "")


def _date_at(parts: Sequence[Atom], marks: _Marks, at: int, loose: bool = False) -> tuple[int, tuple[date, ...]] | None:
    """Return how many atoms a date at `at` takes and its readings: one, or with `loose` every possible one."""
    first = parts[at]
    if first.digits and len(first.key) in (1, 2, 4):
        return _named(parts, marks, at, loose) or _numbers(parts, marks, at, loose)
    return _month_first(parts, marks, at, loose) if first.key in _MONTH else None


def _named(parts: Sequence[Atom], marks: _Marks, at: int, loose: bool) -> tuple[int, tuple[date, ...]] | None:
    """Read "31st of August 2006"."""
    if len(parts[at].key) > 2:
        return None
    here = at + 1
    while here < len(parts) and here - at < _ISO_LENGTH - 1 and parts[here].key in _ORDINALS | _BETWEEN:
        here += 1
    if here + 1 >= len(parts) or parts[here].key not in _MONTH or not parts[here + 1].digits:
        return None
    if _numbers(parts, marks, here + 1, loose):
        return None  # the year belongs to a date of its own
    days = _days(parts[at].key, _MONTH[parts[here].key], parts[here + 1].key, loose)
    return (here + 2 - at, days) if days else None


def _month_first(parts: Sequence[Atom], marks: _Marks, at: int, loose: bool) -> tuple[int, tuple[date, ...]] | None:
    """Read "August 31st, 2006"."""
    here = at + 1
    while here < len(parts) and here - at < 2 and parts[here].key == "the":
        here += 1
    day = here
    here += 1
    while here < len(parts) and here - day < 2 and parts[here].key in _ORDINALS:
        here += 1
    if here >= len(parts) or not (parts[day].digits and len(parts[day].key) <= 2 and len(parts[here].key) == 4):
        return None
    if not parts[here].digits or _numbers(parts, marks, here, loose):
        return None
    days = _days(parts[day].key, _MONTH[parts[at].key], parts[here].key, loose)
    return (here + 1 - at, days) if days else None


def _numbers(parts: Sequence[Atom], marks: _Marks, at: int, loose: bool) -> tuple[int, tuple[date, ...]] | None:
    """Read "2006-08-31" and "31/08/2006": three numbers with the same mark or blanks between them."""
    if at + 2 >= len(parts) or marks[at] != marks[at + 1] or marks[at] not in ("-", "/", ".", " "):
        return None
    if not (parts[at + 1].digits and parts[at + 2].digits):
        return None
    one, two, three = (part.key for part in parts[at : at + 3])
    if len(one) == 4:
        days = _days(three, int(two), one, loose) if len(two) <= 2 and len(three) <= 2 else ()
    elif len(one) <= 2 and len(two) <= 2 and (len(three) == 4 or (loose and len(three) == 2)):
        both = (*_days(one, int(two), three, loose), *_days(two, int(one), three, loose))
        days = tuple(dict.fromkeys(both))
    else:
        days = ()
    return (3, days) if days and (loose or len(days) == 1) else None


def _days(day: str, month: int, year: str, loose: bool) -> tuple[date, ...]:
    """Return the possible dates; of a year of two figures the one within 1940 to 2039, or with `loose` both."""
    if len(day) > 2 or len(year) not in (2, 4):
        return ()
    number = int(year)
    years = [number] if len(year) == 4 else [1900 + number, 2000 + number]
    if len(year) == 2 and not loose:
        years = [1900 + number if number >= 40 else 2000 + number]
    found = []
    for one in years:
        try:
            found.append(date(one, month, int(day)))
        except ValueError:
            continue
    return tuple(found) if all(one in _YEARS for one in years) else ()
