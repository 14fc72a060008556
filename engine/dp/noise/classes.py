"""Classes of texts by label and by length: a function of one text and of public edges alone."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence


def class_of(label: str | None, words: int, edges: Sequence[int]) -> str:
    """Return the name of the class of a text.

    Args:
        label: its label, None where labels make no classes. words: its length. edges: ascending lengths in words; a
            text of exactly an edge's length belongs to the class above it.
    """
    return f"{label or ''}\x1f{bisect_right(edges, words)}"
