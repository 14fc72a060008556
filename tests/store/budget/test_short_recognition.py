"""The same people behind short answers: merged, asked about, or told apart from strangers who answer alike."""

from __future__ import annotations

import random

import pandas as pd
import pytest

from engine.corpus.columns.mapping import ColumnMapping
from engine.corpus.people.population import former_short_hashes
from engine.errors import RefusedError
from engine.store.database.schema import equal_marks, short_marks, unit_hashes
from engine.store.store import Store
from tests.corpus.answering import common_answers, free_answers, one_word_changed
from tests.store.ledger_making import gaussian, limited, reserved_run

MAPPING = ColumnMapping(text="text")


def imported(store, texts, **settings):
    return store.corpora.import_table(pd.DataFrame({"text": texts}), MAPPING, name="Answers", **settings)


def rows(store):
    with store.session.db.read() as connection:
        return connection.exec_driver_sql("SELECT count(*) FROM short_marks").scalar()


@pytest.fixture
def answers():
    return free_answers(random.Random(1), 120)


def test_answers_without_their_last_full_stop_bring_no_budget_back(store, answers):
    short = [" ".join(text.split()[:6]) for text in answers]
    first = imported(store, [f"{text.rstrip('.')}." for text in short])
    limited(store, first, 1.0)
    reserved_run(store, first, gaussian(1.0))
    again = imported(store, [text.rstrip(".") for text in short])
    assert again.population == first.population
    with pytest.raises(RefusedError):
        reserved_run(store, again, gaussian(1.0))


def test_a_file_reworded_again_and_again_stays_with_its_people(store, answers):
    rng = random.Random(2)
    first, texts = imported(store, answers), answers
    for _ in range(3):
        texts = [one_word_changed(rng)(text) for text in texts]
        assert imported(store, texts).population == first.population
    original = imported(store, [one_word_changed(rng)(text) for text in answers])
    assert original.population == first.population


def test_strangers_with_answers_of_their_own_are_other_people(store, answers):
    first, second = imported(store, answers), imported(store, free_answers(random.Random(3), 120))
    assert first.population != second.population
    assert store.ledger.of(second.id).questions == ()
    reserved_run(store, second, gaussian(0.5))


def test_answers_too_common_to_tell_ask(store):
    rng = random.Random(4)
    first, second = imported(store, common_answers(rng, 80)), imported(store, common_answers(rng, 80))
    assert first.population != second.population
    assert any("too common to tell people apart" in warning for warning in second.warnings)
    with pytest.raises(RefusedError, match="other-people-than"):
        reserved_run(store, second, gaussian(0.5))
    store.ledger.keep_apart(second.id, first.id)
    reserved_run(store, second, gaussian(0.5))


def test_a_tenth_of_the_answers_ask(store, answers):
    first = imported(store, answers)
    second = imported(store, [*answers[:12], *free_answers(random.Random(5), 108)])
    assert second.population == first.population or store.ledger.of(second.id).questions


def test_marks_of_short_records_outlive_their_corpus_and_are_kept_once(store, answers):
    first = imported(store, answers)
    before = rows(store)
    assert before > 3 * len(answers)
    imported(store, answers)
    assert rows(store) == before
    store.corpora.delete(first.id)
    assert imported(store, [text.upper() for text in answers]).population == first.population
    assert rows(store) == before


def test_people_who_are_joined_share_their_marks(store, answers):
    rng = random.Random(6)
    changed = [one_word_changed(rng)(text) for text in answers]
    first, second = imported(store, answers[:60]), imported(store, [*changed[:5], *changed[60:]])
    if first.population != second.population:
        store.ledger.join_people(second.id, first.id)
    population = store.corpora.get(first.id).population
    with store.session.db.read() as connection:
        names = connection.exec_driver_sql("SELECT DISTINCT population FROM short_marks").scalars().all()
    assert names == [population]
    assert imported(store, [text.upper() for text in answers]).population == population


def test_one_person_who_repeats_an_answer_is_one(store):
    mapping = ColumnMapping(text="text", source_id="who")
    table = pd.DataFrame({"text": ["The food was cold"] * 9, "who": ["a", "a", "a", "b", "b", "b", "c", "c", "c"]})
    store.corpora.import_table(table, mapping, name="x", unit="source", cap=3, holdout=0)
    with store.session.db.read() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM short_marks WHERE whole").scalar() == 3


def test_people_of_the_first_edition_are_asked_about(store, answers):
    """Their workspace holds hashes of whole short texts and no marks."""
    short = list(dict.fromkeys(" ".join(text.split()[:6]) for text in answers))
    first = imported(store, short)
    former = former_short_hashes([str(i) for i in range(len(short))], short, store.corpora.subkey("corpus"))
    with store.session.db.write() as connection:
        connection.execute(short_marks.delete())
        connection.execute(equal_marks.delete())
        connection.execute(unit_hashes.insert(), [{"hash": one, "population": first.population} for one in former])
    second = imported(store, short)
    assert second.population != first.population
    assert store.ledger.of(second.id).questions[0].sentence == "whole short texts"
    joined = store.ledger.join_people(second.id, first.id)
    assert imported(store, [text.upper() for text in short]).population == joined.population


@pytest.mark.slow
def test_a_large_chat_is_recognised_in_sane_time(tmp_path, test_data):
    texts = list(pd.read_parquet(test_data / "ubuntu_irc.parquet")["text"])[:60_000]
    store = Store(tmp_path / "w")
    first, again = imported(store, texts), imported(store, [text.upper() for text in texts])
    assert again.population == first.population
    store.close()
