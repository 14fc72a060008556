"""What a mechanism did, as data: the events that accounting composes and the ledger keeps.

An event says which noise was added, how often, at which sensitivity and sampling, for which unit and
adjacency. It holds public quantities only.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, Required, TypedDict, get_args

from engine.errors import InternalError, UserError
from engine.json_types import JSON

EventType = Literal["gaussian", "laplace", "pure", "zcdp", "declared", "selection", "parallel"]
Unit = Literal["record", "source"]
Adjacency = Literal["zero-out", "replace-one"]
Geometry = Literal["counts", "vectors"]
FREE = ("declared", "selection", "parallel")


class Whom(TypedDict):
    """Whom an event protects, and against which neighbours: as `Event` takes it."""

    unit: str
    adjacency: str


class WhomHowMuch(Whom):
    """Whom an event protects, and what one of them can change."""

    sensitivity: float


class Noise(WhomHowMuch, total=False):
    """An event's noise beside that: Gaussian by its multiplier, Laplace by its pure loss."""

    type: Required[EventType]
    noise_multiplier: float | None
    epsilon: float | None


@dataclass(frozen=True)
class Event:
    """One mechanism, or `count` equal ones of a schedule fixed beforehand.

    Args:
        type: `gaussian` (Poisson-sampled where `sampling_probability` < 1), `laplace`, `pure` (any pure-ε
            mechanism: sparse vector, exponential), `zcdp`, `declared` (opened without noise because it was
            declared public; costs nothing), `selection` (choice among given candidates; no end-to-end claim),
            `parallel` (the same mechanism on units that no other part reads; paid by the first part's event).
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
        geometry: what one unit adds to the statistic. `counts`: non-negative entries (votes, histograms), so
            two units' contributions are at worst orthogonal; `vectors`: any direction (gradients), at worst
            opposed. It matters under replace-one only, where `sensitivity` is √2 (counts) or 2 (vectors) times
            one unit's norm.
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
    geometry: str = "counts"

    def __post_init__(self) -> None:
        needed = {"gaussian": "noise_multiplier", "laplace": "epsilon", "pure": "epsilon", "zcdp": "rho"}
        if self.type not in get_args(EventType):
            raise InternalError(f"event type {self.type!r} does not exist")
        name = needed.get(self.type)
        if name is not None and not (getattr(self, name) or 0.0) > 0.0:
            raise InternalError(f"event {self.type!r} needs {name} > 0, has {getattr(self, name)}")
        if not 0.0 < self.sampling_probability <= 1.0 or self.count < 1 or not 0.0 <= self.delta < 1.0:
            raise InternalError(f"event {self.type!r} has a sampling probability, count or delta out of range")
        if self.adjacency not in get_args(Adjacency) or self.geometry not in get_args(Geometry):
            raise InternalError(f"event {self.type!r}: adjacency or geometry {self.adjacency!r} does not exist")

    def as_dict(self) -> dict[str, JSON]:
        """Return a JSON-ready mapping without the fields that do not apply."""
        return {k: v for k, v in asdict(self).items() if v is not None}

    @classmethod
    def from_dict(cls, values: Mapping[str, JSON]) -> Event:
        """Return the event of a mapping that `as_dict` made."""
        known = {field.name for field in fields(cls)}
        kept: dict[str, Any] = {k: v for k, v in values.items() if k in known}  # the class checks what it is given
        return cls(**kept)


def acting(events: Iterable[Event]) -> list[Event]:
    """Return the events that cost something: all but declared inputs, selections and parts paid by another."""
    return [event for event in events if event.type not in FREE]


def group_factor(group: int) -> int:
    """Return how many units change at once.

    Raises:
        UserError: below one.
    """
    if group < 1:
        raise UserError(f"group: must be at least 1, got {group}")
    return group


def count_sensitivity(cap: int = 1, adjacency: str = "zero-out", norm: str = "l2") -> float:
    """Return what one unit can change in votes or a histogram, all its records in one bin.

    Args:
        cap: records a unit contributes at most, >= 1 (1 where the unit is the record).
        adjacency: `zero-out` (a unit's records vanish) or `replace-one` (they move from one bin to another).
        norm: `l2` (Gaussian noise) or `l1` (Laplace noise).
    """
    if adjacency == "zero-out":
        return float(cap)
    return cap * (math.sqrt(2.0) if norm == "l2" else 2.0)


def vector_sensitivity(length: float, adjacency: str = "zero-out") -> float:
    """Return what one unit can change in a sum of vectors of at most this length, in L2 norm; twice it if replaced."""
    return length if adjacency == "zero-out" else 2.0 * length


def mean_sensitivity(units: int) -> float:
    """Return what one unit can change in the mean similarity over all pairs of N units: 2/N.

    Each pair's value lies in [0, 1] and a unit is in N − 1 of N (N − 1)/2 pairs, whatever the adjacency.
    """
    return 2.0 / max(units, 2)
