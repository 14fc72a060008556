"""What would help is true of the run it stands at: by its method, its proof, and how many were set aside."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.release.policy.facts import GateFacts
from engine.release.policy.gate import evaluate, in_order, out_of_reach
from engine.release.policy.policy import get_policy, policies
from engine.release.policy.remedies import ANY_METHOD, Making
from tests.release.test_gate import GOOD, finding, good_findings

FEW = Making("new", used=104, aside=19, people=True, share=0.302)
PROVEN = replace(GOOD, epsilon=4.0, delta=0.001, units=104, making=FEW)
PLAIN = replace(GOOD, guarantee_kind="heuristic", originals=0, making=FEW)


def direct(train: tuple, holdout: tuple, equal: tuple | None):
    """Return findings in which names and numbers of people are the one thing that stands out."""
    rest = [one for one in good_findings() if one.name != "pipp_direct"]
    rows = [*rest, finding("pipp_direct", "train", *train), finding("pipp_direct", "holdout", *holdout)]
    return rows if equal is None else [*rows, finding("pipp_direct_excess", "holdout", *equal)]


UNEQUAL = direct((0.30, 0.22, 0.40), (0.02, 0.01, 0.07), (0.0, -0.03, 0.05))
WIDE = direct((0.10, 0.05, 0.45), (0.05, 0.0, 0.10), (0.0, -0.1, 0.3))
LEAKS = direct((0.80, 0.75, 0.85), (0.05, 0.0, 0.10), (0.5, 0.4, 0.6))


def remedy(findings, facts: GateFacts, policy: str = "research", rule: str = "direct-identifiers") -> str:
    found = next(one for one in evaluate(get_policy(policy), findings, facts).rules if one.rule == rule)
    assert found.passed is False
    return found.remedy


def test_an_examined_run_with_a_proof_is_told_that_proof_alone_takes_another_run():
    said = remedy(UNEQUAL, PROVEN)
    assert said.startswith(
        "This rule compares with people who were set aside, and 19 beside 104 that were used are too few. "
    )
    assert "each with ε = 4 drawn again (this run took 30% of the limit): (1) load the corpus again with more" in said
    assert "make the run again, do not examine it, and release it whole under “Proof alone”" in said
    assert said.endswith("which is closed to this run since it was examined.")
    refused = evaluate(get_policy("proof"), UNEQUAL, replace(PROVEN, approved=100, rejected=0))
    assert [line.rule for line in refused.open_rules()] == ["unmeasured"], "so it is"
    again = evaluate(get_policy("proof"), [], replace(PROVEN, approved=100, rejected=0, examined=False, delta=1e-4))
    assert again.passed, "and so it would be"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"epsilon": 12.0}, "make the run again with ε of at most 10, do not examine it"),
        ({"delta": 0.02}, "make the run again with a δ below one in 104, do not examine it"),
        ({"epsilon": 0.0, "delta": 0.0}, "make the run again, with another seed, do not examine it"),
    ],
)
def test_what_proof_alone_would_not_take_either_is_said(change, said):
    found = remedy(UNEQUAL, replace(PROVEN, **change))
    assert said in found
    assert "ε = 12" not in found
    assert ("drawn again" in found) == bool(change.get("epsilon", 4.0))


@pytest.mark.parametrize("findings", [UNEQUAL, LEAKS])
@pytest.mark.parametrize(("left", "said"), [(0.3349, "ε of at most 0.33"), (0.009, ""), (0.0, "")])
def test_nobody_is_told_to_draw_more_than_is_left(findings, left, said):
    facts = replace(PROVEN, making=replace(FEW, left=left))
    proof = evaluate(get_policy("proof"), findings, facts)
    first = next(one.remedy for one in proof.rules if one.rule == "unmeasured")
    for found in (remedy(findings, facts), first):
        assert "drawn again" not in found
        assert ("run again" in found or "Plan the method" in found) == bool(said)
        assert said in found
        assert ("does not hold another run" in found) == (not said)
    assert "choose a policy with measurements" in first


def test_proof_alone_takes_no_more_than_its_own_limit_however_much_is_left():
    facts = replace(PROVEN, epsilon=40.0, making=replace(FEW, left=20.0))
    first = next(one.remedy for one in evaluate(get_policy("proof"), [], facts).rules if one.rule == "unmeasured")
    assert "Make the run again with ε of at most 10," in first


@pytest.mark.parametrize("findings", [UNEQUAL, WIDE, LEAKS])
@pytest.mark.parametrize("kind", ["none", "heuristic", "selection-only"])
@pytest.mark.parametrize("writes", ["keeps", "rewrites", "new"])
def test_without_a_proof_nothing_is_said_of_proof_alone_and_no_method_is_told_to_use_itself(findings, kind, writes):
    said = remedy(findings, replace(PLAIN, guarantee_kind=kind, making=replace(FEW, writes=writes)))
    assert "Proof alone" not in said
    assert "drawn again" not in said
    assert ("new text" in said) == (findings is LEAKS and writes != "new")
    assert ("set aside" in said) == (findings is not LEAKS)
    assert said not in ANY_METHOD


@pytest.mark.parametrize(
    ("writes", "rule", "said"),
    [
        ("keeps", "direct-identifiers", "Review more of the detected identifiers and run again"),
        ("keeps", "copies", "This method keeps the original text but for what it replaces."),
        ("rewrites", "direct-identifiers", "This method rewrites each record from its original."),
        ("new", "direct-identifiers", "Plan one with a proven bound (ε)"),
        ("new", "copies", "Plan one with a proven bound (ε)"),
    ],
)
def test_a_method_that_leaks_is_told_what_changes_that(writes, rule, said):
    rest = [one for one in LEAKS if one.name != "verbatim_8gram"]
    sides = [finding("verbatim_8gram", "train", 0.8, 0.7, 0.9), finding("verbatim_8gram", "holdout", 0.0, 0.0, 0.01)]
    assert said in remedy([*rest, *sides], replace(PLAIN, making=replace(FEW, writes=writes)), rule=rule)


def test_a_proven_run_whose_text_stands_out_is_told_of_a_smaller_epsilon_and_one_that_read_nothing_is_not():
    said = remedy(LEAKS, PROVEN)
    assert said.startswith("Plan the method with a smaller ε")
    assert "too few" not in said
    read_nothing = remedy(LEAKS, replace(PROVEN, epsilon=0.0, delta=0.0))
    assert read_nothing.startswith("This run read no private text")
    assert "smaller ε" not in read_nothing


@pytest.mark.parametrize(
    ("making", "said"),
    [
        (FEW, "This rule compares with people who were set aside, and 19 are too few. Load the corpus again with more "
         "set aside and make the run again, or make one of more texts, then examine."),
        (replace(FEW, aside=1), "This rule compares with people who were set aside, and 1 is too few."),
        (replace(FEW, people=False), "This rule compares with records that were set aside, and 19 are too few."),
        (Making(), "This rule compares with people who were set aside, and these are too few."),
    ],
)  # fmt: skip
def test_an_interval_that_is_too_wide_is_said_to_be_that(making, said):
    assert remedy(WIDE, replace(PLAIN, making=making)).startswith(said)


@pytest.mark.parametrize(("used", "aside", "fits"), [(51, 18, False), (52, 18, True)])  # 10% open takes 35 set aside
def test_nobody_is_told_to_set_more_aside_than_half_of_a_corpus(used, aside, fits):
    said = remedy(WIDE, replace(PLAIN, making=replace(FEW, used=used, aside=aside)))
    assert ("set aside and make the run again" in said) is fits
    assert ("too small to set enough of them aside" in said) is not fits


def test_more_texts_narrow_what_is_counted_over_texts_and_public_needs_many():
    rest = [one for one in good_findings() if one.name not in ("strict_alone_excess", "pipp_excess")]
    rows = [
        *rest, finding("strict_alone_excess", "holdout", 0.02, 0.0, 0.2),
        finding("pipp_excess", "holdout", 0.0, -0.1, 0.3),
    ]  # fmt: skip
    assert "of more texts" in remedy(rows, PLAIN, rule="rare-identifiers")
    assert "1,000 texts or more" in remedy(rows, PROVEN, "public", "identifiers-in-records")


def test_the_remedy_of_an_own_policy_stands_as_it_was_written():
    policy = get_policy("research")
    rules = tuple(rule.model_copy(update={"remedy": "Ask the office."}) for rule in policy.rules)
    own = policy.model_copy(update={"rules": rules})
    broken = [line for line in evaluate(own, LEAKS, PROVEN).rules if line.passed is False and line.finding]
    assert [line.remedy for line in broken] == ["Ask the office."]


def test_every_sentence_that_is_replaced_is_one_of_a_policy_that_comes_with_the_program():
    assert set(ANY_METHOD) <= {rule.remedy for policy in policies() for rule in policy.rules}


def test_without_anything_set_aside_examining_again_is_not_what_helps():
    nothing = [one for one in good_findings() if one.name != "pipp_excess"]
    nothing.append(finding("pipp_excess", "holdout", float("nan"), None, None, 0))
    facts = replace(PLAIN, making=replace(FEW, aside=0))
    found = [line for line in evaluate(get_policy("research"), nothing, facts).rules if line.passed is None]
    assert [line.rule for line in found] == ["identifiers-in-records"]
    assert "load the corpus again and set some aside" in found[0].remedy


def test_what_no_decision_can_turn_comes_first_and_approvals_and_waivers_are_not_that():
    policy, facts = get_policy("research"), replace(PLAIN, approved=0, rejected=0, pending=100)
    lines = in_order(policy, evaluate(policy, UNEQUAL, facts).open_rules())
    assert [(line.rule, out_of_reach(policy, line)) for line in lines] == [
        ("direct-identifiers", True), ("approved", False), ("reviewed", False),
    ]  # fmt: skip
    rare = [one for one in good_findings() if one.name != "strict_alone_excess"]
    rare.append(finding("strict_alone_excess", "holdout", 0.5, 0.4, 0.6))
    waived = next(one for one in evaluate(policy, rare, facts).rules if one.rule == "rare-identifiers")
    assert waived.passed is False
    assert not out_of_reach(policy, waived), "a person may waive it"
    public = get_policy("public")
    assert [line.rule for line in evaluate(public, good_findings(), PLAIN).rules if out_of_reach(public, line)] == [
        "guarantee"
    ]
    unexamined = evaluate(policy, [], replace(PLAIN, examined=False)).rules
    assert not any(out_of_reach(policy, line) for line in unexamined), "an examination may meet them"
