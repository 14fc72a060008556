"""Two hundred hostile records through load, detection, review, runs, examination, pages and export: no crash."""

from __future__ import annotations

import csv
import json
from typing import Any

import pandas as pd
import pytest

import engine
from engine.corpus.columns.mapping import ColumnMapping
from engine.release import verify
from engine.store.logs.check import check_logs
from pages._ui.navigation import PAGES
from tests.attacked.hostile import KINDS, as_jsonl, texts
from tests.jobs.conftest import wait
from tests.pages.conftest import visit
from tests.store.making import examine, finding, finished_run
from tests.store.review.test_held import ONE, Step

__all__ = ["visit"]
pytestmark = [pytest.mark.slow, pytest.mark.timeout(1500)]
MAPPING = ColumnMapping("text", record_id="id", source_id="who", label="kind")
FORMULA = ("=", "+", "-", "@", "\t", "\r")


def test_hostile_records_go_the_whole_way(tmp_path, monkeypatch, visit: Any):
    assert len(set(texts())) >= 190
    path = tmp_path / "workspace"
    monkeypatch.setenv("UNDERSTUDY_WORKSPACE", str(path))
    workspace = engine.open_workspace(path, "tester")
    corpus = workspace.corpora.import_file(as_jsonl(), "hostile.jsonl", MAPPING, name="Hostile *x*", unit="source",
                                           cap=4, labels_public=["a|b", "</x>", "=1+1"])  # fmt: skip
    assert corpus.records == 200 - corpus_empties(workspace, corpus.id)
    assert wait(workspace, workspace.jobs.detect(corpus.id), seconds=600).state == "done"
    reviewed(workspace, corpus.id)
    for method, settings in (("surrogate", {}), ("filter", {"count": 6}), ("public", {"count": 4})):
        run = workspace.runs.get(workspace.jobs.synthesize(corpus.id, method, seed=1, **settings))
        done = wait(workspace, run.job_id, seconds=600)
        assert done.state == "done", (method, done.error)
        assert wait(workspace, workspace.jobs.examine(run.id, model_attacks=False), seconds=900).state == "done"
    outputs(workspace, corpus, tmp_path)
    for info in PAGES:  # each page of the latest run, in this process
        visit(info.id, **{"_ui.corpus": corpus.id, "_ui.run": workspace.runs.all()[0].id})
    log = workspace.folder.worker_log.read_text()
    assert "evil.example" not in log
    assert "Traceback" not in log
    assert check_logs(path).broken == ()
    workspace.jobs.stop_worker()
    workspace.close()


def corpus_empties(workspace: engine.Workspace, corpus_id: str) -> int:
    return int(workspace.corpora.statistics(corpus_id).empties_dropped)


def reviewed(workspace: engine.Workspace, corpus_id: str) -> None:
    """Decide on what was found, add marks, search, draw a spot check and count who is named."""
    ids = list(workspace.corpora.records(corpus_id, limit=1000)["record_id"])
    for number, record in enumerate(ids[:60], 1):
        spans = workspace.review.spans(corpus_id, record)
        for span, action in zip(spans, ("accept", "reject", "accept"), strict=False):
            workspace.review.decide(corpus_id, [span.span_id], action)
        text = workspace.review.record_text(corpus_id, record)
        if text.strip():
            place = ((0, min(len(text), 7)),)
            workspace.review.take(corpus_id, [Step(ONE, number, "add", record=record, places=place, label="PERSON")])
    workspace.review.mark_reviewed(corpus_id, ids[:60])
    for word in (*KINDS[:12], "%", "_", "\\", "'", '"', "*", ""):
        workspace.values.table(corpus_id, search=word)
        workspace.review.queue(corpus_id, search=word)
    workspace.named.spread(corpus_id)


def outputs(workspace: engine.Workspace, corpus: Any, folder: Any) -> None:
    """Release what a model might have written: the hostile texts themselves, as outputs that are no originals."""
    made = [f"Output {n}. {text}" for n, text in enumerate(texts()) if text.strip()]
    run = finished_run(workspace, corpus, made, settings={"revision": revision(workspace, corpus.id)})
    rules = next(one for one in workspace.releases.policies() if one.id == "exploratory").rules
    found = [finding(r.finding, 0.0, reference=name) for r in rules for name in (r.reference, r.above) if name]
    examine(workspace, run, found, revision=revision(workspace, corpus.id))
    workspace.runs.approve_all_pending(run)
    bundle = folder / "bundle"
    released = workspace.releases.make(run, "exploratory", out=bundle, accept_unbounded=True)
    assert verify(bundle)["ok"]
    rows = list(csv.reader((bundle / "records.csv").open(newline="", encoding="utf-8")))
    assert len(rows) == released.records + 1
    assert not [cell for row in rows for cell in row if cell.startswith(FORMULA)]
    lines = [json.loads(line) for line in (bundle / "records.jsonl").read_text("utf-8").split("\n") if line]
    assert len(lines) == len(pd.read_parquet(bundle / "records.parquet")) == released.records
    assert sorted(line["text"] for line in lines) == sorted(made)


def revision(workspace: engine.Workspace, corpus_id: str) -> int:
    with workspace.session.db.read() as connection:
        return int(connection.exec_driver_sql("SELECT revision FROM corpora").scalar_one())
