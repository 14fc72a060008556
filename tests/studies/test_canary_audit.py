"""The canary audit as a study: coins before the run, blind scores, bounds after; a copier, a liar and a null."""

from __future__ import annotations

import hashlib
import json
import sys

import numpy as np
import pandas as pd
import pytest

import engine.methods
from engine.errors import UserError
from engine.jobs.worker import launch
from engine.studies import get_study, studies
from engine.studies.canary_audit.run import CanaryAuditStudy
from engine.workspace import open_workspace
from tests.jobs import copying_method
from tests.jobs.conftest import wait
from tests.store.conftest import MAPPING, made_up
from tests.studies import rerun_world


@pytest.fixture
def registered(monkeypatch):
    monkeypatch.setattr(engine.methods, "REGISTRY", (*engine.methods.REGISTRY, *copying_method.ENTRIES))
    engine.methods.get_method.cache_clear()
    yield
    engine.methods.get_method.cache_clear()


def steps(parameters, run=None, **given):
    study = CanaryAuditStudy()
    return list(study.run(rerun_world.study_context(study, parameters, run or rerun_world.context(), **given)))


def bound(tables, name="one-run"):
    return tables["bounds"].set_index("bound").loc[name]


def test_a_copier_is_found_out_as_far_as_the_guesses_go(registered):
    made = steps({"method": "copying", "canaries": 60, "guesses": 20})
    assert [(s.done, s.total, s.stage) for s in made] == [
        (1, 3, "coins drawn"), (2, 3, "run 1"), (3, 3, "coins opened"),
    ]  # fmt: skip
    tables = made[-1].tables
    row = bound(tables)
    assert row["epsilon_lower"] == row["ceiling"] > 1.5
    assert (row["guesses"], row["right"], row["verdict"]) == (20, 20, "no claim")
    echo = tables["echo"].set_index(["echo", "side"])["share"]
    assert echo["whole", "in"] == 1.0
    assert echo["whole", "out"] == 0.0


def test_a_false_claim_is_refuted(registered):
    tables = steps({"method": "copying-liar", "canaries": 60, "outputs": 5})[-1].tables
    row = bound(tables)
    assert row["claim"] == 1.0
    assert row["verdict"] == "violation"
    assert row["epsilon_lower"] > 1.0
    assert row["p_value"] < 0.05


def test_nothing_private_in_gives_nothing(registered):
    """Public prompts read no record, so any ε above 0 would be chance; coins are fresh, so this may happen at 5%."""
    made = steps({"method": "public", "settings": "words=12", "canaries": 24, "outputs": 6, "repeats": 2})
    assert len(made) == 4
    tables = made[-1].tables
    row = bound(tables)
    assert (row["claim"], row["delta"]) == (0.0, 0.0)
    assert row["verdict"] == ("no violation seen" if row["epsilon_lower"] == 0.0 else "violation")
    assert (row["p_value"] <= 0.05) == (row["epsilon_lower"] > 0.0)
    assert tables["echo"]["share"].max() == 0.0
    by_run = tables["canaries"].groupby("repeat")["in"].apply(list)
    assert by_run[0] != by_run[1]  # fresh coins each run


def test_coins_are_stored_before_the_run_and_match_the_commitment(registered):
    made = steps({"method": "copying", "canaries": 20})
    first, last = made[0], made[-1]
    assert set(first.tables) == {"declaration"}
    assert set(made[1].tables) == {"declaration"}  # scored, still closed
    bits = "".join(map(str, first.state["coins"][0]))
    assert set(bits) == {"0", "1"}
    expected = hashlib.sha256(f"{first.state['secret']}:{bits}".encode()).hexdigest()
    assert first.tables["declaration"].loc[0, "commitment"] == expected
    pd.testing.assert_frame_equal(first.tables["declaration"], last.tables["declaration"])
    assert last.tables["canaries"]["in"].astype(int).tolist() == first.state["coins"][0]


def test_a_study_that_was_cut_off_goes_on_with_the_same_coins(registered):
    parameters = {"method": "copying", "canaries": 20, "repeats": 2}
    whole = steps(parameters)
    state = json.loads(json.dumps(whole[1].state))
    rest = steps(parameters, state=state, tables=whole[1].tables)
    assert [s.stage for s in rest] == ["run 2", "coins opened"]
    for name, table in whole[-1].tables.items():
        pd.testing.assert_frame_equal(rest[-1].tables[name], table)
    assert steps(parameters, state=rest[-1].state, tables=rest[-1].tables) == []


def test_claims_about_a_replaced_record_get_twins(registered):
    settings = "adjacency=replace-one, epsilon=4, rounds=1, variations=2, words=12"
    tables = steps({"method": "aug-pe", "settings": settings, "canaries": 16, "outputs": 4}, _few())[-1].tables
    assert tables["declaration"].loc[0, "design"] == "twin"
    assert len(tables["canaries"]) == 32
    assert tables["canaries"].groupby(tables["canaries"]["canary"] % 16)["in"].sum().tolist() == [1] * 16
    assert bound(tables)["claim"] == 4.0


def _few():
    return rerun_world.context(60, unit="record")


def test_several_copies_of_one_record_are_judged_as_a_group(registered):
    parameters = {"method": "copying-liar", "canaries": 12, "copies": 3, "outputs": 5}
    as_records = bound(steps(parameters, rerun_world.context(unit="record"))[-1].tables)
    assert as_records["claim"] == 3.0
    assert as_records["delta"] == pytest.approx(1e-5 * (1 + np.e + np.e**2))
    as_person = bound(steps(parameters, rerun_world.context(unit="source"))[-1].tables)
    assert as_person["claim"] == 1.0


def test_no_table_and_no_message_holds_a_word_of_a_canary(registered):
    for kind in ("prefix", "identifier"):
        made = steps({"method": "copying", "canaries": 12, "kind": kind})
        printed = " ".join(t.to_json() for s in made for t in s.tables.values()) + json.dumps(made[-1].state)
        for text in rerun_world.sample()[0]["text"]:
            assert " ".join(text.split()[:3]) not in printed
        assert "MRN-" not in printed
        assert "example.org" not in printed


def test_wrong_parameters_say_what_to_do(registered):
    with pytest.raises(UserError, match="at most 12 coins"):
        steps({"method": "copying", "canaries": 12, "guesses": 13})
    with pytest.raises(UserError, match="share"):
        steps({"method": "copying", "canaries": 12, "settings": "share=7"})
    with pytest.raises(UserError, match="does not exist"):
        steps({"method": "no-such-method", "canaries": 12})
    with pytest.raises(UserError, match="settings: write name=value"):
        steps({"method": "copying", "canaries": 12, "settings": "share"})


def test_studies_of_a_method_call_its_settings_alike():
    taking = [study.spec for study in studies() if "method" in study.spec.parameters.model_fields]
    assert {"canary-audit", "pairs", "surprisal"} <= {spec.id for spec in taking}
    for spec in taking:
        assert spec.parameters.model_fields["settings"].annotation is str
        assert "values" not in spec.parameters.model_fields


def test_the_study_needs_what_its_method_needs(registered):
    study = get_study("canary-audit")
    parameters = study.spec.parameters
    assert set(study.needs(parameters(method="copying"))) == {"embedder"}
    assert {"spans", "embedder"} <= set(study.needs(parameters(method="surrogate")))
    assert {"generator", "train", "embedder"} <= set(study.needs(parameters(method="finetune")))
    assert all(field.description for field in parameters.model_fields.values())


@pytest.mark.slow
def test_a_real_job_audits_a_copier_in_a_worker(tmp_path, monkeypatch, registered):
    command = [sys.executable, "-m", "tests.jobs.copying_method", "--idle-seconds", "60", "--workspace"]
    monkeypatch.setattr(launch, "worker_command", lambda folder: [*command, str(folder.path)])
    workspace = open_workspace(tmp_path / "workspace", "tester")
    try:
        corpus = workspace.corpora.import_table(made_up(), MAPPING, name="Letters", holdout=0.25)
        workspace.review.use_gold(corpus.id)
        job = workspace.studies.start(corpus.id, "canary-audit", {"method": "copying", "canaries": 40, "repeats": 2})
        assert wait(workspace, job, seconds=300).state == "done"
        tables = workspace.studies.results(job)
        assert set(tables) == {"declaration", "bounds", "canaries", "echo", "signals"}
        row = bound(tables)
        assert (row["guesses"], row["right"]) == (20, 20)
        assert row["epsilon_lower"] == row["ceiling"] > 1.5
        folder = workspace.folder.corpus(corpus.id) / "studies" / job
        assert [p.name for p in folder.iterdir()] == ["4"]
        lines = workspace.ledger.of(corpus.id).lines
        assert (lines["what"] == "study").sum() == 1
    finally:
        workspace.jobs.stop_worker()
        workspace.close()
