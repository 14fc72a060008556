"""The data card of every method says what is true of it: whence its text stems, which model, what breaks the claim."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

import pytest

from engine.dp.guarantee import Guarantee
from engine.methods import get_method, methods
from engine.methods.base import Facts, Method
from engine.release import CardFacts, build_card, get_policy
from engine.release.card.card import KEPT_TEXT, MAYBE_COMPARED, NEW_TEXT, NOT_COMPARED, NOT_ORIGINALS, UNREAD_TEXT

FACTS = Facts(records=5_000, units=5_000, labels=3, mean_characters=400.0)
ALL = [*methods(), get_method("filter:aug-pe"), get_method("filter:icl")]
# What each method does with an original text; a new method must be looked at before it gets a card.
KEEPS_THE_TEXT = {"surrogate"}
READS_NOTHING = {"public"}
COUNTS_ONLY = {"aug-pe", "dpga", "dp-select", "rpsg-public", "dp-topics", "filter:aug-pe"}
FINITE = re.compile(
    r"\b(is|are|was|were|has|have|lies|stands?|stem|points?|copies|keeps?|repeats?|holds?|reads|uses|can)\b"
)


@pytest.fixture(params=ALL, ids=lambda method: method.spec.id)
def method(request) -> Method:
    return request.param


@cache
def claim_of(known: str) -> Guarantee:
    """Return the claim of a method's own settings; some calibrate for seconds."""
    method = get_method(known)
    return method.guarantee(method.spec.parameters(), FACTS)


def card(method: Method, policy: str = "exploratory", **changes):
    values = method.spec.parameters()
    claim = claim_of(method.spec.id)
    facts = CardFacts(
        method.spec, claim, get_policy(policy), parameters=values.model_dump(mode="json"), model="builtin",
        versions={"understudy": "0.1.0"},
    )  # fmt: skip
    return build_card(replace(facts, **changes))


def test_the_model_is_named_only_where_one_wrote(method: Method) -> None:
    built = card(method)
    wrote = "generator" in method.spec.needs
    assert ("Language model: the one built into Understudy, small" in built.markdown) is wrote
    assert ("Language model: none was used." in built.markdown) is not wrote
    assert ("language model" in method.spec.origin) is wrote
    assert built.content["model"] == ("builtin" if wrote else "none")


def test_the_first_words_say_whence_the_text_stems(method: Method) -> None:
    built, known = card(method), method.spec.id
    head = built.markdown.split("## ")[0]
    assert method.spec.origin in head
    assert method.spec.origin.endswith(".")
    assert method.spec.keeps_text is (known in KEEPS_THE_TEXT)
    assert ("word for word" in method.spec.origin and "the original" in method.spec.origin) is (known in KEEPS_THE_TEXT)
    assert ("No original text was read" in head) is (known in READS_NOTHING)
    assert ("counts with noise" in head) is (known in COUNTS_ONLY)
    assert "They are not the originals" not in built.markdown  # what is true of it depends on the method
    formal = method.spec.kind == "dp"
    whole = card(method, selected=False).markdown.split("## ")[0]
    assert (NOT_COMPARED in whole) is formal
    assert (MAYBE_COMPARED in head) is formal  # measured and searched for copies: it was compared
    assert NOT_COMPARED not in head
    assert MAYBE_COMPARED not in whole
    assert (NOT_ORIGINALS in head) is not formal
    assert ("No record equals a record of the original" in built.markdown) is not formal


def test_limits_fit_the_method(method: Method) -> None:
    text = card(method).markdown
    assert (KEPT_TEXT in text) is method.spec.keeps_text
    assert (UNREAD_TEXT in text) is (method.spec.id in READS_NOTHING)
    assert (NEW_TEXT in text) is not (method.spec.keeps_text or method.spec.id in READS_NOTHING)
    assert not re.search("zero-out|replace-one|number of sources|means generic", text), "a recipient has no word for it"


@pytest.mark.parametrize(
    "settings", [{}, {"keep_labels": ("QUANTITY",)}, {"without_spans": "copy", "copies_accepted": 3}]
)
def test_surrogates_say_which_true_values_stay(settings: dict) -> None:
    method = get_method("surrogate")
    voided = " ".join(method.guarantee(method.spec.parameters(**settings), FACTS).voided_by)
    assert ("kept on purpose" in voided) is ("keep_labels" in settings)
    assert ("nothing was found were copied" in voided) is ("without_spans" in settings)


def test_no_name_from_inside_the_program_reaches_the_reader(method: Method) -> None:
    text = card(method).markdown
    assert not re.findall(r"\b[a-z]+_[a-z_]+\b", text)
    for name in method.spec.parameters.model_fields:
        assert f"| {name} |" not in text
        assert f"| {name.replace('_', ' ')} |" not in text
    assert "not shown |" not in text
    assert "| None |" not in text


def test_what_breaks_the_claim_is_told_in_sentences(method: Method) -> None:
    for sentence in claim_of(method.spec.id).voided_by:
        assert sentence[0].isupper()
        assert sentence.endswith(".")
        assert FINITE.search(sentence), sentence


def test_the_card_breaks_none_of_its_own_sentences(method: Method) -> None:
    """Where it names N or the labels as public, it does not promise that no count of the original is inside."""
    for built in (card(method), card(method, selected=False), card(method, "research")):
        text = built.markdown
        left_out = built.content["left_out"]
        assert "apart from those that this card names as public" in left_out
        assert f"{FACTS.units:,}" not in left_out
        whole = method.spec.kind == "dp" and built.content["guarantee"].get("selected") is False
        assert ("How many records were held back is not stated" in text) is not whole
        assert ("No record of the run was held back" in text) is whole
        assert ("Measurements of leakage and usefulness were made" in text) is not whole
        numbers = {f"{FACTS.units:,}", str(FACTS.units)}
        if method.spec.kind != "dp":  # no public quantity is named, so none of the original may stand there
            assert not numbers & set(re.findall(r"\d[\d.,]*\d|\d", text))
