"""Parameters of dp-select, and what is promised of the pool that it chooses from."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from engine.methods.parameters import BudgetParameters, ReadableParameters

MOST_EDGES = 5
LONGEST_EDGE = 5000  # words
HISTOGRAM = "classes"  # of the guarantee's noise: the histogram of classes


class PoolPromise(BaseModel):
    """What a pool is and who said that it was made without the private data; public all.

    rounds: runs whose protected output the pool was written from, empty for one that knows nothing of any run.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    digest: str
    texts: int
    labels: tuple[str, ...] = ()
    origin: str = ""
    licence: str = ""
    declared_by: str = ""
    declared_on: str = ""
    rounds: tuple[str, ...] = ()


class DpSelectParameters(BudgetParameters, ReadableParameters):
    """Budget, pool, classes and suppression."""

    model_config = ConfigDict(extra="forbid")

    pool: str = Field("", max_length=60, description="Name of the pool of candidates.")
    promise: PoolPromise | None = Field(
        None, description="What was declared of the pool when the run was asked for; the program fills it in."
    )
    lengths: tuple[int, ...] = Field(
        (),
        description="Edges of length classes in words, declared public, such as 50 and 150; records then vote among "
        "candidates of their own class. Empty: none.",
    )
    suppression: Literal["near-duplicates", "off"] = Field(
        "near-duplicates",
        description="near-duplicates: texts like one that was chosen are held back. off: votes alone.",
    )
    tau: float | None = Field(
        None, ge=0, le=1,
        description="Public cosine from which a text is held back; empty: the median cosine of nearest texts.",
    )  # fmt: skip
    class_share: float = Field(
        0.05, gt=0, lt=1,
        description="Share of the budget (of μ², the squared Gaussian parameter) for a histogram of classes, labels or "
        "lengths, where there are any.",
    )  # fmt: skip

    @field_validator("lengths")
    @classmethod
    def _ascending(cls, edges: tuple[int, ...]) -> tuple[int, ...]:
        if list(edges) != sorted(set(edges)) or any(not 1 <= edge <= LONGEST_EDGE for edge in edges):
            raise ValueError(f"edges must be ascending whole numbers from 1 to {LONGEST_EDGE:,}")
        if len(edges) > MOST_EDGES:
            raise ValueError(f"at most {MOST_EDGES} edges")
        return edges

    @model_validator(mode="after")
    def _shares_of_labels_alone(self) -> Self:
        if self.lengths and self.labels == "public":
            raise ValueError(
                "label shares declared public go with no length classes: buy the shares, or leave them out"
            )
        return self

    @property
    def pool_labels(self) -> tuple[str, ...]:
        """Return the labels that the pool's texts carry."""
        return self.promise.labels if self.promise is not None else ()
