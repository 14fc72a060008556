"""Waivers: a person lets a run pass although a rule is not met, where the policy allows it, for a reason and a time.

A waiver holds for what the rule found when it was given. Another number, policy, sample or examination is another
matter, since what else was found may have changed with it: then the waiver no longer applies, and somebody has to look
again. What was never judged cannot be waived, since nobody would know what they let pass.
"""

from __future__ import annotations

import hashlib
import json
import unicodedata
from dataclasses import dataclass
from datetime import date, timedelta

from engine.errors import UserError

NEVER = (  # a run's state, a review that was changed outside, an original, undecided records, an outdated examination,
    # a broken proof, a signature
    "run-complete", "decisions-held", "run-held", "originals", "approved", "reviewed", "current", "unmeasured", "whole",
    "guarantee", "epsilon", "second-person", "missed-sample", "intruder-trial",
)  # fmt: skip
SHORTEST_REASON, LONGEST_REASON = 10, 300


@dataclass(frozen=True)
class Waiver:
    """A waiver of one rule for one run.

    Attributes:
        person: who gave it. reason: public words. given, expires: days, ISO 8601; it holds on the last day still.
        basis: digest of the policy, of the examination, and of what the rule found when it was given.
    """

    id: str
    rule: str
    person: str
    reason: str
    given: str
    expires: str
    basis: str


def basis_of(
    policy_digest: str, rule: str, value: float | None, threshold: float | None, sentence: str, examination: str
) -> str:
    """Return the digest of what a waiver is given for; `examination` says which one it was."""
    content = json.dumps([policy_digest, rule, repr(value), repr(threshold), sentence, examination], ensure_ascii=True)
    return hashlib.sha256(content.encode()).hexdigest()


def reason_of(text: str) -> str:
    """Return a typed reason on one line, without characters that cannot be seen or turn the writing round.

    Raises:
        UserError: it is too short to say anything, or too long.
    """
    seen = "".join(c if unicodedata.category(c)[0] != "C" else " " for c in text)
    said = " ".join(seen.split())
    if not SHORTEST_REASON <= len(said) <= LONGEST_REASON:
        raise UserError(
            f"reason: say why in {SHORTEST_REASON} to {LONGEST_REASON} characters, for recipients to read; it has "
            f"{len(said):,}"
        )
    return said


def expiry_of(text: str, today: date, longest_days: int) -> str:
    """Return a day of expiry as ISO 8601.

    Raises:
        UserError: it is no day, lies in the past, or further ahead than the policy allows.
    """
    try:
        day = date.fromisoformat(text.strip())
    except ValueError:
        raise UserError("expires: give a day as YYYY-MM-DD") from None
    if not today <= day <= today + timedelta(days=longest_days):
        raise UserError(f"expires: give a day from today on, at most {longest_days} days ahead, as the policy allows")
    return day.isoformat()
