"""Models trained together come out as they would alone, and the small model's numbers are those of its softmax."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from engine.errors import InternalError
from engine.models import threads
from engine.models.tune import small_causal as lm
from engine.models.tune.stacked import Shape, Stack, Training, schedule, train


@pytest.fixture(autouse=True)
def one_thread():
    with threads.one_thread():
        yield


SHAPE = Shape(40, width=16, layers=1, heads=2, context=12)
QUICK = Training(epochs=3, batch=4, rate=1e-2)


def rows(count, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.integers(2, 40, int(rng.integers(3, 12))) for _ in range(count)]


def test_together_equals_alone():
    data, seeds = rows(30), [5, 6, 7]
    members = np.random.default_rng(1).random((3, 30)) < 0.5
    stack = Stack(SHAPE, seeds)
    together = train(stack, data, members, lm.START, QUICK)
    for number, seed in enumerate(seeds):
        alone = Stack(SHAPE, [seed])
        loss = train(alone, data, members[number : number + 1], lm.START, QUICK)
        assert loss[0] == pytest.approx(together[number], abs=1e-4)
        for name, weight in alone.weights.items():
            assert torch.allclose(weight[0], stack.weights[name][number], atol=1e-3), name


def test_a_model_learns_its_own_rows_only():
    data = rows(24)
    members = np.zeros((2, 24), bool)
    members[0, :12] = members[1, 12:] = True
    stack = Stack(SHAPE, [1, 2])
    train(stack, data, members, lm.START, Training(epochs=60, batch=4, rate=1e-2))
    known = lm.mean_log_probability(stack, data)
    assert known[0, :12].mean() > known[0, 12:].mean() + 2
    assert known[1, 12:].mean() > known[1, :12].mean() + 2


def test_the_future_plays_no_part():
    stack = Stack(SHAPE, [3])
    ids = torch.randint(0, 40, (1, 2, 8), generator=torch.Generator().manual_seed(0))
    changed = ids.clone()
    changed[:, :, 5:] = 1
    assert torch.allclose(stack.logits(ids)[:, :, :5], stack.logits(changed)[:, :, :5], atol=1e-6)


def test_each_epoch_takes_every_row_once():
    plan = schedule(np.array([3, 5, 8, 9, 11]), 0, Training(epochs=2, batch=2))
    assert [len(step) for step in plan] == [2, 2, 1, 2, 2, 1]
    assert sorted(np.concatenate(plan[:3]).tolist()) == [3, 5, 8, 9, 11]


def test_training_can_be_stopped_and_refuses_a_model_without_rows():
    class Stopped(Exception):
        pass

    def stop(done, total):
        if done == 2:
            raise Stopped

    with pytest.raises(Stopped):
        train(Stack(SHAPE, [0]), rows(20), np.ones((1, 20), bool), lm.START, QUICK, stop)
    with pytest.raises(InternalError, match="members"):
        train(Stack(SHAPE, [0]), rows(20), np.zeros((1, 20), bool), lm.START, QUICK)


def test_scores_are_the_softmax_whatever_the_batch():
    stack, data = Stack(SHAPE, [4, 9]), rows(9)
    found = lm.mean_log_probability(stack, data)
    tables = lm.token_statistics(stack, data)
    for i, row in enumerate(data):
        ids = torch.tensor([[[lm.START, *row[:-1]]] * 1] * 2)
        log = torch.log_softmax(stack.logits(ids).detach().double(), -1)[:, 0]  # (2, T, V)
        own = log[:, range(len(row)), row.tolist()]
        assert found[:, i] == pytest.approx(own.mean(1).numpy(), abs=1e-5)
        mean = (log[0].exp() * log[0]).sum(-1)
        spread = ((log[0].exp() * (log[0] - mean[:, None]) ** 2).sum(-1)).sqrt()
        assert tables[i] == pytest.approx(torch.stack([own[0], mean, spread]).numpy(), abs=1e-4)


def test_behind_a_prefix_only_the_rows_own_tokens_count():
    stack, prefix, row = Stack(SHAPE, [4]), np.array([7, 8, 9]), np.array([3, 4])
    ids = torch.tensor([[[lm.START, 7, 8, 9, 3]]])
    log = torch.log_softmax(stack.logits(ids).detach(), -1)[0, 0]
    wanted = float(log[3, 3] + log[4, 4]) / 2
    assert lm.log_probability_behind(stack, prefix, [row, np.array([5] * 6)])[0] == pytest.approx(wanted, abs=1e-5)


def test_public_vocabulary_writes_every_text():
    texts = ["Dr. Müller gave 12.5 mg", "naïve 漢字 🙂", ""]
    made = lm.encode(texts)
    assert lm.decode(made) == texts
    assert all(row[-1] == lm.END for row in made)
    assert max(int(row.max()) for row in made) < lm.vocabulary_size()
    assert len(made[0]) > len(lm.encode(texts, merges=4000)[0])  # fewer merges, more tokens


def test_long_rows_are_cut_into_windows():
    pieces, of = lm.windows([np.arange(5), np.arange(12)], 5)
    assert [len(piece) for piece in pieces] == [5, 5, 5, 2]
    assert of.tolist() == [0, 1, 1, 1]
    _, loss = lm.fitted([*rows(6), np.full(40, 3)], np.ones((1, 7), bool), [0], SHAPE, QUICK)
    assert 0 < loss[0] < math.log(40)
