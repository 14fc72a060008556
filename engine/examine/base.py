"""What every examination holds against each other: two sides of texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from engine.corpus.text.words import WordTable


@dataclass(frozen=True)
class Side:
    """One set of texts: the synthetic ones, or the reference they are held against.

    Args:
        record_ids: object array (n,) of str.
        texts: object array (n,) of str.
        words: the texts' words; both sides must share one vocabulary.
        units: object array (n,), the person or record behind each text.
        lineage: object array (n,), the source record id of a synthetic text, or None.
        spans: accepted spans of these texts (record_id, start, end, label, identifier_type), or None.
        embeddings: float32 array (n, d) of unit rows, or None.
    """

    record_ids: NDArray[np.object_]
    texts: NDArray[np.object_]
    words: WordTable
    units: NDArray[np.object_]
    lineage: NDArray[np.object_] | None = None
    spans: pd.DataFrame | None = None
    embeddings: NDArray[np.float32] | None = None

    def __len__(self) -> int:
        return len(self.record_ids)

    def take(self, index: NDArray[np.int64]) -> Side:
        """Return the side of the texts named by `index`, in that order."""
        ids = self.record_ids[index]
        spans = self.spans
        return Side(
            record_ids=ids,
            texts=self.texts[index],
            words=self.words.take(index),
            units=self.units[index],
            lineage=None if self.lineage is None else self.lineage[index],
            spans=None if spans is None else spans[spans["record_id"].isin(set(ids))],
            embeddings=None if self.embeddings is None else self.embeddings[index],
        )


def join_sides(parts: Sequence[Side], *, words: bool = True) -> Side:
    """Return the texts of several sides with one vocabulary as one side, in order, with words, units and spans.

    Args:
        parts: the sides. words: False leaves every text without words, for readers that need none: of a million
            texts of 25 words they are 300 MB.
    """
    spans = [part.spans for part in parts if part.spans is not None]
    return Side(
        np.concatenate([part.record_ids for part in parts]),
        np.concatenate([part.texts for part in parts]),
        _joined([part.words for part in parts]) if words else _none(sum(map(len, parts))),
        np.concatenate([part.units for part in parts]),
        spans=pd.concat(spans, ignore_index=True) if spans else None,
    )


def _joined(tables: Sequence[WordTable]) -> WordTable:
    lengths = np.concatenate([table.counts for table in tables])
    return WordTable(
        np.concatenate([table.ids for table in tables]),
        np.concatenate([table.starts for table in tables]),
        np.concatenate([table.ends for table in tables]),
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
    )


def _none(count: int) -> WordTable:
    nothing = np.empty(0, np.int32)
    return WordTable(nothing, nothing, nothing, np.zeros(count + 1, np.int64))


def words_in_spans(side: Side) -> set[int]:
    """Return the numbers of all words that touch an accepted span."""
    if side.spans is None or not len(side.spans):
        return set()
    row_of = {record: row for row, record in enumerate(side.record_ids)}
    found: set[int] = set()
    for record, start, end in side.spans[["record_id", "start", "end"]].itertuples(index=False):
        row = row_of.get(str(record))
        if row is None:
            continue
        first, last = side.words.offsets[row], side.words.offsets[row + 1]
        touched = (side.words.ends[first:last] > start) & (side.words.starts[first:last] < end)
        found.update(side.words.ids[first:last][touched].tolist())
    return found
