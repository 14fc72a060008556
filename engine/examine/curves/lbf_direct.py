"""Direct n-gram sampling over sizes |U| and trials: curves, ε at fixed δ, power laws, floors, LBF against probability.

Source: Stomakhin 2025, section 4 (figures 3 to 9). Under the strict δ nearly every output fails below the shared
constant ln(N_Y / N_X) of the n-grams that U did not use, so ε at small δ can never lie under it: part of the growth
with |U| is that constant alone, which tells only how large U is. It is returned beside ε, as is ε for the standard δ.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from engine.dp.accounting.pld import PrivacyLoss
from engine.errors import InternalError
from engine.examine.curves import lbf
from engine.examine.curves.lbf import Curve, Floats
from engine.examine.curves.ngram_sampling import DirectSampling, Outputs, draw_sources
from engine.examine.stats import powerlaw
from engine.json_types import JSON

DELTAS = (0.001, 0.01)
SIZES = (1, 10, 100, 1000)
TRIALS = 10
# the ε grid on which curves of trials are averaged: ln(1 + 1e-6) to ln(1000)
GRID = np.unique(np.concatenate([np.geomspace(1e-6, math.log(1000.0), 121), np.log([1.01, 1.2, 2.0, 10.0])]))


def loss_of(outputs: Outputs) -> PrivacyLoss:
    """Return the privacy loss of one draw."""
    return lbf.loss_of_counts(
        outputs.x, outputs.y, shared=(outputs.shared, outputs.shared), totals=(outputs.total_x, outputs.total_y)
    )


@dataclass(frozen=True)
class Trial:
    """One set U.

    Args:
        size: |U|. trial: number of the trial.
        epsilons, standard_epsilons: least ε at each of `DELTAS`, strict and standard; infinite where none is finite.
        floor: chance of an n-gram that only one side has: no smaller δ has a finite ε.
        constant: |LBF| of the n-grams that U did not use. share: share of the n-grams of X that are U's.
        delta, delta_standard: on `GRID`.
    """

    size: int
    trial: int
    epsilons: tuple[float, ...]
    standard_epsilons: tuple[float, ...]
    floor: float
    constant: float
    share: float
    delta: Floats
    delta_standard: Floats


def trial_of(outputs: Outputs, size: int, number: int) -> Trial:
    """Return what one trial shows."""
    loss = loss_of(outputs)
    points = lbf.curve(loss, list(GRID))
    return Trial(
        size, number,
        tuple(loss.epsilon(delta, strict=True) for delta in DELTAS), tuple(loss.epsilon(delta) for delta in DELTAS),
        lbf.floor(loss), math.log(outputs.total_x / outputs.total_y), 1.0 - outputs.total_y / outputs.total_x,
        points.delta, points.delta_standard,
    )  # fmt: skip


def trials(
    sampling: DirectSampling,
    sizes: Sequence[int] = SIZES,
    number: int = TRIALS,
    seed: int = 0,
    cancelled: Callable[[], bool] = lambda: False,
) -> Iterator[Trial]:
    """Yield trials size by size; a size of which there are too few sources raises before the first one."""
    sets = [(size, draw_sources(sampling.counts.sources, size, number, seed)) for size in sizes]
    for size, excluded in sets:
        for index, chosen in enumerate(excluded):
            if cancelled():
                return
            yield trial_of(sampling.exclude(chosen), size, index)


@dataclass(frozen=True)
class SizeSummary:
    """Trials of one |U|.

    Args:
        size: |U|. trials: how many. delta, delta_low, delta_high: mean, least and largest strict δ of the trials on
            `GRID`. delta_standard, standard_low, standard_high: the same of the standard δ.
        floor, floor_low, floor_high: mean, least, largest. constant: mean |LBF| of n-grams that U did not use.
        epsilons: median strict ε at each of `DELTAS`, the mean of the middle two of an even number (infinite where
            either is). infinite: trials without a finite ε at each.
    """

    size: int
    trials: int
    delta: Floats
    delta_low: Floats
    delta_high: Floats
    delta_standard: Floats
    standard_low: Floats
    standard_high: Floats
    floor: float
    floor_low: float
    floor_high: float
    constant: float
    epsilons: tuple[float, ...]
    infinite: tuple[int, ...]

    def curve(self, observed: str = "one n-gram") -> Curve:
        """Return the mean curve."""
        return Curve(GRID, self.delta, self.delta_standard, observed)


@dataclass(frozen=True)
class Direct:
    """Direct sampling of one corpus.

    Args:
        n: words an n-gram. unit: `record` or `source`. sources: how many. total, distinct: n-grams in X.
        censor: as in `DirectSampling`. sizes: summary of each |U|. trials: all of them.
        fits: power laws of the strict ε at each of `DELTAS`. standard_fits: of the standard ε.
    """

    n: int
    unit: str
    sources: int
    total: int
    distinct: int
    censor: int
    sizes: tuple[SizeSummary, ...]
    trials: tuple[Trial, ...]
    fits: tuple[powerlaw.PowerLaw, ...]
    standard_fits: tuple[powerlaw.PowerLaw, ...]

    def as_dict(self) -> dict[str, JSON]:
        """Return a JSON-ready mapping of sizes, floors and fits; curves on `GRID` as points."""
        return {
            "n": self.n, "unit": self.unit, "sources": self.sources, "ngrams": self.total, "distinct": self.distinct,
            "censor": self.censor,
            "sizes": [_size_row(size) for size in self.sizes],
            "power_law": [
                {"delta": delta, "strict": _fit_row(strict), "standard": _fit_row(standard)}
                for delta, strict, standard in zip(DELTAS, self.fits, self.standard_fits)
            ],
        }  # fmt: skip


def _fit_row(fit: powerlaw.PowerLaw) -> dict[str, JSON]:
    return {key: None if value is None or value != value else value for key, value in asdict(fit).items()}


def _size_row(size: SizeSummary) -> dict[str, JSON]:
    at = dict(zip((f"epsilon_at_{delta:g}" for delta in DELTAS), size.epsilons))
    return {
        "excluded": size.size, "trials": size.trials,
        "floor": {"mean": size.floor, "low": size.floor_low, "high": size.floor_high},
        "constant": size.constant, **{k: v if math.isfinite(v) else None for k, v in at.items()},
        "infinite": dict(zip((f"{delta:g}" for delta in DELTAS), size.infinite)),
        "curve": size.curve().rows(),
    }  # fmt: skip


def summarise(sampling: DirectSampling, found: Sequence[Trial], unit: str) -> Direct:
    """Return trials summed up by |U|, with power laws over all of them.

    Raises:
        InternalError: no trial.
    """
    if not found:
        raise InternalError("trials: at least one is needed")
    sizes = tuple(_summary([t for t in found if t.size == size]) for size in sorted({t.size for t in found}))
    all_sizes = [trial.size for trial in found]
    fits, standard = (
        tuple(powerlaw.fit(all_sizes, [getattr(t, name)[i] for t in found]) for i in range(len(DELTAS)))
        for name in ("epsilons", "standard_epsilons")
    )
    counts = sampling.counts
    return Direct(
        counts.n, unit, counts.sources, counts.total, int(counts.keys.size), sampling.censor, sizes, tuple(found),
        fits, standard,
    )  # fmt: skip


def _summary(found: Sequence[Trial]) -> SizeSummary:
    strict, standard = (np.array([getattr(t, name) for t in found]) for name in ("delta", "delta_standard"))
    epsilons = np.array([t.epsilons for t in found])
    floors = [t.floor for t in found]
    return SizeSummary(
        found[0].size, len(found), strict.mean(0), strict.min(0), strict.max(0),
        standard.mean(0), standard.min(0), standard.max(0), float(np.mean(floors)), min(floors), max(floors),
        float(np.mean([t.constant for t in found])),
        tuple(float(median) for median in np.median(epsilons, axis=0)),
        tuple(int(np.isinf(column).sum()) for column in epsilons.T),
    )  # fmt: skip


@dataclass(frozen=True)
class Scatter:
    """LBF of outputs against their chance (figures 8 and 9).

    Args:
        probability: Pr[M(X) = o], > 0; where X never gives it, Pr[M(Y) = o]. loss: LBF of X against Y, infinite ones
            left out. grams: index of the n-gram, −1 for the mark. constant: LBF of every n-gram that U did not use,
            the horizontal line. infinite: outputs left out, by side that alone has them.
    """

    probability: Floats
    loss: Floats
    grams: NDArray[np.int64]
    constant: float
    infinite: tuple[int, int]


def scatter(outputs: Outputs) -> Scatter:
    """Return the LBF of every output that leaving out U has changed."""
    x, y = outputs.x, outputs.y
    both = (x > 0) & (y > 0)
    ratio = math.log(outputs.total_y / outputs.total_x)
    return Scatter(
        x[both] / outputs.total_x, np.log(x[both] / y[both]) + ratio, outputs.grams[both], ratio,
        (int(((x > 0) & (y == 0)).sum()), int(((x == 0) & (y > 0)).sum())),
    )  # fmt: skip
