"""What a run noted, in words: agreement beside chance, with intervals that allow for texts of one seed being alike."""

import numpy as np
import pytest

from engine.examine.findings.run_notes import read
from engine.methods.rpsg.tone import agreement


def note(wanted, found, name="candidates"):
    return {n.name: n for n in read({"tone": {name: agreement(wanted, found)}})}[f"tone_{name}"]


def test_agreement_stands_beside_what_chance_gives():
    found = note([0, 0, 1, 1], [[0, 0], [0, 1], [1, 1], [1, 1]])
    assert found.values["value"] == 7 / 8
    assert found.values["chance"] == pytest.approx((4 * 3 + 4 * 5) / 64)
    assert found.values["low"] < 7 / 8 < found.values["high"]
    assert "7 of 8 abstractions kept the sentiment of their seed: 88%" in found.sentence


@pytest.mark.parametrize(("alike", "size"), [(0.0, 60), (0.9, 60), (0.9, 400)])
def test_texts_without_any_say_are_at_chance_also_where_one_seeds_texts_are_alike(alike, size):
    rng = np.random.default_rng(5)
    beyond = []
    for _ in range(200):
        wanted = rng.integers(0, 3, size)
        first = rng.integers(0, 3, size)
        texts = [[int(f) if rng.random() < alike else int(rng.integers(0, 3)) for _ in range(5)] for f in first]
        beyond.append(not note(wanted.tolist(), texts).problem)
    assert np.mean(beyond) < 0.08


def test_a_planted_effect_is_seen():
    rng = np.random.default_rng(6)
    wanted = rng.integers(0, 3, 60).tolist()
    texts = [[tone if rng.random() < 0.5 else int(rng.integers(0, 3))] for tone in wanted]
    found = note(wanted, texts, "outputs")
    assert not found.problem
    assert "outputs have the sentiment of their seed" in found.sentence


def test_a_choice_that_noise_decides_is_said_to_do_nothing():
    at_chance = {"fidelity": {"seeds": 57, "best_chosen": 11, "best_by_chance": 11.4}}
    (found,) = read(at_chance)
    assert found.problem
    assert "11 of 57 cases: 19%" in found.sentence
    assert "chance 20%. With this noise the choice does nothing" in found.sentence
    assert not read({"fidelity": {"seeds": 57, "best_chosen": 40, "best_by_chance": 11.4}})[0].problem


def test_runs_that_noted_none_of_this_say_nothing():
    assert read({}) == []
    assert read({"rounds": {"1": {"iteration": 1}}, "tone": {}, "fidelity": {"seeds": 5, "best_chosen": 2}}) == []
