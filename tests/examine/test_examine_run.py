"""Planted leaks come out at the size they were planted, on real notes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from engine.errors import UserError
from engine.examine.examination import ExamineInput, examine_run
from engine.examine.measures import MEASURES
from tests.examine.examine_helpers import PatternDetector, WordEmbedder, examine, row, spans_of, synthetic

Notes = tuple[pd.DataFrame, pd.DataFrame, list[str]]


def test_a_run_that_copies_a_tenth_shows_a_tenth_against_train_only(notes: Notes) -> None:
    train, holdout, fresh = notes
    texts = [train["text"][i] if i % 10 == 0 else text for i, text in enumerate(fresh[: len(train)])]
    planted = np.mean([i % 10 == 0 and len(t.split()) >= 8 for i, t in enumerate(texts)])
    output = examine(train, holdout, synthetic(texts), utility=False)
    against_train, against_holdout = row(output, "verbatim_8gram", "train"), row(output, "verbatim_8gram", "holdout")
    level = row(output, "verbatim_8gram", "baseline")  # what real unseen notes share with the training part
    assert against_train.value == pytest.approx(planted + 0.9 * level.value, abs=0.03)
    assert against_train.value == pytest.approx(0.10, abs=0.06)
    assert against_holdout.value <= level.high
    assert against_train.low > against_holdout.high
    assert row(output, "verbatim_8gram_excess", "holdout").low > 0
    risk = pd.Series(output.record_risk)
    assert risk.between(0, 1).all()
    assert risk.iloc[::10].mean() > 2 * risk.drop(risk.index[::10]).mean()


def test_shuffled_words_copy_nothing_and_lose_their_phrases(notes: Notes) -> None:
    train, holdout, _ = notes
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.permutation(text.split())) for text in train["text"]]
    output = examine(train, holdout, synthetic(texts, train["record_id"].tolist()))
    assert row(output, "verbatim_8gram", "train").value == 0.0
    assert row(output, "verbatim_8gram", "holdout").value == 0.0
    assert row(output, "js_3gram", "train").low > row(output, "js_3gram", "real").high
    one, real = row(output, "js_1gram", "train"), row(output, "js_1gram", "real")
    assert one.value == pytest.approx(real.value, abs=0.05)  # the same words, in another order


def test_a_copy_of_the_training_part_is_as_useful_as_real_text_and_leaks_everything(notes: Notes) -> None:
    train, holdout, _ = notes
    made = synthetic(train["text"].tolist(), train["record_id"].tolist())
    output = examine(train, holdout, made)
    for name in ("elp", "elp_context", "elp_rare"):
        assert row(output, name, "train").value == 1.0
    assert row(output, "elp_context", "baseline").value < 0.2
    assert row(output, "elp_excess", "holdout").low > 0
    for name in ("length_distance", "js_1gram", "js_2gram", "distinct_2", "self_bleu"):
        ours, real = row(output, name, "train"), row(output, name, "real")
        assert ours.value == pytest.approx(real.value, rel=0.15, abs=0.03)
        assert ours.n == real.n
    sources = output.tables["leaks"].query("kind == 'verbatim' and reference == 'train'")
    lineage = dict(zip(made["record_id"], made["lineage"], strict=True))
    assert (sources["source_record_id"] == sources["record_id"].map(lineage)).all()


def test_leak_offsets_show_the_same_words_on_both_sides(notes: Notes) -> None:
    train, holdout, fresh = notes
    made = synthetic([f"{fresh[i]} — {train['text'][i]}" for i in range(60)])
    output = examine(train, holdout, made, utility=False)
    ours, theirs = made.set_index("record_id")["text"], train.set_index("record_id")["text"]
    leaks = output.tables["leaks"].query("reference == 'train'")
    assert {"verbatim", "entity"} == set(leaks["kind"])

    def words(text: str) -> list[str]:
        return "".join(ch if ch.isalnum() or ch == "_" else " " for ch in text.casefold()).split()

    for leak in leaks.itertuples():
        here = ours[leak.record_id][leak.start : leak.end]
        there = theirs[leak.source_record_id][leak.source_start : leak.source_end]
        assert words(here) == words(there)


def test_every_finding_is_named_once_and_says_why_when_it_has_no_number(notes: Notes) -> None:
    train, holdout, fresh = notes
    output = examine(train, holdout, synthetic(fresh[:80]), detector=PatternDetector())
    keys = [(f.name, f.reference) for f in output.findings]
    assert len(keys) == len(set(keys))
    for finding in output.findings:
        assert finding.name in MEASURES
        assert finding.settings["source"]
        assert finding.value == finding.value or finding.settings["why"]
        if finding.low is not None and finding.high is not None:
            assert finding.low <= finding.value + 1e-9
            assert finding.high >= finding.value - 1e-9
    rate = row(output, "pii_rate", "none").value
    sizes = [len(s) for s in PatternDetector().detect(fresh[:80])]
    assert rate == pytest.approx(np.mean(sizes))
    share = row(output, "pii_share", "none")
    assert share.value == pytest.approx(np.mean([size > 0 for size in sizes]))
    assert share.low < share.value < share.high or share.value in (0.0, 1.0)
    assert row(output, "pii_share", "train").n > 0
    assert row(output, "pii_share", "holdout").n > 0


def test_the_same_seed_gives_the_same_findings(notes: Notes) -> None:
    train, holdout, fresh = notes
    made = synthetic(fresh[:120])
    first, second = (examine(train, holdout, made).findings for _ in range(2))
    assert [(f.name, f.reference, f.low, f.high) for f in first if f.value == f.value] == [
        (f.name, f.reference, f.low, f.high) for f in second if f.value == f.value
    ]


@pytest.mark.parametrize("records", [1, 2, 3])
def test_very_small_corpora_are_examined_without_an_error(notes: Notes, records: int) -> None:
    train, holdout, fresh = notes
    output = examine(train.head(records), holdout.head(0), synthetic(fresh[:records]))
    assert row(output, "verbatim_8gram", "train").n == records
    assert "holdout" in row(output, "verbatim_8gram", "holdout").settings["why"]


def test_no_synthetic_record_is_a_sentence_that_says_what_to_do(notes: Notes) -> None:
    train, holdout, _ = notes
    with pytest.raises(UserError, match="nothing to examine"):
        examine(train, holdout, synthetic([]))


def test_stopping_gives_back_nothing(notes: Notes) -> None:
    train, holdout, fresh = notes
    given = ExamineInput(synthetic(fresh[:50]), train, holdout, spans_of(train), spans_of(holdout))
    asked: list[int] = []

    def stop_at_third() -> bool:
        asked.append(1)
        return len(asked) >= 3

    output = examine_run(given, cancelled=stop_at_third)
    assert output.cancelled
    assert not output.findings
    assert not output.record_risk


def test_records_of_one_person_count_as_one(notes: Notes) -> None:
    train, holdout, _ = notes
    train, holdout = train.copy(), holdout.copy()
    train["source_id"] = [f"p{i // 10}" for i in range(len(train))]
    holdout["source_id"] = [f"q{i // 10}" for i in range(len(holdout))]
    texts = [text if i // 10 % 5 == 0 else "nothing of note" for i, text in enumerate(train["text"])]
    made = synthetic(texts, train["record_id"].tolist())
    alone = row(examine(train, holdout, made, utility=False), "verbatim_8gram", "train")
    together = row(examine(train, holdout, made, utility=False, unit="source"), "verbatim_8gram", "train")
    assert together.value == alone.value
    assert together.high - together.low > 1.5 * (alone.high - alone.low)  # whole persons copy or do not


def test_closeness_compares_equally_many_records(notes: Notes) -> None:
    train, holdout, fresh = notes
    copies = examine(train, holdout, synthetic(train["text"].tolist()[:150]), utility=False, embedder=WordEmbedder())
    others = examine(train, holdout, synthetic(fresh[:150]), utility=False, embedder=WordEmbedder())
    for output in (copies, others):
        sizes = {row(output, "nearest_similarity", side).settings["reference_records"] for side in ("train", "holdout")}
        assert sizes == {min(len(train), len(holdout))}
    assert row(copies, "nearest_similarity", "train").settings["all_train_value"] == pytest.approx(1.0, abs=1e-5)
    assert row(copies, "nearest_similarity_excess", "holdout").low > 0.05
    excess = row(others, "nearest_similarity_excess", "holdout")
    assert excess.low - 0.02 < 0 < excess.high + 0.02  # other real notes lie as close to either part
    table = copies.tables["nearest"]
    assert table["similarity_train"].between(0.999, 1.001).all()


def test_meaning_is_measured_beside_real_and_unrelated_text(notes: Notes) -> None:
    train, holdout, fresh = notes
    output = examine(train.head(400), holdout, synthetic(fresh[:250]), privacy=False, embedder=WordEmbedder())
    assert not output.record_risk
    for name in ("mauve", "embedding_similarity"):
        ours, real, far = (row(output, name, reference) for reference in ("train", "real", "unrelated"))
        assert abs(ours.value - real.value) < 0.1
        assert far.value < real.value - 0.3 * abs(real.value)
        assert ours.n == real.n
    marks = output.tables["map"]
    assert set(marks["kind"]) == {"private", "holdout", "synthetic"}
    assert np.isfinite(marks[["x", "y"]].to_numpy()).all()
    assert "text" not in marks
    assert marks["nearest"].notna().eq(marks["kind"] == "synthetic").all()


def test_the_packaged_embedder_finds_copies_closer_than_unused_notes(notes: Notes) -> None:
    from engine.models.builtin.embedder import load_embedder

    train, holdout, _ = notes
    small, held = train.head(80), holdout.head(40)
    made = synthetic(small["text"].tolist()[:40], small["record_id"].tolist()[:40])
    output = examine(small, held, made, utility=False, embedder=load_embedder())
    assert row(output, "nearest_similarity", "train").settings["own_source_mean"] == pytest.approx(1.0, abs=0.01)
    assert row(output, "nearest_similarity_excess", "holdout").low > 0
