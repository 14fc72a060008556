"""Parameters of the study of pairs of runs."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class PairsParameters(BaseModel):
    """What is run and left out."""

    model_config = ConfigDict(extra="forbid")

    method: str = Field("finetune", description="Method that is run; any registered one.")
    settings: str = Field("", max_length=4000, description="Its parameters, such as: epochs=3, rank=8.")
    count: int = Field(
        100, ge=1, le=5000, description="Texts of a generation; methods that rewrite records make one a record."
    )
    excluded: tuple[int, ...] = Field((10,), min_length=1, description="|U|: how many units are left out.")
    sets: int = Field(1, ge=1, le=20, description="Random sets U of each size.")
    trainings: int = Field(
        3, ge=1, le=50, description="Trainings on each X without U; X is trained on twice as often, for the null curve."
    )
    generations: int = Field(2, ge=1, le=20, description="Generations of each training.")
    adjacency: Literal["corpus", "record", "source"] = Field(
        "corpus", description="What a unit of U is: as the corpus has it, a record, or a source's training records."
    )
    records: int = Field(
        0, ge=0, description="Training records that make up X, whole units drawn at random; 0 takes all."
    )
    n: tuple[int, ...] = Field((1,), min_length=1, max_length=3, description="Words that an attacker sees, 1 to 3.")
