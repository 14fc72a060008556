"""Detection as a job: real detectors, batches, decisions that survive, thresholds, kills."""

import os
import signal
import time

import pandas as pd
import pytest

from engine.corpus.columns.mapping import ColumnMapping
from engine.pii.detect.settings import DetectorSettings
from engine.workspace import open_workspace
from tests.jobs.conftest import wait as wait_for
from tests.store.span_tables import add_span, span_table

RULES = DetectorSettings(tagger=False)


def wait(workspace, job_id):
    """Wait as long as a loaded machine may need to import the detectors."""
    return wait_for(workspace, job_id, seconds=250)


def mails(count):
    """Return records with one address each, some with a telephone number."""
    texts = [
        f"Case {i}: please write to person{i % 9}@example.org" + (f" or call +44 20 7946 {i:04d}." if i % 3 else ".")
        for i in range(count)
    ]
    return pd.DataFrame({"text": texts})


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    """Return a workspace with the product's own worker, shared, since detectors take seconds to load."""
    opened = open_workspace(tmp_path_factory.mktemp("detect") / "workspace", "tester")
    yield opened
    opened.jobs.stop_worker()
    opened.close()


@pytest.fixture
def plain(workspace):
    """Return a corpus without gold spans whose detection uses rules alone."""
    made = workspace.corpora.import_table(mails(130), ColumnMapping(text="text"), name="Mails")
    workspace.review.set_detector_settings(made.id, RULES)
    return workspace.corpora.get(made.id)


def spans_of(workspace, corpus):
    with workspace.session.db.read() as connection:
        return [
            tuple(r)
            for r in connection.exec_driver_sql(
                'SELECT position, start, "end", label, state, decided, origin FROM spans WHERE active '
                f"AND corpus_id = '{corpus.id}' ORDER BY position, start, label"
            )
        ]


def test_detection_finds_and_counts(workspace, plain):
    job = wait(workspace, workspace.jobs.detect(plain.id))
    assert job.state == "done", job.error
    assert (job.done, job.total) == (130, 130)
    counts = workspace.review.span_counts(plain.id)
    assert counts["by_label"]["EMAIL"] == 130
    corpus = workspace.corpora.get(plain.id)
    assert corpus.detected_at
    assert (corpus.span_source, corpus.next_step) == ("detected", "review")
    assert workspace.review.queue(plain.id)[1] == 130
    found = span_table(workspace, plain.id, workspace.corpora.records(plain.id)["record_id"][0])
    text = workspace.corpora.records(plain.id)["text"][0]
    mail = found[found["label"] == "EMAIL"].iloc[0]
    assert text[mail["start"] : mail["end"]] == "person0@example.org"
    assert workspace.review.alike(plain.id, mail["span_id"])["total"] - 1 == 14  # 15 records of 130 name person 0


def test_decisions_survive_a_new_detection_and_thresholds_count(workspace, plain):
    wait(workspace, workspace.jobs.detect(plain.id))
    record = workspace.corpora.records(plain.id)["record_id"][0]
    first = span_table(workspace, plain.id, record)["span_id"].iloc[0]
    workspace.review.decide_alike(plain.id, first, "reject")
    added = add_span(workspace, plain.id, record, 0, 4, "MISC")
    other = workspace.corpora.records(plain.id)["record_id"][1]
    taken_back = span_table(workspace, plain.id, other)["span_id"].iloc[0]
    workspace.review.decide(plain.id, [taken_back], "reject")
    workspace.review.undo(plain.id)
    workspace.review.set_detector_settings(plain.id, DetectorSettings(tagger=False, thresholds={"PHONE": 1.0}))
    assert wait(workspace, workspace.jobs.detect(plain.id)).state == "done"
    again = span_table(workspace, plain.id, record)
    assert list(again[again["label"] == "EMAIL"]["state"]) == ["rejected"]
    assert added in set(again["span_id"])
    counts = workspace.review.span_counts(plain.id)
    assert counts["decided"] == 16  # 15 like the first, and the added one; the decision taken back is gone
    assert counts["by_label_state"]["PHONE"]["accepted"] == 0


def test_a_killed_detection_ends_like_an_undisturbed_one(workspace, plain):
    wait(workspace, workspace.jobs.detect(plain.id))
    expected = spans_of(workspace, plain)
    job_id = workspace.jobs.detect(plain.id)
    deadline = time.monotonic() + 120
    while workspace.jobs.get(job_id).state == "queued" and time.monotonic() < deadline:
        time.sleep(0.01)
    pid = workspace.jobs.worker_status()["pid"]
    os.kill(pid, signal.SIGKILL)
    assert spans_of(workspace, plain) == expected  # the old spans stay in force meanwhile
    assert wait(workspace, job_id).state == "done"
    assert spans_of(workspace, plain) == expected
    with workspace.session.db.read() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM spans WHERE origin = 'pending'").scalar() == 0
        assert connection.exec_driver_sql("SELECT count(*) FROM jobs WHERE state = 'running'").scalar() == 0


def test_a_detection_that_is_cancelled_changes_nothing(workspace, plain):
    wait(workspace, workspace.jobs.detect(plain.id))
    expected = spans_of(workspace, plain)
    workspace.review.set_detector_settings(plain.id, DetectorSettings(tagger=False, thresholds={"EMAIL": 1.0}))
    job_id = workspace.jobs.detect(plain.id)
    workspace.jobs.cancel(job_id)
    if wait(workspace, job_id).state == "cancelled":
        assert spans_of(workspace, plain) == expected
