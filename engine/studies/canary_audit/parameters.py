"""Parameters of the audit with canaries."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class CanaryAuditParameters(BaseModel):
    """What is audited, with which canaries, and what is declared before the coins are opened."""

    model_config = ConfigDict(extra="forbid")

    method: str = Field("surrogate", description="The method that is audited.")
    settings: str = Field("", max_length=4000, description="Its parameters, such as: epochs=3, rank=8.")
    canaries: int = Field(100, ge=8, le=5000, description="Fair coins a run; with twins pairs of canaries.")
    kind: Literal["prefix", "random", "identifier"] = Field(
        "prefix",
        title="Kind of canary",
        description="Beginning of a real record with a rare ending; rare words alone; or made-up identifiers.",
    )
    repeats: int = Field(1, ge=1, le=50, description="Runs, each with fresh coins for the same canaries.")
    guesses: int = Field(
        0, ge=0, description="Coins guessed to be in, all runs together, highest scores first; 0 is a quarter of them."
    )
    guesses_out: int = Field(0, ge=0, description="Coins guessed to be out, lowest scores first.")
    score: Literal["ngram", "run", "nearest", "ranks"] = Field(
        "ngram", description="What orders the canaries: word pairs, longest echo, nearest text, or the mean rank."
    )
    outputs: int = Field(300, ge=1, le=100_000, description="Synthetic records a run, unless each has its own source.")
    records: int = Field(0, ge=0, description="Training records used beside the canaries; 0 is all.")
    copies: int = Field(1, ge=1, le=100, description="How often each canary is planted, as one person's records.")
    spans_known: bool = Field(False, description="Mark made-up identifiers as a perfect detector would.")
