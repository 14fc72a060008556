"""Nearest-neighbour votes of 75,000 records for 10,000 candidates in blocks, beside one whole matrix.

`python tests/benchmarks/votes.py` prints JSON lines. The whole matrix takes 4 bytes a pair, 3 GB at full size, so
it is held against the blocks where it fits: on fewer records (`--records`), the same candidates and width. Each
way runs in a process of its own, so that its peak memory is its own; the last line holds both against each other.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
RECORDS, CANDIDATES, WIDTH, COMPARED = 75_000, 10_000, 384, 15_000


def unit_rows(count: int, seed: int) -> NDArray[np.float32]:
    """Return random unit rows, (count, WIDTH)."""
    rows = np.random.default_rng(seed).standard_normal((count, WIDTH), dtype=np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows


def whole_matrix(records: NDArray[np.float32], candidates: NDArray[np.float32]) -> NDArray[np.int64]:
    """Return each record's nearest candidate from all similarities at once."""
    found: NDArray[np.int64] = (records @ candidates.T).argmax(axis=1)
    return found


def measured(way: str, count: int) -> dict[str, Any]:
    """Return time and peak memory of one way, its inputs included, and a digest of its votes."""
    from engine.dp.noise import votes

    vote = votes.nearest if way == "blocks" else whole_matrix
    records, candidates = votes.quantised(unit_rows(count, 0)), votes.quantised(unit_rows(CANDIDATES, 1))
    vote(records[:200], candidates)  # wakes up the linear algebra
    began, processor = time.perf_counter(), time.process_time()
    found = vote(records, candidates)
    return {
        "way": way,
        "records": count,
        "candidates": CANDIDATES,
        "width": WIDTH,
        "seconds": round(time.perf_counter() - began, 2),
        "processor_seconds": round(time.process_time() - processor, 2),
        "peak_megabytes": peak(),
        "digest": hashlib.blake2b(found.tobytes(), digest_size=8).hexdigest(),
    }


def peak() -> int:
    """Return this process' largest memory so far."""
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(size / 2**20 if sys.platform == "darwin" else size / 2**10)


def apart(way: str, count: int) -> dict[str, Any]:
    """Return what `measured` says in a process of its own."""
    command = [sys.executable, str(Path(__file__).resolve()), "--way", way, "--records", str(count)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def ratio(one: dict[str, Any], other: dict[str, Any], name: str) -> float:
    """Return how many times as much the one took."""
    return round(float(one[name]) / max(float(other[name]), 1e-9), 2)


def main() -> None:
    """Print one JSON line a way, then blocks against the whole matrix."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--way", choices=("blocks", "whole"), help="run one way in this process")
    parser.add_argument("--records", type=int, default=COMPARED, help="records where the whole matrix is compared")
    given = parser.parse_args()
    if given.way:
        print(json.dumps(measured(given.way, given.records)))
        return
    rows = [apart(way, count) for way, count in
            (("blocks", RECORDS), ("blocks", given.records), ("whole", given.records))]  # fmt: skip
    for row in rows:
        print(json.dumps(row), flush=True)
    blocks, whole = rows[1:]
    print(
        json.dumps({
            "records": given.records,
            "votes_agree": blocks["digest"] == whole["digest"],
            "processor_whole_to_blocks": ratio(whole, blocks, "processor_seconds"),
            "peak_memory_whole_to_blocks": ratio(whole, blocks, "peak_megabytes"),
            "full_size_within_2_gigabytes": rows[0]["peak_megabytes"] < 2048,
        })
    )  # fmt: skip


if __name__ == "__main__":
    main()
