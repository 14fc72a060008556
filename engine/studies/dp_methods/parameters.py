"""Parameters of the comparison of methods with a formal guarantee."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from engine.studies.bench.parameters import PooledParameters, SizedParameters
from engine.studies.epsilon_sweep.parameters import Budgeted, rising


def _sizes(values: tuple[int, ...]) -> tuple[int, ...]:
    if any(value < 20 for value in values):
        raise ValueError("each number of records must be at least 20")
    return tuple(sorted(set(values)))


class DpMethodsParameters(PooledParameters, SizedParameters):
    """Methods, numbers of records and ε."""

    methods: tuple[Budgeted, ...] = Field(
        ("aug-pe", "dpga", "rpsg-public", "dp-finetune", "private-prediction", "dp-topics", "dp-steer"),
        min_length=1,
        title="Methods", description="Methods compared, all beside public text; dp-select needs a pool.",
    )  # fmt: skip
    sizes: Annotated[tuple[int, ...], AfterValidator(_sizes)] = Field(
        (300, 1000, 3000, 10_000), min_length=1, max_length=6, title="Numbers of records",
        description="Training records that the methods work on, whole people first; smaller sets lie within larger.",
    )  # fmt: skip
    epsilons: Annotated[tuple[float, ...], AfterValidator(rising)] = Field(
        (1.0, 4.0), min_length=1, max_length=6, title="Epsilons", description="ε of the runs, each at its own δ."
    )
    settings: str = Field(
        "", max_length=4000, title="Settings",
        description="Further parameters as name=value, separated by commas; each goes to the methods that have it.",
    )  # fmt: skip
