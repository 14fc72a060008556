"""A stored guarantee is read back as it was, whatever edition wrote it."""

from __future__ import annotations

import json
from dataclasses import replace

from engine.dp.events import Event
from engine.dp.guarantee import Guarantee


def test_a_guarantee_survives_being_stored() -> None:
    events = (Event("gaussian", "votes", noise_multiplier=2.0, count=3), Event("declared", "labels"))
    claim = Guarantee(
        "dp", "A sentence.", epsilon=1.0, delta=1e-5, adjacency="zero-out", assumptions=("N is public.",),
        events=tuple(event.as_dict() for event in events), noise={"votes": {"sigma": 2.0}},
    )  # fmt: skip
    stored = json.loads(json.dumps(claim.as_dict()))
    assert Guarantee.from_dict(stored) == claim
    assert Guarantee.from_dict(stored).mechanisms == events
    assert Guarantee.from_dict({**stored, "of another edition": 1}) == claim


def test_a_claim_counts_earlier_runs_where_it_is_larger_than_its_own_step() -> None:
    own = Guarantee("dp", "A sentence.", epsilon=1.0, delta=1e-5)
    both = replace(own, epsilon=5.0, delta=2e-5, accounting={"own_epsilon": 1.0, "own_delta": 1e-5})
    public = replace(own, accounting={"own_epsilon": 0.0, "own_delta": None})  # the run reads nothing, its model did
    assert [one.counts_earlier for one in (own, both, public)] == [False, True, True]
    assert (both.drawn, public.drawn) == ((1.0, 1e-5), (0.0, 0.0))
    assert not Guarantee("none", "None.").counts_earlier


def test_a_statement_without_a_claim_has_no_mechanisms() -> None:
    assert Guarantee.from_dict({"kind": "none", "sentence": "No formal guarantee."}).mechanisms == ()
