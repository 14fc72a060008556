"""Parameters of the comparison of two settings over repeats."""

from __future__ import annotations

from pydantic import Field

from engine.studies.bench.parameters import SizedParameters


class RepeatsParameters(SizedParameters):
    """The two settings."""

    first: str = Field("dpga", title="First method", description="The method that is weighed.")
    first_settings: str = Field(
        "", max_length=4000, title="Its settings", description="Its parameters as name=value, separated by commas."
    )
    second: str = Field(
        "aug-pe", title="Second method", description="What it is held against; the same method with other settings too."
    )
    second_settings: str = Field(
        "", max_length=4000, title="Settings of the second", description="Its parameters, written the same way."
    )
    noiseless: bool = Field(
        False, title="Without noise",
        description="Run both without noise (ε = ∞) where they offer it: an internal reference, never a claim.",
    )  # fmt: skip
