"""What a decision makes of a span, and how pressing an undecided one is."""

from __future__ import annotations

import math

import pytest

from engine.pii.decide.rules import Standing, after, hazard, rarity, undecided

NAME = Standing("rejected", "PERSON", "direct")


@pytest.mark.parametrize(
    ("action", "label", "expected"),
    [
        ("accept", None, Standing("accepted", "PERSON", "direct")),
        ("reject", None, NAME),
        ("review", None, NAME),  # confirmed as it stands
        ("relabel", "LOCATION", Standing("accepted", "LOCATION", "quasi")),
    ],
)
def test_a_decision_replaces_what_detection_said(action: str, label: str | None, expected: Standing) -> None:
    assert after(action, NAME, label) == expected
    assert after(action, expected, label) == expected  # the same decision again changes nothing


def test_a_threshold_decides_until_somebody_does() -> None:
    assert [undecided(score, 0.7) for score in (0.69, 0.7)] == ["rejected", "accepted"]


def risk(*arguments: object) -> float:
    return 1 - math.exp(-hazard(*arguments))  # type: ignore[arg-type]


def test_doubtful_direct_identifiers_are_the_most_pressing() -> None:
    sure, doubt, quasi = risk(1.0, "direct", 0.5), risk(0.5, "direct", 0.5), risk(0.5, "quasi", 0.5)
    assert (sure, quasi) == pytest.approx((0.1, 0.5))
    assert doubt == pytest.approx(0.999)
    assert risk(1.0, "direct", 1.0) == doubt  # the threshold moves the doubt
    assert risk(0.0, "none", 1.0) == pytest.approx(0.01)


def test_rare_values_weigh_more() -> None:
    assert [rarity(n) for n in (0, 1, 4, 100)] == [1.0, 1.0, 0.5, 0.1]
    often = hazard(0.5, "quasi", 0.5) * rarity(4)
    assert hazard(1.0, "direct", 0.5) < often < hazard(0.5, "quasi", 0.5)
