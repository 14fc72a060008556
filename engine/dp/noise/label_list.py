"""A list of labels bought with noise: those that enough units share, and how many records each has.

Mechanism: the records of each label that occurs are counted, each count gets Gaussian noise of σ, and a label is
released, with its noisy count, where that reaches a threshold T. Labels of more than 60 characters count as none
beforehand, record by record; at most the 50 largest noisy counts are kept afterwards.
Unit and adjacency: a record or a source, capped beforehand to `cap` records over all labels together; zero-out or
replace-one.
Sensitivity: labels that both of two neighbours hold: their counts differ by at most cap (zero-out) or √2 cap
(replace-one) in L2 norm, so σ over that is the noise multiplier.
What δ covers: labels that only the changed unit's records have. Such a label is never released without the unit, and
with it with probability Q((T − c)/σ) for c records. One unit's records spread over such labels give at most
Σ Q((T − c_j)/σ) with Σ c_j <= cap. Q is convex below T, so the sum is largest for one label of all records or for
cap labels of one record each, and T = max(cap + σ z(δ), 1 + σ z(δ/cap)), z the normal upper quantile, keeps both
at δ. The noise of different labels is independent, so the list is that Gaussian mechanism beside one of total
variation δ, and their claims add up to (ε, δ_G(ε) + δ) by basic composition (Dwork and Roth 2014, theorem 3.16).
Under replace-one the labels that only one corpus has and those that only the other has give the larger of both.
Noise is discrete Gaussian on the grid of `engine.dp.noise.mechanisms`; its tail beyond t + one step is at most the
continuous one beyond t (its normalising sum is at least the integral), hence one step more on T.
It holds for one unit at a time: several units share labels, so nothing is claimed for groups.

Sources: Korolova, Kenthapadi, Mishra and Ntoulas 2009 (thresholded counts); Gopi et al. 2020, Differentially Private
Set Union (Gaussian noise, several items a unit).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from engine.corpus.label_rules import LONGEST_LABEL, MOST_LABELS
from engine.dp.noise import mechanisms
from engine.errors import InternalError


def threshold(cap: int, sigma: float, delta: float) -> float:
    """Return T, in records: what a label's noisy count must reach.

    Args:
        cap: records of a unit over all labels, >= 1. sigma: deviation of the noise. delta: in (0, 0.5).
    """
    if cap < 1 or not 0.0 < delta < 0.5 or not sigma > 0.0:
        raise InternalError(f"threshold: cap {cap}, sigma {sigma:g} or delta {delta:g} is out of range")
    alone = cap - sigma * float(ndtri(delta))
    spread = 1.0 - sigma * float(ndtri(delta / cap))
    return max(alone, spread) + 1.0 / mechanisms.GRID


def countable(labels: Sequence[str | None]) -> dict[str, int]:
    """Return label -> records, without labels that are too long for a list; private."""
    found: dict[str, int] = {}
    for label in labels:
        if label is not None and 0 < len(label) <= LONGEST_LABEL:
            found[label] = found.get(label, 0) + 1
    return found


def released(counts: Mapping[str, int], sigma: float, least: float) -> dict[str, float]:
    """Return the labels whose noisy count reaches `least`, sorted, with those counts."""
    names = sorted(counts)
    noisy = mechanisms.gaussian([counts[name] for name in names], sigma)
    best = sorted(zip(names, noisy.tolist(), strict=True), key=lambda entry: (-entry[1], entry[0]))
    return dict(sorted((name, value) for name, value in best[:MOST_LABELS] if value >= least))


def as_rows(found: Mapping[str, float]) -> NDArray[np.float64]:
    """Return a list as rows to store: the noisy count, then the label's code points and zeros, shape (n, 61)."""
    table = np.zeros((len(found), 1 + LONGEST_LABEL), dtype=np.float64)
    for row, (label, count) in zip(table, found.items(), strict=True):
        row[0] = count
        row[1 : 1 + len(label)] = [ord(character) for character in label]
    return table


def from_rows(table: NDArray[np.float64]) -> dict[str, float]:
    """Return the list that `as_rows` made rows of."""
    return {"".join(chr(int(point)) for point in row[1:] if point): float(row[0]) for row in table}
