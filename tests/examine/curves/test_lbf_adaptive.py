"""Definitions 9 and 10 by brute force over every output of k draws, and what follows from them."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import UserError
from engine.examine.curves import lbf, ngram_counts
from engine.examine.curves.lbf_adaptive import probes
from engine.examine.curves.ngram_sampling import DirectSampling
from tests.examine.curves.slow_sampling import exclude_slowly

EPSILONS = (0.01, 0.2, 1.1)
counts = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=2, max_size=6).filter(
    lambda rows: sum(x for x, _ in rows) > 0 and sum(y for _, y in rows) > 0
)


def by_hand(x, y, attacks, rounds, epsilon):
    """Return (adaptive δ, static δ) by listing every sequence of k draws."""
    p, q = np.asarray(x, float) / np.sum(x), np.asarray(y, float) / np.sum(y)
    sequences = list(itertools.product(range(len(p)), repeat=rounds))
    chance = np.array([[math.prod(side[i] for i in one) for one in sequences] for side in (p, q)])
    answers = np.array([[any(attack[i] for i in one) for one in sequences] for attack in attacks])
    adaptive, static = 0.0, 0.0
    for here, there in ((0, 1), (1, 0)):
        failing = np.zeros(len(sequences), bool)
        for answer in answers:
            one_sided = 0.0
            for said in (True, False):
                mass, other = chance[here][answer == said].sum(), chance[there][answer == said].sum()
                fails = mass > math.exp(epsilon) * other * (1 + 1e-9) and mass > 0
                one_sided += mass * fails
                if said and fails:
                    failing |= answer
            static = max(static, one_sided)
        adaptive = max(adaptive, chance[here][failing].sum())
    return adaptive, static


@settings(max_examples=40, deadline=None)
@given(counts, st.integers(1, 3), st.integers(0, 2**30))
def test_both_definitions_by_brute_force(rows, rounds, seed):
    x, y = np.array(rows, dtype=float).T
    drawn = np.random.default_rng(seed).random((3, len(rows))) < 0.4
    for attacks, given_ in ((np.eye(len(rows), dtype=bool), None), (drawn, drawn)):
        found = probes(x, y, rounds, attacks=given_)
        for epsilon in EPSILONS:
            adaptive, static = by_hand(x, y, attacks, rounds, epsilon)
            assert found.adaptive([epsilon])[0] == pytest.approx(adaptive, abs=1e-9)
            assert found.fixed([epsilon])[0] == pytest.approx(static, abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(counts)
def test_one_draw_with_every_probe_is_theorem_5(rows):
    x, y = np.array(rows, dtype=float).T
    found, loss = probes(x, y), lbf.loss_of_counts(x, y)
    for epsilon in EPSILONS:
        assert found.adaptive([epsilon])[0] == pytest.approx(loss.strict_delta(epsilon), abs=1e-12)
        # one probe that answers 1 everywhere learns nothing
        blind = probes(x, y, attacks=np.ones((1, len(rows)), dtype=bool))
        assert [blind.adaptive([epsilon])[0], blind.fixed([epsilon])[0]] == pytest.approx([0.0, 0.0], abs=1e-12)
    assert found.floor() == pytest.approx(lbf.floor(loss), abs=1e-12)


def test_choosing_afterwards_does_better_than_any_one_probe():
    x, y = np.array([0.4, 0.3, 0.3]), np.array([0.1, 0.1, 0.8])
    attacks = np.array([[1, 0, 0], [0, 1, 0]], dtype=bool)
    both = probes(x, y, attacks=attacks)
    assert both.adaptive([0.5])[0] == pytest.approx(0.7)
    assert [probes(x, y, attacks=attacks[i : i + 1]).adaptive([0.5])[0] for i in (0, 1)] == pytest.approx([0.4, 0.3])
    # a static adversary may also read the answer 0: Y is seen in 0.9 without the first output, X in 0.6
    assert both.fixed([0.3])[0] == pytest.approx(0.9)
    seen = [probes(x, y, k).adaptive([0.2])[0] for k in (1, 3, 9)]
    assert seen == sorted(seen)


def test_outputs_that_are_alike_can_be_given_together():
    x, y = np.array([5, 2, 2, 2, 1]), np.array([5, 1, 1, 1, 0])
    whole, grouped = probes(x, y, 4), probes([5, 2, 1], [5, 1, 0], 4, times=[1, 3, 1])
    for epsilon in EPSILONS:
        for name in ("adaptive", "fixed"):
            assert getattr(whole, name)([epsilon]) == pytest.approx(getattr(grouped, name)([epsilon]), abs=1e-12)
    assert whole.floor() == pytest.approx(grouped.floor())


def test_a_corpus_is_grouped_as_it_is_counted():
    rng, known = np.random.default_rng(4), ngram_counts.Numbers()
    texts = [" ".join(f"w{i}" for i in rng.zipf(1.6, 12) if i < 60) + " end" for _ in range(30)]
    sampling = DirectSampling(ngram_counts.count(ngram_counts.tokens(texts, known), np.arange(30) % 12, 1, len(known)))
    out = np.array([2, 7])
    slow, (x, y, times) = exclude_slowly(sampling, out), sampling.grouped(out)
    assert (int((x * times).sum()), int((y * times).sum())) == (slow.total_x, slow.total_y)
    for k in (1, 20):
        direct, grouped = probes(slow.x, slow.y, k), probes(x, y, k, times=times)
        for name in ("adaptive", "fixed"):
            assert getattr(direct, name)(EPSILONS) == pytest.approx(getattr(grouped, name)(EPSILONS), abs=1e-12)


def test_no_draw_is_refused():
    with pytest.raises(UserError, match="rounds"):
        probes([1.0], [1.0], 0)
