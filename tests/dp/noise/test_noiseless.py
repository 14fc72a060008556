"""Mechanisms without noise: exact, without events, and out of reach of anything that makes a claim."""

import ast
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from engine.dp.noise.noiseless import NoiselessMechanisms
from engine.dp.noise.outputs import MemoryOutputs
from engine.dp.noise.private import PrivateData
from engine.errors import UserError
from engine.methods import get_method, method_ids
from engine.methods.base import parse_parameters

ENGINE = Path(__file__).resolve().parents[3] / "engine"
TEXTS = ["a", "a b", "a b c", "a b c d", "a b c d e"] * 4


def embed(texts):
    angles = np.array([len(text.split()) for text in texts]) / 4.0
    return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


@pytest.fixture
def exact():
    records = pd.DataFrame(
        {"record_id": [f"r{i}" for i in range(20)], "text": TEXTS, "source_id": None, "label": ["x", "y"] * 10}
    )
    outputs = MemoryOutputs()
    return NoiselessMechanisms(PrivateData(records, embed=embed, order_key=b"k" * 32), outputs), outputs


def test_everything_is_exact_and_nothing_is_recorded(exact):
    given, outputs = exact
    votes = given.noisy_votes("v", embed(["a", "a b c", "a b c d e"]), fingerprint="f", noise_multiplier=50.0)
    assert votes.sum() == 20
    assert votes[0] >= 4
    assert given.noisy_histogram("l", "label", ["x", "y"], epsilon=1e-6).tolist() == [10.0, 10.0]
    longest = given.above_threshold("m", queries=[float(q) for q in range(10)], direction="above", epsilon=1e-6)
    assert longest == 5
    rows = embed(TEXTS)
    mean = np.clip(rows @ rows.T, 0, 1)[np.triu_indices(20, 1)].mean()
    assert given.noisy_mean("t", epsilon=1e-6) == pytest.approx(mean, abs=1e-3)
    table = np.array([[0.1, 0.9, 0.2], [0.7, 0.7, 0.1]])
    assert given.noisy_selection("s", table, sigma=100.0).tolist() == [1, 0]
    assert (given.events, outputs.stored) == ([], {})


def test_what_is_no_vote_has_no_reference_here(exact):
    given, _ = exact
    with pytest.raises(UserError):
        given.private_logits(0, 0, [], None, None, fingerprint="")
    with pytest.raises(UserError):
        given.train_dp("k", None, None, fingerprint="")


def test_only_studies_reach_it():
    def imports(path):
        tree = ast.parse(path.read_text("utf-8"))
        return any(isinstance(n, ast.ImportFrom) and n.module == "engine.dp.noise.noiseless" for n in ast.walk(tree))

    found = {path.relative_to(ENGINE).as_posix() for path in ENGINE.rglob("*.py") if imports(path)}
    assert found == {"studies/bench/rerun.py"}
    asking = {p.relative_to(ENGINE).as_posix() for p in ENGINE.rglob("*.py") if "noiseless=" in p.read_text("utf-8")}
    assert asking == {"studies/bench/bench.py", "studies/noiseless/run.py"}


@pytest.mark.parametrize("method_id", method_ids())
def test_no_method_takes_an_endless_epsilon(method_id):
    spec = get_method(method_id).spec
    if "epsilon" not in spec.parameters.model_fields:
        pytest.skip("it has no ε")
    for value in (float("inf"), "inf", 1e9):
        with pytest.raises(UserError):
            parse_parameters(spec, {"epsilon": value})
