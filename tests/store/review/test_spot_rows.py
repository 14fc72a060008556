"""Rows of a spot check that were edited outside of the program are found, and the gate relies on none of them."""

from __future__ import annotations

import pytest

from engine.release.policy import missed
from engine.release.policy.policy import MissedRule
from engine.store.logs.check import check_logs
from engine.store.review.spot import chained
from engine.store.review.spot.words import sentences
from tests.store.making import edited, finished_run
from tests.store.review.test_spot_checks import act_as, imported, read

NOTES = ["made-up output"] * 3


@pytest.fixture
def corpus(store):
    """A corpus whose spot check was read, in part by a second person who found something more."""
    act_as(store, "Ada")
    made = imported(store, 60, missed=60)
    store.spot_checks.draw(made.id, 40, twice=3)
    order = store.spot_checks.order(made.id)
    for record in order:
        store.review.mark_reviewed(made.id, [record])
    act_as(store, "Ben")
    for turn in range(3):
        sheet = store.spot_checks.next_for_second(made.id)
        store.spot_checks.mark(made.id, sheet.record_id, "Signed", "PERSON")
        if turn == 0:
            at = sheet.text.index("Signed")
            store.spot_checks.unmark(made.id, sheet.record_id, at, at + 6)
        store.spot_checks.finish(made.id, sheet.record_id)
    act_as(store, "Cleo")
    for one, outcome in zip(store.spot_checks.differences(made.id), ("missed", "none"), strict=True):
        store.spot_checks.settle(made.id, one.record_id, one.start, one.end, outcome, "a word of the form")
    return made


def broken(store):
    return " ".join(check_logs(store.path).broken)


def asked(store, corpus):
    """Return what the gate is told and whether its line passes."""
    run = store.runs.all()[0].id if store.runs.all() else finished_run(store, corpus, NOTES)
    found = store.releases._facts.of(run, False, "").missed
    rule = MissedRule(minimum_sample=30, direct_per_1000=1000.0, sentence="Made up.")
    return found, missed.missed_lines(rule, found)


def test_what_the_program_wrote_holds(store, corpus):
    assert broken(store) == ""
    found, lines = asked(store, corpus)
    assert not found.why
    assert [line.passed for line in lines] == [True, True]


EDITS = [
    ("UPDATE spot_checks SET parts = '[10, 10, 10, 10]'", "sample was changed"),
    ("UPDATE spot_checks SET look = 2", "sample was changed"),
    ("UPDATE spot_checks SET read_before = 20", "sample was changed"),
    ("UPDATE spot_looks SET look = look, marks = substr(marks, 1, 1)", "count of looks"),
    ("UPDATE spot_looks SET look = 0", "count of looks"),
    ("DELETE FROM spot_looks", "count of looks"),
    ("UPDATE spot_checks SET after = after + 1000", "sample was changed"),
    ("UPDATE spot_records SET twice = NOT twice WHERE twice", "sample was changed"),
    ("UPDATE spot_records SET before = '[[0, 900, \"PERSON\", \"direct\"]]' WHERE place = 3", "sample was changed"),
    ("DELETE FROM spot_records WHERE place > 35", "sample was changed"),
    ("DELETE FROM spot_records WHERE twice", "sample was changed"),
    ("DELETE FROM spot_records WHERE NOT twice", "sample was changed"),
    ("DELETE FROM spot_records", "sample was changed"),
    ("UPDATE spot_records SET part = 9", "sample was changed"),
    ("UPDATE spot_records SET position = position + 1000", "sample was changed"),
    ("UPDATE spot_events SET position = 400 + position", "changed or removed: 9"),
    ("UPDATE spot_events SET action = 'none' WHERE action = 'missed'", "changed or removed: 1"),
    ("UPDATE spot_events SET actor = 'Dora' WHERE action = 'none'", "changed or removed: 1"),
    ("DELETE FROM spot_events WHERE action = 'mark'", "changed or removed: 3"),
    ("DELETE FROM spot_events", "changed or removed: 9"),
    ("INSERT INTO spot_events (check_id, position, at, actor, action, start, \"end\", label) SELECT check_id, "
     "position, at, 'Dora', 'none', 0, 1, 'PERSON' FROM spot_events WHERE action = 'missed'", "does not tell of: 1"),
]  # fmt: skip


@pytest.mark.parametrize(("statement", "says"), EDITS)
def test_edited_rows_are_found_and_the_gate_does_not_pass(store, corpus, statement, says):
    assert asked(store, corpus)[1][0].passed is True
    edited(store, statement)
    assert says in broken(store)
    found, lines = asked(store, corpus)
    assert found.why == chained.BROKEN
    assert found.direct is None
    assert [line.passed for line in lines] == [None, None]
    assert "audit log tells of" in lines[0].sentence
    said = " ".join(sentences(store.spot_checks.estimate(corpus.id)))
    assert "per 1,000 records" not in said
    assert store.spot_checks.latest(corpus.id).drawn == len(store.spot_checks.order(corpus.id))
    store.spot_checks.differences(corpus.id)


def test_a_check_that_was_removed_or_brought_in_is_found(store, corpus):
    edited(store, "INSERT INTO spot_checks SELECT 'k-other00000', corpus_id, 2, at, actor, records, parts, again, "
                  "after, marks, read_before FROM spot_checks")  # fmt: skip
    assert "tells of none" in broken(store)
    assert asked(store, corpus)[0].why == chained.BROKEN
    edited(store, "DELETE FROM spot_events", "DELETE FROM spot_records", "DELETE FROM spot_checks")
    assert "was removed" in broken(store)


@pytest.mark.parametrize(
    "statements",
    [
        ("DELETE FROM audit WHERE action = 'spot check difference settled'",
         "DELETE FROM spot_events WHERE action = 'none'"),
        ("UPDATE audit SET detail = replace(detail, '\"row\"', '\"then\"') WHERE action = 'spot check drawn'",
         "UPDATE spot_checks SET after = after + 1000"),
        ("DELETE FROM audit WHERE seq = (SELECT max(seq) FROM audit)",),
    ],
)  # fmt: skip
def test_lines_that_were_edited_with_the_rows_are_not_relied_on(store, corpus, statements):
    edited(store, *statements)
    assert asked(store, corpus)[0].why == chained.BROKEN
    assert broken(store)


def test_a_deleted_corpus_and_one_of_an_earlier_edition_are_no_break(store, corpus):
    second = imported(store, 60)
    store.spot_checks.draw(second.id, 40)
    read(store, second.id)
    store.corpora.delete(second.id)
    assert broken(store) == ""
    assert not store.spot_checks.estimate(corpus.id).why
    edited(store, f"DELETE FROM spot_looks WHERE corpus_id = '{second.id}'")
    assert "count of looks" in broken(store)


def test_a_check_whose_line_told_of_no_row_is_told_as_before(store, monkeypatch):
    """An earlier edition's line is whole and holds no digest."""
    monkeypatch.setattr(chained, "of_check", lambda *given: "")
    made = imported(store, 60)
    store.spot_checks.draw(made.id, 40)
    monkeypatch.undo()
    read(store, made.id)
    assert broken(store) == ""
    assert not store.spot_checks.estimate(made.id).why
