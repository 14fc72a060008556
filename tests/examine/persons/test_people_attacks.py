"""Attacks on people, on tables small enough to check by hand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from engine.corpus.text.words import Vocabulary, cut
from engine.examine.guesses.attributes_scores import guess, weighted, weights
from engine.examine.persons.linkage_scores import Link, UnitBits, find_links, spread_links
from engine.examine.persons.profiles import by_unit, grams, letters, present
from engine.examine.persons.record_sets_scores import set_scores
from engine.examine.persons.stylometric import Style, style_scores
from engine.examine.persons.word_probe import probe, rarity


def tables(*sides: Sequence[str], n: int = 1) -> list:
    vocabulary = Vocabulary()
    return grams([cut(side, vocabulary) for side in sides], n)


def test_runs_of_words_do_not_cross_texts() -> None:
    first, second = tables(["a b c", "a b", ""], ["b c a"], n=2)
    assert first.shape == (3, first.shape[1])
    assert first.sum(axis=1).A1.tolist() == [2, 1, 0]  # a b, b c | a b | nothing
    shared = np.asarray((first @ second.T).todense()).ravel()
    assert shared.tolist() == [1, 0, 0]  # b c


def test_letters_ignore_case_digits_and_spacing() -> None:
    made = letters(["Dose 5 ml", "dose  7\nML", "x", ""])
    assert (made[0] != made[1]).nnz == 0
    assert made[2].sum() == 1  # " x "
    assert made[3].sum() == 0


def test_a_word_is_as_rare_as_it_is_among_other_people() -> None:
    # two records of one person, one of another, and seven texts by others of which two hold "b"
    (records,) = tables(["a b", "a", "b"])
    holds = np.array([2.0, 4.0])
    shares = rarity(present(records), np.array([0, 0, 1]), holds, 10)
    assert shares.tolist() == pytest.approx([0.5 / 9, 3.5 / 9, 0.5 / 9, 3.5 / 10])  # a, b | a | b


def test_the_probe_is_the_sum_of_log_likelihood_ratios_of_the_best_record() -> None:
    records, released = (present(table) for table in tables(["a b", "c"], ["a x", "a b", "x"]))
    shares = np.array([0.1, 0.4, 0.2])
    values = probe(records, released, shares, reaches=0.5)
    both = np.log(0.55 / 0.1) + np.log(0.7 / 0.4)  # the second record holds a and b
    assert values.tolist() == pytest.approx([both, np.log(0.5)], abs=1e-5)


def test_the_probe_prefers_a_rare_word_and_words_met_together() -> None:
    private, synthetic = ["rare", "common", "p q", "u v"], ["rare common", "p q", "u", "v"]
    records, released = (present(table) for table in tables(private, synthetic))
    values = probe(records, released, np.array([0.01, 0.9, 0.1, 0.1, 0.1, 0.1]))
    assert values[0] > values[1]
    assert values[2] > values[3]


def style(texts: Sequence[str], owners: Sequence[str]) -> Style:
    words = np.array([len(text.split()) for text in texts], float)
    function = np.array([[text.split().count(word) for word in ("the", "of")] for text in texts], float)
    return Style(letters(texts), function, words, np.array(owners, dtype=object))


def test_a_person_whose_text_is_in_the_release_is_nearer_to_it_than_to_impostors() -> None:
    mine, other = "the swollen arm of the patient", "zebras jump quickly over fences"
    people = style([mine, other], ["me", "you"])
    scores = style_scores(people, style([mine], ["s"]), style(["the bruised leg of a child"], ["they"]))
    assert scores[0] > 0.3
    assert scores[0] > scores[1]


def test_ones_own_text_is_no_impostor() -> None:
    people = style(["the swollen arm", "the swollen arm"], ["me", "you"])
    mine = style(["the swollen arm", "nothing alike"], ["me", "they"])
    scores = style_scores(people, style(["a swelling"], ["s"]), mine)
    assert scores[0] > scores[1]  # for "you" the first impostor is a twin; for "me" it is left out


def test_sets_of_records_add_up() -> None:
    scores, codes = np.array([1.0, 3.0, 2.0, 4.0]), np.array([0, 1, 0, 1])
    made = set_scores(scores, codes, 2)
    low, high = made["stouffer"]
    assert low == pytest.approx(-high)  # ranks 1, 3 against 2, 4 are mirrored
    assert made["mean"] * np.sqrt(2) == pytest.approx(made["stouffer"])
    assert made["highest"][1] > made["highest"][0] > made["mean"][0]


def bits_of(holders: list[list[int]]) -> UnitBits:
    pairs = [(detail, unit) for detail, units in enumerate(holders) for unit in units]
    detail, unit = np.array(pairs[::-1], np.int64).reshape(-1, 2).T  # in whatever order
    return UnitBits(detail, unit, len(holders))


def test_units_are_bits_of_one_integer() -> None:
    bits = bits_of([[0, 70_000], [], [3]])
    assert [bits[detail] for detail in (0, 1, 2, 0)] == [1 | 1 << 70_000, 0, 8, 1 | 1 << 70_000]
    assert UnitBits(np.zeros(0, np.int64), np.zeros(0, np.int64), 1)[0] == 0


# units that hold details 0 to 4; unit 3 alone holds detail 4
HOLDERS = [[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2], [3]]


@pytest.mark.parametrize(
    ("standing", "expected"),
    [
        ({0, 1}, []),  # units 0 and 1 hold both
        ({0, 1, 2}, [(0, (0, 1, 2))]),  # each pair is shared, all three by unit 0 alone
        ({1, 3}, [(1, (1, 3))]),  # a pair is enough
        ({0, 1, 3}, [(1, (1, 3))]),  # 0 + 1 + 3 holds a unique part, so it is not minimal
        ({0, 4}, []),  # nobody holds both
        ({1, 4}, []),  # detail 4 singles out by itself
        (set(), []),
    ],
)
def test_minimal_sample_uniques_by_hand(standing: set[int], expected: list) -> None:
    assert [(link.unit, link.details) for link in find_links([standing], bits_of(HOLDERS))] == expected


def test_own_units_do_not_count() -> None:
    bits = bits_of(HOLDERS)
    assert find_links([{0, 1, 2}], bits, [1 << 0]) == [Link(0, 1, (0, 1)), Link(0, 2, (0, 2)), Link(0, 3, (1, 2))]


def test_links_spread_over_records_of_one_source() -> None:
    bits, texts = bits_of(HOLDERS), [{1}, {3}, {1, 3}, {0}]
    assert spread_links([[0, 1], [3]], texts, bits, None) == [Link(0, 1, (1, 3))]
    assert spread_links([[0, 1, 2]], texts, bits, None) == []  # the third alone holds both


def test_links_agree_with_counting_all_subsets() -> None:
    from itertools import combinations

    rng = np.random.default_rng(0)
    holders = [sorted(rng.choice(30, rng.integers(1, 12), replace=False).tolist()) for _ in range(14)]
    standing = set(range(14))
    sets = [set(units) for units in holders]
    expected = set()
    for size in (2, 3):
        for some in combinations(range(14), size):
            common = set.intersection(*(sets[detail] for detail in some))
            parts = [p for k in range(1, size) for p in combinations(some, k)]
            if len(common) == 1 and all(len(set.intersection(*(sets[d] for d in p))) > 1 for p in parts):
                expected.add((next(iter(common)), some))
    found = {(link.unit, link.details) for link in find_links([standing], bits_of(holders))}
    assert found == expected
    assert len(found) > 10


def test_the_nearest_records_decide_and_a_near_copy_outvotes_the_rest() -> None:
    targets, released = tables(["fever rash arm", "zzz"], ["fever rash arm", "fever x y", "fever v w", "q"])
    weight = weights(released)
    found = guess(weighted(present(targets), weight), weighted(present(released), weight), np.array([1, 0, 0, -1]))
    assert found.values.tolist() == [1, 0]  # nothing in common with any: the most frequent value
    assert found.likeness.tolist() == pytest.approx([1.0, 0.0])
    assert found.votes[0] > 0.8


def test_sums_of_units() -> None:
    (table,) = tables(["a b", "a", "c"])
    assert by_unit(table, np.array([1, 1, 0]), 2).toarray().tolist() == [[0, 0, 1], [2, 1, 0]]
