"""Several runs decided on together: all are reserved and queued, or none; each is examined when it is done."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import engine
from engine.dp.ledger import Limit, admit, admit_all, new_state
from engine.errors import RefusedError, UserError
from engine.jobs.sweeps import Wanted, grid
from tests.jobs.conftest import wait
from tests.store.conftest import MAPPING, made_up
from tests.store.ledger_making import gaussian

DELTA = 1e-5


@pytest.fixture
def small(workspace):
    """Return a corpus of its own without spans, under a limit of ε = 2."""
    made = workspace.corpora.import_table(made_up(), MAPPING, name="Letters", holdout=0.25, labels_public=True)
    workspace.ledger.set_limit(made.id, 2.0, DELTA)
    return made


def counts(**parameters: object) -> Wanted:
    return Wanted("counts", {"delta": DELTA, **parameters}, count=50)  # type: ignore[dict-item]


def test_the_grid_is_methods_by_budget_by_seed():
    base = Wanted("aug-pe", {"epsilon": 9.0, "iterations": 2}, count=10, seed=5)
    made = grid(base, [4, 1, 1], 2, ["dpga", "aug-pe"], reference=True)
    assert [(one.method, one.parameters.get("epsilon"), one.seed) for one in made] == [
        ("public", None, 5), ("public", None, 6),
        ("aug-pe", 1.0, 5), ("aug-pe", 1.0, 6), ("aug-pe", 4.0, 5), ("aug-pe", 4.0, 6),
        ("dpga", 1.0, 5), ("dpga", 1.0, 6), ("dpga", 4.0, 5), ("dpga", 4.0, 6),
    ]  # fmt: skip
    assert made[2].parameters["iterations"] == 2
    assert "iterations" not in made[6].parameters  # another method has settings of its own
    assert {one.count for one in made} == {10}
    assert grid(base, repeats=1) == [base]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"epsilons": [0.0]}, "above 0"), ({"epsilons": [101.0]}, "at most 100"), 
        ({"epsilons": [float("nan")]}, "above"),
        ({"repeats": 0}, "from 1"), ({"epsilons": [1, 2, 3, 4, 5, 6, 7], "repeats": 9}, "63 runs"),
    ],
)  # fmt: skip
def test_what_is_out_of_range_is_refused(asked, said):
    with pytest.raises(UserError, match=said):
        grid(Wanted("aug-pe", {}), **asked)


def test_together_is_one_after_another():
    """The rule for many is the rule for one, each with those before it reserved."""
    state = new_state(Limit(4.0, DELTA))
    claim = gaussian(1.0)
    one = (claim.mechanisms, *claim.bound)
    alone = admit(state, *one)
    assert admit_all(state, [one]) == alone
    assert admit_all(state, []).share_after == 0.0
    shares = [admit_all(state, [one] * n).share_after for n in (1, 2, 3)]
    assert shares == sorted(shares)
    assert shares[0] > 0
    many = next(n for n in range(1, 60) if not admit_all(state, [one] * n).allowed)
    refused = admit_all(state, [one] * (many + 5))
    assert f"Run {many} of {many + 5} does not fit" in refused.sentence
    assert refused.share_before == 0.0
    assert admit_all(state, [one] * (many - 1)).allowed
    assert admit_all(state, [one] * 2).sentence.startswith("The 2 runs fit together. After them")


def test_all_runs_are_queued_and_the_ledger_holds_each(workspace, small):
    wanted = [counts(epsilon=0.3), counts(epsilon=0.6)]
    planned = workspace.plan.sweep(small.id, wanted)
    assert (list(planned.blockers), planned.pending) == ([], False)
    made = workspace.jobs.sweep(small.id, wanted)
    view = workspace.ledger.of(small.id)
    assert view.share == pytest.approx(planned.budget.share_after)
    assert list(view.lines["run_id"][view.lines["kind"] == "reserve"]) == made
    for run_id in made:
        assert wait(workspace, workspace.runs.get(run_id).job_id).state == "done"
        assert workspace.runs.get(run_id).examined_at is None  # nobody asked for it
    assert workspace.ledger.of(small.id).share <= planned.budget.share_after + 1e-9


def test_nothing_is_reserved_where_the_last_does_not_fit(workspace, small):
    wanted = [counts(epsilon=0.5), counts(epsilon=0.5), counts(epsilon=1.99)]
    planned = workspace.plan.sweep(small.id, wanted)
    assert "Run 3 of 3 does not fit" in planned.blockers[0]
    assert len(planned.blockers) == 1
    with pytest.raises(RefusedError, match="Run 3 of 3"):
        workspace.jobs.sweep(small.id, wanted)
    assert workspace.runs.all(small.id) == []
    assert workspace.ledger.of(small.id).share == 0.0
    assert [job for job in workspace.jobs.all() if job.kind == "synthesize"] == []


def test_a_run_that_may_not_start_stops_all(workspace, small):
    with pytest.raises(UserError):
        workspace.jobs.sweep(small.id, [counts(epsilon=0.3), counts(epsilon=-1.0)])
    with pytest.raises(UserError, match="from 1 to"):
        workspace.jobs.sweep(small.id, [])
    assert workspace.runs.all(small.id) == []


def test_a_reservation_that_came_between_stops_all(workspace, small, monkeypatch):
    """The sum is looked at before the transaction; whoever was admitted in between is seen inside it."""
    wanted = [counts(epsilon=0.8), counts(epsilon=0.8)]
    before: Callable[..., engine.Admission] = workspace.ledger.what_if_all

    def late(*given: object) -> engine.Admission:
        answer = before(*given)
        workspace.jobs.synthesize(small.id, "counts", count=50, parameters={"delta": DELTA, "epsilon": 1.5})
        return answer

    monkeypatch.setattr(workspace.ledger, "what_if_all", late)
    with pytest.raises(RefusedError):
        workspace.jobs.sweep(small.id, wanted)
    assert len(workspace.runs.all(small.id)) == 1


def test_each_is_examined_when_it_is_done(workspace, small):
    made = workspace.jobs.sweep(small.id, [counts(epsilon=0.3)], examine=True)
    assert wait(workspace, workspace.runs.get(made[0]).job_id).state == "done"
    found = [job for job in workspace.jobs.all(active_only=False) if job.kind == "examine"]
    assert [job.run_id for job in found] == made
    workspace.jobs.cancel(found[0].id)
