"""Audit of training with noise on neighbouring corpora: one unit's gradient is as long as can be and stands alone.

The adversary knows everybody else and all settings. It sees the noisy gradient of every step, or the last weights
alone; its statistic, declared beforehand, is the log-likelihood ratio of a Poisson-sampled Gaussian, or the sum. Noise
cannot be seeded, so limits hold with confidence 1 − 1e-6. Power, from 4,000 runs a world and 300 bootstrap audits of
RUNS each: see `test_power`.
"""

import json
import shutil
from dataclasses import replace
from functools import cache
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
import torch

from engine.dp.events import Event
from engine.dp.noise import mechanisms, train
from engine.dp.noise.outputs import MemoryOutputs
from engine.dp.noise.private import Mechanisms, PrivateData
from engine.errors import InternalError
from engine.methods import get_method
from engine.methods.base import Context, Facts, parse_parameters
from engine.methods.tuned.claim import training_of
from engine.models.prompts.operators_builtin import BuiltinOperators
from tests.audit.bounds import epsilon_lower_bound
from tests.audit.toy import CAP, KEY, LABELS, UNITS, corpus, weakened, without
from tests.models.small_lm import small_generator

RUNS = 400
VIEWS = ("every step", "last weights")
SETTINGS = {"epsilon": 1.0, "steps": 8, "units_a_step": 3, "clip": 0.5, "labels": "public", "lengths": "public"}


class Canary:
    """Three weights: the unit in question pulls at the first alone, as hard as it can; the others never do."""

    side_by_side = 8

    def __init__(self):
        self.steps = []

    def gradients(self, documents):
        rows = [[1e6, 0.0, 0.0] if "target" in one.text else [0.0, 3.0, len(one.text) / 9] for one in documents]
        return [torch.tensor(rows)], torch.zeros(len(documents))

    def shapes(self):
        return [(3,)]

    def update(self, step, gradient):
        self.steps.append(float(gradient[0][0]))

    def state(self):
        return {"w": torch.zeros(1)}

    def restore(self, state):
        self.steps = []


class World:
    """The training of a claim on one of two neighbouring corpora."""

    def __init__(self, units=6, **parameters):
        self.method = get_method("dp-finetune")
        self.p = parse_parameters(self.method.spec, SETTINGS | parameters)
        self.facts = Facts(units, units)
        self.guarantee = self.method.guarantee(self.p, self.facts)
        texts = [f"r{i}" for i in range(5)] + ["target"]
        columns = {"record_id": [f"i{t}" for t in texts], "text": texts, "source_id": None, "label": None}
        whole = pd.DataFrame(columns)
        self.data = {
            there: PrivateData(whole if there else whole.iloc[:5], order_key=KEY, units=units)
            for there in (True, False)
        }

    def sample(self, there, runs, factor=1.0):
        """Return each view's statistic of so many runs, larger where the unit seems to be there."""
        multiplier = float(self.guarantee.noise["training"]["noise_multiplier"]) / factor
        asked = training_of(self.p, self.facts, multiplier)
        sigma = multiplier * float(self.guarantee.noise["training"]["sensitivity"])
        q, clip = asked.sampling_probability, asked.clip
        found = []
        for _ in range(runs):
            learner = Canary()
            held = Mechanisms(self.data[there], MemoryOutputs(), adjacency=self.p.adjacency)
            held.train_dp("training", learner, asked, fingerprint="f")
            seen = np.array(learner.steps) * asked.expected
            ratio = np.logaddexp(np.log1p(-q) if q < 1 else -np.inf, np.log(q) + (seen * clip - clip**2 / 2) / sigma**2)
            found.append((float(ratio.sum()), float(seen.sum())))
        return dict(zip(VIEWS, np.array(found).T, strict=True))

    def bounds(self, runs, factor=1.0):
        """Return each view's lower bound on ε."""
        inside, outside = self.sample(True, runs, factor), self.sample(False, runs, factor)
        delta = self.guarantee.delta
        return {view: epsilon_lower_bound(inside[view], outside[view], delta=delta) for view in VIEWS}


@cache
def world(units=6, **parameters):
    return World(units, **parameters)


def test_the_audited_bound_stays_under_the_claim():
    assert max(world().bounds(120).values()) <= world().guarantee.epsilon


def test_a_tenth_of_the_noise_is_caught_from_every_step_and_from_the_last_weights():
    found = world().bounds(RUNS, 10.0)
    assert min(found.values()) > world().guarantee.epsilon


def test_gradients_that_are_not_clipped_are_caught(monkeypatch):
    monkeypatch.setattr(train, "clipped_sum", lambda gradients, clip: [part.sum(dim=0) for part in gradients])
    assert min(world().bounds(RUNS).values()) > world().guarantee.epsilon


def test_a_sample_that_is_everybody_is_caught(monkeypatch):
    # one unit in sixty is paid for, all take part
    rare = world(60, units_a_step=1, steps=12)
    monkeypatch.setattr(mechanisms, "poisson_sample", lambda units, q: np.ones(units, dtype=bool))
    assert min(rare.bounds(300).values()) > rare.guarantee.epsilon


@pytest.mark.parametrize(
    ("adjacency", "units_a_step"),
    [
        pytest.param("replace-one", 6, marks=pytest.mark.slow),
        *(pytest.param("zero-out", units, marks=pytest.mark.long) for units in (1, 3, 6)),
        *(pytest.param("replace-one", units, marks=pytest.mark.long) for units in (1, 3)),
    ],
)
def test_the_audited_bound_stays_under_the_claim_in_many_runs(adjacency, units_a_step):
    # Removal is one of the changes that replace-one covers too.
    held = world(adjacency=adjacency, units_a_step=units_a_step)
    assert max(held.bounds(5000).values()) <= held.guarantee.epsilon


@pytest.mark.long
def test_power():
    rng, samples = np.random.default_rng(1), [world().sample(there, 4000, 10.0) for there in (True, False)]
    for view in VIEWS:
        bounds = [
            epsilon_lower_bound(*(rng.choice(one[view], RUNS) for one in samples), delta=world().guarantee.delta)
            for _ in range(300)
        ]
        assert min(bounds) > world().guarantee.epsilon


class FrozenMechanisms(Mechanisms):
    """Mechanisms whose outputs are fixed beforehand; data are never opened."""

    def _once(self, key, request, event, draw):
        if self._outputs.load(key) is None:
            raise InternalError(f"{key!r} is not frozen")
        return super()._once(key, request, event, draw)


class Run:
    """The method, end to end, on a small network."""

    parameters: ClassVar = {"epsilon": 1.0, "steps": 3, "units_a_step": 3, "rank": 2, "tokens": 12, "temperature": 1.0}
    parameters |= {"watch_loss": True}

    def __init__(self, **parameters):
        self.method = get_method("dp-finetune")
        self.p = parse_parameters(self.method.spec, self.parameters | parameters)
        self.facts = Facts(UNITS + 2, UNITS, "source", CAP, len(LABELS), 60.0)
        self.guarantee = self.method.guarantee(self.p, self.facts)

    def __call__(self, there, scratch, outputs=None, mechanisms=Mechanisms, factor=1.0, **changes):
        """Run it on one of two neighbouring corpora."""
        records = corpus() if there else without(corpus())
        outputs = MemoryOutputs() if outputs is None else outputs
        data = PrivateData(records, unit="source", cap=CAP, order_key=KEY, units=UNITS)
        held = mechanisms(data, outputs, unit="source", cap=CAP)
        given = Context(
            records=records.iloc[:0], spans=pd.DataFrame(), count=4, parameters=self.p, seed=5, unit="source",
            generator=small_generator(), operators=BuiltinOperators(), mechanisms=held, facts=self.facts,
            labels=LABELS, guarantee=weakened(self.guarantee, factor), scratch=scratch,
        )  # fmt: skip
        return list(self.method.run(replace(given, **changes))), data, held, outputs


@pytest.fixture(scope="module")
def run():
    return Run()


def test_with_frozen_mechanisms_neighbouring_runs_are_identical(run, tmp_path):
    first, _, held, outputs = run(True, tmp_path / "first")
    assert sum(len(step.records) for step in first) == 4
    for there in (True, False):
        scratch = tmp_path / str(there)
        shutil.copytree(tmp_path / "first" / "training", scratch / "training")
        again, data, frozen, _ = run(there, scratch, outputs, FrozenMechanisms)
        assert data.openings == 0
        assert [r for step in again for r in step.records] == [r for step in first for r in step.records]
        assert frozen.events == held.events
        # Training has ended already, so one step says so; from there on the states are the same.
        assert json.dumps(again[-1].state) == json.dumps(first[-1].state)


def test_every_opening_has_an_event_and_together_they_are_the_reserved_ones(run, tmp_path):
    _, data, held, outputs = run(True, tmp_path)
    assert data.openings == len(held.events) == len(outputs.stored) == 3
    reserved = [Event.from_dict(event) for event in run.guarantee.events]
    assert sorted(map(repr, held.events)) == sorted(map(repr, reserved))
    assert {event.what for event in reserved} == {train.WHAT, "label histogram", "length histogram"}


def test_a_resumed_run_reads_nothing_it_has_not_paid_for(run, tmp_path):
    outputs = MemoryOutputs()
    whole = run.method.run
    steps = []
    for step in whole(_context(run, tmp_path, outputs)):
        steps.append(step)
        if len(steps) == 2:
            break  # killed here
    state = json.loads(json.dumps(steps[-1].state))
    rest, data, held, _ = run(True, tmp_path, outputs, state=state)
    assert data.openings == 3  # one goes on with training, two buy shares
    assert [event.count for event in held.events if event.what == train.WHAT] == [run.p.steps]
    assert len(outputs.stored) == 3
    assert len(rest[0].diagnostics["training_losses"]) == 3


def _context(run, scratch, outputs):
    data = PrivateData(corpus(), unit="source", cap=CAP, order_key=KEY, units=UNITS)
    return Context(
        records=corpus().iloc[:0], spans=pd.DataFrame(), count=4, parameters=run.p, seed=5, unit="source",
        generator=small_generator(), operators=BuiltinOperators(), facts=run.facts, labels=LABELS,
        mechanisms=Mechanisms(data, outputs, unit="source", cap=CAP), guarantee=run.guarantee, scratch=scratch,
    )  # fmt: skip
