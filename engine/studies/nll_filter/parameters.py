"""Parameters of the study of the likelihood filter."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class NllFilterParameters(BaseModel):
    """What is written and attacked."""

    model_config = ConfigDict(extra="forbid")

    outputs: int = Field(100, ge=2, le=5000, description="Texts that both filters leave.")
    settings: str = Field(
        "", max_length=4000, description="RPSG's parameters as name=value, separated by commas; nll_keep is the filter."
    )
    records: int = Field(0, ge=0, description="Training records used; 0 is all.")
