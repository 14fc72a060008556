"""The release policies side by side, so that a custodian can choose before any number is known."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

import engine
from engine.analysis.measures import MEASURES, show

ANY_GUARANTEE = 4


def draw(workspace: engine.Workspace) -> None:
    """Draw one table: a row a condition, a column a policy."""
    policies = workspace.policies()
    st.caption("Thresholds are fixed before anything is measured. A missing number never passes.")
    rows: dict[str, dict[str, str]] = {}
    for policy in policies:
        for rule in policy.rules:
            rows.setdefault(_name(rule), {})[policy.title] = _limit(rule)
        for name, value in _requirements(policy).items():
            rows.setdefault(name, {})[policy.title] = value
    table = pd.DataFrame.from_dict(rows, orient="index").reindex(columns=[p.title for p in policies]).fillna("–")
    table.index.name = "Condition"
    st.dataframe(table.reset_index(), hide_index=True, alt="Release policies and their conditions")


def _name(rule: Any) -> str:
    title = MEASURES[rule.finding].title if rule.finding in MEASURES else rule.finding
    return f"{title}, {rule.reference}" + (f" above {rule.above}" if rule.above else "")


def _limit(rule: Any) -> str:
    if rule.comparator == "measured":
        return "measured"
    return f"{rule.comparator} {show(rule.finding, rule.threshold)}"


def _requirements(policy: Any) -> dict[str, str]:
    need = policy.requirements
    return {
        "Records a person decided on": "all"
        if need.minimum_reviewed_share >= 1
        else f"{need.minimum_reviewed_share:.0%}",
        "Formal guarantee": "any" if len(need.guarantee_kinds) == ANY_GUARANTEE else ", ".join(need.guarantee_kinds),
        "Second person signs": "yes" if need.second_person else "no",
        "Longest copied run of words": "no limit"
        if need.longest_copied_words is None
        else str(need.longest_copied_words),
    }
