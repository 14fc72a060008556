"""Parameters of paid-choice, and what is known of the runs that it chooses among."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class RunsPromise(BaseModel):
    """The runs of a choice, and the smallest number of outputs among them; their own claims protect both.

    assumptions, voided_by: what those claims rest on, and what voids them: the choice rests on all of it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    runs: tuple[str, ...]
    outputs: int = Field(ge=1)
    assumptions: tuple[str, ...] = ()
    voided_by: tuple[str, ...] = ()


class PaidChoiceParameters(BaseModel):
    """Budget and candidates of a choice among runs."""

    model_config = ConfigDict(extra="forbid")

    promise: RunsPromise | None = Field(
        None, description="What is known of these runs when the choice is asked for; the program fills it in."
    )
    epsilon: float = Field(
        0.5,
        gt=0,
        le=100,
        description="Privacy loss bound ε of the choice alone; what the runs spent is counted beside.",
    )
    adjacency: Literal["zero-out", "replace-one"] = Field(
        "zero-out", description="Neighbouring corpora: a unit's data removed (N public), or replaced by another's."
    )
