"""What pages say of a claim that adds up several runs: its one point, and nothing that follows from its own step."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.dp.accounting.closed_form import default_delta, epsilon, gaussian_mu, mu_of, posterior
from engine.jobs.models.marks import counted
from engine.methods import get_method
from engine.methods.base import Facts, parse_parameters
from engine.models.marks import Mark
from pages._ui.ledger.budget import recomputed
from pages._ui.plan import promise

FACTS = Facts(records=8396, units=8396)
DELTA = default_delta(FACTS.units)


@pytest.fixture
def own():
    """Return a claim of ε = 1 alone."""
    method = get_method("dp-select")
    return method.guarantee(parse_parameters(method.spec, {"epsilon": 1.0}), FACTS)


@pytest.fixture
def both(own):
    """Return the claim of the same run on a pool that a run of ε = 4 wrote."""
    mark = Mark("r-abcdefghjk", "P", "dp", 4.0, DELTA, "record", "zero-out", of="pool")
    return counted(own, [mark], "P")


@pytest.fixture
def captions(monkeypatch):
    found: list[str] = []
    monkeypatch.setattr(promise.st, "caption", lambda said, **_: found.append(said))
    return found


def test_the_chance_of_failure_is_that_of_the_whole_claim(own, both):
    above, chance = promise.above_point(both)
    assert chance == pytest.approx(2 * both.delta)
    said = promise.in_words(both)
    assert promise.prior_sentence(0.1, posterior(0.1, above), chance, "a record", "zero-out") in said
    assert "adds up several runs" in said
    assert "ε = 5 at δ = " in said
    assert "several runs" not in promise.in_words(own)
    pure = replace(both, delta=0.0, accounting={"own_epsilon": 1.0, "own_delta": 0.0})
    assert promise.above_point(pure) == (5.0, 0.0)


def test_nothing_is_said_of_groups_and_recomputed_totals_from_the_last_step(own, both, captions):
    promise.groups(both, "records")
    promise.accounted(both)
    assert captions == []
    promise.groups(own, "records")
    promise.accounted(own)
    assert len(captions) == 2


def test_the_ledger_recomputes_the_own_step_at_its_own_delta(own, both):
    assert recomputed(both) == recomputed(own) == pytest.approx(1.0)


def test_a_loss_of_both_runs_passes_what_the_last_step_alone_would_say(both):
    """Both runs are Gaussian here, so the whole is known: the page's chance holds for it, the last step's does not."""
    from engine.dp.accounting.closed_form import delta_strict

    whole = (gaussian_mu(both.mechanisms) ** 2 + mu_of(4.0, DELTA) ** 2) ** 0.5
    assert epsilon(whole, both.delta) <= both.epsilon
    above, chance = promise.above_point(both)
    assert delta_strict(gaussian_mu(both.mechanisms), both.epsilon) < delta_strict(whole, both.epsilon)
    assert delta_strict(whole, above) <= chance
