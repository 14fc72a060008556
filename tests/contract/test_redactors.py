"""What every redaction style must do, over the registry, on the sample corpora."""

from __future__ import annotations

import pytest

from engine.corpus.samples import SAMPLES, load_sample
from engine.pii.redact import REDACTORS, redact
from engine.pii.spans import Span

STYLES = [redactor.id for redactor in REDACTORS]


@pytest.fixture(scope="module")
def records():
    rows = []
    for info in SAMPLES:
        for row in load_sample(info.id).head(60).itertuples():
            spans = [
                Span(row.record_id, s["start"], s["end"], s["label"], identifier_type=s["identifier_type"])
                for s in row.spans
            ]
            rows.append((row.text, spans))
    return rows


def test_registry():
    assert STYLES == ["placeholder", "numbered", "mask", "remove", "generalise"]
    for redactor in REDACTORS:
        assert redactor.title
        assert redactor.sentence.endswith(".")


@pytest.mark.parametrize("style", STYLES)
def test_text_between_the_values_stays_and_values_go(style, records):
    for text, spans in records:
        result = redact(text, spans, style)
        at = 0
        outside = []
        for placed in result.spans_in_output:
            outside.append(result.text[at : placed.start])
            at = placed.end
        if style != "remove":
            outside.append(result.text[at:])
            original, last = [], 0
            for span in spans:
                original.append(text[last : span.start])
                last = span.end
            assert outside == [*original, text[last:]]
        for placed, span in zip(result.spans_in_output, spans):
            new, old = result.text[placed.start : placed.end], text[span.start : span.end]
            assert new != old or (style == "generalise" and placed.label == "DATE" and old.isdigit())  # a year stays


@pytest.mark.parametrize("style", STYLES)
def test_same_input_same_output_and_order_does_not_matter(style, records):
    for text, spans in records[:40]:
        assert redact(text, spans, style) == redact(text, spans[::-1], style)


@pytest.mark.parametrize("style", STYLES)
def test_no_spans_no_change(style):
    assert redact("Nothing to see here.", [], style).text == "Nothing to see here."
