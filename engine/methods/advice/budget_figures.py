"""What a budget buys, as the Plan page shows it before any private text is looked at: the question and the answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NotRequired, TypedDict

from engine.json_types import JSON


class PublicFacts(TypedDict):
    """The public quantities of `engine.methods.base.Facts`, by name."""

    records: int
    units: int
    unit: str
    cap: int
    labels: int
    mean_characters: float
    sources_named: bool


class Question(TypedDict):
    """A run as it is planned: public quantities alone. `noise`: a statistic's levels; `count`: the outputs wanted."""

    method: str
    parameters: dict[str, JSON]
    facts: PublicFacts
    noise: Mapping[str, Mapping[str, float]]
    epsilon: float
    delta: float
    count: NotRequired[int]


class Answer(TypedDict):
    """Lines of figure, value and reference, and advice in sentences."""

    rows: list[dict[str, str]]
    advice: list[str]


def row(figure: str, value: str, reference: str) -> dict[str, str]:
    """Return a line of what a budget buys."""
    return {"figure": figure, "value": value, "reference": reference}
