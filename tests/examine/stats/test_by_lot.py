"""The excess of one person's own values: holds its level where a lot decided, and sees leaks however few are aside."""

from __future__ import annotations

import math

import numpy as np
import pytest

from engine.examine.stats.by_lot import by_chance, excess_by_lot

RUNS = 120


def drawn(rng: np.random.Generator, sizes: tuple[int, int], texts: int, chance: float, leak: float, own: int = 1):
    """Return what is found of people of either part: by chance of anybody, and `leak` of the texts of one used."""
    used, aside = sizes
    found = np.zeros(used + aside, np.int64)
    np.add.at(found, rng.integers(0, used + aside, rng.poisson(chance * texts)), 1)
    lot = rng.permutation(used + aside)
    of_used = found[lot[:used]]
    np.add.at(of_used, rng.integers(0, used, rng.binomial(texts // own, leak)), own)
    return of_used, found[lot[used:]]


def simulated(sizes: tuple[int, int], texts: int, chance: float, leak: float, own: int = 1):
    rng = np.random.default_rng([*sizes, texts, own])
    made = [excess_by_lot(*drawn(rng, sizes, texts, chance, leak, own), texts, run) for run in range(RUNS)]
    return np.array([(one.value, one.low, one.high) for one in made]).T


@pytest.mark.parametrize("sizes", [(8_000, 2_000), (1_900, 100), (80, 20)])
@pytest.mark.parametrize(("texts", "chance"), [(60, 0.1), (1_000, 0.0), (1_000, 0.1)])
def test_where_nothing_leaks_the_interval_holds_zero(sizes, texts, chance):
    value, low, high = simulated(sizes, texts, chance, 0.0)
    assert (low > 0).mean() <= 0.05
    assert (high < 0).mean() <= 0.06
    assert abs(value.mean()) <= 4 * value.std() / math.sqrt(RUNS)


@pytest.mark.parametrize("sizes", [(8_000, 2_000), (1_900, 100), (9_500, 500)])
@pytest.mark.parametrize("own", [1, 5])
def test_a_leak_counts_in_full_however_few_are_set_aside(sizes, own):
    value, low, high = simulated(sizes, 1_000, 0.02, 0.10, own)
    assert value.mean() == pytest.approx(0.10, abs=0.01)
    assert (high < 0.10).mean() <= 0.06
    assert (low > 0.10).mean() <= 0.05
    assert (high > 0.05).all(), "a policy that allows five in a hundred lets none of them pass"


def test_few_texts_prove_little():
    nothing = np.zeros(8_000, np.int64), np.zeros(2_000, np.int64)
    assert excess_by_lot(*nothing, 60, 0).high == pytest.approx(0.0615, abs=0.001)  # 3.69 of 60
    assert excess_by_lot(*nothing, 1_000, 0).high == pytest.approx(0.0037, abs=0.0001)


def test_one_person_found_in_many_texts_is_one_accident():
    used, aside = np.zeros(1_900, np.int64), np.zeros(100, np.int64)
    used[0] = 40
    assert excess_by_lot(used, aside, 1_000, 0).low <= 0.0
    used[:40] = 1
    assert excess_by_lot(used, aside, 1_000, 0).low <= 0.0, "of a hundred set aside two would be found"
    aside = np.zeros(1_900, np.int64)
    assert excess_by_lot(used, aside, 1_000, 0).low > 0.0


def test_without_people_aside_or_texts_there_is_no_number():
    nobody, some = np.zeros(0, np.int64), np.ones(5, np.int64)
    assert math.isnan(excess_by_lot(some, nobody, 10, 0).value)
    assert math.isnan(excess_by_lot(some, some, 0, 0).value)
    assert by_chance(some, 10, 20).value == pytest.approx(0.5)
