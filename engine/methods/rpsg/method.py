"""RPSG: abstractions of private seeds, a noisy choice among them, rewriting twice, and two filters.

Source: Ma and Rajtmajer, "Private Seeds, Public LLMs: Realistic and Privacy-Preserving Synthetic Data
Generation", Algorithm 1; defaults from its Tables 5 and 8.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pydantic import BaseModel

from engine.dp.accounting import closed_form
from engine.dp.guarantee import Guarantee
from engine.methods.base import Context, Facts, MethodSpec, Plan, Step
from engine.methods.rpsg.claim import claim, example_sentence
from engine.methods.rpsg.parameters import RpsgParameters, needed
from engine.models.builtin.shipped import SECONDS_A_TOKEN

if TYPE_CHECKING:
    from engine.dp.accounting.accountant import Accountant

_TOKENS_A_WORD = 1.6
_SECONDS_A_BEAM_TOKEN = 1 / 450
_SECONDS_A_TUNED_TOKEN = 1 / 3000
_SECONDS_A_RECORD = 0.05  # detection, embeddings of all candidates


class RpsgMethod:
    """Write abstractions of private seeds, choose one with noise, rewrite it twice, filter what came out."""

    spec = MethodSpec(
        id="rpsg",
        title="RPSG (private seeds)",
        summary="Abstracts randomly drawn private records, chooses one of several abstractions with noise, has a "
        "language model write new texts from it, and drops outputs that are too near a seed or look memorised.",
        origin="A language model wrote each record from an abstract of one original text. It can keep details and "
        "wordings of that text.",
        citation="Ma and Rajtmajer, Private Seeds, Public LLMs (RPSG)",
        kind="selection-only",
        needs=("generator", "operators", "embedder", "detector", "train"),
        parameters=RpsgParameters,
        good_for="Text near to single records in subject and register, for readers who may know what the records say.",
        bad_for="Anything that needs a bound: the noise covers a choice, not the text that is chosen from. Where tone "
        "matters, with the built-in model: its outputs agree with their seeds' tone no more than chance.",
    )

    def guarantee(self, parameters: BaseModel, facts: Facts, accountant: Accountant | None = None) -> Guarantee:
        """Return what the noise on the choice means, and that nothing covers the output."""
        p = _own(parameters)
        return claim(p.noise, p.epsilon, p.delta, p.candidates, facts)

    def plan(self, parameters: BaseModel, facts: Facts, count: int) -> Plan:
        """Return calls, tokens and seconds for `count` outputs, and what the noise leaves of the choice."""
        p = _own(parameters)
        s = p.settings()
        made = needed(count, s.similarity_keep, s.nll_keep)
        words = min(max(facts.mean_characters / 6, 20), 220)
        abstract = p.oversampling * min(max(words * 0.8, p.minimum_tokens), p.maximum_tokens)
        searched, drawn = made * abstract, made * 2 * words * _TOKENS_A_WORD
        seconds = searched * _SECONDS_A_BEAM_TOKEN + drawn * SECONDS_A_TOKEN + made * _SECONDS_A_RECORD
        tuned = made * words * _TOKENS_A_WORD * s.epochs * (2.2 if p.ablation else 1.0)
        delta = closed_form.default_delta(facts.units) if p.delta is None else p.delta
        notes = [
            example_sentence(p.noise, p.epsilon, delta, p.candidates),
            f"{made:,} texts are written so that the two filters leave {count:,}.",
            "Seconds are for the built-in model on two CPU cores.",
        ]
        if made > facts.records:
            notes.append(
                f"There are {facts.records:,} training records: some will be the seed of several outputs, and what "
                "the noise means for one choice adds up for them."
            )
        return Plan(
            model_calls=made * (p.oversampling + 2),
            tokens=int(searched + drawn),
            seconds=round(seconds + tuned * _SECONDS_A_TUNED_TOKEN, 1),
            outputs=count,
            notes=tuple(notes),
        )

    def run(self, context: Context) -> Iterator[Step]:
        """Yield one step a batch and stage; outputs come with the last stage."""
        from engine.methods.rpsg.run import RpsgRun

        yield from RpsgRun(context, _own(context.parameters)).steps()


def _own(parameters: BaseModel) -> RpsgParameters:
    from engine.errors import InternalError

    if not isinstance(parameters, RpsgParameters):
        raise InternalError("rpsg was started with another method's parameters")
    return parameters
