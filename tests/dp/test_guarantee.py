"""A stored guarantee is read back as it was, whatever edition wrote it."""

from __future__ import annotations

import json

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


def test_a_statement_without_a_claim_has_no_mechanisms() -> None:
    assert Guarantee.from_dict({"kind": "none", "sentence": "No formal guarantee."}).mechanisms == ()
