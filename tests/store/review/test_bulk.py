"""Decisions by type, confidence and recogniser; the random order; values with their confidence."""

from __future__ import annotations

import pytest
from sqlalchemy import update

from engine.errors import UserError
from engine.store.database import schema
from engine.store.review.bulk import Choice
from tests.store.span_tables import span_table


@pytest.fixture
def scored(store, corpus):
    """Give the findings scores and recognisers: dates 0.3 by a rule in even records, else 0.9 by the tagger."""
    with store.session.db.write() as connection:
        spans = schema.spans.c
        for even, score, name in ((0, 0.3, "rule"), (1, 0.9, "tagger")):
            connection.execute(
                update(schema.spans)
                .where(spans.corpus_id == corpus.id, spans.label == "DATE", spans.position % 2 == even)
                .values(score=score, recogniser=name)
            )
    return corpus


def rows(store, corpus):
    return {
        r: [tuple(x) for x in span_table(store, corpus.id, r).itertuples(index=False)]
        for r in (f"id{i}" for i in range(40))
    }


@pytest.mark.parametrize(
    ("choice", "findings"),
    [
        (Choice(), 80),
        (Choice(labels=("DATE",)), 40),
        (Choice(labels=("DATE",), high=0.5), 20),
        (Choice(labels=("PERSON",), high=0.5), 0),
        (Choice(recognisers=("rule",)), 20),
        (Choice(low=0.3, high=0.3), 20),
        (Choice(recognisers=("tagger", "rule"), low=0.5), 20),
    ],
)
def test_what_a_choice_holds_is_counted_drawn_and_decided(store, scored, choice, findings):
    held = store.bulk.count(scored.id, choice)
    assert held.findings == findings
    drawn = store.bulk.draw(scored.id, choice, 10, seed=1)
    assert len(drawn) == min(10, held.records)
    assert all(one.spans and all(choice.holds(span) for span in one.spans) for one in drawn)
    if findings:
        assert store.bulk.decide(scored.id, choice, "reject") == findings
        assert store.review.span_counts(scored.id)["rejected"] == findings
    else:
        with pytest.raises(UserError, match="no finding"):
            store.bulk.decide(scored.id, choice, "reject")


def test_other_draws_are_other_texts_and_the_same_draw_is_the_same(store, scored):
    draws = [[one.record_id for one in store.bulk.draw(scored.id, Choice(), 5, seed)] for seed in (1, 2, 1)]
    assert draws[0] == draws[2] != draws[1]


def test_a_bulk_act_is_taken_back_as_one_and_leaves_a_persons_decisions(store, scored):
    first = span_table(store, scored.id, "id2").set_index("label").loc["DATE", "span_id"]
    store.review.decide(scored.id, [first], "accept")
    before = rows(store, scored)
    choice = Choice(labels=("DATE",), high=0.5)
    assert store.bulk.count(scored.id, choice).left == 1
    assert store.bulk.decide(scored.id, choice, "reject") == 19
    assert rows(store, scored)["id2"] == before["id2"]
    assert store.review.undo(scored.id) == "Took back: 19 spans rejected."
    assert rows(store, scored) == before
    again = Choice(labels=("DATE",), high=0.5, again=True)
    assert store.bulk.decide(scored.id, again, "reject") == 20
    store.review.undo(scored.id)
    assert rows(store, scored) == before


def test_recognisers_are_listed_and_values_have_a_confidence(store, scored):
    found = store.bulk.recognisers(scored.id)
    assert (found["rule"], found["tagger"], sum(found.values())) == (20, 20, 80)
    table, _ = store.values.table(scored.id, labels=["DATE"], limit=100)
    assert set(table["confidence"].round(6)) <= {0.3, 0.9}
    assert {0.3, 0.9} <= set(table["confidence"].round(6))


def test_the_random_order_is_always_the_same_and_blind_to_findings(store, corpus):
    order = store.review.order(corpus.id, order="random")
    assert sorted(order) == sorted(store.review.order(corpus.id))
    assert order != store.review.order(corpus.id, order="position")
    store.review.mark_reviewed(corpus.id, order[:5])
    assert store.review.order(corpus.id, order="random") == order
