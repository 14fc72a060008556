"""Each measure of use beside real text, by what it is about; what clearly lies apart from real text is said folded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

import engine
from engine import MEASURES, TICK, WARN, Finding, clearly_lost
from pages._ui.examined import table as examined_table
from pages._ui.examined import topics
from pages._ui.texts import count_of, plain

COLUMNS = ("none", "train", "real", "unrelated")
WORDS = {"cross": ":red[:material/cancel: Far from real text:]", "warning": ":orange[:material/warning: Apart:]"}
MARKS = {"cross": ":red[:material/cancel: {n} far from real text]", "warning": ":orange[:material/warning: {n} apart]"}

READ = (
    "“Real against real” holds one half of the training part against the other at the same number of texts: nothing "
    "can be expected to do better. Unrelated text is the other end. Brackets hold the 95% interval; n is how many "
    "items the first number rests on."
)
MARKED = (
    f"Far from real text: clearly more than {WARN:.0%} of the way to unrelated text was lost; apart: more than "
    f"{TICK:.0%}. Where there is no such way, it is of the value of real text."
)


def draw(findings: Sequence[Finding], run: engine.RunSummary) -> None:
    """Draw a folded table a topic, the first one open, and what could not be measured in one sentence."""
    unknown, marks = examined_table.unmeasured(findings), clearly_lost(findings)
    headings = {**examined_table.HEADINGS, "train": "Synthetic text"}
    with st.container(key=f"utility.triples.{run.id}", gap="small"):
        for place, (title, names) in enumerate(topics.parts(f.name for f in findings if f.name not in unknown)):
            with topics.box(title, said(names, marks), first=not place, key=f"utility.topic.{run.id}"):
                if which := named(names, marks):
                    st.markdown(which)
                part = [f for name in names for f in findings if f.name == name]
                examined_table.triples(
                    part, COLUMNS, headings=headings, key=f"utility.triples.{run.id}.{title}", explain=False
                )
    left_out = f"{count_of(len(unknown), 'measure')} could not be taken: see “What the numbers mean”. " * bool(unknown)
    st.caption(f"{left_out}How to read the tables", help=f"{READ} {MARKED if marks else ''}".strip())


def said(names: Sequence[str], marks: Mapping[str, str]) -> list[str]:
    """Return how many measures a topic has, and how many of them clearly lie apart from real text."""
    counts = {mark: sum(marks.get(name) == mark for name in names) for mark in MARKS}
    return [count_of(len(names), "measure"), *(MARKS[mark].format(n=n) for mark, n in counts.items() if n)]


def named(names: Sequence[str], marks: Mapping[str, str]) -> str:
    """Return which measures of a topic clearly lie apart from real text, for the rows of its table; or nothing."""
    found = {mark: [plain(MEASURES[name].title) for name in names if marks.get(name) == mark] for mark in WORDS}
    return " ".join(f"{WORDS[mark]} {', '.join(titles)}." for mark, titles in found.items() if titles)
