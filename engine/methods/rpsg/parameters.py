"""Parameters of both RPSG methods, and the published settings by name.

Source: Ma and Rajtmajer, "Private Seeds, Public LLMs", Tables 5, 6 and 8. The proportions are what each filter
*retains*. The sample counts of Table 8 do not follow from its proportions in most rows (800 × 0.4 × 0.4 is not
257), so counts are not part of a preset: the run makes as many outputs as the filters need to leave the wanted count.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from pydantic import ConfigDict, Field, model_validator

from engine.methods.parameters import LabelListParameters, ReadableParameters

_TABLE_5, _TABLE_8 = "Ma and Rajtmajer, Table 5", "Ma and Rajtmajer, Table 8"
PresetName = Literal[
    "reddit-gpt-3.5",
    "reddit-gpt-4o-mini",
    "reddit-deepseek-r1",
    "reddit-phi-4",
    "reddit-distilgpt2",
    "reddit-gpt-2",
    "pubmed-gpt-3.5",
    "pubmed-gpt-4o-mini",
    "pubmed-deepseek-r1",
    "pubmed-phi-4",
]


@dataclass(frozen=True)
class Preset:
    """One row of Table 8.

    Args:
        epochs: passes of the surrogate model over the variants. rate: its peak learning rate.
        similarity_keep: share retained by the cosine filter, (0, 1].
        nll_keep: share of those retained by the likelihood filter, (0, 1].
    """

    epochs: int
    rate: float
    similarity_keep: float
    nll_keep: float


PRESETS: dict[PresetName, Preset] = {
    "reddit-gpt-3.5": Preset(5, 3e-4, 0.4, 0.4),
    "reddit-gpt-4o-mini": Preset(5, 4e-4, 0.5, 0.4),
    "reddit-deepseek-r1": Preset(3, 4e-4, 0.8, 0.7),
    "reddit-phi-4": Preset(5, 4e-4, 0.65, 0.55),
    "reddit-distilgpt2": Preset(5, 5e-4, 0.85, 0.3),
    "reddit-gpt-2": Preset(5, 4e-4, 0.8, 0.25),
    "pubmed-gpt-3.5": Preset(5, 1e-4, 0.45, 0.35),
    "pubmed-gpt-4o-mini": Preset(5, 5e-5, 0.45, 0.4),
    "pubmed-deepseek-r1": Preset(3, 4e-4, 0.45, 0.4),
    "pubmed-phi-4": Preset(5, 4e-4, 0.65, 0.55),
}


def share(size: int, keep: float) -> int:
    """Return how many of `size` a proportion retains: rounded down, at least one."""
    return max(min(1, size), math.floor(round(keep * size, 9)))


def left(made: int, similarity_keep: float, nll_keep: float) -> int:
    """Return how many of `made` outputs both filters retain."""
    return share(share(made, similarity_keep), nll_keep)


def needed(count: int, similarity_keep: float, nll_keep: float) -> int:
    """Return the least number of outputs of which both filters leave `count`."""
    made = count
    while left(made, similarity_keep, nll_keep) < count:
        made += 1
    return made


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


class RpsgPublicParameters(LabelListParameters, ReadableParameters):
    """Settings; every one is a public input."""

    model_config = ConfigDict(extra="forbid")

    epsilon: float = Field(4.0, gt=0, le=100, description="Privacy loss bound of the run's complete output.")
    delta: float | None = Field(
        None, ge=1e-12, le=1e-3, description="δ, allowed on top of the factor e^ε; empty: 1/(N ln N) for N units."
    )
    labels: Literal["bought", "public"] = Field(
        "bought", description="Label shares: bought from the budget, or declared public. No effect without labels."
    )
    label_share: float = Field(0.05, gt=0, lt=1, description="Share of the budget (in μ²) that buys label shares.")
    adjacency: Literal["zero-out", "replace-one"] = Field(
        "zero-out", description="One unit's records vanish, or are replaced by others."
    )
    domain: Literal["clinical", "legal", "social", "reviews", "generic"] = Field(
        "generic", description="Kind of text; a public choice, never guessed from the records."
    )
    words: int = Field(70, ge=8, le=220, description="Words an output should have; a public choice.")
    candidates: int = Field(5, ge=2, le=50, description="Candidates written for each one that is chosen (m, Table 5).")
    preset: PresetName = Field(
        "reddit-phi-4", description="Settings of surrogate model and likelihood filter, Table 8."
    )
    epochs: int | None = Field(None, ge=1, le=10, description="Surrogate model's epochs; empty takes the preset's.")
    rate: float | None = Field(None, gt=0, le=0.1, description="Its learning rate; empty takes the preset's.")
    weight_decay: float = Field(0.01, ge=0, le=1, description="Its weight decay (Table 8).")
    nll_keep: float | None = Field(
        None, gt=0, le=1, description="Share of outputs retained by the likelihood filter; 1 switches it off."
    )
    temperature: float = Field(1.0, gt=0, le=2, description="Randomness of every text (Table 8).")
    surrogate_model: str = Field(
        "", description="Causal model folder to fine-tune for the filter; empty takes the built-in network."
    )

    def kept(self) -> float:
        """Return the share that the likelihood filter retains."""
        return self.nll_keep or PRESETS[self.preset].nll_keep

    def wanted(self, count: int) -> int:
        """Return how many candidates are chosen so that `count` outputs remain, with a few for unusable texts."""
        least = needed(count, 1.0, self.kept())
        return least + math.ceil(0.03 * least)
