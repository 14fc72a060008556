"""Rounds of a run held against real texts."""

import numpy as np
import pandas as pd
import pytest

from engine.examine.usefulness.iterations import COLUMNS, fid, iteration_table
from engine.examine.usefulness.meaning.self_similarity import self_similarity


class Points:
    """Gives each text the point it names."""

    id = "points"

    def __init__(self, rows):
        self.rows = rows

    def embed(self, texts):
        found = np.array([self.rows[int(text)] for text in texts], np.float32)
        return found / np.linalg.norm(found, axis=1, keepdims=True)


def unit_rows(rng, n, shift, d=32):
    rows = rng.normal(size=(n, d)) + shift
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def test_rounds_that_come_nearer_score_better():
    rng = np.random.default_rng(0)
    real, far, near = (unit_rows(rng, 400, shift) for shift in (1.0, -1.0, 0.95))
    points = Points(np.concatenate([real, far, near]))
    names = [str(i) for i in range(1200)]
    frames = [pd.DataFrame({"iteration": t, "text": texts}) for t, texts in ((1, names[400:600]), (2, names[800:1000]))]
    table = iteration_table(frames, names[:400], points)
    assert list(table.columns) == COLUMNS
    assert list(table["iteration"]) == [1, 2]
    assert table["fid"][1] < table["fid"][0]
    assert table["mauve"][1] > table["mauve"][0]
    assert table["fid_real"][0] < table["fid"][0]


def test_fid_of_equal_sets_is_nothing_and_grows_with_a_shift():
    rng = np.random.default_rng(1)
    rows = unit_rows(rng, 300, 0.5)
    assert fid(rows, rows) == pytest.approx(0.0, abs=1e-6)
    shifted = [fid(rows + step, rows) for step in (0.1, 0.2, 0.4)]
    assert shifted == sorted(shifted)
    # every axis of the real side that is kept moves by the step
    assert np.isnan(fid(rows[:10], rows))


def test_self_similarity_is_the_mean_over_pairs():
    rows = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]], np.float32)
    assert self_similarity(rows) == pytest.approx(1 / 3)
    assert np.isnan(self_similarity(rows[:1]))


def test_few_texts_leave_gaps_not_numbers():
    points = Points(np.eye(12)[:, :8] + 0.1)
    frame = pd.DataFrame({"iteration": 1, "text": [str(i) for i in range(5)]})
    table = iteration_table([frame], [str(i) for i in range(12)], points)
    assert table["fid"].isna().all()
    assert table["mauve"].isna().all()
    assert table["texts"][0] == 5
