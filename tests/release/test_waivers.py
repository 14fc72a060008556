"""Waivers: what may be waived, for what they hold, and where their words may not go."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from engine.errors import UserError
from engine.release.policy.gate import basis, evaluate, waivable
from engine.release.policy.policy import get_policy
from engine.release.policy.waivers import NEVER, Waiver, expiry_of, reason_of
from tests.release.bundles import READ
from tests.release.test_gate import GOOD, finding, good_findings

TODAY = "2026-06-01"
POLICY = get_policy("internal")
FACTS = replace(GOOD, guarantee_kind="none", originals=0, missed=replace(READ, direct=70.0))


def given(facts=FACTS, findings=None, rule="missed-direct", expires="2026-06-30", policy=POLICY) -> Waiver:
    lines = evaluate(policy, findings or good_findings(), facts).rules
    line = next(one for one in lines if one.rule == rule)
    return Waiver("w-1", rule, "Ada", "The reader was too strict.", TODAY, expires, basis(policy, line, ""))


def passes(waivers, facts=FACTS, findings=None, policy=POLICY, today=TODAY) -> bool:
    return evaluate(policy, findings or good_findings(), facts, waivers, today).passed


def test_a_waived_rule_is_not_met_and_lets_pass():
    assert not passes([])
    verdict = evaluate(POLICY, good_findings(), FACTS, [given()], TODAY)
    assert verdict.passed
    (line,) = verdict.waived_rules()
    assert (line.rule, line.passed, line.met) == ("missed-direct", False, True)
    assert line.waived is not None
    assert line.waived.person == "Ada"
    assert verdict.open_rules() == ()


@pytest.mark.parametrize(
    ("expires", "today", "holds"),
    [("2026-06-30", "2026-06-30", True), ("2026-06-30", "2026-07-01", False), ("2026-05-31", "2026-06-01", False)],
)
def test_an_expired_waiver_fails_the_gate(expires, today, holds):
    assert passes([given(expires=expires)], today=today) is holds


@pytest.mark.parametrize(
    "changed",
    [
        {"missed": replace(READ, direct=70.1)},  # another number
        {"missed": replace(READ, direct=70.0, direct_hit=9)},  # another sample
        {"missed": None},
        {"missed": replace(READ, direct=70.0, stale="Detection was run again.")},
        {"stale": True},
        {"examined": False},
        {"originals": 1},
        {"originals": None},
        {"approved": 0},
        {"run_state": "running"},
    ],
    ids=str,
)
def test_a_waiver_holds_for_what_was_found_when_it_was_given(changed):
    assert passes([given()])
    assert not passes([given()], replace(FACTS, **changed))


def test_under_another_policy_or_a_changed_one_it_holds_no_more():
    need = POLICY.requirements
    assert need.missed is not None
    stricter = need.model_copy(update={"missed": need.missed.model_copy(update={"direct_per_1000": 40.0})})
    assert not passes([given()], policy=POLICY.model_copy(update={"requirements": stricter}))
    none = POLICY.model_copy(update={"requirements": need.model_copy(update={"waivers": None})})
    assert not passes([given(policy=none)], policy=none)


def test_a_measured_rule_may_be_waived_where_the_policy_names_it_and_not_where_it_does_not():
    facts = replace(FACTS, missed=READ)
    bad = [finding("pipp_excess", "holdout", 0.3, 0.2, 0.4), *(f for f in good_findings() if f.name != "pipp_excess")]
    assert not passes([], facts, bad)
    assert passes([given(facts, bad, "identifiers-in-records")], facts, bad)
    copied = [
        finding("label_direct", "train", 0.3, 0.2, 0.4), *(f for f in good_findings() if f.name != "label_direct")
    ]  # fmt: skip
    assert not passes([given(facts, copied, "labels")], facts, copied)


def test_what_was_not_measured_cannot_be_waived():
    facts, missing = replace(FACTS, missed=READ), [f for f in good_findings() if f.name != "pipp_excess"]
    assert not passes([given(facts, missing, "identifiers-in-records")], facts, missing)


@pytest.mark.parametrize("rule", NEVER)
def test_some_lines_are_never_waived_whatever_a_policy_object_says(rule):
    """A policy made past its checks still cannot waive them."""
    need = POLICY.requirements
    assert need.waivers is not None
    loose = need.model_copy(update={"waivers": need.waivers.model_copy(update={"rules": NEVER})})
    policy = POLICY.model_copy(update={"requirements": loose})
    facts = replace(FACTS, approved=0, originals=3, run_state="failed", missed=None)
    for line in evaluate(policy, [], facts).rules:
        assert not waivable(policy, line) or line.rule not in NEVER


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("  Because   the reader\nwas strict ", "Because the reader was strict"),
        ("\u202eBecause it is so", "Because it is so"),
        ("Because\x00\x1b[31m of this", "Because [31m of this"),
        ("<b>Because</b> **of** ![x](http://x)", "<b>Because</b> **of** ![x](http://x)"),
    ],
)
def test_a_reason_stands_on_one_line_without_what_cannot_be_seen(typed, kept):
    assert reason_of(typed) == kept


@pytest.mark.parametrize("typed", ["", "  ", "short", "\u202e" * 40, "x" * 301])
def test_a_reason_says_something(typed):
    with pytest.raises(UserError, match="reason"):
        reason_of(typed)


@pytest.mark.parametrize("day", ["2026-06-01", "2026-06-30", " 2026-07-01 "])
def test_a_day_within_the_time_of_the_policy(day):
    assert expiry_of(day, date(2026, 6, 1), 30) == day.strip()


@pytest.mark.parametrize(
    "day", ["", "never", "2026-13-01", "2026-05-31", "2026-07-02", "9999-12-31", "2026-06-01T00:00"]
)
def test_any_other_day_is_refused(day):
    with pytest.raises(UserError, match="expires"):
        expiry_of(day, date(2026, 6, 1), 30)
