"""Privacy-loss distributions of events, a mechanism at a time by dp_accounting (worker and command line only).

Adjacency is our own, because votes are not what the library assumes: see `_sampled`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, TypedDict

import numpy as np
from scipy.special import logsumexp, ndtr

from engine.dp.accounting.closed_form import gaussian_mu
from engine.dp.accounting.pld import Losses, PrivacyLoss, grid
from engine.dp.events import Event, acting, group_factor
from engine.errors import InternalError

if TYPE_CHECKING:
    from dp_accounting.pld.pld_pmf import PLDPmf
    from dp_accounting.privacy_accountant import NeighboringRelation

Rounding = Literal["dots", "up", "down"]
_TAIL = 1e-15
_REACH = 12.0
_CELLS = 200_000


def compose(events: Sequence[Event], rounding: Rounding, step: float, group: int = 1) -> tuple[Losses, ...]:
    """Return losses of all events together, of a removal and of an addition.

    Args:
        events: a schedule fixed beforehand. rounding: `dots` (upper bound of the standard δ), `up` (upper bound of
            both), `down` (lower bound). step: grid step in nats. group: units that change at once.
    """
    group_factor(group)
    live = acting(events)
    full = [e for e in live if e.type == "gaussian" and e.sampling_probability == 1.0 and e.delta == 0.0]
    parts = [_event(e, rounding, step, group) for e in live if e not in full]
    if full:
        parts.append(_gaussian(float(gaussian_mu(full, group) or 0.0), rounding, step))
    if not parts:
        return (Losses(np.zeros(1), np.ones(1)),) * 2
    total = parts[0]
    for part in parts[1:]:
        total = tuple(a.compose(b) for a, b in zip(total, part, strict=True))  # type: ignore[assignment]
    return total


def _event(event: Event, rounding: Rounding, step: float, group: int) -> tuple[Losses, Losses]:
    if event.type == "gaussian":
        return _sampled(event, rounding, step, group)
    loss = group * float(event.epsilon or 0.0)
    if event.type == "laplace":
        return _laplace(loss, event.count, rounding, step)
    if event.type == "pure":
        return _pure(event, loss, rounding, step, group)
    raise InternalError(f"event {event.type!r} has no privacy-loss distribution")


class _Options(TypedDict):
    """What the library asks of a discretisation."""

    pessimistic_estimate: bool
    value_discretization_interval: float
    use_connect_dots: bool


def _options(rounding: Rounding, step: float) -> _Options:
    return {
        "pessimistic_estimate": rounding != "down",
        "value_discretization_interval": step,
        "use_connect_dots": rounding == "dots",
    }


def _repeat(pmf: PLDPmf, count: int) -> Losses:
    dense = pmf.to_dense_pmf()
    if count > 1:
        dense = dense.self_compose(count, _TAIL)
    return grid(dense._lower_loss, np.asarray(dense._probs), float(dense._infinity_mass), float(dense._discretization))


def _gaussian(mu: float, rounding: Rounding, step: float) -> tuple[Losses, Losses]:
    from dp_accounting.pld import privacy_loss_distribution as library

    pld = library.from_gaussian_mechanism(1.0 / mu, **_options(rounding, step))
    losses = _repeat(pld._pmf_remove, 1)
    return losses, losses


def _laplace(loss: float, count: int, rounding: Rounding, step: float) -> tuple[Losses, Losses]:
    from dp_accounting.pld import privacy_loss_distribution as library

    pld = library.from_laplace_mechanism(1.0 / loss, **_options(rounding, step))
    losses = _repeat(pld._pmf_remove, count)
    return losses, losses


def _pure(event: Event, loss: float, rounding: Rounding, step: float, group: int) -> tuple[Losses, Losses]:
    """Return the pair that dominates every (ε, δ) mechanism: Pr[L > ε] needs the loss at its bound throughout."""
    factor = sum(math.exp(j * float(event.epsilon or 0.0)) for j in range(group))
    infinity = min(1.0, event.delta * factor)
    rounded = math.floor if rounding == "down" else math.ceil
    high = rounded(loss / step - (1e-9 if rounding != "down" else -1e-9))
    if rounding == "up":
        once = grid(high, np.array([1.0 - infinity]), infinity, step)
    else:
        low = rounded(-loss / step - (1e-9 if rounding != "down" else -1e-9))
        weights = np.zeros(high - low + 1)
        weights[0], weights[-1] = 1.0 / (1.0 + math.exp(loss)), 1.0 / (1.0 + math.exp(-loss))
        once = grid(low, weights * (1.0 - infinity), infinity, step)
    total = once
    for _ in range(event.count - 1):
        total = total.compose(once)
    return total, total


def _sampled(event: Event, rounding: Rounding, step: float, group: int) -> tuple[Losses, Losses]:
    """Return losses of a Poisson-sampled Gaussian, `count` times.

    Under zero-out the pair is Σ_j Bin(k, q)(j) N(j, σ²) against N(0, σ²). Under replace-one with counts, what one
    unit adds and what the other adds are non-negative vectors; by Plackett's identity the divergence
    E max(0, g(X) − e^ε g(Y)) falls as their inner product grows, so orthogonal contributions are the worst,
    and for those the loss is that of a removal plus, independently, that of an addition. With vectors of any
    direction opposed contributions are the worst, which is the library's own replace-one.
    """
    noise = float(event.noise_multiplier or 1.0)
    if event.adjacency == "zero-out":
        return _removed_added(noise, event, rounding, step, group)
    if event.geometry == "counts":
        removed, added = _removed_added(noise * math.sqrt(2.0), event, rounding, step, group)
        both = removed.compose(added)
        return both, both
    from dp_accounting.pld import privacy_loss_distribution as library

    if group > 1:
        full = _gaussian(group * math.sqrt(event.count) / noise, rounding, step)
        if rounding == "down":
            raise InternalError("group: no lower bound for sampled vectors under replace-one")
        return full
    pld = library.from_gaussian_mechanism(
        2.0 * noise,
        sampling_prob=event.sampling_probability,
        neighboring_relation=_replace_one(),
        **_options(rounding, step),
    )
    losses = _repeat(pld._pmf_remove, event.count)
    return losses, losses


def _removed_added(noise: float, event: Event, rounding: Rounding, step: float, group: int) -> tuple[Losses, Losses]:
    from dp_accounting.pld import privacy_loss_distribution as library

    q = event.sampling_probability
    if group > 1:
        return tuple(  # type: ignore[return-value]
            _self_compose(_mixture(noise, q, group, rounding, step, added), event.count, rounding)
            for added in (False, True)
        )
    pld = library.from_gaussian_mechanism(noise, sampling_prob=q, **_options(rounding, step))
    return _repeat(pld._pmf_remove, event.count), _repeat(pld._pmf_add, event.count)


def _mixture(noise: float, q: float, group: int, rounding: Rounding, step: float, added: bool) -> Losses:
    """Return losses between Σ_j Bin(k, q)(j) N(j, σ²) and N(0, σ²), cell by cell of a fine partition of outputs.

    The loss ln Σ_j w_j e^((2jx − j²) / 2σ²) rises with x, so a cell's loss lies between those at its ends:
    taking the higher end (rounded up) or the lower (rounded down) bounds both δs. Schuchardt et al. 2024.
    """
    from scipy.stats import binom  # read here, as it takes a fifth of each start of the program

    j = np.arange(group + 1)
    chances = binom.pmf(j, group, q)
    edges = np.linspace(-_REACH * noise, group + _REACH * noise, _CELLS + 1)
    exponents = (2 * j * edges[:, None] - j * j) / (2.0 * noise * noise)
    loss = logsumexp(exponents, b=chances, axis=1)
    mass = np.diff(ndtr(edges / noise) if added else ndtr((edges[:, None] - j) / noise) @ chances)
    ends = -loss if added else loss
    infinity = 0.0 if rounding == "down" else max(0.0, 1.0 - float(mass.sum()))
    if rounding == "down":
        index = np.floor(np.minimum(ends[:-1], ends[1:]) / step).astype(np.int64)
    else:
        index = np.ceil(np.maximum(ends[:-1], ends[1:]) / step).astype(np.int64)
    lowest = int(index.min())
    return grid(lowest, np.bincount(index - lowest, weights=mass).astype(np.float64), infinity, step)


def _self_compose(losses: Losses, count: int, rounding: Rounding) -> Losses:
    from dp_accounting.pld import pld_pmf

    step = float(losses.step or 1.0)
    lower = round(float(losses.values[0]) / step)
    return _repeat(pld_pmf.DensePLDPmf(step, lower, losses.weights, losses.infinity, rounding != "down"), count)


def _replace_one() -> NeighboringRelation:
    from dp_accounting import privacy_accountant

    return privacy_accountant.NeighboringRelation.REPLACE_ONE


def from_events(
    events: Sequence[Event], *, pessimistic: bool = True, step: float = 1e-4, group: int = 1, strict: bool = True
) -> PrivacyLoss:
    """Return the loss of a schedule of Gaussian, sampled Gaussian, Laplace and pure events.

    Args:
        events: composed as a schedule fixed beforehand; zCDP events have no loss distribution and are refused.
        pessimistic: an upper bound of δ, else a lower one. step: grid step in nats. group: units that change.
        strict: also keep distributions for Pr[loss > ε].
    """
    main = compose(events, "dots" if pessimistic else "down", step, group)
    return PrivacyLoss(main, compose(events, "up", step, group) if strict and pessimistic else None)
