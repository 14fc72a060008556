"""Findings of the strict meter: private values given away in any way of writing, more than chance explains.

These lead: the excess over the holdout at equal sizes first, then the shares it is made of. The paper's PIPP and ELP
stand behind them (`engine.examine.values.leaks`).
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from engine.examine.base import join_sides
from engine.examine.each import each_output
from engine.examine.findings.findings import Finding, Reference
from engine.examine.findings.make import finding, missing
from engine.examine.findings.part import Part
from engine.examine.prepare import Prepared
from engine.examine.samples import sample_units, seeded_order
from engine.examine.stats import intervals
from engine.examine.stats.split_excess import Split, split_excess
from engine.examine.values.alone import alone_findings, of_one_person
from engine.examine.values.leaks import NO_HOLDOUT, NO_SPANS, NONE_LEFT, equal_size
from engine.examine.values.shared import TABLE, table_of, told
from engine.examine.values.strict_scores import (
    Mentions,
    StrictIndex,
    index_strict,
    mentions,
    read,
    without_common,
)
from engine.json_types import JSON

MATCHING = "any way of writing, parts of names, joined or cut short, one or two letters or digits away"
KINDS = ("", "_direct")
MOST_TEXTS = 20_000
STAGE = "private values, strictly"


def examine_strict(prepared: Prepared) -> Part:
    """Return the strict PIPP and ELP against either part, the excess, what one person alone has, and a baseline."""
    prepared.report(STAGE, 0, 4)
    both = join_sides([prepared.train, prepared.holdout], words=False)
    index = index_strict(both)
    looked_at = np.sort(sample_units(both.units, MOST_TEXTS, prepared.seed, "strict private"))
    private = read([str(both.texts[row]) for row in looked_at], index, lambda done: prepared.check())
    index = without_common(index, private, both.units[looked_at])
    prepared.report(STAGE, 1, 4)
    rows = np.sort(seeded_order(prepared.synthetic.record_ids, prepared.seed, "strict")[:MOST_TEXTS])
    texts = [str(prepared.synthetic.texts[row]) for row in rows]
    made = read(texts, index, lambda done: prepared.check())
    found = mentions(made, index)
    prepared.report(STAGE, 2, 4)
    groups = prepared.synthetic_groups()
    own = None if groups is None else np.asarray(groups, dtype=object)[rows]
    part = Part()
    part.findings += _shares(prepared, index, found, len(texts), own)
    part.findings += _excess(prepared, index, found, len(texts), own)
    text, who = of_one_person(index, private, both.units[looked_at], made)
    parts = prepared.train.units, prepared.holdout.units
    part.findings += alone_findings(text, who, len(texts), parts, own, prepared.seed, "" if len(index) else NO_SPANS)
    mine = _of(index, prepared.train.units)
    for suffix, kept in (("", mine), ("_direct", mine & index.direct)):
        if kept.any():
            hits = _hits(found, len(texts), kept)
            part.add(Part(tables=each_output(prepared, f"strict_pipp{suffix}", "train", hits, rows)))
    prepared.report(STAGE, 3, 4)
    unused = looked_at >= len(prepared.train)
    real = mentions(private.of(np.flatnonzero(unused)), index)
    part.findings += _baseline(prepared, index, real, both.units[looked_at[unused]])
    if len(index):
        part.tables[TABLE] = table_of(index.places, index.marks, index.aside, index.holders, index.people)
    prepared.report(STAGE, 4, 4)
    return part


def _of(index: StrictIndex, units: NDArray[np.object_]) -> NDArray[np.bool_]:
    """Return which values stand in records of these units, bool array (m,); those set aside do not count."""
    held = np.zeros(len(index), bool)
    held[index.values[pd.Index(index.units).isin(pd.unique(units))]] = True
    return held & ~index.aside


def _hits(found: Mentions, texts: int, allowed: NDArray[np.bool_]) -> NDArray[np.bool_]:
    hit = np.zeros(texts, bool)
    hit[found.text[allowed[found.value]]] = True
    return hit


def _shares(
    prepared: Prepared, index: StrictIndex, found: Mentions, texts: int, groups: NDArray[np.object_] | None
) -> list[Finding]:
    """Return the shares against either part, the training part's also at the holdout's size."""
    rows: list[Finding] = []
    given = np.bincount(found.value, minlength=len(index)) > 0
    whole = np.bincount(found.value[found.whole], minlength=len(index)) > 0
    small = _of(index, equal_size(prepared).units)
    holder = index.holder()
    parts: tuple[tuple[Reference, NDArray[np.object_]], ...] = (
        ("train", prepared.train.units), ("holdout", prepared.holdout.units),
    )  # fmt: skip
    for reference, units in parts:
        mine = _of(index, units)
        for suffix in KINDS:
            kept = index.direct if suffix else np.ones(len(index), bool)
            names = f"strict_pipp{suffix}", f"strict_elp{suffix}"
            if not (mine & kept).any():
                why = NO_HOLDOUT if not len(units) else NO_SPANS if not len(index) else NONE_LEFT
                rows += [missing(name, reference, why) for name in names]
                continue
            settings: dict[str, JSON] = {
                "matching": MATCHING, "entities": int((mine & kept).sum()), "texts": texts, "cannot_identify":
                index.skipped, "written_whole": float(whole[mine & kept].mean()),
                **told(index.places, index.direct, index.aside),
            }  # fmt: skip
            equal: list[dict[str, JSON]] = [{}, {}]
            if suffix:
                settings |= _alone(index, found, mine)
            if reference == "train" and len(prepared.holdout) and (small & kept).any():
                equal[0]["equal_size_value"] = float(_hits(found, texts, small & kept).mean())
                equal[1]["equal_size_value"] = float(given[small & kept].mean())
            pipp = intervals.share(_hits(found, texts, mine & kept), groups)
            rows.append(finding(names[0], reference, pipp, **settings, **equal[0]))
            elp = intervals.share(given[mine & kept], holder[mine & kept])
            rows.append(finding(names[1], reference, elp, **settings, **equal[1]))
    return rows


def _alone(index: StrictIndex, found: Mentions, mine: NDArray[np.bool_]) -> dict[str, JSON]:
    """Return how many identifiers of one person alone there are, how many stand in texts in full, and in how many."""
    alone = index.alone() & mine
    full = found.full & alone[found.value]
    return {
        "alone": len(np.unique(found.value[full])), "alone_of": int(alone.sum()),
        "alone_texts": len(np.unique(found.text[full])),
    }  # fmt: skip


def _excess(
    prepared: Prepared, index: StrictIndex, found: Mentions, texts: int, groups: NDArray[np.object_] | None
) -> list[Finding]:
    """Return train minus holdout at equal numbers of reference records."""
    names = [f"{measure}{suffix}_excess" for suffix in KINDS for measure in ("strict_pipp", "strict_elp")]
    if not len(prepared.holdout) or not len(index):
        return [missing(name, "holdout", NO_SPANS if len(prepared.holdout) else NO_HOLDOUT) for name in names]
    sides = equal_size(prepared).units, prepared.holdout.units
    apart = [sorted(set(side.tolist())) for side in sides]
    number = pd.Index([unit for side in apart for unit in side]).get_indexer(index.units)
    known = number >= 0
    first = np.arange(sum(map(len, apart))) < len(apart[0])
    split = Split(texts, len(index), found.value, found.text, index.values[known], number[known], first)
    records = min(len(prepared.train), len(prepared.holdout))
    rows: list[Finding] = []
    for suffix in KINDS:
        kept = index.direct & ~index.aside if suffix else ~index.aside
        if not kept.any():
            rows += [missing(name, "holdout", NONE_LEFT) for name in names if ("_direct" in name) == bool(suffix)]
            continue
        pipp, elp = split_excess(split, kept, prepared.seed, groups=groups)
        rows.append(finding(f"strict_pipp{suffix}_excess", "holdout", pipp, reference_records=records))
        rows.append(finding(f"strict_elp{suffix}_excess", "holdout", elp, reference_records=records))
    return rows


def _baseline(prepared: Prepared, index: StrictIndex, found: Mentions, units: NDArray[np.object_]) -> list[Finding]:
    """Return what real records that nobody used would score against the training part.

    Args:
        found: what those looked at give away. units: object array (n,), whose each of them is.
    """
    mine = _of(index, prepared.train.units)
    if not len(units) or not mine.any():
        why = NO_HOLDOUT if not len(units) else NONE_LEFT if len(index) else NO_SPANS
        return [missing("strict_pipp", "baseline", why)]
    what = "holdout records in the place of the synthetic ones, against the training part"
    share = intervals.share(_hits(found, len(units), mine), units if prepared.grouped else None)
    return [finding("strict_pipp", "baseline", share, what=what, matching=MATCHING)]
