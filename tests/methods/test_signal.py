"""What votes can tell apart, on public text."""

import numpy as np
import pytest

from engine.methods import get_method
from engine.methods.advice.signal import kept_share, population, vote_signal
from engine.methods.base import Facts, parse_parameters
from engine.methods.evolution.parameters import sizes_of


@pytest.fixture(scope="module")
def embedder():
    from engine.models.builtin.embedder import load_embedder

    return load_embedder()


def request_of(method, units, labels=0, **parameters):
    found = get_method(method)
    values = parse_parameters(found.spec, parameters)
    facts = Facts(records=units, units=units, labels=labels)
    claim = found.guarantee(values, facts)
    return {
        "method": method,
        "parameters": values.model_dump(mode="json"),
        "facts": vars(facts),
        "noise": claim.noise,
        "epsilon": claim.epsilon,
        "delta": claim.delta,
    }


def test_noise_moves_the_kept_share_from_the_best_to_chance():
    shares = np.array([0.7] + [0.3 / 9] * 9)
    assert kept_share(shares, 100.0, 0.1, 0.0) == pytest.approx(0.7, abs=0.02)
    assert kept_share(shares, 100.0, 0.1, 1e6) == pytest.approx(0.1, abs=0.15)
    middling = [kept_share(shares, 100.0, 0.1, sigma) for sigma in (0.0, 200.0, 2000.0)]
    assert middling == sorted(middling, reverse=True)


@pytest.mark.parametrize(
    ("method", "parameters", "count", "expected"),
    [
        ("aug-pe", {"variations": 4}, 50, (200, 0.25)),
        ("dpga", {"population": None}, 50, (250, 0.2)),
        ("dpga", {"population": 100}, 50, (130, 50 / 130)),  # the elite is never less than the outputs
        ("rpsg-public", {"candidates": 5, "nll_keep": 0.5}, 100, (5 * 206, 0.2)),  # half is dropped later, 3% spare
    ],
)
def test_candidates_follow_from_the_outputs_wanted(method, parameters, count, expected):
    values = parse_parameters(get_method(method).spec, parameters)
    assert population(method, values.model_dump(mode="json"), count) == pytest.approx(expected)
    if method == "dpga":
        assert expected[0] == sizes_of(values, count)["population"]


def test_fewer_outputs_get_more_votes_each(embedder):
    request = request_of("aug-pe", 4000, epsilon=1.0)
    few, usual, many = (vote_signal(request | added, embedder) for added in ({"count": 20}, {}, {"count": 2000}))
    votes = [float(found["rows"][0]["value"]) for found in (few, usual, many)]
    assert votes == pytest.approx([4000 / (7 * n) for n in (20, 500, 2000)], rel=0.05)
    assert few["advice"] == []
    assert "Ask for fewer outputs" in many["advice"][0]


def test_a_small_corpus_is_advised_against_and_a_large_one_is_not(embedder):
    small = vote_signal(request_of("aug-pe", 400, epsilon=1.0), embedder)
    large = vote_signal(request_of("aug-pe", 400_000, epsilon=8.0), embedder)
    assert "buys almost nothing" in small["advice"][0]
    assert large["advice"] == []
    assert [row["figure"] for row in small["rows"]] == [row["figure"] for row in large["rows"]]


def test_labels_that_are_bought_have_their_error_said(embedder):
    found = vote_signal(request_of("aug-pe", 200, labels=8, epsilon=1.0), embedder)
    assert found["rows"][0]["figure"] == "Error of a label's count"
    assert any("label shares" in sentence for sentence in found["advice"])


def test_dense_votes_have_their_own_figure(embedder):
    found = vote_signal(request_of("aug-pe", 300, epsilon=1.0, votes="dense") | {"count": 300}, embedder)
    assert [row["figure"] for row in found["rows"]] == ["Dense votes over their noise, where records agree"]
    assert float(found["rows"][0]["value"]) > 1.0
