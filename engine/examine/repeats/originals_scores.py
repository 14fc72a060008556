"""Find released records that are original records, in whatever spelling.

Privacy posture: texts are compared in memory by their folded form; a result holds positions only.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.corpus.text.folding import folded


def originals_among(texts: Sequence[str], originals: Sequence[str]) -> tuple[int, ...]:
    """Return the positions of the texts that equal an original once case, marks and spellings are folded."""
    return originals_of_each(texts, [originals])[0]


def originals_of_each(texts: Sequence[str], parts: Sequence[Sequence[str]]) -> tuple[tuple[int, ...], ...]:
    """Return the same for each of several parts of originals; the texts are folded once."""
    known = [{_form(text) for text in part} for part in parts]
    found: list[list[int]] = [[] for _ in parts]
    for position, text in enumerate(texts):
        form = _form(text)
        for own, among in zip(known, found, strict=True):
            if form in own:
                among.append(position)
    return tuple(map(tuple, found))


def _form(text: str) -> tuple[str, str]:
    """Return what is compared: the folded words, or the marks themselves where a text has no words."""
    words = folded(text)
    return (words, "") if words else ("", "".join(text.split()))
