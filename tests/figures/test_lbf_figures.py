"""ε–δ figures: what they draw and say of curves checked by hand."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from engine.examine.curves import lbf
from engine.examine.curves.lbf import Curve
from engine.examine.curves.lbf_direct import Scatter
from engine.figures import palette
from engine.figures.privacy import lbf as drawing
from engine.figures.privacy.lbf import Drawn

GRID = np.array([0.01, math.log(1.2), 1.0, math.inf])


def flat(*delta: float) -> Curve:
    values = np.array([*delta, 0.0])
    return Curve(GRID, values, values / 2, "one word")


@pytest.fixture
def curves() -> dict[str, Drawn]:
    made = flat(0.5, 0.2, 0.004)
    return {
        "Drawn directly": Drawn(flat(0.3, 0.1, 0.002), "direct"),
        "Synthetic text": Drawn(made, "synthetic", made.delta_standard / 2, made.delta_standard * 1.5),
        "Null": Drawn(flat(0.4, 0.15, 0.003), "null"),
    }


def test_curves_are_read_at_one_fifth_more_odds(curves):
    figure = drawing.epsilon_delta(curves)
    assert "Drawn directly: 5%; Synthetic text: 10%; Null: 8%" in figure.takeaway
    assert "0.025 above two texts of the same data" in figure.takeaway
    assert "one word" in figure.plot.layout.xaxis.title.text
    assert figure.plot.layout.yaxis.type == "log"
    lines = [trace for trace in figure.plot.data if trace.showlegend is not False]
    assert len(figure.plot.data) == 5  # three lines and the two edges of a band
    assert len({trace.line.color for trace in lines}) == len({trace.line.dash for trace in lines}) == 3
    assert all(np.isfinite(trace.x).all() for trace in lines)
    json.loads(figure.plot.to_json())


def test_no_excess_is_said(curves):
    curves["Synthetic text"] = Drawn(flat(0.3, 0.1, 0.002), "synthetic")
    assert "no leakage is seen here" in drawing.epsilon_delta(curves).takeaway


def test_strict_delta_warns_and_two_curves_of_a_kind_differ():
    loss = lbf.loss_of_outputs({"a": 3, "b": 7}, {"a": 2, "b": 8})
    pair = {f"|U| = {u}": Drawn(lbf.curve(loss, [0.15, 0.2]), "direct") for u in (1, 10)}
    figure = drawing.epsilon_delta(pair, strict=True, internal=False)
    assert "do not set one against the other" in figure.caveat
    assert "Internal" not in figure.caveat
    assert "30%" in figure.takeaway
    first, second = figure.plot.data
    assert first.line.color != second.line.color
    late = {"late": Drawn(Curve(np.array([2.0]), np.array([0.1]), np.array([0.1])), "attack")}
    assert "No curve reaches" in drawing.epsilon_delta(late).takeaway


def test_rarity():
    figure = drawing.rarity({"words": ([1, 2, 5], [1.0, 0.4, 0.2]), "three words": ([1], [1.0])})
    assert figure.takeaway.startswith("60.0% of words and 100.0% of three words occur once")
    assert [list(trace.x) for trace in figure.plot.data] == [[1, 2, 5], [1]]


def test_rare_words_have_the_larger_loss():
    points = Scatter(np.array([1e-5, 2e-5, 1e-2, 2e-2]), np.array([1.0, -2.0, 0.1, -0.2]), np.arange(4), -0.01, (3, 0))
    figure = drawing.loss_by_probability({"direct": points})
    assert figure.takeaway == (
        "direct: 3 n-grams belong to one side alone; of the others the rarer half has a median |LBF| of 1.5, "
        "the commoner 0.15."
    )
    favours_x, favours_y = figure.plot.data
    assert list(favours_x.y) == [1.0, 0.1]
    assert list(favours_y.y) == [2.0, 0.2]
    assert (favours_x.marker.color, favours_x.marker.symbol) != (favours_y.marker.color, favours_y.marker.symbol)
    assert favours_x.marker.color in palette.OKABE_ITO
    many = Scatter(np.full(9000, 1e-4), np.ones(9000), np.arange(9000), 0.0, (0, 0))
    assert len(drawing.loss_by_probability({"direct": many}).plot.data[0].x) == drawing.MOST_POINTS
