"""Turn events into (ε, δ): the accountants that methods and the ledger ask.

`ExactAccountant` computes, which may take seconds. `CachedAccountant` answers where a formula holds or where it knows
what was answered before, and raises `AccountingPending` otherwise. A request that is pending is JSON with public
parameters only; `answer_request` computes it in another process.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from engine.dp.accounting import closed_form, exact
from engine.dp.accounting.accounts import Account, Accountant, AccountingPending, Calibration, Curve
from engine.dp.events import Event
from engine.errors import InternalError
from engine.json_types import JSON

__all__ = [
    "Account",
    "Accountant",
    "AccountingPending",
    "CachedAccountant",
    "Calibration",
    "Curve",
    "ExactAccountant",
    "answer_request",
]


class ExactAccountant:
    """Computes every answer: closed form where it holds, else loss distributions."""

    def calibrate(self, fixed: Sequence[Event], free: Sequence[Event], epsilon: float, delta: float) -> Calibration:
        """Return the least noise of the free events that keeps the whole schedule within (ε, δ)."""
        return exact.calibrate(fixed, free, epsilon, delta)

    def account(self, events: Sequence[Event], delta: float, group: int = 1) -> Account:
        """Return what the events cost at δ, for a group of units that change at once."""
        return exact.account(events, delta, group)

    def curve(self, events: Sequence[Event], epsilons: Sequence[float], group: int = 1) -> Curve:
        """Return both δs at each ε."""
        return exact.curve(events, epsilons, group)


class CachedAccountant:
    """Answers by formula, else by what `lookup` knows, else not at once.

    Args:
        lookup: a request to its answer, as `answer_request` gave it, or None.
    """

    def __init__(self, lookup: Callable[[dict[str, JSON]], dict[str, JSON] | None]) -> None:
        self._lookup = lookup

    def calibrate(self, fixed: Sequence[Event], free: Sequence[Event], epsilon: float, delta: float) -> Calibration:
        """Return the least noise of the free events that keeps the whole schedule within (ε, δ).

        Raises:
            AccountingPending: neither a formula nor an earlier answer is at hand.
        """
        closed = exact.closed_calibration(fixed, free, epsilon, delta)
        if closed is not None:
            return closed
        schedules = {"fixed": fixed, "free": free}
        request = _request("calibrate", schedules, {"epsilon": epsilon, "delta": delta})
        return Calibration.from_dict(self._ask(request))

    def account(self, events: Sequence[Event], delta: float, group: int = 1) -> Account:
        """Return what the events cost at δ.

        Raises:
            AccountingPending: neither a formula nor an earlier answer is at hand.
        """
        if closed_form.gaussian_mu(events, group) is not None:
            return exact.account(events, delta, group)
        return Account.from_dict(self._ask(_request("account", {"events": events}, {"delta": delta, "group": group})))

    def curve(self, events: Sequence[Event], epsilons: Sequence[float], group: int = 1) -> Curve:
        """Return both δs at each ε.

        Raises:
            AccountingPending: neither a formula nor an earlier answer is at hand.
        """
        mu = closed_form.gaussian_mu(events, group)
        if mu is not None:
            return exact.gaussian_curve(mu, [float(value) for value in epsilons])
        asked: dict[str, JSON] = {"epsilons": [float(value) for value in epsilons], "group": group}
        return Curve.from_dict(self._ask(_request("curve", {"events": events}, asked)))

    def _ask(self, request: dict[str, JSON]) -> dict[str, JSON]:
        answer = self._lookup(request)
        if answer is None:
            raise AccountingPending(request)
        return answer


_EVENT_LISTS = ("events", "fixed", "free")


def _request(question: str, schedules: Mapping[str, Sequence[Event]], values: dict[str, JSON]) -> dict[str, JSON]:
    """Return a question to an accountant: the name of its method, and that method's arguments as public parameters."""
    listed: dict[str, JSON] = {name: [event.as_dict() for event in events] for name, events in schedules.items()}
    return {"question": question, **listed, **values}


def answer_request(request: dict[str, JSON]) -> dict[str, JSON]:
    """Answer a request exactly; the answer is JSON-ready and what `CachedAccountant` looks up."""
    values: dict[str, Any] = {name: value for name, value in request.items() if name != "question"}
    for name in _EVENT_LISTS:
        if name in values:
            values[name] = [Event.from_dict(event) for event in values[name]]
    question = request.get("question")
    if question not in ("calibrate", "account", "curve"):
        raise InternalError(f"question {question!r} to the accountant does not exist")
    answer: Calibration | Account | Curve = getattr(ExactAccountant(), str(question))(**values)
    return answer.as_dict()
