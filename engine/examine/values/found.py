"""Findings from the corpus's own detector: records with any identifying span, and spans a record, in each text."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd

from engine.examine.base import Side
from engine.examine.findings import Reference
from engine.examine.make import finding, missing
from engine.examine.part import Part
from engine.examine.prepare import Prepared
from engine.examine.samples import sample, sample_units
from engine.examine.stats import intervals
from engine.examine.values.detected import counts, detect_spans
from engine.examine.values.leaks import NO_HOLDOUT

NAME, SHARE = "pii_rate", "pii_share"
SIDES: tuple[Reference, ...] = ("none", "train")
SYNTHETIC = 2000
REAL = 1000


def _tell(prepared: Prepared, before: int, total: int, done: int) -> None:
    prepared.report("detecting identifiers", before + done, total)


def examine_found(prepared: Prepared) -> Part:
    """Return what is detected in the synthetic text (`none`) and, for comparison, in train and holdout."""
    part = Part()
    detector = prepared.given.detector
    if detector is None:
        why = "no detector was given"
        return Part([missing(name, reference, why) for name in (NAME, SHARE) for reference in SIDES])
    seed = prepared.seed
    rows = sample(prepared.synthetic.record_ids, SYNTHETIC, seed, "detect")
    sides: tuple[tuple[Reference, Side], ...] = (
        ("none", prepared.synthetic.take(rows)),
        ("train", prepared.train.take(sample_units(prepared.train.units, REAL, seed, "detect"))),
        ("holdout", prepared.holdout.take(sample_units(prepared.holdout.units, REAL, seed, "detect"))),
    )
    total, before = sum(len(side) for _, side in sides), 0
    tables: list[pd.DataFrame] = []
    for reference, side in sides:
        if not len(side):
            part.findings += [missing(name, reference, NO_HOLDOUT) for name in (NAME, SHARE)]
            continue
        tell = partial(_tell, prepared, before, total)
        spans = detect_spans(side.texts.tolist(), detector, after_batch=tell)
        before += len(side)
        values = counts(spans, len(side)).astype(float)
        groups = prepared.synthetic_groups(rows) if reference == "none" else side.units
        groups = groups if prepared.grouped else None
        what = {"none": "synthetic text", "train": "the private training text", "holdout": "the private holdout text"}
        most = SYNTHETIC if reference == "none" else REAL
        found = {NAME: intervals.mean(values, seed, groups), SHARE: intervals.share(values > 0, groups)}
        part.findings += [
            finding(name, reference, interval, what=what[reference], most=most) for name, interval in found.items()
        ]
        by_label = spans.groupby("label", as_index=False).size().rename(columns={"size": "spans"})
        tables.append(by_label.assign(reference=reference, per_record=by_label["spans"] / len(side)))
        if reference == "none":
            signal = np.full(len(prepared.synthetic), np.nan)
            signal[rows] = values
            part.signals["detected"] = signal
    part.tables["pii"] = pd.concat(tables, ignore_index=True)
    return part
