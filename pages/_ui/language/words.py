"""Sentences and numbers in the language of this session.

A value is inserted by name into the sentence that was looked up, once, and is never read as a sentence itself:
braces in it stay as they are, and no translation reaches an attribute of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TypeVar

import streamlit as st

from pages._ui.language.catalogue import ENGLISH, PLACEHOLDER, Catalogue

Option = TypeVar("Option")
ACTIVE = "_ui.language"  # of what is drawn now; None is English


def active() -> Catalogue | None:
    """Return the catalogue of what is drawn now, None for English."""
    found: Catalogue | None = st.session_state.get(ACTIVE)
    return found


def mark(text: str) -> str:
    """Return the sentence unchanged; it is noted for the catalogue, and said later through `tr`."""
    return text


def tr(text: str, /, **values: object) -> str:
    """Return a sentence in the language of this session, its `{names}` replaced by the values.

    Args:
        text: the English sentence. values: by the names in it; text from outside escaped.
    """
    found = active()
    return _fill(text if found is None else found.single.get(text, text), values)


def translator(names: Mapping[Option, str] | None = None) -> Callable[[Option], str]:
    """Return a function that says options in the language spoken now, for a widget that calls it whenever it likes.

    Args:
        names: option -> its English words, all of which are marked; without it an option is its own words.
    """
    found = active()
    known = {} if found is None else found.single

    def say(option: Option) -> str:
        text = str(option) if names is None else names[option]
        return known.get(text, text)

    return say


def trn(one: str, many: str, n: int, /, **values: object) -> str:
    """Return the form of a sentence that fits a number, which stands for `{n}` in it.

    Args:
        one: the English sentence for one. many: for every other number. n: the number. values: as for `tr`.
    """
    found = active()
    forms = None if found is None else found.plural.get((one, many))
    said = (one if n == 1 else many) if found is None or forms is None else forms[min(found.form(n), len(forms) - 1)]
    return _fill(said, {"n": localised(f"{n:,}"), **values})


def _fill(text: str, values: dict[str, object]) -> str:
    if not values:
        return text
    return PLACEHOLDER.sub(lambda found: str(values.get(found[1], found[0])), text)


def localised(written: str) -> str:
    """Return a number as English writes it, such as "1,234.5" or "20%", with this language's separators and per cent.

    The digits are the same in each language, whatever its own rule of rounding.
    """
    found = active()
    if found is None:
        return written
    from babel import Locale
    from babel.numbers import get_decimal_symbol, get_group_symbol

    swap = {",": get_group_symbol(found.code), ".": get_decimal_symbol(found.code)}
    said = "".join(swap.get(sign, sign) for sign in written)
    percent = str(Locale.parse(found.code).percent_formats[None].pattern)
    return said.replace("%", percent.lstrip("#,0.")) if said.endswith("%") else said


def moment(at: datetime) -> str:
    """Return a local date and time of day."""
    found = active()
    if found is None:
        return at.strftime("%-d %b %Y, %H:%M")
    from babel.dates import format_skeleton

    return ", ".join(str(format_skeleton(part, at, locale=found.code)) for part in ("yMMMd", "Hm"))


def date_pattern() -> str:
    """Return how a day is typed, in the letters of Streamlit's date field."""
    found = active()
    if found is None:
        return "YYYY/MM/DD"
    from babel.dates import get_date_format

    order = "".join(dict.fromkeys(letter for letter in get_date_format("short", found.code).pattern if letter in "dMy"))
    sign = "." if "." in get_date_format("short", found.code).pattern else "/"
    return sign.join({"d": "DD", "M": "MM", "y": "YYYY"}[letter] for letter in order)


def language_name(code: str, name: str) -> str:
    """Return what a language is called; `name` in English, and where this language has no word for it."""
    found = active()
    if found is None:
        return name
    from babel import Locale

    return str(Locale.parse(found.code).languages.get(code, name))


def lowered(text: str) -> str:
    """Return a phrase as it stands inside a sentence: English begins it small, others write it as it is."""
    return text.lower() if active() is None else text


def sentence(text: str) -> str:
    """Return a phrase as it stands at the beginning: its first letter large, the others as they are."""
    return text[:1].upper() + text[1:]


def code() -> str:
    """Return the code of the language that is drawn now."""
    found = active()
    return ENGLISH if found is None else found.code
