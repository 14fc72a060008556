"""An examination that was stopped is offered to go on, with what is kept of it and its own settings."""

from __future__ import annotations

import pytest
from sqlalchemy import select

from engine.store.database.schema import jobs
from engine.store.store import Store
from tests.jobs.test_stopped_examination import worked
from tests.pages.test_privacy import words

RECORDS = [{"text": f"The patient walked to place {i} and slept there.", "label": None, "lineage": None}
           for i in range(6)]  # fmt: skip


@pytest.mark.parametrize("group", ["privacy", "utility"])
def test_it_goes_on_with_its_own_settings(seeded, visit, add_run, group):
    workspace = seeded.open()
    run = add_run(workspace, seeded.corpus, RECORDS)
    store = Store(workspace.path)
    worked(store, parts=2, settings={"utility": False})
    store.close()
    app = visit(group, **{"_ui.run": run})
    assert "Examination stopped: 2 of 22 parts kept" in words(app, "subheader")
    assert "Not examined yet" not in words(app, "subheader")
    app.button(key=f"{group}.continue.{run}").click().run()
    query = select(jobs.c.state, jobs.c.arguments).where(jobs.c.kind == "examine").order_by(jobs.c.seq.desc()).limit(1)
    with workspace.session.db.read() as connection:
        row = connection.execute(query).one()
    settings = {"privacy": True, "utility": False, "model_attacks": False, "tuned_classifier": False}
    assert row.arguments == settings | {"embedder": "english"}, "it would measure meaning by something else"
    assert "Examination stopped" not in words(app, "subheader"), "the job that goes on is shown instead"


def test_it_is_not_offered_once_what_it_describes_has_changed(seeded, visit, add_run):
    workspace = seeded.open()
    run = add_run(workspace, seeded.corpus, RECORDS)
    store = Store(workspace.path)
    worked(store, parts=2, settings={"utility": False})
    store.close()
    workspace.runs.approve(run, [str(workspace.runs.synthetic(run)["record_id"].iloc[0])], "rejected")
    app = visit("privacy", **{"_ui.run": run})
    assert "Examination stopped" not in words(app, "subheader")
    assert "Not examined yet" in words(app, "subheader")


def test_home_leads_to_it_first(seeded, visit, add_run):
    workspace = seeded.open()
    run = add_run(workspace, seeded.corpus, RECORDS)
    store = Store(workspace.path)
    worked(store, parts=2, settings={"utility": False})
    store.close()
    app = visit("home")
    assert app.button(key=f"home.stopped.go.{run}").label.startswith("Go on examining “")
    assert "2 of 22 parts are kept." in words(app, "caption")


@pytest.mark.parametrize("group", ["privacy", "utility"])
def test_nobody_is_led_to_examine_what_is_out_of_date(seeded, visit, add_run, group):
    workspace = seeded.open()
    run = add_run(workspace, seeded.corpus, RECORDS)
    app = visit(group, **{"_ui.run": run})
    assert app.button(key=f"{group}.examine.{run}").proto.type == "primary"
    record = workspace.corpora.frame(seeded.corpus)["record_id"].iloc[0]
    workspace.review.decide(seeded.corpus, [workspace.review.spans(seeded.corpus, record)[0].span_id], "reject")
    assert workspace.runs.get(run).stale
    app = visit(group, **{"_ui.run": run})
    assert "Out of date" in words(app, "warning"), "an examination of it opens no gate"
    assert "Not examined yet" in words(app, "subheader")
    assert app.button(key=f"{group}.examine.{run}").proto.type == "secondary"
    app.button(key=f"{group}.remake.{run}").click().run()
    assert not app.exception
