"""Parameters of the methods that learn a prefix."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from engine.methods.examples.parameters import CodeParameters


class PrefixParameters(CodeParameters):
    """Settings of prefix tuning."""

    virtual_tokens: int = Field(20, ge=1, le=200, description="Length of the prefix in virtual tokens (section 3.2).")
    epochs: int = Field(3, ge=1, le=50, description="Passes over the training passages (section 3.2).")
    rate: float = Field(5e-5, gt=0, le=1, description="Learning rate of the prefix (section 3.2).")
    builtin_rate: float | None = Field(
        0.03, gt=0, le=1,
        description="Learning rate where the built-in model is tuned: at the paper's, its prefix hardly moves in three "
        "epochs (unseen court cases: from 3.79 to 3.78 nats a token, here to 3.34). Empty: the rate above.",
    )  # fmt: skip
    pairs_a_step: int = Field(4, ge=1, le=256, description="Passages a training step.")
    tuned_model: str = Field(
        "", description="Folder of a causal model to tune through peft; empty takes the model chosen, if it lies here."
    )


class MaskedPrefixParameters(PrefixParameters):
    """Settings of prefix tuning with the masked objective."""

    contrastive: Literal["suppress", "paper"] = Field(
        "suppress",
        description="On private tokens: suppress lowers their probability below the frozen model's; paper is equation "
        "3 as printed, which raises it.",
    )
    lambda_lm: float = Field(1.0, ge=0, le=100, description="Weight of the language-modelling loss (equation 5).")
    lambda_contrast: float = Field(1.0, ge=0, le=100, description="Weight of the contrast on private tokens.")
    lambda_kl: float = Field(1.0, ge=0, le=100, description="Weight of the KL divergence on all other tokens.")
