"""Runs side by side: the table of findings, and better, worse or cannot tell in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from engine import MEASURES, REFERENCES, TOPICS, show_measure, too_wide
from pages._ui.examined import topics
from pages._ui.parts import rows, wrapped
from pages._ui.texts import count_of

OUTCOMES = {"better": "▲ better", "worse": "▼ worse", "same": "= same", "cannot tell": "≈ cannot tell",
            "chance": "– chance: it read nothing private",
            "other size": "– no number of texts in common",
            "other embedder": "– meaning measured by another embedder", "not measured": "– not measured in both",
            "": ""}  # fmt: skip
CLEAR = ("better", "worse")
EXCESS = "_excess"
HARM = ("copies", "values", "people", "members")  # topics of privacy, what harms most first
# Of a finding's name, in the table of a line a row; below it the row is told in full.
SHORTER = {"of all that was used": "(of all used)", "recognised at 1%": "at 1%"}
SEEN = 13  # rows that are seen at once of those that tell runs apart
FINDING, NARROW = 410, 265  # pixels of a finding's name: whole in one line, and where four runs stand beside it


def short(name: str) -> str:
    """Return the number that a run's name begins with, as it stands on the board."""
    return name.split(" · ", 1)[0]


def head(name: str) -> str:
    """Return the heading of a run's column."""
    return f"Run {short(name)}"


def against(name: str, first: str) -> str:
    """Return the heading of the column in which a run is held against the first."""
    return f"{short(name)} against {short(first)}"


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
            unlike = int(counts.get("other embedder", 0))
            chance = int(counts.get("chance", 0))
            measured = len(outcome) - int(counts.get("not measured", 0)) - sized - unlike - chance
            better, worse = (int(counts.get(word, 0)) for word in CLEAR)
            said = f"{group}: better on {better or 'none'}, worse on {worse or 'none'} of {measured}"
            if unsure:
                said += f", the other {unsure} cannot be told" if better or worse else ", they cannot be told"
            if sized:
                said += (
                    f" ({sized} more {'moves' if sized == 1 else 'move'} with the number of texts, and the runs have "
                    "none in common)"
                )
            if unlike:
                said += f" (meaning was measured by different embedders, so {unlike} more cannot be held together)"
            if chance:
                said += f" ({chance} more can only be chance: one of the runs read nothing private)"
            parts.append(said)
        result.append(f"**{names[run]}** against **{names[first]}**. " + _sentence("; ".join(parts)) + ".")
    return result


def without_private(table: pd.DataFrame, untouched: Sequence[str], names: Sequence[str]) -> pd.DataFrame:
    """Return the table without a judgement that a run which read no private record leaks more than another.

    Args:
        table: of `examinations.compare`. untouched: runs with ε = 0; what matches in them is chance. names: all runs
            in order, the first is what the others are held against.
    """
    result = table.copy()
    privacy = result["group"] == "privacy"
    for run in names[1:]:
        column = f"{run} against first"
        worse = [word for word, one in (("worse", run), ("better", names[0])) if one in untouched]
        result.loc[privacy & result[column].isin(worse), column] = "chance"
    return result


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]


def draw(table: pd.DataFrame, names: Mapping[str, str], group: str, *, context: bool) -> None:
    """Draw the rows of one group: those that tell the runs apart first, the rest folded by topic.

    `context` adds the rows that only give something to judge by.
    """
    found = table[table["group"] == group]
    if found.empty:
        st.caption(f"None of these runs has {group} findings yet.")
        return
    if not context:
        found = found[(found.filter(like=" against first") != "").any(axis=1)]
    values = found[[f"{run} value" for run in names]]
    unmeasured = int(values.isna().all(axis=1).sum())
    found = found[values.notna().any(axis=1)]
    found = found.assign(title=titles(found))
    clear = found.filter(like=" against first").isin(CLEAR).any(axis=1)
    _apart(found[clear], names, group)
    rest = found[~clear]
    if len(rest):
        held = topics.parts(rest["name"])
        said = [count_of(len(rest), "row"), count_of(len(held), "topic")]
        with topics.box("Not told apart", said, first=False, key=f"compare.topic.{group}"):
            for title, members in held:
                order = {name: at for at, name in enumerate(members)}
                part = rest[rest["name"].isin(members)].sort_values("name", key=lambda n: n.map(order), kind="stable")
                st.markdown(f"**{title}**")
                _frame(part, names, title)
    if unmeasured:
        st.caption(f"Left out: {count_of(unmeasured, 'row')} that none of these runs has a number for.")


def explain() -> None:
    """Say below the tables how differences are judged."""
    st.caption(
        "Each difference is tested, record by record where both runs rewrote the same records. Better or worse is said "
        "so rarely by chance that of all that are said at most one in twenty is expected to be wrong. Rows that only "
        "give something to judge by carry no judgement."
    )


def _apart(found: pd.DataFrame, names: Mapping[str, str], group: str) -> None:
    """Draw the rows on which a run is better or worse than the first: a line each, the open one in full below."""
    if found.empty:
        st.markdown("No measure tells these runs apart.")
        return
    found = found.iloc[sorted(range(len(found)), key=lambda at: _place(str(found["name"].iloc[at])))]
    frame = pd.DataFrame(_cells(found, names))
    line = frame.copy()
    first, *others = names
    held = [against(names[run], names[first]) for run in others]
    for run, name in names.items():
        line[head(name)] = [brief(row["name"], row[f"{run} value"]) for _, row in found.iterrows()]
    for column in held:
        line[column] = line[column].str.split(",").str[0]  # at how many texts is told below
    for long, less in SHORTER.items():
        line["Finding"] = line["Finding"].str.replace(long, less)
    st.markdown(f"**{count_of(len(found), 'measure')} that {'tells' if len(found) == 1 else 'tell'} them apart**: "
                + ", ".join(outcomes(found, names)) + ".")  # fmt: skip
    ids = [f"{name} {reference}" for name, reference in zip(found["name"], found["reference"], strict=True)]
    at = rows.chosen(
        line, key=f"compare.apart.{group}", ids=ids, wraps=("Finding",),
        widths={"Finding": FINDING if len(names) < 4 else NARROW,
                **{head(name): 72 for name in names.values()}, **dict.fromkeys(held, 120)},
        right=[head(name) for name in names.values()], most=SEEN,
        alt=f"{group.capitalize()}: what tells the chosen runs apart; a row is shown in full below",
    )  # fmt: skip
    measure = MEASURES.get(str(found["name"].iloc[at]))
    told = {name: f"{frame[head(name)].iloc[at]}" for name in names.values()}
    for column in held:
        told[column] = ", ".join(part for part in (frame[column].iloc[at], frame[f"{column}: chance"].iloc[at]) if part)
    rows.in_full(
        {"Measured": "" if measure is None else measure.measure, **told,
         "Held against": f"{frame['Held against'].iloc[at]}; {frame['Good is'].iloc[at]}"},
        key=f"compare.apart.{group}",
    )  # fmt: skip


def _place(name: str) -> tuple[int, bool, int]:
    """Return where a measure stands among those that tell runs apart: by topic, what goes beyond chance first."""
    measure, every = MEASURES.get(name), list(MEASURES)
    kinds = [*HARM, *(topic for topic in TOPICS if topic not in HARM)]
    if measure is None:
        return len(kinds), True, len(every)
    return kinds.index(measure.topic), not name.endswith(EXCESS), every.index(name)


def outcomes(found: pd.DataFrame, names: Mapping[str, str]) -> list[str]:
    """Return how often each run is better and worse than the first, as it stands beside a topic."""
    said = []
    for run, name in list(names.items())[1:]:
        here = found[f"{run} against first"].tolist()
        said += [
            f":{colour}[run {short(name)} {OUTCOMES[outcome].split()[0]} {here.count(outcome)} {outcome}]"
            for outcome, colour in (("better", "green"), ("worse", "red"))
            if outcome in here
        ]
    return said


def _frame(found: pd.DataFrame, names: Mapping[str, str], title: str) -> None:
    """Draw rows as a table, a column a run."""
    config: dict[str, Any] = {
        "Finding": st.column_config.TextColumn(pinned=True, width=165),
        "Held against": st.column_config.TextColumn(width=90),
        "Good is": st.column_config.TextColumn(width=65),
    }
    first, *others = names
    for name in names.values():
        config[head(name)] = st.column_config.TextColumn(
            alignment="right", width=95, help=f"{name}: value, and its 95% interval in brackets"
        )
    for run in others:
        column = against(names[run], names[first])
        config[column] = st.column_config.TextColumn(
            width=90,
            help="Where a measure moves with the number of texts and one run has clearly more of them, both are held "
            "against each other at the largest number that both were measured at",
        )
        config[f"{column}: chance"] = st.column_config.TextColumn(
            "Chance",
            width=85,
            help="How often chance alone gives a difference as large (p), and how many people were measured in both "
            "runs where records could be held against each other one by one",
        )
    st.dataframe(
        pd.DataFrame(_cells(found, names)),
        hide_index=True,
        column_config=config,
        alt=f"{title}: findings of the chosen runs",
        height="content",
        row_height=wrapped.ROW,
    )


def _cells(found: pd.DataFrame, names: Mapping[str, str]) -> dict[str, list[str]]:
    """Return what stands in the cells of rows, by column; a run's column is called by its number."""
    shown: dict[str, list[str]] = {
        "Finding": found["title"].tolist(),
        "Held against": [REFERENCES.get(ref, ref) for ref in found["reference"]],
        "Good is": found["direction"].tolist(),
    }
    for run, name in names.items():
        shown[head(name)] = [
            cell(row["name"], row[f"{run} value"], row[f"{run} low"], row[f"{run} high"]) for _, row in found.iterrows()
        ]
        if f"{run} against first" in found:
            column = against(name, next(iter(names.values())))
            fewer = found[f"{run} texts"].to_numpy()
            shown[column] = [
                outcome(word, int(texts)) for word, texts in zip(found[f"{run} against first"], fewer, strict=True)
            ]
            pairs = found[f"{run} pairs"].to_numpy()
            shown[f"{column}: chance"] = [how(p, n) for p, n in zip(found[f"{run} p"], pairs, strict=True)]
    return shown


def cell(name: str, value: float, low: float, high: float) -> str:
    """Return a value with its interval, or a dash where the run has none."""
    if value != value:
        return "–"
    if low != low or high != high:
        return show_measure(name, value)
    if too_wide(name, low, high) and low <= 0:  # however wide, one above 0 says that more leaks than by chance
        return f"cannot be compared ({_span(name, low, high)})"
    return f"{show_measure(name, value)} ({_span(name, low, high)})"


def _span(name: str, low: float, high: float) -> str:
    """Return an interval; a unit of a difference stands once, behind it."""
    begin, end = show_measure(name, low), show_measure(name, high)
    return f"{begin.removesuffix(' pp') if end.endswith(' pp') else begin} to {end}"


def brief(name: str, value: float) -> str:
    """Return a value alone, with three digits behind the point at most, or a dash where the run has none."""
    if value != value:
        return "–"
    measure = MEASURES.get(name)
    if (measure is not None and measure.scale == "share") or abs(value) >= 1:
        return show_measure(name, value)
    rounded = round(value, 3) + 0.0  # no −0
    return f"{rounded:.3f}".replace("-", "−")


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


def titles(found: pd.DataFrame) -> list[str]:
    """Return the names of rows, with what they are held against where a row at equal sizes stands beside them."""
    from engine.figures.board import titled

    known = set(found["name"])
    return [
        titled(name, reference, above_chance=f"{name}{EXCESS}" in known)
        for name, reference in zip(found["name"], found["reference"], strict=True)
    ]
