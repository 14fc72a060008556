"""A small bundle, as the tests of what leaves write it."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from pydantic import BaseModel

from engine.dp.guarantee import Guarantee
from engine.examine.findings.findings import Finding
from engine.methods.base import MethodSpec
from engine.release import Bundle, CardFacts, GateFacts, Missed, build_card, evaluate, get_policy, write_bundle
from engine.release.bundle.signing import Signer

# Nothing was missed in a sample that is large enough for every preset, a part of it read by a second person.
READ = Missed(drawn=400, read=400, drawn_from=5000, direct=9.0, quasi=9.0, twice=40, read_twice=40)
GOOD = GateFacts(
    approved=4,
    rejected=0,
    pending=0,
    stale=False,
    guarantee_kind="none",
    examined=True,
    originals=0,
    missed=READ,
    held=True,
    run_held=True,
)


class NoParameters(BaseModel):
    """A method without settings."""


SPEC = MethodSpec("filter", "Three-stage filter", "Writes new text.", "Someone 2024", "none", (), NoParameters, "", "")


def written(destination: Path, signer: Signer | None = None, words: dict | None = None, **changes: object) -> Bundle:
    """Write a bundle of four records under the exploratory policy."""
    policy = get_policy("exploratory")
    found = [
        Finding(rule.finding, 0.0, 0.0, 0.0, 9, rule.reference, rule.finding, "lower is safer", "privacy")
        for rule in policy.rules
    ]
    card = build_card(CardFacts(SPEC, Guarantee("none", "No formal guarantee."), policy, **(words or {})))
    texts = [f"A made-up letter about walk {i}." for i in range(4)]
    arguments = {
        "release_id": "rel-1",
        "records": pd.DataFrame({"text": texts, "approval": "approved", "label": "knee"}),
        "card": card,
        "policy": policy,
        "verdict": evaluate(policy, found, GOOD),
        "sources": ["one two three four five six seven eight nine ten"],
        "originals": ["other"],
        "signer": signer,
    }
    return write_bundle(destination, **{**arguments, **changes})  # type: ignore[arg-type]
