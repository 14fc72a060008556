"""Parameters of the comparison of methods with control codes."""

from __future__ import annotations

from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

Method = Literal["icl", "control-icl", "control-icl-blocked", "control-prefix", "control-prefix-masked", "dp-finetune"]
PRIVATE = "dp-finetune"  # the paper's DP-SGD row: takes minutes, so it runs where it is asked for
METHODS: tuple[Method, ...] = tuple(name for name in get_args(Method) if name != PRIVATE)


class ControlCodesParameters(BaseModel):
    """What the study runs."""

    model_config = ConfigDict(extra="forbid")

    methods: tuple[Method, ...] = Field(
        METHODS, min_length=1, description="Methods compared; dp-finetune is the paper's DP-SGD row."
    )
    epsilon: float = Field(8.0, gt=0, le=100, title="ε of dp-finetune", description="ε of dp-finetune, at its own δ.")
    steps: int | None = Field(None, ge=1, le=20_000, description="Noisy steps of dp-finetune; empty: the method's.")
    count: int = Field(100, ge=2, le=2000, description="Texts of each run.")
    repeats: int = Field(3, ge=1, le=10, description="Runs of each variant, each with a seed of its own.")
    identifiers: Literal["direct", "quasi", "both", "each"] = Field(
        "direct",
        title="What counts as private",
        description="What counts as private: direct identifiers, quasi-identifiers or both (Tables 1, 14, 6); each "
        "runs all three.",
    )
    entities: Literal["known", "unknown", "each"] = Field(
        "known", description="Codes from accepted spans (Table 1), from the detector alone (Table 2), or each in turn."
    )
    sweep: Literal["none", "examples", "weights", "each"] = Field(
        "none", description="Besides: other numbers of examples, or other weights and both directions of the objective."
    )
    sweep_repeats: int | None = Field(
        None, ge=1, le=10, description="Runs of each variant of a sweep; empty: as many as of the others."
    )
    utility: bool = Field(
        True,
        description="Measure perplexity and MAUVE too (Table 4), on a model that can be trained; takes as long again. "
        "MAUVE needs 100 texts a run and 100 passages set aside.",
    )
    minimum_tokens: int | None = Field(None, ge=0, le=1000, description="Shortest usable output; empty: the method's.")
    epochs: int | None = Field(None, ge=1, le=50, description="Passes of tuning a prefix; empty: the method's.")
