"""Methods that buy their list of labels: the claim adds up, the sentence says so, and a run writes with what it got."""

import dataclasses

import pytest
from scipy.stats import norm

from engine.dp.accounting.accountant import ExactAccountant
from engine.dp.events import Event
from engine.dp.noise.outputs import MemoryOutputs
from engine.errors import InternalError
from engine.methods import get_method, methods
from engine.methods.base import Facts, parse_parameters
from engine.methods.label_list import NAME, with_labels
from tests.methods.evolving import World, made

BUYING = [m.spec.id for m in methods() if "label_list" in m.spec.parameters.model_fields]
FORMAL = [m.spec.id for m in methods() if m.spec.kind == "dp"]
FACTS = Facts(3000, 3000, unit="source", cap=3, labels=4)
FEW = {"dpga": {"rounds": 1}, "dp-finetune": {"steps": 5}}


def test_every_method_that_draws_from_records_can_buy_the_list():
    # One reads nothing; the other keeps what the runs it chooses among wrote, with labels of a declared list alone.
    assert set(BUYING) == set(FORMAL) - {"public", "paid-choice"}


@pytest.mark.parametrize("name", BUYING)
@pytest.mark.parametrize("adjacency", ["zero-out", "replace-one"])
def test_the_list_is_part_of_the_claim(name, adjacency):
    method = get_method(name)
    values = {"label_list": "bought", "adjacency": adjacency, "epsilon": 2.0, **FEW.get(name, {})}
    claim = method.guarantee(parse_parameters(method.spec, values), FACTS)
    events = [Event.from_dict(event) for event in claim.events]
    (listed,) = [event for event in events if event.what == "label list"]
    assert listed.delta == pytest.approx(0.1 * claim.delta)
    assert listed.sensitivity == pytest.approx(3.0 * (1.0 if adjacency == "zero-out" else 2**0.5))
    assert not [event for event in events if event.what == "label histogram"]
    level = claim.noise[NAME]
    assert level["sigma"] == pytest.approx(listed.noise_multiplier * listed.sensitivity)
    total = ExactAccountant().account(events, claim.delta)
    assert 0.98 * 2.0 < total.epsilon <= 2.0 * (1 + 1e-6)
    assert "a single source has gets there" in claim.sentence
    assert "labels, which the custodian declared public" not in claim.sentence
    assert "carry no labels" not in claim.sentence


class Buying(World):
    """A run over a few hundred tickets of two common labels, and one that a single record has."""

    def __init__(self, method_id, **parameters):
        super().__init__(method_id, labelled=False, label_list="bought", **parameters)
        self.records = self.records.loc[self.records.index.repeat(25)].reset_index(drop=True)
        self.records["record_id"] = [f"r{i}" for i in range(len(self.records))]
        self.records["label"] = ["odd" if i == 5 else "ab"[i % 2] for i in range(len(self.records))]
        self.facts = Facts(len(self.records), len(self.records), labels=0)
        self.guarantee = self.method.guarantee(self.parameters, self.facts)

    def context(self, **changes):
        return with_labels(super().context(**changes))


@pytest.mark.parametrize(
    ("name", "settings"),
    [("aug-pe", {"rounds": 2, "variations": 2}), ("dpga", {"rounds": 2, "population": 12, "longest": 60})],
)
def test_a_run_writes_with_the_labels_it_got_and_resumes_with_the_same(name, settings):
    world = Buying(name, epsilon=8.0, **settings)
    steps, events = world.run()
    assert {record.label for record in made(steps)} == {"a", "b"}
    assert [event.what for event in events].count("label list") == 1
    assert sorted(world.outputs.stored["label list"].event.as_dict()) == sorted(world.guarantee.events[0])
    again = world.resumed(steps, 1)
    assert [(r.text, r.label) for r in again] == [(r.text, r.label) for r in made(steps)]


def test_a_list_that_holds_nothing_means_no_labels():
    # Noise so wide that a label of 150 records gets there about as seldom as one of a single record: together in one
    # run of four thousand.
    world = Buying("aug-pe", epsilon=0.001, rounds=2, variations=2)
    level = world.guarantee.noise[NAME]
    assert sum(norm.sf((level["threshold"] - n) / level["sigma"]) for n in world.records["label"].value_counts()) < 3e-4
    steps, _ = world.run()
    assert {record.label for record in made(steps)} == {None}


def test_settings_and_reservation_must_agree():
    world = Buying("aug-pe", epsilon=8.0)
    world.guarantee = dataclasses.replace(world.guarantee, noise={"votes": world.guarantee.noise["votes"]})
    world.outputs = MemoryOutputs()
    with pytest.raises(InternalError, match="differ"):
        world.context()
