import random
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.corpus.text.minhash import band_rows, jaccard, shingle_sets, signatures
from engine.corpus.text.near_duplicates import near_duplicate_pairs, near_duplicates_across_split
from engine.corpus.text.windows import WORD, window_hashes
from engine.errors import UserError

WORDS = [f"w{i}" for i in range(3000)]


def invented(count: int, length: int, seed: int) -> list[str]:
    """Return texts of random words."""
    rng = random.Random(seed)
    return [" ".join(rng.choices(WORDS, k=length)) for _ in range(count)]


def shingles(text: str) -> set[tuple[str, ...]]:
    """Return the 5-word shingles, the plain way."""
    words = [word.casefold() for word in WORD.findall(text)]
    return {tuple(words[i : i + 5]) for i in range(len(words) - 4)} or ({tuple(words)} if words else set())


def test_windows_have_their_places() -> None:
    windows = window_hashes(["a b c", "d", "", "B, c! d e"], n=3)
    assert windows.record.tolist() == [0, 3, 3]
    assert windows.position.tolist() == [0, 0, 1]
    assert (windows.hashes.dtype, windows.record.dtype) == (np.uint64, np.int32)


def test_windows_ignore_case_and_punctuation_and_nothing_else() -> None:
    one, same, order, number = window_hashes(
        ["Don’t go, Ada!", "don't GO ada", "go don't ada", "don't go ada2"], 3
    ).hashes
    assert one == same
    assert len({one, order, number}) == 3


def test_windows_never_cross_records() -> None:
    assert not len(window_hashes(["a b", "c d"], 4).hashes)


@settings(max_examples=80, deadline=None)
@given(st.text(max_size=80), st.integers(1, 4))
def test_a_window_s_offsets_cover_its_words(text: str, n: int) -> None:
    windows = window_hashes([text], n)
    offsets = [word.span() for word in WORD.finditer(text)]
    assert len(windows.hashes) == max(len(offsets) - n + 1, 0)
    for position, value in zip(windows.position.tolist(), windows.hashes.tolist()):
        start, end = offsets[position][0], offsets[position + n - 1][1]
        assert window_hashes([text[start:end]], n).hashes.tolist() == [value]


def test_hashes_are_the_same_in_every_process() -> None:
    assert window_hashes(["one two three"], 3).hashes.tolist() == window_hashes(["one two three"], 3).hashes.tolist()
    assert int(window_hashes(["one two"], 2).hashes[0]) == 925262562320278646


def test_jaccard_is_exact() -> None:
    a = [*invented(30, 20, 3), "", "one two", "one two"]
    b = [text.replace("w1", "v1") for text in a[:-1]] + ["one two three"]
    i, j = (array.ravel() for array in np.meshgrid(np.arange(33), np.arange(33)))
    got = jaccard(shingle_sets(a), shingle_sets(b), i, j)
    sets_a, sets_b = list(map(shingles, a)), list(map(shingles, b))
    for left, right, value in zip(i, j, got):
        union = sets_a[left] | sets_b[right]
        assert value == pytest.approx(len(sets_a[left] & sets_b[right]) / len(union) if union else 0.0)


def test_signatures_estimate_jaccard() -> None:
    base = invented(40, 60, 4)
    rng = random.Random(5)
    changed = []
    for text in base:
        words = text.split()
        for _ in range(3):
            words[rng.randrange(60)] = "changed"
        changed.append(" ".join(words))
    index = np.arange(40)
    sets_a, sets_b = shingle_sets(base), shingle_sets(changed)
    estimate = (signatures(sets_a) == signatures(sets_b)).mean(axis=1)
    # standard error of one estimate is at most 0.044, of the mean of forty 0.007
    assert np.abs(estimate - jaccard(sets_a, sets_b, index, index)).max() < 5 * 0.0442
    assert abs((estimate - jaccard(sets_a, sets_b, index, index)).mean()) < 5 * 0.007


@pytest.mark.parametrize("threshold", [0.3, 0.5, 0.7, 0.9])
def test_bands_find_pairs_at_the_threshold(threshold: float) -> None:
    rows = band_rows(threshold)
    assert 1 - (1 - threshold**rows) ** (128 // rows) >= 0.99
    assert 1 - (1 - threshold ** (rows + 1)) ** (128 // (rows + 1)) < 0.99


@pytest.mark.parametrize("threshold", [0.5, 0.7, 0.9])
def test_pairs_are_those_of_a_full_comparison(threshold: float) -> None:
    rng = random.Random(6)
    a = invented(200, 30, 7)
    b = invented(100, 30, 8)
    for k in range(80):
        words = a[k].split()
        for _ in range(rng.randint(0, 3)):
            words[rng.randrange(30)] = "changed"
        b[k] = " ".join(words)
    sets_a, sets_b = list(map(shingles, a)), list(map(shingles, b))
    full = {(i, j) for i, x in enumerate(sets_a) for j, y in enumerate(sets_b) if len(x & y) / len(x | y) >= threshold}
    assert len(full) > 10
    found = near_duplicate_pairs(a, b, threshold)
    assert {(i, j) for i, j, _ in found} <= full
    assert len(found) >= 0.97 * len(full)


def test_many_copies_cost_like_one_and_are_limited() -> None:
    copies = ["the same words stand here again and again"] * 20_000
    start = time.process_time()
    found = near_duplicate_pairs(copies, copies[:500], max_partners=5)
    assert time.process_time() - start < 20
    assert len(found) == 2500
    assert {value for _, _, value in found} == {1.0}


def test_empty_texts_resemble_nothing() -> None:
    assert near_duplicate_pairs(["", "...", "a b"], ["", "!", "a b c"]) == []
    assert near_duplicate_pairs([], ["a"]) == []


def test_a_threshold_outside_its_range_is_refused() -> None:
    with pytest.raises(UserError, match="threshold"):
        near_duplicate_pairs(["a"], ["b"], 0)


def test_pairs_across_the_split_are_named_by_record() -> None:
    text = " ".join(WORDS[:30])
    records = pd.DataFrame(
        {
            "record_id": ["a", "b", "c", "d"],
            "text": [text, text + " more", text + " again", "nothing like it at all here"],
            "split": ["train", "holdout", "over_cap", "holdout"],
        }
    )
    pairs = near_duplicates_across_split(records)
    # 26 shingles against 27, all 26 shared
    assert pairs.to_numpy().tolist() == [["a", "b", pytest.approx(26 / 27)]]


def test_real_narratives_are_joined_without_comparing_all_pairs(test_data: Path) -> None:
    texts = list(pd.read_parquet(test_data / "vaers_1998_1999.parquet", columns=["text"])["text"])
    planted = texts[0] + " and no more"
    start = time.process_time()
    found = near_duplicate_pairs(texts[:16_000], [*texts[16_000:], planted])
    assert time.process_time() - start < 40
    assert (0, len(texts) - 16_000) in {(i, j) for i, j, _ in found}
