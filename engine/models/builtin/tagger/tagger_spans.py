"""From word probabilities to spans: a name of several words is decided as one, not word by word.

Each word has a gain for each type, the log odds of its probability against the type's threshold; a span earns
the sum of its words' gains, less `START`, and the division of the text into spans and rest that earns most wins
(Viterbi 1967; a linear-chain decoding as in Lample et al. 2016, with fixed transitions). A weak "of" inside
"District of Kyrenia" is carried by its neighbours; a word that stands alone needs its own threshold.

Source of the constants: set while looking at errors on the development documents, all of them. Set anew on one half
of them, from 0, they find as much on the other half (`set_on_one_half` in `assets/models/tagger/evaluation.json`).

Privacy posture: texts and spans stay in memory; nothing is logged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import regex
from numpy.typing import NDArray

from engine.models.builtin.tagger.tagger import TAGS, TYPES, Pieces

FLOOR = 0.4  # relative score from which a span is suggested
START = 0.15  # what opening a span costs; with it one span beats two beside each other
LIMIT = 3.5  # the largest gain or loss of one word
CAPITALS = 0.7  # joins two capitalised words with a single space between them
LINK = 1.2  # carries a little word between two capitalised ones: District of Kyrenia, Costa do Sauípe
INSIDE = 2.5  # joins the parts of one written word: O'Brien, Jean-Luc
BEGIN = 0.6  # weight of the odds that the network gives to a new beginning
SEPARATORS = frozenset(";|\t¦")
EDGES = frozenset(" \t\n,;:|\"“”‘'")
LINKS = frozenset("of de du des do da dos das di del della la le van von der den zu zur af av upon the".split())
WRITTEN_WORD = regex.compile(r"[\p{L}\p{M}\p{N}]+(?:(?!['’]s\b)['’.\-‐‑][\p{L}\p{M}\p{N}]+)*")
TYPE_OF_TAG = np.array([0, *(1 + i // 2 for i in range(2 * len(TYPES)))])
BEGINS = np.array([tag.startswith("B") for tag in TAGS])
Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Tagged:
    """One found span, code-point offsets; `score` in [0, 1] is 0.5 at the type's tuned threshold."""

    start: int
    end: int
    label: str
    score: float


@dataclass(frozen=True)
class Words:
    """The words of one text: starts (n,), ends (n,), relative scores a type (n, T), odds of a new beginning (n,)."""

    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    scores: Floats
    begins: Floats


def spans_of(text: str, pieces: Pieces, found: Floats, thresholds: Floats) -> list[Tagged]:
    """Return the spans of one text, sorted, without overlap; scores under 0.5 are suggestions.

    Args:
        pieces: the word pieces of `text`. found: tag probabilities (n, len(TAGS)).
        thresholds: probability from which a lone word counts, a type; 1 = the type is never given.
    """
    if not len(pieces.ids):
        return []
    words = words_of(pieces, found, thresholds)
    joins = _joins(text, words)
    accepted = _decode(words, joins, 0.0)
    taken = np.zeros(len(words.starts), dtype=bool)
    for first, last, _ in accepted:
        taken[first:last] = True
    lower = float(np.log((1 - FLOOR) / FLOOR)) + START
    suggested = [row for row in _decode(words, joins, lower) if not taken[row[0] : row[1]].any()]
    out = []
    for rows, low, high in ((accepted, 0.5, 1.0), (suggested, FLOOR, 0.49)):
        for first, last, kind in rows:
            start, end = trimmed(text, int(words.starts[first]), int(words.ends[last - 1]))
            if any(c.isalnum() for c in text[start:end]):
                score = float(np.clip(words.scores[first:last, kind].mean(), low, high))
                out.append(Tagged(start, end, TYPES[kind], score))
    return sorted(out, key=lambda s: s.start)


def words_of(pieces: Pieces, found: Floats, thresholds: Floats) -> Words:
    """Return the words of a text with the mean of their pieces' probabilities, relative to the thresholds."""
    firsts = np.flatnonzero(np.r_[True, np.diff(pieces.words) != 0])
    counts = np.diff(np.r_[firsts, len(pieces.words)])[:, None]
    tags = np.add.reduceat(found, firsts, axis=0) / counts
    lasts = np.r_[firsts[1:], len(pieces.words)] - 1
    types = np.stack([tags[:, i + 1 == TYPE_OF_TAG].sum(1) for i in range(len(TYPES))], axis=1)
    begin, inside = tags[:, BEGINS].sum(1), tags[:, ~BEGINS & (TYPE_OF_TAG > 0)].sum(1)
    odds = np.log((begin + 1e-4) / (inside + 1e-4)).astype(np.float32)
    scores = np.where(thresholds < 1, rescale(types, thresholds), 0).astype(np.float32)
    return Words(pieces.starts[firsts].astype(np.int64), pieces.ends[lasts].astype(np.int64), scores, odds)


def _joins(text: str, words: Words) -> Floats:
    """Return, for each word, what staying in the span of the word before earns; minus infinity forbids it."""
    n = len(words.starts)
    out = np.zeros(n, dtype=np.float32)
    written = np.full(len(text), -1, dtype=np.int64)
    for number, match in enumerate(WRITTEN_WORD.finditer(text)):
        written[match.start() : match.end()] = number
    for i in range(1, n):
        before, here = int(words.ends[i - 1]), int(words.starts[i])
        gap = text[before:here]
        if any(c in SEPARATORS for c in gap) or text[here] in SEPARATORS or text[before - 1] in SEPARATORS:
            out[i] = -np.inf
        elif not gap and written[here] >= 0 and written[here] == written[before - 1]:
            out[i] = INSIDE
        elif gap == " " and text[here].isupper() and _names(text[int(words.starts[i - 1]) : before]):
            out[i] = CAPITALS
        elif gap == " " and text[here : int(words.ends[i])] in LINKS and _capital_after(text, words, i):
            out[i] = LINK
        if out[i] < INSIDE:
            out[i] -= BEGIN * max(0.0, float(words.begins[i]))
    return out


def _names(word: str) -> bool:
    """Return whether a word can stand inside a name before a capital."""
    return word[:1].isupper() or word in LINKS


def _capital_after(text: str, words: Words, i: int) -> bool:
    """Return whether a capital follows the little words from word `i` on."""
    for j in range(i + 1, min(i + 3, len(words.starts))):
        word = text[int(words.starts[j]) : int(words.ends[j])]
        if word not in LINKS:
            return word[0].isupper() and text[int(words.ends[j - 1]) : int(words.starts[j])] == " "
    return False


def _decode(words: Words, joins: Floats, shift: float) -> list[tuple[int, int, int]]:
    """Return the spans (first word, word after the last, type) that earn most; `shift` is added to each gain."""
    score = np.clip(words.scores, 1e-4, 1 - 1e-4)
    gains = np.clip(np.log(score / (1 - score)) + shift, -LIMIT, LIMIT)
    gains = np.where(words.scores > 0, gains, -LIMIT)
    n, kinds = gains.shape
    rest = 0.0  # what the best division earns whose last word is in no span
    inside = np.full(kinds, -np.inf)
    opened = np.zeros((n, kinds), dtype=bool)
    closed = np.zeros(n, dtype=np.int64)  # the type whose span ended before this word, kinds = none
    for i in range(n):
        best = int(inside.argmax()) if i else kinds
        before = rest if best == kinds or rest >= inside[best] else float(inside[best])
        closed[i] = kinds if best == kinds or rest >= inside[best] else best
        stay = inside + joins[i]
        opened[i] = before - START > stay
        inside = np.where(opened[i], before - START, stay) + gains[i]
        rest = before
    out = []
    best = int(inside.argmax())
    state = best if inside[best] > rest else kinds
    end = n
    for i in range(n - 1, -1, -1):
        if state == kinds:
            state, end = int(closed[i]), i
        elif opened[i, state]:
            out.append((i, end, state))
            state, end = int(closed[i]), i
    return out[::-1]


def trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the range without punctuation that cannot belong to a name or a number."""
    while start < end and text[start] in EDGES:
        start += 1
    while end > start and (text[end - 1] in EDGES or (text[end - 1] == "(")):
        end -= 1
    return start, end


def rescale(probability: Floats, thresholds: Sequence[float] | Floats) -> Floats:
    """Map probabilities piecewise linearly so that the threshold becomes 0.5, 0 stays 0 and 1 stays 1."""
    limits = np.asarray(thresholds, dtype=np.float32)
    low = 0.5 * probability / limits
    high = 0.5 + 0.5 * (probability - limits) / np.maximum(1e-6, 1 - limits)
    return np.where(probability < limits, low, high).astype(np.float32)
