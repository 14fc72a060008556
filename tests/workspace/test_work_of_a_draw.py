"""How much a page reads to be drawn again: steps of the database, queries and records of files, not seconds.

A page that reads every record for each count it shows is quick with ten records and slow with twenty thousand. Steps
are those of SQLite's own machine, a row looked at costs at least one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from sqlalchemy import event
from sqlalchemy.engine import Engine

import engine
from engine.corpus.columns.mapping import ColumnMapping
from engine.jobs.worker.lock import ProcessLock
from engine.store import records

ROOT = Path(__file__).resolve().parents[2]
FEW, MANY = 60, 3000
GRAIN = 10  # steps between two looks at the count
MOST_A_RECORD = 20  # steps of adding up one record's numbers
MOST_QUERIES = 125  # of a second visit to Plan, its sidebar in it


@dataclass
class Work:
    """What was read: steps of the database's machine, queries, rows of record files."""

    steps: int = 0
    queries: int = 0
    rows: int = 0


@contextmanager
def counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[Work]:
    """Count what this process reads meanwhile."""
    work, seen = Work(), set()

    def step() -> int:
        work.steps += GRAIN
        return 0

    def before(connection, cursor, *_):
        work.queries += 1
        raw = cursor.connection
        if id(raw) not in seen:
            seen.add(id(raw))
            raw.set_progress_handler(step, GRAIN)

    whole = records.pq.read_table

    def read(*args, **kwargs):
        table = whole(*args, **kwargs)
        work.rows += table.num_rows
        return table

    event.listen(Engine, "before_cursor_execute", before)
    with monkeypatch.context() as patched:
        patched.setattr(records.pq, "read_table", read)
        try:
            yield work
        finally:
            event.remove(Engine, "before_cursor_execute", before)


def made(path: Path, count: int) -> str:
    """Return a corpus of so many records with an identifier in each third one, in a workspace of its own."""
    workspace = engine.open_workspace(path)
    rows = [
        {"id": f"r{i}", "text": f"Visitor {i} asked Ann Lee about lane {i % 7}.", "label": "question",
         "spans": [{"start": 0, "end": 7, "label": "PERSON"}] * (i % 3 == 0)}
        for i in range(count)
    ]  # fmt: skip
    content = "\n".join(json.dumps(row) for row in rows).encode()
    mapping = ColumnMapping(text="text", record_id="id", label="label", spans="spans")
    corpus = workspace.corpora.import_file(content, "many.jsonl", mapping, name=f"{count} records")
    workspace.review.use_gold(corpus.id)
    workspace.settings.set_actor("custodian")
    workspace.close()
    return corpus.id


def second_visit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, page: str, method: str, count: int, *, decided: bool = False
) -> Work:
    """Return what a second visit to a page reads in a corpus of so many records; `decided`: after a decision."""
    from streamlit.testing.v1 import AppTest

    from pages._ui.methods.method_cards import CHOICE
    from pages._ui.navigation import page_path

    path = tmp_path / f"{page}-{method}-{count}"
    monkeypatch.setenv("UNDERSTUDY_WORKSPACE", str(path))
    lock = ProcessLock(engine.open_workspace(path).folder.worker_lock)  # no worker starts
    assert lock.acquire()
    try:
        corpus = made(path, count)
        app = AppTest.from_file(str(ROOT / "pages" / "_ui" / "main.py"), default_timeout=60)
        app.session_state["sidebar.corpus"] = corpus
        app.run()
        app.session_state[CHOICE] = method
        app.switch_page(page_path(page)).run()
        app.switch_page(page_path("home")).run()
        if decided:
            workspace = engine.open_workspace(path)
            workspace.review.decide(corpus, [workspace.review.spans(corpus, "r0")[0].span_id], "accept")
            workspace.close()
        with counted(monkeypatch) as work:
            app.switch_page(page_path(page)).run()
        assert not app.exception, app.exception
        assert work.queries > 5
    finally:
        lock.release()
    return work


@pytest.mark.parametrize(("page", "method"), [("plan", "aug-pe"), ("plan", "surrogate"), ("home", "")])
def test_a_page_reads_no_more_of_a_large_corpus(tmp_path, monkeypatch, page, method):
    few = second_visit(tmp_path, monkeypatch, page, method, FEW)
    many = second_visit(tmp_path, monkeypatch, page, method, MANY)
    assert many.rows == few.rows == 0
    assert many.queries == few.queries <= MOST_QUERIES
    assert many.steps < few.steps + MANY, "it looks at records again"


def test_review_looks_at_each_record_once_after_a_decision(tmp_path, monkeypatch):
    """Of a million records that is a fifth of a second; looking for texts by their ids was as long, three times."""
    before = second_visit(tmp_path / "before", monkeypatch, "review", "", MANY)
    after = second_visit(tmp_path / "after", monkeypatch, "review", "", MANY, decided=True)
    assert after.rows == before.rows
    assert before.steps < MOST_A_RECORD * MANY
    assert MANY < after.steps - before.steps < MOST_A_RECORD * MANY


def test_the_counter_sees_a_whole_corpus_read(tmp_path, monkeypatch):
    corpus = made(tmp_path / "ws", MANY)
    workspace = engine.open_workspace(tmp_path / "ws")
    workspace.review.progress(corpus)
    with counted(monkeypatch) as work:
        workspace.review.progress(corpus)
    assert work.steps < MANY / 10
    with counted(monkeypatch) as work:
        workspace.review.order(corpus)
        workspace.corpora.frame(corpus)
    assert work.steps > MANY
    assert work.rows == MANY
