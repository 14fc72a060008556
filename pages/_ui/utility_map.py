"""The map of texts: private and synthetic points, a lasso to read synthetic ones.

Privacy posture: points carry record ids, never text. Only synthetic text is read here; private
records are counted, and read on the Review page or behind a reason on the Privacy page.
"""

from __future__ import annotations

from typing import Any

import streamlit as st

import engine
from pages._ui.texts import count_of

MOST_READ = 12
KINDS = {"private": ("private text", "circle", 5), "synthetic": ("synthetic text", "diamond", 7)}


def draw(workspace: engine.Workspace, run: Any) -> None:
    """Draw the map and the texts chosen on it."""
    import plotly.graph_objects as go

    table = workspace.table(run.id, "map")
    if table is None or table.empty:
        st.caption("There is no map: the examination ran without the sentence encoder.")
        return
    counts = table["kind"].value_counts()
    takeaway = (
        f"{count_of(int(counts.get('synthetic', 0)), 'synthetic text')} among "
        f"{count_of(int(counts.get('private', 0)), 'private text')}: texts about the same things lie close together. "
        "Draw a lasso around points to read them."
    )
    st.markdown(takeaway)
    figure = go.Figure()
    for kind, (name, symbol, size) in KINDS.items():
        part = table[table["kind"] == kind]
        figure.add_trace(
            go.Scattergl(
                x=part["x"],
                y=part["y"],
                mode="markers",
                name=name,
                customdata=[[kind, str(record)] for record in part["record_id"]],
                marker={"symbol": symbol, "size": size, "opacity": 0.65},
                hovertemplate=f"{name}<extra></extra>",
            )
        )
    figure.update_xaxes(showticklabels=False, title=None, zeroline=False, showgrid=False)
    figure.update_yaxes(showticklabels=False, title=None, zeroline=False, showgrid=False)
    figure.update_layout(
        height=520, margin={"l": 0, "r": 0, "t": 30, "b": 0}, dragmode="lasso", legend={"orientation": "h", "y": 1.08}
    )
    event = st.plotly_chart(
        figure, key=f"utility.map.{run.id}", on_select="rerun", selection_mode=("points", "box", "lasso"), alt=takeaway
    )
    st.caption(
        "Distances far apart mean little on such a map, and holes may be chance. "
        "Regions with private points only are what the synthetic text leaves out."
    )
    _read(workspace, run, chosen(event))


def chosen(event: Any) -> dict[str, list[str]]:
    """Return the record ids chosen on the map by kind."""
    result: dict[str, list[str]] = {"private": [], "synthetic": []}
    selection = event.get("selection", {}) if event else {}
    for point in selection.get("points", []):
        kind, record = tuple(point.get("customdata") or ("", ""))[:2]
        if kind in result:
            result[kind].append(str(record))
    return result


def _read(workspace: engine.Workspace, run: Any, picked: dict[str, list[str]]) -> None:
    if not any(picked.values()):
        return
    st.markdown(
        f"Chosen: **{count_of(len(picked['synthetic']), 'synthetic text')}** and "
        f"**{count_of(len(picked['private']), 'private text')}**. Private texts are not shown here."
    )
    ids = picked["synthetic"][:MOST_READ]
    if not ids:
        return
    rows = workspace.synthetic(run.id, ids=ids)
    for row in rows.itertuples(index=False):
        with st.container(border=True, key=f"utility.read.{row.record_id}"):
            st.text(str(row.text))
    if len(picked["synthetic"]) > MOST_READ:
        st.caption(f"The first {MOST_READ} are shown; draw a smaller lasso for others.")
