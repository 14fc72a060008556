"""A toy world to run whole methods in: texts, a model and an embedder of known geometry; the mechanisms are real.

The neighbouring corpora differ in one worst-case unit: it uses up the cap with one label and one bin, so that every
statistic moves by its full sensitivity (`wide_unit_records` has other labels and lengths besides). The attacker sees
every value that a mechanism gives out and knows the other records. Its statistic, declared here, is the sum of the
outputs' log-likelihood ratios for "the unit is in".
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from engine.dp import votes
from engine.dp.private import Mechanisms, MemoryOutputs, PrivateData
from engine.methods.base import Context, Facts
from engine.models.contracts import Generation

LABELS = ("a", "b")
WORDS = 30
VOCABULARY = {label: [" ".join(f"{label}{kind}w{i}" for i in range(WORDS)) for kind in range(3)] for label in LABELS}
TEXTS = [text for label in LABELS for text in VOCABULARY[label]]
NEEDLE = VOCABULARY["a"][0]
CAP = 3


@cache
def _direction(text: str) -> np.ndarray:
    words = set(text.split())
    row = np.zeros(384, np.float32)
    row[: len(TEXTS)] = [len(words & set(known.split())) for known in TEXTS]
    row[-1] = 0.0 if row.any() else 1.0
    return row / np.linalg.norm(row)


class ToyEmbedder:
    """Gives each known text a direction of its own; a text is as close to a known one as it shares words."""

    id = "all-MiniLM-L6-v2"  # the built-in sentiment classifier reads no other

    def embed(self, texts: list[str]) -> np.ndarray:
        """Return (n, 384) unit rows."""
        return np.stack([_direction(text) for text in texts]) if texts else np.zeros((0, 384), np.float32)


class ToyOperators:
    """Names the label and the operator in a prompt; nothing else."""

    def prompt(self, name: str, **inputs: Any) -> str:
        """Return `operator label`."""
        return f"{name} {inputs.get('label') or 'a'}"

    def parse(self, name: str, output: str, **inputs: Any) -> str:
        """Return the output."""
        return output


class ToyGenerator:
    """Writes the texts of the prompt's label in turn, so that each candidate is there in every round."""

    id = "toy"
    capabilities: frozenset[str] = frozenset()

    def generate(self, prompts: list[str], sampling: Any, constraints: Any = None) -> list[Generation]:
        """Return one text a prompt."""
        texts = [VOCABULARY[prompt.split()[-1]][i % 3] for i, prompt in enumerate(prompts)]
        return [Generation(text, WORDS, "stop") for text in texts]


@cache
def base_records() -> pd.DataFrame:
    """Return the records both worlds have: one unit a text, the needle's text excepted."""
    rows = [(f"r{i}", text, f"s{i}", label) for label in LABELS for i, text in enumerate(VOCABULARY[label]) if i]
    return pd.DataFrame(
        [(f"{label}{r}", text, f"{label}{s}", label) for r, text, s, label in rows],
        columns=["record_id", "text", "source_id", "label"],
    )


@cache
def unit_records() -> pd.DataFrame:
    """Return the worst-case unit's records: as many as the cap lets in, all in one bin, under one label."""
    rows = [(f"u{i}", NEEDLE, "unit", "a") for i in range(CAP)]
    return pd.DataFrame(rows, columns=["record_id", "text", "source_id", "label"])


@cache
def wide_unit_records() -> pd.DataFrame:
    """Return a unit with more records than the cap, under several labels, one of them extremely long."""
    long = " ".join([NEEDLE] * 40)
    rows = [
        (f"w{i}", long if i == 2 else text, "unit", label)
        for i, (text, label) in enumerate(
            [
                (NEEDLE, "a"),
                (VOCABULARY["b"][0], "b"),
                (NEEDLE, "a"),
                (VOCABULARY["b"][1], "b"),
                (NEEDLE, "b"),
                ("", "a"),
            ]
        )
    ]
    return pd.DataFrame(rows, columns=["record_id", "text", "source_id", "label"])


@cache
def records_of(with_unit: bool) -> pd.DataFrame:
    """Return one of the two neighbouring corpora."""
    parts = [base_records(), unit_records()] if with_unit else [base_records()]
    return pd.concat(parts, ignore_index=True)


@cache
def known_rows() -> tuple[Any, list[str], Any]:
    """Return everybody's embeddings and labels, and which rows are the unit's."""
    everybody = records_of(True)
    mine = (everybody["source_id"] == "unit").to_numpy()
    return votes.quantised(ToyEmbedder().embed(list(everybody["text"]))), list(everybody["label"]), mine


UNITS = base_records()["source_id"].nunique() + 1
FACTS = Facts(
    records=len(base_records()) + CAP, units=UNITS, unit="source", cap=CAP, labels=len(LABELS), mean_characters=120.0
)


def private(records: pd.DataFrame) -> PrivateData:
    """Return records behind mechanisms, with the public N of both worlds."""
    embed = ToyEmbedder().embed
    return PrivateData(records, unit="source", cap=CAP, embed=embed, order_key=b"k" * 32, units=UNITS)


class Watched(Mechanisms):
    """Mechanisms whose outputs the attacker reads; `evidence` adds up their log-likelihood ratios."""

    evidence = 0.0
    calls = 0

    def noisy_votes(self, key: str, embeddings: Any, **how: Any) -> Any:
        """Return the votes, after the attacker has looked at the unit's bin."""
        values = super().noisy_votes(key, embeddings, **how)
        candidates, groups = votes.quantised(embeddings), how.get("groups")
        rows, labels, mine = known_rows()
        bins = votes.nearest(rows, candidates, labels if groups else None, groups)
        if how.get("clusters") is not None:
            bins = np.asarray(how["clusters"])[bins]
        target = bins[mine][0]
        share = how.get("sampling_probability", 1.0)
        known = share * float((bins[~mine] == target).sum())
        self._weigh(float(values[target]) - known, share * float((bins[mine] == target).sum()))
        return values

    def noisy_histogram(self, key: str, feature: str, bins: Any, **how: Any) -> Any:
        """Return the counts, after the attacker has looked at the unit's bin."""
        values = super().noisy_histogram(key, feature, bins, **how)
        if feature == "label":
            _, labels, mine = known_rows()
            known = sum(label == "a" for label, own in zip(labels, mine, strict=True) if not own)
            self._weigh(float(values[list(bins).index("a")]) - known, float(CAP))
        return values

    def _weigh(self, rest: float, size: float) -> None:
        event = self.events[-1]
        if event.type == "gaussian":
            sigma = float(event.noise_multiplier or 1.0) * event.sensitivity
            self.evidence += (rest * size - size * size / 2.0) / sigma**2
        else:
            scale = event.sensitivity / float(event.epsilon or 1.0)
            self.evidence += (abs(rest) - abs(rest - size)) / scale
        self.calls += 1


def louder(guarantee: Any, factor: float) -> Any:
    """Return a guarantee with its noise divided: what a method with wrong noise would run with."""
    noise = {
        name: {
            key: value * factor if key == "epsilon" else value if key == "sensitivity" else value / factor
            for key, value in values.items()
        }
        for name, values in guarantee.noise.items()
    }
    return replace(guarantee, noise=noise)


# What follows the last mechanism cannot add to the loss, and fine-tuning a model takes long.
LAST_STAGE = {"rpsg-public": "voting"}


def run_once(method: Any, parameters: Any, guarantee: Any, *, with_unit: bool, mechanisms: Any = None) -> Any:
    """Run a method in one of the worlds; return its mechanisms and its steps.

    It runs to its end, or (`LAST_STAGE`) to the last stage that draws an output.
    """
    watched = mechanisms or Watched(private(records_of(with_unit)), MemoryOutputs(), unit="source", cap=CAP)
    context = Context(
        records=records_of(False).head(0),
        spans=pd.DataFrame(),
        count=4,
        parameters=parameters,
        seed=1,
        unit="source",
        generator=ToyGenerator(),
        embedder=ToyEmbedder(),
        operators=ToyOperators(),
        mechanisms=watched,
        facts=FACTS,
        labels=LABELS,
        guarantee=guarantee,
    )
    steps = []
    for step in method.run(context):
        steps.append(step)
        if step.stage == LAST_STAGE.get(method.spec.id):
            break
    return watched, steps
