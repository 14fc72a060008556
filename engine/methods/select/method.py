"""dp-select: private records vote, with noise, among texts that were made elsewhere; the winners are the output.

The vote is that of private evolution (Xie et al. 2024, AUG-PE, algorithm 1): one count a candidate, Gaussian noise.
What follows is post-processing: votes averaged over near candidates, near-duplicates held back, quotas. Writing
variations of the winners elsewhere and voting again, a run a round, is private evolution across an air gap.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pydantic import BaseModel

from engine.dp.guarantee import Guarantee
from engine.methods.base import Context, Facts, MethodSpec, Plan, Step
from engine.methods.evolution import claim as pe_claim
from engine.methods.evolution.common import SECONDS_A_TEXT
from engine.methods.select import claim
from engine.methods.select.parameters import DpSelectParameters
from engine.methods.select.run import Selecting

if TYPE_CHECKING:
    from engine.dp.accounting.accountant import Accountant

SECONDS_A_CHOICE = 0.001  # of one output among a few thousand candidates


class DpSelectMethod:
    """Choose among texts made elsewhere by noisy votes of private records."""

    spec = MethodSpec(
        id="dp-select",
        title="Chosen from a pool (dp-select)",
        summary="Private records vote, with noise, for the nearest texts of a pool that was made elsewhere, by people "
        "or by a larger model from public prompts; the winners are the output.",
        origin="Each record is a text of a pool that was made without the original texts. Original texts only took "
        "part in counts with noise, by which records were chosen.",
        citation="votes as in Xie et al. 2024, AUG-PE; suppression after Sun et al. 2025, DPGA-TextSyn",
        kind="dp",
        needs=("embedder", "pool"),
        parameters=DpSelectParameters,
        good_for="Readable text under a provable bound without a model or a GPU here: each text was written whole.",
        bad_for="What no text of the pool resembles: nothing new is written.",
    )

    def guarantee(self, parameters: BaseModel, facts: Facts, accountant: Accountant | None = None) -> Guarantee:
        """Return (ε, δ) of the votes and of the classes' counts; the pool's promise ends the sentence."""
        assert isinstance(parameters, DpSelectParameters)
        return claim.guarantee(parameters, facts, accountant)

    def plan(self, parameters: BaseModel, facts: Facts, count: int) -> Plan:
        """Return seconds for `count` outputs, and the ledger's lines; nothing is written."""
        assert isinstance(parameters, DpSelectParameters)
        made = claim.guarantee(parameters, facts)
        texts = parameters.promise.texts if parameters.promise is not None else 0
        notes = ["No language model is asked: the texts are there."]
        if texts:
            notes.append(
                f"{texts:,} candidates share {facts.units:,} votes{pe_claim.one_vote(facts)}, "
                f"{facts.units / texts:.2g} "
                f"each on average; the noise on each count has σ = {made.noise['votes']['sigma']:.3g}, and votes are "
                "then averaged over each candidate's 15 nearest."
            )
        return Plan(
            model_calls=0,
            tokens=0,
            seconds=round((texts + facts.read) * SECONDS_A_TEXT + count * SECONDS_A_CHOICE, 2),
            outputs=count,
            ledger=pe_claim.ledger_preview(made),
            notes=tuple(notes),
        )

    def run(self, context: Context) -> Iterator[Step]:
        """Yield one step a batch of embedded candidates, then one with the winners."""
        assert isinstance(context.parameters, DpSelectParameters)
        return Selecting(context, context.parameters).steps()


def blockers(parameters: BaseModel, count: int) -> list[str]:
    """Return why a run of `count` outputs cannot choose from its pool; public facts alone."""
    if not isinstance(parameters, DpSelectParameters):
        return []
    if parameters.promise is None:
        return ["No pool is chosen: bring one in on the Pools page (`pool import`), then name it."]
    if parameters.promise.texts < count:
        return [
            f"The pool {parameters.promise.name} holds {parameters.promise.texts:,} texts and {count:,} outputs are "
            "wanted: ask for fewer, or choose a larger pool."
        ]
    return []
