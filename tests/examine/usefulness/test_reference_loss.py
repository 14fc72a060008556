"""Surprise under public text: by hand, equal sources, shuffled words, one repeated sentence, few and none."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest

from engine.corpus.samples import load_sample
from engine.examine.findings.part import Part
from engine.examine.prepare import ExamineInput, prepare
from engine.examine.usefulness.wording.reference_loss import bits_a_word, encoded, examine_reference_loss, model_of

SPANS = pd.DataFrame(columns=["record_id", "start", "end", "label", "identifier_type"])


@pytest.fixture(scope="module")
def letters() -> list[str]:
    return list(load_sample("clinic_letters")["text"].head(240))


def frame(texts: Sequence[str], mark: str) -> pd.DataFrame:
    ids = [f"{mark}{i}" for i in range(len(texts))]
    return pd.DataFrame({"record_id": ids, "text": list(texts), "source_id": ids, "label": None, "lineage": None})


def asked(made: Sequence[str], real: Sequence[str]) -> Part:
    sides = (frame(made, "s"), frame(real, "t"), frame([], "h"))
    return examine_reference_loss(prepare(ExamineInput(*sides, SPANS, SPANS, privacy=False)))


def values(part: Part) -> dict[str, float]:
    return {one.reference: one.value for one in part.findings}


def test_bits_a_word_are_those_of_the_model_document_by_document() -> None:
    public = ["the pain was in the left arm", "the pain was gone", "a fever in the night"] * 4
    model = model_of(encoded(public))
    texts = ["the pain was gone", "", "a fever"]
    found = bits_a_word(model, texts, np.array([4, 0, 2]))
    for row, words in ((0, 4), (2, 2)):
        likely = 0.999 * model.probabilities(encoded(texts)[row : row + 1]) + 0.001 / model.vocabulary
        assert found[row] == pytest.approx(-np.log2(likely).sum() / words)
    assert np.isnan(found[1])
    assert found[0] < bits_a_word(model, ["gone was pain the"], np.array([4]))[0]


def test_one_source_is_as_surprising_and_the_reference_holds_nothing_of_its_kind(letters: list[str]) -> None:
    part = asked(letters[:80], letters[80:])
    found = values(part)
    assert found["train"] == pytest.approx(found["real"], rel=0.06)
    for one in part.findings:
        assert one.low < one.value < one.high
        assert sorted(one.settings["counted_in"]) == ["court_decisions", "support_tickets"]
        assert one.settings["texts_a_side"] == one.n


def test_shuffled_words_surprise_more_and_stock_text_less(letters: list[str]) -> None:
    rng = np.random.default_rng(0)
    shuffled = [" ".join(rng.permutation(text.split())) for text in letters[:80]]
    ours, real = asked(shuffled, letters[80:]).findings
    assert ours.low > real.high
    plain = values(asked(["Thank you for your message. We will call you."] * 80, letters[80:]))
    assert plain["train"] < 0.9 * plain["real"]


def test_few_texts_and_texts_without_words_give_no_number(letters: list[str]) -> None:
    for part in (asked(letters[:3], letters[:6]), asked(["..."] * 30, letters[:60])):
        (one,) = [one for one in part.findings if one.reference == "train"]
        assert math.isnan(one.value)
        assert one.settings["why"]
