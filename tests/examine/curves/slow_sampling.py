"""Direct sampling without its short cut: the reference that the fast trial is held to."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.examine.curves.ngram_sampling import MARK, DirectSampling, Outputs


def exclude_slowly(sampling: DirectSampling, excluded: NDArray[np.int64]) -> Outputs:
    """Return what `sampling.exclude` returns, from the counts of every remaining source."""
    counts = sampling.counts
    owner = np.repeat(np.arange(counts.sources), np.diff(counts.bounds))
    kept = ~np.isin(owner, excluded)
    y = np.bincount(counts.grams[kept], weights=counts.counts[kept], minlength=counts.keys.size).astype(np.int64)
    x = counts.totals.copy()
    grams = np.arange(x.size)
    if sampling.censor:
        rare_x = x <= sampling.censor
        rare_y = rare_x if sampling.by == "x" else y <= sampling.censor
        x = np.append(np.where(rare_x, 0, x), x[rare_x].sum())
        y = np.append(np.where(rare_y, 0, y), y[rare_y].sum())
        grams = np.append(grams, MARK)
    return Outputs(x, y, grams, 0, int(x.sum()), int(y.sum()))
