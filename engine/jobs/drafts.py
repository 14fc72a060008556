"""What planning answers: what a run would do, cost and promise, and what its budget buys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.methods.advice.verdict import UNKNOWN, SignalVerdict

if TYPE_CHECKING:
    from engine.dp.guarantee import Guarantee
    from engine.dp.ledger import Admission
    from engine.json_types import JSON
    from engine.methods.base import Plan


@dataclass(frozen=True)
class Draft:
    """What a run would cost and promise.

    blockers: sentences; while there is one, a run is refused. what_if: the budget before and after, None without a
    formal claim and while that is pending. advice: what the budget can buy, in sentences. verdict: in one
    line.
    """

    plan: Plan
    guarantee: Guarantee
    blockers: Sequence[str]
    warnings: Sequence[str]
    what_if: Admission | None
    advice: Sequence[str] = ()
    verdict: SignalVerdict = UNKNOWN


@dataclass(frozen=True)
class Copies:
    """What a run would do with records in which nothing was found.

    copied: such records that are copied as they are; accepted: how many a person has accepted. refused: why it may
    not; sentence: for the plan, empty where no record is concerned.
    """

    copied: int = 0
    accepted: int = 0
    refused: str | None = None
    sentence: str = ""


@dataclass(frozen=True)
class BudgetCurve:
    """δ of a claim at each ε: the standard one, and the strict one (Pr[privacy loss > ε] of the noise itself).

    Lists are empty while `pending` and where there is no formal claim. delta, epsilon: of the claim.
    A claim that counts earlier runs has its one point, (epsilon, delta), in `standard`, and nothing in `strict`.
    """

    pending: bool
    epsilons: Sequence[float]
    standard: Sequence[float]
    strict: Sequence[float]
    delta: float | None
    epsilon: float | None


@dataclass(frozen=True)
class Buys:
    """What a budget buys on public text of a corpus' size: rows as they are shown, and advice where it buys nothing."""

    pending: bool
    rows: Sequence[Mapping[str, JSON]] = ()
    advice: Sequence[str] = ()
