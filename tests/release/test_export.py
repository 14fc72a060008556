"""Only approved text and labels leave, with fresh ids, and formulas neither run nor get lost."""

from __future__ import annotations

import csv
import io
import json

import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import UserError
from engine.release.bundle.export import FORMATS, export_frame, neutralise, restore, to_csv, to_jsonl, to_parquet


def run_records(count: int = 30) -> pd.DataFrame:
    states = ["approved", "rejected", "pending"]
    return pd.DataFrame({
        "record_id": [f"s-{i}" for i in range(count)],
        "text": [f"{states[i % 3]} text number {i}" for i in range(count)],
        "label": ["died" if i % 2 else None for i in range(count)],
        "approval": [states[i % 3] for i in range(count)],
        "lineage": [f"source-{i}" for i in range(count)],
        "x_ward": ["ward 7"] * count,
        "risk": [0.5] * count,
    })  # fmt: skip


def test_only_approved_leave_and_only_three_columns() -> None:
    frame = export_frame(run_records())
    assert list(frame.columns) == ["id", "text", "label"]
    assert sorted(frame["text"]) == sorted(f"approved text number {i}" for i in range(0, 30, 3))


@pytest.mark.parametrize("name", FORMATS)
def test_no_file_mentions_what_stays(name: str) -> None:
    data = FORMATS[name](export_frame(run_records(300)))
    for private in (
        b"rejected text",
        b"pending text",
        b"source-",
        b"s-3",
        b"ward 7",
        b"lineage",
        b"approval",
        b"pandas",
    ):
        assert private not in data


def test_ids_are_fresh_and_order_is_drawn() -> None:
    records = run_records(300)
    first, second = export_frame(records), export_frame(records)
    assert first["id"].is_unique
    assert not set(first["id"]) & (set(second["id"]) | set(records["record_id"]))
    assert list(first["text"]) != list(second["text"])  # equal with probability 1/100!
    assert list(first["text"]) != [t for t in records["text"] if t.startswith("approved")]


def test_labels_stay_with_their_text() -> None:
    frame = export_frame(run_records(300))
    expected = dict(zip(run_records(300)["text"], run_records(300)["label"], strict=True))
    for text, label in zip(frame["text"], frame["label"], strict=True):
        assert (label is None) == pd.isna(expected[text])


def test_run_without_labels_has_no_label_column() -> None:
    assert list(export_frame(run_records().assign(label=None)).columns) == ["id", "text"]
    assert list(export_frame(run_records().drop(columns="label")).columns) == ["id", "text"]


@pytest.mark.parametrize("state", ["rejected", "pending", "Approved", "", None, True])
def test_nothing_but_the_word_approved_is_approval(state: object) -> None:
    with pytest.raises(UserError, match="no record is approved"):
        export_frame(run_records().assign(approval=state))


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("plain text", "plain text"),
        ("=1+1", "'=1+1"),
        ("+49 30 123", "'+49 30 123"),
        ("-5 degrees", "'-5 degrees"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=cmd", "'\t=cmd"),
        ("\r=cmd", "'\r=cmd"),
        ("\n=cmd", "'\n=cmd"),
        ("  =cmd|' /C calc'!A0", "'  =cmd|' /C calc'!A0"),  # leading blanks are trimmed by some programs
        ("\ufeff=1", "'\ufeff=1"),
        ("＝1", "'＝1"),  # full-width forms
        ("＋1", "'＋1"),
        ("－1", "'－1"),
        ("＠A", "'＠A"),
        ("'quoted'", "''quoted'"),  # so that restoring is unambiguous
        ("", ""),
        ("a=b", "a=b"),
    ],
)
def test_formulas_are_neutralised(cell: str, expected: str) -> None:
    assert neutralise(cell) == expected
    assert restore(expected) == cell


@given(st.text())
def test_neutralising_round_trips(cell: str) -> None:
    safe = neutralise(cell)
    assert restore(safe) == cell
    assert not safe.lstrip(" ").startswith(("=", "+", "-", "@", "\t", "\r"))


HARD = ["=1+1", "two\nlines", 'a "quote", a comma; a semicolon', "'tis", "naïve – ünïcode 🙂", "tab\tinside", " x "]


def test_csv_round_trip() -> None:
    frame = pd.DataFrame({"id": [str(i) for i in range(len(HARD))], "text": HARD}).astype(object)
    rows = list(csv.DictReader(io.StringIO(to_csv(frame).decode("utf-8"), newline="")))
    assert [restore(row["text"]) for row in rows] == HARD


def test_other_formats_hold_text_as_it_is() -> None:
    frame = pd.DataFrame({"id": [str(i) for i in range(len(HARD))], "text": HARD, "label": [None] * len(HARD)}).astype(
        object
    )
    lines = [json.loads(line) for line in to_jsonl(frame).decode("utf-8").splitlines()]
    assert [line["text"] for line in lines] == HARD
    table = pq.read_table(io.BytesIO(to_parquet(frame)))
    assert table.column("text").to_pylist() == HARD
    assert table.schema.metadata is None


def test_lone_surrogates_do_not_stop_an_export() -> None:
    records = pd.DataFrame({"text": ["bad \ud800 character"], "approval": ["approved"]}, dtype=object)
    for write in FORMATS.values():
        assert write(export_frame(records))
