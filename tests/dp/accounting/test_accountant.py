"""Calibration and accounts of whole schedules, at once or from another process."""

import json
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.dp.accounting import accountant as accounting
from engine.dp.accounting import closed_form
from engine.dp.events import Event
from engine.errors import InternalError, UserError

EXACT = accounting.ExactAccountant()
DELTA = 1.2282e-5
VOTES = Event("gaussian", "votes", noise_multiplier=1.0, count=10)
SAMPLED = replace(VOTES, sampling_probability=0.8)


# N = 8,948: ten Poisson-sampled releases at q = 0.8
@pytest.mark.parametrize(("epsilon", "sigma"), [(4, 2.817), (2, 5.098), (1, 9.430)])
def test_noise_of_ten_sampled_releases(epsilon, sigma):
    began = time.process_time()
    found = EXACT.calibrate([], [SAMPLED], epsilon, DELTA)
    assert time.process_time() - began < 10
    assert found.scale == pytest.approx(sigma, abs=6e-4)
    assert found.epsilon_low <= found.epsilon <= epsilon < found.rdp_epsilon
    assert EXACT.account(found.events, DELTA).epsilon == found.epsilon


# the paper's formula keeps epsilon where PLD gives 0.92, 1.77, 3.44 for 1, 2, 4
@pytest.mark.parametrize(("claimed", "total"), [(1, 0.92), (2, 1.77), (4, 3.44)])
def test_amplification_as_printed_is_conservative(claimed, total):
    import math

    # ln(1 + q (e^eps0 - 1)) = claimed, delta = q delta0
    whole = math.log(1 + (math.exp(claimed) - 1) / 0.8)
    noise = closed_form.noise_multiplier(whole, DELTA / 0.8, 10)
    assert EXACT.account([replace(SAMPLED, noise_multiplier=noise)], DELTA).epsilon == pytest.approx(total, abs=0.02)


def test_full_gaussians_are_calibrated_by_formula():
    found = EXACT.calibrate([], [VOTES], 1.0, closed_form.default_delta(8396))
    assert found.scale == pytest.approx(11.60, abs=0.01)
    assert found.epsilon <= 1.0
    assert (
        accounting.CachedAccountant(lambda _: None).calibrate([], [VOTES], 1.0, closed_form.default_delta(8396))
        == found
    )


def test_fixed_gaussians_leave_the_rest_of_mu_squared():
    labels = Event("gaussian", "label histogram", noise_multiplier=20.0)
    found = EXACT.calibrate([labels], [VOTES], 1.0, DELTA)
    target = closed_form.mu_of(1.0, DELTA) ** 2
    assert 10 / found.scale**2 == pytest.approx(target - 1 / 400, rel=1e-9)
    assert found.events[0] == labels


def test_a_mixed_schedule_keeps_its_claim_and_beats_adding_up():
    fixed = [Event("pure", "length search", epsilon=0.1, count=2), Event("laplace", "histogram", epsilon=0.1, count=3)]
    found = EXACT.calibrate(fixed, [SAMPLED], 1.0, DELTA)
    assert found.epsilon <= 1.0
    assert found.epsilon > 0.999
    alone = EXACT.account(found.events[2:], DELTA).epsilon
    assert alone + 0.5 > found.epsilon
    total = EXACT.account(found.events, DELTA)
    assert total.epsilon <= 1.0
    assert total.epsilon_low <= total.epsilon < total.strict_epsilon


def test_outputs_counted_one_by_one_cost_what_the_schedule_costs():
    events = [replace(SAMPLED, noise_multiplier=6.0), Event("laplace", "histogram", epsilon=0.2, count=2)]
    single = [replace(event, count=1, what=str(i)) for event in events for i in range(event.count)]
    assert EXACT.account(single, DELTA) == EXACT.account(events[::-1], DELTA)


def test_zcdp_goes_by_renyi_or_by_a_split_of_delta_whichever_is_smaller():
    tokens = Event("zcdp", "token", rho=0.0306 / 100, count=100)
    assert EXACT.account([tokens], 1e-5).epsilon == pytest.approx(1.0, abs=2e-3)
    # as pure pairs the same tokens would be 1.95: exponential mechanisms of rho = eps^2 / 8
    pure = Event("pure", "token", epsilon=(8 * 0.0306 / 100) ** 0.5, count=100)
    assert EXACT.account([pure], 1e-5).epsilon == pytest.approx(1.95, abs=0.01)
    mixed = EXACT.account([tokens, Event("pure", "search", epsilon=2.0)], 1e-5)
    assert mixed.epsilon <= min(mixed.rdp_epsilon, 3.01)
    assert mixed.epsilon > 2.0


@pytest.mark.parametrize("group", [1, 2, 5])
def test_groups_of_units(group):
    closed = EXACT.account([replace(VOTES, noise_multiplier=11.6)], closed_form.default_delta(8396), group)
    assert closed.epsilon == pytest.approx({1: 1.0, 2: 2.16, 5: 6.2}[group], abs=0.02)
    assert closed.group == group
    histogram = EXACT.account([Event("laplace", "histogram", epsilon=0.5)], 1e-9, group)
    assert histogram.epsilon == pytest.approx(0.5 * group, rel=1e-2)
    with pytest.raises(UserError, match="group"):
        EXACT.account([VOTES], DELTA, 0)


def test_what_the_fixed_parts_use_up_is_refused():
    with pytest.raises(UserError, match="epsilon"):
        EXACT.calibrate([Event("laplace", "histogram", epsilon=2.0)], [SAMPLED], 1.0, DELTA)
    with pytest.raises(UserError, match="epsilon"):
        EXACT.calibrate([Event("gaussian", "labels", noise_multiplier=1.0)], [VOTES], 1.0, DELTA)
    with pytest.raises(UserError, match="delta"):
        EXACT.calibrate([], [VOTES], 1.0, 0.1)


def test_very_small_delta_falls_back_to_renyi():
    total = EXACT.account([replace(SAMPLED, noise_multiplier=6.0)], 1e-11)
    assert total.epsilon == total.rdp_epsilon


def test_curves_meet_their_accounts():
    events = [replace(SAMPLED, noise_multiplier=9.43)]
    total = EXACT.account(events, DELTA)
    curve = EXACT.curve(events, [0.0, 0.5, total.epsilon, total.strict_epsilon, 3.0])
    assert list(curve.standard) == sorted(curve.standard, reverse=True)
    assert curve.standard[2] == pytest.approx(DELTA, rel=2e-3)
    assert curve.strict[3] == pytest.approx(DELTA, rel=2e-2)
    assert all(strict >= standard for strict, standard in zip(curve.strict, curve.standard))


def test_pending_requests_are_json_and_their_answers_are_found_again():
    known = {}
    cached = accounting.CachedAccountant(lambda request: known.get(json.dumps(request, sort_keys=True)))
    labels = Event("laplace", "histogram", epsilon=0.2)
    asks = [
        lambda: cached.calibrate([labels], [SAMPLED], 1.0, DELTA),
        lambda: cached.account([labels, replace(SAMPLED, noise_multiplier=9.0)], DELTA, 2),
        lambda: cached.curve([labels, replace(SAMPLED, noise_multiplier=9.0)], [0.5, 1.0]),
    ]
    for ask in asks:
        with pytest.raises(accounting.AccountingPending) as pending:
            ask()
        text = json.dumps(pending.value.request, sort_keys=True)
        known[text] = json.loads(json.dumps(accounting.answer_request(json.loads(text))))
        assert ask() is not None
    assert asks[0]() == EXACT.calibrate([labels], [SAMPLED], 1.0, DELTA)
    with pytest.raises(InternalError):
        accounting.answer_request({"question": "guess"})


def test_nothing_heavy_is_imported_before_an_exact_answer():
    code = (
        "import sys, engine.dp.accounting.accountant as a, engine.dp.noise.private, engine.dp.ledger\n"
        "from engine.dp.events import Event\n"
        "votes = Event('gaussian', 'votes', noise_multiplier=1.0)\n"
        "a.CachedAccountant(lambda _: None).calibrate([], [votes], 1.0, 1e-5)\n"
        "print([m for m in ('opendp', 'dp_accounting', 'pandas', 'torch') if m in sys.modules])"
    )
    root = Path(__file__).resolve().parents[3]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@settings(max_examples=3, deadline=None)
@given(st.floats(4.0, 20.0), st.floats(0.1, 0.9), st.integers(1, 20), st.floats(1e-8, 1e-4))
def test_numerical_totals_are_monotone_and_below_renyi(noise, q, count, delta):
    def cost(**fields):
        values = {"noise_multiplier": noise, "sampling_probability": q, "count": count, **fields}
        return EXACT.account([replace(VOTES, **values)], delta).epsilon

    total = EXACT.account([replace(VOTES, noise_multiplier=noise, sampling_probability=q, count=count)], delta)
    assert total.epsilon_low <= total.epsilon <= total.rdp_epsilon
    assert total.epsilon <= total.strict_epsilon
    assert cost(noise_multiplier=noise * 1.2) < total.epsilon < cost(count=count + 5)
    whole = closed_form.epsilon((count**0.5) / noise, delta)
    assert total.epsilon <= whole * 1.001 + 1e-6
