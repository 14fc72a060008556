"""What a small model learns from a text: words, chance, copies of the kind, another kind, one repeated sentence."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from engine.examine.findings.part import Part
from engine.examine.prepare import ExamineInput, prepare
from engine.examine.usefulness.downstream import language_model
from engine.examine.usefulness.downstream.language_model import examine_language
from engine.models.tune import small_causal as lm

SPANS = pd.DataFrame(columns=["record_id", "start", "end", "label", "identifier_type"])
WHOLE = [0, 7, 14]  # places of the models of each side as it is; behind the first two stand six trained anew
NOUNS = ["arm", "leg", "head", "back", "knee"]


def notes(n: int, seed: int, turned: bool = False) -> list[str]:
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(n):
        words = f"the patient had pain in the {rng.choice(NOUNS)} and took {rng.integers(1, 9)} tablets of it".split()
        found.append(" ".join(words[::-1] if turned else words))
    return found


def frame(texts: list[str], mark: str) -> pd.DataFrame:
    ids = [f"{mark}{i}" for i in range(len(texts))]
    return pd.DataFrame({"record_id": ids, "text": texts, "source_id": ids, "label": None, "lineage": None})


def asked(synthetic: list[str], real: int = 120, holdout: int = 40, models: bool = True) -> Part:
    sides = (frame(synthetic, "s"), frame(notes(real, 1), "t"), frame(notes(holdout, 2), "h"))
    return examine_language(prepare(ExamineInput(*sides, SPANS, SPANS, privacy=False, model_attacks=models)))


def values(part: Part) -> dict[tuple[str, str], float]:
    return {(one.name, one.reference): one.value for one in part.findings}


@pytest.fixture(scope="module")
def alike() -> Part:
    return asked(notes(120, 3))


def test_text_of_the_same_kind_teaches_as_much_as_real_text(alike):
    found = values(alike)
    assert found["next_word", "train"] == pytest.approx(found["next_word", "real"], abs=0.05)
    assert found["next_word", "real"] > 0.6
    assert found["next_word", "unrelated"] < 0.1
    assert found["next_word_loss", "real"] < 3 < found["next_word_loss", "unrelated"]
    (one,) = [f for f in alike.findings if (f.name, f.reference) == ("next_word", "train")]
    assert one.settings["untrained"] < 0.05
    assert one.low <= one.value <= one.high


def test_the_same_words_turned_around_teach_little(alike):
    found = values(asked(notes(120, 3, turned=True)))
    assert found["next_word", "train"] < values(alike)["next_word", "real"] / 2


def test_one_repeated_sentence_teaches_itself_alone(alike):
    found = asked(["the patient had pain in the arm and took 3 tablets of it"] * 120)
    ours, real = (next(f for f in found.findings if (f.name, f.reference) == ("next_word_loss", side))
                  for side in ("train", "real"))  # fmt: skip
    assert ours.low > real.high


def test_where_real_text_teaches_no_word_neither_side_has_an_accuracy():
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("abcdefghijklmnop"), 6)) for _ in range(3000)]

    def noise(n: int) -> list[str]:
        return [" ".join(rng.choice(words, 12)) for _ in range(n)]

    sides = (frame(noise(30), "s"), frame(noise(30), "t"), frame(noise(20), "h"))
    part = examine_language(prepare(ExamineInput(*sides, SPANS, SPANS, privacy=False)))
    found = {(f.name, f.reference): f for f in part.findings}
    for reference in ("train", "real"):
        assert math.isnan(found["next_word", reference].value)
        assert "too few" in found["next_word", reference].settings["why"]
        assert math.isfinite(found["next_word_loss", reference].value)


def test_it_repeats(alike):
    assert values(asked(notes(120, 3))) == values(alike)


def test_all_sides_are_trained_on_as_many_tokens(monkeypatch):
    seen = []
    fitted = lm.fitted

    def spy(rows, members, *more):
        seen.extend(
            int(sum(len(row) for row, member in zip(rows, mine, strict=True) if member)) for mine in members[WHOLE]
        )
        return fitted(rows, members, *more)

    monkeypatch.setattr(lm, "fitted", spy)
    part = asked(notes(70, 3), real=300)
    assert len(set(seen)) == 1
    assert len(seen) == 3
    assert part.findings[0].settings["tokens_a_side"] == seen[0]


@pytest.mark.parametrize(
    ("options", "why"),
    [({"models": False}, "switched off"), ({"holdout": 4}, "at least 10"), ({"holdout": 0}, "holdout"),
     ({"real": 3}, "tokens to train on")],
)  # fmt: skip
def test_what_cannot_be_asked_says_why(options, why):
    for one in asked(notes(120, 3), **options).findings:
        assert math.isnan(one.value)
        assert why in one.settings["why"]


@pytest.mark.parametrize("made", [[""] * 40, notes(3, 3)], ids=["nothing", "three records"])
def test_nothing_and_three_records_are_too_few(made):
    for one in asked(made).findings:
        assert math.isnan(one.value)
        assert "at least 500 are needed" in one.settings["why"]


def test_words_are_what_stands_between_blanks():
    (row,) = lm.encode(["Pain in left arm.\nFever 39.5"])
    word = lm.words_of(row)
    pieces = ["".join(lm.decode([row[word == i]])) for i in range(word.max() + 1)]
    assert [piece.strip() for piece in pieces] == ["Pain", "in", "left", "arm.", "Fever", "39.5"]
    assert word[-1] == -1, "the end is no word"


def test_a_word_is_right_when_each_of_its_tokens_is():
    (row,) = lm.encode(["Pain in left arm"])
    word = lm.words_of(row)
    answer = np.zeros((2, 1, len(row)))
    answer[0] = -math.log(2)
    answer[1] = 1
    answer[1, 0, np.flatnonzero(word == 2)[-1]] = 0
    loss, right = language_model._a_word(answer, row)
    assert right[0].tolist() == [1, 0, 1]  # without the first word
    assert loss[0].tolist() == [np.sum(word == i) for i in (1, 2, 3)]


def test_next_tokens_agree_with_the_mean_log_probability():
    stack = lm.Stack(lm.Shape(lm.vocabulary_size(), 32, 1, context=32), [1, 2])
    rows = lm.encode(["Pain in left arm", "a fever"])
    for row, mean, found in zip(rows, lm.mean_log_probability(stack, rows).T, lm.next_tokens(stack, rows), strict=True):
        assert found.shape == (2, 2, len(row))
        assert found[0].mean(axis=1) == pytest.approx(mean, rel=1e-5)


def test_texts_of_people_drawn_twice_are_given_twice(monkeypatch):
    """Each refit has as many people as the side, each person's texts as often as the person was drawn."""
    seen = []
    fitted = lm.fitted

    def spy(rows, members, *more):
        seen.append(([row.tobytes() for row in rows], members))
        return fitted(rows, members, *more)

    monkeypatch.setattr(lm, "fitted", spy)
    (one, *_) = [f for f in asked(notes(70, 3), real=90).findings if f.name == "next_word_loss"]
    rows, members = seen[0]
    assert one.settings["models_trained_anew"] == 6
    assert "training anew" in one.settings["interval_is_of"]
    given = [[row for row, own in zip(rows, mine, strict=True) if own] for mine in members]
    whole, again = given[0], given[1:7]
    assert len({tuple(sorted(one)) for one in again}) == 6, "each is drawn anew"
    for one in again:
        assert set(one) <= set(whole)
        assert len(one) == len(whole)
        assert len(set(one)) < len(set(whole))


@pytest.mark.long
@pytest.mark.timeout(2400)
@pytest.mark.parametrize("texts", [30, 120])
def test_intervals_hold_what_models_score_on_average(texts):
    """Forty draws of texts, of what is asked and of training; over the words asked alone, the loss was held in half."""
    found = []
    for draw in range(40):
        made, train, held = (frame(notes(n, 1_000 + 3 * draw + i), mark) for i, (n, mark) in
                             enumerate(((texts, "s"), (texts, "t"), (40, "h"))))  # fmt: skip
        part = examine_language(prepare(ExamineInput(made, train, held, SPANS, SPANS, privacy=False, seed=draw)))
        found += [(f.name, f.value, f.low, f.high) for f in part.findings if f.reference != "unrelated"]
    for name in ("next_word", "next_word_loss"):
        values, low, high = np.array([one[1:] for one in found if one[0] == name], float).T
        assert len(values) >= 60, "in most draws the models learn something"
        assert np.mean((low <= values.mean()) & (values.mean() <= high)) >= 0.85
        assert np.mean(high - low) < 3 * 2 * 1.96 * values.std()
