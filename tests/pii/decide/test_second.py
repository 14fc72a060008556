"""Two readers of the same records: agreement, and what neither saw."""

from __future__ import annotations

import numpy as np
import pytest

from engine.pii.decide.second import agreement, pairs, unseen


def test_places_that_overlap_are_the_same_identifier():
    assert pairs([(0, 5), (9, 12)], [(3, 7)]) == (1, [(9, 12)], [])
    assert pairs([], [(3, 7)]) == (0, [], [(3, 7)])
    assert pairs([(0, 3)], [(3, 7)]) == (0, [(0, 3)], [(3, 7)])


def test_agreement_counts_records_and_identifiers():
    found = agreement([([], []), ([(0, 5)], [(0, 5)]), ([(0, 5)], []), ([(0, 5)], [(6, 9), (10, 12)])])
    assert found is not None
    assert (found.texts, found.alike, found.value) == (4, 2, 0.5)
    assert (found.both, found.first, found.second) == (1, 2, 2)
    assert (found.low, found.high) == pytest.approx((0.0676, 0.9324), abs=1e-4)  # R: binom.test(2, 4)
    assert agreement([]) is None


def test_where_nothing_was_found_in_common_nothing_is_known():
    assert unseen(0, 0, 0) is None
    assert unseen(0, 2, 3) is None
    found = unseen(8, 2, 1)
    assert found is not None
    assert found.value == pytest.approx(11 * 10 / 9 - 1 - 11)
    assert found.low == 0


@pytest.mark.parametrize(
    ("total", "first", "second"), [(5, 0.5, 0.5), (40, 0.9, 0.6), (300, 0.8, 0.9), (300, 0.3, 0.3)]
)
def test_the_interval_of_what_neither_saw_covers(total, first, second):
    random = np.random.default_rng(total)
    held, draws = 0, 200
    for _ in range(draws):
        one, other = random.random(total) < first, random.random(total) < second
        found = unseen(int((one & other).sum()), int((one & ~other).sum()), int((other & ~one).sum()))
        left = int((~one & ~other).sum())
        held += found is None or found.low <= left <= found.high
    assert held >= draws * 0.95 - 3 * (draws * 0.95 * 0.05) ** 0.5
