"""Sums of cut vectors: what one unit can change, by brute force over neighbours; what is refused; what is stored."""

import math

import numpy as np
import pandas as pd
import pytest

from engine.dp.noise import sums
from engine.dp.noise.mechanisms import GRID
from engine.dp.noise.outputs import MemoryOutputs
from engine.dp.noise.private import Mechanisms, PrivateData
from engine.errors import InternalError

KEY, SIZE, CAP = b"k" * 32, 5, 3
LABELS = ("a", "b")
EDGE = 1.0 / math.sqrt(SIZE)  # of each coordinate of a vector that is as long as the cut
ROWS = {
    "": np.zeros(SIZE),
    "edge": np.full(SIZE, EDGE),
    "beyond": np.full(SIZE, EDGE * (1 + 1e-7)),
    "against": np.full(SIZE, -EDGE),
    "huge": np.full(SIZE, 3e38),
    "tiny": np.full(SIZE, 1e-40),
    "one axis": np.eye(SIZE)[2] * 7,
    "short": np.arange(SIZE) / 50,
    "none": np.array([np.nan, 0, 0, 0, 0]),
    "endless": np.array([np.inf, 0, 0, 0, 0]),
}


def read(texts):
    return np.stack([ROWS[text] for text in texts]).astype(np.float32) if texts else np.zeros((0, SIZE), np.float32)


def bound(rows, unit="source"):
    records = pd.DataFrame(
        [(f"r{i}", text, source, label) for i, (text, source, label) in enumerate(rows)],
        columns=["record_id", "text", "source_id", "label"],
    )
    return PrivateData(records, unit=unit, cap=1 if unit == "record" else CAP, order_key=KEY)


def exact(rows, unit="source", labels=(), share=0.0):
    return sums.clipped_sum(bound(rows, unit).open(), read, SIZE, labels, share)


CORPUS = [(text, f"s{i % 4}", LABELS[i % 2] if i % 5 else None) for i, text in enumerate([*ROWS, *ROWS])]


@pytest.mark.parametrize("unit", ["record", "source"])
@pytest.mark.parametrize(("labels", "share"), [((), 0.0), (LABELS, 0.1), (LABELS, 0.49)])
def test_one_unit_changes_the_sum_by_at_most_one(unit, labels, share):
    whole = exact(CORPUS, unit, labels, share)
    names = range(len(CORPUS)) if unit == "record" else sorted({source for _, source, _ in CORPUS})
    moved = []
    for name in names:
        rest = [row for i, row in enumerate(CORPUS) if (i if unit == "record" else row[1]) != name]
        moved.append(np.linalg.norm((whole - exact(rest, unit, labels, share)).astype(float)) / GRID)
    assert max(moved) <= 1.0
    assert max(moved) > (0.99 if unit == "record" and not labels else 0.1)


@pytest.mark.parametrize("text", ROWS)
@pytest.mark.parametrize("times", [1, 2, CAP, 9])
def test_one_person_alone_adds_at_most_one_whatever_the_texts_are(text, times):
    for others in ([], [("edge", "s", "a")]):
        rows = [*others, *[(text, "target", "b")] * times]
        for labels, share in (((), 0.0), (LABELS, 0.3)):
            added = exact(rows, "source", labels, share) - exact(others, "source", labels, share)
            assert np.linalg.norm(added.astype(float)) / GRID <= 1.0


def test_replacing_one_unit_changes_the_sum_by_at_most_two():
    moved = [
        np.linalg.norm((exact([(a, "s", "a")], "record") - exact([(b, "s", "b")], "record")).astype(float)) / GRID
        for a in ROWS
        for b in ROWS
    ]
    assert max(moved) <= 2.0
    assert max(moved) > 1.99


def test_rounding_shortens():
    rng = np.random.default_rng(0)
    for _ in range(500):
        vector = rng.normal(size=7) * 10.0 ** rng.integers(-12, 30)
        steps = sums.clipped(vector)
        assert np.linalg.norm(steps.astype(float)) <= GRID
        cut = vector / max(1.0, float(np.linalg.norm(vector)))
        assert np.abs(steps / GRID - cut).max() <= 1.01 / GRID
        assert (np.abs(steps) <= np.abs(cut * GRID) + 1e-9).all()


def test_nothing_and_what_is_not_finite_count_as_nothing():
    for text in ("", "none", "endless", "tiny"):
        assert not exact([(text, "s", None)]).any()
    assert exact([]).tolist() == [0] * SIZE
    assert exact([("none", "s", None), ("edge", "s", None)]).any()


def test_a_persons_records_are_averaged_and_then_cut():
    both = exact([("one axis", "s", "a"), ("", "s", "a")]) / GRID
    assert both[2] == pytest.approx(1.0, abs=1e-5)  # the mean is 3.5 long, cut to 1
    opposed = exact([("edge", "s", "a"), ("against", "s", "a")])
    assert not opposed.any()
    labelled = exact([("", "s", "a"), ("", "s", "b"), ("", "t", "a")], "source", LABELS, 0.25) / GRID
    assert labelled[SIZE:] == pytest.approx([0.75, 0.25], abs=1e-5)


def test_a_reader_of_another_size_is_refused():
    with pytest.raises(InternalError, match="numbers for 1 texts"):
        sums.clipped_sum(bound([("edge", "s", "a")]).open(), lambda texts: np.zeros((1, 3), np.float32), SIZE)


def held(outputs, adjacency="zero-out"):
    data = bound(CORPUS)
    return Mechanisms(data, outputs, unit="source", cap=CAP, adjacency=adjacency), data


def test_the_sum_is_drawn_once_stored_and_told_from_another():
    outputs = MemoryOutputs()
    asked = {"fingerprint": "f", "noise_multiplier": 2.0, "what": "sum"}
    mechanisms, data = held(outputs)
    first = mechanisms.noisy_sum("sum", read, SIZE, **asked)
    again, untouched = held(outputs)
    assert again.noisy_sum("sum", lambda texts: 1 / 0, SIZE, **asked).tolist() == first.tolist()
    assert (data.openings, untouched.openings) == (1, 0)
    (event,) = mechanisms.events
    assert (event.type, event.sensitivity, event.geometry, event.count) == ("gaussian", 1.0, "vectors", 1)
    with pytest.raises(InternalError, match="another request"):
        again.noisy_sum("sum", read, SIZE, **asked | {"fingerprint": "g"})
    other, _ = held(MemoryOutputs(), "replace-one")
    other.noisy_sum("sum", read, SIZE, **asked)
    assert other.events[0].sensitivity == 2.0


def test_the_noise_has_the_size_that_the_event_says_and_stands_on_the_grid():
    asked = {"fingerprint": "f", "noise_multiplier": 3.0, "what": "sum"}
    exactly = exact(CORPUS) / GRID
    drawn = np.array([held(MemoryOutputs())[0].noisy_sum("sum", read, SIZE, **asked) - exactly for _ in range(400)])
    assert drawn.std() == pytest.approx(3.0, rel=0.12)
    assert abs(drawn.mean()) < 0.4
    assert (drawn * GRID == np.rint(drawn * GRID)).all()
