"""What a planned run could be released under, before anything is measured."""

from __future__ import annotations

import pytest

from engine.release.policy.policy import policies
from engine.release.policy.reach import reach
from engine.release.policy.remedies import Claim
from engine.release.wizard import enough_for


@pytest.mark.parametrize(
    ("claim", "aside", "passed"),
    [
        (Claim("none"), 20, ("exploratory",)),
        (Claim("heuristic"), 500, ("research", "internal", "exploratory")),
        (Claim("dp", 4.0, 1e-4), 20, ("proof", "exploratory")),
        (Claim("dp", 20.0, 1e-5), 20, ("exploratory",)),  # more ε than the proof's policy takes
        (Claim("dp", 20.0, 1e-5), 500, ("public", "research", "internal", "exploratory")),
    ],
)
def test_a_claim_and_how_many_are_set_aside_decide(claim, aside, passed):
    assert reach(policies(), claim, aside=aside).ids() == passed


def test_what_few_set_aside_stand_in_the_way_of_is_told_apart():
    found = reach(policies(), Claim("none"), aside=20)
    assert [policy.id for policy in found.hardly] == ["research", "internal"], "and not public, which takes no such run"


def test_a_proof_does_not_lead_to_readers_where_reviewers_see_private_text():
    assert enough_for("researchers") == ("proof", "public", "research")
    assert enough_for("researchers", beside=True) == ("public", "research")
    assert enough_for("team")[-1] == "exploratory"
