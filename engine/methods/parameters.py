"""Parameters that methods of several families share: readable outputs, a list of labels, writing, a budget."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

Choice = Literal["drop", "flag"]

HELP = (
    "A text that says nothing (it repeats itself, or many of its words are none): drop it, or keep and count it. The "
    "rules are public; words are judged in English alone."
)


class ReadableParameters(BaseModel):
    """The choice, for methods that write new text."""

    unreadable: Choice = Field("drop", description=HELP)


class FlaggingParameters(ReadableParameters):
    """The choice, for methods that change original texts: what was unreadable before them stays unless asked."""

    unreadable: Choice = Field("flag", description=HELP)


class LabelListParameters(BaseModel):
    """Where the list of labels comes from, and whether δ may be large."""

    large_delta: bool = Field(
        False, description="Confirms a δ of 1/N or more, which allows publishing whole records at random."
    )

    label_list: Literal["declared", "bought"] = Field(
        "declared",
        description="The list of labels: the one declared public for the corpus (without one the outputs carry no "
        "labels), or bought with a part of the budget: labels that enough units share.",
    )
    list_share: float = Field(
        0.1,
        gt=0,
        lt=0.5,
        description="Share of the budget (in μ², or ρ) for the list of labels with their shares.",
    )


class WritingParameters(ReadableParameters):
    """How texts are written; public inputs all."""

    model_config = ConfigDict(extra="forbid")

    domain: Literal["auto", "clinical", "legal", "social", "reviews", "generic"] = Field(
        "auto", description="Kind of text, declared public; auto is general text, since private text is not looked at."
    )
    kind: str = Field(
        "", max_length=60, description="Kind of document in plain words, declared public, such as clinic letter."
    )
    words: int = Field(60, ge=5, le=400, description="Length asked for where none is bought (words).")
    temperature: float = Field(1.2, gt=0, le=2, description="Randomness of generation (Sun et al. 2025, appendix D.1).")
    top_p: float = Field(0.95, gt=0, le=1, description="Probability mass considered at each step.")


class BudgetParameters(LabelListParameters):
    """Budget and neighbourhood of a method with a formal guarantee."""

    epsilon: float = Field(4.0, gt=0, le=100, description="Privacy loss bound ε of the run's complete output.")
    delta: float | None = Field(
        None, gt=0, lt=1, description="δ, allowed on top of the factor e^ε; empty: 1 / (N ln N) for N units."
    )
    adjacency: Literal["zero-out", "replace-one"] = Field(
        "zero-out", description="Neighbouring corpora: a unit's data removed (N public), or replaced by another's."
    )
    labels: Literal["bought", "public"] = Field(
        "bought",
        description="Label shares: bought with a part of the budget, or declared public.",
    )


class PrivateParameters(BudgetParameters, WritingParameters):
    """Budget and neighbourhood of a method with a formal guarantee that writes."""
