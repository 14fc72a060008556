"""A small workspace for pages: made-up tickets, the first one hostile to Markdown; what tests read off a page."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

import engine
from engine.corpus.columns.mapping import ColumnMapping
from tests.moving import moved

ROOT = Path(__file__).resolve().parents[2]
NEEDLE = "zqxv"
HOSTILE = f"Ann Lee wrote ![{NEEDLE}](http://evil.example/a.png) <script>{NEEDLE}()</script> from Lyon on 3 May 2021."


@dataclass(frozen=True)
class Small:
    """A workspace folder, a corpus with the file's own marks, and one in which nothing was looked for."""

    path: Path
    corpus: str
    bare: str

    def open(self) -> engine.Workspace:
        return engine.open_workspace(self.path)


def rows() -> list[dict[str, Any]]:
    """Return eighty made-up tickets with gold spans, the first one hostile to Markdown."""
    from engine.training.samples import generate

    made = generate("support_tickets", 80, 7).to_dict("records")
    spans = [{"start": 0, "end": 7, "label": "PERSON", "identifier_type": "direct"}]
    return [{"record_id": "A0", "text": HOSTILE, "source_id": "s0", "label": "other", "spans": spans}, *made]


def as_jsonl(records: list[dict[str, Any]]) -> bytes:
    return "\n".join(json.dumps(row) for row in records).encode()


def as_csv(records: list[dict[str, Any]]) -> bytes:
    out = io.StringIO()
    writer = csv.DictWriter(out, ["record_id", "text", "source_id", "label"], extrasaction="ignore")
    writer.writeheader()
    writer.writerows(records)
    return out.getvalue().encode()


@pytest.fixture(scope="session")
def small_made(tmp_path_factory: pytest.TempPathFactory) -> Small:
    path = tmp_path_factory.mktemp("small") / "workspace"
    workspace = engine.open_workspace(path)
    mapping = ColumnMapping(
        text="text", record_id="record_id", source_id="source_id", label="label", keep=(), spans="spans"
    )
    corpus = workspace.corpora.import_file(
        as_jsonl(rows()), "tickets.jsonl", mapping, name="Tickets *80*", unit="source", cap=20
    )
    bare = workspace.corpora.import_file(
        as_csv(rows()[:20]), "bare.csv", ColumnMapping(text="text", record_id="record_id"), name="Bare"
    )
    workspace.settings.set_actor("custodian")  # asking for the name is tested in test_acting.py
    with workspace.session.db.write() as connection:  # the profile job that follows an import is not under test
        from engine.store import queue

        for job_id in queue.active_jobs(connection):
            queue.finish(connection, job_id, "done")
    workspace.close()
    return Small(path, corpus.id, bare.id)


@pytest.fixture
def small(small_made: Small, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Small]:
    """Return a copy of the workspace that this test may change; no worker starts."""
    from engine.jobs.worker.lock import ProcessLock

    path = tmp_path / "workspace"
    moved(small_made.path, path)
    monkeypatch.setenv("UNDERSTUDY_WORKSPACE", str(path))
    copy = replace(small_made, path=path)
    lock = ProcessLock(copy.open().folder.worker_lock)
    assert lock.acquire()
    yield copy
    lock.release()


@pytest.fixture
def open_page(small: Small, visit: Any) -> Any:
    """Return a function that opens a page with one of the two corpora chosen."""

    def go(page: str, *, bare: bool = False, **state: Any) -> AppTest:
        app: AppTest = visit(page, **{"_ui.next_corpus": small.bare if bare else small.corpus, **state})
        return app

    return go


def words(app: AppTest) -> str:
    """Return everything on the page that goes through Markdown or an alert."""
    kinds = ("title", "header", "subheader", "markdown", "caption", "error", "warning", "info", "success")
    return "\n".join(str(element.value) for kind in kinds for element in getattr(app, kind))


def drawn_table(text: str) -> list[dict[str, str]]:
    """Return the rows of the first table of words in text, by heading; what was escaped is read back."""
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    cells = [
        [cell.strip().replace("\\", "").replace("\u00a0", " ") for cell in line[2:-2].split(" | ")] for line in lines
    ]
    return [dict(zip(cells[0], row, strict=True)) for row in cells[2:]]


def labels(app: AppTest) -> list[str]:
    return [button.label for button in app.button]


def fail_job(workspace: engine.Workspace, job_id: str, why: str) -> None:
    from engine.store import queue

    with workspace.session.db.write() as connection:
        queue.finish(connection, job_id, "failed", why)


def verdict_lines(box: Any) -> list[str]:
    """Return each sentence of a privacy verdict with its word, and what opens below it."""
    folds = [(fold.label, *(e.value for e in fold.markdown), *(e.value for e in fold.caption)) for fold in box.expander]
    open_ones = [str(e.value) for e in box.markdown if str(e.value).startswith(":")]
    return ["\n".join(fold) for fold in folds] + open_ones
