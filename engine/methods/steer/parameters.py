"""Parameters of dp-steer."""

from __future__ import annotations

from pydantic import Field

from engine.methods.parameters import PrivateParameters


class DpSteerParameters(PrivateParameters):
    """Budget, what is read of texts, how far the model is moved, and writing."""

    temperature: float = Field(0.9, gt=0, le=2, description="Randomness of generation.")
    public_texts: int = Field(
        100, ge=8, le=2000,
        description="Texts that the model writes first without private input; private ones are compared with them.",
    )  # fmt: skip
    tokens: int = Field(128, ge=8, le=2000, description="Tokens of a text that are read; the rest is cut.")
    depth: float = Field(
        0.6, gt=0, le=1, description="How deep in the model it is moved, as a share of its layers: public."
    )
    layers: int = Field(
        1, ge=1, le=8, description="Layers that are read and moved, this many in a row around that depth."
    )
    clip: float = Field(
        1.0, gt=0, le=100,
        description="Longest difference of a unit, in lengths that are usual among the public texts; longer ones are "
        "cut to it.",
    )  # fmt: skip
    basis: int = Field(
        0, ge=0, le=64,
        description="Keep only this many directions a layer, those in which the public texts differ most: less noise, "
        "and nothing outside them is learned. 0 keeps all.",
    )  # fmt: skip
    strength: float = Field(
        1.0, ge=0, le=10, description="How far the model is moved, times the difference that was found."
    )
    expected: int | None = Field(
        None, ge=1, le=100_000_000,
        description="Number of units that the sum is divided by, declared public; empty: N.",
    )  # fmt: skip
    label_share: float = Field(
        0.1, gt=0, lt=0.5,
        description="Share of a unit's squared length that its labels have in the sum, where label shares are bought.",
    )  # fmt: skip
