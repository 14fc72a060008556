"""Parameters of the comparison with methods without noise."""

from __future__ import annotations

from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

Voting = Literal["aug-pe", "dpga", "rpsg-public", "rpsg"]
VOTING: tuple[Voting, ...] = get_args(Voting)  # methods whose noise lies on votes and choices, and can be left out


class NoiselessParameters(BaseModel):
    """What is run."""

    model_config = ConfigDict(extra="forbid")

    method: Voting = Field("dpga", description="Method whose noise is weighed.")
    outputs: int = Field(100, ge=2, le=5000, description="Texts a variant.")
    settings: str = Field(
        "",
        max_length=4000,
        description="The method's parameters as name=value, separated by commas; epsilon among them.",
    )
    records: int = Field(0, ge=0, description="Training records used; 0 is all.")
