"""Near copies planted in real notes come out against the training part, and nothing does under the null."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from engine.examine.findings.part import Part
from engine.examine.prepare import CancelledError, ExamineInput, Prepared, prepare
from engine.examine.repeats.near_copies import examine_near_copies
from tests.examine.examine_helpers import spans_of, synthetic

Notes = tuple[pd.DataFrame, pd.DataFrame, list[str]]


def prepared(train: pd.DataFrame, holdout: pd.DataFrame, made: pd.DataFrame, **given: Any) -> Prepared:
    nothing = spans_of(train.head(0))
    return prepare(ExamineInput(made, train, holdout, nothing, nothing, seed=3), **given)


def row(part: Part, name: str, reference: str) -> Any:
    found = [f for f in part.findings if (f.name, f.reference) == (name, reference)]
    assert len(found) == 1
    return found[0]


def changed(text: str) -> str:
    """Change every eighteenth word: no longer verbatim, still near."""
    return " ".join("xyz" if i % 18 == 17 else word for i, word in enumerate(text.split()))


def test_a_tenth_of_near_copies_shows_against_train_only(notes: Notes) -> None:
    train, holdout, fresh = notes
    long = train[train["text"].str.split().str.len() > 25].reset_index(drop=True)
    texts = [changed(long["text"][i // 10]) if i % 10 == 0 else fresh[i] for i in range(300)]
    part = examine_near_copies(prepared(train, holdout, synthetic(texts)))
    ours, theirs = row(part, "near_copies_05", "train"), row(part, "near_copies_05", "holdout")
    level = row(part, "near_copies_05", "baseline")
    assert ours.value == pytest.approx(0.10 + 0.9 * level.value, abs=0.03)
    assert ours.low > theirs.high
    assert row(part, "longest_run", "train").low > row(part, "longest_run", "holdout").high
    assert row(part, "longest_run", "train").settings["highest"] >= 17
    table = part.tables["near_copies"].query("reference == 'train'")
    planted = {f"s{i}": long["record_id"][i // 10] for i in range(0, 300, 10)}
    best = table.sort_values("jaccard").drop_duplicates("record_id", keep="last").set_index("record_id")
    assert {s: best.loc[s, "source_record_id"] for s in planted if s in best.index} == {
        s: source for s, source in planted.items() if s in best.index
    }
    assert len(set(planted) - set(best.index)) <= 3
    assert {"text"}.isdisjoint(table.columns)
    by_id = dict(zip([f"s{i}" for i in range(300)], texts, strict=True))
    for pair in table.itertuples():
        assert len(by_id[pair.record_id][pair.start : pair.end].split()) >= 1
        assert pair.words >= 5


@pytest.mark.parametrize(("draws", "least"), [(12, 10), pytest.param(100, 87, marks=pytest.mark.slow)])
def test_real_unused_notes_give_no_excess(notes: Notes, draws: int, least: int) -> None:
    """Null: the interval of train minus holdout holds 0 in nearly all draws of real text."""
    train, holdout, fresh = notes
    everything = pd.concat([train, holdout], ignore_index=True)
    inside = dict.fromkeys(("near_copies_05", "near_copies_08", "longest_run"), 0)
    rng = np.random.default_rng(5)
    for _ in range(draws):
        held = rng.random(len(everything)) < 0.3
        texts = rng.choice(np.array(fresh, object), 120, replace=False).tolist()
        part = examine_near_copies(
            prepared(
                everything[~held].reset_index(drop=True), everything[held].reset_index(drop=True), synthetic(texts)
            )
        )
        for name in inside:
            excess = row(part, f"{name}_excess", "holdout")
            inside[name] += excess.low <= 0 <= excess.high
    assert min(inside.values()) >= least, inside


def test_without_a_holdout_the_reason_is_given_and_without_words_nothing_breaks(notes: Notes) -> None:
    train, holdout, _ = notes
    part = examine_near_copies(prepared(train, holdout.head(0), synthetic(["", "pain"])))
    assert row(part, "near_copies_08", "train").value <= 0.5
    for reference in ("holdout", "baseline"):
        missing = row(part, "near_copies_08", reference)
        assert np.isnan(missing.value)
        assert "holdout" in missing.settings["why"]


def test_it_can_be_stopped_and_tells_progress(notes: Notes) -> None:
    train, holdout, fresh = notes
    stages: list[str] = []
    asked = 0

    def stop() -> bool:
        nonlocal asked
        asked += 1
        return asked > 6

    with pytest.raises(CancelledError):
        examine_near_copies(prepared(train, holdout, synthetic(fresh[:50]), cancelled=stop))
    examine_near_copies(prepared(train, holdout, synthetic(fresh[:50]), progress=lambda s, d, t: stages.append(s)))
    assert {"near copies: train", "near copies", "longest shared runs"} <= set(stages)


def test_duplicates_across_the_sides_are_those_of_the_import(notes: Notes) -> None:
    from engine.corpus.text.near_duplicates import near_duplicate_pairs

    train, holdout, fresh = notes
    twins = pd.concat([holdout, train.head(20).assign(record_id=[f"t{i}" for i in range(20)])], ignore_index=True)
    given = prepared(train, twins, synthetic(fresh[:20]))
    examine_near_copies(given)
    ours, theirs = given.kept["near duplicates"]
    pairs = near_duplicate_pairs(train["text"].tolist(), twins["text"].tolist())
    assert set(np.flatnonzero(ours)) == {i for i, _, _ in pairs}
    assert set(np.flatnonzero(theirs)) == {j for _, j, _ in pairs}
    assert theirs[-20:].all()
