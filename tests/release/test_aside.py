"""How many set aside are few: the number follows from the interval and from the policy's own limit."""

from __future__ import annotations

import pytest

from engine import FEWEST_ASIDE, least_aside, open_share, share_allowed
from engine.examine.stats.intervals import wilson
from engine.release import policies

KNOWN = {policy.id: policy for policy in policies()}


@pytest.mark.parametrize("name", ["internal", "research", "public"])
def test_from_the_number_on_no_more_is_left_open_than_the_policy_allows(name: str) -> None:
    least, allowed = least_aside(KNOWN[name]), share_allowed(KNOWN[name])
    assert least is not None
    assert allowed is not None
    assert wilson(0, least)[1] <= allowed < wilson(0, least - 1)[1]
    assert open_share(least) == wilson(0, least)[1]


@pytest.mark.parametrize("name", ["exploratory", "proof"])
def test_a_policy_without_a_limit_beside_the_holdout_asks_for_nobody(name: str) -> None:
    assert share_allowed(KNOWN[name]) is None
    assert least_aside(KNOWN[name]) is None


def test_the_warning_at_import_begins_where_the_nearest_policy_does() -> None:
    assert least_aside(KNOWN["internal"]) == FEWEST_ASIDE
    assert open_share(0) == 1
