"""Turn approved records into files: CSV, JSON Lines, Parquet.

Privacy posture: only `id`, `text` and `label` leave; ids are fresh and the order is drawn from the
operating system's entropy, so neither leads back to a run's position or a source record.

Reference: cells a spreadsheet takes as formulas, OWASP "CSV Injection".
"""

from __future__ import annotations

import csv
import io
import json
import secrets
from collections.abc import Callable
from typing import Any

import pandas as pd

from engine.errors import UserError

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
APOSTROPHE = "'"
FORMULA_NOTE = (
    "In records.csv a cell that a spreadsheet could take for a formula, and a cell that begins with an apostrophe, "
    "begins with one added apostrophe ('). To get the exact text back, remove one leading apostrophe from each cell "
    "that begins with one. The other formats hold the text as it is."
)


def export_frame(records: pd.DataFrame) -> pd.DataFrame:
    """Return what may leave, in random order with fresh ids.

    Args:
        records: columns text and approval, optionally label; any other column is left behind.

    Returns:
        Columns id, text and, if any approved record has one, label; approved records only.
    """
    approved = records[records["approval"] == "approved"]
    if approved.empty:
        raise UserError("release: no record is approved; approve records on the Release page first")
    order = list(range(len(approved)))
    secrets.SystemRandom().shuffle(order)
    approved = approved.iloc[order]
    columns: dict[str, Any] = {"id": _fresh_ids(len(approved)), "text": [_clean(text) for text in approved["text"]]}
    if "label" in approved and approved["label"].notna().any():
        columns["label"] = [None if pd.isna(label) else _clean(str(label)) for label in approved["label"]]
    return pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in columns.items()})


def neutralise(cell: str) -> str:
    """Return `cell` with an apostrophe before what a spreadsheet could run as a formula."""
    bare = cell.lstrip(" \u00a0\u200b\ufeff\u3000\x00")
    return APOSTROPHE + cell if cell.startswith(APOSTROPHE) or bare.startswith(FORMULA_STARTS) else cell


def restore(cell: str) -> str:
    """Undo `neutralise`."""
    return cell.removeprefix(APOSTROPHE)


def to_csv(frame: pd.DataFrame) -> bytes:
    """Return UTF-8 CSV with every cell quoted and formulas neutralised."""
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    writer.writerow(frame.columns)
    for row in frame.itertuples(index=False):
        writer.writerow("" if cell is None else neutralise(cell) for cell in row)
    return buffer.getvalue().encode("utf-8")


def to_jsonl(frame: pd.DataFrame) -> bytes:
    """Return UTF-8 JSON Lines, one object a record."""
    lines = (json.dumps(row, ensure_ascii=False) for row in frame.to_dict("records"))
    return ("\n".join(lines) + "\n").encode("utf-8")


def to_parquet(frame: pd.DataFrame) -> bytes:
    """Return a Parquet file of string columns without pandas' own metadata."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table({name: pa.array(frame[name].tolist(), pa.string()) for name in frame.columns})
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    return bytes(sink.getvalue())


FORMATS: dict[str, Callable[[pd.DataFrame], bytes]] = {"csv": to_csv, "jsonl": to_jsonl, "parquet": to_parquet}


def _fresh_ids(count: int) -> list[str]:
    ids: set[str] = set()
    while len(ids) < count:
        ids.add(secrets.token_hex(8))
    result = list(ids)
    secrets.SystemRandom().shuffle(result)
    return result


def _clean(text: str) -> str:
    """Return `text` with lone surrogates, which no file format can hold, replaced."""
    return text.encode("utf-8", "replace").decode("utf-8")
