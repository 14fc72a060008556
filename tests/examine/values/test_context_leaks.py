"""PIPP and ELP against contexts and tuning sets, counted by hand on planted texts."""

from __future__ import annotations

import math

import pytest

from engine.examine.values.context_leaks import LeakMeter
from engine.pii.control_codes import Passage
from engine.pii.spans import Span


def passage(record, text, *names):
    spans = []
    for name in names:
        at = text.index(name)
        spans.append(Span(record, at, at + len(name), "PERSON", identifier_type="direct"))
    return Passage(record, 0, text, tuple(spans))


ANN = passage("a", "Ann Lee saw Tom Stone at noon.", "Ann Lee", "Tom Stone")
IDA = passage("b", "Ida Berg went home by tram.", "Ida Berg")
NONE = passage("c", "Nobody is named in this one.")


def test_in_context_counts_only_what_the_prompt_showed():
    texts = ["ANN LEE left", "Ida Berg left", "nothing here", "Tom Stone and Ann Lee"]
    shown = [[ANN, NONE], [ANN, NONE], [NONE], [ANN, IDA]]
    found = LeakMeter([ANN, IDA, NONE]).in_context(texts, shown)
    assert found.pipp == pytest.approx(2 / 4)  # the second text's leak is not of its own context
    assert found.elp == pytest.approx((1 / 2 + 0 + 2 / 3) / 3)  # a context without an entity is left out
    assert found.entities == 3


def test_tuned_counts_any_entity_and_each_entity_once():
    texts = ["Ann Lee and Ann Lee", "Ida Berg left", "nothing here", "a lee and a stone"]
    found = LeakMeter([ANN, IDA, NONE]).tuned(texts)
    assert found.pipp == pytest.approx(2 / 4)
    assert found.elp == pytest.approx(2 / 3)


def test_a_copy_has_overlap_one_and_strangers_none():
    meter = LeakMeter([ANN, IDA])
    assert meter.tuned([ANN.text, IDA.text]).rouge_l == pytest.approx(1.0)
    assert meter.tuned(["quite other words entirely"]).rouge_2 == 0.0
    near = meter.in_context([ANN.text], [[ANN]])
    assert (near.rouge_2, near.rouge_l) == (1.0, 1.0)
    joined = meter.in_context([ANN.text], [[ANN, IDA]])
    assert 0.5 < joined.rouge_l < 1.0


def test_nothing_to_leak_is_no_share():
    assert math.isnan(LeakMeter([NONE]).tuned(["a text"]).elp)
    assert math.isnan(LeakMeter([ANN]).tuned([]).pipp)
