"""The map of texts: real and synthetic points on the plane of their corpus, a lasso to read synthetic ones.

Privacy posture: points carry ids of synthetic records, never text or a private record's id. Only synthetic text is read
here; private records are counted, and read on the Review page or behind a reason on the Privacy page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

import engine
from pages._ui.current import run_names
from pages._ui.parts import loading
from pages._ui.sign_in.closed import closed
from pages._ui.texts import count_of, plain

if TYPE_CHECKING:
    from streamlit.typing import PlotlyState

    from engine.figures.text_map import Colour, Layout

MOST_READ = 12
MOST_RUNS = 3
COLOURS: dict[str, str] = {"kind": "Kind", "label": "Label", "nearest": "Distance to the nearest private text"}
LAYOUTS: dict[str, str] = {"umap": "UMAP", "tsne": "t-SNE"}


def draw(workspace: engine.Workspace, run: engine.RunSummary) -> None:
    """Draw the map and the texts chosen on it."""
    from engine.figures.text_map import text_map

    with loading.waiting(loading.FIGURE):
        points = workspace.examinations.table(run.id, "map")
    if points is None or points.empty:
        st.caption("There is no map: the examination ran without the sentence encoder.")
        return
    colour, layout = _ask(points)
    shown = _others(workspace, run, points)
    others = {called: table for called, _, table in shown}
    with loading.waiting(loading.FIGURE):
        figure = text_map(points, colour, layout, others)
    st.markdown(plain(figure.takeaway))
    event = st.plotly_chart(
        figure.plot,
        key=f"utility.map.{run.id}",
        on_select="rerun",
        selection_mode=("points", "box", "lasso"),
        alt=figure.alt,
    )
    st.caption(plain(f"{figure.caveat} Draw a lasso around points to read the synthetic texts among them."))
    runs = {"": run.id, **{called: other for called, other, _ in shown}}
    _read(workspace, runs, chosen(event))


def _ask(points: pd.DataFrame) -> tuple[Colour, Layout]:
    """Ask what points are coloured by and how they are laid out, where the examination knows more than one way."""
    from engine.figures.text_map import colours_of, layouts_of

    colours, layouts = colours_of(points), layouts_of(points)
    left, right = st.columns([2, 1])
    colour = layout = None
    if len(colours) > 1:
        colour = left.radio(
            "Colour", colours, key="utility.map.colour", horizontal=True, format_func=COLOURS.__getitem__,
            persist_state="session",
        )  # fmt: skip
    if len(layouts) > 1:
        layout = right.radio(
            "Layout", layouts, key="utility.map.layout", horizontal=True, format_func=LAYOUTS.__getitem__,
            persist_state="session", help="Two ways to lay the same texts out; what shows in both is worth reading.",
        )  # fmt: skip
    return colour or colours[0], layout or layouts[0]


def _others(
    workspace: engine.Workspace, run: engine.RunSummary, points: pd.DataFrame
) -> list[tuple[str, str, pd.DataFrame]]:
    """Ask for further runs to draw on the same plane; return name, id and points of those examined on it."""
    if "tsne_x" not in points:
        return []
    runs = workspace.runs.all(run.corpus_id)
    examined = {one.id for one in runs if one.examined_at and one.id != run.id}
    known = {run_id: name for run_id, name in run_names(runs).items() if run_id in examined}
    if not known:
        return []
    picked = st.multiselect(
        "Also show", list(known), key=f"utility.map.others.{run.id}", max_selections=MOST_RUNS,
        format_func=known.__getitem__, help="Further runs on the same plane of this corpus.",
    )  # fmt: skip
    found = [(known[run_id], run_id, workspace.examinations.table(run_id, "map")) for run_id in picked]
    real = set(points.loc[points["kind"] != "synthetic", "record_id"])
    drawn = [
        (called, run_id, table) for called, run_id, table in found if table is not None and _same_plane(table, real)
    ]
    if len(drawn) < len(picked):
        st.caption("A run that was examined before this plane was laid out is not drawn; examine it again.")
    return drawn


def _same_plane(table: pd.DataFrame, real: set[object]) -> bool:
    return "tsne_x" in table and set(table.loc[table["kind"] != "synthetic", "record_id"]) == real


def chosen(event: PlotlyState) -> dict[tuple[str, str], list[str]]:
    """Return the record ids chosen on the map by (kind, run); empty ones for private records."""
    result: dict[tuple[str, str], list[str]] = {}
    selection = event.get("selection", {}) if event else {}
    for point in selection.get("points", []):
        ids = point.get("customdata")
        if ids and len(ids) == 3:
            result.setdefault((str(ids[1]), str(ids[2])), []).append(str(ids[0]))
    return result


def _read(workspace: engine.Workspace, runs: dict[str, str], picked: dict[tuple[str, str], list[str]]) -> None:
    made = [(run, ids) for (kind, run), ids in picked.items() if kind == "synthetic" and run in runs]
    total = sum(len(ids) for _, ids in made)
    real = sum(len(ids) for (kind, _), ids in picked.items() if kind != "synthetic")
    if not total + real:
        return
    st.markdown(
        f"Chosen: **{count_of(total, 'synthetic text')}** and **{count_of(real, 'private text')}**. "
        "Private texts are not shown here."
    )
    left = MOST_READ
    if closed("The texts chosen here"):
        return
    for run, ids in made:
        rows = workspace.runs.synthetic(runs[run], ids=ids[:left])
        left -= len(rows)
        for row in rows.itertuples(index=False):
            with st.container(border=True, key=f"utility.read.{runs[run]}.{row.record_id}"):
                st.text(str(row.text))
                _of_run(run)
    if total > MOST_READ:
        st.caption(f"The first {MOST_READ} are shown; draw a smaller lasso for others.")


def _of_run(name: str) -> None:
    """Say which further run a text is of; the page's own run has no name here."""
    if name:
        st.caption(plain(name))
