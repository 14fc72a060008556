"""The table of phrases counts texts and people as sets do, in blocks and a part of the phrases at a time."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pandas as pd
import pytest

from engine.examine import tables
from engine.examine.prepare import ExamineInput, prepare
from tests.examine.examine_helpers import spans_of, synthetic


def texts(count: int, seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    words = [f"w{i}" for i in range(4)]
    return [" ".join(rng.choice(words, rng.integers(0, 14))) for _ in range(count)]


def held(phrases: list[str], n: int) -> dict[str, set[int]]:
    found: dict[str, set[int]] = defaultdict(set)
    for row, text in enumerate(phrases):
        words = text.split()
        for at in range(len(words) - n + 1):
            found[" ".join(words[at : at + n])].add(row)
    return found


@pytest.mark.parametrize(("block", "words"), [(50_000, 5_000_000), (7, 100), (1, 5_000_000)])
def test_phrases_are_those_of_sets(block: int, words: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "BLOCK", block)
    monkeypatch.setattr(tables, "WORDS", words)
    real, made = texts(200, 1), texts(60, 2)
    train = pd.DataFrame({"record_id": [f"r{i}" for i in range(200)], "text": real, "label": None,
                          "source_id": [f"p{i % 40}" for i in range(200)]})  # fmt: skip
    nothing = spans_of(train.head(0))
    found = tables.ngrams(prepare(ExamineInput(synthetic(made), train, train.head(0), nothing, nothing, unit="source")))
    listed = 0
    for n in (1, 2, 3):
        ours, theirs = held(real, n), held(made, n)
        common = {p for p, rows in ours.items() if len({row % 40 for row in rows}) >= tables.COMMON}
        rows = found[found["n"] == n]
        assert set(rows["phrase"]) <= common
        assert len(rows) == min(tables.PHRASES, len(common))
        listed += len(rows)
        for one in rows.itertuples():
            assert one.train_share == pytest.approx(len(ours[one.phrase]) / 200)
            assert one.synthetic_share == pytest.approx(len(theirs[one.phrase]) / 60)
        gap = (rows["synthetic_share"] - rows["train_share"]).abs()
        assert gap.is_monotonic_decreasing
    assert listed > 20
