"""What votes can tell apart, on public text."""

import numpy as np
import pytest

from engine.methods import get_method
from engine.methods.base import Facts, parse_parameters
from engine.methods.signal import kept_share, vote_signal


@pytest.fixture(scope="module")
def embedder():
    from engine.models.embedder import load_embedder

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
