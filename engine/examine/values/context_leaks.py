"""How much of the private records behind a text comes out in it: PIPP, ELP and ROUGE a text and a tuning set.

Two settings, after Zhao and Field 2025, section 3.4: in context, a text is held against the records its prompt
showed; tuned, all texts are held against everything the model was tuned on.

Privacy posture: works on private text in memory and gives numbers back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from engine.corpus.text.words import Vocabulary, WordTable, cut
from engine.examine.base import Side
from engine.examine.repeats.rouge import highest, pairs, rouge_2, rouge_l
from engine.examine.values.entities import (
    EntityIndex,
    Matches,
    entities_found,
    find_entities,
    index_entities,
    records_with,
)
from engine.pii.control_codes import Passage


@dataclass(frozen=True)
class Leaks:
    """What came out of one run; lower is safer throughout.

    Args:
        pipp: share of texts with a private entity, in [0, 1]. elp: share of private entities that came out.
        rouge_2, rouge_l: overlap with the private text, F1, means over the texts.
        entities: distinct private entities that could have come out. texts: how many were looked at.
    """

    pipp: float
    elp: float
    rouge_2: float
    rouge_l: float
    entities: int
    texts: int


class LeakMeter:
    """Holds texts against private passages.

    Args:
        passages: everything private the model could have seen, with the spans that count as private.
    """

    def __init__(self, passages: Sequence[Passage]) -> None:
        self.vocabulary = Vocabulary()
        self.passages = list(passages)
        self.side = self._side(self.passages)
        self.index: EntityIndex = index_entities(self.side)

    def tuned(self, texts: Sequence[str]) -> Leaks:
        """Return the leaks of texts whose model was tuned on all passages: any entity counts; ROUGE is the maximum."""
        words, matches, wide = self._matched(texts)
        count = len(self.index)
        two, longest = highest(_each(words), _each(self.side.words))
        return Leaks(
            float(records_with(matches, len(texts), wide).mean()) if len(texts) else float("nan"),
            float(entities_found(matches, count).mean()) if count else float("nan"),
            _mean(two),
            _mean(longest),
            count,
            len(texts),
        )

    def in_context(self, texts: Sequence[str], shown: Sequence[Sequence[Passage]]) -> Leaks:
        """Return the leaks of texts against the passages each prompt showed; ROUGE is against all of them joined.

        ELP is the mean over texts of the share of their own context's entities; a context without any is left out.
        """
        meter = LeakMeter([p for passages in shown for p in passages])
        words, matches, _ = meter._matched(texts)
        found: dict[int, set[int]] = {}
        for text, entity in zip(matches.text.tolist(), matches.entity.tolist(), strict=True):
            found.setdefault(text, set()).add(entity)
        hits, shares, two, longest, at = [], [], [], [], 0
        for i, passages in enumerate(shown):
            rows = range(at, at + len(passages))
            context = np.concatenate([meter.side.words.of(at + k) for k in range(len(passages))])
            at += len(passages)
            own = set[int]().union(*(meter.index.of_row(row) for row in rows))
            leaked = own & found.get(i, set())
            hits.append(bool(leaked))
            if own:
                shares.append(len(leaked) / len(own))
            two.append(rouge_2(pairs(words.of(i)), pairs(context)))
            longest.append(rouge_l(words.of(i), context))
        count = len(meter.index)
        return Leaks(_mean(hits), _mean(shares), _mean(two), _mean(longest), count, len(texts))

    def _matched(self, texts: Sequence[str]) -> tuple[WordTable, Matches, NDArray[np.bool_]]:
        words = cut(texts, self.vocabulary)
        return words, find_entities(words, self.index), self.index.mask("all")

    def _side(self, passages: Sequence[Passage]) -> Side:
        ids = np.array([f"{i}" for i in range(len(passages))], dtype=object)
        rows = [
            (str(i), span.start, span.end, span.label, span.identifier_type)
            for i, passage in enumerate(passages)
            for span in passage.spans
        ]
        return Side(
            record_ids=ids,
            texts=np.array([p.text for p in passages] or [""], dtype=object)[: len(passages)],
            words=cut([p.text for p in passages], self.vocabulary),
            units=np.array([p.record_id for p in passages], dtype=object),
            spans=pd.DataFrame(rows, columns=["record_id", "start", "end", "label", "identifier_type"]),
        )


def _each(words: WordTable) -> list[NDArray[np.int32]]:
    return [words.of(i) for i in range(words.size)]


def _mean(values: Sequence[float] | NDArray[np.float64]) -> float:
    return float(np.mean(values)) if len(values) else float("nan")
