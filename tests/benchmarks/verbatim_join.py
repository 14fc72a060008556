"""Speed of the verbatim join: 100,000 x 100,000 made-up records of 200 words, from text to matches.

`python tests/benchmarks/verbatim_join.py` makes both sides (Zipf frequencies; one candidate in ten holds a passage of
30 words from a reference record), cuts them into words, joins their windows of eight and prints one JSON line a part:
seconds of the clock and of the processor, peak memory of the process, and in the same run the ratio to a plain Python
set of word tuples on 2,000 x 2,000 of the records. `--records N` changes the size.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from engine.corpus.text.runs import copies_anything, index_windows  # noqa: E402
from engine.corpus.text.words import Vocabulary, WordTable, cut  # noqa: E402

VOCABULARY, LENGTH, WIDTH, PASSAGE, SUBSET = 50_000, 200, 8, 30, 2_000


def say(**row: object) -> None:
    """Print one line."""
    print(json.dumps(row), flush=True)


def peak_gb() -> float:
    """Return the most memory this process ever held, in GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9


def made_up(records: int) -> tuple[list[str], list[str], int]:
    """Return candidate and reference texts, and how many candidates hold a planted passage."""
    rng = np.random.default_rng(0)
    chance = 1 / (np.arange(1, VOCABULARY + 1) + 2.7)
    edges = np.cumsum(chance / chance.sum())
    names = np.array([f"w{number:x}" for number in range(VOCABULARY)], dtype=object)
    ids = [np.searchsorted(edges, rng.random((records, LENGTH), np.float32)).astype(np.int32) for _ in range(2)]
    planted = np.arange(0, records, 10)
    sources = rng.integers(0, records, len(planted))
    ids[0][planted, 60 : 60 + PASSAGE] = ids[1][sources, 20 : 20 + PASSAGE]
    np.clip(ids[0], 0, VOCABULARY - 1, out=ids[0])
    np.clip(ids[1], 0, VOCABULARY - 1, out=ids[1])
    first, second = ([" ".join(names[row]) for row in side] for side in ids)
    return first, second, len(planted)


def plain_join(candidate: WordTable, reference: WordTable) -> list[bool]:
    """Return the same as `copies_anything`, with a set of tuples."""
    rows = [reference.of(row).tolist() for row in range(reference.size)]
    known = {tuple(row[i : i + WIDTH]) for row in rows for i in range(len(row) - WIDTH + 1)}
    rows = [candidate.of(row).tolist() for row in range(candidate.size)]
    return [any(tuple(row[i : i + WIDTH]) in known for i in range(len(row) - WIDTH + 1)) for row in rows]


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--records", type=int, default=100_000)
    records = parser.parse_args().records
    texts, others, planted = made_up(records)
    say(part="made", records=records, words_each=LENGTH, peak_gb=round(peak_gb(), 2))

    began, began_cpu = time.perf_counter(), time.process_time()
    vocabulary = Vocabulary()
    reference, candidate = cut(others, vocabulary), cut(texts, vocabulary)
    cut_seconds = time.perf_counter() - began
    began = time.perf_counter()
    index = index_windows(reference)
    index_seconds = time.perf_counter() - began
    began = time.perf_counter()
    copied = copies_anything(candidate, index)
    look_up_seconds = time.perf_counter() - began
    total = cut_seconds + index_seconds + look_up_seconds
    say(part="join", seconds=round(total, 1), cpu_seconds=round(time.process_time() - began_cpu, 1),
        cutting=round(cut_seconds, 1), indexing=round(index_seconds, 1), looking_up=round(look_up_seconds, 1),
        windows=len(index.hashes), peak_gb=round(peak_gb(), 2), copied=int(copied.sum()), planted=planted)  # fmt: skip

    few = np.arange(min(SUBSET, records))
    small, level = candidate.take(few), reference.take(few)
    began = time.perf_counter()
    slow = plain_join(small, level)
    plain_seconds = time.perf_counter() - began
    began = time.perf_counter()
    fast = copies_anything(small, index_windows(level))
    fast_seconds = time.perf_counter() - began
    assert fast.tolist() == slow
    say(part="ratio", records=len(few), plain_seconds=round(plain_seconds, 3), join_seconds=round(fast_seconds, 3),
        times_faster=round(plain_seconds / fast_seconds, 1))  # fmt: skip


if __name__ == "__main__":
    main()
