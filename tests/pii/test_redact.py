"""Redaction styles on tiny hand-checked cases."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import DataError, UserError
from engine.pii.redact import redact
from engine.pii.spans import LABELS, Span

TEXT = "Dr Maria Kowalska, aged 47, saw Kowalska's son on 3 May 2014 for 12,430 euros."


def span(value, label, start=0):
    at = TEXT.index(value, start)
    return Span("r", at, at + len(value), label)


SPANS = [
    span("Maria Kowalska", "PERSON"),
    span("47", "AGE"),
    span("Kowalska", "PERSON", 25),
    span("3 May 2014", "DATE"),
    span("12,430 euros", "QUANTITY"),
]

CASES = {
    "placeholder": "Dr [PERSON], aged [AGE], saw [PERSON]'s son on [DATE] for [QUANTITY].",
    # the surname alone is the same person
    "numbered": "Dr [PERSON 1], aged [AGE 1], saw [PERSON 1]'s son on [DATE 1] for [QUANTITY 1].",
    "mask": "Dr ██████████████, aged ██, saw ████████'s son on ██████████ for ████████████.",
    # one blank goes with each value
    "remove": "Dr, aged, saw 's son on for.",
    "generalise": "Dr [PERSON], aged 40-49, saw [PERSON]'s son on May 2014 for 10,000 euros.",
}


@pytest.mark.parametrize(("style", "expected"), CASES.items())
def test_style(style, expected):
    result = redact(TEXT, SPANS, style)
    assert result.text == expected


@pytest.mark.parametrize("style", CASES)
def test_output_spans_point_at_the_replacements(style):
    result = redact(TEXT, SPANS, style)
    surfaces = [result.text[s.start : s.end] for s in result.spans_in_output]
    assert [s.label for s in result.spans_in_output] == ([] if style == "remove" else [s.label for s in SPANS])
    assert all(surfaces)


@pytest.mark.parametrize(
    ("value", "label", "expected"),
    [
        ("14/02/2011", "DATE", "February 2011"),  # day first unless impossible
        ("02/14/2011", "DATE", "February 2011"),
        ("March 2011", "DATE", "2011"),  # already a month: the year
        ("2011", "DATE", "2011"),
        ("last Tuesday", "DATE", "[DATE]"),
        ("93", "AGE", "90 or older"),
        ("thirty-four", "AGE", "30-39"),
        ("7 months", "AGE", "[AGE]"),
        ("62 kg", "QUANTITY", "60 kg"),
        ("60 kg", "QUANTITY", "about 60 kg"),
        ("€1,995.50", "QUANTITY", "€2,000"),
        ("Leeds", "LOCATION", "[LOCATION]"),
    ],
)
def test_generalise(value, label, expected):
    assert redact(value, [Span("r", 0, len(value), label)], "generalise").text == expected


def test_numbers_tell_two_people_apart():
    text = "Ann Lee met Bob Lee. Lee left; Mrs Ann Lee stayed."
    spans = [
        Span("r", 0, 7, "PERSON"),
        Span("r", 12, 19, "PERSON"),
        Span("r", 21, 24, "PERSON"),
        Span("r", 31, 42, "PERSON"),
    ]
    # a bare "Lee" fits both, so it is nobody's number
    assert redact(text, spans, "numbered").text == "[PERSON 1] met [PERSON 2]. [PERSON 3] left; [PERSON 1] stayed."


def test_overlapping_spans_are_joined():
    text = "12 Mill Road, Ashford"
    spans = [Span("r", 0, 12, "ADDRESS"), Span("r", 3, 21, "LOCATION", identifier_type="quasi")]
    assert redact(text, spans, "placeholder").text == "[LOCATION]"


def test_a_span_outside_the_text_names_no_text():
    with pytest.raises(DataError) as caught:
        redact("secret name", [Span("r", 3, 40, "PERSON")], "mask")
    assert "secret" not in str(caught.value)


def test_unknown_style():
    with pytest.raises(UserError, match="placeholder, numbered, mask, remove, generalise"):
        redact("x", [], "blur")


@st.composite
def texts_with_spans(draw):
    text = draw(st.text(min_size=1, max_size=80))
    spans = []
    for _ in range(draw(st.integers(0, 6))):
        start = draw(st.integers(0, len(text)))
        spans.append(Span("r", start, draw(st.integers(start, len(text))), draw(st.sampled_from(sorted(LABELS)))))
    return text, spans


@settings(max_examples=150, deadline=None)
@given(texts_with_spans(), st.sampled_from(sorted(CASES)))
def test_any_text_and_spans(case, style):
    text, spans = case
    result = redact(text, spans, style)
    at = 0
    for placed in result.spans_in_output:
        assert at <= placed.start < placed.end <= len(result.text)
        at = placed.end
    if style == "mask":
        assert len(result.text) == len(text)
    if not any(s.end > s.start for s in spans):
        assert result.text == text
