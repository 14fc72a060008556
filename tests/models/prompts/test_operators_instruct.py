"""Prompts and replies of instruct models."""

import pytest

from engine.errors import UserError
from engine.models.builtin.format import DOMAINS, OPERATORS
from engine.models.prompts.operators_instruct import InstructOperators

INPUTS = {
    "text": "The arm was sore.",
    "texts": ("The arm was sore.", "Fever at night."),
    "code": "PERSON: A",
    "words": 20,
}
INPUTS |= {"examples": ("One.", "Two."), "keywords": ("fever",), "label": "minor", "kind": "letter"}


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("operator", OPERATORS)
def test_every_template_renders_with_its_inputs(domain, operator):
    prompt = InstructOperators().prompt(operator, domain=domain, **INPUTS)
    assert len(prompt) > 20
    assert "{{" not in prompt
    assert "{%" not in prompt


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        ("Sure, here is the note:\n\nThe arm was sore.", "The arm was sore."),
        ("Here is the text:\nThe arm was sore.", "The arm was sore."),
        ('"The arm was sore."', "The arm was sore."),
        ("The arm was sore.", "The arm was sore."),
        ("Note: the patient slept.", "Note: the patient slept."),
        ("Here are my complaints: late, cold, rude.", "Here are my complaints: late, cold, rude."),
    ],
)
def test_what_a_model_says_around_its_text_goes_and_the_text_stays(reply, text):
    assert InstructOperators().parse("invent", reply) == text


def test_an_unknown_operator_is_named():
    with pytest.raises(UserError, match="nonsense"):
        InstructOperators().prompt("nonsense")


@pytest.mark.parametrize("domain", DOMAINS)
def test_an_abstract_is_given_whole_and_its_negations_with_it(domain):
    text = "Denies fever, no rash; she is not pregnant."
    prompt = InstructOperators().prompt("expand", domain=domain, text=text)
    assert text in prompt
    assert "what it denies is denied" in prompt
    outlined = InstructOperators().prompt("expand", domain=domain, text=text, outlined=True)
    assert text not in outlined
    assert "no rash; not pregnant" in outlined


@pytest.mark.parametrize("domain", DOMAINS)
def test_a_tone_reaches_the_prompt(domain):
    plain, negative, positive = (
        InstructOperators().prompt("invent", domain=domain, **({"tone": tone} if tone else {}))
        for tone in ("", "negative", "positive")
    )
    assert "Its tone is negative." in negative
    assert "Its tone is positive." in positive
    assert "tone is" not in plain
