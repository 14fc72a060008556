"""Power laws ε = a·|U|^b: how privacy loss grows with the number of people left out.

Fitted by least squares on logarithms over trials with a finite ε above 0; the others are counted, not hidden, since
leaving out infinite ones makes the curve look flatter (Stomakhin 2025, section 4.4, figures 5 and 7). The interval
of the exponent allows for a spread that differs between sizes (MacKinnon and White 1985, HC3) and uses Student's t.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from engine.examine.stats.intervals import LEVEL
from engine.json_types import JSON


@dataclass(frozen=True)
class PowerLaw:
    """A fit ε = factor · |U|^exponent.

    Args:
        factor, exponent: estimates, NaN where fewer than two sizes have a finite ε.
        low, high: ends of the exponent's 95% interval, or None where fewer than three points are left.
        r_squared: share of the variance of ln ε explained, in [0, 1].
        used: points fitted, of `sizes` different sizes; two sizes alone say little.
        infinite: points left out because ε is infinite. zero: because ε is 0.
        method: of the interval.
    """

    factor: float
    exponent: float
    low: float | None
    high: float | None
    r_squared: float
    used: int
    sizes: int
    infinite: int
    zero: int
    method: str = "least squares on logarithms, HC3 standard error, Student's t (MacKinnon and White 1985)"

    def as_dict(self) -> dict[str, JSON]:
        """Return a JSON-ready mapping."""
        return asdict(self)

    def at(self, size: float) -> float:
        """Return ε at a size."""
        return self.factor * size**self.exponent


def fit(sizes: Sequence[float], epsilons: Sequence[float]) -> PowerLaw:
    """Return the power law through points (|U|, ε).

    Args:
        sizes: |U| of each trial, >= 1. epsilons: its ε at one fixed δ; infinite and zero ones are left out.
    """
    u, e = np.asarray(sizes, dtype=float), np.asarray(epsilons, dtype=float)
    infinite, zero = int(np.isinf(e).sum()), int((e == 0.0).sum())
    good = np.isfinite(e) & (e > 0.0)
    x, y = np.log(u[good]), np.log(e[good])
    n = int(good.sum())
    if np.unique(x).size < 2:
        return PowerLaw(math.nan, math.nan, None, None, math.nan, n, np.unique(x).size, infinite, zero)
    design = np.column_stack([np.ones(n), x])
    bread = np.linalg.inv(design.T @ design)
    beta = bread @ design.T @ y
    residual = y - design @ beta
    total = float(np.sum((y - y.mean()) ** 2))
    explained = 1.0 - float(residual @ residual) / total if total > 0.0 else 1.0
    low, high = _interval(design, bread, residual, float(beta[1]))
    return PowerLaw(float(np.exp(beta[0])), float(beta[1]), low, high, explained, n, np.unique(x).size, infinite, zero)


def _interval(
    design: np.ndarray, bread: np.ndarray, residual: np.ndarray, exponent: float
) -> tuple[float | None, float | None]:
    """Return the ends of the slope's interval; a point that alone decides the fit leaves none."""
    from scipy.stats import t

    n = len(residual)
    leverage = np.einsum("ij,jk,ik->i", design, bread, design)
    if n < 3 or leverage.max() > 1.0 - 1e-9:
        return None, None
    meat = design * (residual / (1.0 - leverage))[:, None]
    spread = math.sqrt(float((bread @ (meat.T @ meat) @ bread)[1, 1]))
    half = float(t.ppf(0.5 + LEVEL / 2.0, n - 2)) * spread
    return exponent - half, exponent + half
