"""Whether texts made with some people lie closer in meaning to what those people wrote than texts made without them.

The attack knows the texts of U and has an encoder: its score of a generation is the cosine of U's texts to their
nearest synthetic texts. A generation from X is a member, one from X ∖ U is not; the same is done with two groups of
runs on X, where nobody was left out. Trainings are what varies: intervals draw them again as wholes, and whether an
area is leakage is decided by naming trainings anew (`pairs_chance`).

The ε–δ curves are of an attacker who sees whether one such score of one unit of U passes the best threshold, in the
form of theorem 6 (Stomakhin 2025, section 3.7; see `lbf_attack`): what is usual for the unit comes from one half of the
trainings, the curve and its band from the other. Trainings are the clusters, so few of them cannot tell anything.

Privacy posture: cosines and their summaries only, no text and no embedding.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NotRequired, TypedDict

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from engine.examine.curves import lbf_attack
from engine.examine.curves.lbf import Floats
from engine.examine.curves.ngram_counts import Ints
from engine.examine.stats import roc
from engine.studies.pairs.chance import Chance, namings

GRID = np.unique(np.concatenate([np.geomspace(0.02, math.log(100.0), 25), np.log([1.01, 1.2, 2.0, 10.0])]))
OBSERVED = "whether the closeness of one person of U to the text passes a threshold"
MAIN, TWICE = "with and without", "twice on the same records"
SCORES: dict[str, str] = {"highest": "the highest cosine of any text of U", "mean": "the mean over texts of U"}
MEASURE = "area (AUC) of closeness in meaning"
ROWS = [
    "score", "comparison", "auc", "low", "high", "p", "namings", "verdict", "generations", "against", "trainings",
    "method", "finding",
]  # fmt: skip
CURVES = ["comparison", *lbf_attack.COLUMNS, "trainings", "observed"]


@dataclass(frozen=True)
class Group:
    """Generations of one side.

    Args:
        cosines: (g, t), of each of U's t texts to the nearest text of each generation.
        trainings: which training each generation comes from.
    """

    cosines: Floats
    trainings: tuple[object, ...]

    def of(self, chosen: Sequence[str]) -> Group:
        """Return the generations of some trainings."""
        keep = [repr(name) in set(chosen) for name in self.trainings]
        return Group(self.cosines[keep], tuple(n for n, kept in zip(self.trainings, keep, strict=True) if kept))

    def names(self) -> list[str]:
        """Return the trainings, each once, in their order."""
        return list(dict.fromkeys(map(repr, self.trainings)))


def tables_of(from_x: Group, from_y: Group, units: Ints, seed: int = 0) -> dict[str, pd.DataFrame]:
    """Return the tables of one U: `semantic` (areas, with p values and a sentence) and `semantic_curves`.

    Args:
        from_x, from_y: generations from X, twice as many trainings, and from X ∖ U. units: int64 (t,), whose each of
            U's texts is.
    """
    sides = _sides(from_x, from_y)
    curves = [_curves(what, first, second, units, seed) for what, first, second in sides]
    return {"semantic": areas(from_x, from_y, seed), "semantic_curves": pd.concat(curves, ignore_index=True)}


def areas(from_x: Group, from_y: Group, seed: int = 0) -> pd.DataFrame:
    """Return the area of each score, with U against without and for two groups of runs on X."""
    rows = [_row(s, what, first, second, seed) for s in SCORES for what, first, second in _sides(from_x, from_y)]
    for row in rows:
        null = next((r for r in rows if r["score"] == row["score"] and r["comparison"] == TWICE), None)
        row["finding"] = _sentence(row, null) if row["comparison"] == MAIN else ""
    return pd.DataFrame(rows, columns=ROWS)


def _sides(from_x: Group, from_y: Group) -> list[tuple[str, Group, Group]]:
    names = from_x.names()
    half = len(names) // 2
    null = [(TWICE, from_x.of(names[:half]), from_x.of(names[half : 2 * half]))] if half else []
    return [(MAIN, from_x, from_y), *null]


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Return the areas as variants of one measure, as the study's summary has them."""
    return pd.DataFrame(
        [
            {"variant": f"{row['score']} cosine, {row['comparison']}", "measure": MEASURE, "value": row["auc"],
             "low": row["low"], "high": row["high"], "runs": row["trainings"]}
            for _, row in table.iterrows()
        ]
    )  # fmt: skip


def whole(cosines: Floats, score: str) -> Floats:
    """Return one score a generation: U's texts together."""
    values = cosines.max(axis=1) if score == "highest" else cosines.mean(axis=1)
    return np.asarray(values, float)


class Compared(TypedDict):
    """One row of the table `semantic`: two groups of generations by one score."""

    score: str
    comparison: str
    auc: float
    low: float
    high: float
    p: float
    namings: int
    verdict: str
    generations: int
    against: int
    trainings: int
    method: str
    finding: NotRequired[str]


def _row(score: str, comparison: str, first: Group, second: Group, seed: int) -> Compared:
    x, y = whole(first.cosines, score), whole(second.cosines, score)
    # The bootstrap takes a group on both sides for one cluster, so sides are named apart.
    ours, theirs = (
        np.array([f"{side}{name!r}" for name in group.trainings], dtype=object)
        for side, group in (("a", first), ("b", second))
    )
    found = roc.auc(x, y, member_groups=ours, other_groups=theirs, seed=seed)
    chance = _by_chance(x, y, ours, theirs, seed)
    return {
        "score": score, "comparison": comparison, "auc": found.value,
        "low": _number(found.low), "high": _number(found.high), "p": chance.p, "namings": chance.namings,
        "verdict": chance.verdict, "generations": len(x), "against": len(y),
        "trainings": len(first.names()) + len(second.names()), "method": found.method,
    }  # fmt: skip


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def _by_chance(x: Floats, y: Floats, ours: NDArray[np.object_], theirs: NDArray[np.object_], seed: int) -> Chance:
    """Return the area above one half and the share of namings of trainings that give at least as much."""
    every, of = np.concatenate([x, y]), np.concatenate([ours, theirs])
    known = list(dict.fromkeys(of.tolist()))
    number = np.array([known.index(name) for name in of])
    size = len(set(theirs.tolist()))
    observed = tuple(range(len(known) - size, len(known)))
    beats = np.greater.outer(every, every) + 0.5 * np.equal.outer(every, every)
    tried = namings(len(known), observed, np.random.default_rng([seed, 8]))
    areas = []
    for named in tried:
        other = np.isin(number, named)
        areas.append(float(beats[np.ix_(~other, other)].mean()))
    seen = areas[tried.index(observed)]
    return Chance(seen - 0.5, float(np.mean(np.array(areas) >= seen - 1e-12)), len(tried))


def _sentence(row: Compared, null: Compared | None) -> str:
    """Return what one score says, in words, with the null beside it."""
    text = f"By {SCORES[row['score']]}, text made with U is closer to it than text made without in "
    text += f"{row['auc']:.0%} of pairs{_between(row)}"
    if null is None:
        return f"{text}; one training a side gives nothing to hold it against."
    text += f", for two groups of runs on the same records in {null['auc']:.0%}{_between(null)}"
    if row["verdict"] == "leakage":
        return f"{text} (p = {row['p']:.2g}): that is more than trainings differ, so U's meaning shows."
    if row["verdict"] == "too few":
        return f"{text}: too few trainings to judge; run at least three."
    return f"{text} (p = {row['p']:.2g}): no more than trainings differ by chance."


def _between(row: Compared) -> str:
    return "" if math.isnan(row["low"]) else f" ({row['low']:.0%} to {row['high']:.0%})"


def by_unit(cosines: Floats, units: Ints) -> Floats:
    """Return the highest cosine of each unit's texts: (g, u)."""
    return np.stack([cosines[:, units == unit].max(axis=1) for unit in np.unique(units)], axis=1)


def _curves(comparison: str, first: Group, second: Group, units: Ints, seed: int) -> pd.DataFrame:
    """Return the curve of one comparison; no rows where a side has fewer than two trainings."""
    judged = _judged(first, second, units)
    if judged is None:
        return pd.DataFrame(columns=CURVES)
    found = lbf_attack.attack_curve(*judged, GRID, seed=seed)
    trainings = len(first.names()) + len(second.names())
    return pd.DataFrame(
        {"comparison": comparison, **found.columns(), "trainings": trainings, "observed": OBSERVED}, columns=CURVES
    )


def _judged(first: Group, second: Group, units: Ints) -> tuple[lbf_attack.SideScores, lbf_attack.SideScores] | None:
    """Return scores of single units, less what is usual for the unit, of every other training.

    What is usual is the middle between the two sides' means in the other half, so it is fixed beforehand.
    """
    if min(len(first.names()), len(second.names())) < 2:
        return None
    scores = [by_unit(group.cosines, units) for group in (first, second)]
    numbers = [np.array([g.names().index(repr(name)) for name in g.trainings]) for g in (first, second)]
    before = [number % 2 == 1 for number in numbers]
    usual = np.mean([side[kept].mean(axis=0) for side, kept in zip(scores, before, strict=True)], axis=0)
    sides = []
    for at, (side, number, kept) in enumerate(zip(scores, numbers, before, strict=True)):
        cluster = np.repeat(2 * number[~kept] + at, side.shape[1])
        sides.append(lbf_attack.SideScores((side[~kept] - usual).ravel(), cluster.astype(np.int64)))
    return sides[0], sides[1]
