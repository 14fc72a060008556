"""A privacy filter: runs that a person chooses after seeing earlier ones still stay within one limit.

Rényi divergence bounds at one fixed order add up even where each run depends on the outputs of the runs
before it, as long as their sum never passes a bound fixed beforehand (Feldman and Zrnic 2021, Individual
Privacy Accounting via a Rényi Filter, theorem 4.3; Whitehouse, Ramdas, Rogers and Wu 2023). The bound turns
into (ε, δ) by Canonne, Kamath and Steinke 2020, proposition 12.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from engine.dp.accounting.closed_form import check_delta, epsilon
from engine.dp.accounting.rdp import ORDERS, added_delta, total_rdp
from engine.dp.events import Event
from engine.errors import UserError


def limit_rdp(limit_epsilon: float, limit_delta: float, order: int) -> float:
    """Return the Rényi divergence at an order that a limit (ε, δ) leaves room for; may be negative."""
    return limit_epsilon - math.log1p(-1.0 / order) + (math.log(limit_delta) + math.log(order)) / (order - 1.0)


def best_order(limit_epsilon: float, limit_delta: float) -> int:
    """Return the order at which one Gaussian release may be largest under the limit.

    It depends on the limit alone, so that nothing seen of the data decides it.
    """
    if limit_epsilon <= 0.0:
        raise UserError(f"epsilon of the limit: must be above 0, got {limit_epsilon:g}")
    check_delta(limit_delta)
    return max(ORDERS, key=lambda order: limit_rdp(limit_epsilon, limit_delta, order) / order)


def used_rdp(runs: Sequence[Sequence[Event]], order: int) -> float:
    """Return the sum of the runs' Rényi divergence bounds at the filter's order."""
    return sum(total_rdp(events, order) for events in runs)


def used_delta(runs: Sequence[Sequence[Event]]) -> float:
    """Return the failure probabilities that runs bring along."""
    return sum(added_delta(events) for events in runs)


def remaining_epsilon(left: float, order: int, delta: float) -> float:
    """Return ε at δ of the Gaussian release whose divergence at the order is `left`."""
    return epsilon(math.sqrt(2.0 * left / order), delta) if left > 0.0 else 0.0
