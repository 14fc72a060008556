"""Parameters of the study of fine-tuned perplexity."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class FinetunePerplexityParameters(BaseModel):
    """What is trained, and what is measured."""

    model_config = ConfigDict(extra="forbid")

    epsilons: tuple[float, ...] = Field((1.0, 8.0), max_length=8, description="Budgets of training with noise (ε).")
    plain: tuple[Literal["lora", "full"], ...] = Field(
        ("lora", "full"), description="Training without noise: adapters, or every weight."
    )
    steps: int = Field(200, ge=1, le=20_000, description="Training steps of every variant (T).")
    units_a_step: int = Field(128, ge=1, le=100_000, description="Units a step; with noise, expected ones (q N).")
    clip: float = Field(0.5, gt=0, le=1000, description="Longest gradient of a unit, with noise (C).")
    rate: float = Field(2e-3, gt=0, le=1, description="Peak learning rate of adapters.")
    full_rate: float = Field(2e-4, gt=0, le=1, description="Peak learning rate where every weight is trained.")
    rank: int = Field(8, ge=1, le=256, description="Rank of the adapters (LoRA).")
    alpha: int = Field(16, ge=1, le=1024, description="Weight of the adapters, times their rank.")
    layers: Literal["all", "attention"] = Field("all", description="Which layers of the built-in model get adapters.")
    tokens: int = Field(128, ge=8, le=2000, description="Tokens of a record that are learned and scored.")
    domain: Literal["auto", "clinical", "legal", "social", "reviews", "generic"] = Field(
        "auto", description="Domain that prompts name; auto is generic, as in a private run."
    )
    holdout: int = Field(1000, ge=10, le=100_000, description="Holdout records scored, at most.")
    train: int = Field(1000, ge=10, le=100_000, description="Training records scored, at most.")
    canaries: int = Field(
        200, ge=0, le=5000, description="Made-up texts, each put among the records by a coin; 0 for none."
    )
    audit_runs: int = Field(
        500, ge=0, le=100_000, description="Runs a world of the audit of the noise at each ε; 0 for none."
    )
