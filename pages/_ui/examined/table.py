"""Findings as tables: one row a measure with its references side by side, and every number in full."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from engine import MEASURES, REFERENCES, Finding, show_measure
from pages._ui.parts import wrapped
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
NUMBERS = ("Value", "Low", "High")
FULL = {
    "Finding": 150,
    "Held against": 105,
    "Good is": 90,
    "Interval and source": 430,
    "What is measured": 380,
}  # pixels
TALL = 640  # pixels: about ten findings
TOLD = ("method", "source", "why")  # settings that stand in a column of their own
FEWER = "at_fewer_texts"  # the setting that holds values with their intervals
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
    headings: Mapping[str, str] = HEADINGS,
    explain: bool = True,
) -> None:
    """Draw one row a measure that any of the columns holds, whole at every width.

    Args:
        findings: what was measured.
        columns: references in the order of the columns; `excess` stands for more than chance.
        key: name of the table's container.
        headings: what a column is called.
        explain: whether a line below says what the columns hold.
    """
    rows = _by_measure(findings)
    used = [column for column in columns if any(column in row for row in rows.values())]
    rows = {name: row for name, row in rows.items() if any(column in row for column in used)}
    if rows:
        with st.container(key=key):
            wrapped.table(_beside(rows, used, headings), right=("n", *(headings[column] for column in used)))
        said = [f"{headings[column]}: {HELP[column]}." for column in used if column in HELP and explain]
        if said:
            st.caption(" ".join(said))


def unmeasured(findings: Sequence[Finding]) -> list[str]:
    """Return the measures without any number, which are said in one sentence, not in rows that say nothing."""
    return [name for name, row in _by_measure(findings).items() if all(f.value != f.value for f in row.values())]


def say_unmeasured(names: Sequence[str]) -> None:
    """Draw the sentence that names what could not be measured."""
    if names:
        st.caption(f"Not estimable here: {', '.join(plain(title(name)) for name in names)}. “All numbers” says why.")


def _by_measure(findings: Sequence[Finding]) -> dict[str, dict[str, Finding]]:
    """Return measure -> reference -> finding; `excess` stands for more than chance."""
    rows: dict[str, dict[str, Finding]] = {}
    for finding in findings:
        if finding.name.endswith(EXCESS):
            rows.setdefault(finding.name.removesuffix(EXCESS), {})["excess"] = finding
        else:
            rows.setdefault(finding.name, {})[finding.reference] = finding
    return rows


def _beside(
    rows: Mapping[str, Mapping[str, Finding]], columns: Sequence[str], headings: Mapping[str, str]
) -> pd.DataFrame:
    """Return one row a measure, its references side by side, as they are drawn."""
    shown = {"Finding": [title(name) for name in rows]}
    for column in columns:  # two of them may share a heading; a measure has one of the two
        before = shown.get(headings[column], [""] * len(rows))
        shown[headings[column]] = [
            cell(row.get(column)) or held for row, held in zip(rows.values(), before, strict=True)
        ]
    firsts = [next(iter(row.values())) for row in rows.values()]
    shown["n"] = [f"{one.n:,}" for one in firsts]
    if len({one.direction for one in firsts}) > 1:
        shown["Good is"] = [one.direction.split(" is ")[0] for one in firsts]
    return pd.DataFrame(shown)


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
            "Interval and source": [_basis(f) for f in findings],
            "Good is": [f.direction.split(" is ")[0] for f in findings],
            "What is measured": [f.measure for f in findings],
            "Settings": [_settings(f) for f in findings],
            "Name": [f.name for f in findings],
        }
    )
    for column in NUMBERS:
        table[column] = table[column].astype("float64")
    config: dict[str, Any] = {name: st.column_config.NumberColumn(format="%.4g", width=62) for name in NUMBERS}
    config |= {name: st.column_config.TextColumn(width=width) for name, width in FULL.items()}
    config["n"] = st.column_config.NumberColumn(format="localized", width=60)
    st.dataframe(
        table, hide_index=True, key=key, row_height=wrapped.ROW, column_config=config, placeholder="–",
        height=min(TALL, 40 + wrapped.ROW * len(table)), alt="Every finding with its interval, source and settings",
    )  # fmt: skip
    st.caption(
        "Low and High are the ends of the 95% interval. Shares are given as fractions of one here. What is measured, "
        "the settings and the name in files stand further to the right."
    )


def meanings(findings: Sequence[Finding], *, key: str) -> None:
    """Say what a chosen measure means and what it does not show, or all of them, one below the other."""
    names = [name for name in dict.fromkeys(f.name for f in findings) if name in MEASURES]
    if not names:
        st.caption("Nothing was measured yet.")
        return
    names.sort(key=lambda name: MEASURES[name].title)
    chosen = st.selectbox("Measure", names, key=f"{key}.measure", format_func=title, help="Type to search.")
    _meaning(str(chosen))
    if st.toggle(f"All {len(names)} measures, one below the other", key=f"{key}.measures", wrap=True):
        for name in names:
            if name != chosen:
                _meaning(name)


def _meaning(name: str) -> None:
    measure = MEASURES[name]
    st.markdown(
        f"**{measure.title}** ({measure.direction})  \n{measure.means}  \n:gray[Keep in mind: {measure.caveat}]"
    )
    st.caption(f"{measure.measure[0].upper()}{measure.measure[1:]}. Source: {measure.source}.")


def _basis(finding: Finding) -> str:
    settings = finding.settings
    if finding.value != finding.value:
        return f"not estimable: {settings.get('why', 'no reason recorded')}"
    return "; ".join(str(settings[name]) for name in ("method", "source") if settings.get(name))


def _settings(finding: Finding) -> str:
    """Return what the number depends on, in the words it is kept by: sizes, models, thresholds, chance."""
    told = (
        (name, fewer(value) if name == FEWER else _said(value))
        for name, value in finding.settings.items()
        if name not in TOLD and value not in (None, [], {})
    )
    return "; ".join(f"{name.replace('_', ' ')}: {value}" for name, value in told)


def fewer(values: Mapping[str, Sequence[float | None]]) -> str:
    """Return a finding's values at fewer texts, each with its interval where it has one."""
    said = []
    for texts, (value, *ends) in values.items():
        interval = "" if None in ends else f" ({' to '.join(_said(end) for end in ends)})"
        said.append(f"{'none' if value is None else _said(value)}{interval} of {int(texts):,}")
    return ", ".join(said)


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
