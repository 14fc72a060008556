"""dp-topics: buy one noisy histogram of public topic, length and label, and write texts from its conditions.

After CTCL (Tan et al. 2025): topics and their key words are public, the histogram is private and noisy, and a model
writes from conditions. There the noise of one flat histogram needs tens of thousands of records; here it is refined
only where records are, and where there are few of them the budget buys nothing else: the model then is the public one,
asked by key words, and of several texts one that falls into its topic is kept.

Privacy posture: this sees no record. Counts come from `noisy_cells`, a training from `train_dp`; everything after
that, the choice among written texts included, reads their outputs and public topics alone.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Required, TypedDict, cast

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel

from engine.dp.guarantee import Guarantee
from engine.errors import InternalError
from engine.json_types import JSON, JSONObject, as_list, as_number
from engine.methods import label_list
from engine.methods.base import Context, Facts, Make, MethodSpec, Piece, Plan, Step, alone
from engine.methods.batches import written
from engine.methods.evolution import common as pe
from engine.methods.evolution.claim import FLOATING
from engine.methods.topics import claim, histogram
from engine.methods.topics.histogram import Part, Stored
from engine.methods.topics.parameters import DpTopicsParameters
from engine.methods.topics.public import PublicTopics, check_embedder, load_topics
from engine.methods.tuned import common as ft
from engine.methods.tuned.claim import rate_of, training_of
from engine.models.threads import one_thread

if TYPE_CHECKING:
    from engine.dp.accounting.accountant import Accountant
    from engine.dp.noise.train import Progress, Training
    from engine.models.contracts import Generator
    from engine.models.tune.learner import NetLearner
    from engine.models.tune.tunable import Tunable

FARTHER = "dropped: another candidate suited its topic"
_SMALL, _SELDOM = 2_000_000, 5  # trained values whose state is stored at every step; how seldom otherwise


class State(TypedDict, total=False):
    """Where a run stands: steps of training, outputs tried and kept, the cells, and the places still wanted."""

    step: Required[int]
    position: Required[int]
    kept: Required[int]
    cells: list[Stored]
    waiting: list[int]
    failed: list[int]


class DpTopicsMethod:
    """Count topics with noise, then write."""

    spec = MethodSpec(
        id="dp-topics",
        title="Private topics (dp-topics)",
        summary="Private records are counted once, with noise, by public topic, length and label; a language model "
        "writes texts from those topics' key words, fitted to the records with noise first if you like.",
        origin="A language model wrote each record from public key words. Original texts took part in counts with"
        " noise of topics, lengths and labels, and, where the settings say so, in a training with noise.",
        citation="Tan et al. 2025, Synthesizing Privacy-Preserving Text Data via Finetuning without Finetuning "
        "Billion-Scale LLMs (CTCL)",
        kind="dp",
        needs=("generator", "operators", "embedder"),
        parameters=DpTopicsParameters,
        good_for="Some hundreds of records and more: a few noisy counts tell topics, lengths and labels where votes "
        "for single texts and training would drown.",
        bad_for="What no public topic is near to: the texts are the model's own, in the records' proportions.",
    )

    def guarantee(self, parameters: BaseModel, facts: Facts, accountant: Accountant | None = None) -> Guarantee:
        """Return (ε, δ) of the histogram's questions, and of the training where the model is fitted."""
        assert isinstance(parameters, DpTopicsParameters)
        return claim.guarantee_of(parameters, facts, accountant)

    def plan(self, parameters: BaseModel, facts: Facts, count: int) -> Plan:
        """Return calls, tokens and seconds, and the ledger's lines but for the training's noise."""
        p = parameters
        assert isinstance(p, DpTopicsParameters)
        fixed, free = claim.schedule(p, facts)
        lines = [event.as_dict() for event in (*fixed, *free)]
        lines[-1].pop("noise_multiplier")
        tokens = int(count * p.candidates * p.words * pe.TOKENS_A_WORD)
        seconds = tokens * pe.SECONDS_A_TOKEN + (count * p.candidates + facts.read) * pe.SECONDS_A_TEXT
        notes = [
            f"Topics are counted in {claim.questions(p, facts)} questions, each finer where the last found records.",
            f"{p.candidates} texts are written for each output, and one that falls into its topic is kept.",
            "Seconds are for the built-in model on two CPU cores.",
        ]
        if p.tuning == "noisy":
            drawn = rate_of(p, facts) * facts.units * p.steps
            trained = drawn * ft.training_tokens(p, facts)
            seconds += ft.training_seconds(p, trained)
            notes.insert(1, f"{p.steps:,} training steps, about {trained:,.0f} tokens in all; every step is paid.")
        return Plan(
            model_calls=count * p.candidates, tokens=tokens, seconds=round(seconds, 1), outputs=count,
            ledger=tuple(lines), notes=tuple(notes),
        )  # fmt: skip

    def run(self, context: Context) -> Iterator[Step]:
        """Yield the histogram, steps of training where the model is fitted, and one step a batch of outputs."""
        run = _Run(context)
        state = cast(State, dict(context.state or {"step": 0, "position": 0, "kept": 0}))
        if "cells" not in state:
            parts = run.parts()
            state["cells"] = [part.stored() for part in parts]
            state["waiting"] = histogram.drawn(parts, context.count, pe.rng_of(context.seed, "topics"))
            yield Step(
                dict(state), (), {"made": 0, "kept": 0}, "topics", 0, context.count, {"cells": len(parts)}
            )  # fmt: skip
        if run.tuned is not None:
            for progress in run.tuned.train(state["step"]):
                state["step"] = progress.step
                losses = progress.losses if run.p.watch_loss else None
                step = ft.trained_step(ft.state_of(context), progress.step, progress.total, losses)
                yield replace(step, state=dict(state))
            if state["step"] < run.p.steps:
                return
        if state["kept"] < context.count and not context.cancelled():
            yield from run.write(state)

    def maker(self, context: Context, known: JSON) -> Make:
        """Return what writes from the cells that were bought; a fitted model lies in the run's folder."""
        p = context.parameters
        assert isinstance(p, DpTopicsParameters)
        if p.tuning == "noisy":
            prompts = ft.TunedPrompts(context.operators, False, pe.resolved(p.domain), p.kind, load_topics().first)
            context = replace(context, generator=ft.kept_writer(context), operators=prompts)
        return _Writing(context, p, known).make


class _Run:
    """One run: its topics, its noise as reserved, and the model that is fitted, if one is."""

    def __init__(self, context: Context) -> None:
        if context.mechanisms is None or context.guarantee is None or context.facts is None:
            raise InternalError("the method was started without mechanisms or a guarantee")
        if context.embedder is None or context.generator is None or context.operators is None:
            raise InternalError("the method was started without embedder, generator or operators")
        assert isinstance(context.parameters, DpTopicsParameters)
        self.context, self.p, self.facts = context, context.parameters, context.facts
        self.embedder, self.mechanisms, self.noise = context.embedder, context.mechanisms, context.guarantee.noise
        self.topics: PublicTopics = load_topics()
        check_embedder(self.topics, self.embedder.embed(["public"]))
        self.mechanisms.keep_topics(self.topics.centres)
        self.tuned = _Tuned(self) if self.p.tuning == "noisy" else None

    def parts(self) -> list[Part]:
        """Buy the histogram: a question a step from the root, and one of lengths."""
        topics, labels = self.topics, list(self.context.labels)
        parts = histogram.first(topics, labels)
        least = self.p.threshold * float(self.noise["histogram"]["sigma"])
        parts = histogram.weighed(parts, self._counts("topics/1", parts), least)
        for step in range(2, claim.steps(self.p, self.facts) + 1):
            split = {i: histogram.by_topic(one, topics) for i, one in enumerate(parts) if one.weight >= least}
            parts = self._refined(f"topics/{step}", parts, split, least)
        if self.p.lengths == "bought":
            split = {i: histogram.by_length(one) for i, one in enumerate(parts) if one.weight >= least}
            parts = self._refined("lengths", parts, split, least)
        if labels and self.p.labels == "public" and label_list.known(self.p, self.facts).labels:
            counts = self.mechanisms.declared("labels", "label", labels)
            parts = histogram.to_shares(parts, dict(zip(labels, counts.tolist(), strict=True))) or parts
        return parts

    def _refined(self, key: str, parts: list[Part], split: dict[int, list[Part]], least: float) -> list[Part]:
        asked = [one for i in sorted(split) for one in split[i]]
        return histogram.refined(parts, split, self._counts(key, asked), least) if asked else parts

    def _counts(self, key: str, parts: list[Part]) -> NDArray[np.float64]:
        return self.mechanisms.noisy_cells(
            key, [part.cell(self.topics) for part in parts], what=claim.HISTOGRAM,
            noise_multiplier=float(self.noise["histogram"]["noise_multiplier"]),
        )  # fmt: skip

    def write(self, state: State) -> Iterator[Step]:
        """Yield one step a batch until `count` texts are kept.

        Raises:
            UserError: the model gives too few usable texts.
        """
        context, p, tuned = self.context, self.p, self.tuned
        if tuned is not None:
            spread = context.spread if tuned.prompts.shared else alone
            context = replace(context, generator=tuned.writer(), operators=tuned.prompts, spread=spread)
        known = cast(JSON, state["cells"])
        writing = _Writing(context, p, known)
        yield from written(
            context, state, writing.size, writing.label_of, known, writing.make, "the model",
            "use another model, or ask for other words or another domain",
        )  # fmt: skip


class _Writing:
    """Writes from cells: several candidates an output, of which one is chosen.

    known: the cells, as the histogram gave them.
    """

    def __init__(self, context: Context, p: DpTopicsParameters, known: JSON) -> None:
        if context.embedder is None:
            raise InternalError("the method was started without embedder")
        self.context, self.p, self.embedder = context, p, context.embedder
        self.topics: PublicTopics = load_topics()
        self.writer = pe.Writer(context, p)
        self.parts = [histogram.part_of(cast(Stored, one)) for one in as_list(known)]
        self.size = max(1, self.writer.batch_size(context.count * p.candidates) // p.candidates)

    def label_of(self, place: JSON) -> str | None:
        """Return the label of a cell's texts."""
        return self.parts[int(as_number(place) or 0)].label

    def make(self, piece: Piece) -> JSONObject:
        """Return a text for each cell that a piece asks for, None where every candidate failed."""
        batch = [self.parts[int(as_number(place) or 0)] for place in as_list(piece.asked)]
        asked = [self._asked(part, piece.start + i) for i, part in enumerate(batch)]
        tasks = [task for own in asked for task in own]
        made = self.writer.write(tasks, "topics", piece.start, worked=True)
        kept = self._chosen(batch, made.texts, piece.start)
        dropped = Counter(made.dropped)
        dropped[FARTHER] += sum(text is not None for text in made.texts) - sum(text is not None for text in kept)
        return pe.Written(kept, dict(dropped)).as_dict(len(tasks))

    def _keys(self, leaf: int, rng: random.Random) -> tuple[str, ...]:
        """Return the key words that a prompt shows: any of a leaf's, or those a training showed the model."""
        return self.topics.first(leaf) if self.p.tuning == "noisy" else self.topics.shown(leaf, rng)

    def _asked(self, part: Part, position: int) -> list[pe.Task]:
        """Return the candidates of one output: a leaf of its topic each, by how many public texts the leaf has."""
        rng = pe.rng_of(self.context.seed, "condition", position)
        leaves = self.topics.below(part.node)
        words = histogram.words_of(part, self.parts, self.p.words, rng)
        drawn = rng.choices(leaves, weights=[float(self.topics.weights[leaf]) for leaf in leaves], k=self.p.candidates)
        return [pe.Task("invent", part.label, words, keywords=self._keys(leaf, rng)) for leaf in drawn]

    def _chosen(self, parts: list[Part], texts: list[str | None], position: int) -> list[str | None]:
        """Return one text an output: one at random of those that fall into its topic, else the one nearest to it."""
        usable = [text for text in texts if text is not None]
        with one_thread():  # so that whoever shares the run finds the same
            rows = iter(self.embedder.embed(usable)) if usable else iter(())
        found: list[str | None] = []
        for i, part in enumerate(parts):
            own = [text for text in texts[i * self.p.candidates : (i + 1) * self.p.candidates] if text is not None]
            if not own:
                found.append(None)
                continue
            leaves = list(self.topics.below(part.node))
            near = [self.topics.centres @ next(rows) for _ in own]
            inside = [text for text, cosines in zip(own, near, strict=True) if int(cosines.argmax()) in set(leaves)]
            if inside:
                found.append(pe.rng_of(self.context.seed, "choice", position + i).choice(inside))
            else:
                best = max(range(len(own)), key=lambda j: float(near[j][leaves].max()))
                found.append(own[best])
        return found


class _Tuned:
    """The model that is fitted with noise, each record behind key words of its nearest topic."""

    def __init__(self, run: _Run) -> None:
        self.context, self.p = run.context, run.p
        self.net: Tunable = ft.network(run.context, run.p)
        self.prompts = ft.TunedPrompts(
            run.context.operators, self.net.bare, pe.resolved(run.p.domain), run.p.kind,
            run.topics.first,
        )  # fmt: skip
        self.learner: NetLearner = ft.learner(
            self.net, self.prompts, run.p, rate=run.p.rate, steps=run.p.steps, apart=True
        )
        keep = 1 if self.learner.size <= _SMALL else _SELDOM
        # As reserved: the run never calibrates anew.
        self.asked: Training = training_of(run.p, run.facts, float(run.noise[FLOATING]["noise_multiplier"]), keep)
        self.fingerprint = pe.fingerprint(
            [(self.learner.digest(), None), (repr(self.learner.settings), None)]
            + [(self.prompts.head("label", words, leaf), None) for leaf, words in enumerate(ft.LENGTHS)]
        )

    def train(self, done: int) -> Iterator[Progress]:
        """Yield how far training is, a kept step at a time, until all are done or somebody asks to stop."""
        while done < self.p.steps and not self.context.cancelled():
            progress = self._until(min(done + self.asked.keep_every, self.p.steps))
            if progress.step == done:
                return
            done = progress.step
            yield progress

    def writer(self) -> Generator:
        """Return the generator of the fitted model."""
        self._until(self.p.steps)
        self.learner.finish()
        return ft.writer_of(self.context, self.net)

    def _until(self, step: int) -> Progress:
        assert self.context.mechanisms is not None
        return self.context.mechanisms.train_dp(
            "training", self.learner, self.asked, fingerprint=self.fingerprint, folder=ft.scratch(self.context),
            until=step, cancelled=self.context.cancelled,
        )  # fmt: skip
