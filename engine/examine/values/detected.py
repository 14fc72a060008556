"""Count what an identifier detector still finds in synthetic text.

A count by itself cannot tell a made-up name from a real one: a method that writes surrogates has many.
It is read beside the count in the private texts, and beside the entities that really leaked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from engine.errors import UserError
from engine.examine.base import Side
from engine.examine.prepare import Prepared
from engine.examine.samples import sample, sample_units
from engine.models.contracts import Detector

COLUMNS = ["row", "start", "end", "label", "identifier_type"]
MOST = {"synthetic": 2000, "train": 1000, "holdout": 1000}  # texts looked at

Which = Literal["synthetic", "train", "holdout"]


@dataclass(frozen=True)
class Detected:
    """What was detected in a sample of a side: its rows in the whole, int64 (n,), its texts, and their spans."""

    rows: NDArray[np.int64]
    side: Side
    spans: pd.DataFrame


def detected(prepared: Prepared, which: Which) -> Detected:
    """Return what is detected in a sample of one side; it is looked for once an examination.

    Raises:
        UserError: the examination was started without a detector.
    """
    key = f"detected in {which}"
    if key not in prepared.kept:
        prepared.kept[key] = _detected(prepared, which)
    found: Detected = prepared.kept[key]
    return found


def _detected(prepared: Prepared, which: Which) -> Detected:
    detector, whole = prepared.given.detector, getattr(prepared, which)
    if detector is None:
        raise UserError("detector: this examination was started without one; start it again with a detector")
    if which == "synthetic":
        rows = sample(whole.record_ids, MOST[which], prepared.seed, "detect")
    else:
        rows = sample_units(whole.units, MOST[which], prepared.seed, "detect")
    side = whole.take(rows)
    tell = lambda done: prepared.report(f"detecting identifiers: {which}", done, len(side))  # noqa: E731
    return Detected(rows, side, detect_spans(side.texts.tolist(), detector, after_batch=tell))


def detect_spans(
    texts: Sequence[str],
    detector: Detector,
    *,
    batch: int = 64,
    after_batch: Callable[[int], None] = lambda done: None,
) -> pd.DataFrame:
    """Return the detected identifying spans: row of the text, code-point offsets, label, identifier type.

    Spans of identifier type `none` are left out. `after_batch(texts done)` may raise to stop.
    """
    rows: list[tuple[int, int, int, str, str]] = []
    for start in range(0, len(texts), batch):
        found = detector.detect(list(texts[start : start + batch]))
        for row, spans in enumerate(found, start=start):
            rows += [
                (row, int(s["start"]), int(s["end"]), str(s["label"]), str(s.get("identifier_type", "quasi")))
                for s in spans
                if s.get("identifier_type") != "none"
            ]
        after_batch(min(start + batch, len(texts)))
    return pd.DataFrame(rows, columns=COLUMNS)


def counts(spans: pd.DataFrame, texts: int) -> NDArray[np.int64]:
    """Return the number of spans a text, int64 array (texts,)."""
    return np.bincount(spans["row"].to_numpy(np.int64), minlength=texts).astype(np.int64)
