"""The gate as a table: what passes, what does not, and everything missing or strange fails closed."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import pytest

from engine.errors import NotFoundError, UserError
from engine.examine.findings.findings import Finding
from engine.examine.findings.verdict import privacy_verdict
from engine.release.policy.facts import GateFacts
from engine.release.policy.gate import evaluate
from engine.release.policy.policy import NO_LEAK, Policy, get_policy, load_policy, policies
from tests.release.bundles import READ

NAN = math.nan


def finding(name: str, reference: str, value: float, low: float | None, high: float | None, n: int = 300) -> Finding:
    return Finding(name, value, low, high, n, reference, name, "lower is safer", "privacy")  # type: ignore[arg-type]


def good_findings() -> list[Finding]:
    """Nothing leaks, and 1,000 records make the intervals narrow."""
    sides = [
        ("pipp", "train"),
        *(("pipp_direct", side) for side in ("train", "holdout")),
        *(("verbatim_8gram", side) for side in ("train", "holdout")),
        ("pipp_excess", "holdout"),
        ("strict_alone_excess", "holdout"),
    ]
    rows = [finding(name, reference, 0.0, 0.0, 0.002) for name, reference in sides]
    rows.append(finding("label_direct", "train", 0.0, 0.0, 0.3, 5))
    return [*rows, finding("nearest_similarity", "train", 0.4, 0.38, 0.42)]


GOOD = GateFacts(
    approved=90, rejected=10, pending=0, stale=False, guarantee_kind="dp", examined=True, actor="Ada",
    signed_off_by="Grace", missed=READ, held=True, run_held=True,
)  # fmt: skip


def line(policy_id: str, rule: str, findings: list[Finding], facts: GateFacts = GOOD):
    verdict = evaluate(get_policy(policy_id), findings, facts)
    return next(r for r in verdict.rules if r.rule == rule), verdict


# A whole output with a proof, at which nobody has looked with private data beside it.
WHOLE = replace(GOOD, approved=100, rejected=0, examined=False, epsilon=4.0)
MEASURED = [policy for policy in policies() if policy.rules]


def good_facts(policy: Policy) -> GateFacts:
    return WHOLE if policy.requirements.whole_output else GOOD


@pytest.mark.parametrize("policy", policies(), ids=lambda p: p.id)
def test_good_run_passes_every_preset(policy: Policy) -> None:
    verdict = evaluate(policy, good_findings(), good_facts(policy))
    assert verdict.passed, verdict.open_rules()


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"guarantee_kind": "none", "originals": 0}, "guarantee"),
        ({"guarantee_kind": "heuristic", "originals": 0}, "guarantee"),
        ({"guarantee_kind": "selection-only", "originals": 0}, "guarantee"),
        ({"examined": True}, "unmeasured"),
        ({"text_examined": True}, "unmeasured"),
        ({"in_part": (8, 34)}, "unmeasured"),
        ({"rejected": 1}, "whole"),
        ({"pending": 1}, "whole"),
        ({"approved": 0}, "whole"),
        ({"epsilon": 10.01}, "epsilon"),
        ({"epsilon": None}, "epsilon"),
        ({"epsilon": NAN}, "epsilon"),
        ({"delta": 1e-3, "units": 1000}, "epsilon"),
        ({"signed_off_by": ""}, "second-person"),
        ({"run_state": "running"}, "run-complete"),
        ({"held": False}, "decisions-held"),
        ({"run_held": False}, "run-held"),
    ],
)
def test_proof_alone_wants_the_whole_output_of_a_proof_unmeasured(change: dict, rule: str) -> None:
    for epsilon in (0.0, 10.0):
        assert evaluate(get_policy("proof"), [], replace(WHOLE, epsilon=epsilon)).passed
    assert evaluate(get_policy("proof"), [], replace(WHOLE, delta=1e-3, units=999)).passed
    found, verdict = line("proof", rule, [], replace(WHOLE, **change))
    assert found.passed is False
    assert not verdict.passed


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"examined": True}, "This run was examined; “Proof alone” takes one that nobody looked at."),
        (
            {"in_part": (8, 34)},
            "This run was examined in part (8 of 34); “Proof alone” takes one that nobody looked at.",
        ),
        ({"in_part": (0, 0)}, "This run was examined in part; “Proof alone” takes one that nobody looked at."),
        (
            {"examined": True, "in_part": (8, 34)},
            "This run was examined; “Proof alone” takes one that nobody looked at.",
        ),
    ],
)
def test_proof_alone_says_in_few_words_that_the_run_was_looked_at(change: dict, said: str) -> None:
    assert line("proof", "unmeasured", [], replace(WHOLE, **change))[0].sentence == said


@pytest.mark.parametrize("policy", policies(), ids=lambda p: p.id)
@pytest.mark.parametrize("kind", ["none", "heuristic", "selection-only"])
@pytest.mark.parametrize(("originals", "passed"), [(0, True), (1, False), (30, False), (None, None)])
def test_no_original_leaves_under_any_policy(policy: Policy, kind: str, originals: int | None, passed: bool) -> None:
    facts = replace(good_facts(policy), guarantee_kind=kind, originals=originals)  # type: ignore[arg-type]
    found, verdict = line(policy.id, "originals", good_findings(), facts)
    assert found.passed is passed
    assert passed or not verdict.passed


@pytest.mark.parametrize("policy", policies(), ids=lambda p: p.id)
@pytest.mark.parametrize("held", [False, None])
def test_nothing_leaves_where_the_review_was_changed_outside_or_nobody_looked(
    policy: Policy, held: bool | None
) -> None:
    found, verdict = line(policy.id, "decisions-held", good_findings(), replace(good_facts(policy), held=held))
    assert found.passed is held
    assert [open_.rule for open_ in verdict.open_rules()] == ["decisions-held"]


@pytest.mark.parametrize("policy", policies(), ids=lambda p: p.id)
def test_a_proof_is_not_compared_with_the_originals(policy: Policy) -> None:
    """Leaving records out because private text holds them is a choice by private data."""
    facts = replace(good_facts(policy), originals=7)
    verdict = evaluate(policy, good_findings(), facts)
    assert verdict.passed
    assert "originals" not in {rule.rule for rule in verdict.rules}


@pytest.mark.parametrize("policy", MEASURED, ids=lambda p: p.id)
def test_no_findings_pass_nothing(policy: Policy) -> None:
    verdict = evaluate(policy, [], GOOD)
    assert not verdict.passed
    assert all(r.passed is None for r in verdict.rules if r.finding)


@pytest.mark.parametrize("policy", policies(), ids=lambda p: p.id)
@pytest.mark.parametrize(
    "facts",
    [
        {"examined": False},  # whatever the findings say
        {"stale": True},  # records or spans changed after the examination
        {"approved": 0, "rejected": 100},  # nothing to release
        {"approved": 0, "rejected": 0, "pending": 0},  # an empty run
        {"run_state": "running"},  # more records may come
        {"run_state": "failed"},
    ],
)
def test_facts_that_stop_every_preset(policy: Policy, facts: dict) -> None:
    if policy.requirements.whole_output and "examined" in facts:
        facts = {"examined": True}
    assert not evaluate(policy, good_findings(), replace(good_facts(policy), **facts)).passed


@pytest.mark.parametrize("policy", policies(), ids=lambda p: p.id)
def test_each_finding_is_needed(policy: Policy) -> None:
    """Leaving out, or making NaN, any finding a rule names stops the policy."""
    needed = {(r.finding, ref) for r in policy.rules for ref in (r.reference, r.above) if ref}
    for name, reference in needed:
        rest = [f for f in good_findings() if (f.name, f.reference) != (name, reference)]
        assert not evaluate(policy, rest, GOOD).passed
        assert not evaluate(policy, [*rest, finding(name, reference, NAN, NAN, NAN)], GOOD).passed


# research: verbatim_8gram, train above holdout, upper end at most 0.05. Newcombe: d + hypot(high - p1, p2 - low).
@pytest.mark.parametrize(
    ("train", "holdout", "passed"),
    [
        ((0.00, 0.00, 0.01), (0.00, 0.00, 0.02), True),  # 0 + hypot(.01, 0) = 0.01
        ((0.30, 0.28, 0.32), (0.30, 0.28, 0.32), True),  # boilerplate in both: 0 + hypot(.02, .02) = 0.028
        ((0.04, 0.03, 0.05), (0.00, 0.00, 0.01), True),  # 0.04 + 0.01 = 0.05, the limit itself
        ((0.04, 0.02, 0.06), (0.00, 0.00, 0.01), False),  # value under the limit, interval's end over it
        ((0.055, 0.045, 0.063), (0.02, 0.00, 0.03), False),  # 0.035 + hypot(.008, .02) = 0.0565: the holdout's half
        ((0.055, 0.035, 0.065), (0.02, 0.01, 0.09), True),  # 0.035 + hypot(.01, .01) = 0.0491: unsafe halves only
        ((0.10, 0.09, 0.11), (0.00, 0.00, 0.01), False),
        ((0.00, 0.00, None), (0.00, 0.00, 0.01), None),  # no interval: worst case unknown
        ((0.00, 0.00, 0.01), (0.00, None, 0.01), None),
        ((0.00, 0.00, NAN), (0.00, 0.00, 0.01), None),
        ((NAN, 0.00, 0.01), (0.00, 0.00, 0.01), None),
        ((math.inf, 0.00, 0.01), (0.00, 0.00, 0.01), None),
        ((-math.inf, 0.00, 0.01), (0.00, 0.00, 0.01), None),  # must not count as "far below the limit"
    ],
)
def test_difference_uses_the_unsafe_end(train: tuple, holdout: tuple, passed: bool | None) -> None:
    rest = [f for f in good_findings() if f.name != "verbatim_8gram"]
    rows = [*rest, finding("verbatim_8gram", "train", *train), finding("verbatim_8gram", "holdout", *holdout)]
    found, verdict = line("research", "copies", rows)
    assert found.passed is passed
    rest = [one for one in verdict.rules if one.rule != NO_LEAK]  # which asks whether there is a leak, however small
    assert all(one.met for one in rest) is (passed is True)


def test_a_difference_of_unequal_parts_that_is_too_large_says_what_it_is_at_equal_sizes() -> None:
    sides = [finding("verbatim_8gram", "train", 0.8, 0.75, 0.84), finding("verbatim_8gram", "holdout", 0.1, 0.07, 0.14)]
    rest = [f for f in good_findings() if f.name != "verbatim_8gram"]
    equal = finding("verbatim_8gram_excess", "holdout", 0.134, 0.09, 0.18)
    found, verdict = line("research", "copies", [*rest, *sides, equal])
    assert found.passed is False
    assert "the difference is 13.4 pp (9.0 pp to 18.0 pp)" in found.sentence
    assert not verdict.passed, "it decides nothing"
    without, _ = line("research", "copies", [*rest, *sides])
    assert found.sentence.startswith(without.sentence)
    assert found.value == without.value
    met, _ = line("research", "copies", [*good_findings(), equal])
    assert met.passed
    assert "at equal" not in met.sentence
    assert "13.4" not in met.sentence


@pytest.mark.parametrize(
    ("values", "passed"),
    [((0.0, -0.01, 0.01), True), ((0.04, 0.02, 0.05), True), ((0.04, 0.02, 0.06), False), ((-0.1, -0.2, -0.05), True)],
)
def test_single_finding_uses_its_upper_end(values: tuple, passed: bool) -> None:
    rows = [*[f for f in good_findings() if f.name != "pipp_excess"], finding("pipp_excess", "holdout", *values)]
    found, _ = line("research", "identifiers-in-records", rows)
    assert found.passed is passed
    assert found.value == values[2]


@pytest.mark.parametrize("policy", MEASURED, ids=lambda p: p.id)
def test_nothing_is_current_without_an_examination(policy: Policy) -> None:
    found, _ = line(policy.id, "current", [], replace(GOOD, examined=False))
    assert found.passed is None
    assert "was not examined" in found.sentence
    assert found.remedy == "Examine the run on the Privacy page."
    assert line(policy.id, "current", good_findings())[0].passed is True
    assert line(policy.id, "current", good_findings(), replace(GOOD, stale=True))[0].passed is False


def test_what_privacy_counts_stands_before_what_the_rule_goes_by() -> None:
    rows = [f for f in good_findings() if f.name != "pipp"]
    rows.append(finding("pipp", "train", 0.5, 0.4, 0.6))
    alone, _ = line("exploratory", "identifiers-measured", rows)
    assert "Measured: 50.0% (" in alone.sentence
    found, verdict = line(
        "exploratory", "identifiers-measured", [*rows, finding("strict_pipp", "train", 0.14, 0.1, 0.2)]
    )
    assert "14.0% as Privacy counts, and 50.0% with what many people share" in found.sentence
    assert (found.value, found.high, verdict.passed) == (alone.value, True, True), "the rule goes by its own number"


@pytest.mark.parametrize(
    ("excess", "high"),
    [
        ((-0.02, -0.07, 0.04), False),  # Privacy says: none seen
        ((-0.02, -0.04, 0.01), False),  # no more than chance
        ((0.10, 0.05, 0.15), True),  # a leak
        ((0.02, -0.1, 0.25), True),  # too few to tell, and more than was met by chance
        ((-0.02, -0.15, 0.25), False),  # too few to tell, and less
    ],
)
def test_release_leads_with_the_number_that_privacy_leads_with_and_warns_where_that_does(excess, high) -> None:
    def share(name: str, reference: str, value: float, **settings) -> Finding:
        one = finding(name, reference, value, value - 0.05, value + 0.05, 100)
        return replace(one, settings=settings)

    rows = [f for f in good_findings() if f.name not in ("pipp", "pipp_excess")]
    rows += [
        share("strict_pipp", "train", 0.33, equal_size_value=0.14), share("strict_pipp", "holdout", 0.16),
        finding("strict_pipp_excess", "holdout", *excess, 100),
        share("pipp", "train", 0.5, equal_size_value=0.22), share("pipp", "holdout", 0.22),
        finding("pipp_excess", "holdout", -0.02, -0.07, 0.04, 100),
    ]  # fmt: skip
    found, verdict = line("exploratory", "identifiers-measured", rows)
    brief = privacy_verdict(rows)[0].brief
    said = "14 of 100 texts (14.0%) hold a private value of equally many records used, by chance 16 would (16.0%)"
    assert f"Real identifiers: {said}" in brief
    none_seen = excess == (-0.02, -0.07, 0.04)
    open_ = "; up to 4.0 points more cannot be excluded with so few records" if none_seen else ""
    assert f"Measured: {said}{open_}. " in found.sentence, "what so few records leave open is not left out"
    assert found.sentence.endswith("This policy sets no limit.")
    assert "50.0%" not in found.sentence, "two numbers, and no third one"
    assert (found.value, found.passed, verdict.passed) == (0.5, True, True)
    assert found.high is high
    told = (
        "No more was seen than chance gives" if none_seen else "cannot be told" if excess[2] > 0.2
        else "That is more than chance gives" if high else "That is no more than chance gives"
    )  # fmt: skip
    assert told in found.sentence


def test_a_number_that_two_counts_share_is_said_once() -> None:
    rows = [f for f in good_findings() if f.name != "pipp"]
    rows += [finding("pipp", "train", 0.34, 0.3, 0.4), finding("strict_pipp", "train", 0.34, 0.3, 0.4)]
    found, _ = line("exploratory", "identifiers-measured", rows)
    assert found.sentence.count("34.0%") == 1
    assert found.high, "without anything to compare with, a high number is marked"


@pytest.mark.parametrize(("value", "high"), [(0.0, False), (0.0999, False), (0.1, True), (0.888, True)])
def test_a_measured_number_that_is_high_is_met_and_marked(value: float, high: bool) -> None:
    rows = [
        *[f for f in good_findings() if f.name != "verbatim_8gram"],
        finding("verbatim_8gram", "train", value, 0, 1),
    ]
    found, verdict = line("exploratory", "copies-measured", rows)
    assert (found.passed, found.high) == (True, high)
    assert ("That is high" in found.sentence) is high
    assert [r.rule for r in verdict.high_rules()] == (["copies-measured"] if high else [])
    assert verdict.passed


def test_a_missing_number_says_why() -> None:
    rows = [f for f in good_findings() if f.name != "pipp_excess"]
    settings = {"why": "the corpus has no holdout record"}
    rows.append(replace(finding("pipp_excess", "holdout", NAN, None, None, 0), settings=settings))
    found, verdict = line("research", "identifiers-in-records", rows)
    assert found.passed is None
    assert not verdict.passed
    assert "the corpus has no holdout record" in found.sentence


@pytest.mark.parametrize(
    ("why", "passed"),
    [
        ("no accepted span is a direct identifier", True),  # looked, and there is none
        ("no span is accepted: run detection", None),  # never looked
        ("", None),
        (None, None),
    ],
)
def test_nothing_to_leak_is_told_from_not_known(why: str | None, passed: bool | None) -> None:
    rows = [f for f in good_findings() if f.name != "pipp_direct"]
    for reference in ("train", "holdout"):
        settings = {} if why is None else {"why": why}
        rows.append(replace(finding("pipp_direct", reference, NAN, None, None, 0), settings=settings))
    found, verdict = line("research", "direct-identifiers", rows)
    assert found.passed is passed
    assert verdict.passed is (passed is True)
    assert "span" not in found.sentence
    assert ("mark" in found.sentence) is bool(why)


@pytest.mark.parametrize("policy", policies(), ids=lambda p: p.id)
def test_the_gate_speaks_of_marks_as_the_pages_do(policy: Policy) -> None:
    for facts in (replace(GOOD, stale=True), replace(GOOD, examined=False), GOOD):
        for rule in evaluate(policy, good_findings(), facts).rules:
            assert "span" not in f"{rule.title} {rule.sentence} {rule.remedy}".lower()


@pytest.mark.parametrize("policy", ["internal", "research", "public"])
@pytest.mark.parametrize(
    ("value", "why", "passed"),
    [
        (0.0, None, True),
        (0.01, None, False),  # one label of a hundred names somebody
        (NAN, "no synthetic record has a label", True),
        (NAN, "no accepted span is a direct identifier", True),
        (NAN, "no span is accepted: run detection", None),
    ],
)
def test_no_label_may_hold_a_direct_identifier(policy: str, value: float, why: str | None, passed: bool) -> None:
    row = finding("label_direct", "train", value, None, None, 0 if math.isnan(value) else 100)
    row = replace(row, settings={} if why is None else {"why": why})
    found, verdict = line(policy, "labels", [*[f for f in good_findings() if f.name != "label_direct"], row])
    assert found.passed is passed
    assert verdict.passed is (passed is True)


def test_contradicting_findings_count_as_none() -> None:
    rows = [*good_findings(), finding("pipp_excess", "holdout", 0.9, 0.8, 1.0)]
    found, verdict = line("research", "identifiers-in-records", rows)
    assert found.passed is None
    assert not verdict.passed


@pytest.mark.parametrize(
    ("approved", "rejected", "pending", "passed"),
    [(50, 50, 0, True), (99, 0, 1, False), (999, 0, 1, False), (1, 0, 0, True)],
)
def test_research_needs_a_decision_on_every_record(approved: int, rejected: int, pending: int, passed: bool) -> None:
    facts = replace(GOOD, approved=approved, rejected=rejected, pending=pending)
    found, verdict = line("research", "reviewed", good_findings(), facts)
    assert found.passed is passed
    assert verdict.passed is passed
    assert passed or "on 100%" not in found.sentence  # 99.9% is not rounded up to all


@pytest.mark.parametrize(
    ("actor", "second", "passed"),
    [
        ("Ada", "Grace", True),
        ("Ada", "", False),
        ("Ada", "   ", False),
        ("Ada", "Ada", False),
        ("Ada Lovelace", " ada  lovelace", False),
    ],
)
def test_second_person_is_another_person(actor: str, second: str, passed: bool) -> None:
    found, _ = line("public", "second-person", good_findings(), replace(GOOD, actor=actor, signed_off_by=second))
    assert found.passed is passed


@pytest.mark.parametrize("kind", ["none", "heuristic", "selection-only"])
def test_public_needs_a_formal_guarantee(kind: str) -> None:
    found, verdict = line("public", "guarantee", good_findings(), replace(GOOD, guarantee_kind=kind, originals=0))  # type: ignore[arg-type]
    assert found.passed is False
    assert not verdict.passed
    facts = replace(GOOD, guarantee_kind=kind, originals=0)  # type: ignore[arg-type]
    assert evaluate(get_policy("research"), good_findings(), facts).passed


def test_presets_grow_stricter() -> None:
    """What a stricter preset lets through, each milder one lets through too."""
    limits = [
        {r.id: r.threshold for r in p.rules if r.threshold is not None and r.id.startswith("identifiers")}
        for p in MEASURED
    ]
    for milder, stricter in itertools.pairwise(limits):
        assert all(stricter[rule] < milder[rule] for rule in milder)


def test_every_open_line_says_what_would_help() -> None:
    facts = GateFacts(approved=0, rejected=0, pending=5, stale=True, guarantee_kind="none", run_state="running")
    for policy in policies():
        for found in evaluate(policy, [], facts).open_rules():
            assert found.sentence.endswith(".")
            assert found.remedy.endswith(".")
            assert found.title


def test_unknown_policy_names_the_known_ones() -> None:
    with pytest.raises(NotFoundError, match="exploratory, internal, research, public, proof"):
        get_policy("lenient")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rules": []}, "at least one is needed"),
        ({"whole_output": True}, "whole_output: needs"),
    ],
)
def test_a_policy_measures_or_leaves_everything_whole(tmp_path, changes: dict, message: str) -> None:
    import yaml

    from engine.release.policy.policy import PRESETS

    content = yaml.safe_load((PRESETS / "public.yaml").read_text())
    content["rules"] = changes.get("rules", content["rules"])
    content["requirements"]["whole_output"] = changes.get("whole_output", False)
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump(content))
    with pytest.raises(UserError, match=message):
        load_policy(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id: [", "not valid YAML"),
        ("id: mine", "Field required"),
        ("- a list", "policy"),
    ],
)
def test_broken_policy_file_is_refused(tmp_path, text: str, message: str) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    with pytest.raises(UserError, match=message):
        load_policy(path)


def test_threshold_must_fit_the_comparator(tmp_path) -> None:
    from engine.release.policy.policy import PRESETS

    text = (PRESETS / "research.yaml").read_text()
    path = tmp_path / "mine.yaml"
    path.write_text(text.replace("threshold: 0.05", "threshold: 0.05\n    high_from: 0.1"))
    with pytest.raises(UserError, match="high_from"):
        load_policy(path)
    for bad in ("threshold: .nan", "threshold: .inf", "threshold: null", "comparator: roughly"):
        path.write_text(text.replace("threshold: 0.05", bad))
        with pytest.raises(UserError, match=r"mine\.yaml"):
            load_policy(path)


@pytest.mark.parametrize(
    ("kinds", "kind", "said"),
    [
        (("dp",), "none", "This run proves nothing. A proven bound (ε) is needed."),
        (("selection-only", "dp"), "none", "This run proves nothing. A proof is needed, if only of the choice."),
        (("heuristic", "selection-only", "dp"), "none", "Needed is one of: heuristic, selection-only, dp."),
    ],
)
def test_the_rule_on_proofs_asks_for_no_more_than_the_policy(kinds, kind, said) -> None:
    policy = get_policy("internal")
    requirements = policy.requirements.model_copy(update={"guarantee_kinds": kinds})
    asks = policy.model_copy(update={"requirements": requirements})
    verdict = evaluate(asks, good_findings(), replace(GOOD, guarantee_kind=kind))
    (line,) = [one for one in verdict.rules if one.rule == "guarantee"]
    assert not line.passed
    assert said in line.sentence
