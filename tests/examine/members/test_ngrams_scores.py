"""The n-gram attack by hand, and on text made so that the answer is known."""

from __future__ import annotations

import numpy as np
import pytest

from engine.corpus.text.words import Vocabulary, WordTable, cut
from engine.examine.members import ngrams_scores as ngram_membership
from engine.examine.members.ngrams_scores import fit, score

PUBLIC = ["the cat sat on the mat and the dog sat on the rug", "a dog and a cat ran to the mat"]
MADE = ["patient had fever after shot and slept", "patient had rash after shot", "the patient had fever and a rash"]


def tables(*sides: list[str]) -> tuple[WordTable, ...]:
    vocabulary = Vocabulary()
    return tuple(cut(side, vocabulary) for side in sides)


def test_a_copied_record_scores_above_the_same_words_in_another_order_and_those_above_unknown_ones() -> None:
    records = [
        "patient had fever after shot and slept",
        "slept and shot after fever had patient",
        "zebra quokka wombat emu ibis",
        "the cat sat",
    ]
    made, public, private = tables(MADE, PUBLIC, records)
    ratio = fit(made, public)
    assert ratio is not None
    copied, shuffled, unknown, of_public = score(ratio, private).mean
    assert copied > max(shuffled, unknown, of_public)
    assert shuffled > of_public
    assert unknown == pytest.approx(0.0, abs=1.0)  # no model knows them


def test_scores_are_the_mean_and_the_highest_window_of_the_models_own_probabilities() -> None:
    rng = np.random.default_rng(0)
    words = [f"w{i}" for i in range(40)]
    texts = [[" ".join(rng.choice(words, rng.integers(1, 30))) for _ in range(n)] for n in (30, 30, 25)]
    made, public, private = tables(*texts)
    ratio = fit(made, public)
    assert ratio is not None
    found = score(ratio, private, batch=7)
    for row in range(private.size):
        logs = ratio.ratios(private, np.array([row]))
        assert found.mean[row] == pytest.approx(logs.mean())
        width = min(10, len(logs))
        assert found.window[row] == pytest.approx(max(logs[i : i + width].mean() for i in range(len(logs) - width + 1)))
        assert found.window[row] >= found.mean[row] - 1e-9 or len(logs) > 10
        # and these are the log probabilities of both models, one document at a time
        one = ratio.documents(private, np.array([row]))
        for model in (ratio.synthetic, ratio.public):
            assert -np.log2(model.probabilities(one)).sum() == pytest.approx(model.bits(one[0]))


def test_one_copied_phrase_in_a_long_record_moves_the_window_more_than_the_mean() -> None:
    rng = np.random.default_rng(1)
    words = np.array([f"w{i}" for i in range(300)])
    phrase = "alpha beta gamma delta epsilon zeta eta theta iota kappa"
    made = [" ".join(rng.choice(words, 30)) for _ in range(60)] + [f"{phrase} " * 3]
    plain = [rng.choice(words, 120) for _ in range(80)]
    with_phrase = [" ".join([*text[:50], phrase, *text[50:]]) for text in plain[:40]]
    made_table, public, private = tables(made, PUBLIC, with_phrase + [" ".join(text) for text in plain[40:]])
    ratio = fit(made_table, public)
    assert ratio is not None
    found = score(ratio, private)
    assert found.window[:40].min() > found.window[40:].max()


def test_empty_records_get_the_mean_and_empty_texts_no_model() -> None:
    made, public, private, nothing = tables(MADE, PUBLIC, ["patient had", "", "cat sat"], ["", ""])
    ratio = fit(made, public)
    assert ratio is not None
    found = score(ratio, private)
    assert found.mean[1] == pytest.approx((found.mean[0] + found.mean[2]) / 2)
    assert np.isfinite(found.window).all()
    assert fit(nothing, public) is None
    assert fit(made, nothing) is None
    assert score(ratio, nothing).mean.tolist() == [0.0, 0.0]


def test_words_beyond_the_models_numbers_are_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ngram_membership, "MOST_WORDS", 5)
    made, public, private = tables(MADE, PUBLIC, ["patient had fever", "rug ran"])
    ratio = fit(made, public)
    assert ratio is not None
    assert ratio.synthetic.vocabulary == 8
    assert np.isfinite(score(ratio, private).mean).all()


def test_progress_is_told_and_a_raise_stops() -> None:
    made, public, private = tables(MADE, PUBLIC, ["patient had"] * 5)
    ratio = fit(made, public)
    assert ratio is not None
    told: list[tuple[int, int]] = []
    score(ratio, private, lambda *at: told.append(at), batch=2)
    assert told == [(2, 5), (4, 5), (5, 5)]
