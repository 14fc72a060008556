"""Audit of private prediction on neighbouring corpora: the adversary sees every token and knows all but one record.

Its statistic, declared beforehand, is the log-likelihood ratio of the released tokens, computed here from the
formulas alone. Draws cannot be seeded, so limits hold with confidence 1 − 1e-6. Power, estimated by drawing 2,000 runs
a world and 300 bootstrap audits of RUNS each from them: see `test_power`.
"""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from engine.dp.events import Event
from engine.dp.noise.outputs import MemoryOutputs
from engine.dp.noise.prediction import Cell
from engine.dp.noise.private import Mechanisms, PrivateData
from engine.errors import InternalError
from engine.methods import get_method
from engine.methods.base import Context, Facts, parse_parameters
from tests.audit.bounds import epsilon_lower_bound

KEY = b"k" * 32
WORDS = 8  # and the end token, which is never drawn here
UNITS = 6
RUNS = {"difference-clip": 700, "mean-clip": 2000}
# The search of mean-clip is a coin's toss at this budget: half of its draws are public, so many of them must add up.
CAUGHT = {"difference-clip": {}, "mean-clip": {"threshold": 0.02, "search_share": 0.02, "tokens": 60, "longest": 120}}
VARIANTS = tuple(RUNS)
SLOW = (pytest.mark.slow, pytest.mark.timeout(900))  # a minute or two on an idle machine


class Toy:
    """A language model of nine tokens whose logits are a hash of prompt and place, or extreme for one record."""

    id, end, context = "toy", WORDS, 10_000
    capabilities = frozenset({"logits"})
    allowed = np.ones(WORDS + 1, dtype=bool)

    def logit_source(self):
        return self

    def prompt(self, name, **inputs):
        return inputs.get("text") or "public"

    def parse(self, name, output, **inputs):
        return output

    def encode(self, text, *, prompt=False):
        return [ord(c) for c in text]

    def decode(self, tokens):
        return (
            " ".join(chr(t) if t > 32 else f"w{t}" for t in tokens)
            if max(tokens, default=0) <= 32
            else "".join(map(chr, tokens))
        )

    def prefixes(self, rows, *, width, room, block):
        return ToyPrefixes(["".join(map(chr, row)) for row in rows])


class ToyPrefixes:
    def __init__(self, prompts):
        self.prompts, self.place = prompts, 0

    def logits(self):
        return np.stack([logits_of(prompt, self.place) for prompt in self.prompts]).astype(np.float32)

    def append(self, token):
        self.place += 1


KNOWN = {}


def logits_of(prompt, place):
    """Return a row's logits: the worst-case record pulls half of the tokens up and half of them down."""
    if (prompt, place) not in KNOWN:
        name = "target" if "target" in prompt else prompt
        rng = np.random.default_rng([place, *map(ord, name)])
        row = rng.normal(size=WORDS + 1)
        if name == "target":
            row = np.where(np.arange(WORDS + 1) % 2, 1000.0, -1000.0)
        elif name != "public":
            row = logits_of("public", place) + 0.01 * row
        KNOWN[prompt, place] = np.append(row[:WORDS], -50.0)
    return KNOWN[prompt, place]


class World:
    """The method on one of two neighbouring corpora; one batch holds everybody."""

    def __init__(self, variant, **parameters):
        self.method = get_method("private-prediction")
        asked = {"variant": variant, "epsilon": 1.0, "batch_size": UNITS, "tokens": 12, "longest": 40, "top_k": 0}
        self.parsed = parse_parameters(self.method.spec, asked | parameters)
        self.facts = Facts(UNITS, UNITS)
        self.guarantee = self.method.guarantee(self.parsed, self.facts)
        texts = [f"r{i}" for i in range(UNITS - 1)] + ["target"]
        columns = {"record_id": [f"i{t}" for t in texts], "text": texts, "source_id": None, "label": None}
        self.full = pd.DataFrame(columns)
        self.model = Toy()

    def claim(self, factor):
        """Return the guarantee with clipping times `factor`: the promise stays, what a token gives away grows."""
        level = dict(self.guarantee.noise["tokens"])
        level["reach"] *= factor
        return replace(self.guarantee, noise={"tokens": level})

    def run(self, there, factor=1.0, outputs=None, mechanisms=Mechanisms, count=1):
        records = self.full if there else self.full[:-1]
        data = PrivateData(records, order_key=KEY, units=UNITS)
        outputs = MemoryOutputs() if outputs is None else outputs
        held = mechanisms(data, outputs)
        context = Context(
            records=records.iloc[:0],
            spans=pd.DataFrame(),
            count=count,
            parameters=self.parsed,
            seed=5,
            generator=self.model,
            operators=self.model,
            mechanisms=held,
            facts=self.facts,
            guarantee=self.claim(factor),
        )
        steps = list(self.method.run(context))
        return steps, data, held, outputs

    def likelihoods(self, factor):
        """Return log Pr[token | everybody] − log Pr[token | all but one] at each place, (places, words).

        For mean-clip the adversary takes each token for a public draw or a private one with even chances: the noise
        of the search is that large here.
        """
        clip = self.guarantee.noise["tokens"]["reach"] * factor * UNITS
        others = [f"r{i}" for i in range(UNITS - 1)]
        table = []
        for place in range(self.parsed.longest):
            public = logits_of("public", place)
            shown = []
            for texts in ([*others, "target"], others):
                rows = np.stack([logits_of(text, place) for text in texts])
                if self.parsed.variant == "difference-clip":
                    shown.append(softmax(public + np.clip(rows - public, -clip, clip).sum(axis=0) / UNITS))
                else:
                    mean = np.maximum(-clip, rows - rows.max(axis=1, keepdims=True) + clip).sum(axis=0) / UNITS
                    shown.append((softmax(mean) + softmax(public)) / 2)
            table.append(np.log(shown[0]) - np.log(shown[1]))
        return np.array(table)

    def sample(self, there, runs, factor):
        """Return the statistic of so many runs."""
        table = self.likelihoods(factor)
        found = []
        for _ in range(runs):
            tokens = self.run(there, factor)[3].stored["text/0/0"].values.astype(int)
            found.append(sum(table[place, token] for place, token in enumerate(tokens) if token < WORDS))
        return np.array(found)


def softmax(logits):
    weights = np.exp(logits[:WORDS] - logits[:WORDS].max())
    return weights / weights.sum()


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_audited_bound_stays_under_the_claim(variant):
    world = World(variant)
    found = [world.sample(there, 80, 1.0) for there in (True, False)]
    assert epsilon_lower_bound(*found, delta=world.guarantee.delta) <= world.guarantee.epsilon


@pytest.mark.parametrize("variant", [VARIANTS[0], pytest.param(VARIANTS[1], marks=SLOW)])
def test_ten_times_the_clipping_is_caught(variant):
    world = World(variant, **CAUGHT[variant])
    found = [world.sample(there, RUNS[variant], 10.0) for there in (True, False)]
    assert epsilon_lower_bound(*found, delta=world.guarantee.delta) > world.guarantee.epsilon


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("adjacency", ["zero-out", "replace-one"])
def test_the_audited_bound_stays_under_the_claim_in_many_runs(variant, adjacency):
    world = World(variant, adjacency=adjacency)
    found = [world.sample(there, RUNS[variant], 1.0) for there in (True, False)]
    assert epsilon_lower_bound(*found, delta=world.guarantee.delta) <= world.guarantee.epsilon


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("variant", VARIANTS)
def test_power(variant):
    world = World(variant, **CAUGHT[variant])
    found = [world.sample(there, 2000, 10.0) for there in (True, False)]
    rng = np.random.default_rng(1)
    bounds = [
        epsilon_lower_bound(*(rng.choice(one, RUNS[variant]) for one in found), delta=world.guarantee.delta)
        for _ in range(300)
    ]
    assert min(bounds) > world.guarantee.epsilon


class FrozenMechanisms(Mechanisms):
    """Mechanisms whose outputs are fixed beforehand; data are never opened."""

    def _once(self, key, request, event, draw):
        if self._outputs.load(key) is None:
            raise InternalError(f"{key!r} is not frozen")
        return super()._once(key, request, event, draw)


@pytest.mark.parametrize("variant", VARIANTS)
def test_with_frozen_mechanisms_neighbouring_runs_are_identical(variant):
    world = World(variant, batch_size=2, texts_a_batch=2)
    steps, _, held, outputs = world.run(True, count=6)
    assert sum(len(step.records) for step in steps) == 6
    for there in (True, False):
        again, data, frozen, _ = world.run(there, outputs=outputs, mechanisms=FrozenMechanisms, count=6)
        assert data.openings == 0
        assert [step.records for step in again] == [step.records for step in steps]
        assert json.dumps([step.state for step in again]) == json.dumps([step.state for step in steps])
        assert frozen.events == held.events


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_opening_has_an_event_within_the_reserved_ones(variant):
    world = World(variant, batch_size=2, texts_a_batch=2)
    _, data, held, outputs = world.run(True, count=6)
    assert data.openings == len(held.events) == len(outputs.stored) == 6
    reserved = {event["type"]: event for event in world.guarantee.events}
    drawn = {kind: [e for e in held.events if e.type == kind] for kind in ("zcdp", "parallel")}
    assert sum(event.count for event in drawn["zcdp"]) == reserved["zcdp"]["count"] == 2 * world.parsed.tokens
    assert {event.rho for event in drawn["zcdp"]} == {reserved["zcdp"]["rho"]}
    assert len(drawn["parallel"]) == reserved["parallel"]["count"] == 4


def test_nothing_is_drawn_that_no_event_pays_for():
    world = World("difference-clip")
    _, data, held, _ = world.run(True)
    cells = [Cell(None, number, 2, 3.0) for number in range(2)]
    settings = replace(held_settings(world), tokens=4, longest=4)
    model = Started()
    with pytest.raises(InternalError, match="nothing pays"):
        held.private_logits(7, 1, cells, model, settings, fingerprint="f")
    with pytest.raises(InternalError, match="overlap"):
        held.private_logits(7, 0, [*cells, Cell(None, 0, 3, 2.0)], model, settings, fingerprint="f")
    held.private_logits(7, 0, cells, model, settings, fingerprint="f")
    with pytest.raises(InternalError, match="nothing pays"):
        held.private_logits(7, 1, cells, model, replace(settings, reach=1.0), fingerprint="f")
    assert len(held.private_logits(7, 1, cells, model, settings, fingerprint="f")) == 4
    assert [event.type for event in held.events[-2:]] == ["zcdp", "parallel"]
    assert data.openings == 3


def held_settings(world):
    from engine.methods.prediction.claim import schedule

    return schedule(world.parsed, world.facts).settings


class Started(Toy):
    """The toy model with its prompts laid out."""

    def start(self, texts):
        return ToyPrefixes(["public" if text is None else text for text in texts])


def test_events_read_back():
    world = World("mean-clip", batch_size=2)
    assert [Event.from_dict(event).type for event in world.guarantee.events] == ["zcdp", "parallel"]
