"""A trained encoder: it learns what the words say, the same seed gives the same answers, and it can be stopped."""

from __future__ import annotations

import numpy as np
import pytest

from engine.models.tune import encoder_classifier
from engine.models.tune.encoder_classifier import tuned_answers

TOPICS = ("the knee was sore after the run", "a high fever and a cough at night", "the court dismissed the appeal")


def texts(n: int, seed: int) -> tuple[list[str], np.ndarray]:
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 3, n)
    filler = "on monday she went to town and met her old friend there".split()
    made = [" ".join(rng.permutation([*TOPICS[code].split(), *filler])) for code in codes]
    return made, codes


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoder_classifier, "LEAST_STEPS", 20)
    monkeypatch.setattr(encoder_classifier, "EPOCHS", 1)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoder_classifier, "LEAST_STEPS", 6)
    monkeypatch.setattr(encoder_classifier, "EPOCHS", 1)


@pytest.mark.slow
@pytest.mark.usefixtures("short")
def test_it_learns_topics_and_repeats() -> None:
    learn, codes = texts(96, 1)
    asked, truth = texts(40, 2)
    first = tuned_answers(learn, codes, asked, 3, seed=5)
    assert (first == truth).mean() > 0.9
    assert (tuned_answers(learn, codes, asked, 3, seed=5) == first).all()


@pytest.mark.usefixtures("few")
def test_a_label_never_shown_is_not_answered_and_stopping_stops() -> None:
    learn, codes = texts(32, 3)
    only = [text for text, code in zip(learn, codes, strict=True) if code < 2]
    found = tuned_answers(only, codes[codes < 2], learn[:12], 3, seed=1)
    assert set(found.tolist()) <= {0, 1}

    def stop(done: int, total: int) -> None:
        assert total == 6
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tuned_answers(learn, codes, learn[:4], 3, seed=1, report=stop)


@pytest.mark.usefixtures("few")
def test_long_and_empty_texts_are_read() -> None:
    learn, codes = texts(32, 4)
    found = tuned_answers(["", *learn[1:]], codes, ["", "fever " * 2000, "knee"], 3, seed=1)
    assert found.shape == (3,)
