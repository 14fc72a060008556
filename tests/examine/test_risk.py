"""The approval order: each sign raises it, an unknown sign does not."""

from __future__ import annotations

import numpy as np
import pytest

from engine.examine.findings.risk import record_risk


@pytest.mark.parametrize(
    ("signals", "expected"),
    [
        ({}, 0.0),
        ({"direct": 1.0}, 0.6),
        ({"direct": 0.01}, 1 - 0.4**0.01),  # a name a hundred people share points to none
        ({"rare": 2.0}, 1 - 0.75**2),
        ({"copied_train": 1.0}, 0.9),
        ({"copied_train": 1.0, "copied_holdout": 1.0}, 0.0),  # a stock phrase
        ({"nearest": 0.5}, 0.0),  # as close as real unused text
        ({"nearest": 1.0}, 0.4),
        ({"nearest": np.nan, "detected": np.nan}, 0.0),  # not in the sample
        ({"detected": 2.0}, 1 - 0.95**2),
        ({"direct": 1.0, "copied_train": 1.0}, 1 - 0.4 * 0.1),
    ],
)
def test_risk_by_hand(signals: dict[str, float], expected: float) -> None:
    arrays = {name: np.array([value]) for name, value in signals.items()}
    assert record_risk(arrays, 1)[0] == pytest.approx(expected)
