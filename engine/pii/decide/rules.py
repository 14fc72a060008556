"""The one decision model: what a span's state is before and after a decision, and how pressing it is to look at it.

`engine.store.review` keeps spans and decisions as rows and asks here what they mean. Events are only appended, and an
undo is an event too, so that log and state are the same data.

Privacy posture: numbers and labels only; no text is read here.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from engine.pii.spans import default_identifier_type

ADDED_BY = "custodian"  # recogniser and origin of a span that a person added
WEIGHTS = {"direct": 1.0, "quasi": 0.5, "none": 0.1}
REACH = 0.5  # of the score: this far from the threshold doubt has fallen to its least
LEAST_DOUBT = 0.1
MOST_RISK = 0.999  # of one span, so that its hazard stays finite


class Standing(NamedTuple):
    """What counts of a span: its state (`accepted` or `rejected`), its label and its identifier type."""

    state: str
    label: str
    identifier_type: str


def undecided(score: float, threshold: float) -> str:
    """Return the state of a span nobody decided: accepted from its label's threshold on, score in [0, 1]."""
    return "accepted" if score >= threshold else "rejected"


def after(action: str, before: Standing, label: str | None = None) -> Standing:
    """Return what a decision makes of a span.

    Args:
        action: accept, reject, relabel (accepts with another label) or review (confirms what stands).
        label: the new label of a relabelling.
    """
    if action == "review":
        return before
    if action == "relabel" and label:
        return Standing("accepted", label, default_identifier_type(label))
    return before._replace(state="rejected" if action == "reject" else "accepted")


def hazard(score: float, identifier_type: str, threshold: float) -> float:
    """Return how much an undecided span of a value seen once adds to its record's risk, >= 0.

    It is -ln(1 - w d): weight w of the identifier type (1 direct, 0.5 quasi), doubt d that is 1 at the threshold and
    falls to 0.1 half a point away. A record's risk is 1 - exp(-the sum of its undecided spans' hazards). This project's
    own rule.
    """
    doubt = min(1.0, max(LEAST_DOUBT, 1.0 - abs(score - threshold) / REACH))
    return -math.log1p(-min(MOST_RISK, WEIGHTS.get(identifier_type, LEAST_DOUBT) * doubt))


def rarity(times: int) -> float:
    """Return the factor of a span's hazard where its value occurs so many times: 1 / sqrt(times).

    A value that stands in many records is met again soon, and one decision can settle all its places.
    """
    return 1.0 / math.sqrt(max(1, times))
