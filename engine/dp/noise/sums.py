"""The sum of one vector a unit, each cut to length 1: what a public reader makes of texts, added up.

Mechanism: a public reader turns each text into a vector by itself. The vectors of one unit's records (at most its cap)
are averaged, the mean is cut to length 1 and rounded towards zero to the grid of `engine.dp.noise.mechanisms`; units
are added up as whole numbers, and each coordinate gets exact discrete Gaussian noise on that grid. Where labels are
counted as well, a share s of a unit's squared length is theirs: its vector is √(1 − s) times the cut mean beside √s
times the mean of its records' labels (a one at each label's place), which is no longer than 1 either.
Unit and adjacency: a record or a source; zero-out (whose data are null adds nothing) or replace-one.
Sensitivity: 1 in L2 norm under zero-out, 2 under replace-one, whatever the cap and whatever a text holds. Rounding is
counted in: towards zero it lengthens no coordinate, so no vector, and the sum of whole numbers is exact in any order.
A vector that is not finite counts as nothing.
Public: the reader (a model that did not learn from these records, what it is compared with, the scale of each layer, a
basis), how long the sum is, and the noise. A reader that let one text change another's vector would break the bound;
the one of `engine.models.folder.hidden_states` reads one text at a time.
An attacker sees the noisy sum and everything public.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from engine.dp.noise.mechanisms import GRID
from engine.dp.noise.private_data import PrivateData
from engine.errors import InternalError

_SHRINK = 1.0 - 1e-9  # a rounded quotient must not reach past length 1

Reader = Callable[[list[str]], NDArray[np.float32]]
"""n texts to their vectors (n, d), each text by itself."""


def clipped(vector: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return a vector (d,) cut to length 1 and rounded towards zero, in steps of the grid; zeros if not finite."""
    largest = float(np.abs(vector).max(initial=0.0))
    if not np.isfinite(largest) or largest == 0.0:
        return np.zeros(len(vector), dtype=np.int64)
    length = largest * float(np.sqrt(np.sum((vector / largest) ** 2)))  # no square overflows or vanishes
    return np.trunc(vector * (_SHRINK / max(1.0, length)) * GRID).astype(np.int64)


def clipped_sum(
    data: PrivateData, read: Reader, size: int, labels: Sequence[str] = (), share: float = 0.0
) -> NDArray[np.int64]:
    """Return the sum over units of their cut vectors, (size + labels,) in steps of the grid; private.

    Args:
        read, size: the reader and how long its vectors are. labels: a public list, each counted behind the vectors.
        share: of a unit's squared length that labels have, in [0, 1).

    Raises:
        InternalError: the reader's vectors have another size, or are not one a text.
    """
    rows = np.asarray(read(list(data.texts)), dtype=np.float64)
    if rows.shape != (len(data.texts), size):
        raise InternalError(f"the reader gave {rows.shape} numbers for {len(data.texts)} texts of {size}")
    counted = np.array([[own == label for label in labels] for own in data.labels], dtype=np.float64)
    counted = counted.reshape(len(rows), len(labels))
    total = np.zeros(size + len(labels), dtype=np.int64)
    order = np.argsort(data.unit_of, kind="stable")
    for members in np.split(order, np.flatnonzero(np.diff(data.unit_of[order])) + 1):
        if len(members):
            own = clipped(_mean(rows[members])) / GRID
            parts = [math.sqrt(1.0 - share) * own, math.sqrt(share) * counted[members].mean(axis=0)]
            total += clipped(np.concatenate(parts))
    return total


def _mean(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean of one unit's vectors; rows that are not finite are nothing."""
    finite = np.asarray(np.isfinite(rows).all(axis=1, keepdims=True))
    return np.asarray(np.where(finite, rows, 0.0).mean(axis=0))
