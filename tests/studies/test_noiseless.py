"""The study that sets a method at its ε beside itself without noise and beside no private text."""

from __future__ import annotations

import dataclasses

import pytest

from engine.models.cancel import Cancelled
from engine.studies import get_study
from engine.studies.noiseless.run import ENDLESS, NONE, OWN, NoiselessStudy
from tests.studies import rerun_world

STUDY = NoiselessStudy()
VOTES = "rounds=1, variations=2, words=12, domain=clinical"


def given(parameters, **options):
    run = rerun_world.context(unit="record")
    records = run.records
    run = dataclasses.replace(run, records=records.iloc[:30].reset_index(drop=True))
    holdout = records.iloc[30:].reset_index(drop=True)
    return rerun_world.study_context(STUDY, parameters, run, holdout, **options)


@pytest.fixture(scope="module")
def steps():
    return list(STUDY.run(given({"method": "aug-pe", "outputs": 12, "settings": VOTES})))


def test_it_is_registered_and_needs_what_its_method_needs():
    study = get_study("noiseless")
    assert "detector" in study.needs(study.spec.parameters(method="rpsg"))
    assert "detector" not in study.needs(study.spec.parameters(method="dpga"))


def test_only_the_run_at_its_epsilon_carries_a_claim(steps):
    table = steps[-1].tables["noiseless"]
    kinds = table.groupby("variant", sort=False)[["kind", "epsilon"]].first()
    assert kinds.loc[NONE].tolist() == ["none", "0"]
    assert kinds.loc[OWN].tolist() == ["dp", "4"]
    assert kinds.loc[ENDLESS].tolist() == ["none", "∞"]
    assert set(table["texts"]) == {12}


def test_each_variant_is_measured_alike_beside_real_text(steps):
    table = steps[-1].tables["noiseless"]
    sets = table.groupby("variant")["measure"].apply(set)
    assert sets[NONE] == sets[OWN] == sets[ENDLESS]
    known = table[table["value"].notna() & table["low"].notna()]
    assert len(known) > 6
    assert ((known["low"] <= known["value"] + 1e-9) & (known["value"] <= known["high"] + 1e-9)).all()
    assert not set(table.columns) & {"text", "record_id"}


def test_it_goes_on_where_it_was_and_stops_when_asked(steps):
    rest = list(
        STUDY.run(given({"method": "aug-pe", "outputs": 12, "settings": VOTES}, state=steps[1].state,
                        tables=steps[1].tables))
    )  # fmt: skip
    assert [step.stage for step in rest] == [ENDLESS]
    context = given({"outputs": 12, "settings": VOTES})
    stopped = dataclasses.replace(context, run=dataclasses.replace(context.run, cancelled=lambda: True))
    with pytest.raises(Cancelled):
        list(STUDY.run(dataclasses.replace(stopped, parameters=STUDY.spec.parameters(outputs=12))))
