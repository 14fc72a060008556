"""Study `canary-audit`: plant canaries by fair coins, run a method on the training part, bound its ε from the echo.

Order, kept in the study's state: coins from the operating system's entropy, with a commitment and every number of
guesses; then the runs, whose texts are scored without the coins and thrown away; then the coins are opened.

Sources: Steinke, Nasr and Jagielski 2023; Mahloujifar, Melis and Chaudhuri 2024; Meeus et al. 2025 (The canary's echo).
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal, TypedDict, cast

import numpy as np
import pandas as pd
from pydantic import BaseModel

from engine.dp.accounting.closed_form import default_delta
from engine.errors import InternalError, UserError
from engine.examine.values.canary_echo import score_canaries
from engine.examine.values.canary_making import Canary, make_canaries, plant, toss
from engine.methods import get_method
from engine.store.disk.folder import remove_tree
from engine.studies.audit_bounds import group_claim
from engine.studies.base import Cell, StudyContext, StudySpec, StudyStep
from engine.studies.bench.rerun import Terms, empty_folder, rerun, terms_of
from engine.studies.bench.settings import parsed_settings
from engine.studies.canary_audit.parameters import CanaryAuditParameters
from engine.studies.canary_audit.unblind import Declaration, unblind

if TYPE_CHECKING:
    from numpy.typing import NDArray

REFERENCE = 5000  # training records whose word pairs a score is held against
EMBED_AT_ONCE = 64


class State(TypedDict):
    """Coins of every run, the secret that hides them in the commitment, and the scores of runs that are over."""

    coins: list[list[int]]
    secret: str
    scores: list[dict[str, list[Cell]]]


class CanaryAuditStudy:
    """Plant, run, score, open the coins."""

    spec = StudySpec(
        id="canary-audit",
        title="Canary audit: how much a method's output proves about who was in",
        summary="Made-up records are planted by fair coins and the method is run; what its output echoes of them "
        "gives a lower bound on its ε, beside what it claims.",
        citation="Steinke, Nasr and Jagielski 2023; Mahloujifar, Melis and Chaudhuri 2024; Meeus et al. 2025",
        parameters=CanaryAuditParameters,
        needs=("generator", "operators", "embedder"),
    )

    def needs(self, parameters: BaseModel) -> tuple[str, ...]:
        """Return what the audited method needs, and what looks for canaries."""
        return (*get_method(_checked(parameters).method).spec.needs, "embedder")

    def run(self, context: StudyContext) -> Iterator[StudyStep]:
        """Yield after the coins are drawn, after each run, and after the coins are opened."""
        p = _checked(context.parameters)
        audit = _Audit(context, p)
        total = p.repeats + 2
        state = cast(State, dict(context.state or {}))
        tables = dict(context.tables)
        if not state:
            context.progress("coins", 0, 1)
            state = audit.drawn()
            tables = {"declaration": audit.declaration(state).table()}
            yield StudyStep(1, total, "coins drawn", dict(state), tables)
        while len(state["scores"]) < p.repeats:
            repeat = len(state["scores"])
            found = audit.scored(repeat, _coins(state, p)[repeat])
            state["scores"] = [*state["scores"], found]
            yield StudyStep(2 + repeat, total, f"run {repeat + 1}", dict(state), tables)
        if "bounds" not in tables:
            tables = unblind(audit.declaration(state), _frame(state), _coins(state, p), context.run.seed)
            yield StudyStep(total, total, "coins opened", dict(state), tables)


class _Audit:
    """The study's material: training records, canaries, and the terms that every run shares."""

    def __init__(self, context: StudyContext, p: CanaryAuditParameters) -> None:
        self.context, self.p, self.run = context, p, context.run
        self.method = get_method(p.method)
        self.values = parsed_settings(p.settings)
        limit = p.records or len(context.run.records)
        self.records = context.run.records.head(limit).reset_index(drop=True)
        spans = context.run.spans
        self.spans = spans[spans["record_id"].isin(set(self.records["record_id"]))] if len(spans) else spans
        # Every coin counts as one that is in: who is in does not change N, as the zero-out adjacency has it.
        present = np.ones(p.canaries, bool)
        whole, _ = plant(self._all(1), present, self.records, self.spans, 0, copies=p.copies)
        self.terms: Terms = terms_of(self.run, p.method, self.values, whole)
        replaced = self.terms.guarantee.adjacency == "replace-one"
        self.design: Literal["coin", "twin"] = "twin" if replaced else "coin"
        self.canaries: tuple[Canary, ...] = self._all(2 if self.design == "twin" else 1)

    def _all(self, times: int) -> tuple[Canary, ...]:
        return make_canaries(self.p.kind, times * self.p.canaries, self.records, self.run.seed)

    def drawn(self) -> State:
        """Return a new state: coins and the secret of the commitment, nothing scored yet."""
        coins = [toss(self.p.canaries).astype(int).tolist() for _ in range(self.p.repeats)]
        return {"coins": coins, "secret": secrets.token_hex(16), "scores": []}

    def declaration(self, state: State) -> Declaration:
        """Return what is fixed before the runs; the same before and after them.

        Raises:
            UserError: more guesses than coins.
        """
        p, claim = self.p, self.terms.guarantee
        coins = p.canaries * p.repeats
        high = p.guesses if p.guesses or p.guesses_out else max(1, coins // 4)
        if high + p.guesses_out > coins:
            raise UserError(
                f"guesses: at most {coins} coins can be guessed ({p.canaries} canaries, {p.repeats} runs), got "
                f"{high + p.guesses_out}; ask for fewer or plant more"
            )
        epsilon, delta = (claim.epsilon, claim.delta) if claim.kind == "dp" else (None, None)
        if epsilon is not None and self.terms.facts.unit == "record":
            epsilon, delta = group_claim(epsilon, delta or 0.0, p.copies)
        return Declaration(
            p.method, p.kind, p.score, p.canaries, p.repeats, p.copies, self.design, high, p.guesses_out,
            default_delta(self.terms.facts.units) if epsilon is None else float(delta or 0.0),
            epsilon, delta, self.terms.facts.unit, claim.adjacency, _commitment(state),
        )  # fmt: skip

    def scored(self, repeat: int, coins: NDArray[np.bool_]) -> dict[str, list[Cell]]:
        """Return one run's scores, computed from its texts and the canaries alone."""
        p, run = self.p, self.run
        inside = coins if self.design == "coin" else np.concatenate([coins, ~coins])
        seed = run.seed + 1000 * repeat
        records, spans = plant(
            self.canaries, inside, self.records, self.spans, seed, copies=p.copies, known=p.spans_known
        )
        count = len(records) if self.method.spec.one_to_one else p.outputs
        stage = f"run {repeat + 1}"
        folder = empty_folder(self.context.scratch, f"run-{repeat}")
        try:
            made = rerun(
                run, p.method, self.values, records, spans, count, seed, terms=self.terms, scratch=folder,
                progress=lambda what, done, total: self.context.progress(f"{stage}: {what}", done, total),
            )  # fmt: skip
        finally:
            if folder is not None:
                remove_tree(folder)
        texts = made["text"].astype(str).tolist()
        self.context.progress(f"{stage}: looking for canaries", 0, 1)
        vectors = (self._embed([c.text for c in self.canaries], stage), self._embed(texts, stage))
        reference = self.records["text"].astype(str).head(REFERENCE).tolist()
        table = score_canaries(self.canaries, texts, reference, None if vectors[0] is None else vectors)  # type: ignore[arg-type]
        return {name: table[name].tolist() for name in table.columns}

    def _embed(self, texts: list[str], stage: str) -> NDArray[np.float32] | None:
        embedder = self.run.embedder
        if embedder is None:
            return None
        parts = [embedder.embed([])]
        for start in range(0, len(texts), EMBED_AT_ONCE):
            self.context.progress(f"{stage}: embedding", start, len(texts))
            parts.append(embedder.embed(texts[start : start + EMBED_AT_ONCE]))
        return np.concatenate(parts) if len(parts) > 1 else parts[0]


def _checked(parameters: BaseModel) -> CanaryAuditParameters:
    if not isinstance(parameters, CanaryAuditParameters):
        raise InternalError("canary-audit was started with another study's parameters")
    return parameters


def _commitment(state: State) -> str:
    """Return a fingerprint of the coins that can be checked once they are open, and tells nothing before."""
    bits = "".join(str(int(coin)) for run in state["coins"] for coin in run)
    return hashlib.sha256(f"{state['secret']}:{bits}".encode()).hexdigest()


def _coins(state: State, p: CanaryAuditParameters) -> NDArray[np.bool_]:
    return np.array(state["coins"], bool).reshape(p.repeats, p.canaries)


def _frame(state: State) -> pd.DataFrame:
    frames = [pd.DataFrame(found).assign(repeat=repeat) for repeat, found in enumerate(state["scores"])]
    return pd.concat(frames, ignore_index=True)
