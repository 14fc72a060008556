"""A process killed between a row and the line that tells of it leaves both or neither, and what is there holds."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, update

from engine.store import audit
from engine.store.database.schema import runs
from engine.store.disk import heads
from engine.store.logs.check import check_logs
from engine.store.people.members import Members
from engine.store.runs import chained
from engine.store.session import new_id
from engine.store.store import Store
from tests.crash.killing import in_child
from tests.store.conftest import MAPPING, made_up
from tests.store.making import ask_for, examine, finding, finished_run

TEXTS = [f"Made-up letter {i} about a knee." for i in range(6)]


@pytest.fixture(scope="module")
def ready(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with a finished run and one that is being made, closed again."""
    path = tmp_path_factory.mktemp("held") / "workspace"
    store = Store(path, actor="tester")
    corpus = store.corpora.import_table(made_up(), MAPPING, name="Letters", unit="record", holdout=0.25)
    finished_run(store, corpus, TEXTS)
    finished_run(store, corpus, TEXTS[:2], state="running")
    store.close()
    return path


def one(store: Store, state: str) -> str:
    return next(run.id for run in store.runs.all() if run.state == state)


def finish(store: Store) -> None:
    with store.session.db.write() as connection:
        run_id = one(store, "running")
        connection.execute(update(runs).where(runs.c.id == run_id).values(state="done", finished="2026"))
        chained.end(store.session, connection, run_id)


def ask(store: Store) -> None:
    with store.session.db.write() as connection:
        row = dict(connection.execute(select(runs)).first()._mapping)
        values = {name: row[name] for name in row if name not in ("sealed", "kept", "job_id", "state_json")}
        ask_for(
            store.session, connection, {**values, "id": new_id("r"), "state": "queued", "funnel": {}, "seconds": 0.0}
        )


def grow(store: Store) -> None:
    with store.session.db.write() as connection:
        run_id = one(store, "running")
        row = connection.execute(select(runs).where(runs.c.id == run_id)).one()
        new = {"run_id": run_id, "position": 2, "record_id": "s-3", "text": "Three.", "label": None, "lineage": None}
        left: dict[str, Any] = {"kept": 3, "funnel": {"kept": 3}, "diagnostics": {}, "seconds": 1.0, "state_json": None}
        chained.grow(connection, store.session.key, row, [new], left)
        audit.append(connection, store.session.key, "tester", "noted", "", {})


ACTS: dict[str, Callable[[Store], object]] = {
    "a run is asked for": ask,
    "a run grows": grow,
    "a run ends": finish,
    "an examination": lambda store: examine(store, one(store, "done"), [finding("pipp", 0.2)], {"s-000001": 0.3}),
    "an approval": lambda store: store.runs.approve(one(store, "done"), ["s-000001"], "approved"),
    "a declaration": lambda store: store.labels.declare(store.corpora.all()[0].id, ["knee"]),
    "a role": lambda store: Members(store.session).set("ada", "Ada", ["custodian"]),
    "a deletion": lambda store: store.runs.delete(one(store, "done")),
}


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("where", ["before the line", "behind the line", "behind the commit"])
def test_a_kill_leaves_what_holds(ready: Path, tmp_path: Path, act: str, where: str) -> None:
    path = tmp_path / "workspace"
    shutil.copytree(ready, path)
    store = Store(path, actor="tester")
    before = store.audit.count()
    store.close()

    def work() -> None:
        opened = Store(path, actor="tester")
        append = audit.append

        def line(*arguments: Any) -> str:
            if where == "before the line":
                die()
            made = append(*arguments)
            if where == "behind the line":
                die()
            return made

        audit.append = line
        if where == "behind the commit":
            opened.session.db.grown = die
        ACTS[act](opened)

    assert in_child(work) == -signal.SIGKILL
    assert check_logs(path).broken == ()
    again = Store(path, actor="tester")
    assert again.audit.count() == before + (where == "behind the commit")
    if where != "behind the commit":
        ACTS[act](again)
    again.close()
    assert check_logs(path).broken == ()
    assert heads.kept(again.folder, audit.CHAIN.name)
