"""Closeness to the training part is not called a leak where nothing of it was used."""

from __future__ import annotations

import numpy as np
import pandas as pd

from engine.examine.examination import ExamineInput
from engine.examine.prepare import prepare
from engine.examine.repeats.closeness import NAME, examine_closeness


class Placed:
    """An embedder that reads a text's number and returns its row."""

    id = "placed"
    dimension = 24

    def __init__(self, rows: np.ndarray) -> None:
        self.rows = rows

    def embed(self, texts: list[str]) -> np.ndarray:
        return self.rows[[int(text.split()[-1]) for text in texts]]


def unit(rows: np.ndarray) -> np.ndarray:
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def examined(rng: np.random.Generator, planted: bool, records: int = 60, outputs: int = 50) -> float:
    """Return the lower end of the excess for outputs that all say nearly the same, or follow training records."""
    kinds = unit(rng.normal(size=(8, 24)))
    real = unit(kinds[rng.integers(0, 8, 2 * records)] + 0.6 * unit(rng.normal(size=(2 * records, 24))))
    made = unit(unit(rng.normal(size=(1, 24))) + 0.3 * unit(rng.normal(size=(outputs, 24))))
    if planted:
        made = unit(real[rng.integers(0, records, outputs)] + 0.8 * unit(rng.normal(size=(outputs, 24))))
    rows = np.concatenate([real, made])

    def frame(start: int, count: int) -> pd.DataFrame:
        ids = range(start, start + count)
        return pd.DataFrame({"record_id": [f"d{i}" for i in ids], "text": [f"text {i}" for i in ids], "label": None})

    spans = pd.DataFrame(columns=["record_id", "start", "end", "label", "identifier_type"])
    made_frame = frame(2 * records, outputs).assign(lineage=None)
    given = ExamineInput(
        made_frame, frame(0, records), frame(records, records), spans, spans, embedder=Placed(rows), seed=1
    )  # type: ignore[arg-type]
    found = {(f.name, f.reference): f for f in examine_closeness(prepare(given)).findings}
    low = found[f"{NAME}_excess", "holdout"].low
    assert low is not None
    return low


def test_it_keeps_its_level_and_finds_what_is_planted() -> None:
    """200 draws of outputs that never saw a record (an interval of the outputs alone called 40% of them a leak)."""
    rng = np.random.default_rng(3)
    assert sum(examined(rng, planted=False) > 0 for _ in range(200)) <= 16
    assert sum(examined(rng, planted=True) > 0 for _ in range(20)) >= 19
