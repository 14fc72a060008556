"""The form in which a person's name is compared whole: words by the project's one folding, titles aside.

"Dr. José O'Brien", "O'BRIEN, José" and "Jose O’Brien’s" have one form. Compared whole, so "Mary O'Brien" and
"O'Brien", "M. O'Brien" and a misspelling are others: one person may have several forms, and one form may be of several
people. Nothing here can tell.
"""

from __future__ import annotations

from engine.corpus.text.folding import folded_words
from engine.corpus.text.private_values import TITLES

_DEGREES = frozenset({"md", "phd", "rn"})


def name_form(surface: str) -> str:
    """Return a name's form, empty where it holds titles or single Latin letters alone."""
    last, comma, first = surface.partition(",")
    words = [*_words(first), *_words(last)] if comma else _words(surface)
    tells = any(len(word) > 1 or not word.isascii() for word in words)
    return " ".join(words) if tells else ""


def _words(text: str) -> list[str]:
    return [word.key for word in folded_words(text) if word.key not in TITLES and word.key not in _DEGREES]
