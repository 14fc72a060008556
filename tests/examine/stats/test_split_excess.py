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
    kept = np.array([value in known for value in in_text], bool)
    finds = np.array(in_text, int)[kept], np.array(of_text, int)[kept]
    return Split(texts, POOL + 2 * units, *finds, np.array(held), np.array(unit), first)


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


def nothing_found(texts: int, units: int) -> Split:
    """Return a split of units with a value each, none of which stands in any text."""
    empty = np.empty(0, np.int64)
    held = np.arange(2 * units)
    return Split(texts, 2 * units, empty, empty, held, held, held < units)


@pytest.mark.parametrize(("texts", "at_most"), [(6, 0.39), (20, 0.161), (60, 0.0602), (400, 0.0095)])
def test_nothing_found_in_a_few_texts_proves_little(texts: int, at_most: float) -> None:
    """Wilson's upper end for none of so many; without it every split gives 0, and an interval of no width."""
    pipp, elp = split_excess(nothing_found(texts, 60), np.ones(120, bool), 0, draws=99)
    assert (pipp.value, elp.value) == (0.0, 0.0)
    assert pipp.high == pytest.approx(at_most, rel=0.01)
    assert pipp.low == pytest.approx(-at_most, rel=0.01)
    assert elp.high == pytest.approx(0.0602, rel=0.01)  # of 60 values a side, whatever the number of texts


def test_what_a_few_texts_cannot_rule_out_is_not_called_chance() -> None:
    from engine.examine.findings.levels import level_of
    from engine.examine.findings.make import finding

    levels = {
        n: level_of(
            finding("strict_pipp_excess", "holdout", split_excess(nothing_found(n, 60), np.ones(120, bool), 0)[0])
        )
        for n in (6, 60, 400)
    }
    assert levels == {6: "unsure", 60: "unsure", 400: "chance"}


@pytest.mark.parametrize("texts", [6, 20, 60, 400])
@pytest.mark.parametrize("leaking", [0.0, 0.02, 0.1, 0.5])
def test_the_interval_holds_the_true_excess_of_texts(texts: int, leaking: float) -> None:
    """Texts repeat an own value of a training unit so often, and nothing else: that is the excess to be covered."""
    units, runs = min(60, max(6, texts)), 60
    kept = lows_and_highs(units, texts, leaking, runs, common=0.0)
    covered = (kept[:, 0] <= leaking + 1e-9) & (kept[:, 1] >= leaking - 1e-9)
    assert covered.sum() >= runs * 0.88  # 95% expected; fewer than 53 of 60 has a chance of 1%
    assert (kept[:, 1] > kept[:, 0]).all()
    assert (kept[:, 3] > kept[:, 2]).all()
