"""Find released records that are original records, in whatever spelling.

Privacy posture: texts are compared in memory by their folded form; a result holds positions only.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.corpus.text.folding import folded


def originals_among(texts: Sequence[str], originals: Sequence[str]) -> tuple[int, ...]:
    """Return the positions of the texts that equal an original once case, marks and spellings are folded."""
    known = {_form(text) for text in originals}
    return tuple(position for position, text in enumerate(texts) if _form(text) in known)


def _form(text: str) -> tuple[str, str]:
    """Return what is compared: the folded words, or the marks themselves where a text has no words."""
    words = folded(text)
    return (words, "") if words else ("", "".join(text.split()))
