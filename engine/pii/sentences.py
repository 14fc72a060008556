"""Sentence boundaries, by spaCy's rule-based splitter.

Privacy posture: works in memory on the text it is given and keeps nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc


@lru_cache(maxsize=1)
def _pipeline() -> Language:
    import spacy

    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.max_length = 2_000_000
    return nlp


def sentence_bounds(texts: Sequence[str]) -> list[list[tuple[int, int]]]:
    """Return each text's sentences as half-open code-point ranges without outer white space.

    Line breaks end a sentence too: notes and letters put headings and list items on lines of
    their own, without a full stop.
    """
    return [_bounds(doc) for doc in _pipeline().pipe(texts)]


def _bounds(doc: Doc) -> list[tuple[int, int]]:
    bounds: list[tuple[int, int]] = []
    for sentence in doc.sents:
        start = sentence.start_char
        for line in doc.text[start : sentence.end_char].splitlines(keepends=True):
            left = start + len(line) - len(line.lstrip())
            right = start + len(line.rstrip())
            if right > left:
                bounds.append((left, right))
            start += len(line)
    return bounds
