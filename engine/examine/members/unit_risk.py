"""Who is at risk: units ranked by how many attacks flag them, beside how many would be flagged by chance.

An attack flags a unit where at most one non-member in a hundred scores as high as its highest record, the number of its
records allowed for: p = min(1, records × (1 + others at least as high) / (1 + others)) (Phipson and Smyth 2010, section
2.2; Bonferroni within the unit). An attack with fewer than 99 non-members cannot flag anybody and is left out. What
stands word for word in the synthetic text flags too: a direct identifier that one unit alone has, or eight words of it.

By chance one member in a hundred is flagged by each attack: a unit that one attack flags is a candidate, not a finding.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from engine.examine.base import Side
from engine.examine.battery import SO_FAR
from engine.examine.findings.part import Part
from engine.examine.members.membership import SCORES, MembershipScores
from engine.examine.prepare import Prepared
from engine.examine.repeats.copies import COPIED
from engine.examine.values.leaks import MET, OF_ONE

FLAG = 0.01
MOST = 500
TEXT = ((OF_ONE, "A direct identifier of this person alone"), (COPIED, "Eight words in a row"))
UNITS = ["unit", "record_id", "records", "flags", "flagged_by", "p", "percentile", "synthetic"]
COUNTS = ["attack", "units", "flagged", "expected", "others"]


def examine_units(prepared: Prepared) -> Part:
    """Return the tables `units` (riskiest first, at most 500) and `unit_flags` (flagged and expected, an attack)."""
    prepared.report("people at risk", 0, 2)
    kept: list[MembershipScores] = [k for k in prepared.kept.get(SCORES, []) if not k.greyed]
    frames: list[pd.DataFrame] = []
    counts: list[tuple[object, ...]] = []
    for scores in kept:
        flagged = attack_units(scores, prepared.train.units, prepared.train.record_ids)
        total, others = len(set(prepared.train.units[scores.train_rows])), len(scores.others)
        if others + 1 < 1 / FLAG:
            counts.append((scores.attack, total, np.nan, np.nan, others))
            continue
        counts.append((scores.attack, total, int((flagged["p"] <= FLAG).sum()), FLAG * total, others))
        frames.append(flagged)
    prepared.report("people at risk", 1, 2)
    found = prepared.kept.get(SO_FAR)
    tables = {} if found is None else found.tables
    for name, _ in TEXT:
        mine, row = _in_text(prepared, tables, name)
        frames.append(mine)
        counts.append(row)
    prepared.report("people at risk", 2, 2)
    return Part(tables={"units": rank(frames), "unit_flags": pd.DataFrame(counts, columns=COUNTS)})


def attack_units(scores: MembershipScores, units: NDArray[np.object_], ids: NDArray[np.object_]) -> pd.DataFrame:
    """Return one row a unit: its most exposed record, its p, the percentile of that record among non-members."""
    falling = np.sort(scores.others)
    below = np.searchsorted(falling, scores.members, side="left")
    table = pd.DataFrame(
        {"unit": units[scores.train_rows], "record_id": ids[scores.train_rows], "score": scores.members,
         "p": (1 + len(falling) - below) / (1 + len(falling)), "percentile": below / max(1, len(falling))}
    )  # fmt: skip
    table = table.sort_values("score", ascending=False, kind="stable")
    best = table.drop_duplicates("unit").set_index("unit")
    best["records"] = table.groupby("unit").size()
    best["p"] = np.minimum(1.0, best["p"] * best["records"])
    return best.reset_index().assign(attack=scores.attack, synthetic=None)


def _in_text(
    prepared: Prepared, tables: Mapping[str, pd.DataFrame], name: str
) -> tuple[pd.DataFrame, tuple[object, ...]]:
    """Return units of which something stands in the text, with the count that the holdout makes one expect.

    Of very many passages `leaks` does not list all, so how many units there are stands beside it.
    """
    leaks = tables.get("leaks")
    empty = pd.DataFrame(columns=["unit", "record_id", "records", "p", "percentile", "attack", "synthetic"])
    total = len(set(prepared.train.units))
    if leaks is None or leaks.empty:
        return empty, (name, total, 0, 0.0, len(prepared.holdout))
    chosen = leaks[leaks["kind"] == "verbatim"]
    if name == OF_ONE:
        chosen = leaks[(leaks["kind"] == "entity") & (leaks["identifier_type"] == "direct") & (leaks["units"] == 1)]
    mine = _first(chosen[chosen["reference"] == "train"], prepared.train)
    units = tables[MET].query("attack == @name").groupby("reference")["units"].max()
    met, others = int(units.get("train", 0)), len(prepared.holdout)
    share = int(units.get("holdout", 0)) / max(1, len(set(prepared.holdout.units)))
    row = (name, total, met, share * total if others else np.nan, others)
    # chance is the share of unused units that are met as well: no p of its own, so no more than a candidate
    mine = mine.assign(p=min(1.0, max(share, 1 / (1 + others))), percentile=np.nan, attack=name)
    return mine if len(mine) else empty, row


def _first(rows: pd.DataFrame, side: Side) -> pd.DataFrame:
    unit_of = dict(zip(side.record_ids, side.units, strict=True))
    table = pd.DataFrame(
        {"unit": rows["source_record_id"].map(unit_of), "record_id": rows["source_record_id"],
         "synthetic": rows["record_id"]}
    )  # fmt: skip
    table = table.dropna(subset=["unit"]).drop_duplicates("unit")
    sizes = pd.Series(side.units).value_counts()
    return table.assign(records=table["unit"].map(sizes).astype(int))


def rank(frames: list[pd.DataFrame]) -> pd.DataFrame:
    """Return units with at least one flag: most flags first, then least p; at most 500.

    Args:
        frames: a frame an attack with unit, record_id, records, p, percentile, attack, synthetic.
    """
    rows = [frame[(frame["p"] <= FLAG) | frame["percentile"].isna()] for frame in frames if len(frame)]
    if not rows or not sum(map(len, rows)):
        return pd.DataFrame(columns=UNITS)
    table = pd.concat(rows, ignore_index=True).sort_values(["p", "attack"], kind="stable")
    by_unit = table.groupby("unit", sort=False)
    ranked = by_unit.first().assign(
        flags=by_unit["attack"].nunique(),
        flagged_by=by_unit["attack"].agg(lambda names: "|".join(dict.fromkeys(names))),
    )
    ranked = ranked.reset_index().sort_values(["flags", "p", "unit"], ascending=[False, True, True], kind="stable")
    return ranked[UNITS].head(MOST).reset_index(drop=True)
