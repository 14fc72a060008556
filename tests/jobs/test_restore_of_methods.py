"""Every registered method in a real worker, then a backup and a restore of each kind: what is there is there again."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from sqlalchemy import select

from engine import open_workspace
from engine.corpus.columns.mapping import ColumnMapping
from engine.corpus.samples import load_sample
from engine.errors import RefusedError
from engine.methods import get_method, method_ids
from engine.models.marks import read_marks
from engine.store import restore
from engine.store.database.schema import mechanism_outputs
from engine.store.disk.folder import SCRATCH
from engine.workspace import Workspace
from tests.contract.test_methods import QUICK
from tests.jobs.conftest import wait
from tests.models.serving import serving

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]  # every method runs before the first test
ROOT = Path(__file__).resolve().parents[2]
MAPPING = ColumnMapping(text="text", record_id="record_id", source_id="source_id", label="label", spans="spans")
IDS = (*method_ids(), "filter:public")
CHOICE = "paid-choice"  # made among the others, so it comes behind them
KINDS = ("program", "command line", "of a restored one")
FITTED = {"finetune", "goldfish", "dp-finetune"}  # their weights stay in the run's folder, marked
# Runs that were cancelled in the middle: what they drew is stored, and what a training holds in its scratch is not.
CUT = {
    "cut between votes": ("aug-pe", {"rounds": 4, "variations": 2, "epsilon": 2.0}),
    "cut in training": ("dp-finetune", {"steps": 400}),
}
BUDGET = {"epsilon": 1.0, "delta": 1e-5}
SETTINGS = QUICK | {"rewrite": {"rounds": 1, "unfinished": "keep", "domain": "reviews", "candidates": 2}}
ENDPOINT = {"name": "near", "model": "builtin", "api": "chat", "prompts": "instruct"}


@dataclass
class World:
    """The workspace with all runs, the restored ones, and how each run was when the backup was made."""

    workspace: Workspace
    corpus: str
    runs: dict[str, str] = field(default_factory=dict)
    again: dict[str, Workspace] = field(default_factory=dict)
    before: dict[str, dict[str, Any]] = field(default_factory=dict)


def settings(method: str) -> dict[str, Any]:
    """Return what makes a run short; a formal claim is asked for at a small ε."""
    inner = method.removeprefix("filter:")
    known = get_method(method).spec.parameters.model_fields
    budget = {name: value for name, value in BUDGET.items() if name in known}
    return SETTINGS.get(inner, {}) | (budget if get_method(method).spec.kind == "dp" else {})


def begun(workspace: Workspace, corpus: str, method: str, **changes: Any) -> str:
    """Start a run of a method and return its id."""
    asked = settings(method) | changes
    spec = get_method(method).spec
    workspace.plan.wait_guarantee(method, corpus_id=corpus, parameters=asked)
    count = None if spec.one_to_one and "instruct" not in spec.needs else 1 if "instruct" in spec.needs else 3
    model = "endpoint:near" if "instruct" in spec.needs else "builtin"
    run_id: str = workspace.jobs.synthesize(corpus, method, count=count, parameters=asked, model=model, seed=3)
    return run_id


def ended(workspace: Workspace, run_id: str) -> None:
    job = wait(workspace, workspace.runs.get(run_id).job_id, seconds=300)
    assert job.state == "done", (workspace.runs.get(run_id).method, job.error)


def own_lines(workspace: Workspace, corpus: str, run_id: str) -> pd.DataFrame:
    lines = workspace.ledger.of(corpus).lines
    return lines[lines["run_id"] == run_id]


def drawn_outputs(workspace: Workspace, run_id: str) -> dict[str, bytes]:
    """Return what a run's mechanisms gave, by name."""
    table = mechanism_outputs.c
    query = select(table["key"], table["values"]).where(table.run_id == run_id)
    with workspace.session.db.read() as connection:
        return {str(key): bytes(values) for key, values in connection.execute(query)}


def seen(workspace: Workspace, corpus: str, run_id: str) -> dict[str, Any]:
    """Return all that a run left: its row, records, folder, notes, snapshots, ledger lines, charges and marks."""
    folder = workspace.folder.run(run_id)
    files = {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and SCRATCH not in path.relative_to(folder).parts
    }
    tuned = folder / "tuned"
    return {
        "run": workspace.runs.get(run_id),
        "records": workspace.runs.synthetic(run_id, limit=1000).to_json(orient="records"),
        "files": files,
        "diagnostics": json.dumps(workspace.runs.diagnostics(run_id), sort_keys=True, default=str),
        "snapshots": [(number, frame.to_dict("list")) for number, frame in workspace.examinations.snapshots(run_id)],
        "lines": json.dumps(own_lines(workspace, corpus, run_id).to_dict("records"), default=str),
        "drawn": drawn_outputs(workspace, run_id),
        "marks": read_marks(tuned) if tuned.is_dir() else None,
        "state": workspace.runs.get(run_id).state,
    }


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    base = tmp_path_factory.mktemp("restored")
    workspace = open_workspace(base / "first", "tester")
    made: list[Workspace] = [workspace]
    sample = load_sample("support_tickets").head(24)
    labels = sorted(set(sample["label"]))
    corpus = workspace.corpora.import_table(sample, MAPPING, name="Tickets", unit="source", cap=5, labels_public=labels)
    workspace.review.use_gold(corpus.id)
    workspace.ledger.set_limit(corpus.id, 50.0, 1e-4)
    made_elsewhere = "text\n" + "".join(f"Parcel {i} came late and nobody said why on day {i}.\n" for i in range(12))
    workspace.pools.import_file(
        made_elsewhere.encode(), "p.csv", name="made", origin="made up", licence="CC0", declared=True
    )
    found = World(workspace, corpus.id)
    try:
        with serving() as served:
            workspace.models.add_endpoint(ENDPOINT | {"url": served.url})
            for method in IDS:
                if method != CHOICE:
                    found.runs[method] = begun(workspace, corpus.id, method)
            for run_id in list(found.runs.values()):
                ended(workspace, run_id)
            found.runs[CHOICE] = workspace.jobs.synthesize(corpus.id, CHOICE, count=1, parameters={"epsilon": 1.0})
            ended(workspace, found.runs[CHOICE])
            for name, (method, changes) in CUT.items():
                cut = found.runs[name] = begun(workspace, corpus.id, method, **changes)
                deadline = time.monotonic() + 240
                while "spend" not in list(own_lines(workspace, corpus.id, cut)["kind"]):
                    assert time.monotonic() < deadline, workspace.runs.get(cut)
                    time.sleep(0.05)
                workspace.jobs.cancel(cut)
                assert wait(workspace, workspace.runs.get(cut).job_id, seconds=120).state == "cancelled"
        for name, run_id in found.runs.items():
            found.before[name] = seen(workspace, corpus.id, run_id)
        for kind, folder in zip(KINDS, ("program", "command", "twice"), strict=True):
            where = _again(kind, workspace, base, base / folder)
            found.again[kind] = open_workspace(where, "tester")
            made.append(found.again[kind])
        yield found
    finally:
        for opened in made:
            opened.jobs.stop_worker()
            opened.close()


def _again(kind: str, workspace: Workspace, base: Path, target: Path) -> Path:
    """Back the workspace up and restore it, in one of the ways that there are."""
    file = base / f"{target.name}.zip"
    if kind == "command line":
        for folder, verb in ((workspace.path, "backup"), (target, "restore")):
            environment = {**os.environ, "UNDERSTUDY_WORKSPACE": str(folder)}
            done = subprocess.run(
                [sys.executable, "-m", "engine", verb, str(file)], cwd=ROOT, env=environment, capture_output=True,
                text=True, check=False, timeout=120,
            )  # fmt: skip
            assert done.returncode == 0, done.stderr
        return target
    if kind == "of a restored one":
        middle = open_workspace(restore(workspace.disk.backup(base / "middle.zip"), base / "middle"), "tester")
        try:
            return restore(middle.disk.backup(file), target)
        finally:
            middle.close()
    return restore(workspace.disk.backup(file), target)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", [*IDS, *CUT])
def test_a_run_is_restored_as_it_was(world: World, name: str, kind: str) -> None:
    now = seen(world.again[kind], world.corpus, world.runs[name])
    before = world.before[name]
    for part, value in before.items():
        assert now[part] == value, part
    assert before["state"] == ("cancelled" if name in CUT else "done")
    if name not in CUT:
        assert before["run"].kept == len(json.loads(before["records"]))
        assert before["run"].kept > 0 or name == "rewrite"  # a model of a few weights often answers nothing at all
    spec = get_method(CUT[name][0] if name in CUT else name).spec
    assert ("spend" in before["lines"]) == (spec.kind == "dp" and spec.id.removeprefix("filter:") != "public")
    assert (before["marks"] is not None) == (name in FITTED)
    if name in FITTED:
        assert any(path.startswith("tuned/") for path in before["files"])
        assert before["marks"]
    if name == "rewrite":
        assert any(path.startswith("traces/") for path in before["files"])


@pytest.mark.parametrize("kind", KINDS)
def test_a_restored_workspace_opens_whole_and_says_what_it_does_not_know(world: World, kind: str) -> None:
    again = world.again[kind]
    assert again.session.key == world.workspace.session.key
    assert again.audit.verify()["ok"]
    assert again.ledger.verify()["ok"]
    assert [
        check for check in again.doctor.check()["checks"] if not check["ok"] and check["name"] in ("ledger", "audit")
    ] == []
    assert again.corpora.records(world.corpus, limit=100).equals(
        world.workspace.corpora.records(world.corpus, limit=100)
    )
    assert again.review.accepted_spans(world.corpus).equals(world.workspace.review.accepted_spans(world.corpus))
    assert again.ledger.of(world.corpus).unknown_since
    with pytest.raises(RefusedError, match="spent"):
        again.jobs.synthesize(world.corpus, "aug-pe", count=3, parameters=settings("aug-pe"))
