"""What δ means beside the number of units: a δ of 1/N lets a mechanism publish somebody's whole record.

A mechanism that publishes each unit's data as they are with probability δ, and nothing else, is (0, δ)-differentially
private (Dwork and Roth 2014, section 2.3: values of δ on the order of 1/N are very dangerous).
"""

from __future__ import annotations

from engine.errors import UserError


def check_against_units(delta: float, units: int, confirmed: bool) -> float:
    """Return δ where it is below 1/N, or larger ones are confirmed.

    Raises:
        UserError: it is not; `delta` is named.
    """
    if delta * units >= 1.0 and not confirmed:
        raise UserError(
            f"delta: {delta:.3g} is 1/N or more (N = {units:,}). Publishing whole records at random, "
            f"{delta * units:.3g} of them on average, would satisfy it. Choose a δ well below {1.0 / units:.3g}, or "
            "confirm that a large δ is meant (large_delta)"
        )
    return delta


def warning(delta: float, units: int, unit: str) -> str:
    """Return one sentence where δ is above a tenth of 1/N, else an empty string."""
    if delta * units <= 0.1:
        return ""
    return (
        f"δ = {delta:.3g} is more than a tenth of 1/N: by δ alone, publishing the whole data of {delta * units:.2g} "
        f"{unit}s on average, drawn at random, would be allowed. This run does no such thing, but a smaller δ says so."
    )
