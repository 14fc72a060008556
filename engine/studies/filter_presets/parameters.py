"""Parameters of the comparison of filter presets."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from engine.methods.filter.parameters import Preset

EVERY: tuple[Preset, ...] = ("baseline", "pre-only", "post-only", "pre-post", "all", "strict", "adaptive")


class FilterPresetsParameters(BaseModel):
    """What the study plants, runs and measures."""

    model_config = ConfigDict(extra="forbid")

    records: int = Field(100, ge=4, le=2000, description="Training records used, one output each (section 4.2: 100).")
    canaries: int = Field(20, ge=0, le=500, description="Canary phrases, each planted in one record.")
    identifiers: int = Field(
        1,
        ge=0,
        le=5,
        title="Fake identifiers a record",
        description="Fake structured identifiers planted in each record.",
    )
    presets: tuple[Preset, ...] = Field(EVERY, min_length=1, description="Configurations compared (Table 1).")
    operator: Literal["abstract", "rephrase", "expand"] = Field(
        "abstract",
        description="What the model is asked for: a summary as in section 4.2, a new wording, or an expansion.",
    )
    replacement: Literal["placeholders", "surrogates"] = Field(
        "placeholders", description="What the first stage puts in place of identifiers."
    )
    canaries_known: bool = Field(False, description="Put the canaries on the list that outputs are compared with.")
    block_identifiers: bool = Field(
        False, description="Also keep each record's own identifiers from being generated; goes beyond the paper."
    )
    flag_unknown: Literal["off", "count", "redact"] = Field(
        "off", description="What happens to rare identifier-shaped sequences that nobody found; goes beyond the paper."
    )
