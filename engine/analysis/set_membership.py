"""Findings from the set of a person's records: does it stand out where no single record has to?

Each record is scored by the word probe (`engine.attacks.word_probe`), and the scores of a person's records are
combined. Needs units with several records.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.analysis.leaks import NO_HOLDOUT
from engine.analysis.make import missing
from engine.analysis.membership import RELEASED, membership_part
from engine.analysis.part import Part
from engine.analysis.people import asked
from engine.analysis.prepare import Prepared
from engine.analysis.roc import delong
from engine.attacks.profiles import grams, present
from engine.attacks.set_membership import set_scores
from engine.attacks.word_probe import probe, rarity

NAME = "set_membership"
TITLE = "All records of a person (set membership)"
PEOPLE = 20_000
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
    train, holdout, note = asked(prepared, PEOPLE, "sets", LEAST_RECORDS)
    if min(len(train), len(holdout)) < LEAST_UNITS:
        return _missing(f"fewer than {LEAST_UNITS} units a side hold {LEAST_RECORDS} records or more")
    sides = (prepared.train.words, prepared.holdout.words, prepared.synthetic.words)
    ours, theirs, made = (present(table) for table in grams(sides, 1))
    holds = np.bincount(ours.indices, minlength=ours.shape[1]) + np.bincount(theirs.indices, minlength=ours.shape[1])
    texts = len(prepared.train) + len(prepared.holdout)
    values = []
    for table, who in ((ours, train), (theirs, holdout)):
        asked_about = table[who.records]
        shares = rarity(asked_about, who.codes, holds.astype(np.float64), texts)
        values.append(probe(asked_about, made, shares, lambda done, total: prepared.report(stage, done, total)))
    records = np.concatenate(values)
    codes = np.concatenate([train.codes, holdout.codes + len(train)])
    sets = set_scores(records, codes, len(train) + len(holdout))
    single = delong(records[: len(train.records)], records[len(train.records) :])[0]
    others: dict[str, Any] = {
        f"{name}_value": delong(values[: len(train)], values[len(train) :])[0]
        for name, values in sets.items()
        if name != "stouffer"
    }
    scores = sets["stouffer"]
    return membership_part(
        prepared, NAME, TITLE, RELEASED, scores[: len(train)], scores[len(train) :],
        train_rows=train.rows, holdout_rows=holdout.rows, note=note, combined="Stouffer",
        single_record_value=single, records_a_unit=float(np.bincount(codes).mean()), **others,
    )  # fmt: skip


def _missing(why: str) -> Part:
    names = (NAME, f"{NAME}_tpr01")
    return Part([missing(name, reference, why) for name in names for reference in ("train", "holdout", "baseline")])
