"""Hold findings and facts against a policy; whatever is missing, not a number or stale is not passed.

Privacy posture: a verdict quotes measured values and is internal. It never goes into a bundle.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime

from engine.examine.findings.findings import Finding
from engine.release.policy.facts import GateFacts
from engine.release.policy.intruder import INTRUDER_RULES
from engine.release.policy.measured import as_measured, judge, no_leak
from engine.release.policy.missed import SPOT_RULES
from engine.release.policy.policy import NO_LEAK, Policy
from engine.release.policy.required import required
from engine.release.policy.verdicts import RuleVerdict, Verdict
from engine.release.policy.waivers import NEVER, Waiver, basis_of

BREAKS = ("guarantee", "epsilon", "unmeasured", NO_LEAK)  # facts of the run that no decision on its records changes


def evaluate(
    policy: Policy, findings: Iterable[Finding], facts: GateFacts, waivers: Iterable[Waiver] = (), today: str = ""
) -> Verdict:
    """Return the verdict of `policy`; it passes only if every single line is met or waived.

    Args:
        waivers: those given for the run under this policy and not withdrawn; the latest of a rule counts.
        today: day, ISO 8601, on which one must hold; today by default.
    """
    known, day = list(findings), today or datetime.now(UTC).date().isoformat()
    lines = [*required(policy, facts), *(judge(rule, known, facts) for rule in policy.rules)]
    if policy.requirements.no_leak:
        lines.append(no_leak(known, facts))
    if any(rule.threshold is not None for rule in policy.rules) and facts.chosen is not None:
        lines.append(as_measured(facts.chosen))
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
