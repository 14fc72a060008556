"""To whom a run's text may go by what was measured: the widest policy that is met once its records are approved.

Privacy posture: the answer quotes measured values and is internal, as a verdict is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from engine.examine.findings.findings import Finding
from engine.release.policy.facts import GateFacts
from engine.release.policy.gate import evaluate
from engine.release.policy.policy import Policy
from engine.release.policy.verdicts import RuleVerdict

WIDEST_FIRST = ("public", "research", "internal", "exploratory")
NOBODY, SOMEBODY = "somebody who releases", "somebody else who signs"


@dataclass(frozen=True)
class Audience:
    """The widest policy that measurements meet, None where none does; the next wider one and what stands in its way."""

    policy: Policy | None
    wider: Policy | None
    missing: tuple[RuleVerdict, ...] = ()


def audience(policies: Sequence[Policy], findings: Iterable[Finding], facts: GateFacts) -> Audience:
    """Return the widest of `WIDEST_FIRST` that is met, people's decisions taken as made.

    Args:
        policies: all there are; others than those of `WIDEST_FIRST` are left out. findings: of the run.
        facts: of the run; approvals and signature are taken as given, and originals as rejected.
    """
    known, by_id = list(findings), {policy.id: policy for policy in policies}
    decided = replace(
        facts, approved=max(1, facts.approved + facts.rejected + facts.pending), rejected=0, pending=0,
        originals=None if facts.originals is None else 0,
        chosen=None, actor=NOBODY, signed_off_by=SOMEBODY,
    )  # fmt: skip
    wider: Policy | None = None
    missing: tuple[RuleVerdict, ...] = ()
    for policy in (by_id[name] for name in WIDEST_FIRST if name in by_id):
        verdict = evaluate(policy, known, decided)
        if verdict.passed:
            return Audience(policy, wider, missing)
        wider, missing = policy, verdict.open_rules()
    return Audience(None, wider, missing)
