"""Membership by an n-gram model: are a record's phrases likely under the synthetic text, and not under public text?

Source: Meeus et al. 2025 (The Canary's Echo: Auditing privacy risks of LLM-generated synthetic text, arXiv 2502.14921),
section 3: an attacker who sees only the synthetic text fits an n-gram model to it and takes a record's likelihood as
the sign of membership. Here: word triples with interpolated Kneser-Ney smoothing (`engine.models.builtin.ngram_model`),
and a reference's log-likelihood taken away, since what any text makes likely is no sign. The reference is one half a
model of public text, one half the synthetic text's single words: public text does not know a field's stock phrases,
whose words are frequent there. (That half was added after looking at real notes with planted copies: at 1% false
alarms it finds all records copied whole instead of half of them.) A second score is the highest mean over ten words
in a row: one copied phrase in a long record is enough for it.

Privacy posture: the models hold word numbers of released and public text only; scores are private.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.corpus.text.runs import Report, quiet
from engine.corpus.text.words import WordTable
from engine.models.builtin.ngram_model import KneserNey

WINDOW = 10
BATCH = 2000  # records scored at once
FLOOR = 1e-3  # share of a uniform distribution in every probability, so that none is zero
WORDS = 0.5  # share of single-word frequencies in the reference
MOST_WORDS = 65_000  # the commonest words of both texts; the model's numbers end at 65,535
_START, _UNKNOWN, _FIRST = 1, 2, 3

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class NgramScores:
    """Scores of n records, higher = more member-like; float arrays (n,).

    Args:
        mean: mean over the words of log p(word | synthetic text) - log p(word | reference), natural logarithm.
        window: the highest such mean over ten words in a row, the whole record where it is shorter.
    """

    mean: Numbers
    window: Numbers


@dataclass(frozen=True)
class NgramRatio:
    """A model of the synthetic text and one of public text, over one numbering of words.

    Args:
        numbers: uint64, the models' number of each word of the vocabulary; later words are unknown.
        frequency: float (size,), how frequent each of the models' words is in the synthetic text; adds up to 1.
    """

    numbers: NDArray[np.uint64]
    synthetic: KneserNey
    public: KneserNey
    frequency: Numbers

    def documents(self, words: WordTable, rows: NDArray[np.int64]) -> list[NDArray[np.uint64]]:
        """Return the texts in the models' numbering."""
        return [_numbered(self.numbers, words.of(int(row))) for row in rows]

    def ratios(self, words: WordTable, rows: NDArray[np.int64]) -> Numbers:
        """Return each word's log-likelihood ratio, one text after the other."""
        documents = self.documents(words, rows)
        if not sum(map(len, documents)):
            return np.empty(0)
        ours, public = (_with_floor(model, documents) for model in (self.synthetic, self.public))
        reference = (1 - WORDS) * public + WORDS * self.frequency[np.concatenate(documents).astype(np.int64)]
        return np.asarray(np.log(ours) - np.log(reference), np.float64)


def _numbered(numbers: NDArray[np.uint64], ids: NDArray[np.int32]) -> NDArray[np.uint64]:
    known = ids < len(numbers)
    return np.where(known, numbers[np.where(known, ids, 0)], np.uint64(_UNKNOWN))


def _with_floor(model: KneserNey, documents: list[NDArray[np.uint64]]) -> Numbers:
    return (1 - FLOOR) * model.probabilities(documents) + FLOOR / model.vocabulary


def fit(synthetic: WordTable, public: WordTable) -> NgramRatio | None:
    """Return both models, or None where one of the texts has no word.

    Args:
        synthetic, public: words of one vocabulary.
    """
    if not len(synthetic.ids) or not len(public.ids):
        return None
    width = 1 + max(int(synthetic.ids.max()), int(public.ids.max()))
    own = np.bincount(synthetic.ids, minlength=width)
    counts = own + np.bincount(public.ids, minlength=width)
    common = np.argsort(-counts, kind="stable")[: min(MOST_WORDS, int((counts > 0).sum()))]
    numbers = np.full(len(counts), _UNKNOWN, np.uint64)
    numbers[common] = np.arange(len(common), dtype=np.uint64) + np.uint64(_FIRST)
    size = _FIRST + len(common)
    frequency = np.bincount(numbers.astype(np.int64), weights=own, minlength=size) + 0.5
    models = [
        KneserNey((_numbered(numbers, side.of(row)) for row in range(side.size)), size, _START)
        for side in (synthetic, public)
    ]
    return NgramRatio(numbers, models[0], models[1], frequency / frequency.sum())


def score(ratio: NgramRatio, records: WordTable, report: Report = quiet, batch: int = BATCH) -> NgramScores:
    """Return the scores of records; one without words gets the mean of the others.

    `report` is told (records done, records of all) once a batch.
    """
    mean, window = np.full(records.size, np.nan), np.full(records.size, np.nan)
    for start in range(0, records.size, batch):
        rows = np.arange(start, min(start + batch, records.size))
        sums = np.concatenate([[0.0], np.cumsum(ratio.ratios(records, rows))])
        ends = np.cumsum(records.counts[rows])
        for row, end, count in zip(rows.tolist(), ends.tolist(), records.counts[rows].tolist(), strict=True):
            if count:
                mine = sums[end - count : end + 1]
                width = min(WINDOW, count)
                mean[row] = (mine[-1] - mine[0]) / count
                window[row] = np.max(mine[width:] - mine[:-width]) / width
        report(min(start + batch, records.size), records.size)
    return NgramScores(_filled(mean), _filled(window))


def _filled(values: Numbers) -> Numbers:
    known = np.isfinite(values)
    return np.where(known, values, values[known].mean() if known.any() else 0.0)
