"""Names that can be told apart on a screen: one script a name, nothing invisible, and no two that look alike.

What people decide, read and sign stands under their names, so a second "Alice" written with a Cyrillic a would be two
people in the log and one to the eye. The rule is that of a registrar: the form NFKC; no character that leaves no mark;
the letters of one script (Han with Japanese or Korean ones counts as one); and no name whose outline is that of
another person's. The outline takes each letter for the Latin one that it looks like.

Source: Unicode Technical Standard 39, sections 4 (confusable detection) and 5.2 (restriction level: single script);
the table holds the letters of names in the scripts that share shapes with Latin, not the standard's whole list.
"""

from __future__ import annotations

import unicodedata

from engine.errors import UserError

PROGRAM = ("worker", "the program")  # what the process that does the jobs is called in the log, and on pages
_ALIKE = {
    # Cyrillic
    "а": "a", "в": "b", "с": "c", "ԁ": "d", "е": "e", "һ": "h", "н": "h", "і": "i", "ї": "i", "ј": "j", "к": "k",
    "ӏ": "l", "м": "m", "о": "o", "р": "p", "ԛ": "q", "г": "r", "ѕ": "s", "т": "t", "у": "y", "ү": "y", "ѵ": "v",
    "ѡ": "w", "ԝ": "w", "х": "x", "ь": "b", "З": "3", "з": "3",
    "А": "A", "В": "B", "С": "C", "Е": "E", "Н": "H", "І": "l", "Ј": "J", "К": "K", "М": "M", "О": "O", "Р": "P",
    "Ѕ": "S", "Т": "T", "У": "Y", "Ү": "Y", "Х": "X", "Ѵ": "V", "Ԝ": "W", "Ӏ": "l",
    # Greek
    "α": "a", "γ": "y", "ε": "e", "η": "n", "ι": "i", "κ": "k", "ν": "v", "ο": "o", "ρ": "p", "σ": "o", "τ": "t",
    "υ": "u", "χ": "x", "ω": "w", "Α": "A", "Β": "B", "Ε": "E", "Ζ": "Z", "Η": "H", "Ι": "l", "Κ": "K", "Μ": "M",
    "Ν": "N", "Ο": "O", "Ρ": "P", "Τ": "T", "Υ": "Y", "Χ": "X",
    # Armenian
    "օ": "o", "ս": "u", "հ": "h", "ո": "n", "ց": "g", "զ": "q", "յ": "j", "Օ": "O", "Ս": "U", "Տ": "S", "Լ": "L",
    # Latin and figures
    "I": "l", "1": "l", "|": "l", "ı": "i", "ǀ": "l", "0": "o", "ɑ": "a", "ɡ": "g", "ꞵ": "b", "ʋ": "v", "ɩ": "i",
    "ᴏ": "o", "ѳ": "o", "Θ": "O", "ø": "o", "Ø": "O", "đ": "d", "ł": "l",
}  # fmt: skip
_PAIRS = (("rn", "m"), ("vv", "w"))
_INVISIBLE = frozenset("\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\u034f")  # printable, says Unicode, and nothing shows
_TOGETHER = ({"CJK", "HIRAGANA", "KATAKANA"}, {"CJK", "HANGUL"}, {"CJK", "BOPOMOFO"})


def check_readable(name: str) -> None:
    """Refuse a name that could be read as another one.

    Raises:
        UserError: it holds a character that leaves no mark, or letters of more than one script.
    """
    if any(unicodedata.category(c)[0] == "C" or c in _INVISIBLE for c in name):
        raise UserError("name: it holds a character that cannot be seen; type it anew")
    found = scripts(name)
    if len(found) > 1 and not any(found <= together for together in _TOGETHER):
        raise UserError(
            f"name: its letters are of {len(found)} scripts ({', '.join(sorted(one.capitalize() for one in found))}); "
            "some look alike, so write it in one"
        )


def check_person(name: str) -> None:
    """Refuse a name under which the log says what the program did by itself.

    Raises:
        UserError: it is one of them, or looks like it.
    """
    if any(one_person(name, own) for own in PROGRAM):
        raise UserError(f"name: the log calls the program so, not a person ({', '.join(PROGRAM)}); add a family name")


def scripts(name: str) -> set[str]:
    """Return the scripts of a name's letters, in capitals."""
    named = (unicodedata.name(c, "UNKNOWN") for c in unicodedata.normalize("NFKC", name) if c.isalpha())
    return {one.split(" ")[0].split("-")[0] for one in named}


def outlines(name: str) -> frozenset[str]:
    """Return what a name looks like, as it is written and in small letters; two that share one look alike."""
    flat = unicodedata.normalize("NFKC", name)
    return frozenset((_outline(flat), _outline(flat.casefold())))


def one_person(name: str, other: str) -> bool:
    """Return whether two names may be one person's: by what is to be done by somebody else, they count as one."""
    return bool(outlines(name) & outlines(other))


def _outline(name: str) -> str:
    bare = "".join(c for c in unicodedata.normalize("NFD", name) if unicodedata.category(c) != "Mn")
    shown = "".join(_ALIKE.get(c, c) for c in bare if c.isalnum() or c == "|")
    for written, seen in _PAIRS:
        shown = shown.replace(written, seen)
    return shown.casefold()
