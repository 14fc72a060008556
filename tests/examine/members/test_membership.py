"""The common form of membership attacks: findings, tables, duplicates, and the blind baseline that greys them."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from engine.errors import InternalError
from engine.examine.members import membership
from engine.examine.members.blind import blind_baseline, near_duplicates
from engine.examine.prepare import CancelledError, ExamineInput, Prepared, prepare

WORDS = [f"w{i}" for i in range(300)]
ATTACK = "mia_ppl"


def texts(rng, size, extra=None, share=1.0):
    made = [" ".join(rng.choice(WORDS, 25)) for _ in range(size)]
    return [f"{text} {extra}" if extra and rng.random() < share else text for text in made]


def made(train, holdout, *, unit="record", sources=1, seed=0, **tools) -> Prepared:
    frames = []
    for side, values in (("t", train), ("h", holdout)):
        ids = [f"{side}{i}" for i in range(len(values))]
        frames.append(
            pd.DataFrame({"record_id": ids, "text": values, "label": None,
                          "source_id": [f"{side}p{i // sources}" for i in range(len(values))]})
        )  # fmt: skip
    none = pd.DataFrame(columns=["record_id", "start", "end", "label", "identifier_type"])
    synthetic = pd.DataFrame({"record_id": ["s0"], "text": ["w1 w2 w3"], "label": [None], "lineage": [None]})
    return prepare(ExamineInput(synthetic, *frames, none, none, unit=unit, seed=seed), **tools)


def even(rng, train=60, holdout=40, **options) -> Prepared:
    return made(texts(rng, train), texts(rng, holdout), **options)


def row(part, name, reference):
    (found,) = [f for f in part.findings if (f.name, f.reference) == (name, reference)]
    return found


def test_every_number_comes_with_its_references_and_tables():
    rng = np.random.default_rng(1)
    prepared = even(rng)
    part = membership.membership_part(
        prepared, ATTACK, "Perplexity", membership.TRAINED, rng.normal(2, 1, 60), rng.normal(0, 1, 40), note="said"
    )
    assert row(part, ATTACK, "train").value > 0.8
    assert row(part, ATTACK, "train").settings["p"] == 0.001
    assert row(part, ATTACK, "baseline").low <= 0.5 <= row(part, ATTACK, "baseline").high
    assert row(part, ATTACK, "holdout").n == 40  # one half of the holdout against the other
    rate = row(part, f"{ATTACK}_tpr01", "train")
    assert math.isnan(rate.value)
    assert "40 non-members are fewer than the 1000" in rate.settings["why"]
    attacks = part.tables["attacks"].iloc[0]
    assert attacks["observes"] == "model trained on it"
    assert attacks["note"] == "said"
    assert not attacks["greyed"]
    assert attacks["members"] == 60
    assert attacks["without_duplicates_auc"] == pytest.approx(attacks["auc"])  # there are none
    assert attacks["freedom"] > 1  # of Student's t, for who judges many attacks together
    assert set(part.tables["roc"]["attack"]) == {ATTACK}
    ranking = part.tables["ranking"]
    assert ranking["score"].is_monotonic_decreasing
    assert ranking.iloc[0]["percentile"] == 1.0
    assert "w1" not in part.tables["ranking"].to_csv()  # ids only, never text


def test_rates_at_one_per_cent_with_enough_holdout():
    rng = np.random.default_rng(1)
    prepared = even(rng, 30, 1000)
    part = membership.membership_part(prepared, ATTACK, "t", "o", rng.normal(6, 1, 30), rng.normal(0, 1, 1000))
    rate = row(part, f"{ATTACK}_tpr01", "train")
    assert rate.value > 0.9
    assert part.tables["attacks"].iloc[0]["tpr_01"] == rate.value
    assert math.isnan(part.tables["attacks"].iloc[0]["tpr_001"])  # needs 10,000


def test_only_seeds_are_members_and_rows_are_kept_for_groups():
    rng = np.random.default_rng(1)
    prepared = even(rng)
    seeds = np.arange(50) % 5 == 0
    scores = np.where(seeds, 1.0, -9.0)
    part = membership.membership_part(
        prepared, ATTACK, "t", "o", scores, np.zeros(40), train_rows=np.arange(10, 60), members=seeds
    )
    assert row(part, ATTACK, "train").value == 1.0
    assert part.tables["ranking"]["record_id"].tolist() == [f"t{i}" for i in range(10, 60, 5)]
    (kept,) = prepared.kept[membership.SCORES]
    assert kept.train_rows.tolist() == list(range(10, 60, 5))


def test_an_attack_that_only_sees_copies_across_the_sides_is_shown_without_them():
    rng = np.random.default_rng(1)
    train, holdout = texts(rng, 60), texts(rng, 60)
    holdout[:20] = train[:20]
    prepared = made(train, holdout)
    ours, theirs = near_duplicates(prepared)
    assert ours.nonzero()[0].tolist() == theirs.nonzero()[0].tolist() == list(range(20))
    scores = (ours * 1.0, rng.random(60) * 0.0)  # members that have a twin are "recognised"
    part = membership.membership_part(prepared, ATTACK, "t", "o", *scores)
    assert part.tables["attacks"].iloc[0]["auc"] == pytest.approx(0.5 + 20 / 60 / 2)
    assert part.tables["attacks"].iloc[0]["without_duplicates_auc"] == 0.5


def test_no_holdout_or_no_seed_is_said():
    rng = np.random.default_rng(1)
    part = membership.membership_part(even(rng, 30, 0), ATTACK, "t", "o", np.zeros(30), np.zeros(0))
    assert "holdout" in row(part, ATTACK, "train").settings["why"]
    assert not part.tables
    part = membership.membership_part(even(rng), ATTACK, "t", "o", np.zeros(60), np.zeros(40), members=np.zeros(60))
    assert "seed" in row(part, ATTACK, "train").settings["why"]
    with pytest.raises(InternalError, match="mia_ppl"):
        membership.membership_part(even(rng), ATTACK, "t", "o", np.zeros(59), np.zeros(40))


def test_blind_baseline_greys_attacks_on_sides_that_differ():
    rng = np.random.default_rng(1)
    prepared = made(texts(rng, 120, "in the year two thousand", 0.6), texts(rng, 120))
    blind = blind_baseline(prepared)
    assert blind.excludes_chance
    assert blind.interval.value > 0.7
    part = membership.membership_part(prepared, ATTACK, "t", "o", rng.random(120), rng.random(120))
    assert part.tables["attacks"].iloc[0]["greyed"]
    assert row(part, ATTACK, "train").settings["greyed"]
    assert membership.examine_blind(prepared).tables["attacks"].iloc[0]["auc"] == blind.interval.value


def test_blind_baseline_is_computed_once_and_stops_when_asked():
    rng = np.random.default_rng(1)
    seen: list[str] = []
    prepared = even(rng, progress=lambda stage, done, total: seen.append(stage))
    assert blind_baseline(prepared) is blind_baseline(prepared)
    assert seen.count("blind baseline") == 7
    stopped = even(rng, cancelled=lambda: True)
    with pytest.raises(CancelledError):
        blind_baseline(stopped)


def test_blind_baseline_says_when_there_are_too_few():
    rng = np.random.default_rng(1)
    blind = blind_baseline(even(rng, 60, 15))
    assert math.isnan(blind.interval.value)
    assert not blind.excludes_chance
    assert "20 units" in blind.why
    part = membership.examine_blind(even(rng, 60, 15))
    assert "20 units" in row(part, "blind", "train").settings["why"]


def test_blind_baseline_does_not_grey_because_of_a_persons_style():
    """Each person has favourite words: folds by unit, and an interval by unit, still cover chance."""
    hits = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        sides = []
        for people in (30, 25):
            own = [rng.choice(WORDS, 12) for _ in range(people)]
            sides.append([" ".join(rng.choice(own[i // 4], 20)) for i in range(4 * people)])
        blind = blind_baseline(made(*sides, unit="source", sources=4, seed=seed))
        hits += not blind.excludes_chance
    assert hits >= 10


@pytest.mark.slow
def test_blind_baseline_covers_chance_under_the_null():
    """A fixed corpus split at random, 100 times, with twins among its records."""
    rng = np.random.default_rng(5)
    corpus = texts(rng, 180)
    corpus += corpus[:12]
    hits = 0
    for seed in range(100):
        order = np.random.default_rng(seed).permutation(len(corpus))
        part = [corpus[i] for i in order]
        hits += not blind_baseline(made(part[:110], part[110:], seed=seed)).excludes_chance
    assert hits >= 87
