"""Read a policy from YAML, strictly: a refusal names the line, and nothing is guessed or run.

The loader makes plain values only; anchors, repeated keys and unknown fields are refused, so that the file says what
a reader sees in it. What no policy can leave out (no original leaves, only approved records, nothing stale) is not
written in a policy and cannot be switched off by one.
"""

from __future__ import annotations

from engine.errors import UserError
from engine.examine.measures import MEASURES
from engine.release.policy.policy import Policy, policies
from engine.release.strict_yaml import read_strict

LARGEST = 64 * 1024  # bytes


def read_policy(text: str, name: str = "policy") -> Policy:
    """Return the policy of a file.

    Args:
        text: the file's content. name: what the file is called, for a refusal.

    Raises:
        UserError: the file is too large, is not YAML, or breaks the schema; says the line and the field.
    """
    return read_strict(text, name, Policy, largest=LARGEST, compare="a preset")


def read_own(text: str, name: str = "policy") -> Policy:
    """Return a custodian's own policy; see `read_policy`.

    Raises:
        UserError: as there; or it takes a preset's id or title, asks for a finding that does not exist, or takes
            reasons for a missing number that no preset takes.
    """
    policy, presets = read_policy(text, name), policies()
    if any(policy.id == one.id or policy.title.casefold() == one.title.casefold() for one in presets):
        raise UserError(f"{name}: id, title: a preset is called so; choose another name for your own policy")
    reasons = {reason for one in presets for rule in one.rules for reason in rule.nothing_to_leak}
    for rule in policy.rules:
        if rule.finding not in MEASURES:
            raise UserError(f"{name}: rules: {rule.id}: no finding is called {rule.finding!r}")
        if not set(rule.nothing_to_leak) <= reasons:
            raise UserError(
                f"{name}: rules: {rule.id}: nothing_to_leak: only the reasons of the presets count: "
                f"{'; '.join(sorted(reasons))}"
            )
    return policy
