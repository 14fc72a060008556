"""dp-steer: what public texts fix, what a sum moves, what is claimed is what is drawn, resuming, and a real folder."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch

from engine.dp.accounting.closed_form import default_delta, epsilon, noise_multiplier
from engine.dp.events import Event
from engine.dp.noise.noiseless import NoiselessMechanisms
from engine.dp.noise.outputs import MemoryOutputs
from engine.dp.noise.private import Mechanisms, PrivateData
from engine.errors import UserError
from engine.methods import get_method
from engine.methods.advice.advice import advice
from engine.methods.advice.verdict import signal_verdict
from engine.methods.base import Context, Facts, parse_parameters
from engine.methods.steer import public, vector
from engine.methods.steer.method import _Run
from engine.models.cancel import Cancelled
from engine.models.catalogue import lacks
from engine.models.contracts import Sampling, Steerable
from engine.models.folder.inspection import capabilities_of_folder
from engine.models.folder.transformers_local import TransformersGenerator
from engine.models.prompts.operators_plain import PlainOperators
from tests.audit.toy import Models
from tests.methods.evolving import KEY, Sealable, composed, funnel, made
from tests.models.families import make_family

COUNT, METHOD = 5, get_method("dp-steer")
QUICK = {"public_texts": 8, "words": 12}


def table(texts, labels=None, sources=None):
    labels, sources = labels or [None] * len(texts), sources or [None] * len(texts)
    rows = [(f"r{i}", *row) for i, row in enumerate(zip(texts, sources, labels, strict=True))]
    return pd.DataFrame(rows, columns=["record_id", "text", "source_id", "label"])


class World:
    """A corpus and a model whose states follow from words."""

    def __init__(self, records, labels=(), unit="record", cap=1, **parameters):
        self.records, self.outputs, self.models, self.labels = records, Sealable(), Models(), tuple(labels)
        self.unit, self.cap = unit, cap
        self.parameters = parse_parameters(METHOD.spec, QUICK | parameters)
        self.facts = Facts(len(records), len(records), unit, cap, labels=len(self.labels))
        self.guarantee = METHOD.guarantee(self.parameters, self.facts)

    def context(self, **changes):
        data = PrivateData(self.records, unit=self.unit, cap=self.cap, order_key=KEY)
        held = Mechanisms(data, self.outputs, unit=self.unit, cap=self.cap, adjacency=self.guarantee.adjacency)
        base = Context(
            records=self.records.iloc[:0], spans=pd.DataFrame(), count=COUNT, parameters=self.parameters, seed=3,
            generator=self.models, operators=self.models, facts=self.facts, labels=self.labels, unit=self.unit,
            guarantee=self.guarantee, batch_size=2, mechanisms=held,
        )  # fmt: skip
        return replace(base, **changes)

    def run(self, **changes):
        given = self.context(**changes)
        return list(METHOD.run(given)), given.mechanisms.events


TEXTS = [f"w{i} w{i + 1} w{2 * i}" for i in range(12)]


# --- what public texts fix ---


@pytest.mark.parametrize(
    ("depth", "share", "wanted", "found"),
    [(7, 0.6, 1, (3,)), (32, 0.6, 4, (17, 18, 19, 20)), (2, 1.0, 1, (1,)), (2, 0.01, 8, (0, 1)), (1, 0.5, 3, (0,))],
)
def test_layers_follow_from_depth_alone(depth, share, wanted, found):
    assert public.layers_of(depth, share, wanted) == found


def test_public_texts_usually_differ_by_one_and_the_way_back_is_exact():
    states = np.random.default_rng(1).normal(size=(40, 2, 6)).astype(np.float32) * np.arange(1, 7) + 3
    for basis in (0, 3):
        frame = public.frame_of(states, (4, 5), basis)
        inside = frame.inwards(states)
        assert inside.shape == (40, frame.size) == (40, 2 * (basis or 6))
        assert np.sqrt((inside**2).sum(1).mean()) == pytest.approx(1.0)
        assert not frame.inwards(np.zeros((1, 2, 6), np.float32)).any()  # a text without a token adds nothing
        back = frame.outwards(inside[0])
        assert list(back) == [4, 5]
        if not basis:
            assert np.stack([*back.values()]) == pytest.approx(states[0] - frame.centre, abs=1e-5)
        else:  # what is left is what those directions hold
            again = frame.inwards((np.stack([*back.values()]) + frame.centre).astype(np.float32)[None])
            assert again[0] == pytest.approx(inside[0], abs=1e-5)
            assert frame.basis[0] @ frame.basis[0].T == pytest.approx(np.eye(3), abs=1e-6)


def test_a_coordinate_that_never_varies_breaks_nothing():
    states = np.ones((9, 1, 3), np.float32)
    states[:, 0, 0] = np.arange(9)
    frame = public.frame_of(states, (0,))
    assert np.isfinite(frame.inwards(states)).all()
    assert np.isfinite(frame.inwards(states + 5)).all()


def test_a_sum_of_noise_alone_moves_nothing_and_a_clear_one_is_kept():
    frame = public.PublicFrame((3,), np.zeros((1, 4)), np.full((1, 4), 2.0), None, 0.5)
    given = {"clip": 1.0, "strength": 2.0, "units": 100}
    quiet = vector.found_of(np.full(4, 1.0), frame, sigma=1.0, **given)
    assert quiet.kept == 0.0
    assert not quiet.moves[3].any()
    clear = vector.found_of(np.full(4, 50.0), frame, sigma=0.0, **given)
    assert clear.kept == 1.0
    assert clear.moves[3] == pytest.approx(np.full(4, 0.5 * 2.0 * 0.5 * 2.0))  # mean × strength × scale × spread
    labelled = vector.found_of(
        np.array([5.0, 5, 5, 5, 3, -1]), frame, sigma=0.0, labels=("a", "b"), label_share=0.19, **given
    )
    assert labelled.shares == {"a": 3.0, "b": 0.0}
    assert labelled.moves[3] == pytest.approx(np.full(4, 0.05 / 0.9 * 2.0))


# --- the claim ---


@pytest.mark.parametrize("adjacency", ["zero-out", "replace-one"])
@pytest.mark.parametrize(("unit", "cap"), [("record", 1), ("source", 5)])
@pytest.mark.parametrize("labels", [0, 3])
def test_one_line_whose_epsilon_is_that_of_one_gaussian(adjacency, unit, cap, labels):
    values = parse_parameters(METHOD.spec, {"epsilon": 2.0, "adjacency": adjacency})
    claim = METHOD.guarantee(values, Facts(900, 300, unit, cap, labels))
    (line,) = claim.events
    assert line["sensitivity"] == (1.0 if adjacency == "zero-out" else 2.0)
    assert line["noise_multiplier"] == pytest.approx(noise_multiplier(2.0, default_delta(300), 1), rel=1e-9)
    assert epsilon(1.0 / line["noise_multiplier"], default_delta(300)) == pytest.approx(2.0, rel=1e-6)
    assert claim.accounting["epsilon_pld"] == pytest.approx(2.0, rel=1e-6)
    assert claim.noise["sum"]["sigma"] == pytest.approx(line["noise_multiplier"] * line["sensitivity"])
    assert ("and of their labels" in claim.sentence) == bool(labels)
    assert ("the mean of at most 5 records a source" in claim.sentence) == (unit == "source")
    assert "the model" in claim.sentence


def test_the_claim_says_by_what_number_the_sum_is_divided():
    values = parse_parameters(METHOD.spec, {"expected": 250})
    assert "the number that the sum is divided by, 250" in METHOD.guarantee(values, Facts(300, 300)).sentence


def test_advice_and_verdict_follow_from_public_numbers():
    values = parse_parameters(METHOD.spec, {"epsilon": 1.0})
    for units, level in ((20, "noise"), (100, "weak"), (3_000, "enough")):
        facts = Facts(units, units)
        claim = METHOD.guarantee(values, facts)
        assert signal_verdict("dp-steer", values, facts, claim, 50).level == level
        (told,) = advice("dp-steer", values, facts, claim, 50)
        assert ("enough to tell which way" in told) == (level == "enough")


def test_causal_models_here_are_offered_and_no_others():
    assert "states" in capabilities_of_folder("causal", "plain")
    assert "states" not in capabilities_of_folder("seq2seq", "plain")
    from engine.models.catalogue import _builtin_info

    assert lacks(_builtin_info(), METHOD.spec.title, METHOD.spec.needs) == []
    without = replace(_builtin_info(), id="elsewhere", capabilities=frozenset({"instruct"}))
    told = lacks(without, METHOD.spec.title, ("states",))
    assert "lets its inner states be read and moved; elsewhere does not" in told[0]


# --- runs ---

SETTINGS = {
    "as it is": {},
    "replace-one": {"adjacency": "replace-one"},
    "basis": {"basis": 2, "layers": 3},
    "labels": {"labelled": True},
    "shares public": {"labelled": True, "labels": "public"},
    "sources": {"unit": "source"},
}


def world_of(name):
    given = dict(SETTINGS[name])
    labelled, unit = given.pop("labelled", False), given.pop("unit", "record")
    names = [("a", "b", "a")[i % 3] for i in range(12)] if labelled else None
    owners = [f"s{i % 5}" for i in range(12)] if unit == "source" else None
    world = World(table(TEXTS, names, owners), unit=unit, cap=2 if owners else 1, **given)
    if labelled:
        world.labels, world.facts = ("a", "b"), replace(world.facts, labels=2)
        world.guarantee = METHOD.guarantee(world.parameters, world.facts)
    return world


@pytest.mark.parametrize("name", SETTINGS)
def test_it_resumes_from_every_step_and_draws_no_more_than_it_claims(name):
    world = world_of(name)
    steps, events = world.run()
    assert len(made(steps)) == COUNT == funnel(steps)["kept"]
    drawn, claimed = composed(events), composed([Event.from_dict(event) for event in world.guarantee.events])
    assert drawn == claimed
    world.outputs.sealed = True
    for at in range(len(steps)):
        rest, _ = world.run(state=json.loads(json.dumps(steps[at].state)))
        assert made(steps[: at + 1]) + made(rest) == made(steps), at


def test_any_number_of_texts_costs_one_line_and_a_seed_never_touches_the_noise():
    world = World(table(TEXTS))
    world.run(count=40)
    assert list(world.outputs.stored) == ["sum"]
    drawn = []
    for _ in range(2):
        world.outputs = Sealable()
        world.run(seed=3)
        drawn.append(world.outputs.stored["sum"].values)
    assert (drawn[0] != drawn[1]).all()


def test_a_run_cancelled_while_it_reads_has_drawn_nothing():
    world, asked = World(table(TEXTS)), []
    given = world.context(cancelled=lambda: len(asked) > 3, progress=lambda *told: asked.append(told))
    with pytest.raises(Cancelled):
        list(METHOD.run(given))
    assert not world.outputs.stored
    assert not given.mechanisms.events


def test_what_is_written_follows_from_the_sum():
    world = World(table(TEXTS), epsilon=50.0)
    other = World(table([f"w{200 + i} w{250 - i}" for i in range(12)]), epsilon=50.0)
    assert made(world.run()[0]) != made(other.run()[0])


def test_a_model_without_states_is_refused():
    class Still:
        id, capabilities, generate = "still", frozenset(), Models.generate

    with pytest.raises(UserError, match="hidden states"):
        list(METHOD.run(World(table(TEXTS)).context(generator=Still())))


@pytest.mark.parametrize("family", ["llama", "gpt2"])
def test_a_real_folder_is_read_and_moved(family, tmp_path):
    model = TransformersGenerator(make_family(family, tmp_path / family), f"folder:{family}", dtype=torch.float32)
    assert isinstance(model, Steerable)
    texts = ["the clinic answered the letter", "", "Anna Berg was glad " * 80, "the parcel came late and wet", "no"]
    world = World(table(texts * 4), strength=8.0, clip=3.0)
    data = PrivateData(world.records, order_key=KEY)
    given = world.context(
        generator=model, operators=PlainOperators(), mechanisms=NoiselessMechanisms(data, MemoryOutputs())
    )
    run, wrote = _Run(given), ["Nobody had signed for it.", "I ask for a refund.", "an answer on the same day"]
    found = run.found(wrote)
    assert list(found.moves) == [run.layers[0]]
    frame = public.frame_of(model.states(wrote, run.layers, 128), run.layers)
    read = public.reader_of(model, frame, 3.0, 128, lambda done, total: None)
    together, alone = read(texts), np.concatenate([read([text]) for text in texts])
    assert np.array_equal(together, alone)  # no text changes another's vector
    assert not together[1].any()
    prompts = ["The letter", "We ask"]
    sampling = Sampling(max_new_tokens=16)
    plain = model.generate(prompts, sampling)
    with model.moved(found.moves):
        assert model.generate(prompts, sampling) != plain
    assert model.generate(prompts, sampling) == plain
