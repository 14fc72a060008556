"""Speed of n-gram counts and of direct sampling, as ratios measured in one run.

`python tests/benchmarks/lbf.py` counts 1-grams and 3-grams of 20,000 sources over 10 million made-up words (Zipf
frequencies), then sets trials with |U| = 1 to 1000 against the whole vocabulary recomputed and sorted. It prints one
JSON line a part; a trial is the counts of both sides and the whole curve, with every threshold.
"""

from __future__ import annotations

import json
import resource
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from engine.examine.curves import lbf, ngram_counts  # noqa: E402
from engine.examine.curves.lbf_direct import loss_of  # noqa: E402
from engine.examine.curves.ngram_counts import NgramCounts, Numbers  # noqa: E402
from engine.examine.curves.ngram_sampling import DirectSampling, Outputs, draw_sources  # noqa: E402
from tests.examine.curves.slow_sampling import exclude_slowly  # noqa: E402

WORDS, VOCABULARY, SOURCES, LENGTH = 10_000_000, 300_000, 20_000, 100


def say(**row: object) -> None:
    """Print one line."""
    print(json.dumps(row), flush=True)


def seconds(work: Callable[[], object], times: int) -> float:
    """Return the median time of some calls."""
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        work()
        taken.append(time.perf_counter() - began)
    return statistics.median(taken)


def made_up(words: int) -> tuple[list[str], np.ndarray]:
    """Return texts of 100 words with Zipf frequencies, and the source of each."""
    rng = np.random.default_rng(0)
    chance = 1 / (np.arange(1, VOCABULARY + 1) + 2.7)
    ids = rng.choice(VOCABULARY, words, p=chance / chance.sum())
    names = np.array([f"w{number:x}" for number in range(VOCABULARY)], dtype=object)
    texts = [" ".join(names[ids[i : i + LENGTH]]) for i in range(0, words, LENGTH)]
    return texts, rng.integers(0, SOURCES, len(texts))


def whole_curve(outputs: Outputs) -> lbf.Curve:
    """Return the curve with all its thresholds."""
    return lbf.curve(loss_of(outputs))


def trials(counts: NgramCounts) -> None:
    """Print the ratio at each |U|, against two slow ways."""
    sampling = DirectSampling(counts)
    sampling.exclude(np.array([0]))  # totals are added up once
    for size in (1, 10, 100, 1000):
        excluded = draw_sources(counts.sources, size, 1, 1)[0]

        def subtract(excluded: np.ndarray = excluded) -> lbf.Curve:
            # the whole vocabulary, but with Y made by subtraction: the quickest slow way
            grams, times = sampling.removed(excluded)
            x, y = counts.totals, counts.totals.copy()
            y[grams] -= times
            return whole_curve(Outputs(x, y, np.arange(x.size), 0, int(x.sum()), int(y.sum())))

        fast = seconds(lambda e=excluded: whole_curve(sampling.exclude(e)), 9)
        slow, recount = (
            seconds(work, 1) for work in (subtract, lambda e=excluded: whole_curve(exclude_slowly(sampling, e)))
        )
        one, other = whole_curve(sampling.exclude(excluded)), subtract()
        say(
            part="trial", n=counts.n, excluded=size, fast_milliseconds=round(1000 * fast, 3),
            whole_vocabulary_seconds=round(slow, 3), ratio=round(slow / fast, 1),
            recounted_seconds=round(recount, 3), ratio_recounted=round(recount / fast, 1),
            equal=bool(np.array_equal(one.epsilon, other.epsilon) and np.array_equal(one.delta, other.delta)),
        )  # fmt: skip


def main() -> None:
    """Count, then sample."""
    words = int(sys.argv[1]) if len(sys.argv) > 1 else WORDS
    texts, sources = made_up(words)
    began, worked = time.perf_counter(), time.process_time()
    numbers = Numbers()
    table = ngram_counts.tokens(texts, numbers)
    cut = time.perf_counter() - began
    counted = {}
    for n in (1, 3):
        counted[n] = ngram_counts.count(table, sources, n, len(numbers))
    total, cpu = time.perf_counter() - began, time.process_time() - worked
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    say(
        part="count", words=words, seconds=round(total, 1), cpu_seconds=round(cpu, 1),
        of_that_cutting=round(cut, 1), peak_gb=round(peak, 2),
        distinct={n: int(c.keys.size) for n, c in counted.items()},
    )  # fmt: skip
    for counts in counted.values():
        trials(counts)


if __name__ == "__main__":
    main()
