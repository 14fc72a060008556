"""A small world for audits: deterministic models, five people, and an adversary who knows all but one of them."""

from __future__ import annotations

import hashlib
import itertools
import zlib
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np
import pandas as pd

from engine.dp.noise import sums, votes
from engine.dp.noise.cells import counts
from engine.dp.noise.choice import points
from engine.dp.noise.classes import class_of
from engine.dp.noise.outputs import MemoryOutputs
from engine.dp.noise.private import Mechanisms, PrivateData
from engine.methods.base import Context, Facts, parse_parameters
from engine.methods.topics.public import load_topics
from engine.models.contracts import Generation

LABELS = ("a", "b")
CAP = 3
UNITS = 5
WORDS = [f"w{i}" for i in range(300)]
KEY = b"k" * 32


def _rng(*parts):
    return np.random.default_rng(zlib.crc32(repr(parts).encode()))


@lru_cache(maxsize=4096)
def _word(word):
    return _rng("word", word).normal(size=384)


@lru_cache(maxsize=65536)
def _embedded(text):
    row = sum((_word(word) for word in text.split()), np.zeros(384)) + 1e-6
    return (row / np.linalg.norm(row)).astype(np.float32)


@lru_cache(maxsize=65536)
def _written(prompt, seed):
    rng = _rng("text", prompt, seed)
    return " ".join(WORDS[i] for i in rng.integers(0, len(WORDS), 12))


class Models:
    """Generator, embedder and operators in one: texts are hashes of prompt, place and seed."""

    id = "all-MiniLM-L6-v2"  # the sentiment head asks for this name and width
    capabilities = frozenset({"instruct"})

    def generate(self, prompts, sampling, constraints=None):
        return [Generation(_written(p + self.moves, sampling.seed % 97 + i), 12, "stop") for i, p in enumerate(prompts)]

    def embed(self, texts):
        return np.stack([_embedded(text) for text in texts])

    depth = 4

    def states(self, texts, layers, tokens):
        """Return states of six numbers a layer, from a text's words alone; zeros for no text."""
        rows = [_embedded(" ".join(text.split()[:tokens]))[: 6 * len(layers)] * bool(text.split()) for text in texts]
        return np.stack(rows).reshape(len(texts), len(layers), 6).astype(np.float32)

    @contextmanager
    def moved(self, vectors):
        """Let what is written follow from the vectors too."""
        before, self.moves = self.moves, repr([(layer, np.round(v, 6).tolist()) for layer, v in vectors.items()])
        yield
        self.moves = before

    moves = ""

    def prompt(self, name, **inputs):
        return f"{name} {zlib.crc32(repr(sorted(inputs.items())).encode())}"

    def parse(self, name, output, **inputs):
        return output


# Public candidates; one is what the worst-case person writes, so that all of their votes fall on it.
POOL = tuple(
    (" ".join(WORDS[i * 7 : i * 7 + 5 + i]) if i else " ".join(["w7", "w8", "w9"] * 18), LABELS[i % 2])
    for i in range(12)
)


def corpus(unit_labels=("a", "a", "a", "a", "a")):
    """Return records of four ordinary people and one worst-case one: more records than the cap, all one long text."""
    rows = [(f"r{i}", " ".join(WORDS[i * 9 : i * 9 + 6 + i]), f"s{i}", LABELS[i % 2]) for i in range(UNITS - 1)]
    long = " ".join(["w7", "w8", "w9"] * 18)
    rows += [(f"u{i}", long, "target", label) for i, label in enumerate(unit_labels)]
    return pd.DataFrame(rows, columns=["record_id", "text", "source_id", "label"])


def without(records):
    """Return the neighbouring corpus: the worst-case person's data are null."""
    return records[records["source_id"] != "target"].reset_index(drop=True)


class Watched(Mechanisms):
    """Real mechanisms; what public inputs each call had is written down beside its output."""

    asked: list

    def noisy_votes(self, key, embeddings, **options):
        self._note("votes", key, {"embeddings": embeddings, **options})
        return super().noisy_votes(key, embeddings, **options)

    def noisy_scores(self, key, embeddings, **options):
        self._note("scores", key, {"embeddings": embeddings, **options})
        return super().noisy_scores(key, embeddings, **options)

    def noisy_histogram(self, key, feature, bins, **options):
        self._note("histogram", key, {"feature": feature, "bins": bins, **options})
        return super().noisy_histogram(key, feature, bins, **options)

    def noisy_cells(self, key, asked, **options):
        self._note("cells", key, {"cells": asked, **options})
        return super().noisy_cells(key, asked, **options)

    def noisy_sum(self, key, read, size, **options):
        self._note("sum", key, {"read": read, "size": size, **options})
        return super().noisy_sum(key, read, size, **options)

    def above_threshold(self, key, feature="length", **options):
        self._note("search", key, options)
        return super().above_threshold(key, feature, **options)

    def noisy_choice(self, key, sets, **options):
        self._note("choice", key, {"sets": sets, **options})
        return super().noisy_choice(key, sets, **options)

    def noisy_mean(self, key, feature="self_similarity", **options):
        self._note("mean", key, options)
        return super().noisy_mean(key, feature, **options)

    def _note(self, kind, key, options):
        if not hasattr(self, "asked"):
            self.asked = []
        self.asked.append((kind, key, options))


def mine_of(table, models):
    """Return the embeddings of a table's texts, as mechanisms round them."""
    return votes.quantised(models.embed(list(table["text"])))


def level_runs(models, others):
    """Return two runs that everybody else is level on and the worst-case person is not: one vote decides."""
    for first in itertools.combinations(range(1, len(POOL)), 3):
        runs = [(POOL[0], *(POOL[i] for i in first)), tuple(POOL[i] for i in range(1, 8) if i not in first)[:4]]
        sets = [votes.quantised(models.embed([text for text, _ in one])) for one in runs]
        given = points(mine_of(others, models), np.arange(len(others)), sets)
        if given[0] == given[1]:
            return tuple(runs)
    raise AssertionError("no two runs are level")


def exactly(value):
    """Return public inputs as something equal only to the same inputs, whole arrays by their digest."""
    if isinstance(value, dict):
        return tuple((name, exactly(one)) for name, one in sorted(value.items()))
    if isinstance(value, np.ndarray):
        return value.shape, str(value.dtype), hashlib.sha256(value.tobytes()).digest()
    return tuple(exactly(one) for one in value) if isinstance(value, list | tuple) else value


def quantised_sets(options):
    """Return a choice's sets of embeddings, rounded."""
    return [votes.quantised(one) for one in options["sets"]]


@dataclass(frozen=True)
class Ran:
    """One run as an adversary sees it: every stored output with its public inputs, and the released records."""

    asked: list
    stored: dict
    records: list
    data: PrivateData
    events: list
    states: list = field(default_factory=list)


def weakened(guarantee, factor):
    """Return the guarantee with noise divided by `factor`: the claim stays, the noise does not."""
    noise = {}
    for name, level in guarantee.noise.items():
        noise[name] = dict(level)
        for part, by in (("noise_multiplier", 1 / factor), ("sigma", 1 / factor), ("epsilon", factor)):
            if part in level:
                noise[name][part] = level[part] * by
    return replace(guarantee, noise=noise)


@dataclass
class World:
    """A method with fixed parameters on one of two neighbouring corpora."""

    method: object
    parameters: dict
    unit_labels: tuple = ("a", "a", "a", "a", "a")
    until: str | None = None
    known: dict = field(default_factory=dict)

    def __post_init__(self):
        self.parsed = parse_parameters(self.method.spec, self.parameters)
        self.facts = Facts(UNITS + 2, UNITS, "source", CAP, len(LABELS), 60.0)
        self.guarantee = self.method.guarantee(self.parsed, self.facts)
        self.models = Models()
        self.full = corpus(self.unit_labels)
        self.others = without(self.full)
        self.target = self.full[self.full["source_id"] == "target"].iloc[:CAP]
        self.level = level_runs(self.models, self.others)

    def run(self, with_unit, factor=1.0, outputs=None, mechanisms=Watched):
        """Run the method once and return what an adversary may see."""
        records = self.full if with_unit else self.others
        outputs = MemoryOutputs() if outputs is None else outputs
        data = PrivateData(records, unit="source", cap=CAP, embed=self.models.embed, order_key=KEY, units=UNITS)
        held = mechanisms(data, outputs, unit="source", cap=CAP)
        context = Context(
            records=records.iloc[:0],
            spans=pd.DataFrame(columns=["record_id", "start", "end", "label", "identifier_type"]),
            count=4,
            parameters=self.parsed,
            seed=5,
            unit="source",
            generator=self.models,
            embedder=self.models,
            operators=self.models,
            mechanisms=held,
            facts=self.facts,
            labels=LABELS,
            guarantee=weakened(self.guarantee, factor),
            candidates=POOL,
            runs=self.level,
        )
        released, states = [], []
        for step in self.method.run(context):
            released += [(record.text, record.label) for record in step.records]
            states.append(step.state)
            if self.until is not None and step.state.get("stage") == self.until:
                break
        return Ran(getattr(held, "asked", []), dict(outputs.stored), released, data, held.events, states)

    def statistic(self, ran):
        """Return the adversary's statistic, declared before any run: larger speaks for the person's presence.

        The adversary knows everybody else, so it subtracts what they add and weighs each released number by what
        the person would add over the noise it believes in (a likelihood ratio for Gaussian noise; for Laplace noise
        the ratio is cut off at ±ε; a search counts if it went past everybody else's lengths).
        """
        others, kept = self.others, self.target
        total = 0.0
        for kind, key, options in ran.asked:
            values = ran.stored[key].values
            event = ran.stored[key].event
            if kind == "search":
                longest = max(len(text.split()) for text in others["text"])
                if options["direction"] == "above":
                    total += float(event.epsilon) * (1.0 if values[0] > longest + 3 else -1.0) / 2
                continue
            if kind == "mean":
                continue
            if kind == "choice":
                given = points(mine_of(kept, self.models), np.zeros(len(kept), np.int64), quantised_sets(options))
                total += 1.0 if values[0] == given.argmax() else -1.0
                continue
            mine, rest = self._added(kind, options, len(values))
            share = event.sampling_probability
            scale = event.sensitivity * (event.noise_multiplier or 1 / float(event.epsilon or 1.0))
            residual = values - share * (rest + mine / 2)
            if event.type == "gaussian":
                total += float(mine @ residual) / scale**2
            else:
                total += float(np.sum(np.clip(residual[mine > 0], -mine.max() / 2, mine.max() / 2)) / scale)
        return total

    def _added(self, kind, options, size):
        """Return what the person and what the others add; it follows from public inputs alone, so it is kept."""
        asked = None if kind == "sum" else (kind, size, exactly(options))  # a sum's features are a function
        found = self.known.get(asked)
        if found is None:
            found = [self._counts(kind, options, table, size) for table in (self.target, self.others)]
        if asked is not None:
            self.known[asked] = found
        return found

    def _counts(self, kind, options, table, size):
        if kind == "cells":
            data = PrivateData(table, unit="source", cap=CAP, embed=self.models.embed, order_key=KEY).open()
            data.keep_topics(load_topics().centres)
            return counts(data, options["cells"]).astype(float)
        if kind == "sum":
            data = PrivateData(table, unit="source", cap=CAP, order_key=KEY).open()
            given = options["labels"], options["label_share"]
            return sums.clipped_sum(data, options["read"], options["size"], *given) / sums.GRID
        if kind == "scores":
            grouped = options.get("groups") is not None
            steps = votes.dense(
                votes.quantised(self.models.embed(list(table["text"]))),
                votes.quantised(options["embeddings"]),
                np.array([zlib.crc32(name.encode()) for name in table["source_id"]]),
                list(table["label"]) if grouped else None,
                options.get("groups"),
            )
            return steps / votes.GRID
        labels, edges = list(table["label"]), options.get("edges")
        if edges is not None:
            own = labels if options["by_label"] else [None] * len(labels)
            labels = [class_of(a, len(t.split()), edges) for a, t in zip(own, table["text"], strict=True)]
        if kind == "votes":
            near = votes.nearest(
                votes.quantised(self.models.embed(list(table["text"]))),
                votes.quantised(options["embeddings"]),
                labels if options.get("groups") is not None else None,
                options.get("groups"),
            )
            near = near[near >= 0]
            if options.get("clusters") is not None:
                near = np.asarray(options["clusters"])[near]
            return np.bincount(near, minlength=size).astype(float)
        if options["feature"] in ("label", "class"):
            return np.array([labels.count(label) for label in options["bins"]], dtype=float)
        lengths = [len(text.split()) for text in table["text"]]
        return np.histogram(lengths, bins=np.asarray(options["bins"], dtype=float))[0].astype(float)
