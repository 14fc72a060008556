"""Turn events into (ε, δ): the accountants that methods and the ledger ask."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from engine.dp.events import Event


class AccountingPending(Exception):
    """There is no answer at once. `request` holds public parameters, to be answered elsewhere."""

    def __init__(self, request: Mapping[str, Any]) -> None:
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


@dataclass(frozen=True)
class Account:
    """What a schedule costs at δ: ε upper and lower numerical bounds, RDP cross-check, strict ε."""

    epsilon: float
    epsilon_low: float
    rdp_epsilon: float
    delta: float
    strict_epsilon: float
    closed: bool


class Accountant(Protocol):
    """Composes events of one run, a schedule fixed beforehand."""

    def calibrate(self, fixed: Sequence[Event], free: Sequence[Event], epsilon: float, delta: float) -> Calibration:
        """Return the least noise of the free events that keeps the whole schedule within (ε, δ)."""
        ...

    def account(self, events: Sequence[Event], delta: float) -> Account:
        """Return what the events cost at δ."""
        ...


def request_of(question: str, **values: Any) -> dict[str, Any]:
    """Return a question to an accountant as JSON-ready public parameters."""
    raise NotImplementedError


def answer_request(request: Mapping[str, Any]) -> dict[str, Any]:
    """Answer a request exactly; the answer is JSON-ready."""
    raise NotImplementedError
