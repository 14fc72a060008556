"""Catalogues of translated sentences: `assets/languages/<code>/interface.po`, read once a file and checked.

How to use: `catalogue("de")` is what `tr` looks sentences up in; `available()` names the languages there are.

A translation counts only where it has the same placeholders and the same markup as the English sentence. So it cannot
bring in a link, an image or a tag, nor move an inserted value into one; a sentence that fails this is shown in English.

Source of the format: GNU gettext, "The Format of PO Files"; read by Babel.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from gettext import c2py
from hashlib import sha256
from io import BytesIO
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[3] / "assets" / "languages"
FILE, TEMPLATE = "interface.po", "interface.pot"
ENGLISH = "en"
PLACEHOLDER = re.compile(r"\{([a-z_][a-z0-9_]*)\}")
CODE_SPAN = r"`[^`]*`"
DIRECTIVE = r":[a-z0-9_+/-]+:|:[a-z]+\["  # an icon, an emoji, or coloured and small text
ADDRESS = r"https?:|www\.|\w@\w"
MARKUP = re.compile(rf"{CODE_SPAN}|{DIRECTIVE}|{ADDRESS}|!\[|\]\(|[*_\[\]<>#$~|`\\\n{{}}&]", re.IGNORECASE)


@dataclass(frozen=True)
class Catalogue:
    """The sentences of one language.

    Args:
        code: of the language, such as `de`. name: what it calls itself. single: English sentence -> translation.
        plural: pair of English sentences -> one translation a plural form. form: number -> place of its form.
        refused: English sentences whose translation does not count, and why.
    """

    code: str
    name: str
    single: dict[str, str]
    plural: dict[tuple[str, str], tuple[str, ...]]
    form: Callable[[int], int] = field(compare=False)
    refused: tuple[tuple[str, str], ...] = ()


def problem(source: str, translation: str) -> str:
    """Return what keeps a translation from counting, or an empty string."""
    for found, what in ((PLACEHOLDER, "placeholders"), (MARKUP, "markup")):
        here, there = Counter(found.findall(source)), Counter(found.findall(translation))
        if here != there:
            return f"{what}: must be {sorted(here.elements())}, are {sorted(there.elements())}"
    return ""


def available() -> tuple[str, ...]:
    """Return the codes of the languages that the interface speaks, English first."""
    return (ENGLISH, *sorted(path.parent.name for path in FOLDER.glob(f"*/{FILE}")))


def catalogue(code: str) -> Catalogue | None:
    """Return the catalogue of a language, None for English and where there is none; read anew when its file changes."""
    path = FOLDER / code / FILE
    if code not in available() or code == ENGLISH:
        return None
    content = path.read_bytes()
    return _read(code, sha256(content).hexdigest(), content)


@lru_cache(maxsize=8)
def _read(code: str, digest: str, content: bytes) -> Catalogue:
    """Read a catalogue; `digest` is the file's."""
    from babel import Locale
    from babel.messages.pofile import read_po

    read = read_po(BytesIO(content), locale=code)
    single: dict[str, str] = {}
    plural: dict[tuple[str, str], tuple[str, ...]] = {}
    refused: list[tuple[str, str]] = []
    for message in read:
        source, said = _forms(message.id), _forms(message.string)
        if not source[0] or message.fuzzy or not all(said):
            continue
        why = next(filter(None, (problem(source[-1], one) for one in said)), "")
        if why:
            refused.append((source[0], why))
        elif len(source) > 1:
            plural[(source[0], source[1])] = said
        else:
            single[source[0]] = said[0]
    name = Locale.parse(code).get_display_name(code) or code
    form: Callable[[int], int] = c2py(read.plural_expr)
    return Catalogue(code, name[:1].upper() + name[1:], single, plural, form, tuple(refused))


def _forms(text: str | list[str] | tuple[str, ...] | None) -> tuple[str, ...]:
    """Return a sentence's forms: one, or one a plural form."""
    return (text or "",) if isinstance(text, str | None) else tuple(text)
