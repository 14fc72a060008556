"""What kept parts hang on: any cell of any table moves the stamp, and a large corpus is not held as text for it."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace

import pandas as pd
import pytest

from engine.examine import keeping
from engine.examine.keeping import stamp
from engine.examine.prepare import ExamineInput


def records(count: int, side: str) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "record_id": [f"{side}{i}" for i in range(count)],
            "text": [f"Note {i} about soup." for i in range(count)],
            "source_id": [None if i % 3 else f"p{i}" for i in range(count)],
            "label": [("a", "b", None)[i % 3] for i in range(count)],
        }
    )


def marks(count: int, side: str) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "record_id": [f"{side}{i % 7}" for i in range(count)],
            "start": range(count),
            "end": [i + 4 for i in range(count)],
            "label": ["PERSON"] * count,
            "identifier_type": ["direct"] * count,
        }
    )


def given(count: int = 7) -> ExamineInput:
    synthetic = records(count, "s").drop(columns="source_id").assign(lineage=None)
    return ExamineInput(synthetic, records(count, "t"), records(3, "h"), marks(2 * count, "t"), marks(4, "h"))


TABLES = ("synthetic", "train", "holdout", "train_spans", "holdout_spans")


@pytest.mark.parametrize("rows", [2, 3, 50_000])
@pytest.mark.parametrize("table", TABLES)
def test_any_cell_row_column_or_name_moves_it(monkeypatch, table, rows):
    monkeypatch.setattr(keeping, "ROWS", rows)
    one, found = given(), set()
    frame = getattr(one, table)
    for row in range(len(frame)):
        for name in frame.columns:
            other = frame.astype(object)
            other.loc[row, name] = "another"
            found.add(stamp(replace(one, **{table: other})))
    found |= {
        stamp(replace(one, **{table: other}))
        for other in (
            frame.iloc[:-1], frame.iloc[::-1], frame[list(frame.columns[::-1])], frame.assign(more=1),
            frame.rename(columns={"record_id": "id"}), pd.concat([frame, frame.iloc[-1:]]),
        )
    }  # fmt: skip
    assert stamp(one) == stamp(given()) == stamp(replace(one, **{table: frame.copy()}))
    assert stamp(one) not in found
    assert len(found) == frame.size + 6


def test_it_takes_no_more_memory_for_a_larger_corpus(monkeypatch):
    monkeypatch.setattr(keeping, "ROWS", 2_000)

    def peak(count: int) -> int:
        one = given(count)
        tracemalloc.start()
        stamp(one)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    stamp(given())  # what is read once a process
    assert peak(20_000) < 1.5 * peak(5_000)
