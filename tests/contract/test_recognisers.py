"""Every recogniser of the catalogue finds its own examples and leaves its counter-examples alone."""

from __future__ import annotations

import re

import pytest

from engine.pii.detect.recognisers import RecogniserSpec, catalogue, specs
from engine.pii.detect.rules import Rules
from engine.pii.spans import LABELS, Span

MARK = re.compile(r"\[\[(.*?)\]\](?!\])", re.S)
THRESHOLD = 0.5


def unmark(example: str) -> tuple[str, set[tuple[int, int]]]:
    """Return the text without double brackets and the marked ranges."""
    text, wanted, at = "", set(), 0
    for match in MARK.finditer(example):
        text += example[at : match.start()]
        wanted.add((len(text), len(text) + len(match.group(1))))
        text += match.group(1)
        at = match.end()
    return text + example[at:], wanted


@pytest.fixture(scope="module")
def rules() -> Rules:
    return Rules()


def found(rules: Rules, text: str, spec: RecogniserSpec) -> list[Span]:
    return [s for s in rules.find(text) if s.recogniser == spec.id and s.score >= THRESHOLD]


@pytest.mark.parametrize("spec", specs(), ids=lambda s: s.id)
def test_finds_its_examples(rules: Rules, spec: RecogniserSpec) -> None:
    assert spec.find, "a recogniser without an example is not tested"
    for example in spec.find:
        text, wanted = unmark(example)
        spans = found(rules, text, spec)
        assert wanted, f"no marked span in {example!r}"
        assert wanted <= {(s.start, s.end) for s in spans}, example
        assert {s.label for s in spans} == {spec.label}


@pytest.mark.parametrize("spec", specs(), ids=lambda s: s.id)
def test_leaves_its_counter_examples(rules: Rules, spec: RecogniserSpec) -> None:
    assert spec.leave, "a recogniser without a counter-example is not tested"
    for text in spec.leave:
        assert [text[s.start : s.end] for s in found(rules, text, spec)] == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "\n",
        "😀" * 50,
        "a" * 8_000,
        "1" * 8_000,
        "A." * 2_000,
        "1-" * 2_000,
        "\u202bשלום\u202c",
        "a\0b 3 May 2001",
    ],
)
def test_survives_odd_texts(rules: Rules, text: str) -> None:
    for span in rules.find(text):
        assert 0 <= span.start < span.end <= len(text)


def test_a_switched_off_recogniser_is_silent() -> None:
    text = "write to a@example.org"
    assert any(s.recogniser == "email" for s in Rules().find(text))
    assert not any(s.recogniser == "email" for s in Rules(frozenset({"email"})).find(text))


def test_catalogue_names_every_recogniser_once() -> None:
    ids = [e.id for e in catalogue()]
    assert len(ids) == len(set(ids))
    assert {s.id for s in specs()} < set(ids)
    assert {"tagger", "known", "deny", "custom", "spacy"} < set(ids)
    assert {e.label for e in catalogue()} <= set(LABELS)


def test_context_words_raise_a_score(rules: Rules) -> None:
    plain = [s.score for s in rules.find("we noted 212-555-5555 here") if s.recogniser == "phone"]
    called = [s.score for s in rules.find("please call 212-555-5555 now") if s.recogniser == "phone"]
    assert called == pytest.approx([0.75])  # 0.4 + 0.35 for "call"
    assert plain == pytest.approx([0.4])
