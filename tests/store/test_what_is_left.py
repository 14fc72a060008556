"""What would help a run with a proof is held against what the ledger still has."""

from __future__ import annotations

import pytest

from tests.store.ledger_making import gaussian, limited
from tests.store.making import finished_run


@pytest.mark.parametrize(
    ("claim", "said"),
    [(1.0, "(ε = 1 drawn again)"), (2.5, "with ε of at most 2, which is all that is left, do not examine it")],
)
def test_another_run_is_proposed_as_far_as_it_fits(store, corpus, claim, said):
    limited(store, corpus, claim=2.0)
    run = finished_run(store, corpus, ["made up"], settings={"guarantee": gaussian(claim).as_dict()})
    gate = store.releases.gate(run, "proof", signed_off_by="Grace")
    assert said in next(line.remedy for line in gate.rules if line.rule == "unmeasured")
