"""Parameters of the ablation of DPGA-TextSyn."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from pydantic import AfterValidator, Field

from engine.studies.bench.parameters import Measures, SizedParameters

Part = Literal["length", "keywords", "suppression", "as printed"]
PARTS: tuple[Part, ...] = get_args(Part)


def _shares(values: tuple[float, ...]) -> tuple[float, ...]:
    if any(not 0.0 < value <= 1.0 for value in values):
        raise ValueError("each value must lie above 0 and be at most 1")
    return tuple(sorted(set(values)))


Shares = Annotated[tuple[float, ...], AfterValidator(_shares)]


class EvolutionAblationParameters(SizedParameters):
    """What is changed, one thing at a time."""

    measures: Measures = Field(
        ("next_word", "kid", "js_2gram", "length_distance", "alike"), min_length=1, title="Measures",
        description="What is measured of each run's output, as in the other studies; the paper has next_word alone.",
    )  # fmt: skip
    each_round: Measures = Field(
        ("kid", "alike"), title="Measures each round",
        description="What is measured of the population of every round: cheap measures, for there are many.",
    )  # fmt: skip
    rounds: int = Field(
        3, ge=1, le=20, title="Rounds",
        description="T of every run. What fewer rounds give is read from the rounds of the same runs.",
    )  # fmt: skip
    without: tuple[Part, ...] = Field(
        ("length", "keywords", "suppression"), title="Left out",
        description="Parts left out in turn (Table 3); as printed: suppression by the paper's own rule instead.",
    )  # fmt: skip
    taus: Shares = Field(
        (), max_length=8, title="Thresholds", description="Public thresholds τ tried in turn (Figure 6), such as 0.6."
    )
    rates: Shares = Field(
        (), max_length=8, title="Sampling rates", description="Sampling rates q tried in turn (Figure 7), such as 1.0."
    )
    epsilon: float = Field(4.0, gt=0, le=100, title="Epsilon", description="ε of every run.")
    noiseless: bool = Field(
        False, title="Without noise", description="Run without any noise instead (ε = ∞): an internal reference."
    )
    settings: str = Field(
        "", max_length=4000, title="Settings",
        description="Further parameters of dpga as name=value, separated by commas, the same for every run.",
    )  # fmt: skip
