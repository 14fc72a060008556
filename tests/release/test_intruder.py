"""The share that an intruder identifies: closed forms, coverage, and what a policy asks of a trial."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import pytest
from scipy.stats import beta, hypergeom

from engine.errors import UserError
from engine.release.policy.gate import basis, evaluate
from engine.release.policy.intruder import Intruder, identified, intruder_lines, needed
from engine.release.policy.policy import IntruderRule, get_policy
from engine.release.policy.policy_file import read_own
from engine.release.policy.waivers import Waiver
from tests.release.test_gate import GOOD, good_findings

RULE = IntruderRule(highest_share=0.05, minimum_texts=100, minimum_minutes=60, sentence="Why.")
TRIAL = Intruder(texts=120, drawn_from=600, minutes=90, high=0.03, trial="i-1")
OWN = """
id: ours
title: Ours
sentence: For us.
rules:
  - id: copies
    title: Copies
    finding: verbatim_8gram
    reference: train
    comparator: measured
    sentence: Must be known.
    remedy: Examine.
requirements:
  minimum_reviewed_share: 0.0
  minimum_approved: 1
  guarantee_kinds: [none, heuristic, selection-only, dp]
  intruder:
    highest_share: 0.05
    minimum_texts: 30
    sentence: Somebody must have tried.
  waivers:
    rules: [intruder-share]
    longest_days: 30
"""


@pytest.mark.parametrize(("texts", "drawn_from"), [(30, 30), (30, 100), (50, 400), (119, 10_000), (200, 201)])
@pytest.mark.parametrize("hits", [0, 1, 7])
def test_the_upper_end_is_the_last_number_that_the_sample_does_not_rule_out(hits, texts, drawn_from):
    _, _, high, further, level = identified(hits, texts, drawn_from)
    tail = (1 - level) / 2
    counts = range(hits, drawn_from - (texts - hits) + 1)
    slow = max(count for count in counts if hypergeom.cdf(hits, drawn_from, count, texts) > tail)
    assert high == pytest.approx(slow / drawn_from)
    assert further == pytest.approx(beta.ppf(1 - tail, hits + 1, texts - hits) if hits < texts else 1.0)
    assert high <= further + 1 / drawn_from


def test_none_of_m_has_the_closed_form():
    """Nobody named: Clopper and Pearson's upper end is 1 - tail^(1/m); of finitely many texts it is less."""
    for texts in (30, 60, 300):
        _, low, high, further, _ = identified(0, texts, 100_000)
        assert further == pytest.approx(1 - 0.025 ** (1 / texts))
        assert low == 0.0
        assert high <= further + 1e-5
        assert high == pytest.approx(further, rel=0.02)
    assert identified(0, 50, 50)[2] == 0.0, "all were read: nothing is left to guess"
    assert identified(3, 50, 50)[:3] == pytest.approx((0.06, 0.06, 0.06))


def test_a_further_trial_halves_its_error():
    ends = [identified(0, 60, 500, look=look)[2] for look in (1, 2, 3)]
    assert ends == sorted(ends)
    assert identified(0, 60, 500, look=3)[4] == pytest.approx(1 - 0.05 / 4)


def test_what_is_taken_out_counts_no_more_and_nothing_else_is_gained():
    full = identified(4, 100, 1000)
    fewer = identified(4, 100, 1000, approved=996, removed_right=4)
    assert fewer[2] == pytest.approx((1000 * full[2] - 4) / 996)
    half = identified(4, 100, 1000, approved=500, removed_right=0)
    assert half[2] == pytest.approx(min(1.0, 1000 * full[2] / 500)), "others could all have been kept"
    assert identified(0, 100, 1000, approved=1)[2] == 1.0


@pytest.mark.parametrize("bad", [(3, 2, 9), (0, 0, 9), (1, 10, 9), (-1, 3, 9)])
def test_counts_that_do_not_fit_are_refused(bad):
    with pytest.raises(UserError):
        identified(*bad)
    with pytest.raises(UserError):
        identified(0, 5, 9, approved=0)
    with pytest.raises(UserError):
        identified(1, 5, 9, approved=9, removed_right=1)


@pytest.mark.parametrize("identifiable", [0, 3, 25, 120, 400])
def test_the_interval_covers_the_truth_in_simulated_trials(identifiable):
    """200 trials each: the upper end lies below the truth in at most 2.5 % of them, up to four by chance more."""
    chance = random.Random(identifiable)
    texts, drawn_from, below, outside = 60, 500, 0, 0
    truth = identifiable / drawn_from
    for _ in range(200):
        hits = sum(number < identifiable for number in chance.sample(range(drawn_from), texts))
        _, low, high, _, _ = identified(hits, texts, drawn_from)
        below += high < truth
        outside += not low <= truth <= high
    assert below <= 9
    assert outside <= 18


def test_texts_that_are_identified_and_taken_out_keep_the_cover():
    chance = random.Random(8)
    texts, drawn_from, identifiable, below = 80, 400, 40, 0
    for _ in range(200):
        found = [number for number in chance.sample(range(drawn_from), texts) if number < identifiable]
        left = drawn_from - len(found)
        high = identified(len(found), texts, drawn_from, approved=left, removed_right=len(found))[2]
        below += high < (identifiable - len(found)) / left
    assert below <= 9


def test_how_many_to_draw():
    for target in (0.2, 0.1, 0.05, 0.01):
        count = needed(1000, target)
        assert identified(0, count, 1000)[2] <= target < identified(0, count - 1, 1000)[2]
    assert needed(30, 0.001) == 30
    assert needed(40, 0.001) == 39, "the one that is left is missed with a chance of 1 in 40, which is 2.5 %"
    for wrong in (0.0, 1.0, math.nan):
        with pytest.raises(UserError):
            needed(100, wrong)


def outcome(known, rule=RULE):
    return {line.rule: line.passed for line in intruder_lines(rule, known)}


@pytest.mark.parametrize(
    ("known", "trial", "share"),
    [
        (TRIAL, True, True),
        (None, None, None),
        (replace(TRIAL, stale="Records were approved since."), None, None),
        (replace(TRIAL, why="Its time box is not over.", high=None), None, None),
        (replace(TRIAL, high=None), None, None),
        (replace(TRIAL, texts=99), False, None),
        (replace(TRIAL, texts=60, drawn_from=60), True, True),  # all there are
        (replace(TRIAL, minutes=59), False, None),
        (replace(TRIAL, high=0.05), True, True),
        (replace(TRIAL, high=0.0501), True, False),
        (replace(TRIAL, high=math.nan), True, None),
    ],
)
def test_what_passes(known, trial, share):
    assert outcome(known) == {"intruder-trial": trial, "intruder-share": share}


def test_the_gate_asks_where_a_policy_does_and_a_waiver_holds_for_its_trial_alone():
    policy = read_own(OWN)
    facts = replace(GOOD, intruder=replace(TRIAL, high=0.2), examination="2998-01-01")
    verdict = evaluate(policy, good_findings(), facts)
    open_lines = [line for line in verdict.open_rules() if line.rule.startswith("intruder")]
    assert [line.rule for line in open_lines] == ["intruder-share"]
    given = Waiver("w-1", "intruder-share", "Ada", "why", "2998-01-01", "2999-01-01",
                   basis(policy, open_lines[0], "2998-01-01", "i-1"))  # fmt: skip

    def waived(known):
        lines = evaluate(policy, good_findings(), replace(facts, intruder=known), [given], "2998-02-02").rules
        return next(line for line in lines if line.rule == "intruder-share").waived is not None

    assert waived(facts.intruder)
    assert not waived(replace(facts.intruder, trial="i-2")), "another trial, were it with the same number"
    assert not waived(replace(facts.intruder, high=0.21))
    plain = get_policy("research")
    assert not [line for line in evaluate(plain, [], facts).rules if line.rule.startswith("intruder")]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("highest_share: 0.05", "highest_share: 5"),
        ("minimum_texts: 30", "minimum_texts: 29"),
        ("rules: [intruder-share]", "rules: [intruder-trial]"),
        ("    sentence: Somebody must have tried.\n", ""),
        ("  intruder:\n    highest_share: 0.05\n    minimum_texts: 30\n    sentence: Somebody must have tried.\n", ""),
    ],
)
def test_a_policy_that_asks_it_wrongly_is_refused(old, new):
    assert old in OWN
    with pytest.raises(UserError):
        read_own(OWN.replace(old, new))


def test_a_policy_that_does_not_ask_it_keeps_its_digest():
    """Waivers and bundles of earlier editions name policies by it."""
    policy = get_policy("research")
    assert policy.requirements.intruder is None
    body = policy.model_dump(mode="json")
    body["requirements"].pop("intruder")
    import hashlib
    import json

    before = hashlib.sha256(json.dumps(body, ensure_ascii=False, sort_keys=True).encode()).hexdigest()
    assert policy.digest == before
    asking = policy.model_copy(update={"requirements": policy.requirements.model_copy(update={"intruder": RULE})})
    assert asking.digest != before
