"""A bought list of labels: its threshold in closed form, its δ by brute force and by simulation, its accounting."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from scipy.special import ndtr, ndtri

from engine.corpus.label_rules import LONGEST_LABEL, MOST_LABELS
from engine.dp.accounting import closed_form, rdp
from engine.dp.accounting.accountant import CachedAccountant, ExactAccountant
from engine.dp.events import Event
from engine.dp.noise import label_list, mechanisms
from engine.dp.noise.outputs import MemoryOutputs
from engine.errors import InternalError, UserError
from tests.dp.noise.test_private import bound

SENTENCE = "Rosalind Achterberg, HIV positive since 2011, told nobody at work"


def tail(least, count, sigma):
    """Return the chance that a label of `count` records reaches the threshold."""
    return float(ndtr((count - least) / sigma))


def parts(total, most):
    """Yield each way to spread `total` records over labels, largest first."""
    if total == 0:
        yield ()
    for first in range(min(total, most), 0, -1):
        for rest in parts(total - first, first):
            yield (first, *rest)


@pytest.mark.parametrize("cap", [1, 2, 5, 9])
@pytest.mark.parametrize("delta", [1e-2, 1e-6, 1e-11])
@pytest.mark.parametrize("noise", [0.3, 1.0, 40.0])
def test_no_spread_of_a_units_records_passes_delta_and_the_worst_reaches_it(cap, delta, noise):
    sigma = noise * cap
    least = label_list.threshold(cap, sigma, delta)
    reached = [
        sum(tail(least, count, sigma) for count in spread) for own in range(cap + 1) for spread in parts(own, own)
    ]
    assert max(reached) <= delta
    assert max(reached) == pytest.approx(delta, rel=1e-3)


def test_the_threshold_of_a_cap_of_one_is_the_normal_quantile():
    assert label_list.threshold(1, 4.0, 1e-6) == pytest.approx(1 - 4.0 * ndtri(1e-6), abs=1e-5)
    for wrong in ((0, 1.0, 1e-6), (1, 0.0, 1e-6), (1, 1.0, 0.0), (1, 1.0, 0.5)):
        with pytest.raises(InternalError):
            label_list.threshold(*wrong)


@pytest.mark.parametrize("own", [0, 1, 2, 3])
@pytest.mark.parametrize("direction", ["with", "without"])
def test_both_directions_stay_within_gaussian_and_failure_together(own, direction):
    """One unit of cap 3: `own` of its records in a label nobody else has, the others in a common one.

    The list is two independent parts: the common label's noisy count (the threshold only blurs it) and the own label's,
    of which the corpus without the unit shows nothing. Hockey-stick divergence on a fine grid.
    """
    cap, multiplier, delta, epsilon = 3, 1.4, 1e-3, 0.7
    sigma = multiplier * cap
    least = label_list.threshold(cap, sigma, delta)
    released = tail(least, own, sigma) if own else 0.0
    x = np.linspace(-60, 80, 140_001)
    here, there = (
        np.exp(-((x - mean) ** 2) / 2 / sigma**2) / sigma / math.sqrt(2 * math.pi) for mean in (20 + cap - own, 20)
    )
    first, second = ((1 - released) * here, there) if direction == "with" else (there, (1 - released) * here)
    stick = float(np.trapezoid(np.maximum(0.0, first - math.exp(epsilon) * second), x))
    stick += released if direction == "with" else 0.0
    assert stick <= closed_form.delta_standard(1.0 / multiplier, epsilon) + delta


def table(labels):
    rows = [(f"r{i}", f"text {i}", source, label) for i, (source, label) in enumerate(labels)]
    return pd.DataFrame(rows, columns=["record_id", "text", "source_id", "label"])


@pytest.mark.parametrize("own", [["mine"] * 3, ["mine", "too", "three"]], ids=["one label", "three labels"])
@pytest.mark.parametrize("adjacency", ["zero-out", "replace-one"])
def test_a_label_that_one_unit_has_comes_out_no_more_often_than_delta(own, adjacency):
    """4,000 draws at δ = 0.05 of a unit beyond its cap; the limit is four standard errors above δ."""
    labels = [(f"s{i}", "common") for i in range(40)] + [("t", label) for label in own * 2]
    records, delta = table(labels), 0.05
    data, held = bound(records, "source", 3, adjacency)
    seen = 0
    for turn in range(4000):
        found = held.noisy_label_list(f"k/{turn}", noise_multiplier=0.9, delta=delta)
        seen += bool(set(found) - {"common"})
    assert seen / 4000 <= delta + 4 * math.sqrt(delta * (1 - delta) / 4000)
    kept = pd.Series([label for label in data.labels if label != "common"]).value_counts()
    sigma = held.events[0].sensitivity * 0.9
    least = label_list.threshold(3, sigma, delta)
    expected = 1 - math.prod(1 - tail(least, count, sigma) for count in kept)
    assert seen / 4000 == pytest.approx(expected, abs=4 * math.sqrt(expected / 4000) + 1e-3)


def test_what_many_units_share_comes_out_with_its_count():
    _, held = bound(table([(f"s{i}", "ab"[i % 2]) for i in range(600)]), "source", 2)
    found = held.noisy_label_list("k", noise_multiplier=2.0, delta=1e-6)
    assert list(found) == ["a", "b"]
    assert found["a"] == pytest.approx(300, abs=30)


def test_long_labels_count_as_none_and_a_list_ends_at_fifty():
    many = [(f"s{i}", f"label {i % 60:02d}") for i in range(60 * 40)]
    _, held = bound(table([*many, *[(f"u{i}", SENTENCE) for i in range(500)]]), "source", 1)
    found = held.noisy_label_list("k", noise_multiplier=1.0, delta=1e-6)
    assert len(SENTENCE) > LONGEST_LABEL
    assert len(found) == MOST_LABELS
    assert SENTENCE not in found


def test_a_stored_list_is_used_again_as_it_was():
    outputs, labels = MemoryOutputs(), [(f"s{i}", ["grün 🌱", "ab"][i % 2]) for i in range(400)]
    first = bound(table(labels), "source", 1, outputs=outputs)[1].noisy_label_list(
        "k", noise_multiplier=1.0, delta=1e-6
    )
    data, again = bound(table([(f"s{i}", "other") for i in range(400)]), "source", 1, outputs=outputs)
    assert again.noisy_label_list("k", noise_multiplier=1.0, delta=1e-6) == first
    assert set(first) == {"grün 🌱", "ab"}
    assert data.openings == 0
    with pytest.raises(InternalError, match="another request"):
        again.noisy_label_list("k", noise_multiplier=1.0, delta=1e-7)
    assert bound(table([("s", None)]))[1].noisy_label_list("k", noise_multiplier=1.0, delta=1e-6) == {}


def test_labels_outside_the_list_count_as_none():
    data, held = bound(table([("a", "x"), ("b", "y"), ("c", None)]))
    held.keep_labels(["y", "z"])
    assert sorted(data.open().labels, key=str) == [None, None, "y"]


LIST = Event("gaussian", "label list", noise_multiplier=3.0, delta=1e-6, sensitivity=2.0, unit="source")
VOTES = Event("gaussian", "votes", noise_multiplier=2.0, count=4)


def test_the_failure_of_a_list_is_taken_from_delta():
    bare = Event("gaussian", "label list", noise_multiplier=3.0, sensitivity=2.0, unit="source")
    whole = ExactAccountant().account([LIST, VOTES], 1e-5)
    assert whole.epsilon == ExactAccountant().account([bare, VOTES], 9e-6).epsilon
    assert whole.delta == 1e-5
    assert whole.epsilon > ExactAccountant().account([bare, VOTES], 1e-5).epsilon
    grid = [0.5, 1.0, 2.0, 30.0]
    with_list, without = (ExactAccountant().curve(events, grid) for events in ([LIST, VOTES], [bare, VOTES]))
    for part in ("standard", "strict"):
        expected = [min(1.0, value + 1e-6) for value in getattr(without, part)]
        assert getattr(with_list, part) == pytest.approx(expected, rel=1e-12)
    assert rdp.epsilon_rdp([LIST, VOTES], 1e-5) >= whole.epsilon


@pytest.mark.parametrize("others", [[], [Event("laplace", "x", epsilon=0.3)]], ids=["closed", "numerical"])
def test_calibration_keeps_the_failure_and_stays_within_the_claim(others):
    found = ExactAccountant().calibrate([LIST, *others], [Event("gaussian", "v", noise_multiplier=1.0)], 2.0, 1e-5)
    assert [event.delta for event in found.events] == [1e-6, *[0.0] * (len(others) + 1)]
    assert 0.999 * 2.0 < ExactAccountant().account(found.events, 1e-5).epsilon <= 2.0 * (1 + 1e-9)
    if not others:
        assert CachedAccountant(lambda _: None).calibrate([LIST], [VOTES], 2.0, 1e-5).delta == 1e-5
        asked = []
        CachedAccountant(lambda request: asked.append(request)).calibrate([LIST], [VOTES], 2.0, 1e-5)
        assert asked == []


def test_a_list_that_takes_all_of_delta_is_refused_and_groups_are_not_claimed():
    with pytest.raises(UserError, match="used up by the list"):
        ExactAccountant().account([LIST], 1e-6)
    with pytest.raises(UserError, match="several units"):
        ExactAccountant().account([LIST, VOTES], 1e-5, group=2)
    assert rdp.added_delta([LIST], 2) >= 1.0
    assert rdp.added_delta([LIST]) == 1e-6


def test_rows_hold_any_label(monkeypatch):
    found = {"".join(pair): 0.5 for pair in itertools.product("aé", "🌱 ")}
    assert label_list.from_rows(label_list.as_rows(found)) == found
    monkeypatch.setattr(mechanisms, "gaussian", lambda values, sigma: np.asarray(values, dtype=float))
    assert label_list.released({"a": 3, "b": 2, "c": 9}, 1.0, 3.0) == {"a": 3.0, "c": 9.0}
