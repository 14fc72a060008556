"""A model fitted to the records with noise (DP-SGD), and texts written with it from public prompts.

Privacy posture: this sees no record. Gradients are clipped and noised behind `train_dp`, label and length shares are
bought or declared, and everything after that reads their outputs alone; see `engine.dp.noise.train` for mechanism,
sensitivity and what an attacker sees. Losses are exact: they go to internal notes, and only where they are watched.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel

from engine.dp.guarantee import Guarantee
from engine.errors import InternalError
from engine.json_types import JSON
from engine.methods.base import Context, Facts, Make, MethodSpec, Plan, Step
from engine.methods.evolution import common as pe
from engine.methods.tuned import common as ft
from engine.methods.tuned.claim import guarantee_of, rate_of, schedule, training_of
from engine.methods.tuned.parameters import DpFinetuneParameters

if TYPE_CHECKING:
    from engine.dp.accounting.accountant import Accountant
    from engine.dp.noise.train import Progress

_SMALL = 2_000_000  # trained values whose state is stored at every step
_SELDOM = 5


class DpFinetuneMethod:
    """Train with noise, then write."""

    spec = MethodSpec(
        id="dp-finetune",
        title="Private fine-tuning (DP-SGD)",
        summary="Fits a language model to the records with clipped, noisy gradients, each record behind its label and "
        "length, and has it write new ones.",
        origin="A language model wrote each record after it was fitted to the original texts with noise that limits "
        "what one of them can change.",
        citation="Abadi et al. 2016, Deep Learning with Differential Privacy; Yu et al. 2022, Differentially Private "
        "Fine-tuning of Language Models; Yue et al. 2023, Synthetic Text Generation with Differential Privacy",
        kind="dp",
        needs=("generator", "operators", "train"),
        parameters=DpFinetuneParameters,
        good_for="Thousands of records and a model that can be trained here: texts in the records' own manner, with a "
        "provable bound.",
        bad_for="Small corpora: the noise is the same for a hundred records and for a hundred thousand.",
    )

    def guarantee(self, parameters: BaseModel, facts: Facts, accountant: Accountant | None = None) -> Guarantee:
        """Return (ε, δ) of the shares and of all training steps together."""
        assert isinstance(parameters, DpFinetuneParameters)
        return guarantee_of(parameters, facts, accountant)

    def plan(self, parameters: BaseModel, facts: Facts, count: int) -> Plan:
        """Return steps, tokens and seconds, and the ledger's lines but for the training's noise."""
        p = parameters
        assert isinstance(p, DpFinetuneParameters)
        planned = schedule(p, facts)
        lines = [event.as_dict() for event in (*planned.declared, *planned.fixed, planned.training)]
        lines[-1].pop("noise_multiplier")
        drawn = rate_of(p, facts) * facts.units * p.steps
        trained = drawn * ft.training_tokens(p, facts)
        words = p.words  # how long the records are is not public
        written = int(count * words * pe.TOKENS_A_WORD)
        return Plan(
            model_calls=count,
            tokens=written,
            seconds=round(ft.training_seconds(p, trained) + written * pe.SECONDS_A_TOKEN, 1),
            outputs=count,
            ledger=tuple(lines),
            notes=(
                f"{p.steps:,} training steps of {rate_of(p, facts) * facts.units:,.0f} {facts.unit}s on average, about "
                f"{trained:,.0f} tokens in all; every step is paid, and none is added or left out.",
                "The noise of training follows from exact accounting.",
                "Seconds are for the built-in model on one CPU core.",
            ),
        )

    def run(self, context: Context) -> Iterator[Step]:
        """Yield the opening, steps of training, then one step a batch until `count` usable texts are made."""
        run = _Run(context)
        state = ft.state_of(context)
        while state["step"] < run.p.steps and not context.cancelled():
            progress = run.train(min(state["step"] + run.asked.keep_every, run.p.steps))
            if progress.step == state["step"]:
                break  # somebody asked to stop in the middle of a step
            state["step"] = progress.step
            yield ft.trained_step(state, progress.step, progress.total, progress.losses if run.p.watch_loss else None)
        if state["step"] < run.p.steps or state["kept"] >= context.count or context.cancelled():
            return
        run.train(run.p.steps)
        run.learner.finish()
        if "waiting" not in state:
            state["waiting"] = run.wanted()
        yield from ft.write(context, run.p, ft.writer_of(context, run.net), run.prompts, state)

    def maker(self, context: Context, known: JSON) -> Make:
        """Return what writes with the tuned model."""
        return ft.maker(context, known)


class _Run:
    """One run: network, training settings as reserved, shares."""

    def __init__(self, context: Context) -> None:
        if context.mechanisms is None or context.guarantee is None or context.facts is None:
            raise InternalError("the method was started without mechanisms or a guarantee")
        assert isinstance(context.parameters, DpFinetuneParameters)
        self.context, self.p, self.facts = context, context.parameters, context.facts
        self.mechanisms, self.noise = context.mechanisms, context.guarantee.noise
        self.net = ft.network(context, self.p)
        self.prompts = ft.TunedPrompts(context.operators, self.net.bare, pe.resolved(self.p.domain), self.p.kind)
        self.learner = ft.learner(self.net, self.prompts, self.p, rate=self.p.rate, steps=self.p.steps, apart=True)
        keep = 1 if self.learner.size <= _SMALL else _SELDOM
        # As reserved: the run never calibrates anew.
        self.asked = training_of(self.p, self.facts, float(self.noise["training"]["noise_multiplier"]), keep)
        self.fingerprint = pe.fingerprint(
            [(self.learner.digest(), None), (repr(self.learner.settings), None)]
            + [(self.prompts.head("label", words), None) for words in ft.LENGTHS]
        )

    def train(self, until: int) -> Progress:
        """Train up to a step; return how far training is."""
        return self.mechanisms.train_dp(
            "training", self.learner, self.asked, fingerprint=self.fingerprint, folder=ft.scratch(self.context),
            until=until, cancelled=self.context.cancelled,
        )  # fmt: skip

    def wanted(self) -> list[tuple[str | None, int]]:
        """Return a label and a length an output, in the bought or declared shares, in an order the seed fixes."""
        count, rng = self.context.count, pe.rng_of(self.context.seed, "labels and lengths")
        labels = [label for label, quota in pe.quotas(self._labels(), count).items() for _ in range(quota)]
        lengths = [int(words or 0) for words, quota in pe.quotas(self._lengths(), count).items() for _ in range(quota)]
        rng.shuffle(labels)
        rng.shuffle(lengths)
        return [(label, words) for label, words in zip(labels, lengths, strict=True)]

    def _labels(self) -> dict[str | None, float]:
        names = list(self.context.labels)
        if self.context.label_shares is not None and names:
            return _shares(names, np.array([self.context.label_shares[name] for name in names]))
        if not names or not self.facts.labels:
            return {None: 1.0}
        if self.p.labels == "public":
            return _shares(names, self.mechanisms.declared("labels", "label", names))
        multiplier = float(self.noise["labels"]["noise_multiplier"])
        counts = self.mechanisms.noisy_histogram("labels", "label", names, noise_multiplier=multiplier)
        return _shares(names, counts)

    def _lengths(self) -> dict[str | None, float]:
        if self.p.lengths == "public":
            return {str(self.p.words): 1.0}
        multiplier = float(self.noise["lengths"]["noise_multiplier"])
        edges = [1, *(edge + 1 for edge in ft.LENGTHS[:-1]), 10**9]
        counts = self.mechanisms.noisy_histogram("lengths", "length", edges, noise_multiplier=multiplier)
        return _shares([str(words) for words in ft.LENGTHS], counts)


def _shares(names: Sequence[str], counts: NDArray[np.float64]) -> dict[str | None, float]:
    return {name: max(0.0, float(count)) for name, count in zip(names, counts, strict=True)}
