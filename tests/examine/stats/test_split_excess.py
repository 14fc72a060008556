"""The excess over the holdout: covers 0 where the split is chance, stands above it where training records leak."""

import numpy as np
import pytest

from engine.examine.stats.split_excess import Split, split_excess

POOL = 400


def world(rng: np.random.Generator, units: int, texts: int, leaking: float, common: float = 1.0) -> Split:
    """Return finds of a population whose values are unevenly common; `leaking` texts repeat a training unit's value."""
    weights = 1 / np.arange(1, POOL + 1)
    weights /= weights.sum()
    held, unit = [], []
    for one in range(2 * units):
        own = rng.choice(POOL, size=3, replace=False, p=weights)
        held += [*own.tolist(), POOL + one]  # three values that others may have, and one of its own
        unit += [one] * 4
    first = np.arange(2 * units) < units
    in_text, of_text = [], []
    for text in range(texts):
        for value in rng.choice(POOL, size=2, replace=False, p=weights).tolist() if rng.random() < common else ():
            in_text.append(value)
            of_text.append(text)
        if rng.random() < leaking:
            in_text.append(POOL + int(rng.integers(units)))
            of_text.append(text)
    known = set(held)
    kept = np.array([value in known for value in in_text])
    return Split(
        texts, POOL + 2 * units, np.array(in_text)[kept], np.array(of_text)[kept], np.array(held), np.array(unit), first
    )


def lows_and_highs(units: int, texts: int, leaking: float, runs: int, common: float = 1.0) -> np.ndarray:
    rows = []
    for seed in range(runs):
        split = world(np.random.default_rng([seed, units, texts]), units, texts, leaking, common)
        pipp, elp = split_excess(split, np.ones(split.values, bool), seed, draws=199)
        rows.append((pipp.low, pipp.high, elp.low, elp.high))
    return np.array(rows, float)


@pytest.mark.parametrize(("units", "texts"), [(8, 40), (30, 200), (80, 1500)])
def test_a_split_by_chance_is_rarely_called_a_leak(units: int, texts: int) -> None:
    """Were the interval over texts alone, nearly every run of 1,500 texts would be called one side or the other."""
    found = lows_and_highs(units, texts, 0.0, 60)
    for low, high in ((0, 1), (2, 3)):
        assert (found[:, low] > 0).sum() <= 6  # 2.5% expected; more than 6 of 60 has a chance under 0.2%
        assert ((found[:, low] <= 0) & (found[:, high] >= 0)).mean() >= 0.88


@pytest.mark.parametrize(("units", "texts", "leaking"), [(30, 200, 0.5), (80, 1500, 0.3)])
def test_a_planted_leak_stands_out(units: int, texts: int, leaking: float) -> None:
    found = lows_and_highs(units, texts, leaking, 20)
    assert (found[:, 2] > 0).mean() >= 0.95  # values that come out, though nearly every text holds a common one anyway
    found = lows_and_highs(units, texts, leaking, 20, common=0.3)
    assert (found[:, 0] > 0).mean() >= 0.95  # texts that hold one


def test_nothing_to_compare_has_no_interval() -> None:
    empty = np.empty(0, np.int64)
    split = Split(5, 0, empty, empty, empty, empty, np.array([True, False]))
    pipp, elp = split_excess(split, np.ones(0, bool), 0)
    assert (pipp.value, pipp.n) == (0.0, 5)
    assert np.isnan(elp.value)
