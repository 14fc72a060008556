"""Sentiment, types of details and named topics: by hand, on equal sources, planted shifts, one text, few and none."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest
from safetensors.numpy import load_file

from engine.examine.findings.part import Part
from engine.examine.findings.sizes import FEWER, at
from engine.examine.measures import MEASURES
from engine.examine.prepare import ExamineInput, prepare
from engine.examine.usefulness.meaning.topics import nameable, topics
from engine.examine.usefulness.mixture.entity_mix import examine_entity_mix
from engine.examine.usefulness.mixture.mixes import Mix, apart, mix_of
from engine.examine.usefulness.mixture.tone import examine_tone
from engine.examine.usefulness.part import examine_usefulness
from engine.examine.usefulness.sides import equal_sides
from engine.models.builtin.sentiment import sentiment_folder
from tests.contract.examining import MARK, world
from tests.examine.examine_helpers import PatternDetector, WordEmbedder

SPANS = pd.DataFrame(columns=["record_id", "start", "end", "label", "identifier_type"])
VOICES = ("bad", "so", "good")


class Voices:
    """Vectors that the shipped classifier reads as the first word of the text says: bad, so or good."""

    id = "all-MiniLM-L6-v2"

    def __init__(self) -> None:
        weight = load_file(sentiment_folder() / "model.safetensors")["weight"]
        directions = weight - weight.mean(axis=0)
        self.directions = directions / np.linalg.norm(directions, axis=1, keepdims=True)

    def embed(self, texts: Sequence[str]) -> Any:
        return self.directions[[VOICES.index(text.split()[0]) for text in texts]].astype(np.float32)


def frame(texts: Sequence[str], mark: str, lineage: Sequence[str] | None = None) -> pd.DataFrame:
    ids = [f"{mark}{i}" for i in range(len(texts))]
    sources = list(lineage) if lineage is not None else None
    return pd.DataFrame({"record_id": ids, "text": list(texts), "source_id": ids, "label": None, "lineage": sources})


def voices(shares: Sequence[float], n: int, seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    return [f"{VOICES[i]} number {j}" for j, i in enumerate(rng.choice(3, n, p=shares))]


def prepared_of(made: pd.DataFrame, real: Sequence[str], **options: Any) -> Any:
    return prepare(ExamineInput(made, frame(real, "t"), frame([], "h"), SPANS, SPANS, privacy=False, **options))


def values(part: Part) -> dict[tuple[str, str], float]:
    return {(one.name, one.reference): one.value for one in part.findings}


def tone(made: pd.DataFrame, real: Sequence[str]) -> Part:
    return examine_tone(prepared_of(made, real, embedder=Embedders()))


class Embedders(Voices):
    """Texts of other corpora, which begin with none of the words, sound neutral."""

    def embed(self, texts: Sequence[str]) -> Any:
        return super().embed([text if text.split()[0] in VOICES else "so" for text in texts])


def test_total_variation_by_hand() -> None:
    one = mix_of(np.repeat([0, 1, 2], [10, 30, 60]), 3, np.arange(100).astype(object))
    two = mix_of(np.repeat([0, 1, 2], [30, 30, 40]), 3, np.arange(100, 200).astype(object))
    found = apart(one, two, 0)
    assert found.value == pytest.approx(0.2)
    assert found.low < 0.2 < found.high
    assert apart(one, one, 0).value == 0.0
    nothing = Mix(np.zeros((5, 3)), np.arange(5).astype(object))
    assert math.isnan(apart(nothing, one, 0).value)
    assert apart(nothing, one, 0).low is None


@pytest.mark.parametrize("other", [(0.5, 0.3, 0.2), (0.2, 0.3, 0.5), (0.0, 0.0, 1.0)], ids=["equal", "shift", "one"])
@pytest.mark.parametrize(("texts", "a_unit"), [(24, 1), (200, 1), (200, 4)])
def test_the_interval_holds_the_distance(texts: int, a_unit: int, other: tuple[float, ...]) -> None:
    """Two hundred samples; texts of one person are of one kind. Small samples lie apart by chance as well."""
    p, q = np.array([0.5, 0.3, 0.2]), np.array(other)
    found = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        people = texts // a_unit
        units = np.repeat(np.arange(2 * people), a_unit).astype(object)
        kinds = [np.repeat(rng.choice(3, people, p=shares), a_unit) for shares in (p, q)]
        one = apart(mix_of(kinds[0], 3, units[:texts]), mix_of(kinds[1], 3, units[texts:]), seed)
        found.append((one.value, one.low, one.high))
    values, low, high = np.array(found).T
    truth = 0.5 * float(np.abs(p - q).sum())
    for expected in [values.mean(), *([truth] if truth else [])]:
        assert np.mean((low <= expected) & (expected <= high)) >= 0.9


def test_where_all_is_of_one_kind_the_interval_has_a_width() -> None:
    one = mix_of(np.zeros(30, np.int64), 3, np.arange(30).astype(object))
    two = mix_of(np.zeros(30, np.int64), 3, np.arange(30, 60).astype(object))
    found = apart(one, two, 0)
    assert (found.value, found.low) == (0.0, 0.0)
    assert 0.05 < found.high < 0.2


def test_sentiment_of_one_source_is_close_and_a_shift_shows() -> None:
    real = voices((0.6, 0.3, 0.1), 300, 1)
    same = values(tone(frame(voices((0.6, 0.3, 0.1), 200, 2), "s"), real))
    cheerful = values(tone(frame(voices((0.1, 0.3, 0.6), 200, 2), "s"), real))
    one = values(tone(frame(["good number 1"] * 200, "s"), real))
    assert same["tone_shift", "train"] < 0.12
    assert same["tone_shift", "real"] < 0.12
    assert cheerful["tone_shift", "train"] == pytest.approx(0.5, abs=0.1)
    assert one["tone_shift", "train"] == pytest.approx(0.9, abs=0.05)
    assert same["tone_shift", "unrelated"] == pytest.approx(0.7, abs=0.08), "all neutral here"


def test_rewritten_records_keep_or_lose_the_sentiment_of_their_source() -> None:
    real = voices((0.4, 0.3, 0.3), 200, 1)
    sources = [f"t{i}" for i in range(0, 120)]
    kept = values(tone(frame(real[:120], "s", sources), real))
    assert kept["tone_kept", "train"] == 1.0
    table = tone(frame(real[:120], "s", sources), real).tables["each"]
    assert set(table["item"]) == set(sources)
    assert table["value"].mean() == 1.0
    shares = np.array([np.mean([text.startswith(voice) for text in real[:120]]) for voice in VOICES])
    assert kept["tone_kept", "baseline"] == pytest.approx(np.sum(shares**2), abs=0.12)
    lost = values(tone(frame(voices((0.4, 0.3, 0.3), 120, 5), "s", sources), real))
    assert lost["tone_kept", "train"] == pytest.approx(lost["tone_kept", "baseline"], abs=0.15)


@pytest.mark.parametrize(
    ("texts", "sources", "why"),
    [(50, None, "one source record"), (30, ["x"] * 30, "one source record"), (5, ["t0"] * 5, "at least 20"),
     (30, ["t0"] * 30, "stem from one source")],
)  # fmt: skip
def test_what_cannot_be_told_of_sources_says_why(texts: int, sources: list[str] | None, why: str) -> None:
    part = tone(frame(voices((1, 0, 0), texts, 1), "s", sources), voices((0.5, 0.3, 0.2), 50, 3))
    rows = [one for one in part.findings if one.name == "tone_kept"]
    assert len(rows) == 2
    assert all(math.isnan(one.value) and why in one.settings["why"] for one in rows)


def test_the_sentiment_of_three_texts_is_not_estimated() -> None:
    part = tone(frame(voices((1, 0, 0), 3, 1), "s"), voices((0.5, 0.3, 0.2), 6, 3))
    assert all(math.isnan(one.value) for one in part.findings)
    assert "at least 20" in part.findings[0].settings["why"]


def test_vectors_of_another_encoder_are_not_read() -> None:
    part = examine_tone(prepared_of(frame(["a b"] * 30, "s"), ["c d"] * 60, embedder=WordEmbedder()))
    assert len(part.findings) == 4
    assert all(math.isnan(f.value) and "all-MiniLM-L6-v2" in f.settings["why"] for f in part.findings)


class Types(PatternDetector):
    """Dates and titled names as types of their own."""

    def detect(self, texts: Sequence[str]) -> Any:
        found = super().detect(texts)
        return [
            [{**span, "label": "PERSON" if span["identifier_type"] == "direct" else "DATE"} for span in spans]
            for spans in found
        ]


def notes(names: int, dates: int, n: int) -> list[str]:
    return [f"Dr Adam and {i}. " * names + f"{1 + i % 9} days. " * dates for i in range(n)]


def entity_mix(made: Sequence[str], real: Sequence[str]) -> Part:
    return examine_entity_mix(prepared_of(frame(made, "s"), real, detector=Types()))


def test_types_of_details_by_hand() -> None:
    real = notes(1, 3, 80)
    same, other = entity_mix(notes(1, 3, 60), real), entity_mix(notes(3, 1, 60), real)
    assert values(same) == {("entity_mix", "train"): 0.0, ("entity_mix", "real"): 0.0}
    assert values(other)["entity_mix", "train"] == pytest.approx(0.5)
    (one,) = [f for f in other.findings if f.reference == "train"]
    assert one.settings["types_here_and_real"] == {"DATE": [0.25, 0.75], "PERSON": [0.75, 0.25]}
    assert one.settings["texts_a_side"] == one.n == 40


@pytest.mark.parametrize("made", [["nothing here"] * 60, notes(1, 1, 3)])
def test_too_few_details_are_not_compared(made: list[str]) -> None:
    for one in entity_mix(made, notes(1, 3, 80)).findings:
        if one.reference == "train":
            assert math.isnan(one.value)
            assert "at least 20" in one.settings["why"]


def test_one_type_of_detail_alone_has_no_shares() -> None:
    for one in entity_mix(notes(0, 3, 60), notes(0, 3, 80)).findings:
        assert math.isnan(one.value)
        assert "one type alone" in one.settings["why"]


def test_topics_are_named_by_their_own_words_with_shares_on_both_sides() -> None:
    rng = np.random.default_rng(0)
    kinds = {"knee": "knee walking swollen joint", "tax": "invoice refund payment account"}
    real = [f"the patient said {kinds['knee']} {rng.integers(10**6)}" for _ in range(60)]
    real += [f"the client said {kinds['tax']} {rng.integers(10**6)}" for _ in range(60)]
    prepared = prepared_of(frame(real[:15] + real[60:105], "s"), real, embedder=WordEmbedder())
    table = topics(prepared)
    assert table["synthetic_share"].sum() == pytest.approx(1.0)
    assert table["real_share"].sum() == pytest.approx(1.0)
    assert table["real_texts"].is_monotonic_decreasing
    named = table[table["words"] != ""]
    for words in named["words"]:
        of = [kind for kind, telling in kinds.items() if {*words.split(", ")} & {*telling.split()}]
        assert len(of) == 1, words
        assert not {"the", "said"} & {*words.split(", ")}
    knees = named["words"].str.contains("knee|walking|swollen|joint")
    assert named.loc[knees, "synthetic_share"].sum() == pytest.approx(0.25, abs=0.05)


def test_only_words_of_ten_people_outside_accepted_spans_are_named() -> None:
    prepared = prepare(world())
    names = prepared.vocabulary.words()
    named = {names[word] for word in nameable(prepared)}
    assert "because" in named
    assert "may" not in named, "stands in accepted spans"
    assert not any(MARK.search(word) for word in named)
    table = topics(prepared)
    assert table["internal"].all()
    assert not MARK.search(table.to_csv())
    people = prepared.given.train.groupby("source_id")["text"].agg(" ".join).str.lower()
    for word in {word for words in table["words"] for word in words.split(", ") if word}:
        assert people.str.contains(rf"\b{word}\b").sum() >= 10
    few = prepare(world(people=6, copies=6, made=6))
    assert not any(topics(few)["words"]), "no word has ten people"


def test_too_few_texts_have_no_topics() -> None:
    prepared = prepared_of(frame(["a b"] * 5, "s"), ["c d"] * 8, embedder=WordEmbedder())
    assert topics(prepared).empty


def test_runs_of_other_numbers_of_texts_are_held_against_the_same_real_ones_at_one_number() -> None:
    """What real text has at 100 beside a run of 200 texts is, to the last digit, what it has beside a run of 100."""

    def letters(shares: Sequence[float], n: int, seed: int) -> list[str]:
        details = np.random.default_rng(seed).integers(0, 3, (n, 2))
        return [f"{text}. {notes(*row, 1)[0]}" for text, row in zip(voices(shares, n, seed), details, strict=True)]

    real, made = letters((0.5, 0.3, 0.2), 500, 1), letters((0.2, 0.4, 0.4), 200, 2)
    many, few = (
        prepared_of(frame(made[:size], "s"), real, embedder=Embedders(), detector=Types()) for size in (200, 100)
    )
    for side in ("target", "real"):
        whole, part = (getattr(equal_sides(one, 1000, False, None).samples(), side) for one in (many, few))
        assert whole.drawn(100, many.seed).texts == part.texts
    rows, alone = (
        [*examine_usefulness(one, None), *examine_tone(one).findings, *examine_entity_mix(one).findings]
        for one in (many, few)
    )
    levels = {one.name: one for one in alone if one.reference == "real"}
    checked = set()
    for one in rows:
        # Clusters are those of all real texts that a run is held against, and what is to be close to real text is
        # measured at as many words as the run has.
        apart_of = "topic" in one.name or MEASURES[one.name].direction == "closer to real is better"
        if one.reference == "real" and FEWER in one.settings and not apart_of:
            found, level = at(one, 100), levels[one.name]
            assert found is not None
            assert (found.value, found.low, found.high) == (level.value, level.low, level.high), one.name
            checked.add(one.name)
    assert {"tone_shift", "entity_mix", "js_2gram", "mauve", "coverage", "length_distance"} <= checked
