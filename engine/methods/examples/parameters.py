"""Parameters of the methods with examples, with control codes and without."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict, Field

from engine.methods.parameters import ReadableParameters


class ExampleParameters(ReadableParameters):
    """How texts are written from private ones."""

    model_config = ConfigDict(extra="forbid")

    domain: Literal["auto", "clinical", "legal", "social", "reviews", "generic"] = Field(
        "auto", description="Kind of text; auto guesses it from everyday words of the records."
    )
    max_new_tokens: int = Field(400, ge=8, le=2000, description="Longest output in tokens (section 3.2).")
    minimum_tokens: int | None = Field(
        None, ge=0, le=1000, description="A shorter output is tried again; empty: 100 tokens, fewer for short records."
    )
    words: int | None = Field(
        None, ge=5, le=1000, description="Length asked for in words; empty: the records' median, at most 200."
    )
    temperature: float = Field(0.7, gt=0, le=2, description="Randomness of generation (section 3.2).")
    top_p: float = Field(0.9, gt=0, le=1, description="Probability mass considered at each step (section 3.2).")
    retries: int = Field(
        5, ge=0, le=50, description="How often an unusable output is written again before its place goes to another."
    )
    paragraphs: int = Field(6, ge=1, le=100, description="Paragraphs of a passage; long records are cut (section 3.1).")
    parts: int = Field(2, ge=1, le=20, description="Passages taken of a record, from its start (section 3.1).")


class CodeParameters(ExampleParameters):
    """Which identifiers make up a control code."""

    identifiers: Literal["direct", "quasi", "both"] = Field(
        "direct", description="Which accepted spans count as private: direct identifiers, quasi-identifiers, or both."
    )
    values_a_type: int = Field(
        3, ge=1, le=20, description="Fictional values of a type at most, so that a code does not tell a crowd."
    )


class IclParameters(ExampleParameters):
    """Settings of generation from examples."""

    examples: int = Field(3, ge=1, le=10, description="Records shown to the model for each output (section 2.2).")


class ControlIclParameters(CodeParameters):
    """Settings of generation from examples and control codes."""

    examples: int = Field(3, ge=1, le=10, description="Records shown to the model for each output (section 2.2).")
