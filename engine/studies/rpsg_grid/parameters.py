"""Parameters of the grid of RPSG's sizes and temperatures."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from engine.studies.bench.parameters import BenchParameters, Measures


def _sizes(values: tuple[int, ...]) -> tuple[int, ...]:
    if any(not 2 <= value <= 20_000 for value in values):
        raise ValueError("each size must lie between 2 and 20,000")
    return tuple(sorted(set(values)))


def _temperatures(values: tuple[float, ...]) -> tuple[float, ...]:
    if any(not 0.0 < value <= 2.0 for value in values):
        raise ValueError("each temperature must lie above 0 and be at most 2")
    return tuple(sorted(set(values)))


class RpsgGridParameters(BenchParameters):
    """Sizes, temperatures, and which of the two methods."""

    method: Literal["rpsg", "rpsg-public"] = Field(
        "rpsg", title="Method", description="rpsg writes from private seeds; rpsg-public has a bound on its output."
    )
    sizes: Annotated[tuple[int, ...], AfterValidator(_sizes)] = Field(
        (50, 100, 200), min_length=1, max_length=6, title="Sizes",
        description="Texts of a run, in turn; the paper has 200, 500, 1,000 and 2,000.",
    )  # fmt: skip
    temperatures: Annotated[tuple[float, ...], AfterValidator(_temperatures)] = Field(
        (0.6, 1.0, 1.4), min_length=1, max_length=6, title="Temperatures",
        description="Randomness of variants and outputs, in turn; the paper has 0.2 to 1.2.",
    )  # fmt: skip
    measures: Measures = Field(
        ("next_word", "kid", "self_bleu", "coverage", "neighbours_jaccard_1"), min_length=1, title="Measures",
        description="What is measured of each run, as in the other studies; the paper has next-word accuracy, FID and "
        "Self-BLEU.",
    )  # fmt: skip
    settings: str = Field(
        "", max_length=4000, title="Settings",
        description="Further parameters of the method as name=value, separated by commas, the same for every run.",
    )  # fmt: skip
