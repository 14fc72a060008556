"""People named in the records of several units: counted by unit, read by whoever may, and nowhere else."""

from __future__ import annotations

import pandas as pd
import pytest

from engine.errors import NotFoundError, UserError
from engine.methods import get_method
from engine.release.card.card import CardFacts, build_card
from engine.release.policy.policy import policies
from engine.store.review.named import Spread
from tests.store.conftest import CANARY, MAPPING, made_up
from tests.store.span_tables import add_span, span_table

DOCTOR = "Ysolde Quarrington"


def letters(spellings):
    """Return a letter a spelling, each of a person of their own, with the name as a gold span."""
    rows = []
    for i, name in enumerate(spellings):
        text = f"Letter {i}: seen by {name} about a sore knee, number {i * 7919 % 1000}."
        start = text.index(name)
        span = {"start": start, "end": start + len(name), "label": "PERSON"}
        rows.append({"id": f"id{i}", "text": text, "who": f"p{i // 2}", "kind": "knee", "ward": "n", "spans": [span]})
    return pd.DataFrame(rows)


def brought(store, spellings, unit="record", holdout=0.0):
    return store.corpora.import_table(letters(spellings), MAPPING, name="L", unit=unit, holdout=holdout)


def test_each_unit_counts_once_and_spellings_are_one_name(store):
    corpus = brought(store, [DOCTOR, f"Dr. {DOCTOR}", "QUARRINGTON, Ysolde", "Ann Lee", "Quarrington", "J."])
    assert store.named.spread(corpus.id) == Spread("record", 6, 3, {1: 2, 3: 1})
    frame, total = store.named.names(corpus.id)
    assert total == 1
    (row,) = frame.itertuples()
    assert (row.name, row.units, row.records, row.places, row.spellings) == (DOCTOR, 3, 3, 3, 3)
    assert set(store.named.spellings(corpus.id, at_least=3)) == {DOCTOR, f"Dr. {DOCTOR}", "QUARRINGTON, Ysolde"}


def test_where_people_are_protected_their_records_are_one(store):
    corpus = brought(store, [DOCTOR] * 4, unit="source")
    spread = store.named.spread(corpus.id)
    assert (spread.unit, spread.largest, spread.by_units) == ("source", 2, {2: 1})
    frame, _ = store.named.names(corpus.id)
    assert (frame["units"][0], frame["records"][0]) == (2, 4)


def test_only_the_training_part_counts(store):
    corpus = brought(store, [DOCTOR] * 60, holdout=0.5)
    spread = store.named.spread(corpus.id)
    assert spread.largest == corpus.units - corpus.holdout_units == spread.units
    assert 0 < spread.largest < 60


def test_decisions_count_at_once(store):
    corpus = brought(store, [DOCTOR, DOCTOR, "Ann Lee"])
    store.values.decide(corpus.id, [span_table(store, corpus.id, "id0")["value_key"][0] + ".PERSON"], "reject")
    assert store.named.spread(corpus.id).by_units == {1: 1}
    add_span(store, corpus.id, "id0", 0, 6, "PERSON")
    assert store.named.spread(corpus.id).by_units == {1: 2}


def test_a_corpus_without_names_says_so(store):
    corpus = brought(store, ["J.", "Dr."])
    assert store.named.spread(corpus.id) == Spread("record", 2, 0, {})
    frame, total = store.named.names(corpus.id)
    assert (len(frame), total) == (0, 0)


def test_pages_of_names_go_on_where_the_last_ended(store):
    corpus = brought(store, [name for i in range(5) for name in [f"Person{'abcde'[i]} Lastly"] * (i + 1)])
    first, total = store.named.names(corpus.id, at_least=1, limit=2)
    then, _ = store.named.names(corpus.id, at_least=1, offset=2, limit=2)
    assert total == 5
    assert [*first["units"], *then["units"]] == [5, 4, 3, 2]


def test_names_go_onto_the_list_of_known_identifiers_once(store):
    corpus = brought(store, [DOCTOR, DOCTOR, "quarrington, ysolde", "Ann Lee"])
    frame, _ = store.named.names(corpus.id)
    assert not frame["known"][0]
    assert store.named.make_known(corpus.id, name_keys=list(frame["name_key"])) == 2
    known = store.review.detector_settings(corpus.id).known
    assert [(one.value, one.label) for one in known] == [(DOCTOR, "PERSON"), ("quarrington, ysolde", "PERSON")]
    assert store.named.names(corpus.id)[0]["known"][0]
    assert store.named.make_known(corpus.id, at_least=1) == 1  # Ann Lee is new, the others are there
    line = store.audit.lines(limit=2).to_dict("records")
    assert "named people made known" in str(line)
    assert "Quarrington" not in str(store.audit.lines(limit=100).to_dict("records"))


def test_what_is_refused(store):
    corpus = brought(store, [DOCTOR, DOCTOR])
    for wrong in ({}, {"name_keys": ["x"], "at_least": 2}):
        with pytest.raises(UserError, match="names"):
            store.named.make_known(corpus.id, **wrong)
    with pytest.raises(NotFoundError, match="no such name"):
        store.named.make_known(corpus.id, name_keys=["0" * 32])
    with pytest.raises(UserError, match="at_least"):
        store.named.names(corpus.id, at_least=0)


def test_a_claim_and_its_card_say_nothing_of_who_is_named_how_often(store):
    """Two corpora of one size, in which a name stands in all records and in none: every word that leaves is equal."""
    cards = []
    for spellings in ([DOCTOR] * 12, [f"Person{'abcdefghijkl'[i]} Lastly" for i in range(12)]):
        corpus = brought(store, spellings)
        store.named.spread(corpus.id)
        method = get_method("aug-pe")
        claim = store.ledger.promise(method, method.spec.parameters(), store.ledger.facts(corpus.id), wait=True)
        policy = next(one for one in policies() if one.id == "research")
        cards.append(build_card(CardFacts(method.spec, claim, policy, created="2026-11-24")))
    one, other = cards
    assert one.markdown == other.markdown
    assert one.content == other.content
    assert "k = 10: ε" in one.markdown
    assert "Quarrington" not in one.markdown


def test_what_is_kept_in_memory_holds_no_name(store):
    from engine.store.review import memory

    corpus = store.corpora.import_table(made_up(), MAPPING, name="Letters", unit="record", holdout=0.0)
    store.named.names(corpus.id)
    held = [value for key, value in memory._held.items() if corpus.id in key]
    assert "named people" in str([key for key in memory._held if corpus.id in key])
    assert CANARY.split()[0].lower() not in str(held).lower()
