"""Parameters of private prediction."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict, Field, field_validator

from engine.dp.noise.prediction import Variant
from engine.methods.parameters import LabelListParameters, ReadableParameters


class PrivatePredictionParameters(LabelListParameters, ReadableParameters):
    """Budget, batches and writing."""

    model_config = ConfigDict(extra="forbid")

    epsilon: float = Field(4.0, gt=0, le=100, description="Privacy loss bound ε of the run's complete output.")
    delta: float | None = Field(
        None, gt=0, lt=1, description="δ, allowed on top of the factor e^ε; empty: 1 / (N ln N) for N units."
    )
    adjacency: Literal["zero-out", "replace-one"] = Field(
        "zero-out", description="Neighbouring corpora: a unit's data removed (N public), or replaced by another's."
    )
    variant: Variant = Field(
        "difference-clip",
        description="Clip each record's difference to the public logits (InvisibleInk), or its logits (Amin et al.).",
    )
    batch_size: int = Field(40, ge=2, le=2000, description="Private records a batch is expected to have (s).")
    texts_a_batch: int = Field(1, ge=1, le=100, description="Texts each batch writes; they share its budget.")
    tokens: int = Field(100, ge=4, le=400, description="Tokens drawn with private records, paid a text (T).")
    temperature: float = Field(1.0, gt=0, le=3, description="Randomness of the draw (τ); it is what protects.")
    top_k: int = Field(100, ge=0, le=100_000, description="Tokens the public logits leave to choose from; 0: all.")
    rows_a_unit: int = Field(1, ge=1, le=20, description="Records a unit has in the batches; r cost r² as much.")
    clusters: Literal["none", "coarse", "fine"] = Field(
        "none",
        description="Batches of like records: of one coarse or fine public topic each, so that they agree on more "
        "words. How many batches a topic fills is bought with noise.",
    )
    cluster_share: float = Field(
        0.05, gt=0, lt=0.5, description="Share of the budget (in ρ) that buys how many records each topic has."
    )
    labels: Literal["bought", "public"] = Field(
        "bought", description="Label shares: bought with a part of the budget, or declared public."
    )
    label_share: float = Field(0.05, gt=0, lt=1, description="Share of the budget (in ρ) that buys label shares.")
    operator: Literal["rephrase", "from_examples", "vary"] = Field(
        "rephrase", description="What each private prompt asks of the model with its record."
    )
    domain: Literal["auto", "clinical", "legal", "social", "reviews", "generic"] = Field(
        "auto", description="Kind of text, declared public; auto is general text, since private text is not looked at."
    )
    kind: str = Field("", max_length=60, description="Kind of document in plain words, declared public.")
    words: int = Field(60, ge=5, le=300, description="Length asked for in the prompt (words).")
    record_tokens: int = Field(128, ge=16, le=2000, description="Tokens of a record that its prompt shows.")
    longest: int = Field(200, ge=8, le=1000, description="mean-clip: longest text with its public tokens (tokens).")
    threshold: float = Field(
        0.3,
        gt=0,
        lt=1,
        description="mean-clip: distance of batch and public prompt that a private token is paid for.",
    )
    search_share: float = Field(0.25, gt=0, lt=1, description="mean-clip: share of a token's budget for that question.")

    @field_validator("variant", mode="before")
    @classmethod
    def _no_median(cls, value: object) -> object:
        if value == "median":
            raise ValueError(
                "the median of private logits has a bound that depends on the data and is known only after a run; a "
                "claim here is known before it"
            )
        return value
