"""Made-up short answers: a stock that repeats itself as people do, common words first, and small changes to them."""

from __future__ import annotations

import random
from collections.abc import Callable

COMMON = ("yes", "no", "fine thanks", "no complaints", "none", "all good", "the waiting room", "not really", "ok")
WORDS = tuple(
    a + b for a in ("ba", "ke", "lo", "mi", "nu", "po", "ra", "si", "tu", "ve") for b in ("n", "rt", "st", "l")
)
WEIGHTS = tuple(1.0 / (rank + 1) for rank in range(len(WORDS)))


def free_answers(rng: random.Random, count: int) -> list[str]:
    """Return answers of three to fourteen words of a person's own, a third of them common ones."""
    found = []
    for _ in range(count):
        own = rng.choices(WORDS, WEIGHTS, k=rng.randrange(3, 15))
        found.append(rng.choice(COMMON) if rng.random() < 1 / 3 else " ".join(own).capitalize() + ".")
    return found


def common_answers(rng: random.Random, count: int) -> list[str]:
    """Return answers that everybody gives, some more often than others."""
    return rng.choices(COMMON, [1.0 / (rank + 1) for rank in range(len(COMMON))], k=count)


def one_word_changed(rng: random.Random) -> Callable[[str], str]:
    """Return a change that puts another word in place of one."""

    def change(text: str) -> str:
        words = text.split()
        words[rng.randrange(len(words))] = f"{rng.choice(WORDS)}a"
        return " ".join(words)

    return change
