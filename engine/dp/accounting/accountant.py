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

__all__ = [
    "Account",
    "Accountant",
    "AccountingPending",
    "CachedAccountant",
    "Calibration",
    "Curve",
    "ExactAccountant",
    "answer_request",
    "request_of",
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

    def __init__(self, lookup: Callable[[dict[str, Any]], dict[str, Any] | None]) -> None:
        self._lookup = lookup

    def calibrate(self, fixed: Sequence[Event], free: Sequence[Event], epsilon: float, delta: float) -> Calibration:
        """Return the least noise of the free events that keeps the whole schedule within (ε, δ).

        Raises:
            AccountingPending: neither a formula nor an earlier answer is at hand.
        """
        closed = exact.closed_calibration(fixed, free, epsilon, delta)
        if closed is not None:
            return closed
        request = request_of("calibrate", fixed=fixed, free=free, epsilon=epsilon, delta=delta)
        return Calibration.from_dict(self._ask(request))

    def account(self, events: Sequence[Event], delta: float, group: int = 1) -> Account:
        """Return what the events cost at δ.

        Raises:
            AccountingPending: neither a formula nor an earlier answer is at hand.
        """
        if closed_form.gaussian_mu(events, group) is not None:
            return exact.account(events, delta, group)
        return Account(**self._ask(request_of("account", events=events, delta=delta, group=group)))

    def curve(self, events: Sequence[Event], epsilons: Sequence[float], group: int = 1) -> Curve:
        """Return both δs at each ε.

        Raises:
            AccountingPending: neither a formula nor an earlier answer is at hand.
        """
        mu = closed_form.gaussian_mu(events, group)
        if mu is not None:
            return exact.gaussian_curve(mu, [float(value) for value in epsilons])
        answer = self._ask(request_of("curve", events=events, epsilons=epsilons, group=group))
        return Curve(**{name: tuple(values) for name, values in answer.items()})

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        answer = self._lookup(request)
        if answer is None:
            raise AccountingPending(request)
        return answer


_EVENT_LISTS = ("events", "fixed", "free")


def request_of(question: str, **values: Any) -> dict[str, Any]:
    """Return a question to an accountant as JSON-ready public parameters.

    Args:
        question: `calibrate` (fixed, free, epsilon, delta), `account` (events, delta, group) or `curve`
            (events, epsilons, group). values: that method's arguments.
    """
    request: dict[str, Any] = {"question": question}
    for name, value in sorted(values.items()):
        if name in _EVENT_LISTS:
            request[name] = [event.as_dict() for event in value]
        else:
            request[name] = [float(x) for x in value] if name == "epsilons" else value
    return request


def answer_request(request: Mapping[str, Any]) -> dict[str, Any]:
    """Answer a request exactly; the answer is JSON-ready and what `CachedAccountant` looks up."""
    values = {name: value for name, value in request.items() if name != "question"}
    for name in _EVENT_LISTS:
        if name in values:
            values[name] = [Event.from_dict(event) for event in values[name]]
    if request.get("question") not in ("calibrate", "account", "curve"):
        raise InternalError(f"question {request.get('question')!r} to the accountant does not exist")
    answer: Calibration | Account | Curve = getattr(ExactAccountant(), request["question"])(**values)
    return answer.as_dict()
