"""Findings on whether the synthetic text can be read at all, beside real text under the same public rules.

Text that says nothing repeats nothing: without this finding beside them, low numbers of leaks look like safety.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from engine.corpus.text.readability import REASONS, readability
from engine.examine.base import Side
from engine.examine.each import each_output
from engine.examine.findings.findings import Reference
from engine.examine.findings.make import finding, missing
from engine.examine.findings.part import Part
from engine.examine.prepare import Prepared
from engine.examine.samples import sample
from engine.examine.stats import intervals
from engine.examine.values.leaks import NO_HOLDOUT

NAME = "readable"
MOST = 2_000  # texts a side
BATCH = 200


def examine_readable(prepared: Prepared) -> Part:
    """Return the share of readable records, and the same share of real records that nobody used."""
    part = Part()
    _add(prepared, prepared.synthetic, "none", part)
    if len(prepared.holdout):
        _add(prepared, prepared.holdout, "baseline", part)
    else:
        part.findings.append(missing(NAME, "baseline", NO_HOLDOUT))
    return part


def _add(prepared: Prepared, side: Side, reference: Reference, part: Part) -> None:
    rows = sample(side.record_ids, MOST, prepared.seed, NAME)
    judged = []
    for start in range(0, len(rows), BATCH):
        prepared.report("readability", start, len(rows))
        judged += [readability(side.texts[row]) for row in rows[start : start + BATCH]]
    reasons = Counter(one.reason for one in judged if one.reason)
    groups = prepared.synthetic_groups(rows) if reference == "none" else None
    passed = np.array([one.readable for one in judged], bool)
    part.findings.append(finding(
        NAME, reference, intervals.share(passed, groups),
        reasons={REASONS[name]: count for name, count in sorted(reasons.items())},
        words_judged_in=sum(one.unknown is not None for one in judged),
        note="words are judged in English texts of some length alone; elsewhere they are not judged",
    ))  # fmt: skip
    if reference == "none":
        part.add(Part(tables=each_output(prepared, NAME, reference, passed, rows)))
