"""Exact accounting: closed form where it holds, else numerical loss distributions, RDP beside them.

A schedule with zCDP events is added up in RDP throughout, or as a loss distribution at δ₁ plus zCDP at
δ − δ₁ by basic composition, whichever is smaller (Bun and Steinke 2016, lemma 3.5; Dwork and Roth 2014, 3.16).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from engine.dp.accounting import closed_form, pld, pld_events, rdp
from engine.dp.accounting.accounts import Account, Calibration, Curve, merged, scaled
from engine.dp.events import Event, acting
from engine.errors import UserError

# Below this δ the rounding of fast Fourier transforms is no longer small beside δ: Rényi accounting instead.
MIN_NUMERICAL_DELTA = 1e-10
_FOURIER_ERROR = 1e-13
_SPLITS = 24
_TOLERANCE = 2e-5


def account(events: Sequence[Event], delta: float, group: int = 1) -> Account:
    """Return what events cost at δ; see `Accountant.account`."""
    closed_form.check_delta(delta)
    bare, failing = without_failures(events, group)
    if failing:
        return replace(account(bare, _left(delta, failing), group), delta=delta)
    mu = closed_form.gaussian_mu(events, group)
    renyi = rdp.epsilon_rdp(events, delta, group)
    if mu is not None:
        value = closed_form.epsilon(mu, delta)
        return Account(value, value, renyi, delta, closed_form.epsilon(mu, delta, strict=True), True, group)
    together = merged(acting(events))
    strict = rdp.strict_epsilon_rdp(together, delta, group)
    numerical = [event for event in together if event.type != "zcdp"]
    if delta < MIN_NUMERICAL_DELTA:
        return Account(renyi, 0.0, renyi, delta, strict, False, group)
    if not numerical:
        return Account(renyi, renyi, renyi, delta, strict, False, group)
    step = grid_step(renyi, numerical)
    losses = pld_events.from_events(numerical, step=step, group=group)
    low = pld_events.from_events(numerical, step=step, group=group, pessimistic=False).epsilon(delta)
    others = [event for event in together if event.type == "zcdp"]
    if others:
        return Account(min(renyi, _split(losses, others, delta, group)), low, renyi, delta, strict, False, group)
    value = losses.epsilon(delta - _FOURIER_ERROR)
    strict = min(strict, losses.epsilon(delta - _FOURIER_ERROR, strict=True))
    return Account(min(value, renyi), min(low, value, renyi), renyi, delta, strict, False, group)


def curve(events: Sequence[Event], epsilons: Sequence[float], group: int = 1) -> Curve:
    """Return both δs at each ε; see `Accountant.curve`."""
    bare, failing = without_failures(events, group)
    if failing:
        found = curve(bare, epsilons, group)
        raised = (tuple(min(1.0, value + failing) for value in part) for part in (found.standard, found.strict))
        return Curve(found.epsilons, *raised)
    grid = tuple(float(value) for value in epsilons)
    mu = closed_form.gaussian_mu(events, group)
    if mu is not None:
        return gaussian_curve(mu, grid)
    together = merged(acting(events))
    by_rdp = [rdp.delta_rdp(together, value, group) for value in grid]
    if any(event.type == "zcdp" for event in together):
        strict = [rdp.delta_rdp(together, value, group, strict=True) for value in grid]
        return Curve(grid, tuple(by_rdp), tuple(strict))
    losses = pld_events.from_events(
        together, step=grid_step(rdp.epsilon_rdp(together, 1e-5, group), together), group=group
    )
    standard = tuple(min(losses.delta(value) + _FOURIER_ERROR, other) for value, other in zip(grid, by_rdp))
    return Curve(grid, standard, tuple(min(1.0, losses.strict_delta(value) + _FOURIER_ERROR) for value in grid))


def without_failures(events: Sequence[Event], group: int = 1) -> tuple[tuple[Event, ...], float]:
    """Return Gaussian events without the δ they bring along, and the sum of those δs.

    Such an event is a Gaussian release beside an independent one of total variation δ (`engine.dp.noise.label_list`),
    so their claims add up: (ε, δ_G(ε) + δ).

    Raises:
        UserError: several units are asked about; nothing is known of what they share.
    """
    failing = sum(event.count * event.delta for event in acting(events) if event.type == "gaussian")
    if not failing:
        return tuple(events), 0.0
    if group > 1:
        raise UserError("group: a run that buys its list of labels makes no statement about several units at once")
    return tuple(replace(event, delta=0.0) if event.type == "gaussian" else event for event in events), failing


def _left(delta: float, failing: float) -> float:
    if delta - failing < closed_form.MIN_DELTA:
        raise UserError(f"delta: {delta:g} is used up by the list of labels, which takes {failing:g} of it")
    return delta - failing


def _with_failures(inner: Calibration, planned: Sequence[Event], delta: float) -> Calibration:
    """Return a calibration with the planned events' own δ again."""
    events = tuple(replace(event, delta=own.delta) for event, own in zip(inner.events, planned, strict=True))
    return replace(inner, events=events, delta=delta)


def gaussian_curve(mu: float, epsilons: Sequence[float]) -> Curve:
    """Return both δs of a Gaussian release with parameter μ."""
    standard = tuple(closed_form.delta_standard(mu, value) for value in epsilons)
    return Curve(tuple(epsilons), standard, tuple(closed_form.delta_strict(mu, value) for value in epsilons))


def grid_step(epsilon: float, events: Sequence[Event]) -> float:
    """Return a grid step whose summed rounding is small beside ε, within what a schedule may take to compute.

    It is a power of two, so that schedules that hardly differ are rounded alike.
    """
    size = min(max(epsilon, 1e-3), 1e4)
    releases = sum(event.count for event in events if event.type != "pure")
    finest = max(min(1e-4, size / 1e4), size / 1e5)
    wanted = 2e-3 * size / max(releases, 20)
    return float(2.0 ** math.floor(math.log2(max(finest, wanted))))


def closed_calibration(
    fixed: Sequence[Event], free: Sequence[Event], epsilon: float, delta: float
) -> Calibration | None:
    """Return the calibration where every event is a full Gaussian, else None."""
    closed_form.check_delta(delta)
    bare, failing = without_failures((*fixed, *free))
    if failing:
        inner = closed_calibration(bare[: len(fixed)], bare[len(fixed) :], epsilon, _left(delta, failing))
        return None if inner is None else _with_failures(inner, (*fixed, *free), delta)
    spent, relative = closed_form.gaussian_mu(fixed), closed_form.gaussian_mu(free)
    if spent is None or relative is None or not acting(free):
        return None
    target = closed_form.mu_of(epsilon, delta)
    left = target * target - spent * spent
    if left <= 0.0:
        raise _too_little(epsilon)
    scale = relative / math.sqrt(left)
    # Rounding of the last digit must not carry the total past the claim.
    while True:
        events = (*fixed, *(scaled(event, scale) for event in free))
        total = closed_form.epsilon(closed_form.gaussian_mu(events) or 0.0, delta)
        if total <= epsilon:
            return Calibration(scale, events, total, total, rdp.epsilon_rdp(events, delta), delta)
        scale *= 1.0 + 1e-12


def calibrate(fixed: Sequence[Event], free: Sequence[Event], epsilon: float, delta: float) -> Calibration:
    """Return the least noise of the free events within (ε, δ): a bracket by RDP, then loss distributions."""
    closed = closed_calibration(fixed, free, epsilon, delta)
    if closed is not None:
        return closed
    bare, failing = without_failures((*fixed, *free))
    if failing:
        inner = calibrate(bare[: len(fixed)], bare[len(fixed) :], epsilon, _left(delta, failing))
        return _with_failures(inner, (*fixed, *free), delta)
    if not acting(free):
        total = account(fixed, delta)
        if total.epsilon > epsilon:
            raise _too_little(epsilon)
        return Calibration(1.0, (*fixed, *free), total.epsilon, total.epsilon_low, total.rdp_epsilon, delta)
    if acting(fixed) and account(fixed, delta).epsilon >= epsilon:
        raise _too_little(epsilon)

    def schedule(scale: float) -> tuple[Event, ...]:
        return (*fixed, *(scaled(event, scale) for event in free))

    scale = _root(lambda value: _quick(schedule(value), epsilon, delta), epsilon, _bracket(schedule, epsilon, delta))
    while True:
        total = account(schedule(scale), delta)
        if total.epsilon <= epsilon:
            return Calibration(scale, schedule(scale), total.epsilon, total.epsilon_low, total.rdp_epsilon, delta)
        scale *= 1.0 + max(_TOLERANCE, 1.5 * (total.epsilon / epsilon - 1.0))


def _too_little(epsilon: float) -> UserError:
    return UserError(
        f"epsilon: {epsilon:g} is used up by the parts with a fixed share; raise epsilon or lower their shares"
    )


def _quick(events: Sequence[Event], target: float, delta: float) -> float:
    """Return ε at δ, rounded as for a schedule that costs about `target`."""
    together = merged(acting(events))
    numerical = [event for event in together if event.type != "zcdp"]
    if delta < MIN_NUMERICAL_DELTA or not numerical:
        return rdp.epsilon_rdp(together, delta)
    losses = pld_events.from_events(numerical, step=2.0 * grid_step(target, numerical), strict=False)
    others = [event for event in together if event.type == "zcdp"]
    if others:
        return min(rdp.epsilon_rdp(together, delta), _split(losses, others, delta, 1))
    return losses.epsilon(delta - _FOURIER_ERROR)


def _bracket(schedule: Callable[[float], Sequence[Event]], epsilon: float, delta: float) -> float:
    """Return a scale at which RDP (integer orders, cheap) is within ε, or the best start it knows."""
    low, high = 1e-3, 1e-3
    while rdp.epsilon_rdp(merged(acting(schedule(high))), delta, quick=True) > epsilon:
        low, high = high, high * 2.0
        if high > 1e9:
            return 1.0
    for _ in range(20):
        middle = math.sqrt(low * high)
        inside = rdp.epsilon_rdp(merged(acting(schedule(middle))), delta, quick=True) <= epsilon
        low, high = (low, middle) if inside else (middle, high)
    return high


def _root(cost: Callable[[float], float], epsilon: float, start: float) -> float:
    """Return the least scale with cost <= ε: secant steps on logarithms inside a shrinking bracket."""
    high, at_high = start, cost(start)
    while at_high > epsilon:
        high *= 1.5
        at_high = cost(high)
    low, at_low = high / 1.3, cost(high / 1.3)
    while at_low <= epsilon:
        high, at_high, low = low, at_low, low / 1.5
        at_low = cost(low)
    for turn in range(40):
        if high / low - 1.0 < _TOLERANCE or 0.0 <= 1.0 - at_high / epsilon < _TOLERANCE:
            break
        rise = math.log(at_low / max(at_high, 1e-12))
        part = math.log(at_low / epsilon) / rise if turn % 3 < 2 else 0.5
        middle = low * (high / low) ** min(0.99, max(0.01, part * (1.0 + _TOLERANCE)))
        value = cost(middle)
        if value <= epsilon:
            high, at_high = middle, value
        else:
            low, at_low = middle, value
    return high


def _split(losses: pld.PrivacyLoss, others: Sequence[Event], delta: float, group: int) -> float:
    """Return the least ε₁(δ₁) + ε₂(δ − δ₁) of loss distribution and zCDP over splits of δ."""
    shares = [10.0 ** (-4.0 * i / _SPLITS) for i in range(1, _SPLITS + 1)]
    shares += [1.0 - share for share in shares if share < 0.5]
    best = math.inf
    for share in shares:
        first = losses.epsilon(max(delta * share - _FOURIER_ERROR, 1e-300))
        best = min(best, first + rdp.epsilon_rdp(others, delta * (1.0 - share), group))
    return best
