"""Attacks on models trained on synthetic text: chance where nothing was used, seen where texts were copied."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from engine.examine.members.trained import models as model_attacks
from engine.examine.members.trained.models import CLASSIFIER, FULL, LANGUAGE, examine_model_attacks, shadow_count
from engine.examine.prepare import CancelledError, ExamineInput, Prepared, prepare

ATTACKS = (*LANGUAGE, *CLASSIFIER)
WORDS = [f"{a}{b}" for a in ("ba", "ke", "li", "mo", "nu", "so", "ti") for b in ("ra", "len", "mi", "tok", "vu", "x")]


def made_up(rng, count) -> pd.DataFrame:
    texts = [" ".join(rng.choice(WORDS, 14)) for _ in range(count)]
    return pd.DataFrame({"text": texts, "label": rng.choice(["a", "b"], count), "source_id": None})


def case(seed=0, train=60, holdout=50, count=40, copied=0.0, labels=True, **options) -> Prepared:
    """Synthetic records of which a share copies the training record it stems from; the rest is new text."""
    rng = np.random.default_rng(seed)
    sides = [made_up(rng, size).assign(record_id=[f"{name}{i}" for i in range(size)])
             for name, size in (("t", train), ("h", holdout))]  # fmt: skip
    synthetic = made_up(rng, count).assign(
        record_id=[f"s{i}" for i in range(count)], lineage=[f"t{i}" for i in range(count)]
    )
    for i in range(round(copied * count)):
        synthetic.loc[i, ["text", "label"]] = sides[0].loc[i, ["text", "label"]].tolist()
    if not labels:
        synthetic["label"] = None
    none = pd.DataFrame(columns=["record_id", "start", "end", "label", "identifier_type"])
    tools = {name: options.pop(name) for name in ("progress", "cancelled") if name in options}
    return prepare(ExamineInput(synthetic, *sides, none, none, seed=seed, **options), **tools)


def table(part) -> pd.DataFrame:
    return part.tables["attacks"].set_index("attack")


def why(part, name):
    return next(f.settings["why"] for f in part.findings if f.name == name)


def test_copies_are_seen_and_the_finding_says_what_was_done():
    part = examine_model_attacks(case(copied=1.0))
    found = table(part)
    assert list(found.index) == list(ATTACKS)
    for attack in ("mia_ppl", "mia_mink", "mia_minkpp", "mia_lira", "mia_rmia", "mia_confidence"):
        assert found.loc[attack, "low"] > 0.5, attack
        assert found.loc[attack, "p"] <= 0.01, attack
    assert found.loc["mia_lira", "auc"] > found.loc["mia_ppl", "auc"]
    assert set(found["observes"]) == {"model trained on it"}
    assert set(found["members"]) == {40}  # seeds only, not all 60
    settings = next(f.settings for f in part.findings if f.name == "mia_lira" and f.reference == "train")
    assert settings["shadows"] == 4
    assert settings["shadows_are"].startswith("4 shadow models, model-only: the method was not run again")
    assert settings["members_are"] == "records that synthetic ones stem from"
    assert {f.reference for f in part.findings if f.name == "mia_ppl"} == {"train", "holdout", "baseline"}


def test_text_that_used_nobody_is_chance():
    """Six seeds by eleven attacks; the slow test has a hundred."""
    hits = _null(range(6))
    assert np.mean(list(hits.values())) >= 0.87, hits


@pytest.mark.slow
def test_null_coverage_over_a_hundred_seeds():
    hits = _null(range(100))
    assert min(hits.values()) >= 0.87, hits
    assert 0.93 <= np.mean(list(hits.values())) <= 0.975, hits


def _null(seeds):
    found = {attack: [] for attack in ATTACKS}
    for seed in seeds:
        rows = table(examine_model_attacks(case(seed)))
        for attack in ATTACKS:
            found[attack].append(rows.loc[attack, "low"] <= 0.5 <= rows.loc[attack, "high"])
    return {attack: float(np.mean(values)) for attack, values in found.items()}


def test_the_same_seed_gives_the_same_numbers():
    first, second = (table(examine_model_attacks(case(copied=0.5))) for _ in range(2))
    pd.testing.assert_frame_equal(first, second)


def test_what_cannot_be_attacked_is_said():
    off = examine_model_attacks(case(model_attacks=False))
    assert not off.tables
    assert all("switched off" in f.settings["why"] for f in off.findings)
    assert len(off.findings) == 2 * len(ATTACKS)
    assert "holdout" in why(examine_model_attacks(case(holdout=0)), "mia_ppl")
    assert "labels" in why(examine_model_attacks(case(labels=False)), "mia_entropy")
    alone = examine_model_attacks(case(count=1))
    assert "no shadow model goes without" in why(alone, "mia_lira")
    assert math.isfinite(table(alone).loc["mia_ppl", "auc"])


def test_without_lineage_all_training_records_are_members():
    prepared = case(copied=1.0)
    prepared.synthetic = type(prepared.synthetic)(**{**vars(prepared.synthetic), "lineage": None})
    part = examine_model_attacks(prepared)
    assert set(table(part).loc[list(LANGUAGE), "members"]) == {60}
    assert table(part).loc["mia_rmia", "auc"] > 0.6  # 40 of the 60 were copied


def test_it_stops_in_the_middle_of_training():
    seen: list[str] = []
    prepared = case(
        progress=lambda stage, done, total: seen.append(stage),
        cancelled=lambda: seen.count("training on the synthetic text") > 3,
    )
    with pytest.raises(CancelledError):
        examine_model_attacks(prepared)
    assert seen.count("training on the synthetic text") == 4
    assert not any(word in stage for stage in seen for word in WORDS)


def test_fewer_shadows_where_texts_are_many():
    assert shadow_count(FULL, 15_000) == 16
    assert shadow_count(FULL, 100_000) == 8
    assert shadow_count(FULL, 10_000_000) == 4


def test_long_texts_are_sampled_to_the_time():
    prepared = case(train=200, holdout=120, count=90)
    whole = model_attacks.chosen(prepared, FULL)
    prepared.synthetic.texts[:] = ["word " * 4000] * 90  # 20,000 characters each
    cut = model_attacks.chosen(prepared, FULL)
    assert (len(whole.synthetic), len(cut.synthetic)) == (90, 50)
    assert set(prepared.train.record_ids[cut.train]) == set(prepared.synthetic.lineage[cut.synthetic])


def test_a_small_corpus_takes_little():
    assert model_attacks.effort_for(case()) is model_attacks.TINY
    assert model_attacks.effort_for(case(train=200, holdout=120)) is FULL
