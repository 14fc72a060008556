"""What a spot check says, in sentences: for the assessment file, the Review page and the command line; internal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.store.review.spot.views import Estimate

if TYPE_CHECKING:
    from engine.pii.decide.missed import Rate

SAW_ALL = "whoever read the sample overlooked nothing in it"  # what the interval takes as given
NOTHING_COMMON = "The two found no identifier in common, so nothing is known of those that neither saw."


def sentences(found: Estimate) -> tuple[str, ...]:
    """Return what an estimate says, with its interval, its sample and what it assumes."""
    from engine.pii.decide.second import ASSUMES

    check = found.check
    drawn = (
        f"Spot check {check.look} of {check.at[:10]}: {check.drawn:,} of {check.drawn_from:,} records, drawn at random."
    )
    if check.again:
        drawn += f" {check.again:,} of them, from the {check.read_before:,} that had been read before, are read again."
    if check.stale:
        return drawn, f"It is out of date. {check.stale}"
    if found.why or found.direct is None or found.quasi is None:
        return drawn, f"It tells nothing yet: {found.why}"
    said = [drawn, rate_words("a direct identifier", found.direct), rate_words("an indirect identifier", found.quasi)]
    if found.agreement is not None:
        one = found.agreement
        said.append(
            f"A second person read {one.texts:,} of its records; in {one.alike:,} of them both found the same "
            f"({one.value:.0%}, 95% interval {one.low:.0%} to {one.high:.0%}). {check.disagreements:,} differences are "
            "not settled."
        )
    if found.unseen is not None:
        said.append(
            f"Identifiers in these records that neither reader saw: about {found.unseen.value:.1f} (95% interval "
            f"{found.unseen.low:,} to {found.unseen.high:,}). {ASSUMES}"
        )
    elif found.agreement is not None and found.agreement.first + found.agreement.second:
        said.append(NOTHING_COMMON)
    said.append(
        "A record counts once, however much was missed in it. The interval is for chance in drawing: what a reader of "
        "the sample overlooked is not in these numbers, and makes more stay than they say. "
        "Records that were read before are drawn like the others: what that reading overlooked shows in a second look."
    )
    return tuple(said)


def rate_words(what: str, rate: Rate) -> str:
    """Return a rate with its interval in words."""
    return (
        f"Records that still hold {what} which nobody marked, per 1,000 records: {rate.value:.1f} ({rate.low:.1f} to "
        f"{rate.high:.1f}, {100 * rate.level:.4g}% interval if {SAW_ALL}; something had been missed in {rate.hit:,} of "
        f"{rate.read:,} records read)."
    )
