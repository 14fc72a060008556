"""One limit for several corpora of the same people: its δ stays below 1/N of the largest, and never rises unasked."""

from __future__ import annotations

import pandas as pd
import pytest

from engine.corpus.columns.mapping import ColumnMapping
from engine.dp.accounting.closed_form import default_delta
from engine.errors import UserError
from engine.store.database.schema import populations
from tests.store.conftest import MAPPING, made_up
from tests.store.ledger_making import draw, gaussian, kinds, reserved_run


def imported(store, count, first=0):
    table = made_up(count, first)
    return store.corpora.import_table(table, MAPPING, name=f"{count} letters", holdout=0.0)


@pytest.fixture
def small(store):
    return imported(store, 300)


def test_the_default_limit_follows_the_largest_corpus_and_never_rises(store, small):
    assert store.ledger.of(small.id).limit_delta == default_delta(300)
    large = imported(store, 1500)
    assert large.population == small.population
    for corpus in (small, large):
        view = store.ledger.of(corpus.id)
        assert view.limit_delta == default_delta(1500)
        assert view.limit_delta * view.largest_units < 1.0
    again = imported(store, 40)
    assert again.population == small.population
    store.corpora.delete(large.id)
    assert store.ledger.of(small.id).limit_delta == default_delta(1500)


def test_a_larger_corpus_lowers_a_default_that_was_fixed_and_the_next_run_writes_it(store, small):
    planned = gaussian(0.5, delta=1e-6)
    draw(store, reserved_run(store, small, planned), planned)
    before = store.ledger.of(small.id)
    large = imported(store, 1500)
    view = store.ledger.of(large.id)
    assert (view.limit_epsilon, view.limit_delta) == (10.0, default_delta(1500))
    assert view.limit_delta < before.limit_delta == default_delta(300)
    assert view.share >= before.share
    assert kinds(store, large) == ["limit", "reserve", "spend"]
    reserved_run(store, large, planned)
    assert kinds(store, large) == ["limit", "reserve", "spend", "limit", "reserve"]
    view = store.ledger.of(large.id)
    line = view.lines[view.lines["kind"] == "limit"].iloc[-1]
    assert "is lowered to" in line["sentence"]
    assert "N = 1,500" in line["sentence"]
    assert line["delta"] == view.limit_delta == default_delta(1500)
    assert view.limit_is_default
    reserved_run(store, small, planned)
    assert kinds(store, large).count("limit") == 2
    assert store.ledger.verify()["ok"]


def test_a_chosen_limit_stays_and_the_page_says_that_it_is_too_large(store, small):
    store.ledger.set_limit(small.id, 3.0, 1e-3)
    assert "1/N or more" not in store.ledger.of(small.id).sentence
    large = imported(store, 1500)
    view = store.ledger.of(large.id)
    assert (view.limit_epsilon, view.limit_delta) == (3.0, 1e-3)
    assert "1/N or more for the largest corpus of these people (N = 1,500)" in view.sentence
    with pytest.raises(UserError, match="large_delta"):
        store.ledger.set_limit(small.id, 3.0, 1e-3)  # asked for from the smaller corpus, for all of them
    store.ledger.set_limit(small.id, 3.0, 1e-5)
    assert "1/N or more" not in store.ledger.of(large.id).sentence


def test_joined_people_keep_the_larger_number(store, small):
    ships = pd.DataFrame({"text": [f"Ship {i} lay in harbour with salt from the north" for i in range(1200)]})
    other = store.corpora.import_table(ships, ColumnMapping(text="text"), name="Ships", holdout=0.0)
    assert other.population != small.population
    joined = store.ledger.join_people(small.id, other.id)
    assert joined.largest_units == 1200
    assert joined.limit_delta == default_delta(1200)


def test_a_workspace_of_the_first_edition_counts_its_largest_corpus(store, small):
    from engine.store.database.migrations import largest_units

    imported(store, 1500)
    with store.session.db.write() as connection:
        connection.execute(populations.update().values(units=300))
        largest_units(connection)
    assert store.ledger.of(small.id).largest_units == 1500
