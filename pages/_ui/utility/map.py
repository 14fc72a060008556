"""The map of texts: private and synthetic points, a lasso to read synthetic ones.

Privacy posture: points carry record ids, never text. Only synthetic text is read here; private
records are counted, and read on the Review page or behind a reason on the Privacy page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

import engine
from pages._ui.texts import count_of, plain

if TYPE_CHECKING:
    from streamlit.typing import PlotlyState

MOST_READ = 12
CURVES = ("private", "synthetic")  # the order in which the figure draws them


def draw(workspace: engine.Workspace, run: engine.RunSummary) -> None:
    """Draw the map and the texts chosen on it."""
    from engine.figures.utility import text_map

    points = workspace.examinations.table(run.id, "map")
    if points is None or points.empty:
        st.caption("There is no map: the examination ran without the sentence encoder.")
        return
    figure = text_map(points)
    st.markdown(plain(figure.takeaway))
    event = st.plotly_chart(
        figure.plot,
        key=f"utility.map.{run.id}",
        on_select="rerun",
        selection_mode=("points", "box", "lasso"),
        alt=figure.alt,
    )
    st.caption(plain(f"{figure.caveat} Draw a lasso around points to read the synthetic texts among them."))
    _read(workspace, run, chosen(event))


def chosen(event: PlotlyState) -> dict[str, list[str]]:
    """Return the record ids chosen on the map by kind."""
    result: dict[str, list[str]] = {kind: [] for kind in CURVES}
    selection = event.get("selection", {}) if event else {}
    for point in selection.get("points", []):
        curve, ids = point.get("curve_number"), point.get("customdata")
        if ids and curve in range(len(CURVES)):
            result[CURVES[curve]].append(str(ids[0]))
    return result


def _read(workspace: engine.Workspace, run: engine.RunSummary, picked: dict[str, list[str]]) -> None:
    if not any(picked.values()):
        return
    st.markdown(
        f"Chosen: **{count_of(len(picked['synthetic']), 'synthetic text')}** and "
        f"**{count_of(len(picked['private']), 'private text')}**. Private texts are not shown here."
    )
    ids = picked["synthetic"][:MOST_READ]
    if not ids:
        return
    rows = workspace.runs.synthetic(run.id, ids=ids)
    for row in rows.itertuples(index=False):
        with st.container(border=True, key=f"utility.read.{row.record_id}"):
            st.text(str(row.text))
    if len(picked["synthetic"]) > MOST_READ:
        st.caption(f"The first {MOST_READ} are shown; draw a smaller lasso for others.")
