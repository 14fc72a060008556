"""A store without a worker, and a small made-up corpus with gold spans."""

from __future__ import annotations

import pandas as pd
import pytest

from engine.corpus.columns.mapping import ColumnMapping
from engine.store.store import Store
from tests import postgres

CANARY = "Quillfeather Zanzibarnacle"
MAPPING = ColumnMapping(text="text", record_id="id", source_id="who", label="kind", keep=("ward",), spans="spans")


def made_up(count: int = 40, first: int = 0) -> pd.DataFrame:
    """Return letters that name one of five people, others in each hundred; the name and the day are gold spans."""
    rows = []
    for i in range(first, first + count):
        name = f"{CANARY} {'ABCDE'[i % 5]}"
        text = f"Letter {i}: {name} came on {1 + i % 28} May 2021 because of a sore knee, number {i * 7919 % 1000}."
        day = text.index(" on ") + 4
        spans = [
            {"start": text.index(name), "end": text.index(name) + len(name), "label": "PERSON"},
            {"start": day, "end": text.index(" because"), "label": "DATE"},
        ]
        rows.append(
            {
                "id": f"id{i}",
                "text": text,
                "who": f"p{i // 100 * 5 + i % 5}",
                "kind": "knee",
                "ward": "north",
                "spans": spans,
            }
        )
    return pd.DataFrame(rows)


def pytest_generate_tests(metafunc):
    """Have each test run on both databases, but for those that take the file of SQLite in hand."""
    postgres.on_both(metafunc)


@pytest.fixture(autouse=True)
def backend(request, tmp_path):
    """Return the database that the folder `workspace` of a test is kept in."""
    return postgres.kept_in(getattr(request, "param", "sqlite"), tmp_path / "workspace")


@pytest.fixture
def store(tmp_path):
    """Return an open store; nothing starts a worker."""
    opened = Store(tmp_path / "workspace", actor="tester")
    yield opened
    opened.close()


@pytest.fixture
def corpus(store):
    """Return the made-up corpus, imported."""
    return store.corpora.import_table(made_up(), MAPPING, name="Letters", unit="record", holdout=0.25)
