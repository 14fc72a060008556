"""The gate and what detection missed: fails closed on missing, out of date and too small; the upper end decides."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from engine.errors import UserError
from engine.pii.decide.missed import Rate
from engine.release.policy.gate import evaluate
from engine.release.policy.missed import Missed, missed_lines
from engine.release.policy.policy import MissedRule, get_policy, policies
from engine.release.policy.policy_file import read_own, read_policy
from engine.store.review.spot.words import rate_words
from tests.release.bundles import READ
from tests.release.test_gate import GOOD, good_findings

RULE = MissedRule(
    direct_per_1000=20, quasi_per_1000=60, minimum_sample=200, second_reader=True, minimum_twice=30, sentence="Why."
)
FACTS = replace(GOOD, guarantee_kind="none", originals=0)


def outcome(missed: Missed | None, rule: MissedRule = RULE) -> dict[str, bool | None]:
    return {line.rule: line.passed for line in missed_lines(rule, missed)}


@pytest.mark.parametrize(
    ("missed", "sample", "direct", "quasi"),
    [
        (READ, True, True, True),
        (None, None, None, None),
        (replace(READ, stale="Detection was run again."), None, None, None),
        (replace(READ, why="9 records are still to be read.", direct=None, quasi=None), None, None, None),
        (replace(READ, direct=None), None, None, None),
        (replace(READ, drawn=199, read=199), False, None, None),
        (replace(READ, drawn=60, read=60, drawn_from=60), True, True, True),  # nothing was left to draw
        (replace(READ, read_twice=29), False, None, None),
        (replace(READ, disagreements=1), False, None, None),
        (replace(READ, direct=20.0), True, True, True),
        (replace(READ, direct=20.1), True, False, True),
        (replace(READ, quasi=60.1), True, True, False),
        (replace(READ, direct=math.nan), True, None, True),
        (replace(READ, direct=math.inf), True, None, True),
    ],
)
def test_what_passes(missed, sample, direct, quasi):
    assert outcome(missed) == {"missed-sample": sample, "missed-direct": direct, "missed-quasi": quasi}


def test_without_a_second_reader_or_a_limit_less_is_asked():
    rule = MissedRule(direct_per_1000=20, minimum_sample=200, sentence="Why.")
    assert outcome(replace(READ, read_twice=0), rule) == {"missed-sample": True, "missed-direct": True}
    assert outcome(replace(READ, read_twice=0, disagreements=1), rule)["missed-sample"] is False


@pytest.mark.parametrize("policy", policies(), ids=lambda policy: policy.id)
def test_presets_ask_it_of_runs_without_a_proof_alone(policy):
    asked = policy.requirements.missed
    assert (asked is not None) == (policy.id in ("internal", "research"))
    proven = evaluate(policy, good_findings(), replace(GOOD, missed=None))
    assert not [line for line in proven.rules if line.rule.startswith("missed")]
    if asked is not None:
        assert evaluate(policy, good_findings(), FACTS).passed
        assert not evaluate(policy, good_findings(), replace(FACTS, missed=None)).passed
        # the smallest sample that it takes suffices where nothing was found
        from engine.pii.decide.missed import high_if_clean

        assert high_if_clean((10**6, 0), asked.minimum_sample) <= asked.direct_per_1000
        assert high_if_clean((2 * 10**5, 8 * 10**5), asked.minimum_sample) <= asked.direct_per_1000


OWN = """id: ours
title: Ours
sentence: For us.
rules:
  - id: copies
    title: Copies
    finding: verbatim_8gram
    reference: train
    comparator: measured
    sentence: Copies must be known.
    remedy: Examine the run.
requirements:
  minimum_reviewed_share: 0.0
  minimum_approved: 1
  guarantee_kinds: [none, heuristic, selection-only, dp]
  missed:
    direct_per_1000: 15
    minimum_sample: 250
    second_reader: true
    sentence: Because we say so.
  waivers:
    rules: [missed-direct, copies]
    longest_days: 30
"""


def test_an_own_policy_says_it_in_yaml():
    need = read_own(OWN).requirements
    assert need.missed is not None
    assert need.waivers is not None
    assert (need.missed.direct_per_1000, need.missed.quasi_per_1000, need.missed.minimum_twice) == (15.0, None, 20)
    assert need.waivers.rules == ("missed-direct", "copies")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("minimum_sample: 250", "minimum_sample: 5", "line 18: .*minimum_sample"),
        ("direct_per_1000: 15", "direct_per_1000: 1001", "direct_per_1000"),
        ("direct_per_1000: 15", "direct_per_1000: .nan", "direct_per_1000"),
        ("direct_per_1000: 15", "direct_per_thousand: 15", "direct_per_"),
        ("    sentence: Because we say so.\n", "", "missed.sentence"),
        ("[missed-direct, copies]", "[originals]", "can never be waived"),
        ("[missed-direct, copies]", "[current]", "can never be waived"),
        ("[missed-direct, copies]", "[missed-sample]", "can never be waived"),
        ("[missed-direct, copies]", "[missed-quasi]", "no such rule"),
        ("[missed-direct, copies]", "[everything]", "no such rule"),
        ("longest_days: 30", "longest_days: 9999", "longest_days"),
        ("longest_days: 30", "longest_days: 0", "longest_days"),
        ("guarantee_kinds: [none, heuristic, selection-only, dp]", "guarantee_kinds: [dp]\n  whole_output: true",
         "whole_output"),
    ],
)  # fmt: skip
def test_a_wrong_field_is_refused_where_it_stands(old, new, said):
    assert old in OWN
    with pytest.raises(UserError, match=said):
        read_policy(OWN.replace(old, new))


def test_a_stricter_preset_takes_no_more_than_a_milder_one():
    asked = [get_policy(name).requirements.missed for name in ("internal", "research")]
    assert [a.direct_per_1000 for a in asked if a] == sorted((a.direct_per_1000 for a in asked if a), reverse=True)
    assert [a.minimum_sample for a in asked if a] == sorted(a.minimum_sample for a in asked if a)


def test_records_that_were_not_drawn_from_are_not_taken_as_clean():
    """A sample of the records that nobody had read says nothing of what was ticked off before."""
    partly = replace(READ, records=10_000)
    assert outcome(partly) == {"missed-sample": None, "missed-direct": None, "missed-quasi": None}
    again = missed_lines(RULE, replace(READ, again=120))[0]
    assert "120 of them had been read before and were read again" in again.sentence


def test_what_a_bound_takes_as_given_stands_beside_it():
    """An interval is for chance in drawing: with readers who see half of what is there it is too low."""
    bounds = [line.sentence for line in missed_lines(RULE, READ) if line.rule != "missed-sample"]
    assert len(bounds) == 2
    for said in (*bounds, rate_words("a direct identifier", Rate(0.0, 0.0, 9.0, 0, 400, 0.95))):
        assert "95% interval" in said
        assert "whoever read the sample overlooked nothing in it" in said


def test_a_small_sample_of_what_was_left_unread_is_not_enough():
    """Of 520 records 519 were marked as read by a press and the last was drawn: the policy asks for its 75 still."""
    rule = MissedRule(sentence="Known.", direct_per_1000=50.0, minimum_sample=75)
    few = Missed(drawn=1, read=1, drawn_from=1, records=520, direct=0.0, quasi=0.0)
    assert missed_lines(rule, few)[0].passed is False
    small = Missed(drawn=40, read=40, drawn_from=40, records=40, direct=0.0, quasi=0.0)
    assert missed_lines(rule, small)[0].passed is True
