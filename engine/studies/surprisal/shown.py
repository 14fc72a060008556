"""What the surprisal of a tuned model says about who was in: Table 2, CDF, Q-Q, threshold ratios, and its ε–δ curves.

Source: Stomakhin 2025, Framework for Privacy-Preserving Synthesis of Textual Data, section 6 (figures 14 to 16,
Table 2); the (ε, δ) analysis is what its section 7 leaves to others. Every comparison is made twice: excluded against
included, and included against other included units (the control), which shows what groups of people differ by anyway.
For areas and ratios a unit scored by one model is a cluster (training × source): its records are never told apart as
independent. For ε–δ curves a cluster is a unit, whichever models scored it: they hold for these trainings.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from engine.examine.curves import lbf_attack
from engine.examine.curves.lbf import Floats
from engine.examine.stats import roc
from engine.studies.base import TableRow

SCORES = ("surprisal", "a token", "against untuned")
"""Member-like scores: minus S(x); minus S(x) a token; surprisal a token under the untuned model minus the tuned one."""
GRID = np.concatenate([[math.log(1.01)], np.geomspace(0.02, math.log(100.0), 40), np.log([1.2, 2.0, 10.0])])
OBSERVED = "whether one score passes a threshold"
POINTS = 41
DRAWS = 200
_GONE = "excluded"
_SIDES = {"main": ("included", _GONE), "control": ("control a", "control b")}


def member_scores(scores: pd.DataFrame, name: str) -> Floats:
    """Return the member-like score of each row, higher = more likely a member.

    Args:
        scores: columns surprisal (nats), tokens, reference (nats under the untuned model, NaN where there is none).
    """
    tokens = np.maximum(scores["tokens"].to_numpy(float), 1.0)
    nats, reference = scores["surprisal"].to_numpy(float), scores["reference"].to_numpy(float)
    return {"surprisal": -nats, "a token": -nats / tokens, "against untuned": (reference - nats) / tokens}[name]


def tables_of(scores: pd.DataFrame, seed: int = 0, *, curves: bool = True) -> dict[str, pd.DataFrame]:
    """Return the study's tables; those of ε–δ curves only where asked for, they take longest.

    Args:
        scores: one row a model and record: model (int), record_id, unit, side (`included`, `excluded`), half (`a`, `b`
            for included units, halved at random a model), surprisal, tokens, reference, right.
    """
    known = [name for name in SCORES if np.isfinite(member_scores(scores, name)).all()]
    found = {
        "models": pd.DataFrame([row for name in known for row in _models(scores, name, seed)]),
        "cdf": _cdf(scores), "qq": _qq(scores), "ratio": ratio(scores, seed), "ratio_models": ratio_models(scores),
    }  # fmt: skip
    if curves:
        judged = [name for name in ("surprisal", "against untuned") if name in known]
        found["curves"] = pd.concat([_curves(scores, name, seed) for name in judged], ignore_index=True)
    return found


def sides(scores: pd.DataFrame, comparison: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the rows that count as members and as others: `main`, or `control` where both were in."""
    inside = scores[scores["side"] == "included"]
    if comparison == "main":
        return inside, scores[scores["side"] == _GONE]
    return inside[inside["half"] == "a"], inside[inside["half"] == "b"]


def _models(scores: pd.DataFrame, name: str, seed: int) -> list[TableRow]:
    """Return Table 2: a row a model, and one of all models together (model −1)."""
    rows = []
    for model in [*sorted(scores["model"].unique()), -1]:
        part = scores if model == -1 else scores[scores["model"] == model]
        row: TableRow = {"model": int(model), "score": name}
        for comparison, prefix in (("main", ""), ("control", "control_")):
            members, others = sides(part, comparison)
            ours, theirs = member_scores(members, name), member_scores(others, name)
            found = roc.auc(ours, theirs, member_groups=_clusters(members), other_groups=_clusters(others), seed=seed)
            row |= {
                f"{prefix}auc": found.value, f"{prefix}low": found.low, f"{prefix}high": found.high,
                f"{prefix}median_difference": float(np.median(ours) - np.median(theirs)),
                f"{prefix}members": len(members), f"{prefix}others": len(others),
            }  # fmt: skip
        rows.append(row)
    return rows


def _clusters(rows: pd.DataFrame) -> NDArray[np.object_]:
    return np.array([f"{model}/{unit}" for model, unit in zip(rows["model"], rows["unit"], strict=True)], dtype=object)


def _units(rows: pd.DataFrame) -> NDArray[np.object_]:
    return np.array([str(unit) for unit in rows["unit"]], dtype=object)


def _grouped(scores: pd.DataFrame) -> list[tuple[int, str, Floats]]:
    """Return the surprisals of each model and side, the two control halves among them."""
    found = []
    for model, part in scores.groupby("model"):
        for comparison, names in _SIDES.items():
            for rows, name in zip(sides(part, comparison), names, strict=True):
                found.append((int(str(model)), name, np.sort(rows["surprisal"].to_numpy(float))))
    return found


def _cdf(scores: pd.DataFrame) -> pd.DataFrame:
    """Return per model and side the share of records with at most so much surprisal (figure 14)."""
    at = np.quantile(scores["surprisal"].to_numpy(float), np.linspace(0.0, 1.0, POINTS))
    parts = [
        pd.DataFrame(
            {"model": model, "side": side, "surprisal": at,
             "share": np.searchsorted(values, at, side="right") / max(1, values.size)}
        )
        for model, side, values in _grouped(scores)
    ]  # fmt: skip
    return pd.concat(parts, ignore_index=True)


def _qq(scores: pd.DataFrame) -> pd.DataFrame:
    """Return per model quantiles of one side against the other (figure 15): included over excluded, and the control."""
    at = np.linspace(0.02, 0.98, POINTS)
    held = {(model, side): values for model, side, values in _grouped(scores)}
    parts = []
    for model in sorted({model for model, _ in held}):
        for comparison, (first, second) in _SIDES.items():
            x, y = held[model, first], held[model, second]
            if x.size and y.size:
                parts.append(
                    pd.DataFrame(
                        {"model": model, "comparison": comparison, "quantile": at, "first": np.quantile(x, at),
                         "second": np.quantile(y, at)}
                    )
                )  # fmt: skip
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def ratio(scores: pd.DataFrame, seed: int = 0) -> pd.DataFrame:
    """Return LR(τ) = Pr[S > τ | excluded] / Pr[S > τ | included] over all models, with bands over clusters (figure 16).

    Thresholds are quantiles up to where ten records of each side are left; beyond, the ratio is noise.
    """
    rows = []
    for comparison in _SIDES:
        members, others = sides(scores, comparison)
        x, y = members["surprisal"].to_numpy(float), others["surprisal"].to_numpy(float)
        if min(x.size, y.size) < 20:
            continue
        highest = min(np.sort(side)[-10] for side in (x, y))
        every = np.concatenate([x, y])
        cuts = np.unique(np.quantile(every[every < highest], np.linspace(0.0, 1.0, 25)))
        point = _ratios(x, y, np.ones(x.size), np.ones(y.size), cuts)
        low, high = _band(members, others, cuts, seed)
        rows.append(
            pd.DataFrame({"comparison": comparison, "threshold": cuts, "ratio": point, "low": low, "high": high})
        )
    columns = ["comparison", "threshold", "ratio", "low", "high"]
    return pd.concat(rows, ignore_index=True) if rows else pd.DataFrame(columns=columns)


def ratio_models(scores: pd.DataFrame) -> pd.DataFrame:
    """Return LR(τ) of each model up to its last finite threshold, and which way it ends (figure 16).

    Returns:
        Columns model, threshold (nats), ratio (above 0, finite), left_out and inside (records above the threshold),
        and end: `infinite` where the most surprising record was left out, so that no record in training lies beyond,
        `zero` where it was in training, `equal` where both have it.
    """
    rows = []
    for model, part in scores.groupby("model"):
        members, others = sides(part, "main")
        x, y = (side["surprisal"].to_numpy(float) for side in (members, others))
        if not (x.size and y.size):
            continue
        shared = min(x.max(), y.max())
        cuts = np.unique(np.quantile(np.concatenate([x, y]), np.linspace(0.0, 1.0, POINTS)))
        # the last threshold that both sides still pass
        cuts = np.unique(np.append(cuts[cuts < shared], np.nextafter(shared, -np.inf)))
        above = [(side[:, None] > cuts[None, :]).sum(axis=0) for side in (y, x)]
        end = "infinite" if y.max() > x.max() else "zero" if y.max() < x.max() else "equal"
        rows.append(
            pd.DataFrame(
                {"model": int(str(model)), "threshold": cuts, "ratio": (above[0] / y.size) / (above[1] / x.size),
                 "left_out": above[0], "inside": above[1], "end": end}
            )
        )  # fmt: skip
    columns = ["model", "threshold", "ratio", "left_out", "inside", "end"]
    return pd.concat(rows, ignore_index=True) if rows else pd.DataFrame(columns=columns)


def _ratios(x: Floats, y: Floats, weight_x: Floats, weight_y: Floats, cuts: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        above = [_above(side, weights, cuts) for side, weights in ((y, weight_y), (x, weight_x))]
        return np.asarray(above[0] / above[1])


def _above(side: Floats, weights: Floats, cuts: Floats) -> Floats:
    """Return the weighted share of scores above each of the rising cuts."""
    mass = np.bincount(np.searchsorted(cuts, side, side="left"), weights=weights, minlength=cuts.size + 1)
    return np.asarray(np.cumsum(mass[::-1])[::-1][1:] / weights.sum())


def _band(members: pd.DataFrame, others: pd.DataFrame, cuts: Floats, seed: int) -> tuple[Floats, Floats]:
    """Return the ends of the 95% percentile band; clusters (training × source) are drawn as wholes."""
    names = np.concatenate([_clusters(members), _clusters(others)])
    codes = pd.factorize(names)[0]
    number, rng = int(codes.max()) + 1, np.random.default_rng(seed)
    x, y = members["surprisal"].to_numpy(float), others["surprisal"].to_numpy(float)
    drawn = []
    for _ in range(DRAWS):
        times = np.bincount(rng.integers(0, number, number), minlength=number).astype(float)[codes]
        if times[: x.size].sum() and times[x.size :].sum():
            drawn.append(_ratios(x, y, times[: x.size], times[x.size :], cuts))
    table = np.array(drawn)
    table[~np.isfinite(table)] = np.nan
    with np.errstate(all="ignore"):
        low, high = np.nanquantile(table, [0.025, 0.975], axis=0)
    return low, high


def _curves(scores: pd.DataFrame, name: str, seed: int) -> pd.DataFrame:
    """Return the ε–δ curves of the attack by the best threshold of one score."""
    parts = []
    for comparison in _SIDES:
        members, others = sides(scores, comparison)
        if not (len(members) and len(others)):
            continue
        ours, theirs = lbf_attack.sides(
            member_scores(members, name), member_scores(others, name),
            _units(members).tolist(), _units(others).tolist(),
        )  # fmt: skip
        found = lbf_attack.attack_curve(ours, theirs, GRID, seed=seed)
        parts.append(pd.DataFrame({"score": name, "comparison": comparison, **found.columns(), "observed": OBSERVED}))
    columns = ["score", "comparison", *lbf_attack.COLUMNS, "observed"]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=columns)


def control_halves(units: Sequence[object], seed: int) -> dict[object, str]:
    """Return which half each included unit is in for the control, `a` or `b`, by a coin a unit."""
    names = sorted(set(units), key=repr)
    order = np.random.default_rng(seed).permutation(len(names))
    return {names[place]: "a" if rank % 2 == 0 else "b" for rank, place in enumerate(order)}
