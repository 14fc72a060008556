"""The study that attacks RPSG's output with and without its likelihood filter."""

from __future__ import annotations

import dataclasses
import math

import pandas as pd
import pytest

from engine.errors import UserError
from engine.models.cancel import Cancelled
from engine.studies import get_study
from engine.studies.nll_filter.run import AS_FEW, WITH, WITHOUT, NllFilterStudy
from tests.studies import rerun_world

SETTINGS = (
    "oversampling=2, candidates=2, minimum_tokens=4, maximum_tokens=16, epochs=1, similarity_keep=1.0, nll_keep=0.5"
)
STUDY = NllFilterStudy()


@pytest.fixture(scope="module")
def given():
    from engine.models.builtin.embedder import load_embedder
    from engine.pii.detect.detector import RecordDetector
    from engine.pii.detect.settings import DetectorSettings

    detector = RecordDetector(DetectorSettings())
    return rerun_world.context(unit="record", detector=detector, embedder=load_embedder())


def study_context(given, **options):
    records = given.records
    run = dataclasses.replace(given, records=records.iloc[:26].reset_index(drop=True))
    holdout = records.iloc[26:].reset_index(drop=True)
    return rerun_world.study_context(STUDY, {"outputs": 4, "settings": SETTINGS}, run, holdout, **options)


@pytest.fixture(scope="module")
def steps(given):
    return list(STUDY.run(study_context(given)))


def test_it_is_registered_and_asks_for_what_rpsg_needs():
    assert get_study("nll-filter").spec.needs == ("generator", "operators", "embedder", "detector", "train")


def test_all_three_outputs_are_attacked(steps):
    table = steps[-1].tables["nll_filter"]
    texts = table.groupby("variant", sort=False)["texts"].first().to_dict()
    assert texts[WITH] == texts[AS_FEW] == 4
    assert texts[WITHOUT] == 8  # half of them pass the filter
    ppl = table[table["attack"] == "mia_ppl"].set_index("variant")
    assert ppl["members"].to_dict() == {WITH: 4, WITHOUT: 8, AS_FEW: 4}  # one seed a text
    assert ((ppl["low"] <= ppl["auc"]) & (ppl["auc"] <= ppl["high"])).all()
    assert {"mia_refer", "mia_lira"} <= set(table["attack"])
    assert not any(math.isnan(value) for value in ppl["auc"])


@pytest.mark.slow
def test_a_stopped_study_goes_on_where_it_was(given, steps):
    rest = list(STUDY.run(study_context(given, state=steps[0].state, tables=steps[0].tables)))
    assert [step.stage for step in rest] == [WITHOUT]
    first, second = (one[-1].tables["nll_filter"] for one in (steps, rest))
    assert first["variant"].tolist() == second["variant"].tolist()
    assert first["texts"].tolist() == second["texts"].tolist()


def test_it_needs_a_holdout_and_stops_when_asked(given):
    context = study_context(given)
    with pytest.raises(UserError, match="holdout"):
        next(STUDY.run(dataclasses.replace(context, holdout=pd.DataFrame())))
    stopped = dataclasses.replace(context, run=dataclasses.replace(context.run, cancelled=lambda: True))
    with pytest.raises(Cancelled):
        next(STUDY.run(stopped))
