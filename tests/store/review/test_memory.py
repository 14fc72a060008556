"""What is remembered of a corpus follows every act, and a transaction that writes leaves nothing behind."""

from __future__ import annotations

from engine.store.review.acts import mark_reviewed
from engine.store.review.memory import TOTALS, recalled
from engine.store.review.queries import progress, span_counts
from engine.store.summaries import totals
from tests.store.review.test_spot_checks import imported


def seen(store, corpus_id):
    """Return what the pages ask: spans decided, records read, and the same from the rows themselves."""
    summary = store.corpora.get(corpus_id)
    with store.session.db.read() as connection:
        assert store.review.progress(corpus_id) == progress(totals(connection, corpus_id))
        counts = span_counts(connection, corpus_id)
    told = {name: counts[name] for name in ("accepted", "rejected", "undecided")}
    assert store.review.progress(corpus_id).items() >= told.items(), "as the spans themselves tell"
    return summary.reviewed, store.review.progress(corpus_id)["reviewed"]


def test_counts_follow_decisions_readings_and_their_undo(store):
    corpus = imported(store, 8)
    store.review.use_gold(corpus.id)
    assert seen(store, corpus.id) == (0, 0)
    first, second = store.corpora.records(corpus.id, limit=2)["record_id"]
    (span,) = store.review.spans(corpus.id, first)
    store.review.decide(corpus.id, [span.span_id], "accept")
    assert seen(store, corpus.id) == (1, 0)
    store.review.mark_reviewed(corpus.id, [second])
    assert seen(store, corpus.id) == (2, 1)
    store.review.undo(corpus.id)
    assert seen(store, corpus.id) == (1, 0)


def test_a_spot_check_that_opens_read_records_again_is_seen(store):
    corpus = imported(store, 8)
    store.review.use_gold(corpus.id)
    store.review.mark_reviewed(corpus.id, list(store.corpora.records(corpus.id)["record_id"]))
    assert seen(store, corpus.id) == (8, 8)
    store.spot_checks.draw(corpus.id, 5)
    assert seen(store, corpus.id) == (8, 3)


def test_what_a_transaction_wrote_and_took_back_is_not_remembered(store):
    corpus = imported(store, 8)
    store.review.use_gold(corpus.id)
    records = list(store.corpora.records(corpus.id)["record_id"])
    with store.session.db.write() as connection:
        mark_reviewed(store.session, connection, corpus.id, records[:5])
        found = recalled(connection, corpus.id, TOTALS, lambda c: totals(c, corpus.id))
        assert found.reviewed == 5
        connection.rollback()
    store.review.mark_reviewed(corpus.id, records[:1])  # under the number that was given back
    assert seen(store, corpus.id) == (1, 1)
