"""Runs side by side: the table of findings, and better, worse or cannot tell in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from engine import MEASURES, REFERENCES, show_measure
from pages._ui.examined import topics
from pages._ui.parts import wrapped
from pages._ui.texts import count_of

OUTCOMES = {"better": "▲ better", "worse": "▼ worse", "same": "= same", "cannot tell": "≈ cannot tell",
            "other size": "– no number of texts in common", "not measured": "– not measured in both",
            "": ""}  # fmt: skip


def letters(run_ids: Sequence[str]) -> dict[str, str]:
    """Return A, B, C, D for the runs in the order they were chosen."""
    return dict(zip(run_ids, "ABCD", strict=False))


def sentences(table: pd.DataFrame, names: Mapping[str, str]) -> list[str]:
    """Return one sentence a run after the first, a group at a time."""
    first, *others = names
    result = []
    for run in others:
        parts = []
        for group in ("privacy", "utility"):
            outcome = table.loc[table["group"] == group, f"{run} against first"]
            outcome = outcome[outcome != ""]
            if outcome.empty:
                continue
            counts = outcome.value_counts()
            unsure = counts.get("cannot tell", 0) + counts.get("same", 0)
            sized = int(counts.get("other size", 0))
            measured = len(outcome) - int(counts.get("not measured", 0)) - sized
            said = (
                f"{group}: better on {counts.get('better', 0)}, worse on {counts.get('worse', 0)}, "
                f"cannot tell on {unsure} of the {measured} measured in both"
            )
            if sized:
                said += (
                    f" ({sized} more {'moves' if sized == 1 else 'move'} with the number of texts, and the runs have "
                    "none in common)"
                )
            parts.append(said)
        result.append(f"**{names[run]}** against **{names[first]}**. " + _sentence("; ".join(parts)) + ".")
    return result


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]


def draw(table: pd.DataFrame, names: Mapping[str, str], group: str, *, context: bool) -> None:
    """Draw the rows of one group, folded by topic; `context` adds the rows that only give something to judge by."""
    rows = table[table["group"] == group]
    if rows.empty:
        st.caption(f"None of these runs has {group} findings yet.")
        return
    if not context:
        rows = rows[(rows.filter(like=" against first") != "").any(axis=1)]
    values = rows[[f"{run} value" for run in names]]
    unmeasured = int(values.isna().all(axis=1).sum())
    rows = rows[values.notna().any(axis=1)]
    for place, (title, members) in enumerate(topics.parts(rows["name"])):
        order = {name: at for at, name in enumerate(members)}
        part = rows[rows["name"].isin(members)].sort_values("name", key=lambda n: n.map(order), kind="stable")
        said = [count_of(len(part), "row"), *outcomes(part, names)]
        with topics.box(title, said, first=not place, key=f"compare.topic.{group}"):
            _frame(part, names, title)
    st.caption(
        f"{count_of(len(rows), 'row')}. Each difference is tested, record by record where both runs rewrote the same "
        "records. Better or worse is said so rarely by chance that of all that are said at most one in twenty is "
        "expected to be wrong. Rows that only give something to judge by carry no judgement."
        + (f" Left out: {count_of(unmeasured, 'row')} that none of these runs has a number for." if unmeasured else "")
    )


def outcomes(rows: pd.DataFrame, names: Mapping[str, str]) -> list[str]:
    """Return how often each run is better and worse than the first, as it stands beside a topic."""
    said = []
    for run, name in list(names.items())[1:]:
        found = rows[f"{run} against first"].tolist()
        said += [
            f":{colour}[{name[0]} {OUTCOMES[outcome].split()[0]} {found.count(outcome)} {outcome}]"
            for outcome, colour in (("better", "green"), ("worse", "red"))
            if outcome in found
        ]
    return said


def _frame(rows: pd.DataFrame, names: Mapping[str, str], title: str) -> None:
    """Draw rows as a table, a column a run."""
    shown: dict[str, Any] = {
        "Finding": [_title(name) for name in rows["name"]],
        "Held against": [REFERENCES.get(ref, ref) for ref in rows["reference"]],
        "Good is": rows["direction"].tolist(),
    }
    config: dict[str, Any] = {
        "Finding": st.column_config.TextColumn(pinned=True, width=140),
        "Held against": st.column_config.TextColumn(width=95),
        "Good is": st.column_config.TextColumn(width=65),
    }
    for run, name in names.items():
        letter = name[0]  # what the sentences above call it; its whole name would be cut
        shown[letter] = [
            cell(row["name"], row[f"{run} value"], row[f"{run} low"], row[f"{run} high"]) for _, row in rows.iterrows()
        ]
        config[letter] = st.column_config.TextColumn(
            alignment="right", width=105, help=f"{name}: value, and its 95% interval in brackets"
        )
        if f"{run} against first" in rows:
            column = f"{name[0]} against {next(iter(names.values()))[0]}"
            fewer = rows[f"{run} texts"].to_numpy()
            shown[column] = [
                outcome(word, int(texts)) for word, texts in zip(rows[f"{run} against first"], fewer, strict=True)
            ]
            config[column] = st.column_config.TextColumn(
                width=90,
                help="Where a measure moves with the number of texts and one run has clearly more of them, both are "
                "held against each other at the largest number that both were measured at",
            )
            pairs = rows[f"{run} pairs"].to_numpy()
            tested = [how(p, n) for p, n in zip(rows[f"{run} p"], pairs, strict=True)]
            shown[f"{column}: chance"] = tested
            config[f"{column}: chance"] = st.column_config.TextColumn(
                "Chance",
                width=85,
                help="How often chance alone gives a difference as large (p), and how many people were measured in "
                "both runs where records could be held against each other one by one",
            )
    st.dataframe(
        pd.DataFrame(shown),
        hide_index=True,
        column_config=config,
        alt=f"{title}: findings of the chosen runs",
        height="content",
        row_height=wrapped.ROW,
    )


def cell(name: str, value: float, low: float, high: float) -> str:
    """Return a value with its interval, or a dash where the run has none."""
    if value != value:
        return "–"
    if low != low or high != high:
        return show_measure(name, value)
    return f"{show_measure(name, value)} ({show_measure(name, low)} to {show_measure(name, high)})"


def outcome(word: str, texts: int) -> str:
    """Return an outcome as the table shows it, with the number of texts where it is not each run's own (0)."""
    shown = OUTCOMES.get(word, word)
    return f"{shown}, at {texts:,} texts" if texts and word != "other size" else shown


def how(p: float, pairs: int) -> str:
    """Return a p value, and on how many people it rests where their records were paired."""
    if p != p:
        return ""
    shown = "p < 0.001" if p < 0.001 else f"p = {p:.2g}"
    return f"{shown}, {count_of(int(pairs), 'person', 'people')} paired" if pairs else shown


def _title(name: str) -> str:
    return MEASURES[name].title if name in MEASURES else name.replace("_", " ")
