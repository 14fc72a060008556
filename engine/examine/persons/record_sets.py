"""Findings from the set of a person's records: does it stand out where no single record has to?

Each record is scored by the word probe (`engine.examine.persons.word_probe`), and the scores of a person's records are
combined, then standardised among people with about as many records: where seeds are drawn record by record, people with
many records are members more often. Needs units with several records.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.examine.findings.make import missing
from engine.examine.findings.part import Part
from engine.examine.members.membership import RELEASED, membership_part
from engine.examine.persons.authorship import record_probes
from engine.examine.persons.people import People, levelled
from engine.examine.persons.record_sets_scores import set_scores
from engine.examine.prepare import Prepared
from engine.examine.stats.roc import delong
from engine.examine.values.leaks import NO_HOLDOUT
from engine.json_types import JSON

NAME = "set_membership"
TITLE = "All records of a person (set membership)"
LEAST_UNITS = 10  # a side, with several records
LEAST_RECORDS = 2
SINGLE = "every record is its own unit; import the corpus with a source column and the unit `source`"


def examine_sets(prepared: Prepared) -> Part:
    """Return the set attack against single records of the same people."""
    stage = "sets of records"
    prepared.report(stage, 0, 1)
    if not len(prepared.holdout):
        return _missing(NO_HOLDOUT)
    if not prepared.grouped:
        return _missing(SINGLE)
    found = record_probes(prepared)
    (train, first), (holdout, second) = (
        several(who, values) for who, values in zip(found.people, found.values, strict=True)
    )
    if min(len(train), len(holdout)) < LEAST_UNITS:
        return _missing(f"fewer than {LEAST_UNITS} units a side hold {LEAST_RECORDS} records or more")
    records = np.concatenate([first, second])
    codes = np.concatenate([train.codes, holdout.codes + len(train)])
    sizes = np.bincount(codes, minlength=len(train) + len(holdout)).astype(np.float64)
    sets = {name: levelled(scores, sizes) for name, scores in set_scores(records, codes, len(sizes)).items()}
    others: dict[str, JSON] = {
        f"{name}_value": delong(values[: len(train)], values[len(train) :])[0]
        for name, values in sets.items()
        if name != "stouffer"
    }
    scores = sets["stouffer"]
    return membership_part(
        prepared, NAME, TITLE, RELEASED, scores[: len(train)], scores[len(train) :],
        train_rows=train.rows, holdout_rows=holdout.rows, note=found.note, settings={
            "combined": "Stouffer", "single_record_value": delong(first, second)[0],
            "records_a_unit": float(sizes.mean()), **others,
        },
    )  # fmt: skip


def several(who: People, values: NDArray[np.float64]) -> tuple[People, NDArray[np.float64]]:
    """Return the people who have several records, and the scores of these records."""
    kept = np.bincount(who.codes, minlength=len(who)) >= LEAST_RECORDS
    place = np.cumsum(kept) - 1
    inside = kept[who.codes]
    return People(who.rows[kept], who.records[inside], place[who.codes[inside]]), values[inside]


def _missing(why: str) -> Part:
    names = (NAME, f"{NAME}_tpr01")
    return Part([missing(name, reference, why) for name in names for reference in ("train", "holdout", "baseline")])
