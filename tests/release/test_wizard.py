"""The question wizard: what it proposes for which answers, and that each part comes with its reason."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import pytest

from engine.dp.accounting.closed_form import default_delta, zcdp_rho
from engine.dp.guarantee import Guarantee
from engine.errors import UserError
from engine.methods import get_method, method_ids
from engine.release.policy.policy import get_policy
from engine.release.wizard import (
    FORMAL,
    LEAST_SHOWN,
    MOST_SHOWN,
    POLICIES,
    Answers,
    policy_for,
    proof_taken,
    propose,
    recommended,
)


@pytest.mark.parametrize(
    ("repeats", "recipients", "label", "beside", "units", "unit", "cap", "method", "policy"),
    [
        # readers who may see the original: keep the wording
        (False, "team", False, True, 900, "record", 1, "surrogate", "exploratory"),
        (True, "team", True, True, 50_000, "source", 20, "surrogate", "exploratory"),
        (True, "organisation", False, False, 50_000, "source", 20, "filter", "internal"),
        # reviewed beside private text: no formal guarantee would survive, one output a record helps the review
        (False, "researchers", True, True, 9_000, "record", 1, "rpsg", "research"),
        (False, "researchers", True, True, 499, "record", 1, "filter", "research"),
        # a guarantee where votes stand out from the noise
        (False, "researchers", True, False, 79, "record", 1, "filter", "research"),
        (False, "researchers", True, False, 999, "record", 1, "aug-pe", "research"),
        (False, "researchers", False, False, 1_000, "record", 1, "aug-pe", "research"),
        (True, "researchers", False, False, 3_000, "source", 3, "aug-pe", "research"),
        (False, "public", False, False, 20_000, "record", 1, "aug-pe", "public"),  # nothing to group keywords by
        (True, "public", True, True, 20_000, "source", 5, "dpga", "public"),
        # votes would cost noise for each record of a person, training does not
        (True, "researchers", False, False, 20_000, "source", 5, "dp-finetune", "research"),
        # too few for any vote: read nothing private rather than spend for nothing
        (False, "public", True, False, 79, "record", 1, "public", "public"),
    ],
)
def test_proposals(repeats, recipients, label, beside, units, unit, cap, method, policy):
    found = propose(Answers(repeats, recipients, label, beside, units, known_kind=True))
    assert (found.unit, found.cap, found.method, found.policy) == (unit, cap, method, policy)


def test_every_answer_gets_a_method_its_policy_accepts_and_reasons():
    kinds = {"surrogate": "heuristic", "filter": "heuristic", "rpsg": "selection-only"}
    cases = itertools.product(
        (True, False), ("team", "organisation", "researchers", "public"), (True, False), (True, False),
        (0, 1, 700, 2_000, 5_000, 10**6),
    )  # fmt: skip
    for case in cases:
        found = propose(Answers(*case))
        assert kinds.get(found.method, "dp") in get_policy(found.policy).requirements.guarantee_kinds, case
        assert {"unit", "method", "policy"} <= {reason.about for reason in found.reasons}, case
        assert ("cap" in {reason.about for reason in found.reasons}) == case[0]
        assert all(reason.sentence.endswith(".") for reason in found.reasons)
        assert (found.method in FORMAL) == ("review" in {reason.about for reason in found.reasons})


@pytest.mark.parametrize(
    ("repeats", "label", "units", "others"),
    [
        (False, False, 999, ["dp-topics"]),
        (False, False, 1_000, ["dp-topics", "private-prediction"]),
        (False, True, 3_000, ["dp-topics", "dp-finetune", "private-prediction"]),
        (False, True, 10_000, ["dp-topics", "dp-finetune", "private-prediction"]),
        (True, True, 20_000, ["dp-finetune", "aug-pe", "private-prediction"]),
        (True, False, 20_000, ["aug-pe", "private-prediction"]),
    ],
)
def test_training_and_prediction_are_proposed_where_they_fit(repeats, label, units, others):
    found = propose(Answers(repeats, "researchers", label, False, units, known_kind=True))
    assert [name for name, _ in found.others] == others
    assert found.method not in others
    assert all(why.endswith(".") for _, why in found.others)
    assert propose(Answers(repeats, "organisation", label, False, units)).others == ()


@pytest.mark.parametrize("epsilon", [1.0, 4.0])
@pytest.mark.parametrize("units", [300, 1_000, 3_500, 12_000, 100_000])
@pytest.mark.parametrize(("repeats", "label"), itertools.product((True, False), (True, False)))
def test_votes_come_first_only_where_the_model_knows_what_they_choose_from(repeats, label, units, epsilon):
    """As measured by `dp-methods`: votes among texts about something else have nothing to choose."""
    found = [
        [
            one.method
            for one in recommended(
                Answers(repeats, "researchers", label, False, units, epsilon, known_kind=known), method_ids()
            )
        ]
        for known in (False, True)
    ]
    unknown, known = found
    assert unknown.index("dp-topics") < unknown.index("aug-pe")
    assert known[0] in ("aug-pe", "dpga", "dp-finetune")
    assert "rpsg-public" not in unknown + known, "one vote was no nearer than text that read nothing"
    why = {
        one.method: one.why for one in recommended(Answers(repeats, "researchers", label, False, units), method_ids())
    }
    assert "say on Plan what the corpus holds" in why["aug-pe"]


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("units", [79, 999, 20_000])
def test_a_pool_is_offered_second_and_only_where_votes_are_heard(units, known):
    answers = Answers(False, "researchers", False, False, units, known_kind=known)
    without, beside = recommended(answers, method_ids()), recommended(replace(answers, pool=True), method_ids())
    names = [one.method for one in beside]
    assert "dp-select" not in [one.method for one in without]
    assert names[0] == without[0].method
    assert ("dp-select" in names) == (units > 79)
    if units > 79:
        assert names[1] == "dp-select"
        assert "dp-select" in dict(propose(replace(answers, pool=True)).others)
    team = recommended(replace(answers, recipients="team", pool=True), method_ids())
    assert "dp-select" not in [one.method for one in team]


def test_a_smaller_budget_asks_for_more_people():
    def found(units, epsilon):
        return propose(Answers(False, "researchers", False, False, units, epsilon, known_kind=True))

    assert "private-prediction" in [name for name, _ in found(1_500, 4.0).others]
    assert [name for name, _ in found(1_500, 1.0).others] == ["dp-topics"]
    assert (found(200, 4.0).method, found(200, 1.0).method) == ("aug-pe", "filter")
    assert "dp-finetune" in [name for name, _ in found(8_000, 2.0).others]
    assert "dp-finetune" not in [name for name, _ in found(8_000, 0.5).others]
    (why,) = [reason.sentence for reason in found(30_000, 1.0).reasons if reason.about == "method"]
    assert "ε = 1 " in why
    for wrong in (0.0, 1e-3, 101.0):
        with pytest.raises(UserError, match="epsilon"):
            found(1_500, wrong)


def test_a_batch_is_as_large_as_its_budget_asks_for():
    # δ = 1 / (N ln N), ρ between those of ε = 3 and 5 at δ = 1e-5 (0.22 and 0.55), s = √(100 / 2ρ)
    why = dict(propose(Answers(False, "researchers", False, False, 10_000)).others)["private-prediction"]
    batch = math.ceil(math.sqrt(50 / zcdp_rho(4.0, default_delta(10_000))))
    assert f"Batches of {batch} records" in why
    assert f"{10_000 // batch:,} batches" in why
    assert math.sqrt(50 / 0.5510) < batch < math.sqrt(50 / 0.2242) + 1


def test_noise_is_said_to_grow_with_the_cap_only_where_it_does():
    offered = {"aug-pe": "in proportion", "dp-finetune": "does not grow", "private-prediction": "r²"}
    for name, words in offered.items():
        found = propose(Answers(True, "researchers", False, False, 20_000), available=(name,))
        assert found.method == name
        assert words in next(reason.sentence for reason in found.reasons if reason.about == "cap")


def test_private_text_beside_a_public_release_is_warned_of():
    (review,) = [r for r in propose(Answers(False, "public", False, True, 9_000)).reasons if r.about == "review"]
    assert "before selection" in review.sentence


def test_noise_in_the_reason_is_the_exact_one():
    # N = 8,396, ε = 4, ten rounds: σ = 3.37 (exact Gaussian calibration)
    (why,) = [
        r
        for r in propose(Answers(False, "public", False, False, 8_396, known_kind=True)).reasons
        if r.about == "method"
    ]
    assert "σ = 3.4 " in why.sentence


def test_only_methods_on_offer_are_proposed():
    answers = Answers(False, "researchers", True, False, 50_000)
    assert propose(answers, available=("aug-pe", "filter")).method == "aug-pe"
    assert propose(answers, available=("surrogate", "filter")).method == "filter"
    assert propose(answers, available=method_ids()).method in method_ids()
    with pytest.raises(UserError, match="none of the methods on offer"):
        propose(Answers(False, "public", True, False, 50_000), available=("surrogate",))


@pytest.mark.parametrize(("recipients", "units", "named"), [("press", 5, "recipients"), ("team", -1, "units")])
def test_answers_out_of_range_are_named(recipients, units, named):
    with pytest.raises(UserError, match=named):
        propose(Answers(False, recipients, False, False, units))


def test_three_to_five_are_recommended_and_the_first_is_the_proposal():
    cases = itertools.product(
        (True, False), ("team", "organisation", "researchers", "public"), (True, False), (True, False),
        (0, 1, 93, 700, 2_000, 10**6), (0.5, 4.0),
    )  # fmt: skip
    for case in cases:
        answers = Answers(*case)
        found = recommended(answers, method_ids())
        names = [one.method for one in found]
        assert LEAST_SHOWN <= len(names) == len(set(names)) <= MOST_SHOWN, case
        assert names[0] == propose(answers, method_ids()).method
        assert found[0].fits
        assert all(one.why.endswith(".") for one in found)
        assert not {"icl", "finetune"} & set(names), "what is bad for anything that leaves is never recommended"
        accepted = get_policy(propose(answers).policy).requirements.guarantee_kinds
        kinds = {one.method: get_method(one.method).spec.kind for one in found}
        assert {kind for kind in kinds.values() if kind != "dp"} <= set(accepted), case


def test_what_takes_more_people_is_said_to_and_stands_last():
    few = recommended(Answers(False, "public", False, False, 60), method_ids())
    assert [(one.method, one.fits) for one in few] == [("public", True), ("dp-topics", False), ("aug-pe", False)]
    assert "60 may be learned from" in few[1].why
    assert all(one.fits for one in recommended(Answers(False, "public", False, False, 5_000), method_ids()))


def test_only_what_is_on_offer_is_recommended():
    answers = Answers(False, "researchers", False, False, 93)
    assert [one.method for one in recommended(answers, ("filter", "goldfish"))] == ["filter"]


@pytest.mark.parametrize(
    ("recipients", "unproven", "unseen"),
    [
        ("team", "exploratory", "exploratory"),
        ("organisation", "internal", "internal"),
        ("researchers", "research", "proof"),
        ("public", "public", "proof"),
    ],
)
def test_a_proof_that_nobody_examined_goes_outside_on_its_strength(recipients, unproven, unseen):
    assert policy_for(recipients, proven=False) == POLICIES[recipients] == unproven
    assert policy_for(recipients, proven=True) == unseen


@pytest.mark.parametrize(
    ("kind", "epsilon", "taken"),
    [("dp", 4.0, True), ("dp", 10.1, False), ("selection-only", 1.0, False), ("none", None, False)],
)
def test_a_guarantee_is_taken_as_proof_alone_takes_it(kind, epsilon, taken):
    assert proof_taken(Guarantee(kind, "Said.", epsilon=epsilon, delta=1e-5)) is taken


def test_too_few_for_a_proof_are_told_what_is_known_and_no_more():
    """The sentence said that noise would hide everything, where the verdict on votes said how far these stand out."""
    public = Answers(True, "public", True, False, 93)
    (why,) = [one.why for one in recommended(public, FORMAL) if one.method == "public"]
    assert "takes about 95 people, and 93 may be learned from: nobody has measured one with so few" in why
    assert "noise would hide" not in why
    whys = [one.why for one in recommended(Answers(False, "public", False, False, 1_000), FORMAL)]
    assert not any("nobody has measured" in one for one in whys), "so many are enough"
