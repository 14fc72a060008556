"""What a policy asks about identifiers that nobody found, and the lines of the check-list that answer it.

It is asked of runs without a proof alone: their text can carry what stays in the original. A proof does not rest on
what was found, and a sample read before it would be a look at private data.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from engine.release.policy.policy import MissedRule
from engine.release.policy.verdicts import RuleVerdict, fact_line

SPOT_RULES = ("missed-sample", "missed-direct", "missed-quasi")  # lines that rest on a spot check
DRAW = (
    "Draw a spot check on the Review page and read it to the end. Where records were read before, it opens some of "
    "them again: a second look at a sample is what it takes."
)
PARTLY = (
    "It was drawn from a part of the records alone, so it says nothing of what an earlier reading of the others "
    "overlooked."
)


@dataclass(frozen=True)
class Missed:
    """What the corpus' latest spot check says.

    Attributes:
        drawn, read, drawn_from: records of the sample, those of them read, and those it was drawn from. records: of
            the corpus, 0 where that is not known. again: records of the sample that had been read before it.
        stale: why it describes the corpus no longer, or empty. why: why it tells nothing, or empty.
        direct, quasi: upper end of records that still hold something missed, per 1,000; None where nothing is told.
        direct_hit, quasi_hit: records of the sample in which something had been missed. level: of the interval.
        twice, read_twice: records that a second person is to read, and has read. disagreements: not settled.
        check: id of the spot check; internal.
    """

    drawn: int
    read: int
    drawn_from: int
    records: int = 0
    stale: str = ""
    why: str = ""
    direct: float | None = None
    quasi: float | None = None
    direct_hit: int = 0
    quasi_hit: int = 0
    level: float = 0.95
    twice: int = 0
    read_twice: int = 0
    disagreements: int = 0
    check: str = ""
    again: int = 0


def missed_lines(rule: MissedRule, missed: Missed | None) -> list[RuleVerdict]:
    """Return the lines about a spot check: that it is enough, and its upper ends."""
    lines = [_sample(rule, missed)]
    known = missed if missed is not None and lines[0].passed is True else None
    for kind, limit in (("direct", rule.direct_per_1000), ("quasi", rule.quasi_per_1000)):
        if limit is not None:
            lines.append(_bound(rule, kind, limit, known))
    return lines


def _sample(rule: MissedRule, missed: Missed | None) -> RuleVerdict:
    title = "How much was missed is known from a random sample"
    passed, said, remedy = _enough(rule, missed)
    return fact_line("missed-sample", title, passed, f"{rule.sentence} {said}", remedy,
                     float(rule.minimum_sample), None if missed is None else float(missed.read))  # fmt: skip


def _enough(rule: MissedRule, missed: Missed | None) -> tuple[bool | None, str, str]:
    """Return whether the sample is enough, in words, and what would help."""
    if missed is None:
        return None, "No spot check was drawn.", DRAW
    if missed.stale:
        return None, missed.stale, "Draw another spot check on the Review page and read it to the end."
    if missed.why or missed.direct is None or missed.quasi is None:
        return None, missed.why or "It tells nothing.", DRAW
    wanted = min(rule.minimum_sample, missed.records or missed.drawn_from)
    if missed.drawn < wanted:
        return False, f"{missed.drawn:,} records were drawn; {wanted:,} are needed.", (
            "Draw a larger spot check on the Review page.")  # fmt: skip
    if missed.records > missed.drawn_from:
        return None, PARTLY, DRAW
    if rule.second_reader:
        needed = min(rule.minimum_twice, missed.records or missed.drawn)
        if missed.read_twice < needed:
            return False, f"A second person read {missed.read_twice:,} of its records; {needed:,} are needed.", (
                "Have a colleague read them on the Review page, under “Second reading”; if fewer were drawn for a "
                "second person, draw another spot check.")  # fmt: skip
    if missed.disagreements:
        return False, (
            f"Nobody settled {missed.disagreements:,} identifiers that one of two readers alone found, or that were "
            "taken back after the text was read."
        ), (
            "Settle them on the Review page, under “Second reading”.")  # fmt: skip
    said = f"{missed.read:,} records were drawn at random from all, and read."
    if missed.again:
        said += f" {missed.again:,} of them had been read before and were read again."
    return True, said, ""


def _bound(rule: MissedRule, kind: str, limit: float, missed: Missed | None) -> RuleVerdict:
    title = f"Few records hold {'a direct' if kind == 'direct' else 'an indirect'} identifier that nobody found"
    asked = f"At most {limit:g} of 1,000 records may, by the upper end of the interval."
    high = None if missed is None else getattr(missed, kind)
    if missed is None or high is None or not math.isfinite(high):
        return fact_line(
            f"missed-{kind}", title, None, f"{asked} This is judged once the spot check is enough.", DRAW, limit
        )
    hit = missed.direct_hit if kind == "direct" else missed.quasi_hit
    said = (
        f"{asked} Upper end of its {100 * missed.level:.4g}% interval: {high:.1f} (something had been missed in "
        f"{hit:,} of {missed.read:,} records). That is for chance in drawing, and takes as given that whoever read the "
        "sample overlooked nothing in it."
    )
    remedy = (
        "Improve the detector's settings or mark what was missed, then draw another spot check; a larger one helps."
    )
    return fact_line(f"missed-{kind}", title, high <= limit, said, remedy, limit, high)
