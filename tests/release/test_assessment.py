"""The assessment file: every finding has a place, what was not tested says so, the external edition holds no value."""

import re
from html.parser import HTMLParser

import pytest

from engine.dp.guarantee import Guarantee
from engine.errors import UserError
from engine.examine.findings.embedders import ENGLISH, NGRAMS, embedder_of, marked
from engine.examine.findings.findings import Finding
from engine.examine.measures import MEASURES
from engine.methods import get_method
from engine.release import CardFacts, build_card, evaluate, get_policy
from engine.release.assessment import Facts, checked, document, questions
from engine.release.policy.facts import GateFacts

UNUSED = {"readable"}  # of the privacy group for the gate's sake; says nothing of a person
VALUE = 0.7319


def privacy_names():
    return {name for name, measure in MEASURES.items() if measure.group == "privacy"}


def finding(name, value=VALUE, **changes):
    measure = MEASURES[name]
    given = {
        "name": name, "value": value, "low": value - 0.11, "high": value + 0.07, "n": 37, "reference": "train",
        "measure": measure.measure, "direction": measure.direction, "group": measure.group,
    }  # fmt: skip
    return Finding(**{**given, **changes})


def facts(method="filter", policy="exploratory", claim=None, **changes):
    chosen = get_policy(policy)
    claim = claim or Guarantee("heuristic", "No formal guarantee.")
    card = build_card(CardFacts(method=get_method(method).spec, guarantee=claim, policy=chosen))
    return Facts(**{"card": card, "answers": {}, "made": "2999-01-31", **changes})


class Text(HTMLParser):
    """The words of a page, and what it asks for from outside."""

    def __init__(self):
        super().__init__()
        self.words, self.asked, self.open = [], [], []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.asked += [(tag, name) for name, _ in attrs if name in ("src", "href") or name.startswith("on")]
        if tag == "script":
            self.asked.append((tag, ""))

    def handle_data(self, data):
        self.words.append(data)


def read(page):
    parsed = Text()
    parsed.feed(page)
    return parsed, " ".join(" ".join(parsed.words).split())


def test_every_finding_about_a_person_has_one_place():
    placed = [name for one in questions().tests for name in one.names()]
    assert set(placed) == privacy_names() - UNUSED
    assert len(placed) == len(set(placed))


@pytest.mark.parametrize("edition", ["internal", "external"])
def test_without_an_examination_each_test_is_said_to_be_missing(edition):
    _, words = read(document(facts(), edition))
    said = "This file is no evidence of resistance to it."
    assert words.count(said) >= len(questions().tests) + 3
    assert "Not at all. This file is no evidence of resistance to any attack." in words


def test_one_family_tested_leaves_the_others_untested():
    _, words = read(document(facts(examined="2998-05-05T01:00", findings=[finding("attribute_inference")]), "internal"))
    inference = next(one for one in questions().tests if one.id == "inference")
    after = words.split(inference.attacker, 1)[1]
    assert MEASURES["attribute_inference"].title in after.split("Attacker:")[0]
    assert "Not measured:" in after.split("Attacker:")[0]
    assert MEASURES["detail_inference"].title in after.split("Attacker:")[0]
    assert after.split("Attacker:", 1)[1].count("Not tested.") >= 2
    assert "2998-05-05" in words


@pytest.mark.parametrize("policy", ["exploratory", "public"])
def test_the_external_edition_holds_no_measured_value(policy):
    findings = [finding(name) for name in sorted(privacy_names())]
    known = GateFacts(approved=3, rejected=1, pending=0, stale=False, guarantee_kind="heuristic", examined=True)
    given = facts(
        policy=policy, findings=findings, examined="2998-05-05T01:00", risk=("62.1% to 64.9% of the identifiers",),
        verdict=evaluate(get_policy(policy), findings, known), releases=4321, unbounded=True, run="Filter of ward nine",
        corpus="Letters of Quillfeather", made_by="Ada",
        answers={"advice": "secret advice", "purpose": "Trying a search", "exposure": "on tape nine"},
    )  # fmt: skip
    inside, outside = read(document(given, "internal"))[1], read(document(given, "external"))[1]
    private = ("73.2%", "0.732", "62.1%", "4321", "ward nine", "Quillfeather", "Ada", "secret advice", "tape nine",
               "2998")  # fmt: skip
    assert [one for one in private if one in outside] == []
    assert [one for one in private if one not in inside and one not in ("73.2%", "0.732")] == []
    assert "73.2%" in inside or "0.732" in inside
    assert "Trying a search" in outside


def test_outside_nothing_hangs_on_what_measured_meaning():
    """Which embedder was taken follows from the share of English in private records."""
    plain = [finding(name) for name in sorted(privacy_names())]
    assert any(embedder_of(one) for one in plain)
    pages = [
        document(facts(findings=marked(plain, *how), examined="2998-05-05T01:00"), "external")
        for how in ((ENGLISH,), (NGRAMS, "12% of the records are English"), ("/data/quill",))
    ]
    assert pages[0] == pages[1] == pages[2]


def test_each_test_has_one_scenario_whose_attackers_run_from_less_to_more():
    for one in questions().tests:
        asked = [each for each in questions().fields if each.test == one.id]
        assert len(asked) == 1
        beyond = [choice.beyond for choice in asked[0].choices]
        assert beyond == sorted(beyond)
        assert {*beyond} == {True, False}
        assert asked[0].outside


@pytest.mark.parametrize("edition", ["internal", "external"])
def test_an_attacker_who_is_expected_to_have_more_is_said_to_be_untested(edition):
    found = [finding("attribute_inference"), finding("mia_ppl")]
    answers = {"attacker_inference": "model", "attacker_membership": "part"}
    words = read(document(facts(examined="2998-05-05T01:00", findings=found, answers=answers), edition))[1]
    parts = {one.id: words.split(one.attacker, 1)[1].split("Attacker:")[0] for one in questions().tests}
    more, less = (questions().scenario(name).words(said) for name, said in
                  (("inference", "model"), ("membership", "part")))  # fmt: skip
    assert f"Expected here: {more}. That is more than the attack was given. Not tested;" in parts["inference"]
    assert f"Expected here: {less}. That is no more than the attack was given." in parts["membership"]
    assert "Nobody stated what attackers are expected to have here" in parts["singling-out"]
    after = words.split("Was it attacked by guessing attributes?")[1].split("Does it give back")[0]
    assert f"Not against whom the controller expects: {more[0].lower()}{more[1:]}." in after
    before = words.split("Was it attacked by telling members from others?")[1].split("Was it attacked by")[0]
    assert "Not against" not in before


def test_what_was_not_run_is_not_said_to_cover_an_attacker_who_has_less():
    words = read(document(facts(answers={"attacker_membership": "part"}), "internal"))[1]
    assert "Expected here: Part of a record." in words
    assert "no more than the attack was given" not in words


def test_an_attacker_is_chosen_from_those_that_are_known():
    assert checked({"attacker_inference": " rest "}) == {"attacker_inference": "rest"}
    assert checked({"attacker_inference": " "}) == {}
    with pytest.raises(UserError, match="attacker_inference: choose one of some, rest, model"):
        checked({"attacker_inference": "everything"})


def test_it_is_one_page_without_scripts_and_outside_parts():
    bad = "<script>alert(1)</script><img src=x onerror=alert(1)>{{ 7*7 }}"
    page = document(
        facts(answers={one.id: bad for one in questions().fields}, run=bad, corpus=bad, made_by=bad, risk=bad,
              findings=[finding("mia_ppl")], examined="2998-05-05"), "internal",
    )  # fmt: skip
    parsed, words = read(page)
    assert parsed.asked == []
    assert "img" not in parsed.open
    assert bad in words
    assert "default-src 'none'" in page


def test_it_gives_no_verdict_and_cites_no_paragraph():
    page = document(facts(findings=[finding("mia_ppl")], examined="2998-05-05"), "internal")
    words = read(page)[1]
    assert not re.search(r"anonym", words, re.I)
    assert not re.search(r"§|\bpara(graph)?\.? \d|\bArt(icle)?\.? \d", words)


def test_the_figure_draws_a_circle_an_attack_and_chance():
    page = document(facts(findings=[finding("mia_ppl"), finding("ngram", 0.5)], examined="2998-05-05"), "internal")
    assert page.count("<circle") == 2
    assert page.count('class="chance"') == 1
    near = re.findall(r'<circle cx="([\d.]+)"', page)
    chance = re.search(r'<line x1="([\d.]+)" y1="4"', page).group(1)
    assert chance in near


def test_rows_of_an_attack_say_what_they_hold_against_what():
    rows = [finding("mia_ppl", reference=side) for side in ("train", "holdout", "baseline")]
    page = document(
        facts(findings=[*rows, finding("linkage", reference="baseline")], examined="2998-05-05"), "internal"
    )
    words = read(page)[1]
    assert page.count("<circle") == 1
    assert words.count(MEASURES["mia_ppl"].title) == 2, "once in the figure, once in the table"
    for said in ("nobody used, half against half: chance", "by their words alone, without the text"):
        assert words.count(said) == 1
    assert "real records in place of synthetic ones" in words


@pytest.mark.parametrize("edition", ["internal", "external"])
def test_attacks_that_were_left_out_are_named(edition):
    words = read(document(facts(findings=[finding("ngram")], examined="2998-05-05"), edition))[1]
    assert MEASURES["mia_lira"].title in words
    assert (MEASURES["ngram"].title in words) is (edition == "internal")


def test_a_proof_alone_says_why_nothing_was_measured():
    claim = Guarantee("dp", "Bounded.", scope="the run's complete output", epsilon=2.0, delta=1e-5, unit="source",
                      adjacency="zero-out")  # fmt: skip
    words = read(document(facts("aug-pe", "proof", claim, whole=True), "internal"))[1]
    assert "Not at all, on purpose" in words
    assert "ε = 2.0 at δ = 1e-05. Compare it only with an ε at the same δ" in words
    assert "All records of one person or other source." in words
    assert "Neighbouring data: zero-out." in words


@pytest.mark.parametrize(
    ("answers", "said"),
    [({"nonsense": "x"}, "no field"), ({"purpose": "x" * 2001}, "at most"), ({"purpose": 3}, "give words")],
)
def test_wrong_answers_are_refused(answers, said):
    with pytest.raises(UserError, match=said):
        checked(answers)


def test_empty_answers_are_left_out_and_open_questions_are_named():
    assert checked({"purpose": "  ", "officer": " Ada "}) == {"officer": "Ada"}
    words = read(document(facts(answers={"officer": "Ada"}), "internal"))[1]
    assert f"{len(questions().fields) - 1} of its questions are for a person" in words


def test_outside_a_test_of_other_records_is_no_test():
    known = {"examined": "2998-05-05", "findings": [finding("mia_ppl")]}
    assert "Tested before the release." in read(document(facts(**known), "external"))[1]
    words = read(document(facts(**known, stale=True), "external"))[1]
    assert "Tested" not in words
    assert "Not at all. This file is no evidence of resistance to any attack." in words
    assert "has changed since" in read(document(facts(**known, stale=True), "internal"))[1]


@pytest.mark.parametrize("edition", ["internal", "external"])
def test_nobody_is_said_to_be_protected_where_nothing_is_proven(edition):
    words = read(document(facts("surrogate", claim=Guarantee("none", "No formal guarantee.")), edition))[1]
    assert "are protected" not in words
    assert "Mechanism noise" not in words
    assert "No proof protects anybody here" in words
    claim = Guarantee("dp", "Proven.", epsilon=1.0, delta=1e-6, unit="record", adjacency="zero-out")
    words = read(document(facts("aug-pe", "proof", claim, whole=True), edition))[1]
    assert "are protected for each unit that names them" in words
    assert "Mechanism noise comes from the operating system" in words


@pytest.mark.parametrize("edition", ["internal", "external"])
def test_what_a_policy_asks_is_not_said_to_be_done(edition):
    """A file may be made before anybody signed."""
    words = read(document(facts("surrogate", "research"), edition))[1]
    assert words.index("Records leave under it only once each of these is so:") < words.index(
        "approved by the custodian"
    )


def test_the_internal_edition_says_whether_it_is_so():
    given = GateFacts(
        approved=1, rejected=0, pending=0, stale=False, examined=True, text_examined=False, originals=0, epsilon=None,
        delta=None, guarantee_kind="none", run_state="done", actor="Ada", signed_off_by="",
    )  # fmt: skip
    verdict = evaluate(get_policy("research"), [], given)
    words = read(document(facts("surrogate", "research", verdict=verdict), "internal"))[1]
    assert not verdict.passed
    assert "On the day of this file not all of these held" in words
    assert "On the day" not in read(document(facts("surrogate", "research", verdict=verdict), "external"))[1]


@pytest.mark.parametrize("edition", ["internal", "external"])
def test_what_could_not_be_estimated_was_no_test(edition):
    nothing = finding("mia_ppl", float("nan"), low=None, high=None, n=0, settings={"why": "no model was given"})
    words = read(document(facts(findings=[nothing], examined="2998-05-05"), edition))[1]
    place = words.index("Can somebody tell whether a record was used?")
    assert "Not tested." in words[place : place + 600]
    assert "Tested before the release" not in words


def test_a_claim_does_not_say_twice_that_there_is_none():
    claim = Guarantee("heuristic", "No formal guarantee: the rest of each text is the original.")
    words = read(document(facts("surrogate", claim=claim), "internal"))[1]
    assert "No formal guarantee (a heuristic): the rest" in words
    assert "(a heuristic). No formal" not in words
    assert "none was used" in words
    assert (
        "the program's built-in model" in read(document(facts("filter", claim=claim, card=_card(claim)), "internal"))[1]
    )


def _card(claim):
    return build_card(
        CardFacts(method=get_method("filter").spec, guarantee=claim, policy=get_policy("exploratory"), model="builtin")
    )
