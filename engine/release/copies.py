"""Find released texts that share too long a run of words with a private source.

Words and runs are those that examinations count (`engine.corpus.text`), so that a release and a finding agree.

Privacy posture: words are numbered in memory for one check; a result holds positions of released texts, never words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine.corpus.text.runs import copies_anything, index_windows
from engine.corpus.text.words import Vocabulary, cut


@dataclass(frozen=True)
class CopyCheck:
    """Which released texts share more than `longest_allowed` consecutive words with a source text.

    `texts` are positions in the released sequence; `compared` counts source texts.
    """

    longest_allowed: int
    texts: tuple[int, ...]
    compared: int

    @property
    def passed(self) -> bool:
        """Whether no text shares a longer run."""
        return not self.texts


def check_copies(released: Sequence[str], sources: Sequence[str], longest_allowed: int) -> CopyCheck:
    """Return the released texts with a run of more than `longest_allowed` words of one source text.

    Args:
        longest_allowed: k >= 0; a shared run of k words passes, one of k + 1 does not.
    """
    vocabulary = Vocabulary()
    known = index_windows(cut(sources, vocabulary), longest_allowed + 1)
    copied = copies_anything(cut(released, vocabulary), known)
    return CopyCheck(longest_allowed, tuple(np.flatnonzero(copied).tolist()), len(sources))
