"""Private records, capped a unit, opened by mechanisms alone.

Privacy posture: this module reads private text. Nothing of it reaches a message, a log or a file; every reading
is counted, so that a test can hold openings against recorded events.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from engine.corpus.keyed import keyed_order, keyed_uniform
from engine.dp.noise import votes
from engine.dp.noise.classes import class_of
from engine.errors import InternalError

if TYPE_CHECKING:
    import pandas as pd

_ORDER = "private record order"
_PLACE = "private prediction batch"


class PrivateData:
    """The training part, each unit capped to its first records in keyed-hash order, all labels together.

    Args:
        records: record_id, text, source_id, label; the training part only.
        unit: `record` or `source`; a record without a source is a unit of its own.
        cap: records a unit contributes at most (1 where the unit is the record).
        embed: texts to (n, d) unit rows, each text on its own. order_key: secret of the keyed order.
        units: N, public, where it is more than the units that are there (a unit's data replaced by null).
    """

    def __init__(
        self,
        records: pd.DataFrame,
        *,
        unit: str = "record",
        cap: int = 1,
        embed: Callable[[list[str]], NDArray[np.float32]] | None = None,
        order_key: bytes,
        units: int | None = None,
    ) -> None:
        if unit not in ("record", "source") or cap < 1:
            raise InternalError(f"unit {unit!r} with cap {cap} does not exist")
        self.unit, self.cap = unit, 1 if unit == "record" else cap
        self.openings = 0
        self._is_open = False
        self._embed = embed
        self._embedded: NDArray[np.float32] | None = None
        kept, unit_of, there = _capped(records, self.unit, self.cap, order_key)
        self._texts = [str(records["text"].iloc[i]) for i in kept]
        self._labels = [None if _missing(value) else str(value) for value in records["label"].iloc[kept]]
        self._unit_of = np.array(unit_of, dtype=np.int64)
        names = _unit_names(records, self.unit)
        self._owners, self._key = [names[i] for i in kept], order_key
        self._places: NDArray[np.float64] | None = None
        self._centres: NDArray[np.float32] | None = None
        self._topics: NDArray[np.int64] | None = None
        self.units = max(there, units or 0)

    def open(self) -> PrivateData:
        """Count one reading and return the data; mechanisms alone call this."""
        self.openings += 1
        self._is_open = True
        return self

    @property
    def unit_of(self) -> NDArray[np.int64]:
        """Return each record's unit, 0..units−1, shape (n,)."""
        self._check()
        return self._unit_of

    @property
    def labels(self) -> list[str | None]:
        """Return each record's label."""
        self._check()
        return self._labels

    @property
    def texts(self) -> list[str]:
        """Return each record's text."""
        self._check()
        return self._texts

    @property
    def places(self) -> NDArray[np.float64]:
        """Return a number in [0, 1) a record by keyed hash of its unit's name alone: it splits units into batches."""
        self._check()
        if self._places is None:
            self._places = np.array([keyed_uniform(self._key, _PLACE, name) for name in self._owners], dtype=float)
        return self._places

    def keep_labels(self, labels: Collection[str]) -> None:
        """Let every label outside a list, public or bought, count as none from now on."""
        kept = set(labels)
        self._labels = [label if label in kept else None for label in self._labels]

    def keep_topics(self, centres: NDArray[np.float32]) -> None:
        """Let each record carry the nearest of these public centres, (k, d), in everything drawn from now on."""
        self._centres, self._topics = centres, None

    @property
    def has_topics(self) -> bool:
        """Whether records carry a public topic."""
        return self._centres is not None

    @property
    def topics(self) -> NDArray[np.int64]:
        """Return each record's nearest public centre, 0..k−1, shape (n,)."""
        self._check()
        if self._centres is None:
            raise InternalError("private data carry no topics")
        if self._topics is None:
            self._topics = votes.nearest(self.embeddings(), votes.quantised(self._centres))
        return self._topics

    def classes(self, edges: Sequence[int], by_label: bool) -> list[str | None]:
        """Return each record's class by label and by words between public edges; None where it has no label."""
        return [
            class_of(label, words, edges) if label is not None or not by_label else None
            for label, words in zip(self.labels if by_label else [None] * len(self._texts), self.lengths(None).tolist())
        ]

    def lengths(self, measure: Callable[[str], int] | None) -> NDArray[np.int64]:
        """Return each record's length by a public measure; words by default."""
        self._check()
        size = measure or _words
        return np.array([int(size(text)) for text in self._texts], dtype=np.int64)

    def embeddings(self) -> NDArray[np.float32]:
        """Return each record's embedding, rounded for exact votes, shape (n, d)."""
        self._check()
        if self._embedded is None:
            if self._embed is None:
                raise InternalError("private data were handed out without an embedder")
            self._embedded = votes.quantised(self._embed(list(self._texts)))
        return self._embedded

    def _check(self) -> None:
        if not self._is_open:
            raise InternalError("private data were read without being opened")


def _capped(records: pd.DataFrame, unit: str, cap: int, key: bytes) -> tuple[list[int], list[int], int]:
    """Return the positions of kept records, each one's unit, and how many units there are."""
    ids = [str(value) for value in records["record_id"]]
    names = _unit_names(records, unit)
    numbers: dict[str, int] = {}
    taken: dict[str, int] = {}
    kept, unit_of = [], []
    for position in keyed_order(key, _ORDER, ids):
        name = names[position]
        numbers.setdefault(name, len(numbers))
        if taken.get(name, 0) < cap:
            taken[name] = taken.get(name, 0) + 1
            kept.append(position)
            unit_of.append(numbers[name])
    return kept, unit_of, len(numbers)


def _unit_names(records: pd.DataFrame, unit: str) -> list[str]:
    names = [f"record/{name}" for name in records["record_id"]]
    if unit == "record":
        return names
    return [own if _missing(source) else f"source/{source}" for own, source in zip(names, records["source_id"])]


def _missing(value: object) -> bool:
    return value is None or value != value or str(value) == "<NA>"


def _words(text: str) -> int:
    return len(text.split())
