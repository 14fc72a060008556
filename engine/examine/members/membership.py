"""What every membership attack reports: one form of findings and tables, whatever made its scores.

How to add an attack: make one score a training and one a holdout record (higher = more member-like), and give them to
`membership_part` under a name that `measures` knows twice: `attack` and `{attack}_tpr01` (`measures_membership.pair`
writes both). Scores given here are kept in `prepared.kept["membership scores"]` for what compares groups and units.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from engine.errors import InternalError
from engine.examine.findings.findings import Finding
from engine.examine.findings.make import finding, missing
from engine.examine.findings.part import Part
from engine.examine.members.blind import Blind, blind_baseline, near_duplicates
from engine.examine.prepare import Prepared
from engine.examine.samples import halves
from engine.examine.stats import roc
from engine.examine.stats.intervals import Interval
from engine.examine.values.leaks import NO_HOLDOUT
from engine.json_types import JSON

RANKED = 200
RATES = (0.01, 0.001)
SCORES = "membership scores"
BLIND = "blind"
Cell = str | int | float | bool
RELEASED = "released text"
TRAINED = "model trained on it"
NO_MODEL = "no model (blind)"


@dataclass(frozen=True)
class MembershipScores:
    """One attack's scores of private records.

    Args:
        attack: its name. train_rows, holdout_rows: int, positions in `prepared.train` and `.holdout`.
        members, others: float, scores of these rows, higher = more member-like.
        greyed: whether the two sides differ by themselves.
    """

    attack: str
    train_rows: NDArray[np.int64]
    holdout_rows: NDArray[np.int64]
    members: NDArray[np.float64]
    others: NDArray[np.float64]
    greyed: bool


def membership_part(
    prepared: Prepared,
    attack: str,
    title: str,
    observes: str,
    train_scores: ArrayLike,
    holdout_scores: ArrayLike,
    *,
    train_rows: Sequence[int] | NDArray[np.int64] | None = None,
    holdout_rows: Sequence[int] | NDArray[np.int64] | None = None,
    members: Sequence[bool] | NDArray[np.bool_] | None = None,
    note: str = "",
    settings: Mapping[str, JSON] | None = None,
) -> Part:
    """Return an attack's findings, and its rows of the tables `attacks`, `roc` and `ranking`.

    Args:
        attack: name of the finding; `{attack}_tpr01` is a second one.
        title: a few words. observes: what the attacker sees, such as "released text".
        train_scores, holdout_scores: float, higher = more member-like, one a row of `train_rows`, `holdout_rows`.
        train_rows, holdout_rows: positions in `prepared.train` and `prepared.holdout`; default all.
        members: bool, one a row of `train_rows`: which were used (the seeds); the others are left out. Default all.
        note: what a reader of the table must know. settings: more for the finding.
    """
    ours, theirs = _rows(train_rows, len(prepared.train)), _rows(holdout_rows, len(prepared.holdout))
    scored, others = np.asarray(train_scores, np.float64), np.asarray(holdout_scores, np.float64)
    if scored.shape != ours.shape or others.shape != theirs.shape:
        raise InternalError(f"{attack}: scores {scored.shape}, {others.shape} for {ours.shape}, {theirs.shape} rows")
    if members is not None:
        used = np.asarray(members, bool)
        ours, scored = ours[used], scored[used]
    if not len(ours) or not len(theirs):
        return _nothing(attack, NO_HOLDOUT if not len(theirs) else "no training record was used as a seed")
    blind = blind_baseline(prepared)
    kept = MembershipScores(attack, ours, theirs, scored, others, blind.excludes_chance)
    prepared.kept.setdefault(SCORES, []).append(kept)
    return _judged(prepared, kept, blind, title, observes, note, settings or {})


def examine_blind(prepared: Prepared) -> Part:
    """Return the blind baseline as a row of the table `attacks` and as a finding."""
    blind = blind_baseline(prepared)
    if blind.why:
        return Part([missing(BLIND, "train", blind.why)])
    row = _row(BLIND, "Words alone (no model)", NO_MODEL, blind.interval, blind.members, blind.others)
    row["greyed"] = False
    row["note"] = "If this is not chance, the two sides differ by themselves, and attacks are greyed."
    return Part(
        [finding(BLIND, "train", blind.interval, members=blind.members, others=blind.others)],
        {"attacks": pd.DataFrame([row])},
    )


def _rows(rows: Sequence[int] | NDArray[np.int64] | None, size: int) -> NDArray[np.int64]:
    return np.arange(size, dtype=np.int64) if rows is None else np.asarray(rows, np.int64)


def _nothing(attack: str, why: str) -> Part:
    names = (attack, f"{attack}_tpr01")
    return Part([missing(name, reference, why) for name in names for reference in ("train", "holdout", "baseline")])


def _groups(
    prepared: Prepared, kept: MembershipScores
) -> tuple[NDArray[np.object_] | None, NDArray[np.object_] | None]:
    if not prepared.grouped:
        return None, None
    return prepared.train.units[kept.train_rows], prepared.holdout.units[kept.holdout_rows]


def _judged(
    prepared: Prepared,
    kept: MembershipScores,
    blind: Blind,
    title: str,
    observes: str,
    note: str,
    settings: Mapping[str, JSON],
) -> Part:
    one, two = _groups(prepared, kept)
    area = roc.auc(kept.members, kept.others, member_groups=one, other_groups=two, seed=prepared.seed)
    rates = [
        roc.tpr_at(kept.members, kept.others, rate, member_groups=one, other_groups=two, seed=prepared.seed)
        for rate in RATES
    ]
    pooled = None if one is None or two is None else np.concatenate([one, two])
    p = roc.permutation_p(kept.members, kept.others, pooled, prepared.seed)
    without = _without_duplicates(prepared, kept)
    base: dict[str, JSON] = {
        "observes": observes,
        "members": len(kept.members),
        "others": len(kept.others),
        "p": p,
        "without_duplicates_value": None if math.isnan(without) else without,
        "greyed": kept.greyed,
        "note": note,
        **settings,
    }
    row = _row(kept.attack, title, observes, area, len(kept.members), len(kept.others))
    row |= {"p": p, "without_duplicates_auc": without, "greyed": kept.greyed, "note": note}
    for name, rate in zip(("tpr_01", "tpr_001"), rates, strict=True):
        row |= {name: rate.value, f"{name}_low": _number(rate.low), f"{name}_high": _number(rate.high)}
    curve = roc.roc_table(kept.members, kept.others, member_groups=one, other_groups=two)
    curve.insert(0, "attack", kept.attack)
    findings = [finding(kept.attack, "train", area, **base), *_levels(prepared, kept, blind)]
    name = f"{kept.attack}_tpr01"
    if math.isnan(rates[0].value):
        why = f"{len(kept.others)} non-members are fewer than the {roc.LEAST_FALSE / RATES[0]:.0f} this needs"
        findings.append(missing(name, "train", why))
    else:
        findings.append(finding(name, "train", rates[0], chance=RATES[0], greyed=kept.greyed, observes=observes))
    tables = {"attacks": pd.DataFrame([row]), "roc": curve, "ranking": _ranking(prepared, kept)}
    return Part(findings, tables)


def _levels(prepared: Prepared, kept: MembershipScores, blind: Blind) -> list[Finding]:
    """Return what chance gives (one half of the holdout against the other), and the blind baseline."""
    units = prepared.holdout.units[kept.holdout_rows]
    first = halves(units, prepared.seed, "attack level")
    groups = (units[first], units[~first]) if prepared.grouped else (None, None)
    level = roc.auc(
        kept.others[first], kept.others[~first], member_groups=groups[0], other_groups=groups[1], seed=prepared.seed
    )
    what = "one half of the holdout in the place of the members, against the other half"
    found = [finding(kept.attack, "holdout", level, what=what)]
    if blind.why:
        return [*found, missing(kept.attack, "baseline", blind.why)]
    what = "training against holdout records by their words alone, without any model"
    return [*found, finding(kept.attack, "baseline", blind.interval, what=what)]


def _without_duplicates(prepared: Prepared, kept: MembershipScores) -> float:
    """Return the area without records that have a near-duplicate on the other side; NaN where nothing is left."""
    train, holdout = near_duplicates(prepared)
    ours, theirs = kept.members[~train[kept.train_rows]], kept.others[~holdout[kept.holdout_rows]]
    return roc.delong(ours, theirs)[0] if len(ours) and len(theirs) else math.nan


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def _row(attack: str, title: str, observes: str, area: Interval, members: int, others: int) -> dict[str, Cell]:
    empty = {f"tpr_{rate}{end}": math.nan for rate in ("01", "001") for end in ("", "_low", "_high")}
    first: dict[str, Cell] = {
        "attack": attack,
        "title": title,
        "observes": observes,
        "auc": area.value,
    }
    freedom = area.freedom if math.isfinite(area.freedom) else math.nan
    first |= {"low": _number(area.low), "high": _number(area.high), "freedom": freedom, "p": math.nan}
    return first | empty | {"members": members, "others": others, "without_duplicates_auc": math.nan}


def _ranking(prepared: Prepared, kept: MembershipScores) -> pd.DataFrame:
    """Return the members the attack is surest of."""
    order = np.argsort(-kept.members, kind="stable")[:RANKED]
    rows = kept.train_rows[order]
    below = np.searchsorted(np.sort(kept.others), kept.members[order], side="left") / len(kept.others)
    return pd.DataFrame(
        {
            "attack": kept.attack,
            "record_id": prepared.train.record_ids[rows],
            "unit": prepared.train.units[rows],
            "score": kept.members[order],
            "percentile": below,
            "member": True,
        }
    )
