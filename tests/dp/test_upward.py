"""What is written of a bound is never below it, and is the bound where that has few digits."""

import math

import numpy as np
import pytest

from engine.dp.accounting.closed_form import default_delta
from engine.dp.upward import downward, upward


@pytest.mark.parametrize(
    ("value", "digits", "written"),
    [
        (4.0, 6, "4"), (0.1, 3, "0.1"), (0.1 + 0.2, 3, "0.3"), (8.872e-6, 3, "8.88e-06"), (5.8441e-4, 3, "0.000585"),
        (math.exp(10), 3, "2.21e+04"), (0.0, 3, "0"), (9.999, 2, "10"), (999.4, 3, "1e+03"), (math.inf, 3, "inf"),
        (1e-5, 2, "1e-05"),
    ],
)  # fmt: skip
def test_by_hand(value, digits, written):
    assert upward(value, digits) == written


def test_never_below_and_at_most_one_digit_above():
    rng = np.random.default_rng(3)
    for value in np.exp(rng.uniform(-30, 12, 2000)).tolist():
        for digits in (2, 3, 6):
            written = float(upward(value, digits))
            assert value * (1 - 1e-12) <= written <= value * (1 + 10.0 ** (1 - digits))


@pytest.mark.parametrize("units", [300, 8396, 12_000])
def test_the_delta_of_a_claim_is_no_smaller_in_words(units):
    from engine.methods import get_method
    from engine.methods.base import Facts, parse_parameters

    for name in ("aug-pe", "rpsg-public"):
        method = get_method(name)
        claim = method.guarantee(parse_parameters(method.spec, {"epsilon": 3.3333333}), Facts(units, units))
        assert claim.delta == default_delta(units)
        assert f"plus {upward(claim.delta)}" in claim.sentence
        assert float(upward(claim.delta)) >= claim.delta
        assert "ε = 3.33334" in claim.sentence


def test_what_is_left_is_never_written_larger_than_it_is():
    assert [downward(value) for value in (6.8279, 4.736, 10.0, 0.1 + 0.2, 0.0, 0.000123456)] == [
        "6.82", "4.73", "10", "0.3", "0", "0.000123",
    ]  # fmt: skip
    for value in np.random.default_rng(3).lognormal(0.0, 3.0, 2_000):
        assert value * 0.99 < float(downward(value)) <= value * (1 + 1e-12)
        assert float(downward(value)) <= float(upward(value))
