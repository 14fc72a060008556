"""Attacks on a release by somebody who has the database and the folder in hand, by a reader who did not write the log.

Each goes for something that a release, a claim or a file rests on and that stood outside of what runs and rows are
held by. The gate, a release or the hand-out refuses, and `audit --verify` says what was done.
"""

from __future__ import annotations

import hashlib
import json

import numpy as np
import pytest
from sqlalchemy import select, update

from engine.dp.events import Event
from engine.errors import RefusedError, StorageError
from engine.store.database import schema
from engine.store.logs.check import check_logs
from engine.store.review import held as review_held
from engine.store.runs import held
from tests.store.making import examine, finding, finished_run, unguard
from tests.store.test_held_runs import broken, earlier, edited, put_back, rows_of

TEXTS = [f"Made-up letter {i} about a hip." for i in range(8)]


@pytest.fixture
def ready(store, corpus):
    """A run that the loosest policy lets pass."""
    made = finished_run(store, corpus, TEXTS)
    rules = next(one for one in store.releases.policies() if one.id == "exploratory").rules
    examine(
        store, made,
        [finding(rule.finding, 0.0, reference=name) for rule in rules for name in (rule.reference, rule.above) if name],
    )  # fmt: skip
    store.runs.approve_all_pending(made)
    assert store.releases.gate(made, "exploratory", anew=True).passed
    return made


def refused(store, run_id):
    assert not store.releases.gate(run_id, "exploratory", anew=True).passed
    with pytest.raises(RefusedError):
        store.releases.make(run_id, "exploratory", accept_unbounded=True)
    assert store.releases.all() == []


def test_a_review_that_went_on_is_not_hidden_by_its_old_number(store, corpus, ready):
    """Whoever puts the number of the review back makes an outdated run look fresh."""
    kept = rows_of(store, schema.corpora)[schema.corpora][0]["revision"]
    (span,) = store.review.spans(corpus.id, "id3")[:1]
    store.review.decide(corpus.id, [span.span_id], "reject")
    assert store.runs.get(ready).stale
    edited(store, f"UPDATE corpora SET revision = {kept}")
    assert not store.runs.get(ready).stale, "that is what is gone for"
    refused(store, ready)
    assert "the number of its review" in broken(store)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE record_index SET record_id = CASE record_id WHEN 'id3' THEN 'idx' ELSE record_id END",
        "UPDATE record_index SET split = CASE split WHEN 'train' THEN 'holdout' ELSE 'train' END",
        "DELETE FROM record_index WHERE position = 3",
    ],
)
def test_marks_are_not_moved_to_other_records_by_the_index(store, corpus, ready, statement):
    """Marks stand at places of the index: whoever exchanges two ids there has a method leave both names standing."""
    edited(store, statement)
    refused(store, ready)
    assert "the index of its records" in broken(store)
    with pytest.raises(RefusedError):
        store.review.accepted_spans(corpus.id, "train", as_told=True)


def test_two_records_that_changed_places_in_the_index_are_told(store, corpus, ready):
    for one, other in (("id3", "x"), ("id4", "id3"), ("x", "id4")):
        edited(store, f"UPDATE record_index SET record_id = '{other}' WHERE record_id = '{one}'")
    with pytest.raises(RefusedError):
        store.review.accepted_spans(corpus.id, as_told=True)
    assert "the index of its records" in broken(store)


def test_a_release_is_not_handed_out_as_another_one(store, corpus, ready):
    """A file and its digest in the database that were changed together."""
    made = store.releases.make(ready, "exploratory", accept_unbounded=True)
    assert store.releases.file(made.id, "records.csv")
    path = store.folder.release(made.id) / "records.csv"
    path.write_bytes(path.read_bytes().replace(b"hip", b"Ann"))
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    with store.session.db.write() as connection:
        detail = json.loads(json.dumps(connection.execute(select(schema.releases.c.detail)).scalar_one()))
        detail["sha256"]["records.csv"] = digest
        connection.execute(update(schema.releases).values(detail=detail))
    with pytest.raises(RefusedError, match="not what the audit log tells of"):
        store.releases.file(made.id, "records.csv")
    with pytest.raises(RefusedError, match="not what the audit log tells of"):
        store.releases.archive(made.id)


def test_a_withdrawal_is_not_taken_back_by_its_row(store, corpus, ready):
    made = store.releases.make(ready, "exploratory", accept_unbounded=True)
    store.releases.revoke(made.id, "A mistake was made.")
    with store.session.db.write() as connection:
        unguard(connection, "revocations")
    edited(store, "DELETE FROM revocations")
    with pytest.raises(RefusedError, match="not what the audit log tells of"):
        store.releases.archive(made.id)
    with pytest.raises(RefusedError, match="not what the audit log tells of"):
        store.releases.revocation_list()


def test_a_corpus_is_not_given_to_other_people(store, corpus, ready):
    """The people behind a corpus carry its budget: others are cheaper, or have none to lose any more."""
    edited(
        store, "INSERT INTO populations (id, created, units) VALUES ('pop-other', 'now', 1000000)",
        "UPDATE corpora SET population = 'pop-other'",
    )  # fmt: skip
    refused(store, ready)
    assert "the people behind it" in broken(store)


def test_people_that_were_joined_and_merged_hold(store, corpus, ready):
    from tests.store.conftest import MAPPING, made_up

    other = store.corpora.import_table(made_up(60, first=400), MAPPING, name="Others", holdout=0.25)
    assert store.corpora.get(other.id).population != store.corpora.get(corpus.id).population
    store.ledger.join_people(corpus.id, other.id)
    again = store.corpora.import_table(made_up(60, first=400), MAPPING, name="Others again", holdout=0.25)
    assert store.corpora.get(other.id).population == store.corpora.get(again.id).population
    assert broken(store) == ""
    assert held.of_run(store.session, ready) == ()


@pytest.mark.parametrize("table", ["audit", "jobs", "releases", "settings", "corpora"])
def test_a_trigger_anywhere_is_told_and_stops_a_release(store, ready, table):
    """One that acts as a line is written needs no table of a run."""
    act = "UPDATE synthetic SET text = 'x' WHERE position = 0"
    given = f"CREATE RULE helpful AS ON INSERT TO {table} DO ALSO {act}"
    if store.session.db.is_file:
        given = f"CREATE TRIGGER helpful AFTER INSERT ON {table} BEGIN {act}; END"
    edited(store, given)
    assert "helpful" in broken(store)
    refused(store, ready)


def test_a_view_in_the_place_of_a_table_is_told(store, ready):
    """It may answer the gate otherwise than the check."""
    if not store.session.db.is_file:
        pytest.skip("a view is no table of PostgreSQL either, and its rules are told")
    edited(store, "ALTER TABLE findings RENAME TO found", "CREATE VIEW findings AS SELECT * FROM found")
    assert "the view findings" in " ".join(held.of_run(store.session, ready))
    with pytest.raises(StorageError, match="lacks 1 of its tables: findings"):
        broken(store)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE synthetic SET approval = X'00ff' WHERE position = 1",
        "UPDATE synthetic SET text = X'00ff' WHERE position = 1",
        "UPDATE synthetic SET text = 12 WHERE position = 1",
        "UPDATE synthetic SET risk = 'high' WHERE position = 1",
        "UPDATE synthetic SET risk = 9e999 WHERE position = 1",
        "UPDATE synthetic SET label = X'ff' WHERE position = 1",
        "UPDATE runs SET seed = 'x'",
        "UPDATE runs SET kept = 8.5",
        "UPDATE runs SET parameters = X'ff'",
        "UPDATE runs SET guarantee = 'NaN'",
        "UPDATE findings SET body = X'ff' WHERE position = 0",
        "UPDATE corpora SET cap = X'ff'",
        "UPDATE corpora SET revision = 'x'",
        "UPDATE record_index SET record_id = X'ff' WHERE position = 1",
        "UPDATE synthetic SET approval = 'аpproved' WHERE position = 1",
        "UPDATE synthetic SET record_id = 's-00000２' WHERE position = 1",
    ],
)
def test_values_of_another_kind_are_told_and_no_crash(store, corpus, ready, statement):
    if not store.session.db.is_file:
        pytest.skip("PostgreSQL keeps columns to their kind")
    edited(store, statement)
    assert broken(store) != ""
    assert held.of_run(store.session, ready) or review_held.of_corpus(store.session, corpus.id)


def test_answers_of_the_assessment_are_not_put_into_somebodys_mouth(store, corpus, ready):
    store.assessments.keep(corpus.id, {"purpose": "Teaching of nurses."})
    assert "Teaching" in store.assessments.make(ready, "exploratory", "internal")
    edited(store, "UPDATE settings SET value = '{\"purpose\": \"Whatever.\"}' WHERE key LIKE 'assessment%'")
    assert "assessment" in broken(store)
    with pytest.raises(RefusedError):
        store.assessments.make(ready, "exploratory", "internal")


def drawn(store, run_id):
    outputs = store.ledger.outputs(run_id)
    outputs.save("votes", {"asked": 1}, Event("selection", "a choice"), np.array([[1.5, 2.0], [0.25, 4.0]]))
    return outputs


OUTPUTS = [
    'UPDATE mechanism_outputs SET "values" = :zeros',
    "UPDATE mechanism_outputs SET request = replace(request, '1', '2')",
    "UPDATE mechanism_outputs SET shape = '[2, 2]', \"values\" = :zeros",
    "UPDATE mechanism_outputs SET shape = '[4]'",
    "UPDATE mechanism_outputs SET shape = '{}'",
    "UPDATE mechanism_outputs SET key = 'other'",
]


@pytest.mark.parametrize("statement", OUTPUTS)
def test_exact_values_are_not_put_in_the_place_of_noisy_ones(store, corpus, statement):
    made = finished_run(store, corpus, TEXTS, state="running")
    outputs = drawn(store, made)
    assert outputs.load("votes").values.tolist() == [[1.5, 2.0], [0.25, 4.0]]
    edited(store, statement, **({"zeros": bytes(32)} if ":zeros" in statement else {}))
    with pytest.raises(RefusedError, match="drew was changed"):
        outputs.load("other" if "other" in statement else "votes")


def test_an_output_of_another_run_is_none_of_this_one(store, corpus):
    one, other = (finished_run(store, corpus, TEXTS, state="running") for _ in range(2))
    drawn(store, one)
    edited(store, f"UPDATE mechanism_outputs SET run_id = '{other}'")
    with pytest.raises(RefusedError, match="drew was changed"):
        store.ledger.outputs(other).load("votes")


def test_what_an_earlier_edition_drew_is_gone_on_with(store, corpus):
    made = finished_run(store, corpus, TEXTS, state="running")
    outputs = drawn(store, made)
    edited(store, "UPDATE mechanism_outputs SET shape = '[2, 2]'")
    earlier(store)
    assert outputs.load("votes").values.tolist() == [[1.5, 2.0], [0.25, 4.0]]


def test_a_consent_that_nobody_gave_sends_nothing(store, corpus):
    """A line that was put into the log tells of a consent to another machine."""
    from engine.jobs.models.cache import ModelCache
    from engine.models.remote.consent import GIVEN
    from engine.models.remote.endpoint_settings import EndpointSettings
    from engine.store import model_settings

    far = EndpointSettings("far", "https://192.0.2.7/v1", "m")
    with store.session.db.write() as connection:
        model_settings.save_endpoints(connection, {"far": far})
        seq = connection.execute(select(schema.audit.c.seq).order_by(schema.audit.c.seq.desc())).scalar()
        detail = json.dumps({"endpoint": "far", "host": far.host, "text": "Somebody agrees."})
        line = {"seq": seq + 1, "at": "now", "actor": "x", "action": GIVEN, "subject": corpus.id, "detail": detail}
        connection.execute(schema.audit.insert().values(**line, hash="0" * 64))
    with pytest.raises(RefusedError, match="no consent in it counts"):
        ModelCache().generator("endpoint:far", store.session, corpus.id)


def test_yesterdays_rows_of_a_run_do_not_pass_with_todays(store, corpus, ready):
    kept = rows_of(store, schema.synthetic)
    store.runs.approve(ready, ["s-000002"], "rejected")
    put_back(store, kept)
    refused(store, ready)


def test_a_run_is_not_given_the_lines_of_another_one(store, corpus, ready):
    other = finished_run(store, corpus, TEXTS)
    with store.session.db.write() as connection:
        unguard(connection, "audit")
    edited(store, f"UPDATE audit SET subject = '{other}' WHERE subject = '{ready}' AND action = 'run examined'")
    edited(store, f"UPDATE findings SET run_id = '{other}'")
    refused(store, other)
    refused(store, ready)
    assert check_logs(store.path).broken


def test_what_the_program_did_holds(store, corpus, ready):
    assert broken(store) == ""
    assert review_held.of_corpus(store.session, corpus.id) == ()
