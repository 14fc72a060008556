"""What somebody does who has the database and the folder in hand, but not the key, does not come to hold by later acts.

Each test changes rows, lets the program go on, puts rows back where that helps, and asks again.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing

import pytest
from sqlalchemy import select, text

from engine.errors import RefusedError, StorageError
from engine.store.database import schema
from engine.store.disk import heads
from engine.store.logs.check import check_logs
from engine.store.records import read_table, write_table
from engine.store.review import chained, held
from engine.store.review.bulk import Choice
from engine.store.review.desk.steps import Step
from engine.store.store import Store
from tests.store.conftest import MAPPING, made_up
from tests.store.making import unguard


def spans_of(store, corpus, record):
    return [span.span_id for span in store.review.spans(corpus.id, record)]


def broken(store):
    return " ".join(check_logs(store.path).broken)


def edited(store, *statements):
    """Change rows as somebody could who has the database in hand."""
    with store.session.db.write() as connection:
        for statement in statements:
            connection.execute(text(statement))


def rows_of(store, *tables):
    with store.session.db.read() as connection:
        return {table: [dict(row._mapping) for row in connection.execute(select(table))] for table in tables}


def put_back(store, kept):
    with store.session.db.write() as connection:
        for table, rows in kept.items():
            connection.execute(table.delete())
            if rows:
                connection.execute(table.insert(), rows)


@pytest.fixture
def reviewed(store, corpus):
    """A few decisions, and a group of forty that ends the chain."""
    store.review.decide(corpus.id, spans_of(store, corpus, "id3"), "accept")
    store.review.decide(corpus.id, [spans_of(store, corpus, "id4")[0]], "reject")
    store.review.mark_reviewed(corpus.id, ["id8"])
    store.bulk.decide(corpus.id, Choice(labels=("DATE",)), "accept")
    return corpus


@pytest.mark.parametrize("act", ["decide", "use_gold"])
def test_an_end_that_was_cut_off_is_told_after_later_acts(store, reviewed, act):
    edited(store, "DELETE FROM decisions WHERE number > 10")
    assert "cut off" in broken(store)
    if act == "decide":
        store.review.decide(reviewed.id, [spans_of(store, reviewed, "id11")[0]], "accept")
    else:
        store.review.use_gold(reviewed.id)
    assert "cut off" in broken(store)
    with pytest.raises(RefusedError):
        held.demand(store.session, reviewed.id)


def test_a_corpus_under_another_id_is_not_brought_under_the_chain(store, reviewed):
    names = ", ".join(f'"{c.name}"' for c in schema.corpora.c if c.name != "id")
    spans = ", ".join(f'"{c.name}"' for c in schema.spans.c if c.name not in ("id", "corpus_id", "state"))
    index = ", ".join(f'"{c.name}"' for c in schema.record_index.c if c.name not in ("corpus_id", "reviewed"))
    edited(
        store,
        f"INSERT INTO corpora (id, {names}) SELECT 'c-another', {names} FROM corpora",
        f"INSERT INTO record_index (corpus_id, reviewed, {index}) SELECT 'c-another', TRUE, {index} FROM record_index",
        f"INSERT INTO spans (corpus_id, state, {spans}) SELECT 'c-another', 'rejected', {spans} FROM spans",
        "DELETE FROM settings WHERE key = 'decisions chained'",
    )
    assert "corpus c-another: no line of the log tells of its decisions" in broken(store)
    assert held.of_corpus(store.session, "c-another")
    again = Store(store.path)
    assert "decisions chained" not in set(again.audit.lines()["action"])
    assert "corpus c-another: no line of the log tells of its decisions" in broken(store)
    again.close()


@pytest.mark.parametrize(
    "statement",
    ["UPDATE spans SET active = 1.5 WHERE position = 30", "UPDATE spans SET decided = 0.5 WHERE position = 30",
     "UPDATE record_index SET reviewed = 1.5 WHERE reviewed = 1", "UPDATE record_index SET reviewed = 'x'",
     "UPDATE spans SET active = 'x' WHERE position = 30", "UPDATE spans SET active = x'31' WHERE position = 30",
     "UPDATE spans SET decided = 'x' WHERE position = 30", "UPDATE spans SET start = 'x' WHERE position = 30"],
)  # fmt: skip
def test_a_flag_of_another_kind_is_found(store, reviewed, statement):
    with closing(sqlite3.connect(store.folder.database)) as database:
        database.execute(statement)
        database.commit()
    assert "Review: corpus" in broken(store)
    assert held.of_corpus(store.session, reviewed.id)


def test_a_mark_in_force_that_says_it_is_still_being_looked_for_is_found(store, reviewed):
    names = ", ".join(f'"{c.name}"' for c in schema.spans.c if c.name not in ("id", "origin"))
    edited(store, f"INSERT INTO spans (origin, {names}) SELECT 'pending', {names} FROM spans WHERE position = 30")
    assert "marks" in broken(store)


def test_a_history_that_was_put_back_while_the_program_runs_is_told_after_later_acts(store, reviewed):
    tables = (schema.spans, schema.decisions, schema.record_index, schema.audit, schema.audit_head, schema.corpora)
    kept = rows_of(store, *tables[:-1])
    store.review.decide(reviewed.id, spans_of(store, reviewed, "id33"), "reject")
    store.review.decide(reviewed.id, spans_of(store, reviewed, "id34"), "reject")
    with store.session.db.write() as connection:
        unguard(connection, "audit")
    put_back(store, kept)
    assert "cut off" in broken(store)
    assert held.LOG in held.of_corpus(store.session, reviewed.id)
    for record in ("id12", "id13", "id14"):
        store.review.decide(reviewed.id, spans_of(store, reviewed, record), "accept")
    assert "another one than the head beside the key knows" in broken(store)
    assert held.LOG in held.of_corpus(store.session, reviewed.id)
    with pytest.raises(heads.RolledBackError):
        Store(store.path)


def test_a_deleted_corpus_that_is_back_is_told(store, reviewed):
    tables = (schema.corpora, schema.record_index, schema.spans, schema.decisions)
    kept = rows_of(store, *tables)
    store.corpora.delete(reviewed.id)
    assert broken(store) == ""
    put_back(store, kept)
    assert "was deleted" in broken(store)


BEFORE = "UPDATE decisions SET prior = replace(CAST(prior AS TEXT), 'accepted', 'rejected') WHERE number > 4"


def test_an_undo_of_a_decision_that_was_changed_for_a_moment_is_told(store, reviewed):
    kept = rows_of(store, schema.decisions)[schema.decisions]
    with closing(sqlite3.connect(store.folder.database)) as database:
        database.execute(BEFORE)
        database.commit()
    assert broken(store)
    store.review.undo(reviewed.id)
    with closing(sqlite3.connect(store.folder.database)) as database:
        for row in kept:
            database.execute("UPDATE decisions SET prior = ? WHERE seq = ?", (json.dumps(row["prior"]), row["seq"]))
        database.commit()
    assert broken(store)


def test_an_undo_of_a_group_whose_first_decision_was_hidden_for_a_moment_is_told(store, reviewed):
    made = rows_of(store, schema.decisions)[schema.decisions]
    last = max(row["batch"] for row in made)
    first = min(row["number"] for row in made if row["batch"] == last)
    edited(store, f"UPDATE decisions SET batch = {last - 1} WHERE number = {first}")
    store.review.undo(reviewed.id)
    edited(store, f"UPDATE decisions SET batch = {last} WHERE number = {first}")
    assert broken(store)


def test_an_undo_goes_through_what_it_takes_back_and_what_came_later_alone(store, reviewed, monkeypatch):
    real, asked = chained.digest, []
    monkeypatch.setattr(chained, "digest", lambda *given: (asked.append(given[2]), real(*given))[1])
    store.review.decide(reviewed.id, [spans_of(store, reviewed, "id11")[0]], "reject")
    (made,) = asked
    store.review.undo(reviewed.id)
    assert asked[1:] == [made - 1, made, made + 1], "the one before, the one taken back, the undo itself"
    monkeypatch.undo()
    assert broken(store) == ""


def test_a_choice_of_marks_by_decisions_that_were_changed_for_a_moment_is_told(store, reviewed):
    edited(store, "UPDATE decisions SET action = 'reject' WHERE number = 1")
    store.review.use_gold(reviewed.id)
    edited(store, "UPDATE decisions SET action = 'accept' WHERE number = 1")
    assert broken(store)


def test_spoiling_twice_does_not_make_up_for_it(store, reviewed):
    for _ in range(2):
        edited(store, "UPDATE decisions SET action = 'reject' WHERE number = 1")
        store.review.use_gold(reviewed.id)
        edited(store, "UPDATE decisions SET action = 'accept' WHERE number = 1")
    assert broken(store)


def test_a_mark_that_was_hidden_while_the_marks_were_chosen_is_told(store, reviewed):
    edited(store, "UPDATE spans SET origin = 'removed' WHERE position = 30")
    store.review.use_gold(reviewed.id)
    edited(store, "UPDATE spans SET origin = 'gold' WHERE position = 30")
    assert "some were changed" in broken(store)


def test_undo_inside_a_message_of_several_steps_holds(store, reviewed):
    name, day = spans_of(store, reviewed, "id20")
    store.review.take(reviewed.id, [Step("client-1", 1, "reject", span=name), Step("client-1", 2, "reject", span=day)])
    store.review.take(reviewed.id, [
        Step("client-1", 3, "accept", span=spans_of(store, reviewed, "id21")[0]),
        Step("client-1", 4, "undo", of=("client-1", 2)),
        Step("client-1", 5, "undo", of=("client-1", 3)),
    ])  # fmt: skip
    assert broken(store) == ""


def test_marks_are_not_changed_under_a_trigger_and_it_is_told(store, reviewed):
    act = "UPDATE spans SET state = 'rejected' WHERE position = 30;"
    if store.session.db.is_file:
        edited(store, f"CREATE TRIGGER another AFTER UPDATE ON spans WHEN NEW.position = 5 BEGIN {act} END")
    else:
        body = f"CREATE FUNCTION other() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {act} RETURN NEW; END $$"
        when = "FOR EACH ROW WHEN (NEW.position = 5) EXECUTE FUNCTION other()"
        edited(store, body, f"CREATE TRIGGER another AFTER UPDATE ON spans {when}")
    with pytest.raises(StorageError, match="the trigger another"):
        store.review.use_gold(reviewed.id)
    assert "given the trigger another outside of the program" in broken(store)
    with pytest.raises(RefusedError):
        held.demand(store.session, reviewed.id)


def test_nothing_is_made_by_marks_that_were_changed(store, reviewed):
    assert len(store.review.accepted_spans(reviewed.id, as_told=True))
    edited(store, "UPDATE spans SET state = 'rejected' WHERE position = 30")
    with pytest.raises(RefusedError, match="audit --verify"):
        store.review.accepted_spans(reviewed.id, as_told=True)


def test_records_that_were_changed_under_their_marks_are_told_and_stop_what_is_made_of_them(store, reviewed):
    path = store.folder.records(reviewed.id)
    kept = path.read_bytes()
    frame = read_table(path)
    frame["text"] = "   " + frame["text"]  # each mark stands three letters further on
    write_table(path, frame)
    assert "the file of its records is not the one that was imported" in broken(store)
    assert store.audit.untrue()
    with pytest.raises(RefusedError, match="audit --verify"):
        held.demand(store.session, reviewed.id)
    with pytest.raises(RefusedError, match="audit --verify"):
        store.review.accepted_spans(reviewed.id, as_told=True)
    path.unlink()
    assert "is missing or cannot be read" in broken(store)
    path.write_bytes(kept)
    assert broken(store) == ""


def test_two_corpora_that_changed_their_files_are_told(store, reviewed):
    other = store.corpora.import_table(made_up(40, 100), MAPPING, name="Other", unit="record", holdout=0.25)
    one, two = store.folder.records(reviewed.id), store.folder.records(other.id)
    first, second = one.read_bytes(), two.read_bytes()
    one.write_bytes(second)
    two.write_bytes(first)
    assert broken(store).count("not the one that was imported") == 2
