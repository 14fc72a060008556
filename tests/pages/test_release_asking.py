"""What is approved is what was seen: a risk, a decision or an examination that came after the page was drawn counts."""

from __future__ import annotations

import pytest

from engine.store.database.schema import runs, synthetic
from pages._ui.release import asking, together
from pages._ui.release import records as release_records
from tests.pages.test_release import decision, texts


def measured(workspace, run_id, risk, record=None):
    """Give one record, or all, a risk as an examination leaves it."""
    changed = synthetic.update().where(synthetic.c.run_id == run_id).values(risk=risk)
    with workspace.session.db.write() as connection:
        connection.execute(changed if record is None else changed.where(synthetic.c.record_id == record))


def approved(workspace, run_id):
    return workspace.runs.approval_counts(run_id)["approved"]


def test_an_answer_holds_for_the_risk_that_was_named(seeded, visit):
    workspace = seeded.open()
    first = str(workspace.runs.synthetic(seeded.run, limit=1, order="risk")["record_id"].iloc[0])
    app = visit("release", **{"_ui.run": seeded.run})
    decision(app, "approved").click().run()
    measured(workspace, seeded.run, 0.6, first)  # so that others stand before it
    decision(app, "sure").click().run()
    assert approved(workspace, seeded.run) == 0
    assert "The risk of this record changed" in texts(app, "error")
    assert "Risk 0.60" in texts(app, "warning"), "it is asked anew, with what holds"
    decision(app, "sure").click().run()
    assert approved(workspace, seeded.run) == 1


@pytest.mark.parametrize("before", [None, 0.1])
def test_a_risk_that_came_after_the_page_was_drawn_is_asked_about(seeded, visit, before):
    workspace = seeded.open()
    measured(workspace, seeded.run, before)
    app = visit("release", **{"_ui.run": seeded.run})
    measured(workspace, seeded.run, 0.9)
    decision(app, "approved").click().run()
    assert approved(workspace, seeded.run) == 0
    assert "Risk 0.90" in texts(app, "warning")
    decision(app, "sure").click().run()
    assert approved(workspace, seeded.run) == 1


@pytest.mark.parametrize(("theirs", "mine"), [("rejected", "approved"), ("approved", "rejected")])
def test_what_somebody_else_decided_meanwhile_is_seen_before_it_is_decided_anew(seeded, visit, theirs, mine):
    workspace = seeded.open()
    measured(workspace, seeded.run, 0.1)
    first = str(workspace.runs.synthetic(seeded.run, limit=1, order="risk")["record_id"].iloc[0])
    app = visit("release", **{"_ui.run": seeded.run})
    workspace.runs.approve(seeded.run, [first], theirs)
    decision(app, mine).click().run()
    assert workspace.runs.synthetic(seeded.run, ids=[first])["approval"].iloc[0] == theirs
    assert "Somebody decided on this record" in texts(app, "error")
    assert not texts(app, "warning").count("all the same"), "of low risk: nothing is asked"
    decision(app, mine).click().run()
    assert workspace.runs.synthetic(seeded.run, ids=[first])["approval"].iloc[0] == mine


def test_records_of_high_risk_approved_together_are_asked_about_with_their_number(seeded, visit):
    workspace = seeded.open()
    measured(workspace, seeded.run, 0.1)
    ids = [str(record) for record in workspace.runs.synthetic(seeded.run, limit=500)["record_id"]]
    for record in ids[:2]:
        measured(workspace, seeded.run, 0.7, record)
    measured(workspace, seeded.run, 0.5, ids[2])
    below, sure = (f"release.rest.{name}.{seeded.run}" for name in ("below", "sure"))
    app = visit("release", **{"_ui.run": seeded.run, f"release.limit.{seeded.run}": 0.8})
    app.button(key=below).click().run()
    assert approved(workspace, seeded.run) == 0
    assert "2 records of risk above 0.50 go with it." in texts(app, "warning")

    measured(workspace, seeded.run, 0.6, ids[2])
    app.button(key=sure).click().run()
    assert approved(workspace, seeded.run) == 0, "a third one goes with it by now"
    assert "3 records of risk above 0.50 go with it." in texts(app, "warning")
    app.button(key=sure).click().run()
    assert approved(workspace, seeded.run) == len(ids)
    assert together.ASKED not in app.session_state


def test_up_to_the_risk_that_needs_no_question_none_is_asked(seeded, visit):
    workspace = seeded.open()
    measured(workspace, seeded.run, 0.9)
    low = str(workspace.runs.synthetic(seeded.run, limit=1)["record_id"].iloc[0])
    measured(workspace, seeded.run, asking.LOW, low)
    app = visit("release", **{"_ui.run": seeded.run, f"release.limit.{seeded.run}": asking.LOW})
    app.button(key=f"release.rest.below.{seeded.run}").click().run()
    assert approved(workspace, seeded.run) == 1


def test_all_unread_is_not_approved_once_the_records_have_a_risk(seeded, visit):
    workspace = seeded.open()
    measured(workspace, seeded.run, None)
    with workspace.session.db.write() as connection:
        was = connection.execute(runs.select().where(runs.c.id == seeded.run)).one().examined_at
        connection.execute(runs.update().where(runs.c.id == seeded.run).values(examined_at=None))
    app = visit("release", **{"_ui.run": seeded.run})
    everything = app.button(key=f"release.rest.all.{seeded.run}")
    with workspace.session.db.write() as connection:
        connection.execute(runs.update().where(runs.c.id == seeded.run).values(examined_at=was))
    measured(workspace, seeded.run, 0.9)
    everything.click().run()
    assert approved(workspace, seeded.run) == 0
    assert "nothing was approved" in texts(app, "error")
    assert release_records.ASKED not in app.session_state


def test_a_question_and_a_press_are_of_one_run_though_runs_number_their_records_alike(seeded, visit):
    workspace = seeded.open()
    for run in (seeded.run, seeded.other):
        measured(workspace, run, 0.1)
        measured(workspace, run, 0.9, "s-000001")
    app = visit("release", **{"_ui.run": seeded.run})
    decision(app, "approved").click().run()
    key = decision(app, "sure").key
    app.session_state["_ui.run"] = app.session_state["release.run"] = seeded.other
    app.run()
    assert not [one for one in app.button if (one.key or "").startswith("release.sure.")], "of the other one none asked"
    assert decision(app, "approved").key.split(".")[2:] == [seeded.other, "s-000001"]
    assert key.split(".")[2:] == [seeded.run, "s-000001"]


def test_a_decision_counts_on_the_first_record_of_another_page(seeded, visit):
    workspace = seeded.open()
    measured(workspace, seeded.run, 0.1)
    app = visit("release", **{"_ui.run": seeded.run})
    decision(app, "approved").click().run()
    app.session_state[f"release.page.{seeded.run}"] = 2
    app.run()
    decision(app, "approved").click().run()
    assert not app.error
    assert approved(workspace, seeded.run) == 2


def test_a_release_holds_what_the_question_named_and_nothing_that_was_approved_meanwhile(seeded, visit):
    workspace = seeded.open()
    ids = [str(one) for one in workspace.runs.synthetic(seeded.run, limit=120, order="risk")["record_id"]][-3:]
    workspace.runs.approve(seeded.run, ids[:2], "approved")
    app = visit("release", **{"_ui.run": seeded.run})
    app.button(key="release.build").click().run()
    workspace.runs.approve(seeded.run, ids[2:], "approved")
    app.button(key="release.build.sure").click().run()
    assert workspace.releases.all() == []
    assert "Other records are approved by now" in texts(app, "error")
    app.button(key="release.build").click().run()
    app.button(key="release.build.sure").click().run()
    assert [made.records for made in workspace.releases.all()] == [3]
