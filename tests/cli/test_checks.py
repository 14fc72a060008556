"""The verbs spot-check and waive: what they print, and what they refuse."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from engine.examine.findings.findings import Finding
from engine.store.store import Store
from tests.cli.in_process import run
from tests.store.conftest import CANARY, MAPPING, made_up
from tests.store.making import examine, finished_run

DAY = (datetime.now(UTC).date() + timedelta(days=5)).isoformat()


@pytest.fixture
def made(tmp_path):
    """A workspace with a run that one rule keeps from leaving, and without a spot check; its folder and the run."""
    store = Store(tmp_path / "w", actor="Ada")
    corpus = store.corpora.import_table(made_up(), MAPPING, name="Letters", unit="record", holdout=0.25)
    run_id = finished_run(store, corpus, [f"Made-up note about {word} knees." for word in ("two", "three")])
    values = [("pipp_excess", "holdout", 0.3145)]
    values += [(name, "train", 0.0) for name in ("pipp_direct", "label_direct", "verbatim_8gram")]
    values += [(name, "holdout", 0.0) for name in ("pipp_direct", "strict_alone_excess")]
    found = [Finding(n, v, v, v, 300, r, n, "lower is safer", "privacy", {}) for n, r, v in values]  # type: ignore[arg-type]
    examine(store, run_id, found)
    store.runs.approve_all_pending(run_id)
    store.close()
    return tmp_path / "w", run_id


def test_draw_read_and_say_what_was_missed(made):
    workspace, _ = made
    assert run(workspace, "spot-check", "Letters")["estimate"] is None
    assert run(workspace, "spot-check", "Letters", "--target", 50)["needed"] == 30  # 2 of 40 could still hold something
    drawn = run(workspace, "spot-check", "Letters", "--draw", 35, "--twice", 5, "--by", "Ada")
    assert drawn["estimate"]["check"]["drawn"] == 35
    assert "35 of its 35 records are still to be read" in drawn["sentences"][1]
    store = Store(workspace, actor="Ada")
    store.review.mark_reviewed("".join(c.id for c in store.corpora.all()), store.spot_checks.order(drawn["corpus"]))
    store.close()
    said = run(workspace, "spot-check", "Letters")
    assert said["estimate"]["direct"]["high"] > 0
    assert CANARY not in str(said)
    assert "--twice" in run(workspace, "spot-check", "Letters", "--twice", 5, expect=1)
    assert "count" in run(workspace, "spot-check", "Letters", "--draw", 0, expect=1)


def test_waive_list_and_take_back(made):
    workspace, run_id = made
    base = ("waive", run_id, "--policy", "internal")
    listed = run(workspace, *base)
    assert {"missed-sample", "missed-direct", "identifiers-in-records"} == {one["rule"] for one in listed["open"]}
    rule = ("--rule", "identifiers-in-records", "--reason", "Colleagues read it anyway", "--expires", DAY)
    assert "who you are" in run(workspace, *base, *rule, expect=1)
    assert "cannot be waived" in run(workspace, *base, "--rule", "missed-direct", *rule[2:], "--by", "Ada", expect=2)
    given = run(workspace, *base, *rule, "--by", "Ada")
    (waiver,) = given["waivers"]
    assert given["applied"] == [waiver["id"]]
    assert (waiver["person"], waiver["expires"]) == ("Ada", DAY)
    assert not given["passed"]  # the spot check is missing still
    back = run(workspace, *base, "--withdraw", waiver["id"], "--by", "Ada")
    assert back["waivers"] == []
    leak = ("--reason", f"Letter 3: {CANARY} D came on 4 May 2021 because of a sore knee")
    assert CANARY not in run(workspace, *base, *rule[:2], *leak, *rule[4:], "--by", "Ada", expect=2)
