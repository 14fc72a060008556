"""What a mechanism did, as data: the events that accounting composes and the ledger keeps.

An event says which noise was added, how often, at which sensitivity and sampling, for which unit and
adjacency. It holds public quantities only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, get_args

from engine.errors import InternalError

EventType = Literal["gaussian", "laplace", "pure", "zcdp", "declared", "selection"]
Unit = Literal["record", "source"]
Adjacency = Literal["zero-out", "replace-one"]


@dataclass(frozen=True)
class Event:
    """One mechanism, or `count` equal ones of a schedule fixed beforehand.

    Args:
        type: `gaussian` (Poisson-sampled where `sampling_probability` < 1), `laplace`, `pure` (any pure-ε
            mechanism: sparse vector, exponential), `zcdp`, `declared` (opened without noise because it was
            declared public; costs nothing), `selection` (choice among given candidates; no end-to-end claim).
        what: the statistic, such as `votes` or `label histogram`.
        noise_multiplier: standard deviation over sensitivity, > 0 (`gaussian`).
        epsilon: sensitivity over scale, or the pure loss, > 0 (`laplace`, `pure`, `selection`).
        rho: zero-concentrated loss, > 0 (`zcdp`).
        delta: additive failure probability of one event, in [0, 1).
        sampling_probability: chance that a unit takes part, in (0, 1].
        count: how often, >= 1.
        sensitivity: what one unit can change, in the statistic's own norm and unit.
        unit: whom it protects.
        adjacency: neighbouring relation.
    """

    type: EventType
    what: str
    noise_multiplier: float | None = None
    epsilon: float | None = None
    rho: float | None = None
    delta: float = 0.0
    sampling_probability: float = 1.0
    count: int = 1
    sensitivity: float = 1.0
    unit: str = "record"
    adjacency: str = "zero-out"

    def __post_init__(self) -> None:
        needed = {"gaussian": "noise_multiplier", "laplace": "epsilon", "pure": "epsilon", "zcdp": "rho"}
        if self.type not in get_args(EventType):
            raise InternalError(f"event type {self.type!r} does not exist")
        name = needed.get(self.type)
        if name is not None and not (getattr(self, name) or 0.0) > 0.0:
            raise InternalError(f"event {self.type!r} needs {name} > 0, has {getattr(self, name)}")
        if not 0.0 < self.sampling_probability <= 1.0 or self.count < 1 or not 0.0 <= self.delta < 1.0:
            raise InternalError(f"event {self.type!r} has a sampling probability, count or delta out of range")

    def as_dict(self) -> dict[str, Any]:
        """Return a JSON-ready mapping without the fields that do not apply."""
        return {k: v for k, v in asdict(self).items() if v is not None}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Event:
        """Return the event of a mapping that `as_dict` made."""
        known = {field.name for field in fields(cls)}
        return cls(**{k: v for k, v in values.items() if k in known})
