"""Figures of the study `evolution-ablation`: parts left out (Table 3), rounds (Figures 3, 4, 7) and τ (Figure 6)."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from engine.figures.base import Figure, listed
from engine.studies.bench.figures import along, measures_of, share_of, side_by_side
from engine.studies.evolution_ablation.claims import FAILS, HOLDS
from engine.studies.evolution_ablation.tables import BASE, RATE, TAU

MAIN = 2  # measures that are drawn along τ: the first ones asked for
CAVEAT = (
    "Populations of the rounds of one run, whose noise is that of all its rounds; a run with fewer would draw less."
)


def figures(tables: Mapping[str, pd.DataFrame]) -> list[tuple[str, Figure]]:
    """Return the figures that the tables allow, each with a short name."""
    if not {"runs", "summary", "comparison", "claims"} <= set(tables):
        return []
    runs, summary, comparison = tables["runs"], tables["summary"], tables["comparison"]
    made: list[tuple[str, Figure]] = []
    left_out = ~summary["changed"].isin((TAU, RATE))
    names = set(summary.loc[left_out, "variant"])
    parts = side_by_side(
        runs[runs["variant"].isin(names)], summary[left_out], comparison[comparison["one"].isin(names)]
    )
    if parts is not None:
        said = claimed(tables["claims"]) or parts.takeaway
        made.append(("parts", Figure(parts.plot, said, parts.caveat, parts.alt)))
    rounds = tables.get("rounds_summary")
    if rounds is not None and rounds["round"].nunique() > 1:
        for measure in measures_of(rounds):
            own = rounds[~rounds["changed"].isin((TAU, RATE))]
            made.append((f"rounds_{measure}", _rounds(own, measure)))
            rates = rounds[rounds["changed"].isin(("", RATE))]
            if (rates["changed"] == RATE).any():
                made.append((f"rates_{measure}", _rounds(rates, measure)))
    taus = summary[summary["changed"] == TAU]
    if len(taus):
        base = summary[summary["variant"] == BASE]
        made += [
            (
                f"tau_{measure}",
                along(taus.assign(line="τ"), measure, "level", "line", x="Threshold τ",
                      takeaway=share_of(comparison[comparison["one"].isin(set(taus["variant"]))], measure, BASE),
                      caveat="As it is, τ follows from the first candidates.", level=("As it is", base)),
            )
            for measure in measures_of(taus)[:MAIN]
        ]  # fmt: skip
    return made


def claimed(claims: pd.DataFrame) -> str:
    """Return in a sentence which claims of the paper hold at this scale, and how many cannot be told."""
    if claims.empty:
        return ""
    parts = []
    for verdict, words in ((HOLDS, "hold"), (FAILS, "do not hold")):
        rows = claims[claims["verdict"] == verdict]
        if len(rows):
            named = [f"“{row['claim']}” ({str(row['measure']).lower()})" for _, row in rows.iterrows()]
            parts.append(f"{words}: {listed(named)}")
    left = claims[~claims["verdict"].isin((HOLDS, FAILS))]
    parts += [f"{verdict}: {len(rows)}" for verdict, rows in left.groupby("verdict", sort=False)]
    return f"Of {len(claims)} claims of the paper, {'; '.join(parts)}."


def _rounds(rounds: pd.DataFrame, measure: str) -> Figure:
    part = rounds[(rounds["measure"] == measure) & rounds["value"].notna()]
    moves = []
    for name, own in part.groupby("variant", sort=False):
        own = own.sort_values("round")
        moves.append(f"{name} {own['value'].iloc[0]:.3g} → {own['value'].iloc[-1]:.3g}")
    takeaway = f"from round {int(part['round'].min())} to {int(part['round'].max())}, {'; '.join(moves)}."
    made = along(part, measure, "round", "variant", x="Round", takeaway=takeaway, caveat=CAVEAT)
    made.plot.update_xaxes(dtick=1)
    return made
