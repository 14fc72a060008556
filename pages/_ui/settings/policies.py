"""The release policies side by side, so that a custodian can choose before any number is known."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

import engine
from engine import MEASURES, REFERENCES, show_measure
from pages._ui.texts import GUARANTEES

ANY_GUARANTEE = 4


def draw(workspace: engine.Workspace) -> None:
    """Draw one table: a row a condition, a column a policy."""
    policies = workspace.releases.policies()
    st.caption("Thresholds are fixed before anything is measured. A missing number never passes.")
    rows: dict[str, dict[str, str]] = {}
    for policy in policies:
        for name, value in _requirements(policy).items():
            rows.setdefault(name, {})[policy.title] = value
    for policy in policies:
        for rule in policy.rules:
            rows.setdefault(_name(rule), {})[policy.title] = _limit(rule)
    table = pd.DataFrame.from_dict(rows, orient="index").reindex(columns=[p.title for p in policies]).fillna("–")
    table.index.name = "Condition"
    st.dataframe(
        table.reset_index(),
        hide_index=True,
        height="content",
        alt="Release policies and their conditions",
        column_config={"Condition": st.column_config.TextColumn(width="large")},
    )


def _name(rule: engine.Rule) -> str:
    title = MEASURES[rule.finding].title if rule.finding in MEASURES else rule.finding
    if rule.finding.endswith("_excess"):
        return title
    return f"{title}: {REFERENCES[rule.reference]}" + (f" above {rule.above}" if rule.above else "")


def _limit(rule: engine.Rule) -> str:
    if rule.threshold is None:
        return "measured"
    return f"{rule.comparator} {show_measure(rule.finding, rule.threshold)}"


def _requirements(policy: engine.Policy) -> dict[str, str]:
    need = policy.requirements
    return {
        "Records a person decided on": _share_of_all(need.minimum_reviewed_share),
        "Formal guarantee": _kinds(need.guarantee_kinds),
        "Largest ε": "–" if need.highest_epsilon is None else f"{need.highest_epsilon:g}",
        "The whole output leaves, unexamined": "yes" if need.whole_output else "no",
        "No record is an original (methods without a proof)": "yes",
        "Second person signs": "yes" if need.second_person else "no",
        "Longest copied run of words": "no limit"
        if need.longest_copied_words is None
        else str(need.longest_copied_words),
    }


def _share_of_all(share: float) -> str:
    return "all" if share >= 1 else "none needed" if share == 0 else f"{share:.0%}"


def _kinds(kinds: Sequence[str]) -> str:
    if len(kinds) == ANY_GUARANTEE:
        return "not needed"
    return " or ".join(GUARANTEES[kind][0] for kind in kinds)
