"""How much memory an import takes a record: a million of them must fit into four gigabytes."""

from __future__ import annotations

import json
import random
import re
import tracemalloc

import pandas as pd

from engine.corpus import build
from engine.corpus.columns.gold import GoldSpan, GoldSpans
from engine.corpus.columns.mapping import ColumnMapping
from engine.corpus.samples import load_sample
from tests.corpus.built import build_corpus

KEY = b"k" * 32
MOST = 2_900  # bytes a record of 25 words with five spans beside the table; with an object a span it was 4,050
MAPPING = ColumnMapping(text="text", record_id="id", spans="spans")


def table(size: int) -> pd.DataFrame:
    """Return records of about 25 words with five spans each."""
    rng = random.Random(size)
    words = [str(text).split() for text in load_sample("support_tickets")["text"]]
    texts = [" ".join(rng.choice(words)[:12] + rng.choice(words)[12:25]) for _ in range(size)]
    places = [[match.span() for match in re.finditer(r"\S+", text)][:5] for text in texts]
    spans = [json.dumps([{"start": a, "end": b, "label": "PERSON"} for a, b in found]) for found in places]
    return pd.DataFrame({"id": [f"n{i}" for i in range(size)], "text": texts, "spans": spans})


def built(records: pd.DataFrame) -> build.BuiltCorpus:
    return build_corpus(records, MAPPING, unit="record", cap=1, holdout_rate=0.2, key=KEY, filename="f.parquet")


def test_a_million_records_fit_into_four_gigabytes():
    sizes = (500, 2_500)
    built(table(100))  # the language model and tables that are read once
    peaks = []
    for size in sizes:
        records = table(size)
        tracemalloc.start()
        assert built(records).statistics.records == size
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert (peaks[1] - peaks[0]) / (sizes[1] - sizes[0]) < MOST


def test_cells_of_spans_are_let_go_of():
    taken = build.take(table(20), MAPPING, "f.parquet")
    assert len(taken.columns.span_cells[0]) > 0
    corpus = build.build_corpus(taken, unit="record", cap=1, holdout_rate=0.2, key=KEY, filename="f.parquet")
    assert taken.columns.span_cells == [None] * 20
    assert len(corpus.gold) == 100


def test_spans_in_parts_are_the_spans_as_a_whole():
    gold = GoldSpans()
    gold.add(0, [GoldSpan(0, 3, "PERSON", "direct", "e1"), GoldSpan(4, 5, "DATE", None)])
    gold.add(2, [GoldSpan(1, 2, "PERSON", None, "e2")])
    ids = ["a", "b", "c"]
    whole = gold.frame(ids)
    assert whole["record_id"].tolist() == ["a", "a", "c"]
    assert whole["span_id"].tolist() == ["g-000001", "g-000002", "g-000003"]
    assert whole[["start", "end"]].to_numpy().tolist() == [[0, 3], [4, 5], [1, 2]]
    assert whole["label"].tolist() == ["PERSON", "DATE", "PERSON"]
    assert whole["identifier_type"].tolist() == ["direct", None, None]
    assert whole["entity_id"].tolist() == ["e1", None, "e2"]
    parts = pd.concat([gold.frame(ids, 0, 2), gold.frame(ids, 2, 4)], ignore_index=True)
    pd.testing.assert_frame_equal(parts, whole)
    assert list(gold.numbers(1, 9)) == [0, 2]
    assert gold.records == 2
