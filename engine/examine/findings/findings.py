"""Findings: one number, with its measure, direction, interval and reference."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from engine.json_types import JSON

Reference = Literal["train", "holdout", "baseline", "real", "unrelated", "none"]
Direction = Literal["lower is safer", "higher is better", "lower is better", "closer to real is better"]
CLOSER: Direction = "closer to real is better"
Group = Literal["privacy", "utility"]
UNSHARED = ("train_unshared", "holdout_unshared")
"""Settings of an excess: the two shares whose difference it is, without what many people share; each with its n."""


@dataclass(frozen=True)
class Finding:
    """One row a (name, reference).

    Args:
        name: stable identifier such as `verbatim_8gram`.
        value: the number, or NaN where it is not estimable (then `settings["why"]` says why).
        low, high: ends of the 95% interval, or None where none is defined.
        n: how many items the number rests on.
        reference: what the synthetic text was held against.
        measure: what is measured, in words, with its unit.
        direction: which way is good.
        group: `privacy` or `utility`.
        settings: JSON-ready settings the number depends on, including `method` of the interval
            and `source` (author, year, section).
    """

    name: str
    value: float
    low: float | None
    high: float | None
    n: int
    reference: Reference
    measure: str
    direction: Direction
    group: Group
    settings: dict[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, JSON]:
        """Return a JSON-ready mapping."""
        return asdict(self)
