"""Parameters of dp-topics."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from engine.methods.tuned.parameters import DpFinetuneParameters


class DpTopicsParameters(DpFinetuneParameters):
    """Budget, histogram, training (where it is wanted) and writing."""

    tuning: Literal["none", "noisy"] = Field(
        "none",
        description="none: the whole budget buys the histogram, and the model is asked by key words alone. noisy: the "
        "rest of it fits the model to the records behind their topic's key words (DP-SGD).",
    )
    histogram_share: float = Field(
        0.2, gt=0, lt=0.9, description="Share of the budget (in μ²) for the histogram, where the model is fitted too."
    )
    refinements: int | None = Field(
        None, ge=1, le=3,
        description="Steps from the coarsest topics to the finest; empty: from N and ε, for about N ε / 10 topics.",
    )  # fmt: skip
    threshold: float = Field(
        2.0, ge=0, le=10, description="Noisy count, in standard deviations, from which a cell is kept and refined."
    )
    candidates: int = Field(
        4, ge=1, le=20, description="Texts written for each output; one that falls into its topic is kept."
    )
    temperature: float = Field(0.9, gt=0, le=2, description="Randomness of generation.")
