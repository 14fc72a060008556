"""Direct sampling: the fast trial gives the very curve of the slow one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import UserError
from engine.examine.curves import lbf, ngram_counts
from engine.examine.curves.ngram_counts import Numbers
from engine.examine.curves.ngram_sampling import DirectSampling, draw_sources
from tests.examine.curves.slow_sampling import exclude_slowly


def counted(texts, sources, n=1):
    numbers = Numbers()
    table = ngram_counts.tokens(texts, numbers)
    return ngram_counts.count(table, np.asarray(sources), n, len(numbers))


def curve_of(outputs):
    loss = lbf.loss_of_counts(
        outputs.x, outputs.y, shared=(outputs.shared, outputs.shared), totals=(outputs.total_x, outputs.total_y)
    )
    return lbf.curve(loss), loss


rows = st.lists(
    st.tuples(st.lists(st.sampled_from("abcdefghij"), max_size=8), st.integers(0, 4)), min_size=2, max_size=12
)


@settings(max_examples=200, deadline=None)
@given(rows, st.integers(1, 3), st.sets(st.integers(0, 4), min_size=1, max_size=3), st.integers(0, 3),
       st.sampled_from(["x", "own"]))  # fmt: skip
def test_curves_are_equal(rows, n, excluded, censor, by):
    counts = counted([" ".join(words) for words, _ in rows], [s for _, s in rows], n)
    sampling = DirectSampling(counts, censor, by)
    chosen = np.array([s for s in excluded if s < counts.sources], dtype=np.int64)
    slow = exclude_slowly(sampling, chosen)
    if slow.total_y == 0:
        with pytest.raises(UserError):
            sampling.exclude(chosen)
        return
    fast = sampling.exclude(chosen)
    assert (fast.total_x, fast.total_y) == (slow.total_x, slow.total_y)
    assert fast.x.sum() + fast.shared == fast.total_x
    assert fast.y.sum() + fast.shared == fast.total_y
    (one, loss), (other, reference) = curve_of(fast), curve_of(slow)
    for name in ("epsilon", "delta", "delta_standard"):
        assert getattr(one, name).tolist() == getattr(other, name).tolist()  # to the last bit
    assert lbf.floor(loss) == lbf.floor(reference)


def test_by_hand():
    # X: a a b c, Y lacks the source of "a c": a b; LBF(a) = ln(2/4 : 1/2) = 0, LBF(b) = ln(1/4 : 1/2), c is unique
    outputs = DirectSampling(counted(["a b", "a c"], [0, 1])).exclude(np.array([1]))
    found, loss = curve_of(outputs)
    assert found.rows() == [
        {"epsilon": pytest.approx(np.log(2)), "delta": 0.25, "delta_standard": pytest.approx(0.25)},
        {"epsilon": None, "delta": 0.0, "delta_standard": 0.0},
    ]
    assert outputs.shared == 1
    assert lbf.floor(loss) == 0.25


def test_censoring_takes_unique_words_away():
    # "zz" occurs once and only in source 1: certain without censoring, hidden in the mark with it
    texts, sources = ["a a a b b b zq", "a b zz", "zx a b"], [0, 1, 2]
    open_, marked = (DirectSampling(counted(texts, sources), c).exclude(np.array([1])) for c in (0, 2))
    assert lbf.floor(curve_of(open_)[1]) > 0
    assert lbf.floor(curve_of(marked)[1]) == 0
    # by their own counts, three occurrences that become two vanish from Y
    texts = ["k k a a a a", "k a", "a"]
    by_x, by_own = (DirectSampling(counted(texts, sources), 2, by).exclude(np.array([1])) for by in ("x", "own"))
    assert lbf.floor(curve_of(by_x)[1]) == 0
    assert lbf.floor(curve_of(by_own)[1]) == pytest.approx(3 / 9)


def test_sets_of_sources():
    sets = draw_sources(50, 10, 4, seed=3)
    assert all(len(set(s.tolist())) == 10 for s in sets)
    assert len({tuple(s) for s in sets}) == 4
    assert all((a == b).all() for a, b in zip(sets, draw_sources(50, 10, 4, seed=3)))
    for size in (0, 50):
        with pytest.raises(UserError, match="exclude"):
            draw_sources(50, size, 1, 0)


def test_leaving_everyone_out_is_refused():
    with pytest.raises(UserError, match="leave out fewer"):
        DirectSampling(counted(["a", "b"], [0, 1])).exclude(np.array([0, 1]))
    with pytest.raises(UserError, match="censor"):
        DirectSampling(counted(["a"], [0]), -1)
