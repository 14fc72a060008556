"""Texts of the chosen runs beside each other, one record a run at a time."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

import engine
from pages._ui.sign_in.closed import closed
from pages._ui.texts import method_name, number, plain


def draw(workspace: engine.Workspace, runs: Mapping[str, engine.RunSummary], names: Mapping[str, str]) -> None:
    """Draw the n-th record of each run."""
    if closed("The texts of these runs"):
        return
    longest = max((run.kept for run in runs.values()), default=0)
    if not longest:
        st.caption("None of these runs kept a record.")
        return
    place = st.number_input(
        "Record",
        1,
        longest,
        1,
        key="compare.text",
        width=160,
        help="Position in each run. Records at one position need not belong together.",
    )
    for column, (run_id, run) in zip(st.columns(len(runs), gap="medium"), runs.items(), strict=True):
        with column:
            st.markdown(f"**{names[run_id]}**" + (f" · {plain(method_name(run))}" if run.name else ""))
            rows = workspace.runs.synthetic(run_id, offset=int(place) - 1, limit=1)
            with st.container(border=True, key=f"compare.text.{run_id}"):
                if rows.empty:
                    st.caption(f"This run has {number(run.kept)} records.")
                else:
                    st.text(str(rows.iloc[0]["text"]))
