"""A workspace in which the examination and release pages have something to show.

Runs and their records are written as the worker commits them; findings and tables are made by the
real examination on a sample corpus. A held worker lock keeps a second process from starting.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
os.environ.setdefault("OMP_NUM_THREADS", "1")
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from streamlit.components.v2 import manifest_scanner  # noqa: E402
from streamlit.testing.v1 import AppTest  # noqa: E402

import engine  # noqa: E402
from engine.store.audit import now  # noqa: E402
from engine.store.session import new_id  # noqa: E402
from tests.moving import moved  # noqa: E402
from tests.pages.small import open_page, small, small_made  # noqa: E402, F401
from tests.store.making import add_texts, ask_for  # noqa: E402

# Each run of a page is a server's first one here, and would read the metadata of every installed package anew.
manifest_scanner.scan_component_manifests = lru_cache(maxsize=1)(manifest_scanner.scan_component_manifests)

PLANTED = "said that the long evening walk along the river did her a great deal of good last week"


@dataclass(frozen=True)
class Seeded:
    """Ids of what the workspace holds."""

    path: Path
    corpus: str
    run: str
    other: str

    def open(self) -> engine.Workspace:
        return engine.open_workspace(self.path)


def add_run(
    workspace: engine.Workspace,
    corpus_id: str,
    records: list[dict[str, Any]],
    *,
    method: str = "filter",
    title: str = "Three-stage filter",
    state: str = "done",
    error: str | None = None,
) -> str:
    """Write a run with its records the way the worker leaves it; return its id."""
    from engine.dp.guarantee import Guarantee
    from engine.store.corpora.corpora import corpus_row
    from engine.store.runs import chained

    run_id, at = new_id("r"), now()
    with workspace.session.db.write() as connection:
        values = {
            "id": run_id,
            "corpus_id": corpus_id,
            "method": method,
            "title": title,
            "parameters": {},
            "seed": 1,
            "model": "builtin",
            "count": len(records),
            "state": state,
            "created": at,
            "started": at,
            "finished": at if state != "running" else None,
            "funnel": {},
            "diagnostics": {},
            "guarantee": Guarantee("none", "No formal guarantee covers this run.").as_dict(),
            "manifest": {"versions": {"understudy": "0.1.0"}},
            "error": error,
            "revision": corpus_row(connection, corpus_id).revision,
            "needs_spans": True,
            "job_id": "",
        }
        ask_for(workspace.session, connection, values)
        rows = [{"record_id": f"s-{i + 1:06d}", **record} for i, record in enumerate(records)]
        add_texts(workspace.session, connection, run_id, rows, seconds=1.0)
        chained.end(workspace.session, connection, run_id)
    return run_id


def add_job(
    workspace: engine.Workspace,
    kind: str,
    state: str,
    *,
    corpus_id: str,
    run_id: str | None = None,
    error: str | None = None,
) -> str:
    """Write a job in a given state, as the queue keeps it; return its id."""
    from engine.store.database.schema import jobs

    job_id, at = new_id("j"), now()
    with workspace.session.db.write() as connection:
        connection.execute(
            jobs.insert().values(
                id=job_id,
                kind=kind,
                lane="heavy",
                state=state,
                stage="word-for-word copies",
                done=3,
                total=10,
                seconds_left=40.0,
                created=at,
                started=at,
                finished=at if state == "failed" else None,
                heartbeat=at,
                error=error,
                sample=[],
                arguments={"privacy": True, "utility": True},
                corpus_id=corpus_id,
                run_id=run_id,
            )
        )
    return job_id


def mixed_records(workspace: engine.Workspace, corpus_id: str, count: int, copied: int) -> list[dict[str, Any]]:
    """Return records of which `copied` repeat a training record word for word, and add a sentence to it."""
    train = workspace.corpora.records(corpus_id, split="train", limit=count)
    made = []
    for i, row in enumerate(train.itertuples(index=False)):
        text = (
            f"{row.text} Seen again in spring."
            if i < copied
            else f"Visit {i}. The patient {PLANTED}, and asked about point {i * 7} again."
        )
        made.append({"text": text, "label": row.label, "lineage": row.record_id if i < copied else None})
    return made


def examine(workspace: engine.Workspace, run_id: str, *, groups: tuple[str, ...] = ("privacy", "utility")) -> None:
    """Examine a run without encoder and detector; what needs them is reported as not estimable."""
    from engine.examine.examination import ExamineInput, examine_run

    run = workspace.runs.get(run_id)
    frame = workspace.corpora.frame(run.corpus_id)
    output = examine_run(
        ExamineInput(
            synthetic=workspace.runs.synthetic_frame(run_id)[["record_id", "text", "label", "lineage"]],
            train=frame[frame["split"] == "train"].reset_index(drop=True),
            holdout=frame[frame["split"] == "holdout"].reset_index(drop=True),
            train_spans=workspace.review.accepted_spans(run.corpus_id, "train"),
            holdout_spans=workspace.review.accepted_spans(run.corpus_id, "holdout"),
            unit=workspace.corpora.get(run.corpus_id).unit,
            privacy="privacy" in groups,
            utility="utility" in groups,
            model_attacks=False,  # they take a minute
            seed=1,
        )
    )
    workspace.examinations.save_tables(run_id, output.tables)
    from engine.store.runs.runs import run_row

    with workspace.session.db.write() as connection:
        revision = run_row(connection, run_id).corpus_revision
        workspace.examinations.save(connection, run_id, output.findings, output.record_risk, revision, groups)


def build(path: Path) -> Seeded:
    """Fill a workspace: a sample corpus, two runs, both examined."""
    workspace = engine.open_workspace(path)
    corpus = workspace.corpora.import_sample("clinic_letters")
    workspace.review.use_gold(corpus.id)
    workspace.settings.set_actor("custodian")  # asking for the name is tested in test_acting.py
    run = add_run(workspace, corpus.id, mixed_records(workspace, corpus.id, 120, 12))
    other = add_run(
        workspace,
        corpus.id,
        mixed_records(workspace, corpus.id, 120, 90),
        method="surrogate",
        title="Surrogate replacement",
    )
    for run_id in (run, other):
        examine(workspace, run_id)
    workspace.close()
    return Seeded(path, corpus.id, run, other)


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Hold the worker lock of the workspace at `path`, so that no second process starts."""
    from engine.jobs.worker.lock import ProcessLock

    lock = ProcessLock(engine.open_workspace(path).folder.worker_lock)
    assert lock.acquire()
    try:
        yield
    finally:
        lock.release()


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Seeded:
    """Build the workspace once a session."""
    path = tmp_path_factory.mktemp("built") / "workspace"
    with held(path):
        return build(path)


@pytest.fixture
def seeded(built: Seeded, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Seeded]:
    """Return a copy of the built workspace that this test may change."""
    path = tmp_path / "workspace"
    moved(built.path, path)
    monkeypatch.setenv("UNDERSTUDY_WORKSPACE", str(path))
    with held(path):
        yield replace(built, path=path)


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return the folder of a workspace with nothing in it."""
    path = tmp_path / "workspace"
    monkeypatch.setenv("UNDERSTUDY_WORKSPACE", str(path))
    with held(path):
        yield path


@pytest.fixture
def visit() -> Any:
    """Return a function that opens a page in a fresh session, as its address does, and asserts that it did not crash.

    Before the first run a page is known by its file's name, which is its address; the first page has none.
    """

    def go(page_id: str, **state: Any) -> AppTest:
        from pages._ui.navigation import page_path

        app = AppTest.from_file(str(ROOT / "pages" / "_ui" / "main.py"), default_timeout=30)
        for key, value in state.items():
            app.session_state[key] = value
        if page_id != "home":
            app.switch_page(page_path(page_id))
        app.run()
        assert not app.exception, app.exception
        return app

    return go


@pytest.fixture(name="add_run")
def add_run_fixture() -> Any:
    """Return `add_run` for tests that need another run."""
    return add_run


@pytest.fixture(name="add_job")
def add_job_fixture() -> Any:
    """Return `add_job` for tests that need a job in some state."""
    return add_job


@pytest.fixture
def import_small() -> Any:
    """Return a function that imports a corpus of ten short records."""

    def do(workspace: engine.Workspace) -> Any:
        from engine.corpus.columns.mapping import ColumnMapping

        lines = [
            "text,label",
            *(f"Visitor {i} asked about the opening hours,question" for i in range(10)),
        ]
        content = "\n".join(lines).encode()
        return workspace.corpora.import_file(
            content, "small.csv", ColumnMapping(text="text", label="label"), name="Small"
        )

    return do


@pytest.fixture(name="examine")
def examine_fixture() -> Any:
    """Return `examine` for tests that need findings of another run."""
    return examine
