"""Released on the strength of a proof alone: real methods in a real worker, and what ends the whole statement."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from engine import open_workspace
from engine.corpus.columns.mapping import ColumnMapping
from engine.corpus.samples import load_sample
from engine.errors import RefusedError
from engine.release.bundle.bundle import verify
from engine.release.card.card import BEFORE_SELECTION, NONE_HELD_BACK, NOT_COMPARED, WHOLE
from tests.jobs.conftest import wait

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[2]
EPSILON, DELTA = 4.0, 1e-5
MAPPING = ColumnMapping(text="text", record_id="record_id", source_id="source_id", label="label", spans="spans")
RUNS = {
    "public": {"words": 12},
    "aug-pe": {"words": 12, "rounds": 2, "variations": 2, "epsilon": EPSILON, "delta": DELTA},
}
COUNT = 6


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    opened = open_workspace(tmp_path_factory.mktemp("proof") / "workspace", "tester")
    yield opened
    opened.jobs.stop_worker()
    opened.close()


@pytest.fixture(scope="module")
def tickets():
    return load_sample("support_tickets").head(60)


@pytest.fixture(scope="module")
def corpus(workspace, tickets):
    labels = sorted(set(tickets["label"]))
    made = workspace.corpora.import_table(tickets, MAPPING, name="Tickets", unit="source", cap=5, labels_public=labels)
    workspace.review.use_gold(made.id)  # for the examination alone: methods with a guarantee see no span
    workspace.ledger.set_limit(made.id, 20.0, DELTA)
    return made


def finished(workspace, corpus, method, **changes):
    """Return a run of a method, done, with every record approved; nothing private was measured."""
    asked = RUNS[method] | changes
    workspace.plan.wait_guarantee(method, corpus_id=corpus.id, parameters=asked)
    run_id = workspace.jobs.synthesize(corpus.id, method, count=COUNT, parameters=asked, seed=3)
    job = wait(workspace, workspace.runs.get(run_id).job_id, seconds=240)
    assert job.state == "done", job.error
    assert not workspace.releases.gate(run_id, "proof", signed_off_by="Grace").passed  # nobody has decided yet
    workspace.runs.approve_all_pending(run_id)
    return run_id


def kinds(workspace, corpus, run_id):
    lines = workspace.ledger.of(corpus.id).lines
    return list(lines[lines["run_id"] == run_id]["kind"])


@pytest.mark.parametrize("method", sorted(RUNS))
def test_a_whole_output_leaves_with_its_statement_whole(workspace, corpus, tmp_path, method):
    run_id = finished(workspace, corpus, method)
    run = workspace.runs.get(run_id)
    before = kinds(workspace, corpus, run_id)
    with pytest.raises(RefusedError, match="second person"):
        workspace.releases.make(run_id, "proof")
    made = workspace.releases.make(run_id, "proof", signed_off_by="Grace", out=tmp_path / "bundle")
    assert verify(tmp_path / "bundle")["ok"]
    # All that was kept left: the count of the run, of the bundle's files and of the ledger's run are one.
    with (tmp_path / "bundle" / "records.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == made.records == run.kept == run.funnel["kept"] <= COUNT
    assert sorted(row["text"] for row in rows) == sorted(workspace.runs.synthetic(run_id)["text"])
    assert {row["label"] for row in rows} <= set(workspace.labels.known(corpus.id).declared)
    assert all(name.startswith("dropped") or name in ("made", "kept") for name in run.funnel)
    # The card holds the statement, its ε and δ, and that it covers the records as they are.
    text = (tmp_path / "bundle" / "DATA_CARD.md").read_text("utf-8")
    card = json.loads((tmp_path / "bundle" / "card.json").read_text("utf-8"))
    claim = card["guarantee"]
    assert claim["sentence"] == run.guarantee.sentence
    assert (claim["epsilon"], claim["delta"]) == ((0.0, 0.0) if method == "public" else (EPSILON, DELTA))
    assert claim["selected"] is False
    for said in (run.guarantee.sentence, WHOLE, NONE_HELD_BACK, NOT_COMPARED):
        assert " ".join(said.split()) in " ".join(text.split())
    assert BEFORE_SELECTION not in text
    assert len(card["settings"]) > 1
    # What the claim names is what the ledger was charged, and the release added no look at private data.
    spends = sum(event.get("count", 1) for event in run.guarantee.events)
    assert before == (["reserve", *["spend"] * spends, "settle"] if spends else before)
    assert "touch" not in kinds(workspace, corpus, run_id)
    assert not workspace.ledger.of(corpus.id).unbounded
    if spends:
        total = workspace.ledger.of(corpus.id).total_epsilon  # of all runs of these people so far
        assert total is not None
        assert total >= EPSILON * (1 - 1e-3)


def test_what_chooses_by_private_data_ends_the_whole_statement(workspace, corpus, tmp_path):
    run_id = finished(workspace, corpus, "aug-pe", epsilon=2.0)
    first = str(workspace.runs.synthetic(run_id, limit=1)["record_id"].iloc[0])
    workspace.runs.approve(run_id, [first], "rejected")  # a part, chosen by hand
    with pytest.raises(RefusedError, match="whole output"):
        workspace.releases.make(run_id, "proof", signed_off_by="Grace")
    workspace.runs.approve(run_id, [first], "approved")
    job = wait(workspace, workspace.jobs.examine(run_id, utility=False, model_attacks=False), seconds=300)
    assert job.state == "done", job.error
    with pytest.raises(RefusedError, match="Nothing private had a say"):
        workspace.releases.make(run_id, "proof", signed_off_by="Grace")
    # Another policy may let it leave, and the card then says what the statement has become.
    verdict = workspace.releases.gate(run_id, "exploratory")
    assert verdict.passed, verdict.open_rules()
    workspace.releases.make(run_id, "exploratory", out=tmp_path / "other")
    text = " ".join((tmp_path / "other" / "DATA_CARD.md").read_text("utf-8").split())
    assert " ".join(BEFORE_SELECTION.split()) in text
    assert " ".join(WHOLE.split()) not in text


def test_an_output_that_equals_a_private_record_leaves_or_not_without_being_looked_for(workspace, corpus, tickets):
    """A copy check would be a choice by private data; `public` writes the same texts whatever the corpus holds."""
    texts = list(workspace.runs.synthetic(finished(workspace, corpus, "public"))["text"])
    planted = tickets.drop(columns="spans").reset_index(drop=True)
    planted.loc[: len(texts) - 1, "text"] = texts
    other = workspace.corpora.import_table(
        planted,
        replace(MAPPING, spans=None),
        name="Planted",
        unit="source",
        cap=5,
        holdout=0.0,
        labels_public=sorted(set(tickets["label"])),
    )
    private = set(workspace.corpora.records(other.id, limit=100)["text"])
    assert private.issuperset(texts)
    run_id = finished(workspace, other, "public")
    assert list(workspace.runs.synthetic(run_id)["text"]) == texts
    assert workspace.releases.make(run_id, "proof", signed_off_by="Grace").records == len(texts)


def test_a_watched_loss_is_a_look_at_private_data(workspace, corpus):
    asked = {"steps": 2, "units_a_step": 8, "tokens": 12, "rank": 2, "words": 12, "lengths": "public", "epsilon": 1.0,
             "delta": DELTA, "watch_loss": True}  # fmt: skip
    workspace.plan.wait_guarantee("dp-finetune", corpus_id=corpus.id, parameters=asked)
    run_id = workspace.jobs.synthesize(corpus.id, "dp-finetune", count=2, parameters=asked)
    assert wait(workspace, workspace.runs.get(run_id).job_id, seconds=240).state == "done"
    workspace.runs.approve_all_pending(run_id)
    (open_rule,) = workspace.releases.gate(run_id, "proof", signed_off_by="Grace").open_rules()
    assert "loss of training" in open_rule.sentence
    with pytest.raises(RefusedError, match="Nothing private had a say"):
        workspace.releases.make(run_id, "proof", signed_off_by="Grace")


def command(folder, *arguments, expect=0):
    done = subprocess.run(
        [sys.executable, "-m", "engine", *map(str, arguments)], cwd=ROOT, capture_output=True, text=True, check=False,
        env={**os.environ, "UNDERSTUDY_WORKSPACE": str(folder)}, timeout=300,
    )  # fmt: skip
    assert done.returncode == expect, done.stdout + done.stderr
    return json.loads(done.stdout) if expect == 0 else done.stderr


def test_the_command_line_goes_the_same_way(tmp_path, tickets):
    folder = tmp_path / "workspace"
    tickets.drop(columns="spans").to_csv(tmp_path / "tickets.csv", index=False)
    try:
        corpus = command(
            folder, "import", tmp_path / "tickets.csv", "--text", "text", "--id", "record_id", "--source", "source_id",
            "--label", "label", "--unit", "source", "--cap", 5,
        )["corpus"]  # fmt: skip
        command(folder, "labels", corpus, "--declare", "--rare", "include")
        command(folder, "ledger", corpus, "--set-limit", 5, DELTA)
        made = command(
            folder, "synthesize", corpus, "--method", "aug-pe", "--count", COUNT, "--epsilon", EPSILON,
            "--delta", DELTA, "--set", "rounds=1", "--set", "variations=2", "--set", "words=12",
            "--set", "unreadable=drop",
        )  # fmt: skip
        ask = ("release", made["run"], "--policy", "proof", "--out", tmp_path / "bundle")
        assert "whole output" in command(folder, *ask, "--signed-off-by", "Grace", expect=2)
        command(folder, "approve", made["run"])
        assert "second person" in command(folder, *ask, expect=2)
        released = command(folder, *ask, "--signed-off-by", "Grace", "--contact", "Data office")
        assert released["records"] == made["records"]
        assert command(folder, "verify", tmp_path / "bundle")["ok"]
        card = " ".join((tmp_path / "bundle" / "DATA_CARD.md").read_text("utf-8").split())
        assert "Data office" in card
        assert " ".join(WHOLE.split()) in card
        assert command(folder, "ledger", corpus)["total_epsilon"] == pytest.approx(EPSILON, rel=1e-2)
        command(folder, "examine", made["run"], "--utility")
        assert "Nothing private had a say" in command(
            folder, "release", made["run"], "--policy", "proof", "--out", tmp_path / "two", "--signed-off-by", "Grace",
            expect=2,
        )  # fmt: skip
    finally:
        opened = open_workspace(folder, "tester")
        opened.jobs.stop_worker()
        opened.close()
