"""Parameters of the methods that fit a model to records."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from engine.methods.parameters import PrivateParameters, WritingParameters


class TuningParameters(WritingParameters):
    """What is trained, and how texts are written afterwards."""

    temperature: float = Field(0.9, gt=0, le=2, description="Randomness of generation.")
    rank: int = Field(
        8, ge=0, le=256, description="Rank of the adapters that are trained (LoRA); 0 trains every weight."
    )
    alpha: int = Field(16, ge=1, le=1024, description="Weight of the adapters, times their rank (Hu et al. 2022).")
    layers: Literal["all", "attention"] = Field("all", description="Which layers of the built-in model get adapters.")
    tokens: int = Field(128, ge=8, le=2000, description="Tokens of a record that are learned; the rest is cut.")
    tuned_model: str = Field(
        "", description="Folder of a causal model to tune through peft; empty takes the model chosen, if it lies here."
    )


class PlainParameters(TuningParameters):
    """Settings of fine-tuning without noise."""

    epochs: int = Field(3, ge=1, le=100, description="Passes over the training records.")
    records_a_step: int = Field(16, ge=1, le=1024, description="Records a training step.")
    rate: float = Field(2e-3, gt=0, le=1, description="Peak learning rate; a tenth of it suits rank 0.")


class GoldfishParameters(PlainParameters):
    """Settings of fine-tuning with the goldfish loss."""

    drop_every: int = Field(4, ge=2, le=100, description="Every k-th token on average is left out of the loss (k).")
    hash_context: int = Field(13, ge=1, le=100, description="Tokens before a token that decide whether it is (h).")


class DpFinetuneParameters(TuningParameters, PrivateParameters):
    """Budget, training and writing."""

    steps: int = Field(200, ge=1, le=20_000, description="Training steps, fixed beforehand and all paid (T).")
    units_a_step: int = Field(
        128, ge=1, le=100_000, description="Units a step is expected to draw; each is drawn on its own (q N)."
    )
    clip: float = Field(0.5, gt=0, le=1000, description="Longest gradient of a unit; longer ones are cut to it (C).")
    rate: float = Field(2e-3, gt=0, le=1, description="Peak learning rate; a tenth of it suits rank 0.")
    lengths: Literal["bought", "public"] = Field(
        "bought", description="Lengths of the outputs: their shares bought with a part of the budget, or all as asked."
    )
    label_share: float = Field(0.03, gt=0, lt=0.5, description="Share of the budget (in μ²) that buys label shares.")
    length_share: float = Field(0.03, gt=0, lt=0.5, description="Share of the budget (in μ²) that buys length shares.")
    watch_loss: bool = Field(
        False,
        description="Show the exact loss of each step while training: outside the guarantee, for inside eyes only, and "
        "noted in the ledger.",
    )
