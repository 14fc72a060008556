"""Findings from private entities in the labels of synthetic records: the label column leaves with the text."""

from __future__ import annotations

import numpy as np

from engine.corpus.text.words import cut
from engine.examine.base import Side
from engine.examine.findings.findings import Finding, Reference
from engine.examine.findings.make import finding, missing
from engine.examine.findings.part import Part
from engine.examine.prepare import Prepared
from engine.examine.stats import intervals
from engine.examine.values.entities import find_entities, index_entities, records_with
from engine.examine.values.leaks import MATCHING, NO_HOLDOUT, NO_SPANS

NO_LABEL = "no synthetic record has a label"
NO_DIRECT = "no accepted span is a direct identifier"


def examine_labels(prepared: Prepared) -> Part:
    """Return the share of distinct labels with a private entity, of any kind and direct ones, against each part."""
    labels = distinct_labels(prepared)
    prepared.report("labels", 0, 2)
    part = Part(findings=_rows(prepared, labels, "train", prepared.train, NO_SPANS))
    prepared.report("labels", 1, 2)
    why = NO_SPANS if len(prepared.holdout) else NO_HOLDOUT
    part.findings += _rows(prepared, labels, "holdout", prepared.holdout, why)
    prepared.report("labels", 2, 2)
    return part


def distinct_labels(prepared: Prepared) -> list[str]:
    """Return the labels that stand in the synthetic records, each once, sorted."""
    frame = prepared.given.synthetic
    return sorted({str(label) for label in frame["label"].dropna()}) if "label" in frame else []


def _rows(prepared: Prepared, labels: list[str], reference: Reference, side: Side, why: str) -> list[Finding]:
    names = (("label_entities", "all"), ("label_direct", "direct"))
    if not labels:
        return [missing(name, reference, NO_LABEL) for name, _ in names]
    index = index_entities(side)
    matches = find_entities(cut(labels, prepared.vocabulary), index)
    rows = []
    for name, kind in names:
        mask = index.mask(kind)
        if not mask.any():
            rows.append(missing(name, reference, NO_DIRECT if len(index) else why))
            continue
        found = records_with(matches, len(labels), mask)
        rows.append(finding(name, reference, intervals.share(found), matching=MATCHING, labels=int(np.size(found))))
    return rows
