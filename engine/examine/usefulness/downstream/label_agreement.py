"""Findings on whether synthetic labels fit their text, in the eyes of a classifier of real records."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from engine.examine.base import Side
from engine.examine.findings.findings import Reference
from engine.examine.findings.make import finding, missing
from engine.examine.findings.part import Part
from engine.examine.findings.sizes import FEWER, row, smaller
from engine.examine.prepare import Prepared
from engine.examine.samples import sample_units
from engine.examine.stats import intervals
from engine.examine.stats.intervals import Interval
from engine.examine.usefulness.downstream.downstream_scores import Lesson, teach, tf_idf, word_counts
from engine.examine.usefulness.sides import REAL, TARGET, equal_sides
from engine.json_types import JSON

NAME = "label_agreement"
LARGEST = 1000
FEWEST = 20  # labelled texts a side
SIDES: tuple[Reference, ...] = ("train", "real")
NO_LABEL = "synthetic records carry no label"
Labels = NDArray[np.object_]


def examine_label_agreement(prepared: Prepared) -> Part:
    """Return the share of synthetic records, and of real ones not trained on, whose label the classifier gives them.

    Both are asked at equal numbers. Labels that the classifier never saw count as not given.
    """
    given = prepared.given
    if "label" not in given.synthetic or not given.synthetic["label"].notna().any():
        return _none(NO_LABEL)
    prepared.report("labels that fit", 0, 1)
    sides = equal_sides(prepared, LARGEST, False, None)
    taught, truth = _labelled(sides.target, given.train)
    made, claimed = _labelled(sides.synthetic, given.synthetic)
    real, held = _labelled(sides.real, given.train)
    size = min(len(made), len(real))
    if min(size, len(taught)) < FEWEST:
        return _none(f"{min(size, len(taught))} labelled texts a side are too few; at least {FEWEST} are needed")
    if len(np.unique(truth.astype(str))) < 2:
        return _none("the real records have one label alone, so there is nothing to tell apart")
    labelled = ((taught, truth), (made, claimed), (real, held))
    found = _agreement(labelled, size, prepared)
    fewer = {texts: _agreement(labelled, texts, prepared) for texts in smaller(min(size, len(taught)), FEWEST)}
    settings: dict[str, JSON] = {
        "trained_on": min(len(taught), size), "labels": len(np.unique(truth.astype(str))), "texts_a_side": size,
        "interval_is_of": "the records asked, of one classifier that both sides share; not of training it anew",
    }  # fmt: skip
    part = Part()
    for place, reference in enumerate(SIDES):
        more: dict[str, JSON] = {"own_sources_left_out": sides.apart} if reference == "train" else {}
        values = {str(texts): row(two[place].value, two[place].low, two[place].high) for texts, two in fewer.items()}
        more |= {FEWER: values} if values else {}
        part.findings.append(finding(NAME, reference, found[place], **settings, **more))
    prepared.report("labels that fit", 1, 1)
    return part


def _agreement(labelled: Sequence[tuple[Side, Labels]], size: int, prepared: Prepared) -> list[Interval]:
    """Return the shares of synthetic and of real texts with the label that the classifier gives them.

    Args:
        labelled: the texts taught, the synthetic and the real ones asked, with their labels; so many are taken of each.
    """
    drawn = []
    for (side, labels), order in zip(labelled, (TARGET, NAME, REAL), strict=True):
        rows = sample_units(side.units, size, prepared.seed, order)
        drawn.append((side.take(rows), labels[rows].astype(str)))
    (taught, truth), *asked = drawn
    names, codes = np.unique(truth, return_inverse=True)
    right = names[_answers(taught, codes, [side for side, _ in asked], prepared.seed)] == np.concatenate(
        [labels for _, labels in asked]
    )
    return [
        intervals.share(hits, side.units if prepared.grouped else None)
        for (side, _), hits in zip(asked, np.split(right, 2), strict=True)
    ]


def _none(why: str) -> Part:
    return Part([missing(NAME, reference, why) for reference in SIDES])


def _labelled(side: Side, frame: pd.DataFrame) -> tuple[Side, Labels]:
    """Return the texts of a side that have a label, and their labels."""
    if "label" not in frame:
        return side.take(np.empty(0, np.int64)), np.empty(0, object)
    known = frame["label"].notna().to_numpy()
    of_record = dict(zip(frame["record_id"].astype(str)[known], frame["label"][known], strict=True))
    rows = np.array([row for row, record in enumerate(side.record_ids) if record in of_record], np.int64)
    return side.take(rows), np.array([of_record[side.record_ids[row]] for row in rows], object)


def _answers(taught: Side, codes: NDArray[np.int64], asked: list[Side], seed: int) -> NDArray[np.int64]:
    """Return the number of the label that the classifier gives each text asked, one side after the other."""
    from scipy.sparse import vstack

    counts, *others = word_counts([taught.words, *(side.words for side in asked)])
    table, questions = tf_idf(counts, vstack(others, format="csr"))
    return teach(Lesson(table, codes, taught.units, questions), seed, refits=0).answers
