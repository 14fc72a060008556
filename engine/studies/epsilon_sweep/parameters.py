"""Parameters of the sweep over ε."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from pydantic import AfterValidator, Field

from engine.studies.bench.parameters import PooledParameters, SizedParameters

Budgeted = Literal[
    "aug-pe", "dpga", "dp-finetune", "dp-topics", "dp-steer", "dp-select", "private-prediction", "rpsg", "rpsg-public"
]
BUDGETED: tuple[Budgeted, ...] = get_args(Budgeted)


def rising(values: tuple[float, ...]) -> tuple[float, ...]:
    """Return ε in ascending order, each once."""
    if any(not 0.0 < value <= 100.0 for value in values):
        raise ValueError("each ε must lie above 0 and be at most 100; no noise at all is asked for by `endless`")
    return tuple(sorted(set(values)))


class EpsilonSweepParameters(PooledParameters, SizedParameters):
    """Methods, their ε, and what lies at both ends."""

    methods: tuple[Budgeted, ...] = Field(
        ("dpga", "aug-pe"), min_length=1, title="Methods", description=f"Methods compared: {', '.join(BUDGETED)}."
    )
    epsilons: Annotated[tuple[float, ...], AfterValidator(rising)] = Field(
        (1.0, 2.0, 4.0), min_length=1, max_length=10, title="Epsilons", description="ε of the runs, each at its own δ."
    )
    endless: bool = Field(
        True, title="Without noise",
        description="Also without any noise (ε = ∞), for methods that offer it: an internal reference, never a claim.",
    )  # fmt: skip
    public: bool = Field(
        True, title="Public text", description="Also the same prompts without any private text (ε = 0): the floor."
    )
    settings: str = Field(
        "", max_length=4000, title="Settings",
        description="Further parameters as name=value, separated by commas; each goes to the methods that have it.",
    )  # fmt: skip
