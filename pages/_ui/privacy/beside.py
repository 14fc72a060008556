"""A second run beside the first, and figures of both with equal axes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import streamlit as st

import engine
from pages._ui.current import run_names
from pages._ui.texts import plain

if TYPE_CHECKING:
    from engine.figures.base import Figure

SENTENCES = re.compile(r"(?<=\.) (?=[A-Z])")  # where a sentence ends: what two figures share is said once
ALONE = ""
KEY = "privacy.beside"


def choose(workspace: engine.Workspace, run: engine.RunSummary) -> list[engine.RunSummary]:
    """Draw the picker of a second examined run of the same corpus; return one run or two."""
    runs = workspace.runs.all(run.corpus_id)
    others = {r.id: r for r in runs if r.state == "done" and r.examined_at and r.id != run.id}
    if not others:
        return [run]
    labels = {ALONE: "no other run", **{run_id: name for run_id, name in run_names(runs).items() if run_id in others}}
    if st.session_state.get(KEY) not in labels:
        st.session_state[KEY] = ALONE
    chosen = st.selectbox(
        "Beside it", list(labels), key=KEY, persist_state="session",
        format_func=labels.__getitem__,
        help="A second examined run of this corpus: every figure is then drawn for both, on equal axes.",
    )  # fmt: skip
    return [run, others[chosen]] if chosen else [run]


def draw(figures: Sequence[Figure | None], names: Sequence[str], *, key: str, missing: str, limits: str = "") -> None:
    """Draw one figure, or two with equal axes; `missing` is said where a run has none."""
    from engine.figures.equal import equal_axes, equal_heights

    known = [figure for figure in figures if figure is not None]
    if not known:
        st.caption(missing)
        return
    equal_axes([figure.plot for figure in known])
    equal_heights([figure.plot for figure in known])
    for columns, part in ((st.columns(len(figures), gap="medium"), "words"), (st.columns(len(figures)), "plot")):
        for place, (column, figure, name) in enumerate(zip(columns, figures, names, strict=True)):
            with column:
                if part == "words":
                    heading = f"**{plain(name)}**  \n" if len(figures) > 1 else ""
                    st.markdown(f"{heading}{plain(figure.takeaway) if figure else plain(missing)}")
                elif figure is not None:
                    st.plotly_chart(figure.plot, key=f"{key}.{place}", alt=figure.alt, config={"displayModeBar": False})
    said = dict.fromkeys(sentence for figure in known for sentence in SENTENCES.split(figure.caveat))
    st.caption(plain(" ".join([*said, limits])))
