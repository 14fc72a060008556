"""Near copies and longest shared runs on tables small enough to check by hand, and against brute force."""

from __future__ import annotations

import numpy as np
import pytest

from engine.corpus.text.words import Vocabulary, cut
from engine.examine.repeats import longest_run
from engine.examine.repeats.longest_run import common_run, longest_runs
from engine.examine.repeats.near_copies_scores import near_pairs, near_pairs_in_blocks, sketch

TEN = "one two three four five six seven eight nine ten"  # six shingles of five words


def shingles(text: str) -> set[tuple[str, ...]]:
    words = text.split()
    return {tuple(words[i : i + 5]) for i in range(len(words) - 4)} or ({tuple(words)} if words else set())


@pytest.mark.parametrize(
    ("text", "similarity"),
    [
        (TEN, 1.0),
        (TEN.upper().replace(" ", ", "), 1.0),  # case and punctuation do not matter
        (f"{TEN} eleven", 6 / 7),
        (f"zero {TEN} eleven", 6 / 8),
        (TEN.replace("ten", "TEN!").replace("one", "uno"), 5 / 7),
        ("two one four three six five eight seven ten nine", 0.0),  # the same words in another order
        ("", 0.0),
        ("one two three", 0.0),
    ],
)
def test_similarity_by_hand(text: str, similarity: float) -> None:
    made, reference = sketch([text]), sketch(["other words that stand here", TEN, ""])
    assert near_pairs(made, reference).best(made.groups).tolist() == pytest.approx([similarity])


def test_short_texts_are_one_shingle_and_empty_ones_are_like_nothing() -> None:
    made = sketch(["no pain", "No pain.", "pain no", ""])
    reference = sketch(["NO PAIN", "", "no pain"])
    pairs = near_pairs(made, reference)
    assert pairs.best(made.groups).tolist() == [1.0, 1.0, 0.0, 0.0]
    assert len(pairs.ours) == 1  # equal texts are one pair
    assert reference.groups.sizes.tolist() == [2]


def test_pairs_are_those_of_brute_force() -> None:
    rng = np.random.default_rng(0)
    words = [f"w{i}" for i in range(400)]
    reference = [" ".join(rng.choice(words, 40)) for _ in range(150)]
    made = []
    for text in reference[:120]:  # each a copy with some words changed
        changed = text.split()
        for at in rng.choice(40, rng.integers(0, 9), replace=False):
            changed[at] = "new"
        made.append(" ".join(changed))
    exact = np.array(
        [[len(shingles(a) & shingles(b)) / len(shingles(a) | shingles(b)) for b in reference] for a in made]
    )
    ours, theirs = sketch(made, batch=37), sketch(reference)
    pairs = near_pairs(ours, theirs)
    found = {
        (int(ours.groups.first[i]), int(theirs.groups.first[j])): value
        for i, j, value in zip(pairs.ours, pairs.theirs, pairs.jaccard, strict=True)
    }
    for (i, j), value in found.items():
        assert value == pytest.approx(exact[i, j])
    assert set(zip(*np.nonzero(exact >= 0.6), strict=True)) <= set(found)
    assert (np.abs(pairs.estimate - pairs.jaccard) < 4 * 0.5 / np.sqrt(128)).all()
    assert pairs.best(ours.groups) == pytest.approx(np.where(exact >= 0.5, exact, 0).max(axis=1), abs=0.01)
    only = theirs.groups.holds(np.arange(50, 150))
    assert (pairs.best(ours.groups, only)[:50] == 0).all()


@pytest.mark.parametrize(("batch", "block"), [(1, 1), (7, 20), (50, 1000)])
def test_blocks_of_texts_give_the_same_pairs_and_groups(batch: int, block: int) -> None:
    rng = np.random.default_rng(1)
    words = [f"w{i}" for i in range(60)]
    texts = [" ".join(rng.choice(words, 12)) for _ in range(60)]
    reference = [*texts, "", *texts[:20], "w1 w2", *(f"{text} more" for text in texts)]
    rng.shuffle(reference)
    ours, unused = sketch(texts), sketch(reference[::3])
    whole = sketch(reference)
    groups, found = near_pairs_in_blocks((ours, unused), reference, batch=batch, block=block)
    for name in ("group", "first", "sizes"):
        np.testing.assert_array_equal(getattr(groups, name), getattr(whole.groups, name))
    for candidate, pairs in zip((ours, unused), found, strict=True):
        expected = near_pairs(candidate, whole)
        assert len(expected.ours) >= 60
        for name in ("ours", "theirs", "jaccard", "estimate"):
            np.testing.assert_array_equal(getattr(pairs, name), getattr(expected, name))
    assert near_pairs_in_blocks((ours,), [])[1][0].ours.tolist() == []


def test_sketching_reports_and_a_raise_stops_it() -> None:
    told: list[tuple[int, int]] = []
    sketch([TEN] * 5, lambda *at: told.append(at), batch=2)
    assert told == [(2, 5), (4, 5), (5, 5)]

    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sketch([TEN], stop)


def brute_run(a: list[int], b: list[int]) -> int:
    found = {tuple(b[i : i + n]) for n in range(1, len(b) + 1) for i in range(len(b) - n + 1)}
    return max(
        (n for n in range(1, len(a) + 1) for i in range(len(a) - n + 1) if tuple(a[i : i + n]) in found), default=0
    )


@pytest.mark.parametrize(
    ("block", "widest"), [(longest_run.BLOCK, longest_run.WIDEST), (7, 10**9), (10**9, 9), (5, 40)]
)
def test_longest_runs_are_those_of_brute_force(monkeypatch, block: int, widest: int) -> None:
    monkeypatch.setattr(longest_run, "BLOCK", block)
    monkeypatch.setattr(longest_run, "WIDEST", widest)
    rng = np.random.default_rng(1)
    vocabulary = Vocabulary()
    texts = [" ".join(rng.choice(list("abcd"), rng.integers(0, 16))) for _ in range(60)]
    texts[3], texts[40] = "a b c d a a b b c c d d", "x a b c d a a b b c c d d"
    ours, theirs = cut(texts[:30], vocabulary), cut(texts[30:], vocabulary)
    exact = [max(brute_run(ours.of(i).tolist(), theirs.of(j).tolist()) for j in range(30)) for i in range(30)]
    assert longest_runs(ours, theirs).tolist() == exact
    assert exact[3] == 12
    assert longest_runs(ours, theirs, most=3).max() == 3
    for i, j in [(3, 10), (5, 7), (8, 2)]:
        words, at, there = common_run(ours.of(i), theirs.of(j))
        assert words == brute_run(ours.of(i).tolist(), theirs.of(j).tolist())
        assert ours.of(i)[at : at + words].tolist() == theirs.of(j)[there : there + words].tolist()


def test_runs_do_not_cross_texts_and_nothing_shared_is_zero() -> None:
    vocabulary = Vocabulary()
    theirs = cut(["a b", "c d", ""], vocabulary)
    assert longest_runs(cut(["a b c d", "e f", "", "b"], vocabulary), theirs).tolist() == [2, 0, 0, 1]
    assert longest_runs(cut(["a"], vocabulary), cut([], vocabulary)).tolist() == [0]
    assert longest_runs(cut([], vocabulary), theirs).tolist() == []
