"""Figures of the study `control-codes`: what comes out, how much is copied, what it is worth, masked against plain.

Values and intervals are those of Tables 1 to 6, 14 and 15 of Zhao and Field 2025, as this corpus and model give them.
"""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import plotly.graph_objects as go

from engine.figures import palette
from engine.figures.base import Figure, listed, styled
from engine.studies.bench.error_bars import error_bars

TITLES: Mapping[str, str] = {
    "icl": "Examples alone", "control-icl": "With codes", "control-icl-blocked": "Codes, values blocked",
    "control-prefix": "Tuned prefix", "control-prefix-masked": "Tuned prefix, masked",
    "dp-finetune": "DP-SGD",
}  # fmt: skip
COLOURS = (palette.BLUE, palette.ORANGE, palette.GREEN, palette.PINK, palette.SKY, palette.VERMILION)
SYMBOLS = ("circle", "diamond", "square", "triangle-up", "pentagon", "star")
PATTERNS = ("", "/", ".", "x", "\\", "-")
WORDS: Mapping[str, str] = {
    "pipp": "Texts with a private value (PIPP)", "elp": "Private values that come out (ELP)", "rouge_2": "ROUGE-2",
    "rouge_l": "ROUGE-L", "rouge_2_max": "ROUGE-2, nearest record", "rouge_l_max": "ROUGE-L, nearest record",
    "perplexity": "Perplexity", "mauve": "MAUVE",
}  # fmt: skip


def figures(tables: Mapping[str, pd.DataFrame]) -> list[tuple[str, Figure]]:
    """Return the figures that the tables allow, each with a short name."""
    runs, summary = tables.get("runs"), tables.get("summary")
    if runs is None or summary is None or not {"variant", "method", "identifiers", "entities", "sweep"} <= set(runs):
        return []
    rows = _rows(runs, summary)
    if rows.empty:
        return []
    made = [("private", private(rows)), ("copied", copied(rows))]
    if "perplexity" in set(rows["measure"]):
        made.append(("worth", worth(rows)))
    against = tables.get("masked_against_plain")
    if against is not None and len(against):
        made.append(("masked", masked(against)))
    if "validity" in tables and len(tables["validity"]):
        made.append(("validity", validity(tables["validity"])))
    return made


def private(rows: pd.DataFrame) -> Figure:
    """Return the share of texts that hold a private value, a group of bars a method, one bar a setting."""
    plot = _bars(rows, "pipp", ".0%")
    styled(plot, x="", y="Texts with a private value (PIPP)", height=380)
    plot.update_yaxes(tickformat=".0%", rangemode="tozero")
    part = rows[rows["measure"] == "pipp"]
    worst = part.iloc[int(part["value"].argmax())]
    none = [str(m) for m, own in part.groupby("method", sort=False) if not own["value"].any()]
    takeaway = "No text of any method holds a private value."
    if worst["value"]:
        takeaway = f"Most private values come out with {_title(worst['method'])} ({worst['value']:.1%} of texts"
        takeaway += f", {worst['setting']})." if part["setting"].nunique() > 1 else ")."
        takeaway += f" None came out with {listed([_title(m) for m in none])}." if none else ""
    return Figure(
        plot, takeaway,
        "Methods with examples are held against the records in their prompt, tuned ones against all. Whiskers are 95% "
        "intervals over runs; none seen in a few hundred texts does not mean none.",
        f"Bars of the share of texts with a private value. {takeaway}",
    )  # fmt: skip


def copied(rows: pd.DataFrame) -> Figure:
    """Return how much texts share with the record nearest to them, one mark a method and setting."""
    plot = go.Figure()
    for number, (setting, own) in enumerate(rows.groupby("setting", sort=False)):
        for measure, filled in (("rouge_l_max", True), ("rouge_2_max", False)):
            part = own[own["measure"] == measure]
            symbol = SYMBOLS[number % len(SYMBOLS)] + ("" if filled else "-open")
            plot.add_scatter(
                x=[_title(m) for m in part["method"]], y=part["value"], mode="markers",
                error_y=error_bars(part["value"], part["low"], part["high"]),
                name=f"{WORDS[measure].split(',')[0]}{_named(rows, setting)}",
                marker={"color": COLOURS[number % len(COLOURS)], "symbol": symbol, "size": 12},
                hovertemplate="%{x}: %{y:.3f}<extra></extra>",
            )  # fmt: skip
    styled(plot, x="", y="Overlap with the nearest private record (F1)", height=380)
    plot.update_yaxes(rangemode="tozero")
    part = rows[(rows["measure"] == "rouge_l_max") & (rows["setting"] == rows["setting"].iloc[0])]
    most, least = part.iloc[int(part["value"].argmax())], part.iloc[int(part["value"].argmin())]
    takeaway = f"{_title(most['method'])} repeats most of a private record (ROUGE-L {most['value']:.2f})"
    takeaway += f", {_title(least['method'])} least ({least['value']:.2f})." if len(part) > 1 else "."
    if len(part) > 1 and f"{most['value']:.2f}" == f"{least['value']:.2f}":
        takeaway = f"All methods repeat as much of a private record (ROUGE-L {most['value']:.2f})."
    return Figure(
        plot, takeaway,
        "Records of one kind share much wording with each other, so overlap alone is no leak: compare methods.",
        f"Points of overlap for {part['method'].nunique()} methods. {takeaway}",
    )  # fmt: skip


def worth(rows: pd.DataFrame) -> Figure:
    """Return perplexity of a model tuned on the texts against overlap with the private records."""
    plot = go.Figure()
    ours = rows[rows["measure"] == "perplexity"]
    for number, (_, row) in enumerate(ours.iterrows()):
        other = rows[(rows["variant"] == row["variant"]) & (rows["measure"] == "rouge_l_max")].iloc[0]
        plot.add_scatter(
            x=[other["value"]], y=[row["value"]], mode="markers",
            name=f"{_title(row['method'])}{_named(rows, row['setting'])}",
            error_x=error_bars([other["value"]], [other["low"]], [other["high"]]),
            error_y=error_bars([row["value"]], [row["low"]], [row["high"]]),
            marker={"color": COLOURS[number % len(COLOURS)], "symbol": SYMBOLS[number % len(SYMBOLS)], "size": 13},
            hovertemplate="ROUGE-L %{x:.3f}, perplexity %{y:.1f}<extra></extra>",
        )  # fmt: skip
    styled(plot, x="ROUGE-L with the nearest private record (lower is safer)",
           y="Perplexity of unseen records (lower is better)", height=420)  # fmt: skip
    best = ours.iloc[int(ours["value"].argmin())]
    takeaway = f"A model tuned on the texts of {_title(best['method'])} reads unseen records best "
    takeaway += f"(perplexity {best['value']:.1f})."
    return Figure(
        plot, takeaway,
        "Texts that copy the private records teach their wording too: what lies low and to the right has both.",
        f"Perplexity against overlap. {takeaway}",
    )  # fmt: skip


def masked(against: pd.DataFrame) -> Figure:
    """Return the difference of masked and plain prefix tuning, a line of 95% intervals over paired runs."""
    first = against[["identifiers", "entities"]].iloc[0]
    part = against[(against["identifiers"] == first["identifiers"]) & (against["entities"] == first["entities"])]
    part = part[~part["measure"].isin(("perplexity",))]
    plot = go.Figure(
        go.Scatter(
            x=part["difference"], y=[WORDS.get(str(m), str(m)) for m in part["measure"]], mode="markers",
            error_x=error_bars(part["difference"], part["low"], part["high"]),
            marker={"color": palette.BLUE, "size": 11},
            text=part["verdict"], hovertemplate="%{y}: %{x:.4f}, %{text}<extra></extra>",
        )
    )  # fmt: skip
    plot.add_vline(x=0, line={"dash": "dash", "color": palette.GREY})
    styled(plot, x="Masked minus plain (left of the line: masked is lower)", y="", height=120 + 34 * len(part))
    plot.update_layout(showlegend=False)
    said = [
        f"{verdict} in {listed([WORDS.get(str(m), str(m)) for m in own['measure']])}"
        for verdict, own in part.groupby("verdict", sort=False)
        if verdict != "cannot tell"
    ]
    unclear = [WORDS.get(str(m), str(m)) for m in part.loc[part["verdict"] == "cannot tell", "measure"]]
    takeaway = f"Masked prefix tuning lies {' and '.join(said)}." if said else "Masked and plain cannot be told apart."
    takeaway += f" One cannot tell for {listed(unclear)}." if said and unclear else ""
    return Figure(
        plot, takeaway,
        f"Differences are paired by run ({int(part['repeats'].max())} runs); with few runs intervals are wide. Paper: "
        "below in ROUGE, not in PIPP or ELP.",
        f"Differences with intervals for {len(part)} measures. {takeaway}",
    )  # fmt: skip


def validity(table: pd.DataFrame) -> Figure:
    """Return how many texts of each variant are valid, and how many had to be written again."""
    plot = go.Figure()
    for column, title, colour, pattern in (
        ("valid", "Valid", palette.GREEN, ""),
        ("tried_again", "Written again", palette.VERMILION, "/"),
    ):
        plot.add_bar(
            x=[_title(str(v)) for v in table["variant"]], y=table[column], name=title,
            marker={"color": colour, "pattern": {"shape": pattern}},
            hovertemplate="%{x}: %{y}<extra>" + title + "</extra>",
        )  # fmt: skip
    styled(plot, x="", y="Texts over all runs", height=360)
    plot.update_layout(barmode="group")
    fewest = table.iloc[int((table["valid"] / table["texts"]).argmin())]
    takeaway = f"At least {fewest['valid'] / fewest['texts']:.0%} of the texts are valid"
    takeaway += f" (fewest with {_title(str(fewest['variant']))})."
    if (table["valid"] == table["texts"]).all():
        takeaway = "All texts are valid."
    return Figure(
        plot, takeaway, "Valid: at least 100 tokens and no repetition. An unusable text is written again.",
        f"Bars of valid texts for {len(table)} variants. {takeaway}",
    )  # fmt: skip


def _rows(runs: pd.DataFrame, summary: pd.DataFrame) -> pd.DataFrame:
    """Return the summary of the methods, without sweeps and real text, with method and setting in words."""
    keys = runs[(runs["sweep"] == "") & (runs["identifiers"] != "")]
    keys = keys[["variant", "method", "identifiers", "entities"]].drop_duplicates("variant")
    keys = keys.assign(setting=keys["identifiers"] + ", " + keys["entities"])
    return summary.merge(keys, on="variant", how="inner").dropna(subset="value").reset_index(drop=True)


def _bars(rows: pd.DataFrame, measure: str, shown: str) -> go.Figure:
    plot = go.Figure()
    for number, (setting, own) in enumerate(rows[rows["measure"] == measure].groupby("setting", sort=False)):
        plot.add_bar(
            x=[_title(m) for m in own["method"]], y=own["value"], name=str(setting),
            error_y=error_bars(own["value"], own["low"], own["high"]),
            marker={"color": COLOURS[number % len(COLOURS)], "pattern": {"shape": PATTERNS[number % len(PATTERNS)]}},
            hovertemplate="%{x}: %{y:" + shown + "}<extra>" + str(setting) + "</extra>",
        )  # fmt: skip
    plot.update_layout(barmode="group")
    return plot


def _named(rows: pd.DataFrame, setting: object) -> str:
    return f" ({setting})" if rows["setting"].nunique() > 1 else ""


def _title(name: str) -> str:
    return TITLES.get(name, name)
