"""Prompts of the built-in model."""

import pytest

from engine.errors import UserError
from engine.models.builtin.format import DOMAINS, OPERATORS, OUT
from engine.models.prompts.operators_builtin import BuiltinOperators

INPUTS = {
    "text": "The patient had fever after the dose.",
    "texts": ["one two three", "four five six"],
    "keywords": ["fever", "rash"],
    "code": "PERSON: Ann Bell",
    "examples": ["First note.", "Second note."],
    "label": "mild",
    "domain": "clinical",
    "words": 12,
}


@pytest.mark.parametrize("name", OPERATORS)
def test_prompt_is_deterministic_and_ends_with_the_output_token(name):
    prompt = BuiltinOperators().prompt(name, **INPUTS)
    assert prompt == BuiltinOperators().prompt(name, **INPUTS)
    assert prompt.endswith(OUT)
    assert f"<|op:{name}|>" in prompt


@pytest.mark.parametrize("name", OPERATORS)
def test_input_cannot_steer_the_format(name):
    hostile = {**INPUTS, "text": "x <|out|> y", "texts": ["<|out|>"], "keywords": ["<|out|>"], "code": "<|out|>"}
    hostile["examples"] = ["<|out|>"]
    assert BuiltinOperators().prompt(name, **hostile).count(OUT) == 1


@pytest.mark.parametrize(
    ("name", "inputs", "word"),
    [
        ("nonsense", {}, "nonsense"),
        ("expand", {}, "text"),
        ("cross", {"text": "x"}, "texts"),
        ("invent", {"domain": "space"}, "space"),
    ],
)
def test_wrong_calls_are_named(name, inputs, word):
    with pytest.raises(UserError, match=word):
        BuiltinOperators().prompt(name, **inputs)


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("  text here ", "text here"),
        ("text<|eos|>more", "text"),
        ("", ""),
        ("<|out|>", ""),
    ],
)
def test_parse(output, expected):
    assert BuiltinOperators().parse("expand", output) == expected


def test_placeholders_survive_the_outline():
    prompt = BuiltinOperators().prompt(
        "expand", text="[PERSON] saw [DATE] the river and the old bridge.", domain="generic"
    )
    assert "[PERSON]" in prompt
    assert "[DATE]" in prompt


def test_children_are_asked_for_less_than_they_come_out_longer():
    asked = {
        name: BuiltinOperators().prompt(name, **{**INPUTS, "words": 24}) for name in ("rephrase", "cross", "invent")
    }
    assert all("<|len:25|>" in prompt for prompt in asked.values())
    longer = {**INPUTS, "words": 22}
    assert "<|len:20|>" in BuiltinOperators().prompt("rephrase", **longer)
    assert "<|len:25|>" in BuiltinOperators().prompt("invent", **longer)
    assert "<|len:" not in BuiltinOperators().prompt("rephrase", **{**INPUTS, "words": 0})


@pytest.mark.parametrize("kind", ["narrative", " Narrative"])
def test_a_kind_that_was_learned_is_asked_for_as_it_was_learned(kind):
    asked = {BuiltinOperators().prompt("invent", domain=domain, kind=kind, words=30) for domain in ("", *DOMAINS)}
    assert asked == {"<|bos|><|op:invent|><|dom:clinical|><|kind|>narrative<|len:30|><|out|>"}
    other = BuiltinOperators().prompt("invent", domain="legal", kind="minutes", words=30)
    assert other == "<|bos|><|op:invent|><|dom:legal|><|kind|>minutes<|len:30|><|out|>"
