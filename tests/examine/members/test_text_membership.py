"""Membership by n-grams and neighbours: planted seeds are seen, nothing is seen under the null."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from engine.corpus.text.words import Vocabulary, cut
from engine.examine.findings.part import Part
from engine.examine.members.neighbours import examine_neighbours
from engine.examine.members.neighbours_scores import by_words
from engine.examine.members.ngrams import examine_ngrams, public_words
from engine.examine.members.ngrams_scores import fit, score
from engine.examine.prepare import CancelledError, ExamineInput, Prepared, prepare
from engine.examine.stats.roc import auc
from tests.examine.examine_helpers import WordEmbedder, spans_of, synthetic

NAMES = ("ngram", "ngram_window", "neighbours_jaccard_1", "neighbours_jaccard_25")


@pytest.fixture(scope="module")
def many(test_data: Path) -> pd.DataFrame:
    """3,600 different real notes, in random order."""
    table = pd.read_parquet(test_data / "vaers_1998_1999.parquet").drop_duplicates("text").sample(3600, random_state=2)
    return pd.DataFrame(
        {"record_id": table["report_id"].astype(str), "text": table["text"], "source_id": None, "label": None}
    ).reset_index(drop=True)


def prepared(train: pd.DataFrame, holdout: pd.DataFrame, made: pd.DataFrame, **given: Any) -> Prepared:
    nothing = spans_of(train.head(0))
    tools = {name: given.pop(name) for name in ("embedder", "unit") if name in given}
    return prepare(ExamineInput(made, train, holdout, nothing, nothing, seed=3, **tools), **given)


def row(part: Part, name: str, reference: str = "train") -> Any:
    found = [f for f in part.findings if (f.name, f.reference) == (name, reference)]
    assert len(found) == 1, name
    return found[0]


def both(given: Prepared) -> Part:
    part = examine_ngrams(given)
    part.add(examine_neighbours(given))
    return part


def test_seeds_of_which_a_tenth_was_copied_are_recognised_at_one_per_cent_false_alarms(many: pd.DataFrame) -> None:
    fresh, holdout, train = many.iloc[:300], many.iloc[300:1500], many.iloc[1500:].reset_index(drop=True)
    texts = [train["text"][i] if i % 10 == 0 else text for i, text in enumerate(fresh["text"])]
    made = synthetic(texts, train["record_id"].tolist()[:300])
    part = both(prepared(train, holdout.reset_index(drop=True), made, embedder=WordEmbedder()))
    planted = set(train["record_id"][:300:10])
    for name in (*NAMES[:3], "neighbours_cosine_1"):
        area, rate = row(part, name), row(part, f"{name}_tpr01")
        assert area.settings["members"] == 300
        assert area.settings["members_are"] == "records that synthetic ones stem from"
        assert rate.low > 0.01, (name, rate.value, rate.low)
        ranking = part.tables["ranking"].query("attack == @name").head(30)
        assert ranking["record_id"].isin(planted).mean() > 0.6, name
        assert (ranking["percentile"].diff().dropna() <= 0).all()
    assert set(part.tables["attacks"]["observes"]) == {"released text"}
    assert len(part.tables["attacks"]) == 10
    assert "text" not in set().union(*(table.columns for table in part.tables.values()))


def test_a_release_of_copies_is_recognised_whoever_the_members_are(many: pd.DataFrame) -> None:
    train, holdout = many.iloc[:150].reset_index(drop=True), many.iloc[150:300].reset_index(drop=True)
    part = both(prepared(train, holdout, synthetic(train["text"].tolist())))
    for name in NAMES[:3]:
        assert row(part, name).low > 0.8
        assert row(part, name).settings["members_are"] == "training records"
        assert row(part, name, "holdout").low < 0.5 < row(part, name, "holdout").high
        assert "why" in row(part, f"{name}_tpr01").settings  # 150 non-members are too few
    assert all(np.isnan(row(part, f"neighbours_cosine_{k}").value) for k in (1, 5, 10, 25))  # no embedder


@pytest.mark.parametrize("draws", [100])
def test_scores_of_real_notes_that_nobody_used_are_chance(many: pd.DataFrame, draws: int) -> None:
    """Null: the 95% interval holds 0.5 in at least 87 of 100 fair splits, 92% pooled."""
    from engine.corpus.samples import load_sample

    vocabulary = Vocabulary()
    words = cut(many["text"].tolist(), vocabulary)
    made, private = words.take(np.arange(200)), words.take(np.arange(200, 2200))
    ratio = fit(made, cut(load_sample("support_tickets")["text"].tolist(), vocabulary))
    assert ratio is not None
    grams = score(ratio, private)
    near = by_words(private, made, len(vocabulary), (1, 25))
    scores = {"ngram": grams.mean, "ngram_window": grams.window, "jaccard_1": near[:, 0], "jaccard_25": near[:, 1]}
    inside = dict.fromkeys(scores, 0)
    for draw in range(draws):
        held = np.random.default_rng(draw).random(2000) < 0.3
        for name, values in scores.items():
            found = auc(values[~held], values[held])
            assert found.low is not None
            assert found.high is not None
            inside[name] += found.low <= 0.5 <= found.high
    assert min(inside.values()) >= 0.87 * draws, inside
    assert sum(inside.values()) >= 0.92 * draws * len(inside), inside


def test_people_with_several_records_are_drawn_as_one(many: pd.DataFrame) -> None:
    records = many.head(400).assign(source_id=[f"p{i // 4}" for i in range(400)])
    train, holdout = records.iloc[:240].reset_index(drop=True), records.iloc[240:].reset_index(drop=True)
    made = synthetic(many["text"].tolist()[400:500])
    found = row(examine_ngrams(prepared(train, holdout, made, unit="source")), "ngram")
    assert "units" in found.settings["method"]
    plain = row(examine_ngrams(prepared(train, holdout, made)), "ngram")
    assert found.value == plain.value


def test_reasons_are_given_where_inputs_lack(many: pd.DataFrame) -> None:
    train, holdout = many.iloc[:50].reset_index(drop=True), many.iloc[50:90].reset_index(drop=True)
    alone = both(prepared(train, holdout.head(0), synthetic(["a b c"])))
    assert all("holdout" in f.settings["why"] for f in alone.findings)
    few = both(prepared(train, holdout, synthetic(["fever and rash", "pain"])))
    assert "2 synthetic records" in row(few, "neighbours_jaccard_5").settings["why"]
    assert np.isfinite(row(few, "neighbours_jaccard_1").value)
    empty = both(prepared(train, holdout, synthetic(["", "!"])))
    assert "no words" in row(empty, "ngram").settings["why"]


def test_parts_are_the_same_for_the_same_seed_tell_progress_and_stop(many: pd.DataFrame) -> None:
    train, holdout = many.iloc[:120].reset_index(drop=True), many.iloc[120:200].reset_index(drop=True)
    made = synthetic(many["text"].tolist()[200:240])
    stages: list[str] = []
    first = both(prepared(train, holdout, made, progress=lambda stage, done, total: stages.append(stage)))
    second = both(prepared(train, holdout, made))
    pd.testing.assert_frame_equal(first.tables["attacks"], second.tables["attacks"])
    assert {"phrases of the synthetic text: train", "neighbours by words: holdout"} <= set(stages)
    asked = 0

    def stop() -> bool:
        nonlocal asked
        asked += 1
        return asked > 3

    for examine in (examine_ngrams, examine_neighbours):
        asked = 0
        with pytest.raises(CancelledError):
            examine(prepared(train, holdout, made, cancelled=stop))


def test_a_made_up_corpus_under_examination_is_no_reference_for_itself() -> None:
    from engine.corpus.samples import load_sample

    frame = load_sample("clinic_letters")[["record_id", "text", "source_id", "label"]]
    given = prepared(frame.head(60), frame.iloc[60:90], synthetic(["a letter"]))
    words, names = public_words(given)
    assert names == "made-up support tickets, court decisions"
    assert words.size == 1040
