"""Marks by which people are known again, answers about them, and marks of weights: what is done outside is told."""

from __future__ import annotations

import pandas as pd
import pytest
from sqlalchemy import select

from engine.corpus.columns.mapping import ColumnMapping
from engine.errors import RefusedError
from engine.models.marks import Mark
from engine.store.budget import fitted, held_people
from engine.store.database import schema
from engine.store.runs import held
from tests.store.making import finished_run
from tests.store.test_held_runs import broken, earlier, edited, put_back, rows_of

MAPPING = ColumnMapping(text="text", source_id="who")
MARKS = (*held_people.MARKS, schema.people_questions, schema.populations)
WORDS = ("knee", "fever", "cough", "rash", "headache", "stairs", "garden", "winter", "doctor", "tablet", "evening")


def letters(name, count=30, people=10, first=0):
    """Return letters that share no run of words with those of another name; every third is short."""
    rows = []
    for i in range(first, first + count):
        said = " ".join(f"{WORDS[(i * 7 + k * 3) % len(WORDS)]} {name}{i * 13 + k}" for k in range(12 if i % 3 else 4))
        line = f"\nOn the line of {name} number {i} it stood." if i % 3 else ""
        rows.append({"text": f"{said}.{line}", "who": f"{name}-{i % people}"})
    return pd.DataFrame(rows)


def imported(store, frame, name="x"):
    return store.corpora.import_table(frame, MAPPING, name=name, unit="source", holdout=0.2)


@pytest.fixture
def three(store):
    """Two corpora of two peoples, and a third file about which a person was asked and answered."""
    first = imported(store, letters("amber"), "first")
    second = imported(store, letters("birch"), "second")
    asked = pd.concat([letters("cedar"), letters("amber", 1)], ignore_index=True)
    third = imported(store, asked, "third")
    assert third.population not in (first.population, second.population)
    assert store.ledger.of(third.id).questions
    store.ledger.keep_apart(third.id, first.id)
    return first, second, third


def test_what_the_program_wrote_holds(store, three):
    assert broken(store) == ""
    assert store.audit.outside() == ()


def test_a_join_and_a_second_file_of_the_same_people_hold(store, three):
    first, second, _ = three
    again = imported(store, letters("amber", 45), "again")
    assert again.population == first.population
    assert broken(store) == ""
    store.ledger.join_people(first.id, second.id)
    assert broken(store) == ""
    assert imported(store, letters("birch", 45), "birches").population == first.population
    assert broken(store) == ""
    both = imported(store, pd.concat([letters("cedar", 40), letters("dune", 40)], ignore_index=True), "both")
    imported(store, letters("dune", 50), "dunes")
    assert both.population in {one.population for one in store.corpora.all()}
    assert broken(store) == ""


EDITS = [
    (held_people.MARKS[0], "DELETE FROM unit_hashes"),
    (held_people.MARKS[0], "UPDATE unit_hashes SET hash = hash || 'x'"),
    (held_people.MARKS[1], "DELETE FROM people_marks WHERE record = 0"),
    (held_people.MARKS[1], "UPDATE people_marks SET hash = hash + 1 WHERE record > 0"),
    (held_people.MARKS[2], "DELETE FROM short_marks"),
    (held_people.MARKS[3], "DELETE FROM equal_marks WHERE kind = 'lines'"),
    (held_people.MARKS[2], "UPDATE short_marks SET whole = NOT whole"),
    (schema.populations, "UPDATE populations SET units = 100000"),
]


def test_marks_that_were_changed_removed_or_moved_are_told_until_they_are_put_back(store, three):
    run = finished_run(store, three[0], ["A text about a garden."] * 4)
    assert held.of_run(store.session, run) == ()
    for table, statement in EDITS:
        # rows of populations are pointed at: what was changed of them is put back by hand
        kept = rows_of(store, table) if table is not schema.populations else {}
        before = rows_of(store, schema.populations)[schema.populations]
        edited(store, statement)
        said = broken(store)
        for corpus in three:
            assert f"People: what the people of {corpus.population} are known again by: changed" in said, statement
        assert any(three[0].population in one for one in held.of_run(store.session, run)), statement
        with pytest.raises(RefusedError):
            held.demand(store.session, run)
        put_back(store, kept)
        for row in before:
            edited(
                store, "UPDATE populations SET units = :units WHERE id = :id", **{k: row[k] for k in ("units", "id")}
            )
        assert broken(store) == "", statement


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE people_questions SET state = 'open'",
        "DELETE FROM people_questions",
        "INSERT INTO people_questions (first, second, state, detail, at) VALUES ('a', 'b', 'other', '{}', 'now')",
        "UPDATE people_questions SET detail = '{}'",
    ],
)
def test_an_answer_that_was_changed_is_told(store, three, statement):
    edited(store, statement)
    assert held_people.QUESTIONS in broken(store)


def test_what_was_changed_before_a_later_act_stays_told_after_it(store, three):
    first, second, third = three
    kept = rows_of(store, schema.people_marks)
    edited(store, "DELETE FROM people_marks WHERE population = :one", one=first.population)
    again = imported(store, letters("amber", 45), "again")
    assert again.population == first.population
    assert f"the people of {first.population} are known again by: changed" in broken(store)
    assert second.population not in broken(store)
    store.ledger.join_people(second.id, first.id)
    assert f"the people of {second.population} are known again by: changed" in broken(store)
    edited(store, "UPDATE people_questions SET state = 'open'")
    imported(store, letters("elm"), "elm")
    assert held_people.QUESTIONS in broken(store)
    assert kept
    assert third.population not in broken(store).replace(held_people.QUESTIONS, "")


def test_a_population_that_was_brought_in_is_told(store, three):
    edited(store, "INSERT INTO people_marks (hash, population, record) VALUES (5, 'pop-brought', 0)")
    assert "the people of pop-brought are known again by: brought in" in broken(store)


def test_marks_of_an_earlier_edition_stand_outside_and_later_ones_are_held(store, three):
    earlier(store, every=True)
    assert "People" not in broken(store)
    left = store.audit.outside()
    assert all(any(one.population in said for said in left) for one in three)
    edited(store, "DELETE FROM short_marks")  # nobody can say that this was done
    assert "People" not in broken(store)
    fresh = imported(store, letters("fir"), "fir")
    again = imported(store, letters("amber", 45), "again")
    assert "People" not in broken(store)
    left = store.audit.outside()
    assert not any(fresh.population in said for said in left)
    assert any(again.population in said for said in left), "it is held from here on, and what was before is not"
    edited(store, "DELETE FROM people_marks WHERE population = :one", one=fresh.population)
    assert f"the people of {fresh.population}" in broken(store)


def marked(store, run, digests):
    with store.session.db.write() as connection:
        told = fitted.register(connection, store.session.key, digests, [Mark(run, "pop-x", "none")])
        store.session.write_audit(connection, fitted.ACT, run, **told)


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM fitted_weights WHERE run_id = 'r-1'",
        "UPDATE fitted_weights SET mark = '{}' WHERE run_id = 'r-2'",
        "UPDATE fitted_weights SET run_id = 'r-3' WHERE run_id = 'r-2'",
        "INSERT INTO fitted_weights (digest, run_id, mark, at) VALUES ('d', 'r-9', '{}', 'now')",
        "DELETE FROM fitted_weights",
    ],
)
def test_marks_of_weights_are_held(store, corpus, statement):
    run = finished_run(store, corpus, ["A text."])
    marked(store, "r-1", ["a", "b"])
    marked(store, "r-2", ["b", "c"])
    marked(store, "r-1", ["a", "b"])
    assert "Weights" not in broken(store)
    assert held.of_run(store.session, run) == ()
    edited(store, statement)
    assert "Weights: what weights were fitted to which people: changed" in broken(store)
    assert any("weights were fitted" in one for one in held.of_run(store.session, run))


def test_marks_of_weights_of_an_earlier_edition_stand_outside_but_are_held_from_the_first_line_on(store, corpus):
    with store.session.db.write() as connection:
        fitted.register(connection, store.session.key, ["old"], [Mark("r-0", "pop-x", "none")])
    assert any("weights" in one for one in store.audit.outside())
    assert "Weights" not in broken(store)
    marked(store, "r-1", ["a"])
    assert any("weights" in one for one in store.audit.outside())
    assert "Weights" not in broken(store)
    edited(store, "DELETE FROM fitted_weights WHERE run_id = 'r-0'")
    assert "Weights" in broken(store)
    with store.session.db.read() as connection:
        assert connection.execute(select(schema.fitted_weights.c.run_id)).scalars().all() == ["r-1"]
