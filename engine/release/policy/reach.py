"""Which policies a planned run can still be released under, by what is known before it is made.

Posture: reads a claim and how many were set aside; nothing that was measured on private text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.release.policy.aside import least_aside
from engine.release.policy.audience import WIDEST_FIRST
from engine.release.policy.policy import Policy
from engine.release.policy.remedies import Claim, proof_takes


@dataclass(frozen=True)
class Reach:
    """Policies by title order, widest first: that can be passed, and that can hardly be with so few set aside."""

    open: tuple[Policy, ...]
    hardly: tuple[Policy, ...] = ()

    def ids(self) -> tuple[str, ...]:
        """Return the ids of those that can be passed."""
        return tuple(policy.id for policy in self.open)


def reach(policies: Sequence[Policy], claim: Claim, *, aside: int) -> Reach:
    """Return what a run with this claim could be released under.

    A policy that does not take the kind of guarantee, or so large an ε, is in neither list. One with limits beside the
    people set aside that a text which meets none of them leaves open is `hardly` passed (a rule of thumb, see
    `engine.release.policy.aside`).

    Args:
        policies: all there are. claim: of the planned run; an ε that is not known yet counts as taken. aside: people
            (or records) set aside, >= 0.
    """
    order = {name: at for at, name in enumerate(WIDEST_FIRST[:-1])}
    order |= {WIDEST_FIRST[-1]: len(order) + 1}  # policies of one's own stand before the narrowest
    taken = sorted(
        (policy for policy in policies if _takes(policy, claim)),
        key=lambda policy: -1 if policy.requirements.whole_output else order.get(policy.id, len(WIDEST_FIRST) - 1),
    )
    few = {policy.id for policy in taken if (least := least_aside(policy)) is not None and aside < least}
    return Reach(
        tuple(policy for policy in taken if policy.id not in few), tuple(policy for policy in taken if policy.id in few)
    )


def _takes(policy: Policy, claim: Claim) -> bool:
    """Return whether a policy takes a claim, whatever is measured and decided."""
    need = policy.requirements
    if claim.kind not in need.guarantee_kinds or (need.whole_output and not proof_takes(claim)):
        return False
    return not (claim.epsilon and need.highest_epsilon is not None and claim.epsilon > need.highest_epsilon)
