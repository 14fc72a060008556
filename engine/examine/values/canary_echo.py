"""Score canaries by what synthetic text echoes of them: whole values, parts, word pairs, the nearest text.

Scores look at texts alone, never at who was planted. All are "higher speaks for in":

- `exact`: whether a whole value of the secret stands in a synthetic text, words in a row.
- `run`: the longest part of the secret in a row, as a share of its words.
- `ngram`: mean log ratio of the secret's word pairs under a bigram model of the synthetic text to one of reference
  text (Meeus et al. 2025, arXiv 2502.14921, score with a 2-gram model of the synthetic text; the reference takes out
  how rare the words are anyway).
- `nearest`: similarity of the whole canary to its nearest synthetic text (same paper): cosine where
  embeddings are given, else the overlap of word sets (Jaccard).
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from engine.corpus.text.words import Vocabulary, WordTable, cut
from engine.examine.repeats.nearest import nearest
from engine.examine.values.canary_making import Canary

_PAIR, _ONE = 0.6, 0.39  # weights of pair and single word; the rest is even over the vocabulary


@dataclass(frozen=True)
class Bigrams:
    """Counts of words and word pairs, and the probability of a word after another, interpolated.

    Source: Jelinek and Mercer 1980 (linear interpolation), weights fixed beforehand.
    """

    ones: Counter[int]
    pairs: Counter[tuple[int, int]]
    total: int
    kinds: int

    def log_probability(self, before: int, word: int) -> float:
        """Return ln P(word | before); > -inf for any word."""
        seen = self.ones[before]
        pair = self.pairs[before, word] / seen if seen else 0.0
        one = self.ones[word] / self.total if self.total else 0.0
        return math.log(_PAIR * pair + _ONE * one + (1.0 - _PAIR - _ONE) / max(1, self.kinds))


def bigrams(table: WordTable, kinds: int, wanted: set[int]) -> Bigrams:
    """Return the counts that the wanted words need: pairs are kept only where both are wanted."""
    ids = table.ids.tolist()
    ones = Counter(word for word in ids if word in wanted)
    text = np.repeat(np.arange(table.size), table.counts).tolist()
    pairs = Counter(
        (a, b)
        for a, b, s, t in zip(ids, ids[1:], text, text[1:], strict=False)
        if s == t and a in wanted and b in wanted
    )
    return Bigrams(ones, pairs, len(ids), kinds)


def score_canaries(
    canaries: Sequence[Canary],
    synthetic: Sequence[str],
    reference: Sequence[str],
    vectors: tuple[NDArray[np.float32], NDArray[np.float32]] | None = None,
) -> pd.DataFrame:
    """Return one row a canary: number, exact (bool), run, ngram, nearest, ranks (mean rank of the last three).

    Args:
        canaries: planted or not. synthetic: what a run made. reference: real records without canaries.
        vectors: unit rows of the canaries and of the synthetic texts, or None.
    """
    vocabulary = Vocabulary()
    whole = cut([c.text for c in canaries], vocabulary)
    made, real = cut(list(synthetic), vocabulary), cut(list(reference), vocabulary)
    secrets = [words_between(whole, i, c.start, c.end) for i, c in enumerate(canaries)]
    contexts = [_before(whole, i, c.start) for i, c in enumerate(canaries)]
    wanted = {word for secret in secrets for word in secret} | {word for word in contexts if word is not None}
    ours, theirs = bigrams(made, len(vocabulary), wanted), bigrams(real, len(vocabulary), wanted)
    echoes = Echoes(made, {word for secret in secrets for word in secret})
    run, exact, ngram = [], [], []
    for i, (canary, secret) in enumerate(zip(canaries, secrets, strict=True)):
        run.append(echoes.longest(secret) / max(1, len(secret)))
        pieces = [words_between(whole, i, s, e) for s, e in canary.pieces]
        exact.append(any(echoes.longest(piece) == len(piece) for piece in pieces if piece))
        ngram.append(_ratio(secret, contexts[i], ours, theirs))
    table = pd.DataFrame({"canary": [c.number for c in canaries], "exact": exact, "run": run, "ngram": ngram})
    table["nearest"] = overlaps(whole, made, len(vocabulary)) if vectors is None else _cosines(*vectors)
    table["ranks"] = table[["run", "ngram", "nearest"]].rank().mean(axis=1)
    return table


def words_between(table: WordTable, row: int, start: int, end: int) -> list[int]:
    """Return the words of one text that lie within [start, end)."""
    low, high = table.offsets[row], table.offsets[row + 1]
    keep = (table.starts[low:high] >= start) & (table.ends[low:high] <= end)
    found: list[int] = table.ids[low:high][keep].tolist()
    return found


def _before(table: WordTable, row: int, start: int) -> int | None:
    """Return the last word before the secret, if there is one."""
    low, high = table.offsets[row], table.offsets[row + 1]
    ids = table.ids[low:high][table.ends[low:high] <= start]
    return int(ids[-1]) if len(ids) else None


def _ratio(secret: list[int], context: int | None, ours: Bigrams, theirs: Bigrams) -> float:
    pairs = list(zip([context if context is not None else -1, *secret], secret, strict=False))
    gains = [ours.log_probability(a, b) - theirs.log_probability(a, b) for a, b in pairs]
    return float(np.mean(gains)) if gains else 0.0


class Echoes:
    """Where words that are looked for stand in a set of texts; a run never goes from one text into the next."""

    def __init__(self, table: WordTable, wanted: set[int]) -> None:
        ends = np.full(table.size, -1, np.int64)
        self._flat: list[int] = np.insert(table.ids.astype(np.int64), table.offsets[1:], ends).tolist()
        self._places: dict[int, list[int]] = defaultdict(list)
        for place, word in enumerate(self._flat):
            if word in wanted:
                self._places[word].append(place)

    def longest(self, words: Sequence[int]) -> int:
        """Return how many of these words stand in a row in one text at most."""
        best, flat = 0, self._flat
        for first, word in enumerate(words):
            if len(words) - first <= best:
                break
            for place in self._places.get(word, ()):
                length = 1
                while first + length < len(words) and flat[place + length] == words[first + length]:
                    length += 1
                best = max(best, length)
        return best


def overlaps(ours: WordTable, made: WordTable, kinds: int) -> NDArray[np.float64]:
    """Return each of our texts' highest Jaccard overlap of word sets with a made text, in [0, 1]."""
    from scipy.sparse import csr_matrix

    def sets(table: WordTable) -> csr_matrix:
        matrix = csr_matrix(
            (np.ones(len(table.ids), np.float32), table.ids, table.offsets), shape=(table.size, max(1, kinds))
        )
        matrix.sum_duplicates()
        matrix.data[:] = 1.0
        return matrix

    if not made.size:
        return np.zeros(ours.size)
    first, second = sets(ours), sets(made)
    both = np.asarray((first @ second.T).todense())
    either = np.asarray(first.sum(1)) + np.asarray(second.sum(1)).T - both
    return np.max(both / np.maximum(either, 1.0), axis=1).astype(np.float64)


def _cosines(ours: NDArray[np.float32], made: NDArray[np.float32]) -> NDArray[np.float64]:
    if not len(made):
        return np.zeros(len(ours))
    return nearest(ours, made)[0].astype(np.float64)
