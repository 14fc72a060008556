"""The verdict of text that no private record went into: what stands out there is said to be chance, or shared text."""

from __future__ import annotations

import pytest

from engine.examine.findings.make import finding
from engine.examine.findings.verdict import privacy_verdict
from engine.examine.stats.intervals import Interval

NOTHING = {"kind": "dp", "epsilon": 0.0, "delta": 0.0, "unit": "record"}
SOME = {"kind": "dp", "epsilon": 1.0, "delta": 1e-6, "unit": "record"}


def at(name, reference, value, low, high):
    return finding(name, reference, Interval(value, low, high, 200, "made up", "none"), reference_records=200)


COPIES = [
    at("verbatim_8gram", "train", 0.2, 0.15, 0.25), at("verbatim_8gram", "holdout", 0.05, 0.03, 0.07),
    at("verbatim_8gram_excess", "holdout", 0.15, 0.1, 0.2),
]  # fmt: skip


@pytest.mark.parametrize(("guarantee", "level"), [(NOTHING, "unsure"), (SOME, "leak"), ({"kind": "none"}, "leak")])
def test_what_stands_out_without_a_private_record_is_chance(guarantee, level):
    (copies,) = [one for one in privacy_verdict(COPIES, None, guarantee) if one.finding == "verbatim_8gram"]
    assert copies.level == level
    assert ("No private record went into this text" in copies.text) == (level == "unsure")
    assert ("also occur in" in copies.text) == (level == "unsure")
    assert ("repeat" in copies.text) == (level == "leak")


def test_an_attack_past_the_diagonal_contradicts_the_claim_that_nothing_was_read():
    said = privacy_verdict(COPIES, None, NOTHING, ["word n-grams"])
    assert said[-1].level == "leak"
    assert "cannot hold" in said[-1].text
    (copies,) = [one for one in said if one.finding == "verbatim_8gram"]
    assert copies.level == "leak"
