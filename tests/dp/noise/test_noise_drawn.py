"""The noise that is drawn is the noise that is claimed: each statistic, unit, cap and adjacency.

What is handed to the samplers is written down and held against the recorded event: a sampler asked for less noise than
the event says would leave every other test of sensitivities standing.
"""

import math

import numpy as np
import pytest

from engine.dp.noise import label_list, mechanisms, prediction, train
from tests.dp.noise.test_private import CANDIDATES, GROUPS, bound, joint, table

WHOM = [(unit, cap, adjacency) for unit, cap in (("record", 1), ("source", 1), ("source", 3), ("source", 7))
        for adjacency in ("zero-out", "replace-one")]  # fmt: skip
STEP = 1.0 / mechanisms.GRID


@pytest.fixture
def handed(monkeypatch):
    """Return a list of what the samplers are asked for: (kind, scale) of noise, in order."""
    asked = []
    for kind in ("gaussian", "laplace"):
        real = getattr(mechanisms, kind)

        def noted(values, scale, kind=kind, real=real):
            asked.append((kind, scale))
            return real(values, scale)

        monkeypatch.setattr(mechanisms, kind, noted)
    return asked


COUNTS = {
    "votes": lambda m, **noise: m.noisy_votes("k", CANDIDATES, fingerprint="f", **noise),
    "votes by label": lambda m, **noise: m.noisy_votes("k", CANDIDATES, fingerprint="f", groups=GROUPS, **noise),
    "cluster votes": lambda m, **noise: m.noisy_votes(
        "k", CANDIDATES, fingerprint="f", clusters=np.repeat([0, 1, 2], 3), **noise
    ),
    "labels": lambda m, **noise: m.noisy_histogram("k", "label", ["a", "b"], **noise),
    "lengths": lambda m, **noise: m.noisy_histogram("k", "length", [0, 5, 90], **noise),
}


@pytest.mark.parametrize(("unit", "cap", "adjacency"), WHOM)
@pytest.mark.parametrize("name", COUNTS)
@pytest.mark.parametrize("noise", [{"noise_multiplier": 1.7}, {"epsilon": 0.6}], ids=["Gaussian", "Laplace"])
def test_counts(name, noise, unit, cap, adjacency, handed):
    _, held = bound(table(), unit, cap, adjacency)
    COUNTS[name](held, **noise)
    (event,) = held.events
    records = cap if unit == "source" else 1
    if "epsilon" in noise:
        moved = records * (1.0 if adjacency == "zero-out" else 2.0)  # all of a unit's records, from one bin to another
        assert handed == [("laplace", pytest.approx(moved / 0.6, rel=1e-12))]
        assert event.epsilon == 0.6
    else:
        moved = records * (1.0 if adjacency == "zero-out" else math.sqrt(2.0))
        assert handed == [("gaussian", pytest.approx(1.7 * moved, rel=1e-12))]
        assert event.noise_multiplier == 1.7
    assert event.sensitivity == pytest.approx(moved, rel=1e-12)
    assert (event.unit, event.adjacency, event.sampling_probability) == (unit, adjacency, 1.0)


@pytest.mark.parametrize(("unit", "cap", "adjacency"), WHOM)
def test_cells(unit, cap, adjacency, handed):
    _, held = bound(table(), unit, cap, adjacency)
    joint(held, noise_multiplier=1.7)
    (event,) = held.events
    moved = (cap if unit == "source" else 1) * (1.0 if adjacency == "zero-out" else math.sqrt(2.0))
    assert handed == [("gaussian", pytest.approx(1.7 * moved, rel=1e-12))]
    assert (event.sensitivity, event.geometry) == (pytest.approx(moved), "counts")


@pytest.mark.parametrize(("unit", "cap", "adjacency"), WHOM)
@pytest.mark.parametrize("groups", [None, GROUPS])
def test_scores(groups, unit, cap, adjacency, handed):
    _, held = bound(table(), unit, cap, adjacency)
    held.noisy_scores("k", CANDIDATES, fingerprint="f", noise_multiplier=1.7, groups=groups)
    (event,) = held.events
    moved = 1.0 if adjacency == "zero-out" else 2.0  # a unit's whole vector is cut, whatever its cap
    assert handed == [("gaussian", pytest.approx(1.7 * moved, rel=1e-12))]
    assert (event.sensitivity, event.geometry, event.noise_multiplier) == (moved, "vectors", 1.7)


@pytest.mark.parametrize(("unit", "cap", "adjacency"), WHOM)
def test_sampled_votes_take_part_with_the_claimed_chance(unit, cap, adjacency, handed, monkeypatch):
    chances = []
    real = mechanisms.poisson_sample
    monkeypatch.setattr(mechanisms, "poisson_sample", lambda units, q: chances.append(q) or real(units, q))
    _, held = bound(table(), unit, cap, adjacency)
    COUNTS["votes"](held, noise_multiplier=2.0, sampling_probability=0.3)
    assert chances == [held.events[0].sampling_probability] == [0.3]
    assert handed == [("gaussian", pytest.approx(2.0 * held.events[0].sensitivity))]


@pytest.mark.parametrize(("unit", "cap", "adjacency"), WHOM)
@pytest.mark.parametrize("direction", ["above", "below"])
def test_search(direction, unit, cap, adjacency, handed):
    _, held = bound(table(), unit, cap, adjacency)
    held.above_threshold("k", queries=range(3), direction=direction, threshold=-1e6, epsilon=0.8)
    (event,) = held.events
    # One unit moves each count by its records at most, whatever the adjacency: 2Δ/ε once, then 4Δ/ε a question.
    moved = float(cap if unit == "source" else 1)
    assert (event.type, event.epsilon, event.sensitivity) == ("pure", 0.8, moved)
    assert handed == [("laplace", pytest.approx(2 * moved / 0.8)), ("laplace", pytest.approx(4 * moved / 0.8))]


@pytest.mark.parametrize(("unit", "cap", "adjacency"), WHOM)
def test_mean(unit, cap, adjacency, handed):
    data, held = bound(table(), unit, cap, adjacency)
    held.noisy_mean("k", epsilon=0.4)
    (event,) = held.events
    assert (event.type, event.epsilon, event.sensitivity) == ("laplace", 0.4, 2.0 / data.units)
    # Asked about in units of 2/N; one step of the grid more, since rounding can part two means by that much.
    assert handed == [("laplace", pytest.approx((1.0 + STEP) / 0.4, rel=1e-12))]


def test_the_mean_is_scaled_back_to_what_it_was(monkeypatch):
    seen = []
    monkeypatch.setattr(mechanisms, "laplace", lambda values, scale: seen.append(values) or np.asarray(values))
    data, held = bound(table(), "source", 3)
    from engine.dp.noise import votes

    opened = bound(table(), "source", 3)[0].open()
    exact = votes.mean_similarity(opened.embeddings(), opened.unit_of, opened.units)
    assert held.noisy_mean("k", epsilon=0.4) == pytest.approx(exact, rel=1e-12)
    assert seen == [[pytest.approx(exact * data.units / 2.0)]]


@pytest.mark.parametrize(("unit", "cap", "adjacency"), WHOM)
def test_label_list(unit, cap, adjacency, handed, monkeypatch):
    least = []
    real = label_list.released
    monkeypatch.setattr(label_list, "released", lambda c, s, t: least.append((s, t)) or real(c, s, t))
    _, held = bound(table(), unit, cap, adjacency)
    held.noisy_label_list("k", noise_multiplier=1.3, delta=1e-6)
    (event,) = held.events
    records = cap if unit == "source" else 1
    moved = records * (1.0 if adjacency == "zero-out" else math.sqrt(2.0))
    assert (event.type, event.noise_multiplier, event.delta) == ("gaussian", 1.3, 1e-6)
    assert event.sensitivity == pytest.approx(moved)
    assert handed == [("gaussian", pytest.approx(1.3 * moved))]
    assert least == [(pytest.approx(1.3 * moved), pytest.approx(label_list.threshold(records, 1.3 * moved, 1e-6)))]


@pytest.mark.parametrize("adjacency", ["zero-out", "replace-one"])
@pytest.mark.parametrize(("unit", "cap"), [("record", 1), ("source", 1), ("source", 3)])
def test_gradients(unit, cap, adjacency, monkeypatch):
    asked, chances = [], []
    real_noise, real_sample = train.gaussian_noise, mechanisms.poisson_sample
    monkeypatch.setattr(
        train, "gaussian_noise", lambda size, scale: asked.append((size, scale)) or real_noise(size, scale)
    )
    monkeypatch.setattr(mechanisms, "poisson_sample", lambda n, q: chances.append(q) or real_sample(n, q))
    from tests.dp.noise.test_train import Toy
    from tests.dp.noise.test_train import bound as training_on

    _, held = training_on(unit=unit, cap=cap, adjacency=adjacency)
    training = train.Training(3, 0.7, 2.1, 0.4, 5.0)
    held.train_dp("k", Toy(), training, fingerprint="f")
    (event,) = held.events
    longest = 0.7 * (1.0 if adjacency == "zero-out" else 2.0)
    assert (event.noise_multiplier, event.count, event.sampling_probability) == (2.1, 3, 0.4)
    assert (event.sensitivity, event.geometry) == (pytest.approx(longest), "vectors")
    assert [scale for _, scale in asked] == [pytest.approx(2.1 * longest)] * 3
    assert chances == [0.4] * 3


@pytest.mark.parametrize("adjacency", ["zero-out", "replace-one"])
@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("variant", ["difference-clip", "mean-clip"])
def test_tokens(variant, rows, adjacency, handed):
    """The loss of a token follows from how far a row may move the mean; the search's noise from its own share."""
    search = 0.3 if variant == "mean-clip" else 0.0
    rho, temperature = 0.002, 1.3
    reach = prediction.reach_of(rho, rows, temperature, adjacency)
    asked = prediction.Prediction(variant, rows, reach, temperature, 4, 4, search=search)
    factor = 1.0 if adjacency == "zero-out" else 2.0
    # A draw from softmax(m/τ) in which one unit moves m by at most w = factor · rows · reach costs (w/τ)²/2 in ρ.
    # A search costs ε²/2; under replace-one a unit may move those of two batches, the one it left and its new one.
    searched = factor * search**2 / 2
    assert asked.token_rho(adjacency) == pytest.approx(0.5 * (factor * rows * reach / temperature) ** 2 + searched)
    assert prediction.event_of(asked, {"unit": "source", "adjacency": adjacency}).rho == pytest.approx(
        asked.token_rho(adjacency)
    )
    if variant == "mean-clip":
        slots = 40.0
        base, other = np.zeros(5), np.array([[9.0, 0, 0, 0, 0]] * 30)
        prediction._Search(asked, slots).private(base, other)
        # Distances times s move by at most one unit's rows, whatever the adjacency: 2Δ/ε once, 4Δ/ε a question.
        widths = [2 * (rows + STEP) / search, 4 * (rows + STEP) / search]
        assert handed == [("laplace", pytest.approx(width)) for width in widths]


@pytest.mark.parametrize(("noise", "expected"), [({"sigma": 2.5}, "gaussian"), ({"epsilon": 0.5}, "max")])
def test_selection(noise, expected, handed, monkeypatch):
    scales = []
    real = mechanisms.noisy_argmax
    monkeypatch.setattr(mechanisms, "noisy_argmax", lambda u, e, *a: scales.append((e, *a)) or real(u, e, *a))
    from engine.dp.noise.outputs import MemoryOutputs
    from engine.dp.noise.private import Mechanisms

    held = Mechanisms(None, MemoryOutputs())
    held.noisy_selection("k", np.zeros((4, 3)), **noise)
    if expected == "gaussian":
        assert handed == [("gaussian", 2.5)]
        assert held.events[0].noise_multiplier == 2.5
    else:
        assert scales == [(0.5,)]
        assert held.events[0].epsilon == 0.5


def test_noise_is_as_wide_as_it_is_asked_to_be():
    """The samplers themselves: mean square of Gaussian, mean size of Laplace noise, 20,000 draws each."""
    drawn = mechanisms.gaussian(np.zeros(20_000), 3.2)
    assert math.sqrt(float((drawn**2).mean())) == pytest.approx(3.2, rel=0.03)
    drawn = mechanisms.laplace(np.zeros(20_000), 3.2)
    assert float(np.abs(drawn).mean()) == pytest.approx(3.2, rel=0.03)
