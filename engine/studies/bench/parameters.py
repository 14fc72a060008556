"""What studies that repeat runs of several settings have in common: how much, how often, measured how."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from engine.examine.stats.over_repeats import MOST
from engine.studies.bench import measured

Measures = Annotated[tuple[str, ...], AfterValidator(measured.checked)]


class BenchParameters(BaseModel):
    """Records, repeats, measures and the longest time of a study."""

    model_config = ConfigDict(extra="forbid")

    repeats: int = Field(
        3, ge=1, le=MOST, title="Repeats",
        description="Runs of each setting, each with a seed and noise of its own; 3 are the fewest with an interval.",
    )  # fmt: skip
    records: int = Field(
        0, ge=0, title="Records", description="Training records the runs work on, whole people first; 0 is all."
    )
    measures: Measures = Field(
        measured.DEFAULT, min_length=1, title="Measures",
        description=f"What is measured of each run; offered are {', '.join(measured.measures())}. MAUVE needs 100 "
        "texts a side; next_word trains small models, which takes most of the time of a small study.",
    )  # fmt: skip
    hours: float = Field(
        12.0,
        gt=0,
        le=1000,
        title="Hours",
        description="Longest the methods may take by their own plans; a longer study is refused before it starts.",
    )


class SizedParameters(BenchParameters):
    """The same, where every run has equally many texts."""

    outputs: int = Field(100, ge=2, le=5000, title="Outputs", description="Texts a run.")


POOLED = ("dp-select",)
"""Methods that choose from a pool."""


class PooledParameters(BaseModel):
    """The pool of methods that choose from one."""

    pool: str = Field("", max_length=60, title="Pool", description="Name of the pool that dp-select chooses from.")
