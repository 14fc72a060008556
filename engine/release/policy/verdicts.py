"""A policy's answer for one run, line by line.

Privacy posture: a verdict quotes measured values and is internal. It never goes into a bundle.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

from engine.release.policy.waivers import Waiver


@dataclass(frozen=True)
class RuleVerdict:
    """One line of the check-list.

    `passed` is None where the rule could not be judged, which counts as not passed. `value` is the
    number that was compared (an interval's end, a difference, a count) and may be None. `high` says that
    a number which only had to be measured lies above what the policy calls high. `waived` is there where a person
    lets the run pass although this line is not met.
    """

    rule: str
    title: str
    finding: str
    reference: str
    threshold: float | None
    value: float | None
    passed: bool | None
    sentence: str
    remedy: str
    high: bool = False
    waived: Waiver | None = None

    @property
    def met(self) -> bool:
        """Whether this line lets the run pass: it is met, or waived."""
        return self.passed is True or (self.passed is False and self.waived is not None)


@dataclass(frozen=True)
class Verdict:
    """A policy's answer for one run; `digest` is that of the policy as it was asked."""

    policy: str
    passed: bool
    rules: tuple[RuleVerdict, ...]
    digest: str = ""

    def open_rules(self) -> tuple[RuleVerdict, ...]:
        """Return the lines that stand in the way."""
        return tuple(rule for rule in self.rules if not rule.met)

    def high_rules(self) -> tuple[RuleVerdict, ...]:
        """Return the lines that are met although what they measured is high."""
        return tuple(rule for rule in self.rules if rule.high)

    def waived_rules(self) -> tuple[RuleVerdict, ...]:
        """Return the lines that are not met and that a person waived."""
        return tuple(rule for rule in self.rules if rule.met and rule.waived is not None)

    def as_dict(self) -> dict[str, object]:
        """Return a JSON-ready mapping."""
        return {"policy": self.policy, "passed": self.passed, "rules": [asdict(rule) for rule in self.rules]}


def fact_line(
    rule: str, title: str, passed: bool | None, sentence: str, remedy: str,
    threshold: float | None = None, value: float | None = None,
) -> RuleVerdict:  # fmt: skip
    """Return a line about a fact rather than about a finding."""
    return RuleVerdict(rule, title, "", "", threshold, value, passed, sentence, remedy)
