"""δ beside 1/N: said from a tenth of it on, refused from 1/N on unless it is confirmed."""

import pytest

from engine.dp.accounting.delta_rules import check_against_units, warning
from engine.errors import UserError
from engine.methods import get_method, methods
from engine.methods.base import Facts, parse_parameters
from tests.cli.in_process import run

FORMAL = [m.spec.id for m in methods() if "delta" in m.spec.parameters.model_fields and m.spec.kind == "dp"]
FACTS = Facts(5000, 5000)
# What keeps the accounting short; the rule comes before it.
QUICK = {
    "dpga": {"rounds": 1, "sampling_rate": 1.0, "length": False, "keywords": False, "suppression": "off"},
    "dp-finetune": {"steps": 1, "units_a_step": 5000, "lengths": "public"},
}


def claim(name, **values):
    method = get_method(name)
    return method.guarantee(parse_parameters(method.spec, QUICK.get(name, {}) | values), FACTS)


@pytest.mark.parametrize("name", FORMAL)
def test_a_delta_of_one_nth_needs_a_confirmation(name):
    for delta in (2e-4, 1e-3):
        with pytest.raises(UserError, match="1/N or more"):
            claim(name, delta=delta)
    confirmed = claim(name, delta=1e-3, large_delta=True)
    assert confirmed.delta == 1e-3
    assert "5 records on average" in confirmed.assumptions[0]


@pytest.mark.parametrize("name", FORMAL)
def test_a_delta_above_a_tenth_of_it_is_said(name):
    assert "more than a tenth of 1/N" in claim(name, delta=1e-4).assumptions[0]
    assert not any("tenth of 1/N" in line for line in claim(name, delta=1e-5).assumptions)


def test_the_edges_are_where_they_are_said_to_be():
    assert check_against_units(0.999e-3, 1000, False) == 0.999e-3
    assert check_against_units(1e-3, 1000, True) == 1e-3
    with pytest.raises(UserError, match="N = 1,000"):
        check_against_units(1e-3, 1000, False)
    assert warning(1e-4, 1000, "source") == ""
    assert "0.11 sources" in warning(1.1e-4, 1000, "source")


def test_on_the_command_line(tmp_path):
    asked = ["--method", "aug-pe", "--units", 1_000_000, "--delta", 0.001, "--epsilon", 1]
    assert "1/N or more" in run(tmp_path / "w", "guarantee", *asked, expect=1)
    printed = run(tmp_path / "w", "guarantee", *asked, "--set", "large_delta=true")
    assert "1e+03 records on average" in printed["assumptions"][0]
