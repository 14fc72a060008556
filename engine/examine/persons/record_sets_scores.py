"""Ask whether the set of a person's records stands out, where no single record has to.

Each record's score becomes its normal quantile among all records compared; a person's score is the sum over the
person's records divided by the square root of their number (Stouffer), so people with many records do not win by
number alone. The mean and the highest are computed beside it.

Sources: Kandpal et al. 2024 (User inference attacks on large language models, EMNLP), section 3: mean over a user's
records of a log likelihood ratio; Song and Shmatikov 2019 (Auditing data provenance in text-generation models),
section 3; Stouffer et al. 1949 for the combination. Ma and Rajtmajer (RPSG), limitations, number 2, ask for such an
attack.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.examine.persons.profiles import highest


def quantiles(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return each score's normal quantile by its mid-rank among all, float (n,), same order."""
    from scipy.stats import norm, rankdata

    return np.asarray(norm.ppf((rankdata(scores) - 0.5) / max(1, len(scores))), np.float64)


def set_scores(scores: NDArray[np.float64], codes: NDArray[np.int64], units: int) -> dict[str, NDArray[np.float64]]:
    """Return people's scores, each float (units,), higher = more member-like.

    Args:
        scores: float (n,), one a record of all people compared, members or not.
        codes: int (n,), whose record it is, 0 to units - 1; everyone has at least one.

    Returns:
        `stouffer`: the combination, `mean` and `highest`: of the records' quantiles.
    """
    value = quantiles(scores)
    sizes = np.bincount(codes, minlength=units).astype(np.float64)
    sums = np.bincount(codes, weights=value, minlength=units)
    return {"stouffer": sums / np.sqrt(sizes), "mean": sums / sizes, "highest": highest(value, codes, units)}
