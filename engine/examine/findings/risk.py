"""One number a synthetic record for the order in which a person looks at records.

It is an order, not a probability. Each sign of a leak takes away a part of what is left of safety
("noisy or"): risk = 1 - product of (1 - weight x strength), with
- leaked direct identifiers: weight 0.6 each, counted as one over the units that hold it, since what many
  people share points to none; rare quasi identifiers (held by one unit) 0.25 each;
- copied: 0.9 x the share of the record's words in copies of eight words or more from the training part that
  the holdout does not explain;
- closeness: 0.4 x how far the nearest training record is above what real unused records reach (only the upper
  half counts);
- detected identifiers: 0.05 each, whether real or made up.
A record that equals an original has risk 1.
A record outside the embedding or detection sample gets nothing for that sign.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

DIRECT, RARE, COPIED, CLOSE, DETECTED = 0.6, 0.25, 0.9, 0.4, 0.05


def record_risk(signals: Mapping[str, NDArray[np.float64]], records: int) -> NDArray[np.float64]:
    """Return a risk in [0, 1] a synthetic record; higher = look at it sooner.

    Args:
        signals: float arrays (n,): `direct` (sum of 1 / units), `rare` (entities), `copied_train`, `copied_holdout`
            (shares of words), `nearest` (share of real records that are less close, NaN where not sampled),
            `original` (1 where the record equals a real one), `detected` (spans, NaN where not sampled); any may be
            missing.
        records: n.
    """

    def signal(name: str) -> NDArray[np.float64]:
        return np.nan_to_num(signals.get(name, np.zeros(records)), nan=0.0)

    copied = np.clip(signal("copied_train") - signal("copied_holdout"), 0.0, 1.0)
    close = np.clip(2.0 * signal("nearest") - 1.0, 0.0, 1.0)
    safe = (1 - DIRECT) ** signal("direct") * (1 - RARE) ** signal("rare")
    safe *= (1 - COPIED * copied) * (1 - CLOSE * close) * (1 - DETECTED) ** signal("detected")
    return np.clip(1.0 - safe * (1 - np.clip(signal("original"), 0.0, 1.0)), 0.0, 1.0)
