"""Parameters of the three-stage filter, and its seven configurations by name.

Source: Mohammed 2025, "Privacy-Aware Synthetic Data Generation", Table 1. It counts six blocked words and does not
name them: the six here are ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import ConfigDict, Field, model_validator

from engine.methods.parameters import ReadableParameters
from engine.pii.content_type import ContentType

BLOCKED = ("password", "passport", "social security", "credit card", "account number", "date of birth")
ADAPTIVE: Mapping[ContentType, float] = {"technical": 0.95, "general": 0.90, "personal": 0.85}
_TABLE_1 = "Mohammed 2025, Table 1, All Filters"

_PLAIN = {"temperature": 0.8, "top_k": 50, "top_p": 0.95, "repetition_penalty": 1.0}
_OPEN = {**_PLAIN, "blocked": (), "block_identifiers": False}
_NO_PRE: dict[str, Any] = {"pre": "none"}
_PRE: dict[str, Any] = {"pre": "placeholders"}
_NO_POST: dict[str, Any] = {"post": "none", "reapply": False}
_POST: dict[str, Any] = {"post": "fixed", "threshold": 0.92, "reapply": True, "action": "redact"}
_IN = {**_PLAIN, "repetition_penalty": 1.2, "blocked": BLOCKED}
_STRICT_IN = {"temperature": 0.7, "top_k": 40, "top_p": 0.90, "repetition_penalty": 1.3, "blocked": BLOCKED}

Preset = Literal["baseline", "pre-only", "post-only", "pre-post", "all", "strict", "adaptive"]
PRESETS: Mapping[str, Mapping[str, Any]] = {
    "baseline": {**_NO_PRE, **_OPEN, **_NO_POST},
    "pre-only": {**_PRE, **_OPEN, **_NO_POST},
    "post-only": {**_NO_PRE, **_OPEN, **_POST},
    "pre-post": {**_PRE, **_OPEN, **_POST},
    "all": {**_PRE, **_IN, **_POST},
    "strict": {**_PRE, **_STRICT_IN, **_POST, "threshold": 0.85},
    "adaptive": {**_PRE, **_IN, **_POST, "post": "adaptive"},
}
PRESET_TITLES: Mapping[str, str] = {
    "baseline": "Baseline", "pre-only": "Pre-only", "post-only": "Post-only", "pre-post": "Pre + Post",
    "all": "All Filters", "strict": "All Filters (Strict)", "adaptive": "Adaptive",
}  # fmt: skip


class FilterParameters(ReadableParameters):
    """Settings of the three stages. `preset` fills in whatever is not named beside it."""

    model_config = ConfigDict(extra="forbid")

    preset: Literal[Preset, "custom"] = Field(
        "custom",
        description="One of the seven configurations of Mohammed 2025, Table 1; it sets what is not set by hand. "
        "Custom: the settings below as they are.",
    )
    operator: Literal["rephrase", "expand", "abstract"] = Field(
        "expand",
        description="How the model is asked: from an outline of the record (expand), to reword it (rephrase) "
        "or to summarise it (abstract; as in the paper's evaluation).",
    )
    domain: Literal["auto", "clinical", "legal", "social", "reviews", "generic"] = Field(
        "auto", description="Kind of text; auto guesses it from everyday vocabulary."
    )
    pre: Literal["placeholders", "surrogates", "none"] = Field(
        "placeholders",
        description="Before generation: typed placeholders instead of identifiers, invented values of the same "
        "type instead (surrogates), or nothing.",
    )
    flag_unknown: Literal["off", "count", "redact"] = Field(
        "off",
        description="Sequences that look like identifiers, stand in one unit alone and were not found: leave them, "
        "count them, or redact them before generation.",
    )
    temperature: float = Field(0.8, gt=0, le=2, description=f"Randomness of generation ({_TABLE_1}).")
    top_k: int = Field(50, ge=1, le=1000, description=f"Tokens considered at each step ({_TABLE_1}).")
    top_p: float = Field(0.95, gt=0, le=1, description=f"Probability mass considered at each step ({_TABLE_1}).")
    repetition_penalty: float = Field(1.2, ge=1, le=2, description=f"Penalty on tokens already used ({_TABLE_1}).")
    blocked: tuple[str, ...] = Field((), description="Words or phrases that must never be generated.")
    block_identifiers: bool = Field(
        True, description="Keep the record's own direct identifiers from being generated; goes beyond the paper."
    )
    sensitive: tuple[str, ...] = Field(
        (), description="Phrases that nothing in the output may come near to, besides the direct identifiers."
    )
    post: Literal["fixed", "adaptive", "none"] = Field(
        "fixed",
        description="After generation: one similarity threshold, one that depends on whether the text is technical "
        "(0.95), general (0.90) or personal (0.85), or no comparison.",
    )
    threshold: float = Field(
        0.92,
        gt=0,
        le=1,
        description=f"Similarity from which words count as a known value, or a sentence as a known one ({_TABLE_1}).",
    )
    action: Literal["redact", "drop"] = Field(
        "redact",
        description="What happens to words too near a known value, or to a sentence too near a known one: redact just "
        f"these words or this sentence, or drop the output ({_TABLE_1}).",
    )
    reapply: bool = Field(True, description=f"Detect identifiers in the output again and replace them ({_TABLE_1}).")
    minimum_score: float = Field(
        0.5, ge=0, le=1, description="Lowest detection score the second and the last detection pass act on."
    )

    @model_validator(mode="before")
    @classmethod
    def _filled(cls, values: object) -> object:
        if not isinstance(values, Mapping) or values.get("preset") not in PRESETS:
            return values
        return {**PRESETS[values["preset"]], **values}
