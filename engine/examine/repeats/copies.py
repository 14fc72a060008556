"""Findings from word-for-word copies of eight words or more.

The `train` row counts copies from any training record; the `baseline` row does the same for real holdout
records, so it is the level of stock phrases. `_excess` compares equal numbers of reference records.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from engine.corpus.text.runs import WINDOW, WindowIndex, copies_anything, index_windows
from engine.corpus.text.words import WordTable
from engine.examine.base import Side
from engine.examine.each import each_output
from engine.examine.findings.findings import Finding, Reference
from engine.examine.findings.make import finding, missing
from engine.examine.findings.part import LISTED, Part
from engine.examine.prepare import Prepared
from engine.examine.repeats.verbatim import copied_spans
from engine.examine.stats import intervals
from engine.examine.stats.highest import parts_of, share_excess
from engine.examine.values.leaks import MET, MET_COLUMNS, NO_HOLDOUT, equal_size

NAME = "verbatim_8gram"
COPIED = "copied words"


def examine_copies(prepared: Prepared) -> Part:
    """Return copied shares against train, holdout and baseline, the copied passages, and their weight a record."""
    part = Part()
    synthetic, groups = prepared.synthetic, prepared.synthetic_groups()
    prepared.report("word-for-word copies", 0, 3)
    small = copies_anything(synthetic.words, _indexed(prepared, equal_size(prepared).words))
    train = _copied(prepared, prepared.train, "train", part)
    part.findings.append(
        finding(NAME, "train", intervals.share(train, groups), words=WINDOW, reference_records=len(prepared.train),
                equal_size_value=float(small.mean()) if len(prepared.holdout) else None)
    )  # fmt: skip
    part.add(Part(tables=each_output(prepared, NAME, "train", train)))
    prepared.report("word-for-word copies", 1, 3)
    if not len(prepared.holdout):
        part.findings += [missing(NAME, "holdout", NO_HOLDOUT), missing(NAME, "baseline", NO_HOLDOUT),
                          missing(f"{NAME}_excess", "holdout", NO_HOLDOUT)]  # fmt: skip
        return part
    holdout = _copied(prepared, prepared.holdout, "holdout", part)
    prepared.report("word-for-word copies", 2, 3)
    size = min(len(prepared.train), len(prepared.holdout))
    part.findings += [
        finding(NAME, "holdout", intervals.share(holdout, groups), words=WINDOW,
                reference_records=len(prepared.holdout)),
        _baseline_finding(prepared),
        finding(f"{NAME}_excess", "holdout", share_excess(*_by_tenth(prepared), groups), words=WINDOW,
                reference_records=size),
    ]  # fmt: skip
    more = small.astype(float) - holdout
    part.add(Part(tables=each_output(prepared, f"{NAME}_excess", "holdout", more)))
    prepared.report("word-for-word copies", 3, 3)
    return part


def _by_tenth(prepared: Prepared) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which synthetic records copy from each tenth of the units of equal-size train, and of the holdout."""
    found = []
    for side in (equal_size(prepared), prepared.holdout):
        tenths = parts_of(side.units, prepared.seed)
        words = [side.words.take(np.flatnonzero(tenths == tenth)) for tenth in np.unique(tenths)]
        found.append(
            np.column_stack([copies_anything(prepared.synthetic.words, _indexed(prepared, part)) for part in words])
        )
    return found[0], found[1]


def _indexed(prepared: Prepared, words: WordTable) -> WindowIndex:
    """Return the windows of a reference; a block of them is a point at which the examination can be stopped."""
    return index_windows(words, report=lambda done, total: prepared.check())


def _baseline_finding(prepared: Prepared) -> Finding:
    """Return how often real records that nobody used repeat the training part."""
    real = prepared.holdout
    hits = copies_anything(real.words, _indexed(prepared, prepared.train.words))
    groups = real.units if prepared.grouped else None
    return finding(NAME, "baseline", intervals.share(hits, groups), words=WINDOW,
                   what="holdout records in the place of the synthetic ones, against the training part")  # fmt: skip


def _copied(prepared: Prepared, reference: Side, name: Reference, part: Part) -> NDArray[np.bool_]:
    """Return which synthetic records copy from `reference`, and add the passages to `part`."""
    synthetic = prepared.synthetic
    spans = copied_spans(synthetic, reference, _indexed(prepared, reference.words))
    row_of = {record: row for row, record in enumerate(synthetic.record_ids)}
    rows = spans["record_id"].map(row_of).to_numpy(np.int64)
    copied = np.zeros(len(synthetic), bool)
    copied[rows] = True
    words = np.bincount(rows, weights=spans["words"].to_numpy(float), minlength=len(synthetic))
    longest = np.zeros(len(synthetic))
    np.maximum.at(longest, rows, spans["words"].to_numpy(float))
    covered = np.minimum(1.0, words / np.maximum(synthetic.words.counts, 1))
    part.signals[f"copied_{name}"] = covered
    part.signals[f"longest_{name}"] = longest
    table = pd.DataFrame({
        "record_id": synthetic.record_ids[copied], "reference": name, "longest_words": longest[copied].astype(int),
        "share_of_words": covered[copied],
    })  # fmt: skip
    shown = np.sort(np.argsort(-spans["words"].to_numpy(), kind="stable")[:LISTED])
    whose = pd.Series(reference.units, index=reference.record_ids)
    units = whose.reindex(spans["source_record_id"].unique()).nunique()
    met = pd.DataFrame([(COPIED, name, units)], columns=MET_COLUMNS)
    part.add(Part(tables={"leaks": spans.iloc[shown].assign(reference=name), "verbatim": table, MET: met}))
    return copied
