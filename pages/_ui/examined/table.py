"""Findings as tables: one row a measure with its references side by side, and every number in full."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from engine import MEASURES, REFERENCES, Finding, show_measure
from pages._ui.texts import plain

EXCESS = "_excess"
HEADINGS = {
    "none": "Synthetic text",
    "train": "Training part",
    "holdout": "Holdout",
    "baseline": "Unused real records",
    "excess": "More than chance",
    "real": "Real against real",
    "unrelated": "Unrelated text",
}
WIDTHS = {"train": 170, "holdout": 160, "baseline": 160, "excess": 155, "none": 110, "real": 170, "unrelated": 110}
TOLD = ("method", "source", "why")  # settings that stand in a column of their own
HELP = {
    "holdout": "Set aside at import and used by nobody: what stands here is chance",
    "baseline": "Real records that nobody used, in the place of the synthetic ones, against the training part",
    "excess": "Training part minus holdout, at equally many records of each",
    "real": "One half of the training part against the other: nothing can be expected to do better",
    "unrelated": "Text about something else: the other end",
}


def title(name: str) -> str:
    """Return a finding's plain name."""
    return MEASURES[name].title if name in MEASURES else name.replace("_", " ")


def cell(finding: Finding | None) -> str:
    """Return value and interval, "not estimable", or an empty string where there is no such finding."""
    if finding is None:
        return ""
    if finding.value != finding.value:
        return "not estimable"
    if finding.low is None or finding.high is None:
        return show_measure(finding.name, finding.value)
    ends = f"{show_measure(finding.name, finding.low)} to {show_measure(finding.name, finding.high)}"
    return f"{show_measure(finding.name, finding.value)} ({ends})"


def triples(
    findings: Sequence[Finding],
    columns: Sequence[str],
    *,
    key: str,
    alt: str,
    headings: Mapping[str, str] = HEADINGS,
    fold: bool = False,
) -> None:
    """Draw one row a measure; `columns` are references, `excess` stands for more than chance.

    With `fold`, measures without any number stand in one sentence below, not in rows that say nothing.
    """
    rows: dict[str, dict[str, Finding]] = {}
    for finding in findings:
        if finding.name.endswith(EXCESS):
            rows.setdefault(finding.name.removesuffix(EXCESS), {})["excess"] = finding
        else:
            rows.setdefault(finding.name, {})[finding.reference] = finding
    unknown = [name for name, row in rows.items() if fold and all(one.value != one.value for one in row.values())]
    rows = {name: row for name, row in rows.items() if name not in unknown}
    shown: dict[str, list[Any]] = {"Finding": [title(name) for name in rows]}
    config: dict[str, Any] = {"Finding": st.column_config.TextColumn(pinned=True, width=250)}
    for reference in columns:
        if not any(reference in row for row in rows.values()):
            continue
        heading = headings[reference]
        shown[heading] = [cell(row.get(reference)) for row in rows.values()]
        config[heading] = st.column_config.TextColumn(
            alignment="right", width=WIDTHS.get(reference), help=HELP.get(reference)
        )
    shown["n"] = [next(iter(row.values())).n for row in rows.values()]
    directions = [next(iter(row.values())).direction for row in rows.values()]
    if len(set(directions)) > 1:
        shown["Good is"] = directions
    config["n"] = st.column_config.NumberColumn(
        format="localized", help="How many items the first number rests on", width=70
    )
    st.dataframe(pd.DataFrame(shown), hide_index=True, column_config=config, key=key, alt=alt, height="content")
    if unknown:
        st.caption(f"Not estimable here: {', '.join(plain(title(name)) for name in unknown)}. “All numbers” says why.")


def in_full(findings: Sequence[Finding], *, key: str) -> None:
    """Draw every number with its interval, reference, direction, source and settings."""
    table = pd.DataFrame(
        {
            "Finding": [title(f.name) for f in findings],
            "Held against": [REFERENCES.get(f.reference, f.reference) for f in findings],
            "Value": [f.value for f in findings],
            "Low": [f.low for f in findings],
            "High": [f.high for f in findings],
            "n": [f.n for f in findings],
            "Good is": [f.direction for f in findings],
            "What is measured": [f.measure for f in findings],
            "Interval and source": [_basis(f) for f in findings],
            "Settings": [_settings(f) for f in findings],
            "Name": [f.name for f in findings],
        }
    )
    for column in ("Value", "Low", "High"):
        table[column] = table[column].astype("float64")
    numbers = {name: st.column_config.NumberColumn(format="%.4g") for name in ("Value", "Low", "High")}
    st.dataframe(
        table,
        hide_index=True,
        key=key,
        column_config=numbers,
        alt="Every finding with its interval, source and settings",
    )
    st.caption("Low and High are the ends of the 95% interval. Shares are given as fractions of one here.")


def meanings(findings: Sequence[Finding]) -> None:
    """Say, a measure, what it means and what it does not show."""
    for name in dict.fromkeys(f.name for f in findings):
        measure = MEASURES.get(name)
        if measure is None:
            continue
        st.markdown(
            f"**{measure.title}** ({measure.direction})  \n{measure.means}  \n:gray[It does not show: {measure.caveat}]"
        )
        st.caption(f"{measure.measure[0].upper()}{measure.measure[1:]}. {measure.source}.")


def _basis(finding: Finding) -> str:
    settings = finding.settings
    if finding.value != finding.value:
        return f"not estimable: {settings.get('why', 'no reason recorded')}"
    return "; ".join(str(settings[name]) for name in ("method", "source") if settings.get(name))


def _settings(finding: Finding) -> str:
    """Return what the number depends on, in the words it is kept by: sizes, models, thresholds, chance."""
    told = ((name, value) for name, value in finding.settings.items() if name not in TOLD)
    return "; ".join(f"{name.replace('_', ' ')}: {_said(value)}" for name, value in told if value not in (None, [], {}))


def _said(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3g}".replace("-", "−")
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_said(one)}" for name, one in value.items())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(_said(one) for one in value)
    return str(value)
