"""How far the area under a ROC curve may lie off where most scores are equal.

DeLong's variance, and draws again, rest on the scores that were seen: a side of equal scores adds nothing to them,
though a few more records might differ. Where scores have two values the area is one half and half the difference of
two shares, those above the lower value. So the area's interval is no narrower than half of that difference's, which
has a width where a share is 0 as well; with more values, than half of that of the shares above the commonest score,
or below it.

Source: Newcombe 1998b, method 10 (square-and-add of Wilson's limits); Bamber 1975 (The area above the ordinal dominance
graph and the area below the receiver operating characteristic graph, Journal of Mathematical Psychology 12, 387-415:
the area of two values).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from engine.examine.stats.intervals import MOSTLY, Groups, Interval, difference_independent, share

Floats = NDArray[np.float64]
SOURCE = "Newcombe 1998b, method 10"


def no_narrower_than_shares(
    area: Interval, members: Floats, others: Floats, member_groups: Groups | None, other_groups: Groups | None
) -> Interval:
    """Return the area, widened to half of Newcombe's interval for the shares above or below a score of most records.

    Args:
        area: under the ROC curve of `members`, `others`, (m,), (n,). Unchanged where neither side has a score that
            half or more of it share.
        member_groups, other_groups: the unit of each score, or None; shares count at the effective number of units.
    """
    if area.low is None or area.high is None:
        return area
    low, high = area.low, area.high
    for score in sorted({score for side in (members, others) for score in _of_most(side)}):
        above = difference_independent(share(members > score, member_groups), share(others > score, other_groups))
        below = difference_independent(share(others < score, other_groups), share(members < score, member_groups))
        for apart in (above, below):  # both grow with the area
            if apart.low is not None and apart.high is not None:
                low = min(low, area.value - (apart.value - apart.low) / 2.0)
                high = max(high, area.value + (apart.high - apart.value) / 2.0)
    low, high = max(0.0, low), min(1.0, high)
    if (low, high) == (area.low, area.high):
        return area
    method = f"{area.method}, no narrower than Newcombe's of the shares apart from the commonest score"
    return replace(area, low=low, high=high, method=method, source=f"{area.source}; {SOURCE}")


def _of_most(scores: Floats) -> list[float]:
    """Return the scores that half or more of them share."""
    values, counts = np.unique(scores, return_counts=True)
    return [float(value) for value in values[(counts > 1) & (counts >= MOSTLY * len(scores))]]
