"""Figure of linkable details: people singled out by what stands together in the release, in all and by kinds.

Privacy posture: kinds of details and counts; neither details nor people are named.
"""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import plotly.graph_objects as go

from engine.examine.findings.findings import Finding
from engine.examine.findings.levels import level_of
from engine.examine.stats.intervals import wilson
from engine.figures.base import Figure, listed, pick, styled
from engine.figures.privacy.sides import Row, add_dots, rows_of_sides

MEASURES = {"linkage": "in one record", "linkage_spread": "by several records of one source"}
SIDES = ("train", "holdout", "baseline")
MOST = 6  # kinds of combinations drawn
CUT = 20_000  # rows at which the table may end before the holdout


def linkage(links: pd.DataFrame, findings: Sequence[Finding]) -> Figure | None:
    """Return the share of people that combined details point to: in all with baseline, then by kinds of details.

    Args:
        links: the examination's table `linkage`. findings: of the same examination.
    """
    if pick(findings, "linkage", "train") is None:
        return None
    rows = [(name, said, f"any details {said}") for name, said in MEASURES.items() if pick(findings, name, "train")]
    kinds = [] if len(links) >= CUT else _kinds(links)
    plot = go.Figure()
    for side in SIDES:
        known = [(label, f) for name, _, label in rows if (f := pick(findings, name, side)) is not None]
        parts: list[Row] = [(label, f.value, f.low, f.high) for label, f in known]
        whole = pick(findings, "linkage", side)
        if side != "baseline" and whole is not None:
            parts += [_of_kind(links, kind, side, whole.n) for kind in kinds]
        if parts:
            add_dots(plot, side, parts)
    styled(plot, x="People singled out (per cent of those asked about), with 95% interval", y="",
           height=150 + 56 * max(2, len(rows) + len(kinds)))  # fmt: skip
    rows_of_sides(plot)
    takeaway = _said(findings, kinds)
    caveat = (
        "Each detail is common alone; two or three together belong to one person. Details that meet by chance count "
        "too: the holdout shows how many. Kinds are counted by what was marked, and one person may fall under several."
    )
    return Figure(plot, takeaway, caveat, f"Dots of people singled out, a row each. {takeaway}")


def words(labels: str) -> str:
    """Return a combination of types as it is drawn, such as `age + location + place`."""
    return " + ".join(sorted(part.strip().lower().replace("_", " ") for part in labels.split("+")))


def _kinds(links: pd.DataFrame) -> list[str]:
    """Return the kinds of combinations in one record that single out most training people."""
    ours = links[(links["reference"] == "train") & links["asked"].astype(bool) & (links["records"] == 1)]
    counts = ours.assign(kind=ours["labels"].map(words)).groupby("kind")["unit"].nunique()
    return [str(kind) for kind in counts.sort_values(ascending=False, kind="stable").index[:MOST]]


def _of_kind(links: pd.DataFrame, kind: str, side: str, asked: int) -> tuple[str, float, float | None, float | None]:
    part = links[(links["reference"] == side) & links["asked"].astype(bool) & (links["records"] == 1)]
    people = min(int(part[part["labels"].map(words) == kind]["unit"].nunique()), asked)
    return kind, people / max(asked, 1), *wilson(people, asked)


def _said(findings: Sequence[Finding], kinds: Sequence[str]) -> str:
    train, holdout = (pick(findings, "linkage", side) for side in ("train", "holdout"))
    excess = pick(findings, "linkage_excess", "holdout")
    if train is None:
        return "Combinations of details could not be looked for."
    text = f"Combined details of one record point to {100 * train.value:.1f}% of the people asked about"
    if holdout is not None:
        text += f", and to {100 * holdout.value:.1f}% of people that nobody used"
    level = "unknown" if excess is None else level_of(excess)
    text += {"leak": ": more than chance.", "chance": ": no more than chance."}.get(level, ": too close to tell apart.")
    if kinds and train.value:
        text += f" Most often it is {listed(kinds[:2])}." if len(kinds) > 1 else f" It is always {kinds[0]}."
    return text
