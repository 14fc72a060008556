"""Findings are of a run, so the records that leave may be no riskier than it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from engine.release.policy.audience import audience
from engine.release.policy.facts import Chosen
from engine.release.policy.gate import evaluate
from engine.release.policy.policy import CHOSEN, get_policy, policies
from tests.release.test_gate import GOOD, WHOLE, good_findings


def chosen_of(risk: np.ndarray, approved: np.ndarray) -> Chosen:
    return Chosen(int(approved.sum()), len(risk), float(risk[approved].mean()), float(risk.mean()), float(risk.std()))


def line(chosen: Chosen | None, policy: str = "research"):
    facts = replace(WHOLE if policy == "proof" else GOOD, chosen=chosen)
    found = evaluate(get_policy(policy), [] if policy == "proof" else good_findings(), facts).rules
    return next((one for one in found if one.rule == CHOSEN), None)


def test_the_few_that_leak_cannot_be_approved_by_what_was_measured_of_all():
    risk = np.full(1_000, 0.05)
    risk[:30] = 0.6
    approved = np.arange(1_000) < 30
    assert line(chosen_of(risk, approved)).passed is False
    assert line(chosen_of(risk, ~approved)).passed is True
    assert line(chosen_of(risk, np.ones(1_000, bool))).passed is True


@pytest.mark.parametrize("share", [0.02, 0.3, 0.9])
def test_a_choice_by_lot_is_rarely_refused(share):
    rng = np.random.default_rng(int(100 * share))
    refused = 0
    for _ in range(400):
        risk = rng.beta(1, 6, 300)
        refused += not line(chosen_of(risk, rng.permutation(300) < max(1, int(300 * share)))).passed
    assert refused <= 8


def test_it_is_asked_where_findings_have_limits_and_the_risk_of_each_record_is_known():
    known = Chosen(10, 20, 0.5, 0.1, 0.1)
    assert {policy: line(known, policy) is not None for policy in ("exploratory", "internal", "public", "proof")} == {
        "exploratory": False, "internal": True, "public": True, "proof": False,
    }  # fmt: skip
    assert line(None) is None


def test_to_whom_a_text_may_go_does_not_hang_on_what_is_approved_so_far():
    riskier = Chosen(1, 100, 0.9, 0.1, 0.1)
    facts = replace(GOOD, chosen=riskier)
    assert line(riskier).passed is False
    assert audience(policies(), good_findings(), facts).policy.id == "public"
