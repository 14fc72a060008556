"""Findings from each synthetic record's nearest reference record, by cosine of embeddings.

A highest value over a larger set is larger by itself. So the `train` and `holdout` rows use equally many
reference records; `settings["all_train_value"]` holds the value against every embedded training record.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from engine.examine.base import Side
from engine.examine.each import each_output
from engine.examine.findings.findings import Reference
from engine.examine.findings.make import finding, missing
from engine.examine.findings.part import Part
from engine.examine.prepare import EMBED_ALL_WORDS, OWN_SOURCES, Prepared
from engine.examine.repeats.nearest import nearest
from engine.examine.samples import sample_units
from engine.examine.stats import intervals
from engine.examine.stats.highest import highest_excess, parts_of
from engine.examine.values.leaks import NO_HOLDOUT
from engine.json_types import JSON

NAME = "nearest_similarity"
SIDES: tuple[Reference, ...] = ("train", "holdout")
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


def examine_closeness(prepared: Prepared) -> Part:
    """Return nearest similarities against train, holdout and baseline, their excess, and a table of neighbours."""
    if prepared.given.embedder is None:
        return Part([missing(NAME, reference, "no embedder was given") for reference in SIDES])
    rows = prepared.embedding_rows()
    synthetic = prepared.embedded(prepared.synthetic.take(rows["synthetic"]), "synthetic")
    train = prepared.train.take(rows["train"])
    if prepared.train.words.offsets[-1] <= EMBED_ALL_WORDS:
        train = prepared.train
    train = prepared.embedded(train, "train")
    holdout = prepared.embedded(prepared.holdout.take(rows["holdout"]), "holdout")
    size = min(len(train), len(holdout))
    part = Part()
    all_train, where = _nearest(synthetic, train)
    seed, groups = prepared.seed, prepared.synthetic_groups(rows["synthetic"])
    extra: dict[str, JSON] = {
        "embedder": prepared.given.embedder.id,
        "sampled": len(synthetic) < len(prepared.synthetic),
        "all_train_value": float(all_train.mean()),
        "all_train_records": len(train),
        **_own_source(prepared, synthetic),
    }
    table = pd.DataFrame(
        {"record_id": synthetic.record_ids, "similarity_train": all_train, "nearest_train": train.record_ids[where],
         "similarity_holdout": np.nan, "nearest_holdout": None}
    )  # fmt: skip
    part.tables["nearest"] = table
    if size == 0:
        interval = intervals.mean(all_train, seed, groups)
        part.findings.append(finding(NAME, "train", interval, **extra, reference_records=len(train)))
        part.findings += [missing(NAME, "holdout", NO_HOLDOUT), missing(NAME, "baseline", NO_HOLDOUT),
                          missing(f"{NAME}_excess", "holdout", NO_HOLDOUT)]  # fmt: skip
        part.signals["nearest"] = _spread(prepared, rows["synthetic"], all_train, None)
        part.add(Part(tables=each_output(prepared, NAME, "train", all_train, rows["synthetic"])))
        return part
    small = train.take(sample_units(train.units, size, seed, "equal size, embedded"))
    level = holdout.take(sample_units(holdout.units, size, seed, "equal size, embedded"))
    to_train, _ = _nearest(synthetic, small)
    to_holdout, near = _nearest(synthetic, level)
    table["similarity_holdout"] = to_holdout
    table["nearest_holdout"] = level.record_ids[near]
    real, _ = _nearest(holdout, small)
    levels: tuple[tuple[Reference, NDArray[np.float64]], ...] = (("train", to_train), ("holdout", to_holdout))
    for reference, values in levels:
        settings: dict[str, JSON] = {"reference_records": size, "quantiles": _quantiles(values)}
        settings |= extra if reference == "train" else {}
        part.findings.append(finding(NAME, reference, intervals.mean(values, seed, groups), **settings))
    real_groups = holdout.units if prepared.grouped else None
    part.findings.append(
        finding(NAME, "baseline", intervals.mean(real, seed, real_groups), reference_records=size,
                what="holdout records in the place of the synthetic ones, against the training part",
                quantiles=_quantiles(real))
    )  # fmt: skip
    excess = highest_excess(_by_tenth(synthetic, small, seed), _by_tenth(synthetic, level, seed), groups)
    part.findings.append(finding(f"{NAME}_excess", "holdout", excess, reference_records=size))
    part.signals["nearest"] = _spread(prepared, rows["synthetic"], all_train, real)
    part.add(Part(tables=each_output(prepared, NAME, "train", to_train, rows["synthetic"])))
    more = to_train - to_holdout
    part.add(Part(tables=each_output(prepared, f"{NAME}_excess", "holdout", more, rows["synthetic"])))
    part.tables["nearest_quantiles"] = _quantile_table(to_train, to_holdout, real)
    return part


def _by_tenth(queries: Side, reference: Side, seed: int) -> NDArray[np.float64]:
    """Return the cosine to the nearest record in each tenth of the reference's units, float array (n, tenths)."""
    tenths = parts_of(reference.units, seed)
    parts = [reference.take(np.flatnonzero(tenths == tenth)) for tenth in np.unique(tenths)]
    return np.column_stack([_nearest(queries, part)[0] for part in parts])


def _nearest(queries: Side, reference: Side) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    if queries.embeddings is None or reference.embeddings is None:
        return np.full(len(queries), np.nan), np.zeros(len(queries), np.int64)
    best, where = nearest(queries.embeddings, reference.embeddings)
    return best.astype(np.float64), where


def _quantiles(values: NDArray[np.float64]) -> dict[str, float]:
    return {f"{q:.0%}": float(v) for q, v in zip(QUANTILES, np.quantile(values, QUANTILES), strict=True)}


def _quantile_table(*columns: NDArray[np.float64]) -> pd.DataFrame:
    grid = np.linspace(0, 1, 41)
    frames = [
        pd.DataFrame({"reference": name, "share": grid, "similarity": np.quantile(values, grid)})
        for name, values in zip(("train", "holdout", "baseline"), columns, strict=True)
    ]
    return pd.concat(frames, ignore_index=True)


def _own_source(prepared: Prepared, synthetic: Side) -> dict[str, float | int]:
    """Return the mean cosine of a sample of synthetic records to the very records they stem from."""
    if synthetic.lineage is None:
        return {}
    row_of = {record: row for row, record in enumerate(prepared.train.record_ids)}
    pairs = [(i, row_of[s]) for i, s in enumerate(synthetic.lineage) if s in row_of][:OWN_SOURCES]
    if not pairs or synthetic.embeddings is None:
        return {}
    sources = prepared.embedded(prepared.train.take(np.array([row for _, row in pairs])), "train")
    assert sources.embeddings is not None
    own = np.sum(synthetic.embeddings[[i for i, _ in pairs]] * sources.embeddings, axis=1)
    return {"own_source_mean": float(own.mean()), "own_source_n": len(pairs)}


def _spread(
    prepared: Prepared, rows: NDArray[np.int64], values: NDArray[np.float64], real: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """Return per synthetic record the share of real unused records that are less close; NaN where not sampled."""
    result = np.full(len(prepared.synthetic), math.nan)
    if real is None:
        result[rows] = np.clip((values - 0.5) / 0.5, 0, 1)
    else:
        result[rows] = np.searchsorted(np.sort(real), values, side="left") / len(real)
    return result
