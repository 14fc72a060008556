"""The history of a corpus' runs as a table."""

from __future__ import annotations

import pandas as pd
import streamlit as st

import engine
from pages._ui import wrapped
from pages._ui.pager import digest, pager
from pages._ui.runs.detail import difference
from pages._ui.texts import GUARANTEES, STATES, seconds, when

SIZE = 25
WIDTHS = {"Started": 85, "Name": 110, "Method": 110, "State": 70, "Guarantee": 88, "Examined": 85, "Released": 85,
          "Time": 53, "Different from the run before": 180}  # fmt: skip


def draw(runs: list[engine.RunSummary]) -> None:
    """Draw one row a run, newest first, a page at a time."""
    offset = (max(1, int(st.session_state.get("run.history.page", 1) or 1)) - 1) * SIZE
    page = runs[offset : offset + SIZE] or runs[:SIZE]
    frame = pd.DataFrame(
        [
            {
                "Started": when(run.started or run.created),
                "Name": run.name or "–",
                "Method": run.title,
                "State": STATES.get(run.state, (run.state,))[0] + (", out of date" if run.stale else ""),
                "Kept": run.kept,
                "Wanted": run.count,
                "Guarantee": GUARANTEES[run.guarantee.kind][0],
                "Examined": when(run.examined_at),
                "Released": when(run.released_at),
                "Time": seconds(run.seconds) if run.seconds else "–",
                "Different from the run before": "; ".join(difference(run, runs)) or "–",
            }
            for run in page
        ]
    )
    if not any(run.name for run in page):
        frame = frame.drop(columns="Name")
    st.dataframe(
        frame, hide_index=True, row_height=wrapped.ROW, alt="History of runs",
        key=f"run.history.{digest(run.id for run in page)}",
        column_config={
            **{name: st.column_config.TextColumn(width=width) for name, width in WIDTHS.items()},
            **{name: st.column_config.NumberColumn(width=56) for name in ("Kept", "Wanted")},
        },
    )  # fmt: skip
    pager(len(runs), key="run.history.page", size=SIZE, noun="runs")
