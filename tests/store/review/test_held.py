"""Decisions and marks that were changed outside of the program are found, told in words, and stop a release."""

from __future__ import annotations

import json
import random
import sqlite3
from contextlib import closing

import pytest
from sqlalchemy import select, text

from engine.errors import NotFoundError, RefusedError, UserError
from engine.store import restore
from engine.store.database import schema
from engine.store.disk import heads
from engine.store.logs import about
from engine.store.logs.check import check_logs
from engine.store.review import chained, held, marks, memory
from engine.store.review.bulk import Choice
from engine.store.review.desk.steps import Step
from engine.store.store import Store
from tests.store.conftest import MAPPING, made_up
from tests.store.making import examine, finding, finished_run, unguard

ONE = "client-one-1"


def spans_of(store, corpus, record):
    return [span.span_id for span in store.review.spans(corpus.id, record)]


def broken(store):
    return " ".join(check_logs(store.path).broken)


@pytest.fixture
def reviewed(store, corpus):
    """Every kind of act: one, alike, a text, added, relabelled, read, in bulk, and one that was taken back."""
    review = store.review
    name, day = spans_of(store, corpus, "id3")
    review.decide(corpus.id, [name], "accept")
    review.decide(corpus.id, [day], "relabel", "MISC")
    review.decide_alike(corpus.id, spans_of(store, corpus, "id4")[0], "reject")
    review.take(corpus.id, [
        Step(ONE, 1, "add", record="id5", places=((0, 6),), label="PERSON"),
        Step(ONE, 2, "reject text", record="id6"),
        Step(ONE, 3, "accept", span="p-999999"),  # refused
    ])  # fmt: skip
    review.decide(corpus.id, [spans_of(store, corpus, "id7")[0]], "reject")
    review.undo(corpus.id)
    review.mark_reviewed(corpus.id, ["id8", "id9"])
    store.bulk.decide(corpus.id, Choice(labels=("DATE",)), "accept")
    return corpus


def edited(store, *statements):
    """Change rows as somebody could who has the database in hand."""
    with store.session.db.write() as connection:
        for statement in statements:
            connection.execute(text(statement))


def test_what_the_program_wrote_holds(store, reviewed):
    assert broken(store) == ""
    assert held.of_corpus(store.session, reviewed.id) == ()
    with store.session.db.read() as connection:
        rows = connection.execute(select(schema.decisions).order_by(schema.decisions.c.seq)).all()
    assert [row.number for row in rows] == list(range(1, len(rows) + 1))
    assert len({row.digest for row in rows}) == len(rows) > 40
    assert {row.action for row in rows} == {"accept", "reject", "relabel", "add", "review", "undo"}
    line = json.loads(store.audit.lines(1)["detail"].iloc[0])
    assert (line["decisions"], line["head"]) == (len(rows), rows[-1].digest)


@pytest.mark.parametrize(
    "garbled",
    ["", "no JSON", "[]", "7", '{"marks":"zz"}', '{"decisions":"x","head":3,"marks":"00"}', '{"marks":"é"}',
     '{"decisions":4,"head":"é","marks":"é"}'],
)  # fmt: skip
@pytest.mark.parametrize("which", ["max", "min"])
def test_a_line_made_unreadable_is_told_and_stops_no_check(store, reviewed, garbled, which):
    with store.session.db.write() as connection:
        unguard(connection, "audit")
        connection.execute(
            text(f"UPDATE audit SET detail = :said WHERE seq = (SELECT {which}(seq) FROM audit "
                 "WHERE action = 'review decisions')"), {"said": garbled},
        )  # fmt: skip
    assert "was changed" in broken(store)
    assert held.LOG in held.of_corpus(store.session, reviewed.id)
    store.review.decide(reviewed.id, [spans_of(store, reviewed, "id11")[0]], "accept")
    assert "was changed" in broken(store), "a later act does not mend it"
    with pytest.raises(RefusedError, match="audit --verify"):
        held.demand(store.session, reviewed.id)


def test_a_hash_of_other_letters_is_no_hash(store, reviewed):
    with store.session.db.write() as connection:
        unguard(connection, "audit")
        connection.execute(text("UPDATE audit SET hash = 'é' WHERE action = 'review decisions'"))
        assert not about.sound(connection, store.session.key, reviewed.id)
    assert broken(store)


EDITS = [
    ("UPDATE decisions SET action = 'accept' WHERE number = 4 AND action = 'reject'", "Decision 4 was changed."),
    ("UPDATE decisions SET actor = 'Dora' WHERE number = 1", "Decision 1 was changed."),
    ("UPDATE decisions SET at = '2020' WHERE number IN (2, 3)", "Decisions 2 to 3 do not hold"),
    ("UPDATE decisions SET prior = '{}' WHERE number = 2", "Decision 2 was changed."),
    ("UPDATE decisions SET prior = 'no JSON' WHERE number = 2", "Decision 2 was changed."),
    ("UPDATE decisions SET undoes = undoes - 1 WHERE action = 'undo'", "was changed."),
    ("UPDATE decisions SET batch = batch + 100 WHERE action = 'undo'", "was changed."),
    ("UPDATE decisions SET label = 'DATE' WHERE action = 'add'", "was changed."),
    ("UPDATE decisions SET seq = seq + 1000 WHERE number > 10", "do not hold"),
    ("UPDATE decisions SET digest = NULL WHERE number = 3", "Decisions 3 to 4 do not hold"),
    ("DELETE FROM decisions WHERE number = 5", "Decision 5 is missing."),
    ("DELETE FROM decisions WHERE number BETWEEN 5 AND 7", "Decisions 5 to 7 are missing."),
    ("DELETE FROM decisions WHERE number >= 20", "The end was cut off: decisions 20 to"),
    ("DELETE FROM decisions WHERE number = (SELECT max(number) FROM decisions)", "The end was cut off: decision"),
    ("DELETE FROM decisions", "The end was cut off: decisions 1 to"),
    ("INSERT INTO decisions (corpus_id, batch, at, actor, action, position) SELECT corpus_id, 900, at, actor, "
     "'review', 11 FROM decisions WHERE number = 1", "1 decision was brought in"),
    ("INSERT INTO decisions (corpus_id, batch, at, actor, action, position, number, digest) SELECT corpus_id, 900, at, "
     "actor, 'review', 11, (SELECT max(number) + 1 FROM decisions), digest FROM decisions WHERE number = 1",
     "1 decision was brought in"),
    ("UPDATE decisions SET number = NULL WHERE number = 6", "1 decision was brought in"),
]  # fmt: skip


@pytest.mark.parametrize(("statement", "says"), EDITS)
def test_edited_rows_are_found(store, reviewed, statement, says):
    edited(store, statement)
    assert says in broken(store)
    assert any(says in one for one in held.of_corpus(store.session, reviewed.id))


def test_rows_in_another_order_and_rows_numbered_anew_are_found(store, reviewed):
    edited(
        store, "UPDATE decisions SET number = -1 WHERE number = 5", "UPDATE decisions SET number = 5 WHERE number = 9",
        "UPDATE decisions SET number = 9 WHERE number = -1",
    )  # fmt: skip
    assert "Decisions 5 to 9 stand in another order." in broken(store)


def test_a_row_that_went_with_the_numbers_closed_behind_it_is_found(store, reviewed):
    edited(
        store, "DELETE FROM decisions WHERE number = 5", "UPDATE decisions SET number = -number WHERE number > 5",
        "UPDATE decisions SET number = -number - 1 WHERE number < 0",
    )  # fmt: skip
    said = broken(store)
    assert "Before decision 5 1 decision went missing" in said
    assert "cut off" in said


MARKS = [
    ("UPDATE spans SET state = 'rejected' WHERE id = (SELECT span_id FROM decisions WHERE number = 1)",
     "not what was decided of them: 1."),
    ("UPDATE spans SET decided = FALSE WHERE id = (SELECT span_id FROM decisions WHERE number = 1)",
     "not what was decided of them: 1."),
    ("UPDATE spans SET label = 'PERSON' WHERE id = (SELECT span_id FROM decisions WHERE number = 2)",
     "not what was decided of them: 1."),
    ("UPDATE spans SET identifier_type = 'none' WHERE id = (SELECT span_id FROM decisions WHERE number = 1)",
     "not what was decided of them: 1."),
    ("UPDATE spans SET decided = TRUE, state = 'rejected' WHERE position = 30 AND label = 'PERSON'",
     "not what was decided of them: 1."),
    ("DELETE FROM spans WHERE origin = 'custodian'", "added and that are gone: 1."),
    ("UPDATE spans SET active = FALSE WHERE origin = 'custodian'", "added and that are gone: 1."),
    ("UPDATE record_index SET reviewed = TRUE WHERE position IN (20, 21)", "nobody read: 2."),
    ("UPDATE record_index SET reviewed = FALSE", "some were changed, removed or brought in"),
    # what nobody decided
    ("UPDATE spans SET state = 'rejected' WHERE position = 30 AND label = 'PERSON'", "some were changed"),
    ("UPDATE spans SET label = 'MISC' WHERE position = 30 AND label = 'PERSON'", "some were changed"),
    ("UPDATE spans SET identifier_type = 'none' WHERE position = 30 AND label = 'PERSON'", "some were changed"),
    ("UPDATE spans SET \"end\" = \"end\" - 1 WHERE position = 30 AND label = 'PERSON'", "some were changed"),
    ("UPDATE spans SET score = 0.5 WHERE position = 30 AND label = 'PERSON'", "some were changed"),
    ("UPDATE spans SET active = FALSE WHERE position = 30 AND label = 'PERSON'", "some were changed"),
    ("UPDATE spans SET value_key = 'x' WHERE position = 30 AND label = 'PERSON'", "some were changed"),
    ("DELETE FROM spans WHERE position = 30 AND label = 'PERSON'", "some were changed"),
    ("INSERT INTO spans (corpus_id, position, start, \"end\", label, first_label, score, recogniser, identifier_type, "
     "origin, active, state, decided, hazard, value_key) SELECT corpus_id, position, 0, 2, label, first_label, score, "
     "recogniser, identifier_type, origin, active, state, decided, hazard, value_key FROM spans WHERE position = 30 "
     "AND label = 'PERSON'", "some were changed"),
]  # fmt: skip


@pytest.mark.parametrize(("statement", "says"), MARKS)
def test_edited_marks_are_found_decided_or_not(store, reviewed, statement, says):
    edited(store, statement)
    assert says in broken(store)


def test_a_flag_that_is_neither_yes_nor_no_is_found(store, reviewed):
    with closing(sqlite3.connect(store.folder.database)) as database:
        database.execute("UPDATE spans SET decided = 2 WHERE position = 30")
        database.commit()
    assert "not what was decided of them: 1." in broken(store)


def test_what_does_not_hold_is_carried_on_by_later_acts_and_a_new_choice_of_marks(store, reviewed):
    edited(store, "UPDATE spans SET state = 'rejected' WHERE position = 30 AND label = 'PERSON'")
    assert broken(store)
    store.review.decide(reviewed.id, spans_of(store, reviewed, "id30"), "accept")
    store.review.undo(reviewed.id)
    store.review.use_gold(reviewed.id)
    assert "some were changed" in broken(store)


def test_a_reading_that_was_put_back_with_its_decisions_shows_by_the_log(store, reviewed):
    """Rows, marks and all as they were before the last act."""
    with store.session.db.read() as connection:
        kept = {
            table.name: [dict(row._mapping) for row in connection.execute(select(table))]
            for table in (schema.spans, schema.decisions, schema.record_index)
        }
    store.review.decide(reviewed.id, spans_of(store, reviewed, "id33"), "reject")
    with store.session.db.write() as connection:
        for table in (schema.spans, schema.decisions, schema.record_index):
            connection.execute(table.delete())
            connection.execute(table.insert(), kept[table.name])
    said = broken(store)
    assert "The end was cut off" in said
    assert "some were changed" in said


def test_two_corpora_do_not_mix(store, reviewed):
    other = store.corpora.import_table(made_up(20, 100), MAPPING, name="Other", unit="record", holdout=0.25)
    store.review.decide(other.id, spans_of(store, other, "id103"), "accept")
    store.review.decide(reviewed.id, spans_of(store, reviewed, "id12"), "reject")
    store.review.decide(other.id, spans_of(store, other, "id104"), "reject")
    assert broken(store) == ""
    with store.session.db.read() as connection:
        assert chained.head(connection, other.id)[0] == 4
    edited(store, f"UPDATE decisions SET actor = 'Dora' WHERE corpus_id = '{other.id}' AND number = 2")
    assert held.of_corpus(store.session, reviewed.id) == ()
    assert f"corpus {other.id}: Decision 2 was changed." in broken(store)
    edited(
        store, f"UPDATE decisions SET actor = 'tester' WHERE corpus_id = '{other.id}' AND number = 2",
        f"UPDATE spans SET corpus_id = '{other.id}' WHERE corpus_id = '{reviewed.id}' AND position = 12 AND "
        "label = 'DATE'",
    )  # fmt: skip
    assert held.of_corpus(store.session, reviewed.id)
    assert held.of_corpus(store.session, other.id)


def test_a_deleted_corpus_is_no_break_and_one_that_was_taken_out_is(store, reviewed):
    other = store.corpora.import_table(made_up(20, 100), MAPPING, name="Other", unit="record", holdout=0.25)
    store.corpora.delete(other.id)
    assert broken(store) == ""
    edited(store, f"DELETE FROM spans WHERE corpus_id = '{reviewed.id}'",
           f"DELETE FROM corpora WHERE id = '{reviewed.id}'")  # fmt: skip
    assert f"corpus {reviewed.id} was removed with its decisions." in broken(store)


def test_a_line_that_was_given_another_subject_is_seen_though_those_left_are_sound(store, reviewed):
    with store.session.db.write() as connection:
        unguard(connection, "audit")
        connection.execute(text("UPDATE audit SET subject = 'c-other' WHERE action = 'review decisions' AND seq = "
                                "(SELECT min(seq) FROM audit WHERE action = 'review decisions')"))  # fmt: skip
    with store.session.db.read() as connection:
        assert about.sound(connection, store.session.key, reviewed.id)
        assert not about.whole(connection, store.session.key, reviewed.id, anew=True)
    assert held.of_corpus(store.session, reviewed.id) == (held.LOG,)
    with pytest.raises(RefusedError, match="not those that the audit log tells of"):
        held.demand(store.session, reviewed.id)


def test_lines_added_since_are_held_and_a_log_that_was_cut_is_not_whole(store, reviewed):
    key = store.session.key
    with store.session.db.read() as connection:
        assert about.whole(connection, key, reviewed.id)
    store.audit.note("something else")
    with store.session.db.read() as connection:
        assert about.whole(connection, key, reviewed.id)
    with store.session.db.write() as connection:
        unguard(connection, "audit")
        connection.execute(text("UPDATE audit SET actor = 'x' WHERE action = 'something else'"))
    with store.session.db.read() as connection:
        assert not about.whole(connection, key, reviewed.id, anew=True)


def test_the_mark_sum_is_hidden_behind_another_pad_in_each_line(store, corpus):
    key = store.session.key
    first, second = (marks.sealed(key, corpus.id, 5) for _ in range(2))
    assert first != second
    assert {marks.opened(key, corpus.id, said) for said in (first, second)} == {5}
    assert marks.opened(key, "c-other", first) != 5
    assert marks.opened(key, corpus.id, "no hexadecimal") is None
    assert marks.opened(key, corpus.id, marks.sealed(key, corpus.id, -3)) == marks.MODULUS - 3


def test_a_transaction_that_tells_of_nothing_is_rolled_back(store, corpus):
    """Whoever appends decisions or changes marks writes the line about it in the same transaction."""
    with pytest.raises(AssertionError, match="no line of the audit log"), store.session.db.write() as connection:
        chained.append(
            connection, store.session.key, corpus.id,
            [{"batch": 1, "at": "now", "actor": "x", "action": "review", "position": 1}],
        )  # fmt: skip
    with store.session.db.read() as connection:
        assert chained.head(connection, corpus.id)[0] == 0
    assert broken(store) == ""


ACTS = (
    lambda review, corpus, span, record: review.decide(corpus, [span], "accept"),
    lambda review, corpus, span, record: review.decide(corpus, [span], "reject"),
    lambda review, corpus, span, record: review.decide(corpus, [span], "relabel", "MISC"),
    lambda review, corpus, span, record: review.decide_alike(corpus, span, "accept", again=True),
    lambda review, corpus, span, record: review.decide_alike(corpus, span, "reject"),
    lambda review, corpus, span, record: review.accept_same(corpus, span),
    lambda review, corpus, span, record: review.mark_reviewed(corpus, [record]),
    lambda review, corpus, span, record: review.undo(corpus),
    lambda review, corpus, span, record: review.undo(corpus),
    lambda review, corpus, span, record: review.use_gold(corpus),
    lambda review, corpus, span, record: review.take(corpus, [
        Step(f"client-{random.getrandbits(60)}", 1, "add", record=record, places=((0, 3), (4, 6)), label="PERSON"),
        Step(f"client-{random.getrandbits(60)}", 1, "relabel alike", span=span, label="ORG", again=True),
    ]),
)  # fmt: skip


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_long_walk_of_acts_and_undos_holds_at_every_step(store, corpus, seed):
    draw = random.Random(seed)
    for turn in range(60):
        record = f"id{draw.randrange(12)}"
        found = spans_of(store, corpus, record)
        try:
            draw.choice(ACTS)(store.review, corpus.id, draw.choice(found), record)
        except (UserError, NotFoundError):
            continue
        with store.session.db.read() as connection:
            assert held.breaks(connection, store.session.key) == [], turn


def test_pages_use_what_is_remembered_until_a_decision_is_made(store, reviewed):
    assert held.of_corpus(store.session, reviewed.id, anew=False) == ()
    edited(store, "UPDATE decisions SET actor = 'Dora' WHERE number = 1")
    assert held.of_corpus(store.session, reviewed.id, anew=False) == ()
    assert held.of_corpus(store.session, reviewed.id) != ()
    assert held.of_corpus(store.session, reviewed.id, anew=False) != (), "what was found anew is told there too"
    edited(store, "UPDATE decisions SET actor = 'tester' WHERE number = 1")
    store.review.decide(reviewed.id, spans_of(store, reviewed, "id12"), "reject")
    assert held.of_corpus(store.session, reviewed.id, anew=False) == ()


def test_what_takes_long_is_not_gone_through_at_every_decision_but_for_a_release(store, reviewed, monkeypatch):
    monkeypatch.setattr(memory, "CHEAP", 0.0)
    monkeypatch.setattr(memory, "SPARING", 1e9)
    gone_through = []
    found = held._found
    monkeypatch.setattr(held, "_found", lambda *given, **more: gone_through.append(1) or found(*given, **more))
    for record in ("id12", "id13", "id14"):
        store.review.decide(reviewed.id, [spans_of(store, reviewed, record)[0]], "reject")
        assert held.of_corpus(store.session, reviewed.id, anew=False) == ()
    assert len(gone_through) == 1
    edited(store, "UPDATE decisions SET actor = 'Dora' WHERE number = 1")
    assert held.of_corpus(store.session, reviewed.id, anew=False) == (), "this is what waiting costs"
    with pytest.raises(RefusedError):
        held.demand(store.session, reviewed.id)
    assert held.of_corpus(store.session, reviewed.id, anew=False) != (), "and what was found meanwhile is told"
    monkeypatch.setattr(memory, "SPARING", 0.0)
    edited(store, "UPDATE decisions SET actor = 'tester' WHERE number = 1")
    store.review.decide(reviewed.id, [spans_of(store, reviewed, "id15")[0]], "reject")
    assert held.of_corpus(store.session, reviewed.id, anew=False) == ()


@pytest.fixture
def run_id(store, reviewed):
    """A run that was made after the review, and may leave under the exploratory policy."""
    with store.session.db.read() as connection:
        revision = connection.execute(text("SELECT revision FROM corpora")).scalar_one()
    texts = [f"Made-up letter {i} about a knee." for i in range(8)]
    made = finished_run(store, reviewed, texts, settings={"revision": revision})
    policy = store.releases.policy("exploratory")
    found = [finding(r.finding, 0.0, reference=r.reference) for r in policy.rules]
    examine(store, made, found, revision=revision)
    store.runs.approve_all_pending(made)
    return made


CHANGES = [
    "UPDATE decisions SET actor = 'Dora' WHERE number = 1",
    "UPDATE spans SET state = 'rejected' WHERE position = 30 AND label = 'PERSON'",
]


@pytest.mark.parametrize("statement", CHANGES)
def test_nothing_is_released_waived_or_signed_over_a_review_that_was_changed(store, reviewed, run_id, statement):
    assert store.releases.gate(run_id, "exploratory").passed
    edited(store, statement)
    assert store.releases.gate(run_id, "exploratory").passed, "a page does not go through it anew"
    with pytest.raises(RefusedError, match="The review is as people left it"):
        store.releases.make(run_id, "exploratory", accept_unbounded=True)
    assert store.releases.all() == []
    (line,) = store.releases.gate(run_id, "exploratory").open_rules()
    assert (line.rule, line.passed) == ("decisions-held", False)
    store.session.actor = "Ada"
    with pytest.raises(RefusedError, match="not those that the audit log tells of"):
        store.releases.waive(run_id, "exploratory", "decisions-held", "Nobody will ever look at it", "2999-01-01")
    store.people.set("ada@x", "Ada", ["custodian"])
    store.people.set("bea@x", "Bea", ["approver"])
    store.session.person = store.people.person("bea@x")
    with pytest.raises(RefusedError, match="not those that the audit log tells of"):
        store.signatures.sign(run_id, "exploratory")


def test_an_assessment_tells_that_the_review_was_changed(store, reviewed, run_id):
    assert store.releases.gate(run_id, "exploratory").passed
    edited(store, CHANGES[0])
    page = store.assessments.make(run_id, "exploratory", "internal")
    assert "were changed outside of the program" in page


def test_a_review_that_is_changed_while_a_release_is_written_stops_it(store, reviewed, run_id, monkeypatch):
    real = store.releases.card

    def changed_meanwhile(*given):
        edited(store, CHANGES[1])
        return real(*given)

    monkeypatch.setattr(store.releases, "card", changed_meanwhile)
    with pytest.raises(RefusedError, match="not those that the audit log tells of"):
        store.releases.make(run_id, "exploratory", accept_unbounded=True)
    assert store.releases.all() == []


def test_a_backup_and_a_copy_hold_as_they_did(store, reviewed, tmp_path):
    again = Store(restore(store.disk.backup(tmp_path / "backup.zip"), tmp_path / "again"))
    assert check_logs(again.path).broken == ()
    again.review.undo(reviewed.id)
    again.review.mark_reviewed(reviewed.id, ["id20"])
    assert check_logs(again.path).broken == ()
    again.close()
    edited(store, CHANGES[1])
    other = Store(restore(store.disk.backup(tmp_path / "changed.zip"), tmp_path / "other"))
    assert any("some were changed" in said for said in check_logs(other.path).broken), "it is carried along"
    other.close()


def as_an_earlier_edition(store):
    """Leave the workspace as one of an earlier edition is when its tables have been brought up to date."""
    with store.session.db.write() as connection:
        unguard(connection, "audit")
        connection.execute(text("UPDATE decisions SET number = NULL, digest = NULL"))
        connection.execute(text("DELETE FROM settings WHERE key = 'decisions chained'"))
        connection.execute(schema.audit.delete())
        connection.execute(schema.audit_head.delete())
        store.session.write_audit(connection, "corpus imported", store.corpora.all()[0].id, records=40)
        store.session.write_audit(connection, "review decisions", store.corpora.all()[0].id, accepted=3)
    heads.keep(store.folder, store.session.db, store.session.key, anew=True)


def test_an_earlier_editions_decisions_are_brought_under_the_chain_once(store, reviewed):
    as_an_earlier_edition(store)
    assert broken(store) == "", "not opened yet"
    again = Store(store.path, actor="Ada")
    line = again.audit.lines(1).iloc[0]
    assert (line["action"], line["actor"], line["subject"]) == ("decisions chained", "Ada", reviewed.id)
    assert broken(store) == ""
    with store.session.db.read() as connection:
        count = connection.execute(text("SELECT count(*) FROM decisions")).scalar_one()
    assert json.loads(line["detail"])["decisions"] == count
    lines = again.audit.count()
    Store(store.path).close()
    assert again.audit.count() == lines
    again.review.undo(reviewed.id)
    again.review.decide(reviewed.id, spans_of(again, reviewed, "id12"), "reject")
    assert broken(store) == ""
    edited(store, "UPDATE decisions SET actor = 'Dora' WHERE number = 1")
    assert "Decision 1 was changed" in broken(store)
    again.close()


def test_nobody_has_them_chained_a_second_time(store, reviewed):
    edited(
        store, "DELETE FROM settings WHERE key = 'decisions chained'",
        "UPDATE decisions SET number = NULL, digest = NULL", "UPDATE decisions SET actor = 'Dora'",
    )  # fmt: skip
    again = Store(store.path)
    assert "decisions chained" not in set(again.audit.lines()["action"])
    assert "brought in that the log does not tell of" in broken(store)
    again.close()


def test_rows_of_a_corpus_that_no_line_tells_of_are_found(store, corpus):
    as_an_earlier_edition(store)
    edited(store, "INSERT INTO settings (key, value) VALUES ('decisions chained', 'true')")
    assert "no line of the log tells of its decisions" in broken(store)
