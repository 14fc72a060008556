"""Figures of the study `filter-presets`: what Figures 1 to 5 of Mohammed 2025 show, with intervals.

Leakage, similarity distribution, perplexity, divergence of 1 to 3-grams, output statistics, privacy against utility.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from engine.figures import palette
from engine.figures.base import Figure, listed, styled
from engine.studies.bench.error_bars import ErrorBars, error_bars
from engine.studies.filter_presets import apart

TITLES: Mapping[str, str] = {
    "baseline": "Baseline", "pre-only": "Pre-only", "post-only": "Post-only", "pre-post": "Pre + Post",
    "all": "All Filters", "strict": "All Filters (Strict)", "adaptive": "Adaptive",
}  # fmt: skip
SYMBOLS = ("circle", "diamond", "square", "x", "triangle-up", "star", "pentagon")
REAL = "reference"


def figures(tables: Mapping[str, pd.DataFrame]) -> list[tuple[str, Figure]]:
    """Return the figures that the tables allow, each with a short name."""
    summary = tables.get("summary")
    if summary is None or not len(_variants(summary)):
        return []
    made = [("leakage", leakage(summary))]
    if "similarity" in tables:
        made.append(("similarity", similarity(tables["similarity"])))
    if "written" in tables and len(set(tables["written"]["variant"])) > 1:
        made.append(("differences", differences(tables["written"])))
    if len(_variants(summary)) > 1 and len(comparison := apart.compare(tables, _variants(summary))):
        made.append(("apart", told_apart(comparison)))
    made += [
        ("perplexity", perplexity(summary)),
        ("divergence", divergence(summary)),
        ("statistics", statistics(summary)),
        ("tradeoff", tradeoff(summary)),
    ]
    return made


def leakage(summary: pd.DataFrame) -> Figure:
    """Return the share of outputs that hold a planted identifier or canary, a group of bars a configuration."""
    names = _variants(summary)
    plot = go.Figure()
    parts = (
        ("identifier_leakage", "Planted identifier", palette.VERMILION, ""),
        ("canary_leakage", "Whole canary", palette.BLUE, "/"),
        ("canary_parts", "Four words of a canary", palette.SKY, "."),
        ("canary_words", "Share of a canary's words", palette.PINK, "x"),
    )
    for measure, title, colour, pattern in parts:
        rows = [_row(summary, name, measure) for name in names]
        plot.add_bar(
            x=[_title(n) for n in names], y=[r["value"] for r in rows], name=title, error_y=_bars(rows),
            marker={"color": colour, "pattern": {"shape": pattern}},
            hovertemplate="%{x}: %{y:.0%}<extra>" + title + "</extra>",
        )  # fmt: skip
    styled(plot, x="", y="Share, with 95% interval", height=380)
    plot.update_yaxes(tickformat=".0%", rangemode="tozero")
    plot.update_layout(barmode="group")
    clean = [n for n in names if _value(summary, n, "identifier_leakage") == _value(summary, n, "canary_leakage") == 0]
    worst = max(names, key=lambda n: _value(summary, n, "identifier_leakage"))
    takeaway = f"Most planted identifiers came through with {_title(worst)}"
    takeaway += f" ({_value(summary, worst, 'identifier_leakage'):.0%} of outputs)."
    takeaway += f" No planted value at all came through with {listed([_title(n) for n in clean])}." if clean else ""
    none = [r["high"] for n in clean if (r := _row(summary, n, "identifier_leakage"))["high"] == r["high"]]
    caveat = (
        "The first three are shares of outputs; the last is the mean share of a canary's longer words that its own "
    )
    caveat += "record's output repeats, whatever their order. Only planted values are counted here."
    caveat += f" None at all still allows up to {max(none):.1%} of outputs." if none else ""
    return Figure(
        plot, takeaway, caveat,
        f"Bars of leakage for {len(names)} configurations. {takeaway}",
    )  # fmt: skip


def similarity(table: pd.DataFrame) -> Figure:
    """Return how alike outputs and the records behind them are, a box with all points a configuration."""
    names = [n for n in TITLES if n in set(table["variant"])]
    plot = go.Figure()
    middles = {}
    for name in names:
        values = table.loc[table["variant"] == name, "value"].to_numpy(float)
        middles[name] = float(np.median(values)) if len(values) else float("nan")
        plot.add_box(
            y=values, name=_title(name), boxpoints="all", jitter=0.4, pointpos=0, marker={"size": 3, "opacity": 0.5},
            line={"color": palette.of_method("filter") if name == "all" else palette.GREY, "width": 2},
            hovertemplate="%{y:.2f}<extra>" + _title(name) + "</extra>",
        )  # fmt: skip
    styled(plot, x="", y="Cosine similarity to the record behind it", height=400)
    plot.update_layout(showlegend=False)
    high, low = max(middles, key=lambda n: middles[n]), min(middles, key=lambda n: middles[n])
    takeaway = f"Outputs stay nearest to their records with {_title(high)} (median {middles[high]:.2f}) and farthest "
    takeaway += f"with {_title(low)} ({middles[low]:.2f})."
    return Figure(
        plot, takeaway, "Similar meaning is not a leak by itself, and a copied number hardly changes the similarity.",
        f"Boxes of similarity for {len(names)} configurations. {takeaway}",
    )  # fmt: skip


def differences(written: pd.DataFrame) -> Figure:
    """Return the share of records for which two configurations wrote different texts, a square a pair."""
    names = [n for n in TITLES if n in set(written["variant"])]
    marks = {n: part.set_index("record")["mark"] for n, part in written.groupby("variant")}
    shares = np.array([[_apart(marks[a], marks[b]) for b in names] for a in names])
    plot = go.Figure(
        go.Heatmap(
            z=shares, x=[_title(n) for n in names], y=[_title(n) for n in names], zmin=0, zmax=1, colorscale="Blues",
            texttemplate="%{z:.0%}", hovertemplate="%{y} and %{x}: %{z:.0%} of records<extra></extra>",
            showscale=False,
        )
    )  # fmt: skip
    styled(plot, x="", y="", height=420)
    plot.update_yaxes(autorange="reversed")
    same = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :] if _apart(marks[a], marks[b]) == 0]
    if same:
        pairs = listed([f"{_title(a)} and {_title(b)}" for a, b in same])
        takeaway = f"{pairs} wrote the same text for every record: their columns in the other figures are one result, "
        takeaway += "not two."
    else:
        least = min(((a, b) for i, a in enumerate(names) for b in names[i + 1 :]),
                    key=lambda pair: _apart(marks[pair[0]], marks[pair[1]]))  # fmt: skip
        share = _apart(marks[least[0]], marks[least[1]])
        takeaway = f"Every two configurations differ; least of all {_title(least[0])} and {_title(least[1])}, in "
        takeaway += f"{share:.0%} of records."
    return Figure(
        plot, takeaway,
        "Configurations that sample alike write alike, and differ only where a later stage acts. A threshold changes "
        "nothing where no output comes near a known item: the shares near one stand in the table.",
        f"Squares of differing texts for {len(names)} configurations. {takeaway}",
    )  # fmt: skip


def told_apart(comparison: pd.DataFrame) -> Figure:
    """Return which pairs of configurations differ in which measure, a square each, and the same in words."""
    signs = {apart.HIGHER: ("▲", 1.0), apart.LOWER: ("▼", -1.0), apart.UNTOLD: ("", 0.0), apart.SAME: ("=", 0.0)}
    measures = list(dict.fromkeys(comparison["measure"]))
    pairs = list(dict.fromkeys(zip(comparison["one"], comparison["other"], strict=True)))
    verdicts = {(r.measure, r.one, r.other): str(r.verdict) for r in comparison.itertuples()}
    cells = [[verdicts.get((m, *pair), apart.UNTOLD) for m in measures] for pair in pairs]
    plot = go.Figure(
        go.Heatmap(
            z=[[signs[v][1] for v in row] for row in cells], x=[apart.MEASURES[m] for m in measures],
            y=[f"{_title(one)} – {_title(other)}" for one, other in pairs], text=[[signs[v][0] for v in row]
            for row in cells], customdata=cells, texttemplate="%{text}", zmin=-1, zmax=1,
            colorscale=[[0, palette.SKY], [0.5, "white"], [1, palette.ORANGE]], showscale=False, xgap=1, ygap=1,
            hovertemplate="%{y}, %{x}: %{customdata}<extra></extra>",
        )
    )  # fmt: skip
    styled(plot, x="", y="", height=120 + 24 * len(pairs))
    plot.update_yaxes(autorange="reversed")
    takeaway = " ".join(apart.sentences(comparison, TITLES))
    return Figure(
        plot, takeaway,
        "▲ the first of a pair is higher, ▼ lower, = both wrote the same text for every record; an empty square: the "
        "difference cannot be told from none, with intervals that hold for all squares together at 95%. With more "
        "records smaller differences would show.",
        f"Squares of {len(pairs)} pairs of configurations by {len(measures)} measures. {takeaway}",
    )  # fmt: skip


def _apart(one: pd.Series, two: pd.Series) -> float:
    """Return the share of records, written by either, whose texts differ; NaN where there is none."""
    records = one.index.union(two.index)
    if not len(records):
        return float("nan")
    return float((one.reindex(records).fillna("") != two.reindex(records).fillna("")).mean())


def perplexity(summary: pd.DataFrame) -> Figure:
    """Return how surprising a language model finds the outputs, beside the clean records."""
    names = _variants(summary)
    rows = [_row(summary, name, "perplexity") for name in names]
    plot = go.Figure(
        go.Bar(
            x=[_title(n) for n in names], y=[r["value"] for r in rows], error_y=_bars(rows),
            marker={"color": palette.ORANGE}, hovertemplate="%{x}: %{y:.1f}<extra></extra>",
        )
    )  # fmt: skip
    real = _value(summary, REAL, "perplexity")
    if real == real:
        plot.add_hline(y=real, line={"dash": "dash", "color": palette.GREEN})
    styled(plot, x="", y="Perplexity a token (lower: more natural)", height=360)
    plot.update_layout(showlegend=False)
    known = [n for n in names if _value(summary, n, "perplexity") == _value(summary, n, "perplexity")]
    if not known:
        takeaway = "This model gives no probabilities, so perplexity could not be measured."
    else:
        worst = max(known, key=lambda n: _value(summary, n, "perplexity"))
        best = min(known, key=lambda n: _value(summary, n, "perplexity"))
        takeaway = f"{_title(best)} reads most naturally to the model ({_value(summary, best, 'perplexity'):.0f}), "
        takeaway += f"{_title(worst)} least ({_value(summary, worst, 'perplexity'):.0f})."
        takeaway += f" The dashed line is the clean records themselves ({real:.0f})." if real == real else ""
    return Figure(
        plot, takeaway,
        "Scored by the model that wrote the texts, where the paper uses GPT-2; placeholders count as surprising words.",
        f"Bars of perplexity for {len(names)} configurations. {takeaway}",
    )  # fmt: skip


def divergence(summary: pd.DataFrame) -> Figure:
    """Return how far word sequences of the outputs are from those of the clean records."""
    names = _variants(summary)
    plot = go.Figure()
    for n, colour, symbol in ((1, palette.BLUE, "circle"), (2, palette.ORANGE, "diamond"), (3, palette.PINK, "square")):
        plot.add_scatter(
            x=[_title(name) for name in [*names, REAL]],
            y=[_value(summary, name, f"js_{n}gram") for name in [*names, REAL]],
            mode="markers", name=f"{n}-grams", marker={"color": colour, "symbol": symbol, "size": 12},
            hovertemplate="%{x}: %{y:.2f}<extra>" + f"{n}-grams</extra>",
        )  # fmt: skip
    styled(plot, x="", y="Jensen-Shannon divergence (bits)", height=380)
    plot.update_yaxes(range=[0, 1.02])
    best = min(names, key=lambda name: _value(summary, name, "js_1gram"))
    worst = max(names, key=lambda name: _value(summary, name, "js_1gram"))
    takeaway = f"Words are nearest to the clean records with {_title(best)} and farthest with {_title(worst)}."
    return Figure(
        plot, takeaway,
        "The last column is other real records against the clean ones. Few short texts push every value up: compare "
        "columns, not with 0.",
        f"Points of divergence for {len(names)} configurations and real text. {takeaway}",
    )  # fmt: skip


def statistics(summary: pd.DataFrame) -> Figure:
    """Return words an output and placeholders a hundred words, beside the clean records."""
    names = [*_variants(summary), REAL]
    plot = go.Figure()
    for measure, title, colour, shape in (
        ("words", "Words an output", palette.SKY, ""),
        ("placeholders_per_100_words", "Placeholders a hundred words", palette.VERMILION, "/"),
    ):
        rows = [_row(summary, name, measure) for name in names]
        plot.add_bar(
            x=[_title(n) for n in names], y=[r["value"] for r in rows], name=title, error_y=_bars(rows),
            marker={"color": colour, "pattern": {"shape": shape}},
            hovertemplate="%{x}: %{y:.1f}<extra>" + title + "</extra>",
        )  # fmt: skip
    styled(plot, x="", y="Mean, with 95% interval", height=380)
    plot.update_layout(barmode="group")
    made = _variants(summary)
    most = max(made, key=lambda n: _value(summary, n, "placeholders_per_100_words"))
    takeaway = f"Outputs have {min(_value(summary, n, 'words') for n in made):.0f} to "
    takeaway += f"{max(_value(summary, n, 'words') for n in made):.0f} words; {_title(most)} has most placeholders "
    takeaway += f"({_value(summary, most, 'placeholders_per_100_words'):.1f} a hundred words)."
    return Figure(plot, takeaway, "A placeholder is safe and says little.", f"Bars of output statistics. {takeaway}")


def tradeoff(summary: pd.DataFrame) -> Figure:
    """Return leaked identifiers against similarity to the clean records, one mark a configuration."""
    names = _variants(summary)
    points = {n: (_value(summary, n, "identifier_leakage"), _value(summary, n, "semantic_similarity")) for n in names}
    beaten = {
        n for n, (a, b) in points.items()
        if any(c <= a and d >= b and (c < a or d > b) for m, (c, d) in points.items() if m != n)
    }  # fmt: skip
    plot = go.Figure()
    for name, symbol in zip(names, SYMBOLS, strict=False):
        leak, alike = _row(summary, name, "identifier_leakage"), _row(summary, name, "semantic_similarity")
        colour = palette.GREY if name in beaten else palette.BLUE
        plot.add_scatter(
            x=[alike["value"]], y=[leak["value"]], mode="markers", name=_title(name),
            error_x=_bars([alike], colour), error_y=_bars([leak], colour),
            marker={"size": 13, "color": colour, "symbol": symbol},
            hovertemplate="similarity %{x:.2f}, leakage %{y:.0%}<extra>" + _title(name) + "</extra>",
        )  # fmt: skip
    styled(plot, x="Similarity in meaning to the clean record (higher is better)",
           y="Outputs with a planted identifier (lower is better)", height=440)  # fmt: skip
    plot.update_yaxes(tickformat=".0%")
    takeaway = (
        f"No other configuration is better on both counts than {listed([_title(n) for n in names if n not in beaten])}."
    )
    return Figure(
        plot, takeaway, "Marks whose bars overlap cannot be told apart. One corpus, one model, one drawing of values.",
        f"Leakage against similarity for {len(names)} configurations. {takeaway}",
    )  # fmt: skip


def _variants(summary: pd.DataFrame) -> list[str]:
    present = set(summary["variant"])
    return [name for name in TITLES if name in present]


def _title(name: str) -> str:
    return TITLES.get(name, "Real text")


def _row(summary: pd.DataFrame, variant: str, measure: str) -> dict[str, float]:
    found = summary[(summary["variant"] == variant) & (summary["measure"] == measure)]
    if found.empty:
        return {"value": float("nan"), "low": float("nan"), "high": float("nan")}
    return {name: float(found[name].iloc[-1]) for name in ("value", "low", "high")}


def _value(summary: pd.DataFrame, variant: str, measure: str) -> float:
    return _row(summary, variant, measure)["value"]


def _bars(rows: Sequence[Mapping[str, float]], color: str = palette.GREY) -> ErrorBars:
    value, low, high = ([row[end] for row in rows] for end in ("value", "low", "high"))
    return error_bars(value, low, high, color)
