"""The history of a corpus' runs as a table."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

import engine
from pages._ui.current import run_names
from pages._ui.parts import wrapped
from pages._ui.parts.pager import digest, pager
from pages._ui.runs.detail import difference
from pages._ui.texts import GUARANTEES, STATES, count_of, method_name, seconds, when

SIZE, OLD = 25, ", out of date"  # runs a page; what is said where the review changed since
LEFT_OUT = ("Method", "Released", "Examined", "Different from the run before")  # where nothing stands in them


def draw(runs: list[engine.RunSummary]) -> None:
    """Draw one row a run, newest first, a page at a time."""
    offset = (max(1, int(st.session_state.get("run.history.page", 1) or 1)) - 1) * SIZE
    page = runs[offset : offset + SIZE] or runs[:SIZE]
    with st.container(key=f"run.history.{digest(run.id for run in page)}"):
        wrapped.table(table(page, runs), right=("Kept",))
    pager(len(runs), key="run.history.page", size=SIZE, counted=count_of(len(runs), "run"))


def table(page: Sequence[engine.RunSummary], runs: list[engine.RunSummary]) -> pd.DataFrame:
    """Return the rows of a page as they are drawn; a column of which no run has anything is left out.

    A run is called what the picker above and every other page call it; `runs` are all of the corpus.
    """
    called = run_names(runs)
    frame = pd.DataFrame(
        [
            {
                "Run": called[run.id],
                "Method": method_name(run) if run.name else "",  # else its name begins with it
                "State": STATES.get(run.state, (run.state,))[0] + (OLD if run.stale else ""),
                "Kept": f"{run.kept:,} of {run.count:,}",
                "Guarantee": GUARANTEES[run.guarantee.kind][0],
                "Examined": when(run.examined_at) + (OLD if run.examination_stale else "") if run.examined_at else "",
                "Released": when(run.released_at) if run.released_at else "",
                "Duration": seconds(run.seconds) if run.seconds else "",
                "Different from the run before": "; ".join(difference(run, runs)),
            }
            for run in page
        ]
    )
    return frame.drop(columns=[name for name in LEFT_OUT if not frame[name].any()])
