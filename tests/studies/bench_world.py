"""What studies over settings run on in tests: sixty made-up notes, a network of a few thousand weights."""

from __future__ import annotations

import dataclasses

import pandas as pd

from engine.methods.base import Facts
from tests.studies import rerun_world

VOTES = "rounds=2, variations=2, words=8, domain=reviews, unreadable=flag"
CHEAP = ("kid", "js_2gram", "length_distance", "neighbours_jaccard_1", "verbatim_8gram")
SMALL = {"outputs": 12, "repeats": 3, "measures": CHEAP}
CLOCK = ["seconds"]


def given(study, parameters, **options):
    """Return a study's context: forty records to train on, twenty set aside."""
    run = rerun_world.context(unit="record", count=60)
    records = run.records
    facts = Facts(records=40, units=40, labels=len(set(records["label"].dropna())), mean_characters=300.0)
    run = dataclasses.replace(run, records=records.iloc[:40].reset_index(drop=True), facts=facts)
    holdout = records.iloc[40:].reset_index(drop=True)
    small = {name: value for name, value in SMALL.items() if name in study.spec.parameters.model_fields}
    return rerun_world.study_context(study, {**small, **parameters}, run, holdout, **options)


def rows(variant, measure, values, direction="lower is better", real=0.0, **keys):
    """Return rows of a study's runs with values written by hand, one a repeat."""
    return pd.DataFrame(
        [
            {"variant": variant, **keys, "repeat": i, "kind": "dp", "texts": 10, "seconds": 1.0, "measure": measure,
             "title": measure.upper(), "direction": direction, "value": value, "real": real, "why": ""}
            for i, value in enumerate(values)
        ]
    )  # fmt: skip
