"""To whom a text may go: the widest policy that measurements meet, with people's decisions taken as made."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.release.policy.audience import WIDEST_FIRST, audience
from engine.release.policy.gate import evaluate
from engine.release.policy.policy import get_policy, policies
from tests.release.test_gate import GOOD, finding, good_findings

UNDECIDED = replace(GOOD, approved=0, rejected=0, pending=100, actor="", signed_off_by="", originals=None)


def widest(findings, **facts):
    found = audience(policies(), findings, replace(UNDECIDED, **facts))
    return None if found.policy is None else found.policy.id


def changed(name, reference, value):
    rest = [one for one in good_findings() if (one.name, one.reference) != (name, reference)]
    return [*rest, finding(name, reference, value, value, value)]


def test_a_good_proven_run_may_go_to_anyone_before_anybody_decided():
    found = audience(policies(), good_findings(), replace(UNDECIDED, epsilon=1.0, delta=1e-6, units=1000))
    assert found.policy.id == "public"
    assert (found.wider, found.missing) == (None, ())


@pytest.mark.parametrize(
    ("findings", "facts", "expected"),
    [
        (good_findings(), {"guarantee_kind": "none", "originals": 0}, "research"),
        (good_findings(), {"guarantee_kind": "none", "originals": 7}, "research"),  # those are to be rejected
        (good_findings(), {"guarantee_kind": "none"}, None),  # nobody compared it with the originals
        (changed("verbatim_8gram", "train", 0.9), {"guarantee_kind": "none", "originals": 0}, "internal"),
        (changed("pipp_direct", "train", 0.9), {"guarantee_kind": "none", "originals": 0}, "exploratory"),
        ([], {}, None),
        (good_findings(), {"stale": True}, None),
        (good_findings(), {"run_state": "cancelled"}, None),
    ],
)
def test_what_leaks_narrows_the_circle(findings, facts, expected):
    assert widest(findings, **facts) == expected


def test_what_is_missing_are_the_open_rules_of_the_next_wider_policy():
    findings = changed("verbatim_8gram", "train", 0.9)
    found = audience(policies(), findings, replace(UNDECIDED, guarantee_kind="none", originals=0))
    assert (found.policy.id, found.wider.id) == ("internal", "research")
    assert found.missing
    assert all(line.passed is not True for line in found.missing)
    assert not {line.rule for line in found.missing} & {"approved", "reviewed", "second-person"}


def test_the_gate_agrees_once_people_have_decided():
    for name in WIDEST_FIRST:
        if evaluate(get_policy(name), good_findings(), replace(GOOD, approved=100, rejected=0)).passed:
            assert widest(good_findings(), epsilon=GOOD.epsilon) == name
            break
    else:
        raise AssertionError("no policy passes a good run")
