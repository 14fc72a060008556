"""The lines of a policy that rest on findings: a number beside its limit, leaks, and the choice of records.

References: difference of two proportions from their single intervals, Newcombe 1998 (Statistics in
Medicine 17, method 10); the same recipe for other measures, Zou and Donner 2008 (Stat. Med. 27, 2).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from engine.examine.findings.findings import Finding, Reference
from engine.examine.findings.sentence import Sentence
from engine.examine.findings.verdict import given_away, leading
from engine.examine.measures import MEASURES, show
from engine.release.policy.facts import AGAIN, EXAMINE, OLDER, UNMEASURED, Chosen, GateFacts, finite
from engine.release.policy.policy import CHOSEN, NO_LEAK, Rule
from engine.release.policy.remedies import SET_ASIDE
from engine.release.policy.remedies import remedy as remedy_of
from engine.release.policy.verdicts import RuleVerdict, fact_line

PRIVACY_COUNTS = {"pipp": "strict_pipp", "pipp_direct": "strict_pipp_direct"}  # without what many people share


def judge(rule: Rule, findings: Sequence[Finding], facts: GateFacts) -> RuleVerdict:
    """Return the line of a rule: met, not met, or not known where its number is missing, stale or not a number."""
    main = _find(findings, rule.finding, rule.reference)
    other = _find(findings, rule.finding, rule.above) if rule.above else None
    if main is None or (rule.above and other is None):
        line = _line(rule, None, None, UNMEASURED)
        return replace(line, remedy=AGAIN) if facts.run_stale else line
    if facts.stale:
        line = _line(rule, None, None, OLDER)
        return replace(line, remedy=AGAIN) if facts.run_stale else line
    if main.n == 0 and (why := main.settings.get("why")) in rule.nothing_to_leak:
        return _line(rule, None, True, f"There is nothing to leak: {_in_words(str(why))}.")
    if not finite(main.value) or (other is not None and not finite(other.value)):
        line = _line(rule, None, None, _why(main, other))
        return replace(line, remedy=SET_ASIDE) if facts.making.aside == 0 and _compares(rule) else line
    if rule.comparator == "measured":
        return _measured(rule, main.value, findings, facts)
    value = _compared(rule, main, other)
    if value is None:
        return _line(rule, None, None, "There is no interval for this number, so its worst case is unknown.")
    assert rule.threshold is not None
    passed = value <= rule.threshold if rule.comparator == "at most" else value >= rule.threshold
    what = "Difference" if other is not None else "Value"
    end = {"at most": "upper", "at least": "lower"}[rule.comparator]
    basis = f"{what}, {end} end of its 95% interval" if rule.uses == "interval end" else what
    said = f"{basis}: {show(rule.finding, value)}; {rule.comparator} {show(rule.finding, rule.threshold)} is allowed."
    if passed:
        return _line(rule, value, True, said)
    line = _line(rule, value, False, said + _at_equal_sizes(rule, findings))
    return replace(line, remedy=remedy_of(rule, findings, facts.claim, facts.making))


def no_leak(findings: Sequence[Finding], facts: GateFacts) -> RuleVerdict:
    """Return the line about the sentences that Privacy opens with: none may say that private text is given away."""
    title = "Nothing more is given away than chance explains"
    if not facts.examined or facts.stale:
        said = UNMEASURED if not facts.stale else OLDER
        line = fact_line(NO_LEAK, title, False, said, AGAIN if facts.run_stale else EXAMINE)
        return replace(line, passed=None)
    leaks = given_away(findings, {"kind": facts.guarantee_kind, "epsilon": facts.epsilon})
    if not leaks:
        said = "No finding about identifiers, copied text or canaries lies above chance."
        return fact_line(NO_LEAK, title, True, said, "")
    said = f"More than chance explains: {' '.join(leak.brief or leak.text for leak in leaks)}"
    remedy = "Plan a method that writes new text, best one with a proven bound (ε), or release to a smaller circle."
    return fact_line(NO_LEAK, title, False, said, remedy, 0.0, float(len(leaks)))


def as_measured(chosen: Chosen) -> RuleVerdict:
    """Return the line about the choice of records: findings are of the run, so what leaves may be no riskier than it.

    Of a run in which few records leak these few could be approved, and its findings would say little of them.
    """
    said = (
        f"The mean risk of the {chosen.approved:,} approved records is {chosen.risk:.2f}, that of all "
        f"{chosen.records:,} is {chosen.mean:.2f}, and the findings are of all."
    )
    ok = chosen.risk <= chosen.most + 1e-9
    remedy = "Reject the riskiest of the approved records; the list of records names them first."
    return fact_line(
        CHOSEN,
        "What leaves is no riskier than what was measured",
        ok,
        said,
        remedy,
        round(chosen.most, 6),
        round(chosen.risk, 6),
    )


def _compares(rule: Rule) -> bool:
    """Return whether a rule takes what was set aside for its measure."""
    return "holdout" in (rule.reference, rule.above)


def _at_equal_sizes(rule: Rule, findings: Sequence[Finding]) -> str:
    """Return what a difference of two unequal parts is at equal sizes; empty where that was not measured."""
    found = _find(findings, f"{rule.finding}_excess", rule.above)
    if rule.above is None or found is None or not finite(found.value):
        return ""
    ends = "" if found.low is None or found.high is None else (
        f" ({show(found.name, found.low)} to {show(found.name, found.high)})")  # fmt: skip
    return (
        " The training part is the larger one, of which more stands in a text by chance too; beside as many of its "
        "records as of the holdout, which sees what is of these alone, the difference is "
        f"{show(found.name, found.value)}{ends}."
    )


def _measured(rule: Rule, value: float, findings: Sequence[Finding], facts: GateFacts) -> RuleVerdict:
    """Return the line of a rule without a limit: met, and marked where the number is high all the same.

    Where Privacy leads with a comparison to chance on the same, that stands here and decides whether it is marked: a
    high number is, unless what was met is no more than chance gives, or less than was met by chance.
    """
    title = MEASURES[rule.finding].title if rule.finding in MEASURES else ""
    shown = show(rule.finding, value)
    lead = leading(findings, rule.finding, {"kind": facts.guarantee_kind, "epsilon": facts.epsilon})
    first = _find(findings, PRIVACY_COUNTS.get(rule.finding, ""), rule.reference)
    if lead is not None and lead.brief and lead.level != "unknown":
        measured = lead.brief.partition(": ")[2]
        if lead.level == "unsure" and not lead.nothing:  # what cannot be told is said by the sentence behind it
            measured = measured.partition("; ")[0]
        outcome = f"Measured: {measured.rstrip('.')}. {_judged(lead)}"
        line = _line(rule, value, True, outcome)
        high = rule.high_from is not None and value >= rule.high_from
        return replace(line, high=high and _above(lead, findings))
    if first is not None and finite(first.value) and show(first.name, first.value) != shown:
        outcome = (
            f"Measured: {show(first.name, first.value)} as Privacy counts, and {shown} with what many people share, "
            "which this rule goes by."
        )
    else:
        outcome = f"Measured: {shown}{f' ({title[:1].lower()}{title[1:]})' if title else ''}."
    if rule.high_from is None or value < rule.high_from:
        return _line(rule, value, True, outcome)
    if lead is not None and (lead.level == "chance" or lead.nothing):
        return _line(rule, value, True, f"{outcome} {_judged(lead)}")
    outcome += f" That is high: {show(rule.finding, rule.high_from)} or more, which this policy allows."
    return replace(_line(rule, value, True, outcome), high=True)


def _above(lead: Sentence, findings: Sequence[Finding]) -> bool:
    """Return whether what Privacy leads with is more than chance, or may be and was met more often than chance is."""
    if lead.level == "chance" or lead.nothing:
        return False
    difference = _find(findings, f"{lead.finding}_excess", "holdout")
    if lead.level in ("leak", "slight") or difference is None or not finite(difference.value):
        return True
    return difference.value > 0.0


def _judged(lead: Sentence) -> str:
    """Return whether what Privacy leads with is more than chance gives, of a rule without a limit."""
    if lead.level in ("leak", "slight"):
        return "That is more than chance gives. This policy sets no limit."
    if lead.nothing:
        return "No more was seen than chance gives. This policy sets no limit."
    if lead.level == "chance":
        return "That is no more than chance gives. This policy sets no limit."
    return "Whether that is more than chance gives cannot be told. This policy sets no limit."


def _why(main: Finding, other: Finding | None) -> str:
    """Return why a number is missing, in the words the examination left."""
    blame = main if not finite(main.value) or other is None else other
    why = str(blame.settings.get("why") or "no reason was recorded").rstrip(".")
    return f"Could not be estimated: {_in_words(why)}."


def _in_words(why: str) -> str:
    """Return a reason of the examination as the pages speak: what it calls a span is a mark in the text."""
    return why.replace("gold spans", "the marks that came with the file").replace("span", "mark")


def _compared(rule: Rule, main: Finding, other: Finding | None) -> float | None:
    """Return the number to compare: a value, an interval's unsafe end, or that of a difference."""
    if rule.uses == "value":
        return main.value - (other.value if other is not None else 0.0)
    up = rule.comparator == "at most"
    end = main.high if up else main.low
    if end is None or not finite(end):
        return None
    if other is None:
        return end
    opposite = other.low if up else other.high
    if opposite is None or not finite(opposite):
        return None
    margin = math.hypot(end - main.value, other.value - opposite)
    return main.value - other.value + (margin if up else -margin)


def _line(rule: Rule, value: float | None, passed: bool | None, outcome: str) -> RuleVerdict:
    reference = f"{rule.reference} above {rule.above}" if rule.above else str(rule.reference)
    remedy = EXAMINE if passed is None else rule.remedy
    return RuleVerdict(rule.id, rule.title, rule.finding, reference, rule.threshold, value, passed,
                       f"{rule.sentence} {outcome}", remedy)  # fmt: skip


def _find(findings: Sequence[Finding], name: str, reference: Reference | None) -> Finding | None:
    """Return the one finding asked for; two that contradict each other count as none."""
    found = [f for f in findings if f.name == name and f.reference == reference]
    return found[0] if len(found) == 1 else None
