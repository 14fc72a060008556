"""What a policy asks about an intruder with a motive, and the lines of the check-list that answer it.

A person reads texts that would leave, drawn at random, and says within a time box whom they are of; somebody else
checks each claim against the original. What follows holds for such a person, with these means and this time.

Source: Clopper and Pearson 1934 for further texts; for the finite number of texts that leave, the same test turned
round for draws without replacement (`engine.pii.decide.missed`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from engine.errors import UserError
from engine.pii.decide.missed import Part, clopper_pearson, level_of, totals
from engine.release.policy.policy import IntruderRule
from engine.release.policy.verdicts import RuleVerdict, fact_line

DRAW = "Draw an intruder trial on the Release page, have somebody take it on, and have their claims checked."
INTRUDER_RULES = ("intruder-trial", "intruder-share")


@dataclass(frozen=True)
class Intruder:
    """What the run's latest intruder trial says.

    Attributes:
        texts, drawn_from: texts of the sample, and those it was drawn from.
        minutes: of its time box that were taken; who stops at once has not tried.
        hits: texts whose claim was found right, or could not be told from right.
        stale: why it describes the approved records no longer, or empty. why: why it tells nothing, or empty.
        high: upper end of the share of approved texts that are identified; None where nothing is told.
        level: of the interval. trial: its id; internal.
    """

    texts: int
    drawn_from: int
    minutes: int
    hits: int = 0
    stale: str = ""
    why: str = ""
    high: float | None = None
    level: float = 0.95
    trial: str = ""


def identified(
    hits: int, texts: int, drawn_from: int, *, look: int = 1, approved: int | None = None, removed_right: int = 0
) -> tuple[float, float, float, float, float]:
    """Return the share of texts identified: estimate, exact interval, upper end for further texts, and the level.

    Args:
        hits: identified texts of the sample. texts: of the sample, drawn without replacement from `drawn_from`.
        look: 1 for the first trial of a run; each further one halves the error (`engine.pii.decide.missed.level_of`).
        approved: texts that are left of those drawn from, all of them if None. Taking texts out can only lower the
            number that could be identified, by `removed_right` at least.

    Raises:
        UserError: the counts do not fit together.
    """
    left = drawn_from if approved is None else approved
    if not 0 <= removed_right <= hits <= texts <= drawn_from or not texts or not 0 < left <= drawn_from - removed_right:
        raise UserError("texts: the counts of an intruder trial do not fit together")
    level = level_of(look)
    low, high = totals([Part(drawn_from, texts, hits)], level)
    gone = drawn_from - left
    ends = (drawn_from * hits / texts - removed_right, low - gone, min(high - removed_right, left))
    value, lowest, highest = (min(1.0, max(0.0, one) / left) for one in ends)
    return value, lowest, highest, clopper_pearson(hits, texts, level)[1], level


def needed(drawn_from: int, target: float, *, look: int = 1) -> int:
    """Return how many texts to draw so that the upper end is at most `target`, if nobody is named rightly in them.

    Args:
        target: a share in (0, 1).
    """
    if not 0 < target < 1:
        raise UserError(f"target: must be a share between 0 and 1, is {target}")
    low, up = 1, max(1, drawn_from)
    while low < up:
        middle = (low + up) // 2
        fits = identified(0, middle, drawn_from, look=look)[2] <= target
        low, up = (low, middle) if fits else (middle + 1, up)
    return low


def intruder_lines(rule: IntruderRule, known: Intruder | None) -> list[RuleVerdict]:
    """Return the lines about an intruder trial: that it is enough, and its upper end."""
    trial = _trial(rule, known)
    return [trial, _share(rule, known if trial.passed is True else None)]


def _trial(rule: IntruderRule, known: Intruder | None) -> RuleVerdict:
    passed, said, remedy = _enough(rule, known)
    return fact_line("intruder-trial", "Somebody tried to say whom the texts are of", passed,
                     f"{rule.sentence} {said}", remedy,
                     float(rule.minimum_texts), None if known is None else float(known.texts))  # fmt: skip


def _enough(rule: IntruderRule, known: Intruder | None) -> tuple[bool | None, str, str]:
    """Return whether the trial is enough, in words, and what would help."""
    if known is None:
        return None, "No intruder trial was drawn.", DRAW
    if known.stale:
        return None, known.stale, "Draw another intruder trial on the Release page."
    if known.why or known.high is None:
        return None, known.why or "It tells nothing.", DRAW
    wanted = min(rule.minimum_texts, known.drawn_from)
    if known.texts < wanted:
        return False, f"{known.texts:,} texts were drawn; {wanted:,} are needed.", "Draw a larger intruder trial."
    if known.minutes < rule.minimum_minutes:
        return False, (
            f"It took {known.minutes:,} minutes; {rule.minimum_minutes:,} are needed."
        ), "Draw another intruder trial, with enough time, that nobody ends before."  # fmt: skip
    return True, f"{known.texts:,} texts drawn at random, {known.minutes:,} minutes, every claim checked.", ""


def _share(rule: IntruderRule, known: Intruder | None) -> RuleVerdict:
    title = "An intruder names few of the people rightly"
    asked = f"At most {_percent(rule.highest_share)} of the texts may be identified, by the upper end of the interval."
    if known is None or known.high is None or not math.isfinite(known.high):
        return fact_line("intruder-share", title, None, f"{asked} This is judged once the trial is enough.", DRAW,
                         rule.highest_share)  # fmt: skip
    said = (
        f"{asked} Upper end of its {100 * known.level:.4g}% interval: {_percent(known.high)} ({known.hits:,} of "
        f"{known.texts:,} texts)."
    )
    remedy = "Reject the texts that were identified and those like them; a larger trial narrows the interval."
    return fact_line("intruder-share", title, known.high <= rule.highest_share, said, remedy, rule.highest_share,
                     known.high)  # fmt: skip


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%"
