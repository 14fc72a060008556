"""The Sinkhorn divergence of two sets of embeddings: what it costs to move one onto the other, smoothed, debiased."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.errors import InternalError
from engine.examine.usefulness.base import Sample, Value
from engine.examine.usefulness.meaning.embeddings import embedded

# Of the cost 1 - cosine. Nearer to 0 is plain transport, which finite samples of equal sources raise; with 0.2 a
# planted shift and a lost variety of texts both stood out of chance at 60 texts, with 0.1 the shift did not.
BLUR = 0.2
TOLERANCE = 1e-5  # largest change of a potential, as a share of the blur, at which it stands
MOST_ROUNDS = 500

Costs = NDArray[np.float64]


def sinkhorn(sample: Sample, target: Sample, seed: int = 0) -> Value:
    """Return the debiased Sinkhorn divergence with cost 1 - cosine and blur `BLUR`: 0 for equal sets, never below.

    Source: Feydy et al. 2019 (Interpolating between optimal transport and MMD using Sinkhorn divergences), equation 3
        and section 3.1 (potentials); Genevay, Peyré and Cuturi 2018, equation 3.
    """
    ours, theirs = embedded(sample).astype(np.float64), embedded(target).astype(np.float64)
    if not len(ours) or not len(theirs):
        return Value(float("nan"))
    across = transport(1.0 - ours @ theirs.T)
    inside = transport(1.0 - ours @ ours.T) + transport(1.0 - theirs @ theirs.T)
    return Value(max(0.0, across - inside / 2.0))


def transport(costs: Costs, blur: float = BLUR) -> float:
    """Return the entropic transport cost of equal weights on rows and columns, the entropy taken against their product.

    Both potentials take half a step at once, which settles a set against itself within a few rounds.

    Args:
        costs: float array (n, m), finite; its range over `blur` must stay below 700, the reach of a float's exponent.
    """
    if np.ptp(costs) > 600.0 * blur:
        raise InternalError("transport: the costs are too far apart for this blur")
    least = float(costs.min())
    kernel = np.exp((least - costs) / blur)
    rows, columns = np.ones(len(kernel)), np.ones(kernel.shape[1])  # exponentials of the potentials over the blur
    for _ in range(MOST_ROUNDS):
        row_step = 1.0 / (kernel @ columns / len(columns))
        column_step = 1.0 / (rows @ kernel / len(rows))
        change = max(float(np.abs(np.log(row_step / rows)).max()), float(np.abs(np.log(column_step / columns)).max()))
        rows, columns = np.sqrt(rows * row_step), np.sqrt(columns * column_step)
        if change < TOLERANCE:
            break
    return least + blur * float(np.log(rows).mean() + np.log(columns).mean())
