"""Tables of the grid: Table 17 with intervals, and what size and temperature each do.

What an axis does is one number a repeat: the least-squares slope over the whole grid of that repeat, with both axes at
once, so that its interval is over repeats alone. Size counts in doublings, temperature in steps of 0.1. A straight line
is a summary: where a measure rises and falls again, it says little, and the figures show it.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from engine.examine.findings.sizes import STEADY
from engine.examine.stats.over_repeats import LEAST, Difference, from_nothing
from engine.figures.base import listed
from engine.studies.base import TableRow
from engine.studies.bench import compared
from engine.studies.bench.measured import METRIC_NAMES

KEYS = ("size", "temperature")
SIZE, TEMPERATURE = "each doubling of the texts", "each 0.1 of temperature"
RISES, FALLS = "rises", "falls"
COLUMNS = ["axis", "measure", "title", "slope", "low", "high", "p", "p_corrected", "p_paired", "repeats", "verdict",
           "paper"]  # fmt: skip
STEP = 0.1
# What the paper sees in its own table; its Fréchet distance stands for ours and for the kernel distance.
PAPER = {
    (SIZE, "next_word"): RISES, (SIZE, "kid"): FALLS, (SIZE, "frechet"): FALLS, (SIZE, "self_bleu"): RISES,
    (TEMPERATURE, "next_word"): "hardly moves", (TEMPERATURE, "kid"): FALLS, (TEMPERATURE, "frechet"): FALLS,
    (TEMPERATURE, "self_bleu"): FALLS,
}  # fmt: skip


def table_17(summary: pd.DataFrame) -> pd.DataFrame:
    """Return a row a size and temperature, a column a measure, cells as mean ± half the interval."""
    rows = []
    for (size, temperature), part in summary.groupby(list(KEYS), sort=True):
        cells = {str(row["title"]): compared.cell(row) for _, row in part.iterrows()}
        rows.append({"size": size, "temperature": temperature, **cells})
    return pd.DataFrame(rows)


def effects(runs: pd.DataFrame) -> pd.DataFrame:
    """Return a row an axis and measure: the slope over repeats, its interval and test, and which way it goes."""
    rows: list[TableRow] = []
    whole = whole_repeats(runs)
    for measure in dict.fromkeys(runs["measure"]):
        part = runs[(runs["measure"] == measure) & runs["repeat"].isin(whole)]
        slopes = [_slopes(own) for _, own in part.groupby("repeat", sort=True)]
        for number, axis in enumerate((SIZE, TEMPERATURE)):
            if runs[KEYS[number]].nunique() < 2:
                continue
            found = from_nothing([slope[number] for slope in slopes])
            rows.append(_row(axis, str(measure), str(part["title"].iloc[0]), found))
    made = compared.judged(rows, COLUMNS)
    # `good` is 1 in every row: better stands for a slope above 0, worse for one below.
    made["verdict"] = made["verdict"].replace({compared.BETTER: RISES, compared.WORSE: FALLS})
    return made


def whole_repeats(runs: pd.DataFrame) -> list[int]:
    """Return the repeats that have every cell that any of them has: a stopped study's last one may not."""
    size = {int(str(repeat)): len(own) for repeat, own in runs.drop_duplicates(["variant", "repeat"]).groupby("repeat")}
    return [repeat for repeat, cells in size.items() if cells == max(size.values())]


def _row(axis: str, measure: str, title: str, found: Difference) -> TableRow:
    word = compared.UNMEASURED if not found.first else compared.UNTOLD if found.first >= LEAST else compared.FEW
    return {"axis": axis, "measure": measure, "title": title, "slope": found.value, "difference": found.value,
            "low": found.low, "high": found.high, "p": found.p, "p_corrected": math.nan, "p_paired": found.p_paired,
            "repeats": found.first, "verdict": word, "good": 1,
            "paper": PAPER.get((axis, measure), "")}  # fmt: skip


def _slopes(cells: pd.DataFrame) -> tuple[float, float]:
    """Return the slopes of one repeat's grid over doublings and steps of temperature; NaN along an axis of one value.

    A grid with a cell that has no value has no slope: which cells are missing is not by chance.
    """
    values = cells["value"].to_numpy(float)
    if not np.isfinite(values).all():
        return math.nan, math.nan
    axes = np.column_stack([np.log2(cells["size"].to_numpy(float)), cells["temperature"].to_numpy(float) / STEP])
    moving = [i for i in (0, 1) if np.ptp(axes[:, i]) > 0]
    if not moving:
        return math.nan, math.nan
    design = np.column_stack([np.ones(len(values)), axes[:, moving]])
    solved = np.linalg.lstsq(design, values, rcond=None)[0][1:]
    found = [math.nan, math.nan]
    for place, slope in zip(moving, solved, strict=True):
        found[place] = float(slope)
    return found[0], found[1]


def in_words(tested: pd.DataFrame, repeats: int, asked: int) -> pd.DataFrame:
    """Return a sentence an axis, which measures would move without a method, and what so many repeats can show.

    Args:
        repeats: whole ones that are there. asked: those that were to run.
    """
    said = [sentence(tested, axis) for axis in dict.fromkeys(tested["axis"])]
    said += by_themselves(tested)
    tests = int(tested["p"].notna().sum())
    return pd.DataFrame({"sentence": [*said, *compared.so_far(repeats, asked), *compared.reach(repeats, tests)]})


def by_themselves(tested: pd.DataFrame) -> list[str]:
    """Return which measures rise or fall with the number of texts whatever wrote them, in a sentence; none for none."""
    rows = tested[(tested["axis"] == SIZE) & tested["verdict"].isin((RISES, FALLS))]
    titles = [
        f"“{row['title']}”" for _, row in rows.iterrows()
        if str(row["measure"]) in METRIC_NAMES and str(row["measure"]) not in STEADY
    ]  # fmt: skip
    if not titles:
        return []
    return [f"Of real text the same moves with the number of texts, without any method: {listed(titles)}."]


def sentence(tested: pd.DataFrame, axis: str) -> str:
    """Return what one axis does to every measure, in words."""
    rows = tested[tested["axis"] == axis]
    parts = []
    for verdict, words in (
        (RISES, "{} rises"), (FALLS, "{} falls"), (compared.UNTOLD, "whether {} moves cannot be told"),
        (compared.UNMEASURED, "{} was not measured in every cell"), (compared.FEW, "{} has too few repeats"),
        (compared.FIXED, "{} moves by the same in every repeat, so that no test fits"),
    ):  # fmt: skip
        own = rows[rows["verdict"] == verdict]
        shown = [
            f"“{row['title']}”" + (f" by {abs(row['slope']):.3g}" if verdict in (RISES, FALLS) else "")
            for _, row in own.iterrows()
        ]
        parts += [words.format(" and ".join(shown))] if shown else []
    return f"With {axis}: {'; '.join(parts)}."
