"""A page request on the whole of a real corpus with 100,000 spans takes milliseconds of processor time."""

import random
import re
import statistics
import time

import pandas as pd
import pytest
from sqlalchemy import update

from engine.corpus.mapping import ColumnMapping
from engine.store import schema
from engine.store.service import ServiceStation
from engine.store.spans import insert_spans, refresh, span_rows

LIMIT_SECONDS = 0.15


@pytest.fixture(scope="module")
def large(test_data, tmp_path_factory):
    """Return a store and the 20,706 reports with five spans each."""
    table = pd.read_parquet(test_data / "vaers_1998_1999.parquet")
    store = ServiceStation(tmp_path_factory.mktemp("speed") / "workspace")
    corpus = store.import_table(table, ColumnMapping(text="text", label="outcome"), name="Reports")
    records, rng, found = store._frame(corpus.id), random.Random(1), []
    for record_id, text in zip(records["record_id"], records["text"]):
        words = list(re.finditer(r"\w+", text))
        for word in rng.sample(words, min(5, len(words))):
            label, score = rng.choice(("PERSON", "DATE", "AGE", "LOCATION")), rng.random()
            place = {"record_id": record_id, "start": word.start(), "end": word.end()}
            found.append({**place, "label": label, "score": score, "identifier_type": "direct"})
    places = {r: (i, t) for i, (r, t) in enumerate(zip(records["record_id"], records["text"]))}
    rows = span_rows(found, corpus_id=corpus.id, places=places, key=store.key, origin="detected", active=True)
    with store.db.write() as connection:
        insert_spans(connection, rows)
        refresh(connection, corpus.id)
        connection.execute(update(schema.corpora).values(span_source="detected"))
    yield store, corpus.id, list(records["record_id"])
    store.close()


REQUESTS = {
    "queue": lambda s, c, r: s.review_queue(c, offset=r.randrange(20_000)),
    "queue filtered": lambda s, c, r: s.review_queue(c, labels=("PERSON",), state="rejected", below_score=r.random()),
    "queue searched": lambda s, c, r: s.review_queue(c, search=r.choice(("fever", "rash", "pain"))),
    "values": lambda s, c, r: s.values(c, offset=r.randrange(1000)),
    "values searched": lambda s, c, r: s.values(c, search=r.choice(("feve", "rash", "pain"))),
    "counts": lambda s, c, r: s.span_counts(c),
    "records": lambda s, c, r: s.records(c, split="train", offset=r.randrange(15_000), limit=50),
    "corpora": lambda s, c, r: s.corpora(),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", REQUESTS)
def test_a_request_is_quick(large, name):
    store, corpus_id, _ = large
    rng, seconds = random.Random(2), []
    for _ in range(9):
        begun = time.process_time()
        REQUESTS[name](store, corpus_id, rng)
        seconds.append(time.process_time() - begun)
    assert statistics.median(seconds) < LIMIT_SECONDS


@pytest.mark.slow
def test_a_decision_is_quick(large):
    store, corpus_id, ids = large
    seconds = []
    for record_id in ids[100:109]:
        span = store.record_spans(corpus_id, record_id)["span_id"].iloc[0]
        begun = time.process_time()
        store.decide_alike(corpus_id, span, "reject")
        store.undo(corpus_id)
        seconds.append(time.process_time() - begun)
    assert statistics.median(seconds) < 2 * LIMIT_SECONDS
