"""Study `finetune-perplexity`: what noise in training costs, and whether what is claimed of it holds.

One network, fitted for the same number of steps to as many records a step: not at all, plainly with adapters, plainly
as a whole, and with noise at each ε. Each is scored on holdout records that no variant has seen, and on training ones.
Canaries, each put among the records of every variant by one fair coin, are looked for afterwards.
"""

from __future__ import annotations

import dataclasses
import math
import os
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from engine.dp.noise.outputs import MemoryOutputs
from engine.dp.noise.private import Mechanisms
from engine.dp.noise.private_data import PrivateData
from engine.dp.noise.train import Document
from engine.errors import InternalError
from engine.methods.base import Facts
from engine.methods.evolution import claim as pe_claim
from engine.methods.evolution import common as pe
from engine.methods.tuned import common as ft
from engine.methods.tuned.claim import guarantee_of, training_of
from engine.methods.tuned.parameters import DpFinetuneParameters
from engine.studies.base import StudyContext, StudySpec, StudyStep, TableRow
from engine.studies.finetune_perplexity import gradient_audit, measures
from engine.studies.finetune_perplexity.measures import Canaries, Known
from engine.studies.finetune_perplexity.parameters import FinetunePerplexityParameters

if TYPE_CHECKING:
    from engine.dp.noise.train import Training
    from engine.models.tune.learner import NetLearner


UNTUNED = "untuned"
PLAIN = {"lora": "finetune (adapters)", "full": "finetune (every weight)"}
_PARTS = ("holdout", "train", "canaries")


class FinetunePerplexityStudy:
    """Fit without noise and with it, and score what came out."""

    spec = StudySpec(
        id="finetune-perplexity",
        title="What noise in training costs",
        summary="The same network, untuned, fitted plainly and fitted with noise at several ε: perplexity of unseen "
        "and of training records, claimed ε, and the ε that audits can prove.",
        citation="Yu et al. 2022, Differentially Private Fine-tuning of Language Models; Steinke, Nasr and Jagielski "
        "2023, Privacy Auditing with One (1) Training Run; Nasr et al. 2021, Adversary Instantiation",
        parameters=FinetunePerplexityParameters,
        needs=("generator", "operators", "train"),
    )

    def run(self, context: StudyContext) -> Iterator[StudyStep]:
        """Yield the tables after the untuned network and after each training."""
        p = context.parameters
        if not isinstance(p, FinetunePerplexityParameters):
            raise InternalError("finetune-perplexity was started with another study's parameters")
        held = dict(context.state or {"finished": [], "untuned": {}})
        tables = dict(context.tables)
        bench = _Bench(context, p)
        every = bench.variants()
        for name in every:
            if name in held["finished"]:
                continue
            made = bench.measured(name, held["untuned"])
            for key, table in made.items():
                tables[key] = pd.concat([tables[key], table], ignore_index=True) if key in tables else table
            if name == UNTUNED:
                held["untuned"] = bench.untuned
            held["finished"] = [*held["finished"], name]
            yield StudyStep(len(held["finished"]), len(every), name, dict(held), dict(tables))


@dataclasses.dataclass(frozen=True)
class Noised:
    """What one training with noise claims, and the noise it got."""

    epsilon: float
    delta: float
    noise_multiplier: float
    sigma: float
    sampling_probability: float
    asked: Training
    adjacency: str


class _Bench:
    """Records, canaries and scored parts, the same for every variant."""

    def __init__(self, context: StudyContext, p: FinetunePerplexityParameters) -> None:
        run, facts = context.run, context.run.facts
        if facts is None or run.generator is None:
            raise InternalError("finetune-perplexity was started without facts or a generator")
        self.context, self.p = context, p
        self.canaries = measures.canaries(p.canaries, run.seed)
        self.records = _planted(run.records, self.canaries)
        # Under zero-out N counts every canary, in or out.
        units = facts.units + p.canaries
        self.facts: Facts = dataclasses.replace(facts, records=facts.records + p.canaries, units=units)
        self.parts = {
            "holdout": _documents(_drawn(context.holdout, p.holdout, run.seed)),
            "train": _documents(_drawn(run.records, p.train, run.seed)),
            "canaries": [Document(text) for text in self.canaries.texts],
        }
        self.untuned: dict[str, list[list[float]]] = {}

    def variants(self) -> list[str]:
        """Return what is compared, in order."""
        return [UNTUNED, *(PLAIN[kind] for kind in self.p.plain), *(_noisy(e) for e in self.p.epsilons)]

    def measured(self, name: str, untuned: dict[str, list[list[float]]]) -> dict[str, pd.DataFrame]:
        """Return one variant's tables."""
        begun, kinds = time.monotonic(), {title: kind for kind, title in PLAIN.items()}
        noisy = {_noisy(e): e for e in self.p.epsilons}
        tuning = self._tuning(noisy.get(name, 1.0), whole=kinds.get(name) == "full")
        net = ft.network(self.context.run, tuning)
        prompts = ft.TunedPrompts(self.context.run.operators, net.bare, pe.resolved(self.p.domain), "")
        rate = self.p.full_rate if kinds.get(name) == "full" else self.p.rate
        learner = ft.learner(net, prompts, tuning, rate=rate, steps=self.p.steps, apart=name in noisy)
        claim: Noised | None = None
        losses: tuple[float, ...] = ()
        if name in noisy:
            claim, losses = self._with_noise(name, learner, tuning)
        elif name != UNTUNED:
            losses = self._plainly(name, learner)
        if name != UNTUNED:
            learner.finish()
        found = {part: self._scored(name, learner, prompts, part) for part in _PARTS if self.parts[part]}
        if name == UNTUNED:
            self.untuned = {part: [one.nats.tolist(), one.tokens.tolist()] for part, one in found.items()}
            untuned = self.untuned
        before = {part: Known(np.array(nats), np.array(tokens)) for part, (nats, tokens) in untuned.items()}
        rows = self._rows(name, found, before, None if claim is None else claim.delta)
        if claim is not None:
            rows += self._claimed(name, claim)
        settings = self._settings(name, tuning, rate, 0 if name == UNTUNED else learner.size, claim)
        settings["seconds"] = round(time.monotonic() - begun, 1)
        return {
            "summary": measures.frame(name, rows),
            "settings": pd.DataFrame([settings]),
            "losses": pd.DataFrame({"variant": name, "step": range(1, len(losses) + 1), "loss": list(losses)}),
        }

    def _tuning(self, epsilon: float, *, whole: bool) -> DpFinetuneParameters:
        p = self.p
        return DpFinetuneParameters.model_validate(
            {
                "epsilon": epsilon, "steps": p.steps, "units_a_step": p.units_a_step, "clip": p.clip, "rate": p.rate,
                "rank": 0 if whole else p.rank, "alpha": p.alpha, "layers": p.layers, "tokens": p.tokens,
                "domain": p.domain,
            }
        )  # fmt: skip

    def _plainly(self, name: str, learner: NetLearner) -> tuple[float, ...]:
        from engine.models.tune.fit import steps_of
        from engine.models.tune.tuner import tuning

        p, run = self.p, self.context.run
        documents = [one for one in _documents(self.records) if one.text.strip()]
        epochs = -(-p.steps // max(1, steps_of(len(documents), 1, p.units_a_step)))
        tuner = tuning(learner, documents, epochs=epochs, batch=p.units_a_step, seed=run.seed % 2**31)
        for step in range(p.steps):
            self.context.progress(name, step, p.steps)
            tuner.advance(step + 1)
        return tuple(tuner.losses)

    def _with_noise(
        self, name: str, learner: NetLearner, tuning: DpFinetuneParameters
    ) -> tuple[Noised, tuple[float, ...]]:
        run, p = self.context.run, self.p
        self.context.progress(name, 0, p.steps)
        claim = guarantee_of(tuning, self.facts)
        asked = training_of(tuning, self.facts, float(claim.noise["training"]["noise_multiplier"]))
        cap = self.facts.cap if run.unit == "source" else 1
        data = PrivateData(
            self.records, unit=run.unit, cap=cap, order_key=run.surrogate_key or os.urandom(32), units=self.facts.units
        )
        held = Mechanisms(data, MemoryOutputs(), unit=run.unit, cap=cap, adjacency=tuning.adjacency)
        progress = None
        for step in range(p.steps):
            self.context.progress(name, step, p.steps)
            progress = held.train_dp("training", learner, asked, fingerprint=learner.digest(), until=step + 1)
        about = Noised(
            float(claim.epsilon or 0.0), float(claim.delta or 0.0), asked.noise_multiplier,
            claim.noise["training"]["sigma"], asked.sampling_probability, asked, tuning.adjacency,
        )  # fmt: skip
        return about, progress.losses if progress else ()

    def _scored(self, name: str, learner: NetLearner, prompts: ft.TunedPrompts, part: str) -> Known:
        def told(done: int, total: int) -> None:
            self.context.progress(f"{name}: scoring {part}", done, total)

        return measures.known(learner, self.parts[part], prompts.head, told)

    def _rows(
        self, name: str, found: dict[str, Known], before: dict[str, Known], delta: float | None
    ) -> list[measures.Row]:
        seed = self.context.run.seed % 2**31
        rows = [measures.perplexity(f"perplexity_{part}", found[part], seed) for part in ("holdout", "train")]
        rows.append(measures.ratio("holdout_over_train", found["holdout"], found["train"], seed, paired=False))
        if name == UNTUNED:
            return rows
        rows.append(measures.ratio("holdout_over_untuned", found["holdout"], before["holdout"], seed))
        if "canaries" in found:
            gain = before["canaries"].mean - found["canaries"].mean
            rows.append(measures.exposure(self.canaries, gain))
            chosen = pe_claim.delta_of(self._tuning(1.0, whole=False), self.facts) if delta is None else delta
            rows.append(measures.audited(self.canaries, gain, chosen))
        return rows

    def _claimed(self, name: str, claim: Noised) -> list[measures.Row]:
        rows: list[measures.Row] = [("claimed_epsilon", float(claim.epsilon), math.nan, math.nan, self.facts.units)]
        if self.p.audit_runs:
            found = gradient_audit.worlds(
                claim.asked, claim.adjacency, self.p.audit_runs,
                lambda done, total: self.context.progress(f"{name}: auditing the noise", done, total),
            )  # fmt: skip
            bound = gradient_audit.bound(found, float(claim.delta))
            rows.append(("audited_epsilon_gradients", bound, math.nan, math.nan, 2 * self.p.audit_runs))
        return rows

    def _settings(
        self, name: str, tuning: DpFinetuneParameters, rate: float, trained: int, claim: Noised | None
    ) -> TableRow:
        kept = ("epsilon", "delta", "noise_multiplier", "sigma", "sampling_probability")
        noise = {key: math.nan if claim is None else float(getattr(claim, key)) for key in kept}
        still = name == UNTUNED
        return {
            "variant": name, **noise, "clip": math.nan if claim is None else tuning.clip,
            "steps": 0 if still else tuning.steps, "units_a_step": 0 if still else tuning.units_a_step,
            "rank": 0 if still else tuning.rank, "rate": 0.0 if still else rate, "trained_weights": trained,
            "records": len(self.records), "units": self.facts.units,
        }  # fmt: skip


def _noisy(epsilon: float) -> str:
    return f"dp-finetune (ε = {epsilon:g})"


def _documents(records: pd.DataFrame) -> list[Document]:
    labels = [str(label) if isinstance(label, str) else None for label in records["label"]]
    return [Document(str(text), label) for text, label in zip(records["text"], labels, strict=True)]


def _drawn(records: pd.DataFrame, most: int, seed: int) -> pd.DataFrame:
    """Return so many records drawn by the seed: a file's first ones may be of one year or one source."""
    return records if len(records) <= most else records.sample(most, random_state=seed % 2**31)


def _planted(records: pd.DataFrame, canaries: Canaries) -> pd.DataFrame:
    """Return the records with the canaries whose coin fell so, each a unit of its own."""
    texts = [text for text, there in zip(canaries.texts, canaries.inside, strict=True) if there]
    if not texts:
        return records
    names = [f"canary {i}" for i in range(len(texts))]
    own = {"record_id": names, "text": texts, "source_id": names, "label": None}
    return pd.concat([records, pd.DataFrame(own)], ignore_index=True)
