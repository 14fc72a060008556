"""n-gram counts a source against Counter, with exact keys and with hashes."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.corpus.text.words import Vocabulary, cut
from engine.errors import InternalError
from engine.examine.curves import ngram_counts
from engine.examine.curves.ngram_counts import Numbers

TEXTS = ["A cat. A cat sat!", "", "the cat", "Ärzte sagen ärzte", "猫が座る a cat"]
SOURCES = np.array([0, 1, 1, 2, 0])


def by_hand(texts, sources, n):
    found = Counter()
    words = Vocabulary()
    for text, source in zip(texts, sources):
        ids = cut([text], words).ids.tolist()
        found.update((int(source), tuple(ids[i : i + n])) for i in range(len(ids) - n + 1))
    return found


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("vocabulary", [None, 2**40])
def test_counts_of_a_source(n, vocabulary):
    numbers = Numbers()
    table = ngram_counts.tokens(TEXTS, numbers)
    found = ngram_counts.count(table, SOURCES, n, vocabulary or len(numbers))
    wanted = by_hand(TEXTS, SOURCES, n)
    assert found.hashed == (vocabulary is not None and 64 // n < 40)
    assert found.sources == 3
    assert found.total == sum(wanted.values())
    for source in range(3):
        assert sorted(found.of(source)[1].tolist()) == sorted(c for (s, _), c in wanted.items() if s == source)
    of_gram = Counter()
    for (_, gram), times in wanted.items():
        of_gram[gram] += times
    assert sorted(found.totals.tolist()) == sorted(of_gram.values())
    again = np.zeros_like(found.totals)
    for source in range(3):
        grams, counts = found.of(source)
        again[grams] += counts
    assert (again == found.totals).all()


def test_words_are_those_of_the_other_attacks():
    words, numbers = Vocabulary(), Numbers()
    assert ngram_counts.tokens(TEXTS, numbers).ids.tolist() == cut(TEXTS, words).ids.tolist()
    assert list(numbers) == words.words()
    every = ["".join(map(chr, range(128))), "It's x_1,Y2\tz\x1f0-9\x7fQ_q"]  # all of ASCII
    assert ngram_counts.tokens(every, Numbers()).ids.tolist() == cut(every, Vocabulary()).ids.tolist()


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.tuples(st.lists(st.sampled_from("abcdef"), max_size=9), st.integers(0, 3)), min_size=1, max_size=9),
    st.integers(1, 3),
    st.booleans(),
)
def test_counts_equal_a_counter(rows, n, hashed):
    texts, sources = [" ".join(words) for words, _ in rows], np.array([s for _, s in rows])
    numbers = Numbers()
    table = ngram_counts.tokens(texts, numbers)
    found = ngram_counts.count(table, sources, n, 2**50 if hashed else len(numbers))
    wanted = by_hand(texts, sources, n)
    pairs = [found.of(source) for source in range(found.sources)]
    assert sorted(c for _, counts in pairs for c in counts.tolist()) == sorted(wanted.values())
    assert found.keys.size == len({gram for _, gram in wanted})


def test_aligned_counts_and_what_cannot_be_compared():
    numbers = Numbers()
    first, second = (ngram_counts.tokens(t, numbers) for t in (["a b a"], ["b c b b"]))
    x, y = (ngram_counts.count(t, np.zeros(1, int), 1, len(numbers)) for t in (first, second))
    assert ngram_counts.aligned(x.keys, y).tolist() == [0, 3]
    nothing = ngram_counts.count(ngram_counts.tokens([""], numbers), np.zeros(1, int), 1, len(numbers))
    assert ngram_counts.aligned(x.keys, nothing).tolist() == [0, 0]
    with pytest.raises(InternalError, match="not comparable"):
        ngram_counts.same_keys(x, ngram_counts.count(second, np.zeros(1, int), 2, len(numbers)))
    with pytest.raises(InternalError, match="1 to 3"):
        ngram_counts.count(first, np.zeros(1, int), 4, len(numbers))


def test_share_that_occurs_at_least_so_often():
    values, share = ngram_counts.ccdf(np.array([1, 1, 1, 2, 5]))
    assert values.tolist() == [1, 2, 5]
    assert share.tolist() == [1.0, 0.4, 0.2]
