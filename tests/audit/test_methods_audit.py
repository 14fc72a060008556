"""Whole runs of every `dp` method, audited end to end in two neighbouring worlds.

The claim is ε = 1; the lower bound holds with confidence 1 − 1e-6, because the noise cannot be seeded.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.dp.events import Event
from engine.dp.private import Mechanisms, MemoryOutputs
from engine.methods import get_method, method_ids
from engine.methods.base import parse_parameters


def _load(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(f"audit_{name}", Path(__file__).with_name(f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


world, bounds = _load("world"), _load("bounds")
EPSILON, DELTA = 1.0, 1e-4
SETTINGS: dict[str, dict[str, Any]] = {
    "aug-pe": {"rounds": 2, "variations": 2},
    "dpga": {"rounds": 2, "population": 12, "tau": 0.99},
    "rpsg-public": {},
}
DP = [name for name in method_ids() if get_method(name).spec.kind == "dp" and name != "public"]
SHORT, CATCH, LONG = 240, 400, 5000


def prepared(name: str, **more: Any) -> tuple[Any, Any, Any]:
    method = get_method(name)
    values = {"epsilon": EPSILON, "delta": DELTA, **SETTINGS.get(name, {}), **more}
    known = method.spec.parameters.model_fields
    parameters = parse_parameters(method.spec, {k: v for k, v in values.items() if k in known})
    return method, parameters, method.guarantee(parameters, world.FACTS)


def evidence(name: str, runs: int, louder: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Return the attacker's statistic of `runs` runs with and without the unit."""
    method, parameters, guarantee = prepared(name)
    if louder != 1.0:
        guarantee = world.louder(guarantee, louder)
    sides = [
        [world.run_once(method, parameters, guarantee, with_unit=inside)[0].evidence for _ in range(runs)]
        for inside in (True, False)
    ]
    return np.array(sides[0]), np.array(sides[1])


def test_every_dp_method_is_audited():
    assert set(DP) >= {"aug-pe"}
    assert set(SETTINGS) >= set(DP), "a dp method without an audit: add its toy settings here"


@pytest.mark.parametrize("name", DP)
def test_audited_bound_stays_under_the_claim(name):
    assert bounds.epsilon_lower_bound(*evidence(name, SHORT), DELTA) <= EPSILON


@pytest.mark.parametrize("name", DP)
def test_a_tenth_of_the_noise_is_caught(name):
    assert bounds.epsilon_lower_bound(*evidence(name, CATCH, louder=10.0), DELTA) > EPSILON


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", DP)
def test_audited_bound_stays_under_the_claim_in_many_runs(name):
    found = bounds.epsilon_lower_bound(*evidence(name, LONG), DELTA)
    assert found <= EPSILON
    # The attacker is not blind: at ordinary confidence the statistic tells something.
    inside, outside = evidence(name, SHORT)
    assert inside.mean() > outside.mean()


@pytest.mark.parametrize("name", DP)
def test_the_unit_moves_what_the_attacker_looks_at(name):
    inside, outside = evidence(name, 60, louder=30.0)
    assert inside.mean() > outside.mean() + 3.0


class Frozen(MemoryOutputs):
    """Outputs of another run, whatever the data: nothing is drawn."""

    def save(self, key: str, request: Any, event: Event, values: Any) -> None:
        raise AssertionError(f"a frozen run drew {key!r}: it asked for something the other run did not ask for")


@pytest.mark.parametrize("name", ["public", *DP])
def test_with_frozen_mechanisms_neighbours_run_alike(name):
    method, parameters, guarantee = prepared(name)
    outputs = MemoryOutputs()
    first = Mechanisms(world.private(world.records_of(True)), outputs, unit="source", cap=world.CAP)
    _, steps = world.run_once(method, parameters, guarantee, with_unit=True, mechanisms=first)
    frozen = Frozen()
    frozen.stored = outputs.stored
    other = world.private(world.records_of(False))
    second = Mechanisms(other, frozen, unit="source", cap=world.CAP)
    _, again = world.run_once(method, parameters, guarantee, with_unit=False, mechanisms=second)
    assert [(s.records, s.state, s.funnel) for s in steps] == [(s.records, s.state, s.funnel) for s in again]
    assert other.openings == 0


@pytest.mark.parametrize("name", ["public", *DP])
@pytest.mark.parametrize("wide", [False, True])
def test_every_opening_has_its_event_and_events_are_those_of_the_guarantee(name, wide):
    method, parameters, guarantee = prepared(name)
    records = world.pd.concat([world.base_records(), world.wide_unit_records() if wide else world.unit_records()])
    data = world.private(records)
    mechanisms = Mechanisms(data, MemoryOutputs(), unit="source", cap=world.CAP)
    world.run_once(method, parameters, guarantee, with_unit=True, mechanisms=mechanisms)
    assert data.openings == len(mechanisms.events)

    def counted(events: Any) -> dict[Event, int]:
        found: dict[Event, int] = {}
        for event in events:
            single = Event.from_dict({**event.as_dict(), "count": 1})
            found[single] = found.get(single, 0) + event.count
        return found

    promised = counted(Event.from_dict(event) for event in guarantee.events)
    assert counted(mechanisms.events) == promised
