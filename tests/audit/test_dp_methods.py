"""End-to-end audits of methods with a formal guarantee, on neighbouring corpora of a small world.

The adversary sees everything: each stored noisy number, its public inputs, the records. One worst-case person
(more records than the cap, all in one bin, extremely long) is there or not. Noise cannot be seeded, so limits hold
with confidence 1 − 1e-6: a sound method fails such a test once in a million times at most.
"""

import json

import numpy as np
import pytest

from engine.dp.events import Event, acting
from engine.dp.noise.outputs import MemoryOutputs
from engine.dp.noise.private import Mechanisms
from engine.errors import InternalError
from engine.methods import get_method
from tests.audit.bounds import epsilon_lower_bound
from tests.audit.toy import CAP, World

POOL = {"pool": "made", "promise": {"name": "made", "digest": "0", "texts": 12, "labels": ["a", "b"]}}
SETTINGS = {
    "aug-pe": {"epsilon": 1.0, "rounds": 2, "variations": 2, "words": 12},
    "aug-pe clusters": {"epsilon": 1.0, "rounds": 1, "variations": 3, "votes_for": "clusters", "clusters": 3},
    "aug-pe dense": {"epsilon": 1.0, "rounds": 2, "variations": 2, "votes": "dense", "words": 12},
    "dpga": {"epsilon": 1.0, "rounds": 2, "population": 8, "longest": 60, "keyword_count": 4, "words": 12},
    "dp-topics": {"epsilon": 1.0, "candidates": 1, "words": 12, "refinements": 1, "threshold": 0.0},
    "dp-steer": {"epsilon": 1.0, "words": 12, "public_texts": 8, "layers": 2},
    "dp-steer basis": {"epsilon": 1.0, "words": 12, "public_texts": 8, "basis": 2, "clip": 0.5},
    "rpsg-public": {"epsilon": 1.0, "candidates": 2, "words": 12},
    "dp-select": {"epsilon": 1.0, **POOL},
    "paid-choice": {"epsilon": 1.0, "promise": {"runs": ["r-1", "r-2"], "outputs": 4}},
    "dp-select lengths": {"epsilon": 1.0, "lengths": [9, 20], **POOL},
}
UNTIL = {"rpsg-public": "writing"}  # what follows reads neither records nor mechanisms
SPREAD = ("a", "b", "a", "b", "a")


@pytest.fixture(scope="module", params=list(SETTINGS))
def world(request):
    method = request.param.split()[0]
    return World(get_method(method), SETTINGS[request.param], until=UNTIL.get(method))


def audited(world, runs, factor):
    """Return the lower bound on ε from `runs` runs in each of the two worlds."""
    found = [np.array([world.statistic(world.run(there, factor)) for _ in range(runs)]) for there in (True, False)]
    return epsilon_lower_bound(*found, delta=world.guarantee.delta)


def test_the_audited_bound_stays_under_the_claim(world):
    assert audited(world, 120, 1.0) <= world.guarantee.epsilon


@pytest.mark.slow
def test_a_tenth_of_the_noise_is_caught(world):
    runs = 900 if world.method.spec.id == "paid-choice" else 300  # one of two answers a run says little
    assert audited(world, runs, 10.0) > world.guarantee.epsilon


@pytest.mark.parametrize(
    "unit_labels",
    [pytest.param(("a",) * 5, id="one label"), pytest.param(SPREAD, marks=pytest.mark.long, id="several labels")],
)
@pytest.mark.parametrize(
    "name",  # another setting of a method is long
    [pytest.param(name, marks=pytest.mark.long if " " in name else pytest.mark.slow) for name in SETTINGS],
)
def test_the_audited_bound_stays_under_the_claim_in_many_runs(name, unit_labels):
    method = name.split()[0]
    world = World(get_method(method), SETTINGS[name], unit_labels, UNTIL.get(method))
    # That the audit sees what there is to see is shown above, with a tenth of the noise.
    assert audited(world, 400, 1.0) <= world.guarantee.epsilon


@pytest.mark.parametrize("unit_labels", [("a",) * 5, SPREAD], ids=["one label", "several labels"])
def test_every_opening_has_an_event_within_the_reserved_ones(world, unit_labels):
    world = World(world.method, world.parameters, unit_labels, world.until)
    ran = world.run(True)
    assert ran.data.openings == len(ran.stored) == len(ran.events)
    reserved = [Event.from_dict(event) for event in world.guarantee.events]
    budget = {}
    for event in reserved:
        budget[_kind(event)] = budget.get(_kind(event), 0) + event.count
    for event in ran.events:
        budget[_kind(event)] = budget.get(_kind(event), 0) - event.count
    assert {kind: left for kind, left in budget.items() if left < 0} == {}
    assert any(event.count for event in acting(ran.events))


def _kind(event):
    """Return what tells mechanisms apart for accounting."""
    loss = event.noise_multiplier if event.type == "gaussian" else event.epsilon
    return (
        event.type,
        round(float(loss or 0.0), 9),
        event.sampling_probability,
        event.unit,
        event.adjacency,
    )


class FrozenMechanisms(Mechanisms):
    """Mechanisms whose outputs are fixed beforehand: what is not stored is an error, data are never opened."""

    def _once(self, key, request, event, draw):
        if self._outputs.load(key) is None:
            raise InternalError(f"{key!r} is not frozen")
        return super()._once(key, request, event, draw)


def test_with_frozen_mechanisms_neighbouring_runs_are_identical(world):
    outputs = MemoryOutputs()
    first = world.run(True, outputs=outputs)
    again = [world.run(there, outputs=outputs, mechanisms=FrozenMechanisms) for there in (True, False)]
    for ran in again:
        assert ran.data.openings == 0
        assert ran.records == first.records
        assert json.dumps(ran.states) == json.dumps(first.states)
        assert ran.events == first.events
    assert again[0].stored.keys() == again[1].stored.keys()


def test_public_prompts_read_nothing_and_are_the_same_in_both_worlds():
    world = World(get_method("public"), {"words": 12})
    runs = [world.run(there) for there in (True, False)]
    assert runs[0].records == runs[1].records
    assert len(runs[0].records) == 4
    assert [ran.data.openings for ran in runs] == [0, 0]
    assert (world.guarantee.epsilon, world.guarantee.delta) == (0.0, 0.0)


def test_the_cap_is_what_the_votes_see():
    # five identical records of one person, cap three: the bin gains three votes, not five
    world = World(get_method("aug-pe"), SETTINGS["aug-pe"])
    totals = {}
    for there in (True, False):
        ran = world.run(there, factor=2000.0)
        totals[there] = sum(ran.stored["votes/1"].values)
    assert totals[True] - totals[False] == pytest.approx(CAP, abs=0.5)
