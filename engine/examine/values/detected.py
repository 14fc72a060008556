"""Count what an identifier detector still finds in synthetic text.

A count by itself cannot tell a made-up name from a real one: a method that writes surrogates has many.
It is read beside the count in the private texts, and beside the entities that really leaked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from engine.models.contracts import Detector

COLUMNS = ["row", "start", "end", "label", "identifier_type"]


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
