"""What encryption at rest costs: times in an encrypted workspace as multiples of those in a plain one.

`python tests/benchmarks/encryption.py [RECORDS]` makes both anew from made-up letters, 5,000 unless said. Each figure
is the median of runs that take turns, so that what else the machine does falls on both.

On two cores: opening the workspace 1.2, ten decisions 1.1, 50 records 1.1, a whole table, an import and a page of the
review queue no difference that could be told (0.9 each), a backup 2.2, whose file does not compress.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
REPEATS = 7


def workspace(path: Path, encrypted: bool, count: int) -> tuple[Any, str]:
    """Return an open store with so many letters, and the corpus' id."""
    from engine.at_rest.header import Secret
    from engine.store.disk.encryption import encryption
    from engine.store.store import Store
    from tests.store.conftest import MAPPING, made_up

    if encrypted:
        encryption.encrypt(Secret("key file", os.urandom(32)), path)
    store = Store(path, actor="benchmark")
    corpus = store.corpora.import_table(made_up(count), MAPPING, name="Letters", unit="record")
    return store, corpus.id


def requests(count: int) -> dict[str, Callable[[Any, str], object]]:
    """Return what is timed, by name."""
    from engine.store.records import forget
    from engine.store.store import Store
    from tests.store.conftest import MAPPING, made_up

    letters = made_up(count)

    def some(store: Any, corpus: str) -> None:
        forget(corpus)
        store.corpora.records(corpus, offset=count // 2, limit=50)

    def imported(store: Any, corpus: str) -> None:
        made = store.corpora.import_table(letters, MAPPING, name=f"More {time.monotonic_ns()}", unit="record")
        store.corpora.delete(made.id)

    def decided(store: Any, corpus: str) -> None:
        spans = store.review.spans(corpus, str(store.corpora.records(corpus, limit=1)["record_id"].iloc[0]))
        for state in ("reject", "accept") * 5:
            store.review.decide(corpus, [spans[0].span_id], state)

    return {
        "open the workspace": lambda store, corpus: Store(store.path, actor="benchmark").close(),
        "import and delete a corpus": imported,
        "read a whole table": lambda store, corpus: store.corpora.frame(corpus),
        "read 50 records": some,
        "a page of the review queue": lambda store, corpus: store.review.queue(corpus, offset=100),
        "ten decisions": decided,
        "back up": lambda store, corpus: store.disk.backup(store.path.parent / f"{time.monotonic_ns()}.zip"),
    }


def measured(count: int) -> dict[str, dict[str, float]]:
    """Return, for each request, seconds in the plain workspace and the multiple in the encrypted one."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        both = [workspace(Path(folder) / name, name == "encrypted", count) for name in ("plain", "encrypted")]
        for name, request in requests(count).items():
            taken: list[list[float]] = [[], []]
            for _ in range(REPEATS):
                for (store, corpus), times in zip(both, taken, strict=True):
                    begun = time.perf_counter()
                    request(store, corpus)
                    times.append(time.perf_counter() - begun)
            plain, encrypted = (statistics.median(times[1:]) for times in taken)
            found[name] = {"plain_seconds": round(plain, 4), "times": round(encrypted / plain, 2)}
        for store, _ in both:
            store.close()
    return found


if __name__ == "__main__":
    print(json.dumps(measured(int(sys.argv[1]) if len(sys.argv) > 1 else 5_000), indent=1))
