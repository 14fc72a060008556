"""Figures of pair experiments: what they say follows from the tables."""

import numpy as np
import pytest

from engine.examine.curves.ngram_counts import Numbers, tokens
from engine.studies.figures import figures
from engine.studies.pairs import shown as pairs


def side(rng, names, chance, number, words=1500):
    numbers = names
    texts = [" ".join(f"w{i}" for i in rng.choice(len(chance), words, p=chance)) for _ in range(number)]
    return pairs.Generations(tuple(tokens([text], numbers) for text in texts), tuple(range(number)))


def made(leak):
    """Return tables of X with 30 units, the first of which has words of its own; `leak`: do they come back?"""
    rng, names = np.random.default_rng(1), Numbers()  # one seed in twenty calls chance leakage, as it should
    common = np.append(np.full(80, 1.0), np.zeros(20))
    own = np.append(np.zeros(80), np.full(20, 1.0))
    texts = [" ".join(f"w{i}" for i in rng.choice(100, 60, p=(own if u == 0 else common) / (20 if u == 0 else 80)))
             for u in range(30)]  # fmt: skip
    x = tokens(texts, names)
    with_u = common + (4 * own if leak else 0)
    from_x, from_y = (side(rng, names, chance / chance.sum(), k) for chance, k in ((with_u, 6), (common, 3)))
    pair = pairs.Pair(x, np.arange(30), len(names), np.array([0]), from_x, from_y)
    tables = pairs.tables_of(pair, (1,))
    for frame in tables.values():
        frame.insert(0, "set", 0)
        frame.insert(0, "excluded", 1)
    return tables | {"answer": pairs.pooled_excess(tables)}


@pytest.fixture(scope="module", params=[True, False])
def drawn(request):
    return request.param, dict(figures("pairs", made(request.param)))


def test_the_verdict_follows_from_null_and_matched_curves(drawn):
    leak, shown = drawn
    said = shown["curves_1_1"].takeaway
    assert ("that is leakage" in said) == leak
    assert ("no leakage is seen" in said) == (not leak)
    assert ("1 of 1 sets" in shown["excess"].takeaway) == leak


def test_every_figure_has_words_and_axes(drawn):
    _, shown = drawn
    assert set(shown) == {"curves_1_1", "excess", "reproduced", "words", "top", "shift", "composed", "believed",
                          "overlaid", "chances"}  # fmt: skip
    for figure in shown.values():
        assert "nan" not in figure.takeaway.lower()
        assert len(figure.takeaway) > 20
        assert "must not leave" in figure.caveat.lower() or "internal" in figure.caveat.lower()
        assert figure.plot.layout.xaxis.title.text is not None
        assert len(figure.plot.data) >= 1
    assert "one word" in shown["curves_1_1"].plot.layout.xaxis.title.text


def test_many_words_tell_more_than_one_and_beliefs_are_bounded_by_truth(drawn):
    leak, shown = drawn
    lines = {trace.name: trace for trace in shown["composed"].plot.data}
    one, ten = lines["synthetic, with and without U, 1 seen"], lines["synthetic, with and without U, 10 seen"]
    assert float(ten.y[0]) > float(one.y[0])  # at ε = ln 1.2
    assert ("stays at what two texts" in shown["composed"].takeaway) <= (not leak)
    assert len(shown["believed"].plot.data) == 3
    assert "less than 0.001 nats" in shown["believed"].takeaway


def test_words_changed_alike_lie_on_the_line(drawn):
    _, shown = drawn
    points, line = shown["shift"].plot.data
    assert len(points.x) == 80
    assert list(line.x) == list(line.y)
    assert "nats on average" in shown["shift"].takeaway


def test_words_are_overlaid_and_their_chances_compared(drawn):
    _, shown = drawn
    points = shown["shift"].plot.data[0]
    overlaid = shown["overlaid"].plot.data
    assert all(70 < len(overlaid[i].x) + len(overlaid[i + 1].x) <= 80 for i in (0, 2))  # an LBF of 0 is on no side
    assert all(min(trace.y, default=1.0) > 0 for trace in overlaid)
    words, line = shown["chances"].plot.data
    assert np.log(np.array(words.y) / np.array(words.x)) == pytest.approx(np.array(points.y))
    assert list(line.x) == list(line.y)
    assert "correlation" in shown["chances"].takeaway


def test_no_tables_no_figures():
    assert figures("pairs", {}) == []
