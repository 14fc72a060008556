"""Public quantities are checked where they are named, and noise is drawable where it is promised."""

import pytest

from engine.errors import UserError
from engine.methods import get_method
from engine.methods.base import Facts, parse_parameters
from engine.methods.evolution.claim import check_scales
from engine.methods.evolution.dpga import fixed_events
from tests.cli.in_process import run


@pytest.mark.parametrize(
    ("values", "word"),
    [
        ({"cap": 0}, "cap"), ({"cap": -3}, "cap"), ({"cap": 1.5}, "cap"), ({"units": 0}, "units"),
        ({"units": -5}, "units"), ({"labels": -3}, "labels"), ({"records": -1}, "records"), ({"unit": "case"}, "unit"),
        ({"mean_characters": -1.0}, "mean_characters"), ({"mean_characters": float("nan")}, "mean_characters"),
    ],
)  # fmt: skip
def test_quantities_that_cannot_be_are_refused(values, word):
    with pytest.raises(UserError, match=word):
        Facts(**{"records": 10, "units": 10, "unit": "source"} | values)


@pytest.mark.parametrize(
    ("option", "value"), [("--cap", "0"), ("--cap", "-3"), ("--units", "0"), ("--units", "-5"), ("--labels", "-3")]
)
def test_the_guarantee_verb_ends_with_status_1(tmp_path, option, value):
    asked = ["--method", "aug-pe", "--unit", "source", option, value]
    assert option.removeprefix("--") in run(tmp_path / "w", "guarantee", *asked, expect=1)


@pytest.mark.parametrize("units", [2, 20, 26_000, 75_316, 1_939_290, 10**9])
def test_the_threshold_of_dpga_can_be_bought_at_any_size(units):
    parameters = parse_parameters(get_method("dpga").spec, {"suppression": "as printed"})
    events = fixed_events(parameters, Facts(units, units, labels=5))
    assert events["tau"].sensitivity == 2 / units
    check_scales(events)


def test_noise_that_cannot_be_drawn_is_refused_before_anything_is_reserved():
    method = get_method("dpga")
    parameters = parse_parameters(method.spec, {"epsilon": 1e-13})
    with pytest.raises(UserError, match="drawn exactly"):
        check_scales(fixed_events(parameters, Facts(100, 100, labels=3)))
