"""Findings from the corpus's own detector: records with any identifying span, and spans a record, in each text."""

from __future__ import annotations

import numpy as np
import pandas as pd

from engine.examine.each import each_output
from engine.examine.findings.findings import Reference
from engine.examine.findings.make import finding, missing
from engine.examine.findings.part import Part
from engine.examine.prepare import Prepared
from engine.examine.stats import intervals
from engine.examine.values.detected import MOST, Which, counts, detected
from engine.examine.values.leaks import NO_HOLDOUT

NAME, SHARE = "pii_rate", "pii_share"
SIDES: tuple[Reference, ...] = ("none", "train")
LOOKED_AT: tuple[tuple[Reference, Which, str], ...] = (
    ("none", "synthetic", "synthetic text"), ("train", "train", "the private training text"),
    ("holdout", "holdout", "the private holdout text"),
)  # fmt: skip


def examine_found(prepared: Prepared) -> Part:
    """Return what is detected in the synthetic text (`none`) and, for comparison, in train and holdout."""
    part = Part()
    if prepared.given.detector is None:
        why = "no detector was given"
        return Part([missing(name, reference, why) for name in (NAME, SHARE) for reference in SIDES])
    tables: list[pd.DataFrame] = []
    for reference, which, what in LOOKED_AT:
        if not len(getattr(prepared, which)):
            part.findings += [missing(name, reference, NO_HOLDOUT) for name in (NAME, SHARE)]
            continue
        found = detected(prepared, which)
        values = counts(found.spans, len(found.side)).astype(float)
        groups = prepared.synthetic_groups(found.rows) if reference == "none" else found.side.units
        groups = groups if prepared.grouped else None
        shares = {NAME: intervals.mean(values, prepared.seed, groups), SHARE: intervals.share(values > 0, groups)}
        part.findings += [
            finding(name, reference, interval, what=what, most=MOST[which]) for name, interval in shares.items()
        ]
        by_label = found.spans.groupby("label", as_index=False).size().rename(columns={"size": "spans"})
        tables.append(by_label.assign(reference=reference, per_record=by_label["spans"] / len(found.side)))
        if reference == "none":
            signal = np.full(len(prepared.synthetic), np.nan)
            signal[found.rows] = values
            part.signals["detected"] = signal
            part.add(Part(tables=each_output(prepared, NAME, reference, values, found.rows)))
            part.add(Part(tables=each_output(prepared, SHARE, reference, values > 0, found.rows)))
    part.tables["pii"] = pd.concat(tables, ignore_index=True)
    return part
