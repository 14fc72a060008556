"""Small real examinations: a corpus of real notes, and runs whose leakage is known because it was planted."""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from engine.examine.examination import ExamineInput, ExamineOutput, examine_run

RECORDS = 700
NAMED = re.compile(r"\b(\d{1,2}[A-Z]{3}\d\d|\d+ (?:day|hour|hr|week|wk|month)s?|Dr\.? [A-Z]\w+)\b")


class PatternDetector:
    """A real, tiny detector: dates, spans of time and titled names by pattern."""

    def detect(self, texts: Sequence[str]) -> list[list[Mapping[str, Any]]]:
        return [
            [
                {"start": m.start(), "end": m.end(), "label": "DATE", "score": 1.0, "recogniser": "pattern",
                 "identifier_type": "direct" if m.group().startswith("Dr") else "quasi"}
                for m in NAMED.finditer(text)
            ]
            for text in texts
        ]  # fmt: skip


class WordEmbedder:
    """A real, tiny embedder: random directions of words, summed."""

    id = "sum of random word directions"

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = [sum((_direction(word) for word in {*text.lower().split()}), np.full(64, 1e-3)) for text in texts]
        table = np.array(rows, np.float32)
        return table / np.linalg.norm(table, axis=1, keepdims=True)


@cache
def _direction(word: str) -> NDArray[np.float64]:
    return np.random.default_rng(zlib.crc32(word.encode())).normal(size=64)


def spans_of(records: pd.DataFrame) -> pd.DataFrame:
    found = PatternDetector().detect(records["text"].tolist())
    rows = [
        (record, s["start"], s["end"], s["label"], s["identifier_type"])
        for record, spans in zip(records["record_id"], found, strict=True)
        for s in spans
    ]
    return pd.DataFrame(rows, columns=["record_id", "start", "end", "label", "identifier_type"])


def real_notes(test_data: Path) -> tuple[pd.DataFrame, pd.DataFrame, list[str]]:
    """Training part, holdout, and other real notes that neither part holds."""
    table = pd.read_parquet(test_data / "vaers_1998_1999.parquet").drop_duplicates("text")
    table = table.sample(2 * RECORDS, random_state=0)
    records = pd.DataFrame(
        {"record_id": table["report_id"].astype(str), "text": table["text"], "source_id": None,
         "label": table["outcome"]}
    )  # fmt: skip
    first = records.head(RECORDS)
    held = np.random.default_rng(1).random(RECORDS) < 0.25
    return first[~held].reset_index(drop=True), first[held].reset_index(drop=True), records["text"].tolist()[RECORDS:]


def synthetic(texts: Sequence[str], lineage: Sequence[str | None] | None = None) -> pd.DataFrame:
    return pd.DataFrame(
        {"record_id": [f"s{i}" for i in range(len(texts))], "text": list(texts), "label": None,
         "lineage": list(lineage) if lineage is not None else None}
    )  # fmt: skip


def examine(train: pd.DataFrame, holdout: pd.DataFrame, made: pd.DataFrame, **options: Any) -> ExamineOutput:
    """Examine without training models on the text, which takes a minute: `test_model_attacks` does."""
    options.setdefault("model_attacks", False)
    return examine_run(ExamineInput(made, train, holdout, spans_of(train), spans_of(holdout), seed=3, **options))


def row(output: ExamineOutput, name: str, reference: str) -> Any:
    found = [f for f in output.findings if (f.name, f.reference) == (name, reference)]
    assert len(found) == 1, f"{name} against {reference}: {len(found)} rows"
    return found[0]
