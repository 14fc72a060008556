"""Findings from synthetic records that are a real record, in whatever spelling; the gate refuses them."""

from __future__ import annotations

import numpy as np
import pandas as pd

from engine.examine.base import Side
from engine.examine.findings.findings import Reference
from engine.examine.findings.make import finding, missing
from engine.examine.findings.part import Part
from engine.examine.prepare import Prepared
from engine.examine.repeats.originals_scores import originals_of_each
from engine.examine.stats import intervals
from engine.examine.values.leaks import NO_HOLDOUT

NAME, TABLE = "original_records", "originals"


def examine_originals(prepared: Prepared) -> Part:
    """Return the share of records equal to one of each part, and the table `originals` of their ids."""
    synthetic = prepared.synthetic
    equal = np.zeros(len(synthetic), bool)
    part = Part()
    sides: tuple[tuple[Reference, Side], ...] = (("train", prepared.train), ("holdout", prepared.holdout))
    prepared.report("original records", 0, 1)
    equals = originals_of_each(synthetic.texts.tolist(), [side.texts.tolist() for _, side in sides])
    for (reference, side), positions in zip(sides, equals, strict=True):
        if not len(side):
            part.findings.append(missing(NAME, reference, NO_HOLDOUT))
            continue
        found = np.zeros(len(synthetic), bool)
        found[list(positions)] = True
        equal |= found
        share = intervals.share(found, prepared.synthetic_groups())
        part.findings.append(finding(NAME, reference, share, matching="texts folded to words: case, marks, spelling"))
    part.signals["original"] = equal.astype(np.float64)
    prepared.report("original records", 1, 1)
    part.tables[TABLE] = pd.DataFrame({"record_id": [str(i) for i in synthetic.record_ids[equal]]}, dtype=object)
    return part
