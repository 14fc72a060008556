"""Hold findings and facts against a policy; whatever is missing, not a number or stale is not passed.

Privacy posture: a verdict quotes measured values and is internal. It never goes into a bundle.

References: difference of two proportions from their single intervals, Newcombe 1998 (Statistics in
Medicine 17, method 10); the same recipe for other measures, Zou and Donner 2008 (Stat. Med. 27, 2).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from engine.corpus.text.folding import folded
from engine.dp.guarantee import Kind
from engine.dp.upward import upward
from engine.examine.findings.findings import Finding, Reference
from engine.examine.findings.verdict import given_away, leading
from engine.examine.measures import MEASURES, show
from engine.release.policy.intruder import INTRUDER_RULES, Intruder, intruder_lines
from engine.release.policy.missed import SPOT_RULES, Missed, missed_lines
from engine.release.policy.policy import CHOSEN, NO_LEAK, Policy, Rule
from engine.release.policy.remedies import NOTHING_LEFT, SET_ASIDE, Claim, Making, cost, spent, unexamined
from engine.release.policy.remedies import remedy as remedy_of
from engine.release.policy.verdicts import RuleVerdict, Verdict, fact_line
from engine.release.policy.waivers import NEVER, Waiver, basis_of

EXAMINE = "Examine the run on the Privacy page."
AGAIN = "Make the run again, which takes the review as it is now, and examine that one."
KIND_SAYS: dict[Kind, str] = {
    "none": "This run proves nothing.", "heuristic": "This run proves nothing.",
    "selection-only": "This run has a proof for its choice among texts alone.", "dp": "This run has a proven bound.",
}  # fmt: skip
RISKIER = 2.58  # standard errors: one choice by lot in two hundred is riskier
BREAKS = ("guarantee", "epsilon", "unmeasured", NO_LEAK)  # facts of the run that no decision on its records changes
PRIVACY_COUNTS = {"pipp": "strict_pipp", "pipp_direct": "strict_pipp_direct"}  # without what many people share


@dataclass(frozen=True)
class Chosen:
    """How risky the approved records of a run are beside all of it.

    Args:
        approved, records: how many. risk, mean: mean risk of the approved ones and of all, in [0, 1]. spread: standard
            deviation of the risk of all.
    """

    approved: int
    records: int
    risk: float
    mean: float
    spread: float

    @property
    def most(self) -> float:
        """The mean risk that a choice by lot of as many records passes one time in two hundred."""
        open_part = max(0.0, 1.0 - self.approved / self.records)
        return self.mean + RISKIER * self.spread * math.sqrt(open_part / self.approved)


@dataclass(frozen=True)
class GateFacts:
    """What is known about a run besides its findings.

    `approved`, `rejected` and `pending` count the run's records. `stale` says that records, spans
    or the corpus changed after the run or its examination; `examined` that there is an examination,
    `watched` that exact losses of private records were shown while the run trained.
    `text_examined` says that half of its texts, or more, were examined as another run's, deleted or not, or that one
    of its method and seed was, where nothing is noised. `pool_compared` says that a comparison with the records may
    have decided what is in its pool. `lost` says that the workspace lost what happened for a time after the run was
    made.
    `in_part` says of an examination that never ended how many parts were kept, and of how many; None where there is
    none.
    `run_stale` says that they changed after the run itself was made, so that another examination does not help.
    `delta` and `units` are those of the guarantee.
    `originals` counts approved records that are an original record, None where nobody looked.
    `actor` releases, `signed_off_by` signs. `missed` is what the corpus' spot check says, `intruder` what the run's
    intruder trial does, None where none was drawn.
    `examination` says which one the findings are of. `held` says whether the corpus' decisions and marks are those that
    the audit log tells of, None where nobody looked; `run_held` says so of the run, its texts and its findings, and
    `run_earlier` that an earlier edition made it, which told the log of none of these. `making` says how the run was
    made, as far as it decides over what would help. `chosen` says how risky the approved records are beside all of the
    run, None where nobody knows.
    """

    approved: int
    rejected: int
    pending: int
    stale: bool
    guarantee_kind: Kind
    examined: bool = False
    watched: bool = False
    originals: int | None = None
    epsilon: float | None = None
    delta: float | None = None
    text_examined: bool = False
    lost: bool = False
    pool_compared: bool = False
    units: int | None = None
    run_state: str = "done"
    actor: str = ""
    signed_off_by: str = ""
    missed: Missed | None = None
    intruder: Intruder | None = None
    examination: str = ""
    held: bool | None = None
    run_held: bool | None = None
    run_earlier: bool = False
    run_stale: bool = False
    in_part: tuple[int, int] | None = None
    making: Making = field(default_factory=Making)
    chosen: Chosen | None = None

    @property
    def claim(self) -> Claim:
        """What the run proves."""
        return Claim(self.guarantee_kind, self.epsilon, self.delta, self.units)


SAYS_WHAT = "The Ledger page says under Audit log what was changed, as “audit --verify” does."


def evaluate(
    policy: Policy, findings: Iterable[Finding], facts: GateFacts, waivers: Iterable[Waiver] = (), today: str = ""
) -> Verdict:
    """Return the verdict of `policy`; it passes only if every single line is met or waived.

    Args:
        waivers: those given for the run under this policy and not withdrawn; the latest of a rule counts.
        today: day, ISO 8601, on which one must hold; today by default.
    """
    known, day = list(findings), today or datetime.now(UTC).date().isoformat()
    lines = [*_requirements(policy, facts), *(_judge(rule, known, facts) for rule in policy.rules)]
    if policy.requirements.no_leak:
        lines.append(_no_leak(known, facts))
    if any(rule.threshold is not None for rule in policy.rules) and facts.chosen is not None:
        lines.append(_as_measured(facts.chosen))
    allowed = policy.requirements.waivers
    given = {waiver.basis: waiver for waiver in waivers if day <= waiver.expires}
    if allowed is not None and not facts.stale:
        lines = [
            replace(line, waived=given.get(basis(policy, line, facts.examination, _sample(line, facts))))
            if waivable(policy, line) else line
            for line in lines
        ]  # fmt: skip
    passed = all(line.met for line in lines)
    return Verdict(policy=policy.id, passed=passed, rules=tuple(lines), digest=policy.digest)


def waivable(policy: Policy, line: RuleVerdict) -> bool:
    """Return whether a person may let a run pass although this line is not met: it is known, and the policy says so."""
    allowed = policy.requirements.waivers
    return (
        allowed is not None and line.passed is False and line.rule in allowed.rules and line.rule not in NEVER
        and not policy.requirements.whole_output
    )  # fmt: skip


def out_of_reach(policy: Policy, line: RuleVerdict) -> bool:
    """Return whether no decision on records, signature or waiver can turn this line: the run itself breaks it."""
    if line.passed is not False or line.met or waivable(policy, line):
        return False
    return bool(line.finding) or line.rule in BREAKS


def in_order(policy: Policy, lines: Iterable[RuleVerdict]) -> tuple[RuleVerdict, ...]:
    """Return lines as they are read: first what no decision can turn, then in the policy's order."""
    return tuple(sorted(lines, key=lambda line: not out_of_reach(policy, line)))


def basis(policy: Policy, line: RuleVerdict, examination: str, sample: str = "") -> str:
    """Return the digest of what a waiver of this line is given for, after this examination.

    Args:
        sample: id of the spot check or intruder trial that the line is about, if it is about one.
    """
    stands_on = f"{examination} {sample}" if sample else examination
    return basis_of(policy.digest, line.rule, line.value, line.threshold, line.sentence, stands_on)


def _sample(line: RuleVerdict, facts: GateFacts) -> str:
    """Return the id of the spot check or intruder trial that a line is about, empty where it is about none."""
    if line.rule in INTRUDER_RULES:
        return "" if facts.intruder is None else facts.intruder.trial
    return facts.missed.check if facts.missed is not None and line.rule in SPOT_RULES else ""


def _judge(rule: Rule, findings: Sequence[Finding], facts: GateFacts) -> RuleVerdict:
    main = _find(findings, rule.finding, rule.reference)
    other = _find(findings, rule.finding, rule.above) if rule.above else None
    if main is None or (rule.above and other is None):
        line = _line(rule, None, None, "Not measured yet.")
        return replace(line, remedy=AGAIN) if facts.run_stale else line
    if facts.stale:
        line = _line(rule, None, None, "The findings are older than the records or marks they describe.")
        return replace(line, remedy=AGAIN) if facts.run_stale else line
    if main.n == 0 and (why := main.settings.get("why")) in rule.nothing_to_leak:
        return _line(rule, None, True, f"There is nothing to leak: {_in_words(str(why))}.")
    if not _finite(main.value) or (other is not None and not _finite(other.value)):
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


def _no_leak(findings: Sequence[Finding], facts: GateFacts) -> RuleVerdict:
    """Return the line about the sentences that Privacy opens with: none may say that private text is given away."""
    title = "Nothing more is given away than chance explains"
    if not facts.examined or facts.stale:
        said = "Not measured yet." if not facts.stale else "The findings are older than what they describe."
        line = fact_line(NO_LEAK, title, False, said, AGAIN if facts.run_stale else EXAMINE)
        return replace(line, passed=None)
    leaks = given_away(findings, {"kind": facts.guarantee_kind, "epsilon": facts.epsilon})
    if not leaks:
        said = "No finding about identifiers, copied text or canaries lies above chance."
        return fact_line(NO_LEAK, title, True, said, "")
    said = f"More than chance explains: {' '.join(leak.brief or leak.text for leak in leaks)}"
    remedy = "Plan a method that writes new text, best one with a proven bound (ε), or release to a smaller circle."
    return fact_line(NO_LEAK, title, False, said, remedy, 0.0, float(len(leaks)))


def _as_measured(chosen: Chosen) -> RuleVerdict:
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
    if rule.above is None or found is None or not _finite(found.value):
        return ""
    ends = "" if found.low is None or found.high is None else (
        f" ({show(found.name, found.low)} to {show(found.name, found.high)})")  # fmt: skip
    return (
        " The training part is the larger one, of which more stands in a text by chance too; beside as many of its "
        "records as of the holdout, which sees what is of these alone, the difference is "
        f"{show(found.name, found.value)}{ends}."
    )


def _needed(kinds: Sequence[str]) -> str:
    """Return what a policy asks of a run's proof."""
    if set(kinds) == {"dp"}:
        return "A proven bound (ε) is needed."
    if set(kinds) == {"dp", "selection-only"}:
        return "A proof is needed, if only of the choice."
    return f"Needed is one of: {', '.join(kinds)}."


def _measured(rule: Rule, value: float, findings: Sequence[Finding], facts: GateFacts) -> RuleVerdict:
    """Return the line of a rule without a limit: met, and marked where the number is high all the same.

    What Privacy leads with on the same stands first; where that is no more than chance gives, the number is not marked.
    """
    title = MEASURES[rule.finding].title if rule.finding in MEASURES else ""
    shown = show(rule.finding, value)
    lead = leading(findings, rule.finding, {"kind": facts.guarantee_kind, "epsilon": facts.epsilon})
    first = _find(findings, PRIVACY_COUNTS.get(rule.finding, ""), rule.reference)
    if lead is not None and lead.brief and lead.level != "unknown":
        brief = lead.brief.partition(": ")[2].rstrip(".")
        shared = ", with what many people share too" if lead.finding != rule.finding else ""
        outcome = f"Measured: {brief}. This rule goes by {shown} against all that was used{shared}."
    elif first is not None and _finite(first.value) and show(first.name, first.value) != shown:
        outcome = (
            f"Measured: {show(first.name, first.value)} as Privacy counts, and {shown} with what many people share, "
            "which this rule goes by."
        )
    else:
        outcome = f"Measured: {shown}{f' ({title[:1].lower()}{title[1:]})' if title else ''}."
    if rule.high_from is None or value < rule.high_from:
        return _line(rule, value, True, outcome)
    if lead is not None and (lead.level == "chance" or lead.nothing):
        return _line(rule, value, True, f"{outcome} That is no more than chance gives.")
    outcome += f" That is high: {show(rule.finding, rule.high_from)} or more, which this policy allows."
    return replace(_line(rule, value, True, outcome), high=True)


def _why(main: Finding, other: Finding | None) -> str:
    """Return why a number is missing, in the words the examination left."""
    blame = main if not _finite(main.value) or other is None else other
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
    if end is None or not _finite(end):
        return None
    if other is None:
        return end
    opposite = other.low if up else other.high
    if opposite is None or not _finite(opposite):
        return None
    margin = math.hypot(end - main.value, other.value - opposite)
    return main.value - other.value + (margin if up else -margin)


def _requirements(policy: Policy, facts: GateFacts) -> list[RuleVerdict]:
    need = policy.requirements
    total = facts.approved + facts.rejected + facts.pending
    reviewed = (facts.approved + facts.rejected) / total if total else 0.0
    enough = bool(total) and reviewed >= need.minimum_reviewed_share
    lines = [
        fact_line("run-complete", "The run is complete", facts.run_state == "done",
              f"The run's state is “{facts.run_state}”.", "Wait for the run to end, or resume it on the Run page."),
        _held(facts),
        _run_held(facts),
        *([_unmeasured(facts, policy.title), _whole(facts)] if need.whole_output else [_current(facts)]),
        fact_line("approved", "Only approved records leave", facts.approved >= need.minimum_approved,
              f"{facts.approved:,} approved, {facts.rejected:,} rejected, {facts.pending:,} undecided.",
              "Approve at least one record.", float(need.minimum_approved), float(facts.approved)),
    ]  # fmt: skip
    if need.minimum_reviewed_share > 0:
        lines.append(
            fact_line("reviewed", "A person decided on the records", enough,
                  f"Decided on {facts.approved + facts.rejected:,} of {total:,}; "
                  f"{need.minimum_reviewed_share:.0%} is needed.",
                  "Approve or reject the records that are still undecided.", need.minimum_reviewed_share, reviewed)
        )  # fmt: skip
    if set(need.guarantee_kinds) != {"none", "heuristic", "selection-only", "dp"}:
        lines.append(
            fact_line("guarantee", "The method carries a formal guarantee",
                      facts.guarantee_kind in need.guarantee_kinds,
                  f"{KIND_SAYS[facts.guarantee_kind]} {_needed(need.guarantee_kinds)}",
                  "Choose a method with a formal guarantee, or a policy for a smaller circle of readers.")
        )  # fmt: skip
    if need.highest_epsilon is not None:
        lines.append(_small_enough(facts, need.highest_epsilon))
    if facts.guarantee_kind != "dp":  # elsewhere the comparison itself would choose by private data
        lines.append(_no_original(facts))
        if need.missed is not None:
            lines += missed_lines(need.missed, facts.missed)
    if need.intruder is not None:
        lines += intruder_lines(need.intruder, facts.intruder)
    if need.second_person:
        lines.append(_second_person(facts))
    return lines


def _no_original(facts: GateFacts) -> RuleVerdict:
    """Return the line that no policy leaves out and nobody can waive."""
    title = "No record is an original"
    remedy = "Reject the records that equal an original; the list of records names them first."
    if facts.originals is None:
        line = fact_line("originals", title, False, "The records were not compared with the originals yet.", EXAMINE)
        return replace(line, passed=None)
    said = (
        "None of the approved records equals a record of the corpus, in whatever spelling." if not facts.originals
        else f"{facts.originals:,} of the approved records equal a record of the corpus, or differ in spelling alone."
    )  # fmt: skip
    return fact_line("originals", title, not facts.originals, said, remedy, 0.0, float(facts.originals))


def _held(facts: GateFacts) -> RuleVerdict:
    """Return the line about the review as it stands in the database, which nobody can waive."""
    said = {
        None: "Decisions and marks were not held against the audit log.",
        True: "Decisions and marks are those that the audit log tells of.",
        False: "Decisions, marks, records or the audit log itself were changed outside of the program.",
    }[facts.held]
    return fact_line(
        "decisions-held", "The review is as people left it", facts.held, said,
        f"{SAYS_WHAT} Restore the latest backup, or import the file anew and review it again.",
    )  # fmt: skip


def _run_held(facts: GateFacts) -> RuleVerdict:
    """Return the line about the run as it stands in the database, which nobody can waive."""
    said = {
        None: "The run was not held against the audit log.",
        True: "Settings, guarantee, texts, findings and approvals are those that the audit log tells of.",
        False: "The run's settings, guarantee, texts, findings or approvals were changed outside of the program.",
    }[facts.run_held]
    if facts.run_held and facts.run_earlier:
        said = "An earlier edition made this run: its settings, guarantee and texts are not under the audit log."
    return fact_line(
        "run-held", "The run is as it was made", facts.run_held, said,
        f"{SAYS_WHAT} Restore the latest backup, or run the method again.",
    )  # fmt: skip


def _unmeasured(facts: GateFacts, policy: str) -> RuleVerdict:
    said = "Nothing of this run was measured on private data, so nothing private chose among its records."
    looked = facts.examined or facts.in_part is not None or facts.text_examined
    if facts.examined or facts.in_part is not None:
        said = f"This run was examined{_in_part(facts)}; “{policy}” takes one that nobody looked at."
    elif looked:
        said = (
            "A run with the same text or, without noise, the same seed (it may be deleted by now) was examined, or, "
            "for one that was chosen among runs, one of these or one that was left out of them, or, for one made from "
            f"an earlier run's winners or with its model, that run; “{policy}” takes one that nobody looked at."
        )
    elif facts.lost:
        said = (
            "The run is older than a restore, an accepted rollback or a copy of the workspace, which lost what "
            "happened for a time: nobody can tell whether the run was examined then."
        )
    elif facts.pool_compared:
        said = (
            "A pool was compared with the original records before the run was asked for, and the pool of this run was "
            "not here, as it is, before that: what the comparison showed may have decided which texts are in it, which "
            "the run's statement does not cover."
        )
    elif facts.watched:
        said = "The loss of training on private records was watched, which the run's statement does not cover."
    elif facts.stale:
        said = "Spans or settings changed after the run was made."
    measured = "choose a policy with measurements, whose card says that the statement holds before selection."
    if spent(facts.claim, facts.making):
        remedy = f"{NOTHING_LEFT} So {measured}"
    else:
        door = unexamined(facts.claim, facts.making) or "make the run again, and let that output leave unexamined"
        remedy = f"{door[:1].upper()}{door[1:]}{cost(facts.claim, facts.making)}; or {measured}"
    return fact_line(
        "unmeasured",
        "Nothing private had a say",
        not (looked or facts.lost or facts.pool_compared or facts.watched or facts.stale),
        said,
        remedy,
    )


def _in_part(facts: GateFacts) -> str:
    """Return how far an examination came that never ended; empty for one that did."""
    if facts.examined or facts.in_part is None:
        return ""
    kept, parts = facts.in_part
    return f" in part ({kept} of {parts})" if kept and parts else " in part"


def _whole(facts: GateFacts) -> RuleVerdict:
    held = facts.rejected + facts.pending
    said = "Every record of the run leaves." if not held else f"{held:,} records of the run are held back."
    return fact_line("whole", "The whole output leaves", bool(facts.approved) and not held, said,
                 "Approve every record, or choose another policy.", 0.0, float(held))  # fmt: skip


def _small_enough(facts: GateFacts, limit: float) -> RuleVerdict:
    known = facts.guarantee_kind == "dp" and _finite(facts.epsilon)
    passed = known and facts.epsilon is not None and facts.epsilon <= limit
    said = (
        f"ε = {upward(facts.epsilon or 0.0, 6)}; at most {limit:g} is allowed."
        if known
        else "There is no ε to look at."
    )
    if known and facts.delta is not None and facts.units and facts.delta * facts.units >= 1.0:
        passed = False
        said += f" δ = {facts.delta:g} is 1/N or more for N = {facts.units:,}: it would allow one unit to be published."
    return fact_line("epsilon", "The guarantee is strong enough", passed, said,
                 "Run a method with a formal guarantee and a smaller ε.", limit, facts.epsilon)  # fmt: skip


def _current(facts: GateFacts) -> RuleVerdict:
    """Return the line about changes since the examination; without an examination nothing can be said."""
    title = "Nothing changed since the examination"
    if not facts.examined:
        line = fact_line(
            "current",
            title,
            False,
            "The run was not examined, so there is nothing to compare with.",
            AGAIN if facts.run_stale else EXAMINE,
        )
        return replace(line, passed=None)
    said = "Records, marks or settings changed after the examination." if facts.stale else (
        "The findings describe the records as they are now.")  # fmt: skip
    again = AGAIN if facts.run_stale else "Examine the run again."
    return fact_line("current", title, not facts.stale, said, again)


def _second_person(facts: GateFacts) -> RuleVerdict:
    first, second = (" ".join(folded(name).split()) for name in (facts.actor, facts.signed_off_by))
    if not second:
        text = "Nobody has signed."
    elif second == first:
        text = "The person who releases cannot also be the second person."
    else:
        text = "Signed by a second person."
    return fact_line("second-person", "A second person signs", bool(second) and second != first, text,
                 "Ask a colleague to sign under “Second person”.")  # fmt: skip


def _line(rule: Rule, value: float | None, passed: bool | None, outcome: str) -> RuleVerdict:
    reference = f"{rule.reference} above {rule.above}" if rule.above else str(rule.reference)
    remedy = EXAMINE if passed is None else rule.remedy
    return RuleVerdict(rule.id, rule.title, rule.finding, reference, rule.threshold, value, passed,
                       f"{rule.sentence} {outcome}", remedy)  # fmt: skip


def _find(findings: Sequence[Finding], name: str, reference: Reference | None) -> Finding | None:
    """Return the one finding asked for; two that contradict each other count as none."""
    found = [f for f in findings if f.name == name and f.reference == reference]
    return found[0] if len(found) == 1 else None


def _finite(value: float | None) -> bool:
    return isinstance(value, (int, float)) and math.isfinite(value)
