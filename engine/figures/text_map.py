"""The map of texts: private, holdout and synthetic points on the plane of their corpus; ids, never text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from engine.figures import palette
from engine.figures.base import Figure, styled

Colour = Literal["kind", "label", "nearest"]
Layout = Literal["umap", "tsne"]
PLACES: dict[str, tuple[str, str]] = {"umap": ("x", "y"), "tsne": ("tsne_x", "tsne_y")}
SYMBOLS = {"private": "circle-open", "holdout": "square-open", "synthetic": "diamond"}
SIZES = {"private": 10, "holdout": 6, "synthetic": 5}  # real points are open, so that each kind is seen under the next
HOVERED = {"private": "a private text", "holdout": "a private text kept aside"}
MOST_LABELS = 7  # labels with a colour of their own, commonest first
OTHER, NO_LABEL = "other labels", "no label"
UNLIKE = 0.6  # cosine distance at which the scale of `nearest` ends
LEAST_HELD = 20  # held-out texts, to say what as many real ones in the place of synthetic ones would do


def colours_of(table: pd.DataFrame) -> list[Colour]:
    """Return what points may be coloured by: what the table holds."""
    known: list[Colour] = ["kind"]
    if "label" in table and table["label"].notna().any():
        known.append("label")
    return [*known, "nearest"] if "nearest" in table else known


def layouts_of(table: pd.DataFrame) -> list[Layout]:
    """Return how the table's points were laid out; examinations of earlier editions know one way alone."""
    return ["umap", "tsne"] if "tsne_x" in table else ["umap"]


def text_map(
    table: pd.DataFrame,
    colour: Colour = "kind",
    layout: Layout = "umap",
    others: Mapping[str, pd.DataFrame] | None = None,
) -> Figure:
    """Return the map of texts: a point a record, (id, kind, run) in `customdata`, no text and no private record's id.

    Args:
        table: table `map` of the run. colour: what points are coloured by; `nearest` colours synthetic ones alone.
        layout: which plane. others: maps of further runs of the corpus, whose synthetic points are added by name.
    """
    x, y = PLACES[layout]
    plot = go.Figure()
    runs = {"": table, **(others or {})}
    for kind in ("private", "holdout"):
        _points(plot, table[table["kind"] == kind], kind, "", x, y, colour if colour == "label" else "kind", table, 0)
    for number, (run, rows) in enumerate(runs.items()):
        _points(plot, rows[rows["kind"] == "synthetic"], "synthetic", run, x, y, colour, table, number)
    styled(plot, x="Map, first direction (no unit)", y="Map, second direction (no unit)", height=480)
    plot.update_xaxes(showticklabels=False, zeroline=False)
    plot.update_yaxes(showticklabels=False, zeroline=False, scaleanchor="x" if len(table) else None)
    plot.update_layout(dragmode="lasso")
    takeaway = _takeaway(table, layout)
    caveat = "A map bends distances: clusters and gaps are hints to read texts, not measurements."
    if "nearest" in table:
        caveat += (
            " The plane is laid out from real text alone; a synthetic text unlike all of it still lands among it, "
            "which its distance to the nearest private text shows."
        )
    return Figure(plot, takeaway, caveat, f"A cloud of {sum(len(rows) for rows in runs.values())} points. {takeaway}")


def _points(
    plot: go.Figure, rows: pd.DataFrame, kind: str, run: str, x: str, y: str, colour: Colour, table: pd.DataFrame,
    number: int,
) -> None:  # fmt: skip
    """Add the points of one kind and run: one trace, or one a label."""
    name = run or kind.capitalize()
    if colour == "label":
        for place, label in enumerate(_labels(table)):
            some = rows[_named(rows["label"], table) == label]
            if len(some):
                mark = palette.GREY if label in (OTHER, NO_LABEL) else palette.OKABE_ITO[place]
                _trace(plot, some, kind, run, f"{name}: {label}", x, y, {"color": mark})
        return
    if colour == "nearest" and kind == "synthetic" and "nearest" in rows:
        bar = {"title": "Distance to the<br>nearest private text", "thickness": 12}
        scale = {"color": rows["nearest"], "colorscale": "Viridis", "cmin": 0.0, "cmax": UNLIKE, "colorbar": bar}
        scale["showscale"] = not number
        _trace(plot, rows, kind, run, name, x, y, scale)
        return
    mark = palette.KINDS[kind] if not number else palette.OKABE_ITO[(number + 1) % len(palette.OKABE_ITO)]
    _trace(plot, rows, kind, run, name, x, y, {"color": mark})


def _trace(
    plot: go.Figure, rows: pd.DataFrame, kind: str, run: str, name: str, x: str, y: str, marker: dict[str, object]
) -> None:
    own = rows["record_id"].astype(object) if kind == "synthetic" else [""] * len(rows)  # one may be a patient's number
    ids = np.column_stack([own, [kind] * len(rows), [run] * len(rows)])
    plot.add_scatter(  # no WebGL, which not every machine has
        x=rows[x], y=rows[y], mode="markers", name=name, customdata=ids,
        marker={"symbol": SYMBOLS[kind], "size": SIZES[kind], "opacity": 0.75, **marker},
        hovertemplate=("%{customdata[0]}" if kind == "synthetic" else HOVERED[kind]) + "<extra></extra>",
    )  # fmt: skip


def _labels(table: pd.DataFrame) -> list[str]:
    """Return the labels that get a colour, commonest first, then the rest as one."""
    counts = table["label"].dropna().astype(str).value_counts()
    known = list(counts.index[:MOST_LABELS])
    return [*known, *([OTHER] if len(counts) > MOST_LABELS else []), NO_LABEL]


def _named(labels: pd.Series, table: pd.DataFrame) -> pd.Series:
    known = set(_labels(table))
    return labels.map(lambda label: NO_LABEL if label is None or label != label else
                      str(label) if str(label) in known else OTHER)  # fmt: skip


def _takeaway(table: pd.DataFrame, layout: Layout) -> str:
    made, held = (int((table["kind"] == kind).sum()) for kind in ("synthetic", "holdout"))
    count = min(made, held) if held >= LEAST_HELD else made
    share = mixing(table, layout, count=count)
    if share != share:
        return "There are too few points to say how well they mix."
    said = f"Of the ten points nearest to a private text {100 * share:.0f}% are synthetic"
    if held < LEAST_HELD:
        private = int((table["kind"] == "private").sum())
        return f"{said}; even mixing would give {100 * count / (count + private):.0f}%."
    real = mixing(table, layout, kind="holdout", count=count)
    return f"{said}; of as many held-out real texts in their place ({count:,}) it would be {100 * real:.0f}%."


def mixing(
    table: pd.DataFrame, layout: Layout = "umap", neighbours: int = 10, kind: str = "synthetic",
    count: int | None = None,
) -> float:  # fmt: skip
    """Return the mean share of points of a kind among the nearest neighbours of private points on the map.

    Args:
        kind: whose points lie beside the private ones; all others are left out.
        count: of how many of them, drawn the same way each time; all by default.
    """
    made, private = (np.flatnonzero((table["kind"] == one).to_numpy()) for one in (kind, "private"))
    if count is not None and count < len(made):
        made = np.random.default_rng(0).choice(made, count, replace=False)
    points = table[list(PLACES[layout])].to_numpy(float)[np.concatenate([private, made])]
    if len(points) <= neighbours or not len(private) or not len(made):
        return float("nan")
    shares = []
    for start in range(0, len(private), 200):
        rows = np.arange(start, min(start + 200, len(private)))
        apart = ((points[rows, None, :] - points[None, :, :]) ** 2).sum(axis=2)
        apart[np.arange(len(rows)), rows] = np.inf
        near = np.argpartition(apart, neighbours, axis=1)[:, :neighbours]
        shares.append((near >= len(private)).mean(axis=1))
    return float(np.concatenate(shares).mean())
