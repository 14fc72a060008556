"""Answers of accounting as data, and what may be asked of an accountant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Protocol

from engine.dp.events import Event
from engine.json_types import JSON


class AccountingPending(Exception):
    """There is no answer at once. `request` holds public parameters, to be answered elsewhere."""

    def __init__(self, request: Mapping[str, JSON]) -> None:
        super().__init__("accounting is pending")
        self.request = dict(request)


@dataclass(frozen=True)
class Calibration:
    """A schedule with its noise fixed: `scale` multiplies the free events' noise multipliers."""

    scale: float
    events: tuple[Event, ...]
    epsilon: float
    epsilon_low: float
    rdp_epsilon: float
    delta: float

    def as_dict(self) -> dict[str, JSON]:
        """Return a JSON-ready mapping."""
        return {**asdict(self), "events": [event.as_dict() for event in self.events]}

    @classmethod
    def from_dict(cls, values: Mapping[str, JSON]) -> Calibration:
        """Return the calibration of a mapping that `as_dict` made."""
        stored: dict[str, Any] = dict(values)
        return cls(**{**stored, "events": tuple(Event.from_dict(event) for event in stored["events"])})


@dataclass(frozen=True)
class Account:
    """What a schedule costs at δ: ε upper and lower numerical bounds, RDP cross-check, strict ε.

    closed: by formula, without a numerical band. group: how many units the answer protects at once.
    """

    epsilon: float
    epsilon_low: float
    rdp_epsilon: float
    delta: float
    strict_epsilon: float
    closed: bool
    group: int = 1

    def as_dict(self) -> dict[str, JSON]:
        """Return a JSON-ready mapping."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, JSON]) -> Account:
        """Return the account of a mapping that `as_dict` made."""
        stored: dict[str, Any] = dict(values)
        return cls(**stored)


@dataclass(frozen=True)
class Curve:
    """δ at each ε: standard (hockey-stick) and strict (Pr[loss > ε]), upper bounds."""

    epsilons: tuple[float, ...]
    standard: tuple[float, ...]
    strict: tuple[float, ...]

    def as_dict(self) -> dict[str, JSON]:
        """Return a JSON-ready mapping."""
        return {name: list(values) for name, values in asdict(self).items()}

    @classmethod
    def from_dict(cls, values: Mapping[str, JSON]) -> Curve:
        """Return the curve of a mapping that `as_dict` made."""
        stored: dict[str, Any] = dict(values)
        return cls(**{name: tuple(each) for name, each in stored.items()})


class Accountant(Protocol):
    """Composes events of one run, a schedule fixed beforehand."""

    def calibrate(self, fixed: Sequence[Event], free: Sequence[Event], epsilon: float, delta: float) -> Calibration:
        """Return the least noise of the free events that keeps the whole schedule within (ε, δ)."""
        ...

    def account(self, events: Sequence[Event], delta: float, group: int = 1) -> Account:
        """Return what the events cost at δ, for a group of units that change at once."""
        ...

    def curve(self, events: Sequence[Event], epsilons: Sequence[float], group: int = 1) -> Curve:
        """Return both δs at each ε."""
        ...


def scaled(event: Event, scale: float) -> Event:
    """Return an event with its noise multiplied."""
    if event.noise_multiplier is not None:
        return replace(event, noise_multiplier=event.noise_multiplier * scale)
    if event.rho is not None:
        return replace(event, rho=event.rho / scale**2)
    return replace(event, epsilon=None if event.epsilon is None else event.epsilon / scale)


def merged(events: Sequence[Event]) -> list[Event]:
    """Return equal mechanisms as one event with their counts added, in an order that depends on them alone.

    A schedule drawn output by output thus gets the very number that its plan got.
    """
    counts: dict[Event, int] = {}
    for event in events:
        bare = replace(event, what="", sensitivity=1.0, unit="record", count=1)
        if bare.sampling_probability == 1.0:
            bare = replace(bare, adjacency="zero-out", geometry="counts")
        counts[bare] = counts.get(bare, 0) + event.count
    return sorted((replace(event, count=count) for event, count in counts.items()), key=lambda e: repr(e.as_dict()))
