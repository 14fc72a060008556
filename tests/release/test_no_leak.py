"""What Privacy calls a leak keeps a run from researchers and the public, however few people were set aside."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.examine.findings.findings import Finding
from engine.release.policy.gate import evaluate
from engine.release.policy.policy import NO_LEAK, get_policy
from tests.release.test_gate import GOOD, finding, good_findings

DILUTED = [  # one output in five holds a village of one person; 1,000 of 10,000 people are set aside
    finding("pipp_excess", "holdout", 0.024, 0.012, 0.036), finding("strict_pipp", "train", 0.2, 0.17, 0.23),
    finding("strict_pipp", "holdout", 0.0, 0.0, 0.004), finding("strict_pipp_excess", "holdout", 0.02, 0.012, 0.03),
    finding("strict_alone", "train", 0.2, 0.17, 0.23), finding("strict_alone", "holdout", 0.0, 0.0, 0.004),
    finding("strict_alone_excess", "holdout", 0.2, 0.17, 0.23),
]  # fmt: skip


def leaking() -> list[Finding]:
    names = {(one.name, one.reference) for one in DILUTED}
    return [*(one for one in good_findings() if (one.name, one.reference) not in names), *DILUTED]


@pytest.mark.parametrize("policy", ["internal", "research", "public"])
def test_what_one_person_alone_has_is_judged_against_all_that_was_used(policy):
    broken = {line.rule for line in evaluate(get_policy(policy), leaking(), GOOD).rules if line.passed is False}
    assert "rare-identifiers" in broken
    assert (NO_LEAK in broken) is (policy != "internal")


def test_the_line_names_what_is_given_away_and_follows_the_examination():
    policy = get_policy("research")

    def line(findings, facts):
        return next(one for one in evaluate(policy, findings, facts).rules if one.rule == NO_LEAK)

    assert line(good_findings(), GOOD).passed is True
    said = line(leaking(), GOOD)
    assert said.passed is False
    assert "Real identifiers" in said.sentence
    assert line(leaking(), replace(GOOD, stale=True)).passed is None
    assert line([], replace(GOOD, examined=False)).passed is None


def test_text_that_read_no_record_gives_nothing_away():
    facts = replace(GOOD, epsilon=0.0)
    lines = evaluate(get_policy("public"), leaking(), facts).rules
    assert next(one for one in lines if one.rule == NO_LEAK).passed is True


def test_a_policy_without_the_line_has_the_digest_that_it_had():
    internal = get_policy("internal")
    assert "no_leak" in internal.requirements.model_dump()
    asked = internal.model_copy(update={"requirements": internal.requirements.model_copy(update={"no_leak": True})})
    assert asked.digest != internal.digest
