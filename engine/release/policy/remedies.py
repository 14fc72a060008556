"""What can turn a rule that a measured number breaks, for the run it stands at: one sentence for every page.

A policy's file has one remedy for all methods. What helps depends on why the rule is not met (the text repeats more
than chance, or too few were set aside to tell) and on how the run was made.

Privacy posture: counts people of the corpus, as the check-list does; internal.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from engine.dp.guarantee import Kind
from engine.examine.findings.findings import Finding
from engine.release.policy.aside import can_be_set_aside, least_for
from engine.release.policy.policy import Rule, get_policy

Writes = Literal["keeps", "rewrites", "new"]
Cause = Literal["few", "unequal", "measured"]

MANY = "at least 1,000 records are needed for an interval this narrow."
ANY_METHOD = (  # what the policies that come with the program say of every method; an own policy's words stay
    "Review more detected identifiers, then run again; a larger run narrows the interval.",
    "Review more detected identifiers, then run again; or use a method that writes new text.",
    f"Review more detected identifiers, then run again; {MANY}",
    "Use a method that writes new text (three-stage filter); a larger run narrows the interval.",
)
NEW_TEXT = "Plan a method that writes new text, best one with a proven bound (ε)."
LEAST = 0.01  # ε below which no method makes a run
UNSEEN = "do not examine it, and release it whole under “Proof alone”"
NOTHING_LEFT = "The budget of these people does not hold another run of this method."
SET_ASIDE = "Nothing was set aside to compare with: load the corpus again and set some aside, then run and examine."


@dataclass(frozen=True)
class Making:
    """How a run was made, as far as it decides over what can help.

    Args:
        writes: `keeps`, the original text but for what is replaced; `rewrites`, each record from one original; `new`.
        used, aside: people (`people`) or records that were used, and that were set aside; None where not known.
        share: part of the limit, in [0, 1], that the run took from the budget, None where not known.
        left: ε that another run may claim, >= 0, where one that claims what this one does fits no more; None where it
            fits, or nobody knows.
    """

    writes: Writes = "new"
    used: int | None = None
    aside: int | None = None
    people: bool = True
    share: float | None = None
    left: float | None = None


@dataclass(frozen=True)
class Claim:
    """What a run proves: kind, ε and δ of its guarantee, and the units it speaks of."""

    kind: Kind
    epsilon: float | None = None
    delta: float | None = None
    units: int | None = None


def cause_of(rule: Rule, findings: Sequence[Finding]) -> Cause:
    """Return why a number breaks a limit.

    `few`: what was measured, at equal sizes at least, is within the limit or may be chance, and its interval reaches
    beyond the limit. `unequal`: the larger training part is met more often than the smaller holdout, and clearly within
    the limit at equal sizes. Else `measured`.
    """
    limit, main = rule.threshold, _of(findings, rule.finding, rule.reference)
    if limit is None or main is None or rule.comparator != "at most":
        return "measured"
    other = _of(findings, rule.finding, rule.above) if rule.above else None
    if rule.above and other is None:
        return "measured"
    if main.name.endswith("_excess") and main.low is not None and main.low <= 0.0:
        return "few" if rule.uses == "interval end" else "measured"  # chance is not excluded
    if main.value - (other.value if other else 0.0) <= limit:
        compared = bool(rule.above) or main.reference == "holdout"
        return "few" if rule.uses == "interval end" and compared else "measured"
    equal = _of(findings, f"{rule.finding}_excess", rule.above) if rule.above else None
    if equal is None or equal.low is None or equal.high is None or equal.value > limit:
        return "measured"
    return "unequal" if equal.high <= limit else "few"


def remedy(rule: Rule, findings: Sequence[Finding], claim: Claim, making: Making) -> str:
    """Return what can turn a rule that a number breaks, in sentences that are true of this run."""
    if rule.remedy not in ANY_METHOD:
        return rule.remedy
    cause, door = cause_of(rule, findings), unexamined(claim, making)
    if cause == "measured":
        said = _measured(rule, claim, making)
        if not door:
            return said
        return f"{said} Or {door}{cost(claim, making)}; to this run that policy is closed, since it was examined."
    few, way = _set_aside(rule, cause, making)
    if spent(claim, making):
        return f"{few} {NOTHING_LEFT} So choose a policy for a smaller circle of readers."
    if not door:
        return f"{few} {way[:1].upper()}{way[1:]}."
    drawn, taken = _drawn(claim), _taken(making)
    if making.left is not None:
        each = f"Two ways, each with {_at_most(making)}"
        door = f"make the run again, {UNSEEN}" if _short(making) else door
    else:
        each = f"Two ways, each with {drawn} drawn again{f' ({taken})' if taken else ''}" if drawn else "Two ways"
    return f"{few} {each}: (1) {way}; (2) {door}, which is closed to this run since it was examined."


def unexamined(claim: Claim, making: Making) -> str:
    """Return the way to “Proof alone” for a run with a proof that was examined, without its cost; else nothing.

    Nothing too where the budget does not hold another run.
    """
    if claim.kind != "dp" or spent(claim, making):
        return ""
    how = _smaller(claim) or ("" if claim.epsilon else ", with another seed")
    if _short(making):
        how = f" with {_at_most(making)}"
    return f"make the run again{how}, {UNSEEN}"


def _short(making: Making) -> bool:
    """Return whether less is left for another run than “Proof alone” takes."""
    limit = get_policy("proof").requirements.highest_epsilon
    return making.left is not None and (limit is None or making.left < limit)


def proof_takes(claim: Claim) -> bool:
    """Return whether “Proof alone” takes a claim, as far as the claim goes: a proof, of a small enough ε and δ."""
    return claim.kind == "dp" and not _smaller(claim)


def spent(claim: Claim, making: Making) -> bool:
    """Return whether the budget holds no further run of a method with a proof, however small."""
    return claim.kind == "dp" and bool(claim.epsilon) and making.left is not None and making.left < LEAST


def _at_most(making: Making) -> str:
    """Return what another run may claim, rounded down."""
    return f"ε of at most {math.floor((making.left or 0.0) * 100) / 100:g}, which is all that is left"


def _smaller(claim: Claim) -> str:
    """Return what of the claim “Proof alone” does not take; empty where it takes it as it is."""
    limit = get_policy("proof").requirements.highest_epsilon
    if claim.epsilon and limit is not None and claim.epsilon > limit:
        return f" with ε of at most {limit:g}"
    if claim.delta is not None and claim.units and claim.delta * claim.units >= 1.0:
        return f" with a δ below one in {claim.units:,}"
    return ""


def cost(claim: Claim, making: Making) -> str:
    """Return what another run draws, in brackets; empty where that is nothing, or said by what is left."""
    if making.left is not None:
        return ""
    drawn, taken = _drawn(claim), _taken(making)
    return f" ({drawn} drawn again{f'; {taken}' if taken else ''})" if drawn else ""


def _drawn(claim: Claim) -> str:
    if claim.kind != "dp" or not claim.epsilon:
        return ""
    return "an ε of its own" if _smaller(claim) else f"ε = {claim.epsilon:g}"


def _taken(making: Making) -> str:
    """Return what this run took; the next need not take the same part, since what runs draw adds up to less."""
    return f"this run took {making.share:.0%} of the limit" if making.share else ""


def _set_aside(rule: Rule, cause: Cause, making: Making) -> tuple[str, str]:
    """Return the sentence that too few were set aside, and what to do."""
    who = "people who" if making.people else "records that"
    if making.aside is None:
        few = f"This rule compares with {who} were set aside, and these are too few."
    else:
        verb = "is" if making.aside == 1 else "are"
        beside = "" if cause == "few" or making.used is None else f" beside {making.used:,} that were used"
        few = f"This rule compares with {who} were set aside, and {making.aside:,}{beside} {verb} too few."
    texts = "1,000 texts or more" if MANY in rule.remedy else "more texts"
    also = f", or make one of {texts}" if cause == "few" and not rule.finding.startswith("elp") else ""
    if _too_small(rule, making):
        return few, f"measure on a corpus of more people, since this one is too small to set enough of them aside{also}"
    return few, f"load the corpus again with more set aside and make the run again{also}, then examine"


def _too_small(rule: Rule, making: Making) -> bool:
    """Return whether a corpus has too few people for as many set aside as the rule's limit takes by rule of thumb."""
    if making.used is None or making.aside is None or not rule.threshold:
        return False
    return not can_be_set_aside(least_for(rule.threshold), making.used + making.aside)


def _measured(rule: Rule, claim: Claim, making: Making) -> str:
    copies = rule.finding.startswith("verbatim")
    if claim.kind == "dp":
        if spent(claim, making):
            return f"{NOTHING_LEFT} So choose a policy for a smaller circle of readers."
        if claim.epsilon:
            smaller = "a smaller ε" if making.left is None else _at_most(making).partition(",")[0]
            return f"Plan the method with {smaller}, which lets less of any one person through."
        return "This run read no private text, so what it shares with the corpus is chance or public knowledge."
    if making.writes == "keeps":
        if copies:
            return f"This method keeps the original text but for what it replaces. {NEW_TEXT}"
        return (
            "Review more of the detected identifiers and run again: what nobody marks stays in the text. Or plan a "
            "method that writes new text, best one with a proven bound (ε)."
        )
    if making.writes == "rewrites":
        return f"This method rewrites each record from its original. {NEW_TEXT}"
    return (
        "Nothing limits what this method repeats. Plan one with a proven bound (ε), which limits what the records of "
        "one person can do to the text."
    )


def _of(findings: Sequence[Finding], name: str, reference: str | None) -> Finding | None:
    found = [one for one in findings if one.name == name and one.reference == reference and one.value == one.value]
    return found[0] if len(found) == 1 else None
