"""A small world for methods that write and vote: real operators, mechanisms and records, a writer quick enough."""

from __future__ import annotations

import json
import zlib
from dataclasses import replace
from functools import lru_cache

import numpy as np
import pandas as pd

from engine.corpus.samples import load_sample
from engine.dp.noise.outputs import MemoryOutputs
from engine.dp.noise.private import Mechanisms, PrivateData
from engine.methods import get_method
from engine.methods.base import Context, Facts, parse_parameters
from engine.models.contracts import Generation
from engine.models.prompts.operators_builtin import BuiltinOperators

COUNT = 6
KEY = b"k" * 32
WORDS = [f"word{i}" for i in range(400)]


def _rng(*parts):
    return np.random.default_rng(zlib.crc32(repr(parts).encode()))


def fails_at(share):
    """Return what makes a scribe fail at about this share of prompts, always the same ones."""
    return lambda prompt, seed: _rng("unusable", prompt, seed).random() < share


# A pool for methods that choose among texts made elsewhere: readable, of several lengths and labels.
CANDIDATES = tuple(
    (f"{text} {' '.join(WORDS[i : i + 3 * i])} in the end.", label)
    for i, (text, label) in enumerate(
        [("The parcel came late and nobody said why.", "a"), ("Two invoices came for one order.", "b")] * 15
    )
)


class Scribe:
    """A generator whose texts follow from prompt and seed alone; `unusable` says which prompts it fails at."""

    id = "scribe"
    capabilities = frozenset()

    def __init__(self, unusable=lambda prompt, seed: False):
        self.unusable = unusable
        self.prompts, self.samplings = [], []

    def generate(self, prompts, sampling, constraints=None):
        self.prompts += prompts
        self.samplings.append(sampling)
        return [self._one(prompt, sampling.seed) for prompt in prompts]

    def _one(self, prompt, seed):
        if self.unusable(prompt, seed):
            return Generation("no", 1, "stop")
        rng = _rng("text", prompt, seed)
        return Generation(" ".join(rng.choice(WORDS, size=int(rng.integers(8, 20)))), 12, "stop")


class Hashed:
    """An embedder of word sums: a text's row follows from its words alone."""

    id = "hashed"

    def embed(self, texts):
        return np.stack([_row(text) for text in texts]) if len(texts) else np.zeros((0, 48), np.float32)


@lru_cache(maxsize=65536)
def _row(text):
    row = sum((_rng("word", word).normal(size=48) for word in text.split()), np.zeros(48)) + 1e-6
    return (row / np.linalg.norm(row)).astype(np.float32)


class Sealable(MemoryOutputs):
    """Outputs that can be closed: whatever would be drawn after that fails the test."""

    sealed = False

    def save(self, key, request, event, values):
        assert not self.sealed, f"{key} was drawn again"
        super().save(key, request, event, values)


def records():
    """Return twelve made-up tickets with their labels."""
    return load_sample("support_tickets").head(12)[["record_id", "text", "source_id", "label"]].reset_index(drop=True)


class World:
    """A method with its settings over those tickets."""

    def __init__(self, method_id, labelled=True, **parameters):
        self.method = get_method(method_id)
        self.parameters = parse_parameters(self.method.spec, parameters)
        self.records, self.outputs = records(), Sealable()
        self.labels = tuple(sorted(self.records["label"].unique())) if labelled else ()
        self.facts = Facts(len(self.records), len(self.records), labels=len(self.labels))
        self.guarantee = self.method.guarantee(self.parameters, self.facts)
        self.embedder, self.scribe = Hashed(), Scribe()

    def mechanisms(self):
        """Return mechanisms bound to the tickets, as a process that was started anew would make them."""
        data = PrivateData(self.records, embed=self.embedder.embed, order_key=KEY)
        return Mechanisms(data, self.outputs, adjacency=self.guarantee.adjacency)

    def context(self, **changes):
        """Return a run's context without any record."""
        base = Context(
            records=self.records.iloc[:0],
            spans=pd.DataFrame(),
            count=COUNT,
            parameters=self.parameters,
            seed=3,
            generator=self.scribe,
            embedder=self.embedder,
            operators=BuiltinOperators(),
            facts=self.facts,
            labels=self.labels,
            guarantee=self.guarantee,
            batch_size=2,
            mechanisms=self.mechanisms(),
            candidates=CANDIDATES,
        )
        return replace(base, **changes)

    def run(self, **changes):
        """Return all steps, and the events that were recorded."""
        given = self.context(**changes)
        return list(self.method.run(given)), given.mechanisms.events

    def resumed(self, steps, at):
        """Return what a run gives in all that was cut off after step `at`; it may draw nothing anew."""
        self.outputs.sealed = True
        rest, _ = self.run(state=json.loads(json.dumps(steps[at].state)))
        return made(steps[: at + 1]) + made(rest)


def made(steps):
    """Return the records of these steps, in order."""
    return [record for step in steps for record in step.records]


def funnel(steps):
    """Return the counts of these steps added up; each step's own must add up too."""
    total: dict[str, int] = {}
    for step in steps:
        lost = sum(n for name, n in step.funnel.items() if name.startswith("dropped: "))
        assert step.funnel["made"] == step.funnel["kept"] + lost
        assert step.funnel["kept"] == len(step.records)
        for name, n in step.funnel.items():
            total[name] = total.get(name, 0) + n
    return total


def composed(events):
    """Return what these events come to a statistic: its noise, its neighbours, how often it is drawn."""
    found: dict[tuple, int] = {}
    for event in events:
        noise = (event.type, event.what, event.noise_multiplier, event.epsilon, event.sampling_probability)
        key = (*noise, event.sensitivity, event.unit, event.adjacency)
        found[key] = found.get(key, 0) + event.count
    return found
