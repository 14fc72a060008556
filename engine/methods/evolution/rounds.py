"""The loop of private evolution: write candidates, let private records vote with noise, keep some, repeat.

Privacy posture: no record is in reach. Everything private arrives through `context.mechanisms`, which stores
each output before it is seen here; the state a run resumes from holds synthetic text and such outputs alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Required, TypedDict, cast

import numpy as np
from numpy.typing import NDArray

from engine.dp.noise.private import Mechanisms
from engine.errors import InternalError, UserError
from engine.json_types import JSON
from engine.methods.base import Context, Step, SyntheticRecord
from engine.methods.evolution import common as pe
from engine.methods.parameters import PrivateParameters
from engine.methods.readable import rejects

UNCHOSEN = "dropped: fewer votes"


class Meta(TypedDict, total=False):
    """What a run knows before it writes, as it was bought or declared: label shares (pairs, since JSON has no null
    keys), edges and counts of lengths in words, a label's key words with the chance of each, τ."""

    shares: list[tuple[str | None, float]]
    edges: list[float]
    lengths: list[float]
    keywords: list[tuple[str | None, list[str], list[float]]]
    tau: float


class State(TypedDict, total=False):
    """Where a run stands. `phase`: open, write, select or done; `done`: texts written."""

    phase: Required[str]
    done: Required[int]
    round: int
    meta: Meta
    pool: list[pe.Pair]
    fresh: list[pe.Pair]
    position: int
    iterations: list[dict[str, JSON]]


class Level(TypedDict, total=False):
    """The noise of a histogram: Gaussian over its sensitivity, or Laplace of a pure loss."""

    noise_multiplier: float
    epsilon: float


@dataclass(frozen=True)
class Selection:
    """Which candidates survive a round, best first, the votes they were chosen by, numbers worth noting.

    `facts` are kept for the rounds that follow, as `meta` is: JSON-ready, public or drawn by a mechanism.
    """

    kept: list[int]
    votes: NDArray[np.float64]
    notes: Mapping[str, float] = field(default_factory=dict)
    facts: Meta = field(default_factory=Meta)


class Evolution(ABC):
    """One run."""

    def __init__(self, context: Context, parameters: PrivateParameters, rounds: int) -> None:
        if context.mechanisms is None or context.guarantee is None or context.embedder is None:
            raise InternalError("the method was started without mechanisms, guarantee or embedder")
        if context.count < 1:
            raise UserError(f"count: must be at least 1, got {context.count}")
        self.context, self.rounds = context, rounds
        self.mechanisms: Mechanisms = context.mechanisms
        self.embedder = context.embedder
        self.writer, self.rejects = pe.Writer(context, parameters), rejects(parameters)
        self.seed = context.seed
        self._plan: tuple[int, list[pe.Task]] | None = None

    @abstractmethod
    def total(self) -> int:
        """Return how many texts the whole run writes."""

    @abstractmethod
    def open(self) -> Meta:
        """Draw what the run needs to know before it writes; JSON-ready, kept as `meta`."""

    @abstractmethod
    def tasks(self, state: State) -> list[pe.Task]:
        """Return what to write in this round; a function of the state at the round's start alone."""

    @abstractmethod
    def wanted(self, state: State) -> dict[str | None, int]:
        """Return how many candidates of each label survive a round."""

    @abstractmethod
    def select(self, state: State, pool: list[pe.Pair], embeddings: NDArray[np.float32]) -> Selection:
        """Let private records vote and return the survivors."""

    def noise_multiplier(self, name: str) -> float:
        """Return the reserved noise of a statistic, as a multiple of its sensitivity."""
        return float(self._level(name)["noise_multiplier"])

    def sigma(self, name: str) -> float:
        """Return the standard deviation of a statistic's noise, in its own unit."""
        return float(self._level(name)["sigma"])

    def epsilon(self, name: str) -> float:
        """Return the reserved pure loss of a statistic."""
        return float(self._level(name)["epsilon"])

    def _level(self, name: str) -> Mapping[str, float]:
        assert self.context.guarantee is not None
        if name not in self.context.guarantee.noise:
            raise InternalError(f"the reserved guarantee names no noise for {name!r}")
        return self.context.guarantee.noise[name]

    def buys_shares(self, mode: str) -> bool:
        """Return whether label shares are drawn apart from the list of labels."""
        return bool(self.context.labels) and self.context.label_shares is None and mode == "bought"

    def label_shares(self, mode: str, what: str, noise: Level) -> dict[str | None, float]:
        """Return each label's count as bought or declared; one share for all where there are no labels."""
        labels = list(self.context.labels)
        if not labels:
            return {None: 1.0}
        if self.context.label_shares is not None:
            return {label: max(0.0, share) for label, share in self.context.label_shares.items()}
        if mode == "public":
            values = self.mechanisms.declared("labels", "label", labels)
        else:
            values = self.mechanisms.noisy_histogram("labels", "label", labels, what=what, **noise)
        return {label: max(0.0, float(value)) for label, value in zip(labels, values, strict=True)}

    def steps(self) -> Iterator[Step]:
        """Yield committed steps until the outputs are made."""
        state = cast(State, dict(self.context.state or {"phase": "open", "done": 0}))
        while state["phase"] != "done" and not self.context.cancelled():
            move = {"open": self._open, "write": self._write, "select": self._select}[state["phase"]]
            step = move(state)
            state = cast(State, dict(step.state))
            yield step

    def _step(
        self,
        state: State,
        stage: str,
        funnel: Mapping[str, int],
        records: tuple[SyntheticRecord, ...] = (),
        diagnostics: Mapping[str, JSON] | None = None,
        snapshot: Mapping[str, JSON] | None = None,
    ) -> Step:
        return Step(
            state=state, records=records, funnel={"made": 0, "kept": 0, **funnel}, stage=stage, done=state["done"],
            total=max(self.total(), state["done"]), diagnostics=diagnostics or {}, snapshot=snapshot,
        )  # fmt: skip

    def _open(self, state: State) -> Step:
        meta = self.open()
        after: State = {
            **state, "phase": "write", "round": 1, "meta": meta, "pool": [], "fresh": [], "position": 0,
            "iterations": [],
        }  # fmt: skip
        return self._step(after, "public facts", {})

    def _write(self, state: State) -> Step:
        if self._plan is None or self._plan[0] != state["round"]:
            self._plan = (state["round"], self.tasks(state))
        tasks = self._plan[1]
        start = state["position"]
        batch = tasks[start : start + self.writer.batch_size(len(tasks))]
        worked = state["round"] > 1 or bool(state["fresh"])
        place = f"round {state['round']}"
        written = self.writer.write(batch, place, start, worked=worked) if batch else pe.Written([], {})
        made = [(text, task.label) for text, task in zip(written.texts, batch, strict=True) if text is not None]
        end = start + len(batch)
        after: State = {**state, "position": end, "done": state["done"] + len(batch)}
        after["fresh"] = [*state["fresh"], *made]
        dropped = Counter(written.dropped)
        if end >= len(tasks):
            pool, unreadable = self._readable(state, [*state["pool"], *after["fresh"]])
            dropped.update(unreadable)
            after = {**after, "phase": "select", "pool": pool, "fresh": [], "position": 0}
        # A candidate counts as made once its fate is known, so that made = kept + dropped holds at each step.
        funnel = {"made": dropped.total(), **dropped}
        return self._step(after, f"round {state['round']} of {self.rounds}: writing", funnel)

    def _readable(self, state: State, pool: list[pe.Pair]) -> tuple[list[pe.Pair], Counter[str]]:
        """Return the candidates without those that public rules reject, and how many fell for which reason.

        Each label keeps at least twice as many as survive, so that votes still choose; of outputs that stay so, the
        run drops the unreadable ones. Nothing but the candidates and what a mechanism gave is looked at.
        """
        reasons = [self.rejects(text) for text, _ in pool]
        left = Counter(label for _, label in pool)
        wanted = self.wanted(state)
        kept, dropped = [], Counter[str]()
        for pair, reason in zip(pool, reasons, strict=True):
            if reason and left[pair[1]] > 2 * wanted.get(pair[1], 0):
                left[pair[1]] -= 1
                dropped[f"dropped: {reason}"] += 1
            else:
                kept.append(pair)
        return kept, dropped

    def _select(self, state: State) -> Step:
        pool: list[pe.Pair] = [(text, label) for text, label in state["pool"]]
        pe.check_pool(pool, self.wanted(state))
        embeddings = self.embedder.embed([text for text, _ in pool])
        chosen = self.select(state, pool, embeddings)
        kept, last = [pool[i] for i in chosen.kept], state["round"] == self.rounds
        notes = pe.noted(state["round"], chosen.votes, chosen.kept, pool, embeddings, **chosen.notes)
        iterations = [*state["iterations"], notes]
        records: tuple[SyntheticRecord, ...] = ()
        if last:
            records = tuple(SyntheticRecord(text, label) for text, label in self._outputs(state, kept))
        dropped = len(pool) - (len(records) if last else len(kept))
        after: State = {
            **state, "meta": {**state["meta"], **chosen.facts},
            "pool": [] if last else kept, "iterations": [] if last else iterations,
            "phase": "done" if last else "write", "round": state["round"] + (0 if last else 1),
        }  # fmt: skip
        return self._step(
            after,
            f"round {state['round']} of {self.rounds}: voting",
            {"made": dropped + len(records), UNCHOSEN: dropped, "kept": len(records)},
            records=records,
            diagnostics=pe.diagnostics_of(iterations),
            snapshot={
                "iteration": state["round"], "texts": [text for text, _ in kept], "labels": [label for _, label in kept]
            },
        )  # fmt: skip

    def _outputs(self, state: State, kept: list[pe.Pair]) -> list[pe.Pair]:
        """Return `count` survivors by label quota, in an order that says nothing about votes."""
        left = pe.quotas(shares_of(state["meta"]), self.context.count)
        chosen = []
        for pair in kept:
            if left.get(pair[1], 0) > 0:
                left[pair[1]] -= 1
                chosen.append(pair)
        pe.rng_of(self.seed, "order").shuffle(chosen)
        return chosen


def shares_of(meta: Meta) -> dict[str | None, float]:
    """Return the label shares that the run bought, or was told."""
    return dict(meta["shares"])
