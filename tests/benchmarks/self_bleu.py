"""Self-BLEU of every text against all others, beside the definition: `python tests/benchmarks/self_bleu.py`.

The definition compares each text with each other one, so its time grows with the square of their number; it is measured
on few texts and told for as many as ours by that rule.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from engine.examine.usefulness.wording.diversity import self_bleu_parts
from tests.examine.usefulness.test_metrics import brute_force

TEXTS, WORDS, VOCABULARY = 10_000, 200, 30_000
FEW = 40
MOST_SECONDS = 15.0


def texts(number: int) -> list[list[int]]:
    """Return texts of words as frequent as those of a language are (Zipf)."""
    weights = 1.0 / np.arange(1, VOCABULARY + 1)
    rng = np.random.default_rng(0)
    found: list[list[int]] = rng.choice(VOCABULARY, (number, WORDS), p=weights / weights.sum()).tolist()
    return found


def main() -> None:
    """Print the seconds of both, and by how much the definition is slower."""
    few = texts(FEW)
    begun = time.process_time()
    expected = brute_force(few)
    slow = (time.process_time() - begun) * (TEXTS / FEW) ** 2
    assert np.allclose(self_bleu_parts(few), expected)
    every = texts(TEXTS)
    begun = time.process_time()
    self_bleu_parts(every)
    ours = time.process_time() - begun
    print(
        f"{TEXTS:,} texts of {WORDS} words: {ours:.1f} s of one core, the definition {slow:,.0f} s: {slow / ours:,.0f}"
    )
    assert ours < MOST_SECONDS, f"{ours:.1f} s; at most {MOST_SECONDS:.0f} s are allowed"


if __name__ == "__main__":
    main()
