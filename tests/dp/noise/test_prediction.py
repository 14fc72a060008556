"""Private prediction: losses against published numbers, sensitivity by brute force, batches, draws, what is public."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.special import logsumexp

from engine.dp.accounting.closed_form import zcdp_epsilon, zcdp_rho
from engine.dp.accounting.rdp import epsilon_rdp
from engine.dp.noise import prediction
from engine.dp.noise.prediction import Cell, Prediction
from engine.dp.noise.private_data import PrivateData
from engine.errors import InternalError

KEY = b"k" * 32
WHOM = {"unit": "record", "adjacency": "zero-out"}


def settings(**changes):
    values = {"variant": "difference-clip", "rows": 1, "reach": 0.02, "temperature": 1.0, "tokens": 50, "longest": 50}
    return Prediction(**(values | changes))


@pytest.mark.parametrize(
    ("epsilon", "rho"), [(1, 0.0306), (2, 0.1083), (3, 0.2242), (5, 0.5510), (10, 1.7827)]
)  # InvisibleInk's conversion at δ = 1e-5, Canonne, Kamath and Steinke 2020, proposition 12
def test_budgets_convert_as_published(epsilon, rho):
    assert zcdp_rho(epsilon, 1e-5) == pytest.approx(rho, abs=5e-5)
    assert zcdp_epsilon(zcdp_rho(epsilon, 1e-5), 1e-5) == pytest.approx(epsilon, abs=1e-6)


@pytest.mark.parametrize(("epsilon", "slots"), [(1, 40.4), (3, 14.9), (10, 5.3)])
def test_batches_that_give_a_clip_of_one_temperature_at_a_hundred_tokens(epsilon, slots):
    reach = prediction.reach_of(zcdp_rho(epsilon, 1e-5) / 100, 1, 1.0)
    assert 1.0 / reach == pytest.approx(slots, abs=0.1)


@pytest.mark.parametrize(("adjacency", "factor"), [("zero-out", 1), ("replace-one", 4)])
@pytest.mark.parametrize("rows", [1, 3])
def test_a_token_costs_as_its_formula_says(adjacency, factor, rows):
    one = settings(rows=rows, reach=0.05, temperature=2.0)
    assert one.token_rho(adjacency) == pytest.approx(factor * rows**2 * 0.5 * (0.05 / 2.0) ** 2)
    assert prediction.reach_of(one.token_rho(adjacency), rows, 2.0, adjacency) == pytest.approx(0.05)
    schedule = prediction.events(one, WHOM | {"adjacency": adjacency}, texts=2, batches=7)
    assert epsilon_rdp(schedule, 1e-5) == pytest.approx(zcdp_epsilon(100 * one.token_rho(adjacency), 1e-5))
    assert [(event.type, event.count) for event in schedule] == [("zcdp", 100), ("parallel", 12)]


def test_the_worst_row_reaches_the_loss_and_no_row_exceeds_it():
    # Rényi divergence of order α between the draws with and without a row, by brute force, against ρ α.
    rng = np.random.default_rng(3)
    for variant in ("difference-clip", "mean-clip"):
        asked, slots, best = settings(variant=variant, reach=0.5, search=0.1), 4.0, 0.0
        rho = 0.5 * asked.reach**2
        for case in range(60):
            base = rng.normal(size=12) * 3
            rows = base + rng.normal(size=(4, 12))
            extreme = np.where(np.arange(12) % 2, 1e3, -1e3) if case % 2 else rng.normal(size=12) * 50
            chances = [
                softmax(scores_of(variant, base, np.vstack([rows, *more]), asked, slots)) for more in ([], [extreme])
            ]
            for p, q in (chances, chances[::-1]):
                for order in (1.5, 2.0, 8.0, 64.0):
                    loss = float(logsumexp(order * np.log(p) + (1 - order) * np.log(q))) / (order - 1)
                    assert loss <= rho * order + 1e-9
                    best = max(best, loss / (rho * order))
        assert best > 0.8


def scores_of(variant, base, rows, asked, slots):
    if variant == "difference-clip":
        return base + prediction.moved(base, rows, asked, slots)
    return prediction.clipped_mean(rows, len(base), asked, slots)


def softmax(scores):
    weights = np.exp(scores - scores.max())
    return weights / weights.sum()


def test_a_row_moves_the_disagreement_by_at_most_its_share():
    rng = np.random.default_rng(4)
    base, rows = rng.normal(size=9), rng.normal(size=(5, 9)) * 30
    whole = prediction.disagreement(base, rows, settings(), 5.0)
    for i in range(5):
        other = np.delete(rows, i, axis=0)
        assert abs(whole - prediction.disagreement(base, other, settings(), 5.0)) <= 1 / 5
        swapped = rows.copy()
        swapped[i] = np.where(np.arange(9) == 0, 1e3, 0.0)
        assert abs(whole - prediction.disagreement(base, swapped, settings(), 5.0)) <= 1 / 5
    assert prediction.disagreement(base, rows[:0], settings(), 5.0) == 0.0


def test_rows_that_are_not_numbers_move_nothing_beyond_the_clip():
    rows = np.array([[np.nan, np.inf, -np.inf, 0.0]])
    change = prediction.moved(np.zeros(4), rows, settings(reach=0.1), 2.0)
    assert change == pytest.approx([0.0, 0.1, -0.1, 0.0])


def test_what_may_be_drawn_follows_from_public_logits_alone():
    base, allowed = np.array([5.0, 4.0, 3.97, 1.0, 9.0]), np.array([1, 1, 1, 1, 0], dtype=bool)
    # second largest is 4, less 2C/s = 0.04
    assert prediction.support(base, allowed, settings(top_k=2)).tolist() == [0, 1, 2]
    assert prediction.support(base, allowed, settings(top_k=2, reach=0.01)).tolist() == [0, 1]
    assert prediction.support(base, allowed, settings(top_k=0)).tolist() == [0, 1, 2, 3]


def test_draws_follow_the_softmax():
    scores = np.log(np.array([0.5, 0.3, 0.15, 0.05]))
    seen = np.bincount([prediction.inverse_cdf(scores) for _ in range(20_000)], minlength=4) / 20_000
    assert seen == pytest.approx([0.5, 0.3, 0.15, 0.05], abs=0.025)  # seven standard deviations


def table(sources=60, each=3):
    rows = [(f"{s}-{i}", f"text {s} {i}", f"s{s}", "ab"[i % 2]) for s in range(sources) for i in range(each)]
    return pd.DataFrame(rows, columns=["record_id", "text", "source_id", "label"])


@pytest.mark.parametrize("most", [1, 2])
def test_batches_are_disjoint_by_unit_and_keep_to_its_rows(most):
    data = PrivateData(table(), unit="source", cap=3, order_key=KEY).open()
    cells = [Cell(label, number, 4, 10.0) for label in "ab" for number in range(4)]
    prediction.check_disjoint(cells)
    owners = {}
    for cell in cells:
        for text in cell.rows(data, most):
            owners.setdefault(text.split()[1], []).append((cell.label, cell.number, text))
    assert len(owners) == 60
    assert all(len(found) == most for found in owners.values())
    assert all(len({number for _, number, _ in found}) == 1 for found in owners.values())


def test_a_unit_keeps_its_batch_whoever_else_is_there():
    records = table()
    data = PrivateData(records, unit="source", cap=3, order_key=KEY).open()
    fewer = PrivateData(records[30:].reset_index(drop=True), unit="source", cap=3, order_key=KEY).open()
    for number in range(5):
        cell = Cell(None, number, 5, 10.0)
        here = {text for text in cell.rows(data, 3) if int(text.split()[1]) >= 10}
        assert here == set(cell.rows(fewer, 3))


@pytest.mark.parametrize(
    "cells",
    [
        [Cell("a", 0, 2, 1.0), Cell("a", 0, 2, 1.0)],  # twice the same
        [Cell("a", 0, 2, 1.0), Cell("a", 1, 3, 1.0)],  # split in two ways
        [Cell(None, 0, 1, 1.0), Cell("a", 0, 1, 1.0)],  # everybody, and one label again
        [Cell(None, 0, 1, 1.0, (1, 2)), Cell(None, 0, 1, 1.0, (2, 3))],  # a topic in two groups
        [Cell("a", 0, 1, 1.0), Cell("a", 0, 1, 1.0, (4,))],  # all topics, and one again
        [Cell(None, 0, 2, 1.0, (1,)), Cell("a", 0, 2, 1.0, (1,))],
    ],
)
def test_batches_that_overlap_are_refused(cells):
    with pytest.raises(InternalError, match="overlap"):
        prediction.check_disjoint(cells)


def test_batches_by_topic_share_nobody():
    records = table(40, 1)
    centres = np.eye(4, dtype=np.float32)
    data = PrivateData(records, order_key=KEY, embed=lambda texts: centres[[int(t.split()[1]) % 4 for t in texts]])
    data.open()
    data.keep_topics(centres)
    cells = [Cell(None, number, 2, 5.0, (1,)) for number in range(2)] + [Cell(None, 0, 1, 5.0, (0, 2, 3))]
    prediction.check_disjoint(cells)
    found = [text for cell in cells for text in cell.rows(data, 1)]
    assert sorted(found) == sorted(records["text"])
    assert all(int(text.split()[1]) % 4 == 1 for cell in cells[:2] for text in cell.rows(data, 1))
    assert "topics" in cells[0].stored()
    assert "topics" not in Cell("a", 0, 1, 1.0).stored()


def test_batches_may_not_be_read_unopened():
    data = PrivateData(table(2), unit="source", cap=3, order_key=KEY)
    with pytest.raises(InternalError, match="without being opened"):
        Cell(None, 0, 1, 1.0).rows(data, 1)


@pytest.mark.parametrize("share", [0.01, 0.25, 0.5, 0.9, 0.99])
@pytest.mark.parametrize("rows", [1, 2, 5])
def test_a_unit_that_moves_to_other_batches_costs_no_more_than_is_paid(rows, share):
    """Under replace-one, rows that were there and rows that are there now may lie in any batches."""
    budget, temperature, slots = 0.02, 1.3, 40.0
    search = prediction.search_of(share * budget, "replace-one")
    reach = prediction.reach_of((1 - share) * budget, rows, temperature, "replace-one")
    asked = prediction.Prediction("mean-clip", rows, reach, temperature, 10, 10, search=search)
    assert asked.token_rho("replace-one") == pytest.approx(budget)
    worst = 0.0
    for before in itertools.product(range(rows + 1), repeat=3):
        for after in itertools.product(range(rows + 1), repeat=3):
            if sum(before) > rows or sum(after) > rows:
                continue
            cost = 0.0
            for a, b in zip(before, after, strict=True):
                # A row that comes or goes moves a coordinate within ± reach, one that is replaced within ± 2 reach.
                draw = 0.5 * ((a + b) * reach / temperature) ** 2
                # A total variation moves by a row's share of the batch, replaced or not; the search's loss is for r.
                moved = max(a, b) / slots
                cost += draw + 0.5 * (search * moved / (rows / slots)) ** 2
            worst = max(worst, cost)
    assert worst <= budget * (1 + 1e-9)
    if rows == 1:  # one row in another batch: all of the search's part is used
        elsewhere = 2 * 0.5 * (reach / temperature) ** 2 + 2 * 0.5 * search**2
        assert elsewhere >= share * budget * (1 - 1e-9)
