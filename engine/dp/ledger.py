"""What a population's ledger means: its limit, what runs have claimed of it, and what may still be claimed.

Pure functions of public quantities; storing lines is someone else's work (`LedgerStore`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from engine.dp.events import Event

DEFAULT_EPSILON = 10.0
RunState = Literal["reserved", "spent", "given_back"]


@dataclass(frozen=True)
class Limit:
    """The most a population may ever spend: ε >= 0 at δ."""

    epsilon: float
    delta: float


@dataclass(frozen=True)
class LedgerRun:
    """One `dp` run: what it reserved (or spent, once settled), and under which non-adaptive claim.

    drawn: mechanism outputs drawn so far. whole: admitted by the first-run rule, so that nothing else fits.
    """

    run_id: str
    events: tuple[Event, ...]
    state: RunState
    drawn: int
    epsilon: float = 0.0
    delta: float = 0.0
    whole: bool = False


@dataclass(frozen=True)
class LedgerState:
    """A population's limit, the fixed Rényi order its runs are added up at, and its runs."""

    limit: Limit
    order: int
    runs: tuple[LedgerRun, ...] = ()


@dataclass(frozen=True)
class Admission:
    """Whether a run fits: `whole` where only the first-run rule lets it in; shares are of the limit, 0..1."""

    allowed: bool
    whole: bool
    sentence: str
    share_before: float
    share_after: float
    remaining_before: float
    remaining_after: float

    def as_dict(self) -> dict[str, Any]:
        """Return a JSON-ready mapping."""
        raise NotImplementedError


class LedgerStore(Protocol):
    """Keeps lines for good, one immediate write transaction at a time."""

    def state(self, population: str) -> LedgerState:
        """Return what the lines of a population amount to."""
        ...

    def reserve(self, population: str, run_id: str, events: Sequence[Event], claim: Limit) -> Admission:
        """Admit a run and write its line in one transaction; raise RefusedError past the limit."""
        ...


def default_limit(units: int) -> Limit:
    """Return ε = 10 at δ = 1/(N ln N) for the units of a population's first corpus."""
    raise NotImplementedError


def new_state(limit: Limit) -> LedgerState:
    """Return an empty ledger with the Rényi order that suits its limit."""
    raise NotImplementedError


def admit(state: LedgerState, events: Sequence[Event], epsilon: float, delta: float) -> Admission:
    """Decide whether a run with these events and this non-adaptive claim (ε, δ) may be reserved."""
    raise NotImplementedError


what_if = admit


def share_used(state: LedgerState) -> float:
    """Return the part of the limit that is reserved or spent, 0..1."""
    raise NotImplementedError


def remaining(state: LedgerState) -> float:
    """Return the ε that a further run may claim at the limit's δ (a Gaussian that fills what is left), 0 where none."""
    raise NotImplementedError


def spent_events(state: LedgerState) -> tuple[Event, ...]:
    """Return the events of all runs that were not given back."""
    raise NotImplementedError


def change_limit(state: LedgerState, limit: Limit) -> tuple[LedgerState, str]:
    """Return the ledger under a new limit, and the sentence its line carries."""
    raise NotImplementedError


def merge(states: Mapping[str, LedgerState] | Sequence[LedgerState]) -> LedgerState:
    """Return the ledger of merged populations: spends add up, the smaller limit holds."""
    raise NotImplementedError
