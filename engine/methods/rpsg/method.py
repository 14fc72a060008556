"""RPSG: abstractions of private seeds, a noisy choice among them, rewriting twice, and two filters.

Source: Ma and Rajtmajer, "Private Seeds, Public LLMs: Realistic and Privacy-Preserving Synthetic Data
Generation", Algorithm 1; defaults from its Tables 5 and 8.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from engine.dp.accounting import closed_form
from engine.dp.guarantee import Guarantee
from engine.methods.base import Context, Facts, MethodSpec, Plan, Step
from engine.methods.readable import ReadableParameters
from engine.methods.rpsg.claim import claim, example_sentence
from engine.methods.rpsg.parameters import PRESETS, Preset, PresetName, needed
from engine.models.builtin.shipped import SECONDS_A_TOKEN

if TYPE_CHECKING:
    from engine.dp.accounting.accountant import Accountant

_TABLE_5, _TABLE_8 = "Ma and Rajtmajer, Table 5", "Ma and Rajtmajer, Table 8"
_TOKENS_A_WORD = 1.6
_SECONDS_A_BEAM_TOKEN = 1 / 450
_SECONDS_A_TUNED_TOKEN = 1 / 3000
_SECONDS_A_RECORD = 0.05  # detection, embeddings of all candidates


class RpsgParameters(ReadableParameters):
    """Settings of every stage."""

    model_config = ConfigDict(extra="forbid")

    epsilon: float = Field(4.0, gt=0, le=100, description="What the choice among candidates is calibrated for.")
    delta: float | None = Field(
        None, ge=1e-12, le=1e-3, description="Failure probability; empty means 1/(N ln N) for N training units."
    )
    noise: Literal["paper", "exact"] = Field(
        "paper",
        description="paper: Gaussian noise by equation 1, unproven above epsilon 1. exact: a choice that is "
        "epsilon-private for given candidates. Neither covers the output.",
    )
    preset: PresetName = Field(
        "reddit-phi-4", description=f"Named settings of surrogate model and filters ({_TABLE_8})."
    )
    epochs: int | None = Field(None, ge=1, le=10, description="Surrogate model's epochs; empty takes the preset's.")
    rate: float | None = Field(None, gt=0, le=0.1, description="Its learning rate; empty takes the preset's.")
    weight_decay: float = Field(0.01, ge=0, le=1, description=f"Its weight decay ({_TABLE_8}).")
    similarity_keep: float | None = Field(
        None, gt=0, le=1, description="Share of outputs retained by the cosine filter; empty takes the preset's."
    )
    nll_keep: float | None = Field(
        None, gt=0, le=1, description="Share of those retained by the likelihood filter; 1 switches it off."
    )
    compare: Literal["own", "any"] = Field(
        "own", description="The cosine filter compares an output with its own seed, or with the nearest of all seeds."
    )
    oversampling: int = Field(10, ge=1, le=50, description=f"K: abstractions written a seed ({_TABLE_5}).")
    candidates: int = Field(5, ge=2, le=50, description=f"m: candidates the choice is among ({_TABLE_5}).")
    similarity_weight: float = Field(0.75, ge=0, le=1, description=f"β: weight of similarity ({_TABLE_5}).")
    flip_penalty: float = Field(0.15, ge=0, le=1, description=f"λ: penalty for another sentiment ({_TABLE_5}).")
    minimum_confidence: float = Field(
        0.55, ge=0, le=1, description=f"κ: confidence from which agreement counts ({_TABLE_5})."
    )
    retry: bool = Field(True, description=f"One more round of sampling where no candidate agrees ({_TABLE_5}).")
    minimum_tokens: int = Field(50, ge=0, le=400, description=f"Shortest abstraction in tokens ({_TABLE_5}).")
    maximum_tokens: int = Field(150, ge=8, le=400, description=f"Longest abstraction in tokens ({_TABLE_5}).")
    temperature: float = Field(1.0, gt=0, le=2, description=f"Randomness of variants and outputs ({_TABLE_8}).")
    sentiment_model: str = Field("builtin", description="Sentiment classifier: builtin, or a local model folder.")
    surrogate_model: str = Field(
        "", description="Causal model folder to fine-tune for the filters; empty takes the built-in network."
    )
    ablation: bool = Field(
        False, description="Also train two models, on outputs with and without the likelihood filter, and attack both."
    )
    domain: Literal["auto", "clinical", "legal", "social", "reviews", "generic"] = Field(
        "auto", description="Kind of text; auto guesses it from everyday vocabulary."
    )
    minimum_score: float = Field(
        0.5, ge=0, le=1, description="Lowest detection score the first and the last filter for identifiers act on."
    )

    @model_validator(mode="after")
    def _consistent(self) -> RpsgParameters:
        if self.candidates > self.oversampling:
            raise ValueError(f"candidates must be at most oversampling ({self.oversampling}), is {self.candidates}")
        if self.minimum_tokens > self.maximum_tokens:
            raise ValueError(f"minimum_tokens must be at most {self.maximum_tokens}, is {self.minimum_tokens}")
        return self

    def settings(self) -> Preset:
        """Return the preset with the values that were given in its stead."""
        base = PRESETS[self.preset]
        return Preset(
            self.epochs or base.epochs,
            self.rate or base.rate,
            self.similarity_keep or base.similarity_keep,
            self.nll_keep or base.nll_keep,
        )


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
