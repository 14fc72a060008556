"""Processor time of page requests on 20,706 records with 100,000 spans, as a multiple of 500 records' times.

`python tests/benchmarks/store_requests.py` reads the real test data (`UNDERSTUDY_TEST_DATA`).
"""

from __future__ import annotations

import json
import os
import random
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SMALL, REPEATS = 500, 9
sys.path.insert(0, str(ROOT))

REQUESTS: dict[str, Callable[..., Any]] = {
    "queue": lambda s, c, r: s.review.queue(c, offset=r.randrange(400)),
    "queue filtered": lambda s, c, r: s.review.queue(c, labels=("PERSON",), state="rejected", below_score=r.random()),
    "queue searched": lambda s, c, r: s.review.queue(c, search=r.choice(("fever", "rash", "pain"))),
    "values": lambda s, c, r: s.values.table(c, offset=r.randrange(400)),
    "values searched": lambda s, c, r: s.values.table(c, search=r.choice(("feve", "rash", "pain"))),
    "counts": lambda s, c, r: s.review.span_counts(c),
    "records": lambda s, c, r: s.corpora.records(c, split="train", offset=r.randrange(300), limit=50),
    "corpora": lambda s, c, r: s.corpora.all(),
}


def filled(folder: Path, table: Any) -> tuple[Any, str]:
    """Return a store with the table and five random spans a record, and the corpus id."""
    from sqlalchemy import update

    from engine.corpus.columns.mapping import ColumnMapping
    from engine.store.database import schema
    from engine.store.review.spans import insert_spans, refresh, span_rows
    from engine.store.store import Store

    store = Store(folder)
    corpus = store.corpora.import_table(table, ColumnMapping(text="text", label="outcome"), name="Reports")
    records, rng, found = store.corpora.frame(corpus.id), random.Random(1), []
    for record_id, text in zip(records["record_id"], records["text"]):
        words = list(re.finditer(r"\w+", text))
        for word in rng.sample(words, min(5, len(words))):
            label, score = rng.choice(("PERSON", "DATE", "AGE", "LOCATION")), rng.random()
            place = {"record_id": record_id, "start": word.start(), "end": word.end()}
            found.append({**place, "label": label, "score": score, "identifier_type": "direct"})
    places = {r: (i, t) for i, (r, t) in enumerate(zip(records["record_id"], records["text"]))}
    rows = span_rows(found, corpus_id=corpus.id, places=places, key=store.session.key, origin="detected", active=True)
    with store.session.db.write() as connection:
        insert_spans(connection, rows)
        refresh(connection, corpus.id)
        connection.execute(update(schema.corpora).values(span_source="detected"))
    return store, corpus.id


def milliseconds(request: Callable[..., Any], store: Any, corpus_id: str) -> float:
    """Return the median processor time of one request."""
    rng, taken = random.Random(2), []
    for _ in range(REPEATS):
        began = time.process_time()
        request(store, corpus_id, rng)
        taken.append(1000 * (time.process_time() - began))
    return statistics.median(taken)


def main() -> None:
    """Print one JSON line a request."""
    import pandas as pd

    data = Path(os.environ.get("UNDERSTUDY_TEST_DATA") or ROOT / ".." / "shared" / "data")
    table = pd.read_parquet(data / "vaers_1998_1999.parquet")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        large, small = filled(Path(folder) / "large", table), filled(Path(folder) / "small", table.head(SMALL))
        for name, request in REQUESTS.items():
            many, few = milliseconds(request, *large), milliseconds(request, *small)
            row = {
                "request": name,
                "median_ms": round(many, 2),
                "ratio_to_500_records": round(many / max(few, 1e-3), 1),
            }
            print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
