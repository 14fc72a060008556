"""How many set aside are few, held against the limit that a policy sets beside them: a rule of thumb.

Whatever the text, so few leave more open than the limit allows: where none of n is met in it, up to `open_share(n)` of
people like them could be (Wilson 1927, nothing found of n). The rules themselves count texts and take the ends of
intervals over random splits, so a run may meet one with fewer set aside where hardly anything is found, and miss it
with more.

Privacy posture: a policy and a number of people; no data.
"""

from __future__ import annotations

import math

from engine.examine.stats.intervals import Z, wilson
from engine.release.policy.policy import Policy


def open_share(aside: int) -> float:
    """Return the share of people like those set aside that could be met in a text which meets none of them.

    Args:
        aside: people or records set aside, >= 0.

    Returns:
        The upper end of the 95% interval of nothing found, 0 to 1; 1 for nobody.
    """
    return wilson(0, aside)[1]


def share_allowed(policy: Policy) -> float | None:
    """Return the smallest share that the policy's rules beside the holdout allow, None where none has a limit."""
    limits = [
        rule.threshold
        for rule in policy.rules
        if rule.reference == "holdout" and rule.comparator == "at most" and rule.uses == "interval end"
    ]
    return min((limit for limit in limits if limit is not None and limit > 0), default=None)


def least_aside(policy: Policy) -> int | None:
    """Return from how many set aside no more is left open than the policy allows, None where it has no limit."""
    limit = share_allowed(policy)
    return None if limit is None else least_for(limit)


def least_for(limit: float) -> int:
    """Return from how many set aside no more than a share, above 0 and at most 1, is left open."""
    return max(1, math.ceil(Z * Z * (1 - limit) / limit))


def can_be_set_aside(least: int, people: int) -> bool:
    """Return whether so many of all the people (or records) of a corpus can be set aside: at most half of them."""
    return 2 * least <= people
