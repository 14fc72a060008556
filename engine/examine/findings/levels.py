"""What one measure of leakage says: a level, from the training part beside the holdout, or beside real records.

An excess over the holdout whose interval lies above 0 is `leak`; one whose upper end is at most `NEGLIGIBLE` is
`chance`; anything else `unsure`.

Light: the web process imports this.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.examine.findings.findings import Finding
from engine.examine.findings.losses import find
from engine.examine.findings.sentence import NEGLIGIBLE, Level
from engine.examine.measures import MEASURES
from engine.examine.stats.intervals import wilson
from engine.examine.stats.simultaneous import wider

ONE_PERSON = "strict_alone"  # held against the whole training part, however few were set aside
OWN_SOURCE = "pipp_context"  # held against another record, not against the holdout
COPIES = ("verbatim_8gram", "near_copies_08")
NEAREST = "nearest_similarity"
WIDE = 0.5  # an interval of a difference of shares that is wider says nothing


def level_of(excess: Finding | None) -> Level:
    """Return what an excess over the holdout says."""
    if excess is None or excess.low is None or excess.high is None:
        return "unknown"
    if excess.low > 0:
        return "leak"
    if excess.low == excess.high:  # an earlier edition's interval of a share that never varied: it says nothing
        return "unsure"
    return "chance" if excess.high <= NEGLIGIBLE else "unsure"


def stands_out(findings: Sequence[Finding], name: str) -> Level:
    """Return whether a measure lies above chance, training and holdout part taken at equal sizes.

    An `_excess` finding decides where there is one. Else the share against as many training records as the
    holdout has (`equal_size_value`) must lie above the holdout's with its 95% interval: the whole training
    part is larger, so more of it is met by chance. Where no such share is known, the intervals decide.

    Copies also stand out where the synthetic text repeats the whole training part more often than real records do
    that nobody used (the baseline, against the same part), and more often than it repeats the holdout: few copies
    of a large part seldom fall into a cut of the holdout's size.
    """
    if rests_on_all(findings, name):
        return "leak"
    if name == OWN_SOURCE:
        return _own_source(findings)
    excess = find(findings, f"{name}_excess", "holdout")
    if excess is not None:
        return level_of(excess)
    train, holdout = find(findings, name, "train"), find(findings, name, "holdout")
    if train is None or holdout is None or train.low is None or train.high is None or holdout.high is None:
        return "unknown"
    equal = train.settings.get("equal_size_value")
    low, high = train.low, train.high
    if equal is not None:
        n = min(train.n, holdout.n)
        low, high = wilson(equal * n, n)
    if low > holdout.high:
        return "leak"
    return "chance" if holdout.low is not None and high <= holdout.low + NEGLIGIBLE else "unsure"


def _own_source(findings: Sequence[Finding]) -> Level:
    """Return whether records carry more of their own source than of another one."""
    own, other = (find(findings, OWN_SOURCE, reference) for reference in ("train", "baseline"))
    if own is None or other is None or own.low is None or other.high is None:
        return "unknown"
    if own.low > other.high:
        return "leak"
    return "chance" if own.high is not None and own.high <= other.value + NEGLIGIBLE else "unsure"


def rests_on_all(findings: Sequence[Finding], name: str) -> bool:
    """Return whether copies stand out by the whole training part beside real records, which decides before a cut."""
    if name not in COPIES:
        return False
    train = find(findings, name, "train")
    others = [find(findings, name, reference) for reference in ("baseline", "holdout")]
    if train is None or train.low is None:
        return False
    return all(other is not None and other.high is not None and train.low > other.high for other in others)


def too_wide(name: str, low: float | None, high: float | None) -> bool:
    """Return whether an interval of a difference of shares is so wide that it compares nothing."""
    shares = name.endswith("_excess") and MEASURES[name].measure.startswith("share")
    return shares and low is not None and high is not None and high - low > WIDE


def clear_among(findings: Sequence[Finding], name: str, measures: int) -> bool:
    """Return whether a measure's excess stays above 0 where its interval is to hold with those beside it."""
    if rests_on_all(findings, name):
        return True
    excess = find(findings, f"{name}_excess", "holdout")
    if excess is None or excess.low is None:
        return True  # its two shares are apart by more than both intervals
    return excess.value - wider(measures) * (excess.value - excess.low) > 0
