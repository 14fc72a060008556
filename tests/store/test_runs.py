"""Synthetic records, approvals, findings, tables."""

import math

import pandas as pd
import pytest
import yaml

from engine.errors import NotFoundError, UserError
from tests.store.making import examine, finding, finished_run
from tests.store.span_tables import add_span, span_table

TEXTS = [f"Made-up letter {i}." for i in range(12)]


@pytest.fixture
def run_id(store, corpus):
    return finished_run(store, corpus, TEXTS)


def test_a_run_is_listed_with_what_it_is(store, corpus, run_id):
    run = store.runs.get(run_id)
    assert store.runs.all(corpus.id) == store.runs.all() == [run]
    assert (run.state, run.kept, run.stale, run.examination_stale) == ("done", 12, False, False)
    assert store.corpora.get(corpus.id).next_step == "examine"
    with pytest.raises(NotFoundError, match="r-none"):
        store.runs.get("r-none")


def test_a_run_is_stale_when_accepted_spans_changed_since(store, corpus, run_id):
    span = span_table(store, corpus.id, "id3")["span_id"].iloc[0]
    store.review.decide(corpus.id, [span], "reject")
    assert store.runs.get(run_id).stale
    assert store.corpora.get(corpus.id).stale


def test_records_are_paged_in_order_and_by_id(store, run_id):
    page = store.runs.synthetic(run_id, offset=2, limit=3)
    assert list(page["record_id"]) == ["s-000003", "s-000004", "s-000005"]
    assert list(page.columns) == ["record_id", "text", "label", "approval", "risk"]
    assert set(page["approval"]) == {"pending"}
    assert list(store.runs.synthetic(run_id, ids=["s-000009", "s-000001"])["record_id"]) == ["s-000009", "s-000001"]
    assert store.runs.lineage(run_id, "s-000004") == "id3"
    with pytest.raises(NotFoundError):
        store.runs.lineage(run_id, "s-999999")


def test_examining_gives_findings_risk_and_tables(store, corpus, run_id):
    found = [finding("pipp", 0.25), finding("mauve", float("nan"), "utility", "none", why="too few")]
    leaks = pd.DataFrame({"record_id": ["s-000001"], "start": [0]})
    examine(store, run_id, found, {"s-000003": 0.9, "s-000002": 0.4}, tables={"leaks": leaks})
    back = store.examinations.findings(run_id)
    assert back[0] == found[0]
    assert math.isnan(back[1].value)
    assert list(store.runs.synthetic(run_id, order="risk", limit=2)["record_id"]) == ["s-000003", "s-000002"]
    pd.testing.assert_frame_equal(store.examinations.table(run_id, "leaks"), leaks, check_dtype=False)
    assert store.examinations.tables(run_id) == ["leaks", "originals"]
    assert store.corpora.get(corpus.id).next_step == "release"


@pytest.mark.parametrize("name", ["nothing", "../../workspace", "leaks/../leaks", "LEAKS"])
def test_an_unknown_table_is_none(store, run_id, name):
    examine(store, run_id, [finding("pipp", 0.1)], tables={"leaks": pd.DataFrame({"a": [1]})})
    assert store.examinations.table(run_id, name) is None


def test_examining_one_part_keeps_the_other(store, run_id):
    examine(store, run_id, [finding("pipp", 0.2), finding("mauve", 0.9, "utility")])
    examine(store, run_id, [finding("pipp", 0.3)], groups=("privacy",))
    assert {f.name: f.value for f in store.examinations.findings(run_id)} == {"mauve": 0.9, "pipp": 0.3}


def test_a_changed_review_makes_the_examination_stale(store, corpus, run_id):
    examine(store, run_id, [finding("pipp", 0.2)])
    assert not store.runs.get(run_id).examination_stale
    add_span(store, corpus.id, "id1", 0, 6, "CODE")
    assert store.runs.get(run_id).examination_stale


def test_approvals_are_counted_and_audited(store, run_id):
    assert store.runs.approve(run_id, ["s-000001", "s-000002", "nobody"], "approved") == 2
    assert store.runs.approve(run_id, ["s-000003"], "rejected") == 1
    assert store.runs.approval_counts(run_id) == {"pending": 9, "approved": 2, "rejected": 1}
    assert store.runs.approve(run_id, ["s-000001"], "pending") == 1
    with pytest.raises(UserError, match="approval"):
        store.runs.approve(run_id, ["s-000001"], "maybe")
    assert "records approved" in set(store.audit.lines()["action"])


def test_bulk_approval_up_to_a_risk_leaves_unknown_risks_alone(store, run_id):
    examine(store, run_id, [], {f"s-{i:06d}": i / 20 for i in range(1, 11)})
    store.runs.approve(run_id, ["s-000001"], "rejected")
    assert store.runs.approve_all_pending(run_id, 0.25) == 4  # 2, 3, 4, 5; 1 stays rejected
    assert store.runs.approve_all_pending(run_id) == 7
    assert store.runs.approval_counts(run_id) == {"pending": 0, "approved": 11, "rejected": 1}


def test_a_run_at_work_cannot_be_approved(store, corpus):
    running = finished_run(store, corpus, TEXTS, state="running")
    with pytest.raises(UserError, match="still being made"):
        store.runs.approve_all_pending(running)


def test_the_script_repeats_the_settings(store, corpus, run_id):
    script = store.runs.script(run_id)
    body = yaml.safe_load(script)
    assert body["method"] == "filter"
    assert body["corpus"] == corpus.id
    assert body["parameters"] == {"temperature": 0.7, "operator": "rephrase"}
    assert f"synthesize {corpus.id} --method filter" in script
    assert "--set operator=rephrase" in script


def test_a_deleted_run_is_gone(store, corpus, run_id):
    examine(store, run_id, [finding("pipp", 0.2)], tables={"leaks": pd.DataFrame({"a": [1]})})
    store.runs.delete(run_id)
    assert store.runs.all() == []
    assert not store.folder.run(run_id).exists()
    assert store.corpora.get(corpus.id).runs == 0
