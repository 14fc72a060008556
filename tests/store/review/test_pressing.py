"""What points at one person and stays until somebody decides: counted, listed, and first among the values."""

from __future__ import annotations

from sqlalchemy import select, update

from engine.store.database import schema
from tests.store.span_tables import span_table

spans = schema.spans.c


def stay(store, corpus_id: str, first: int) -> None:
    """Have the findings of the first records stay, as those below their threshold do."""
    here = (spans.corpus_id == corpus_id, spans.position < first)
    with store.session.db.write() as connection:
        connection.execute(update(schema.spans).where(*here).values(state="rejected"))


def names(store, corpus_id: str, record: str) -> list[str]:
    found = span_table(store, corpus_id, record)
    return list(found[found["label"] == "PERSON"]["span_id"])


def test_only_direct_identifiers_that_stay_and_were_not_looked_at_count(store, corpus):
    stay(store, corpus.id, 5)  # a name and a day each: the days point at nobody by themselves
    assert store.values.pressing(corpus.id) == 5
    assert sorted(store.review.order(corpus.id, state="pressing")) == [f"id{n}" for n in range(5)]
    store.review.decide(corpus.id, names(store, corpus.id, "id0"), "accept")
    store.review.decide(corpus.id, names(store, corpus.id, "id1"), "reject")
    store.review.mark_reviewed(corpus.id, ["id2"])
    assert store.values.pressing(corpus.id) == 2
    assert sorted(store.review.order(corpus.id, state="pressing")) == ["id3", "id4"]
    store.review.undo(corpus.id)
    assert store.values.pressing(corpus.id) == 3


def test_values_begin_with_what_points_at_a_person_then_what_goes(store, corpus):
    with store.session.db.write() as connection:
        often = connection.execute(select(spans.value_key).where(spans.label == "PERSON").limit(1)).scalar_one()
        alike = (spans.corpus_id == corpus.id, spans.value_key == often)
        harmless = {"state": "rejected", "identifier_type": "none"}
        connection.execute(update(schema.spans).where(*alike).values(**harmless))
    table, total = store.values.table(corpus.id, limit=100)
    assert list(table["label"][:4]) == ["PERSON"] * 4
    assert (table["value_key"].iloc[-1].split(".")[0], table["count"].iloc[-1]) == (often, 8), (
        "the most frequent of all"
    )
    assert list(table["label"][4 : total - 1]) == ["DATE"] * (total - 5)
    assert list(table["state"]) == ["accepted"] * (total - 1) + ["rejected"]
