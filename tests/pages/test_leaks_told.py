"""The leaks that Privacy shows are told wherever a run's state stands in a word: sidebar, Runs, and Home's list."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pages._ui.home import first_steps
from pages._ui.privacy import count
from pages._ui.privacy.data import load
from pages._ui.privacy.verdict import sentences
from pages._ui.runs import detail
from pages._ui.texts import when
from tests.pages.test_privacy import words


def test_the_count_is_that_of_the_box_on_privacy(seeded):
    workspace = seeded.open()
    run = workspace.runs.get(seeded.run)
    (side,) = load(workspace, [run])
    assert len(count.counted(workspace, run)) == sum(one.level == "leak" for one in sentences(side))


def test_nothing_is_counted_of_a_run_that_nobody_examined(seeded, add_run):
    workspace = seeded.open()
    run = workspace.runs.get(add_run(workspace, seeded.corpus, [{"text": "The soup came late."}]))
    assert count.leaks(workspace, run) is None
    assert detail.standing(workspace, run) == "Not examined yet · 1 undecided"


def test_a_run_says_what_was_measured_and_what_waits(seeded, visit):
    workspace = seeded.open()
    run = workspace.runs.get(seeded.run)
    found = len(count.counted(workspace, run))
    said = words(visit("run", **{"run.choice": seeded.run}), "markdown")
    pending = workspace.runs.approval_counts(run.id)["pending"]
    leaks = "no leak shown" if not found else f"{found} leak{'s' * (found > 1)}"
    assert f"**Examined**: {leaks}, " in said
    assert f" · {pending} undecided" in said


@pytest.mark.parametrize("found", [0, 2])
def test_an_open_gate_in_the_sidebar_names_them(seeded, visit, monkeypatch, found):
    seeded.open().runs.approve_all_pending(seeded.run)
    monkeypatch.setattr("pages._ui.sidebar.leaks", lambda workspace, run: found)
    app = visit("home", **{"_ui.run": seeded.run})
    line = " ".join(str(one.value) for one in app.sidebar.markdown)
    assert "Run open now: " in line
    assert ("Privacy shows 2 leaks" in line) is bool(found)
    assert "A release of the run open now would end it" in line, "nothing is proven of it"


def test_records_that_are_approved_in_part_are_half_done(seeded, monkeypatch):
    workspace = seeded.open()
    corpus, ids = (
        workspace.corpora.get(seeded.corpus),
        [str(one) for one in workspace.runs.synthetic(seeded.run)["record_id"]],
    )
    workspace.runs.approve(seeded.run, ids[:2], "approved")
    workspace.runs.approve(seeded.run, ids[2:3], "rejected")
    monkeypatch.setattr(first_steps, "current_run", lambda workspace, corpus: workspace.runs.get(seeded.run))
    lines = {line.id: line for line in first_steps.steps(workspace, corpus)}
    assert lines["approve"].begun
    assert lines["approve"].has == f"2 of {workspace.runs.get(seeded.run).kept} approved, 1 rejected"
    assert lines["release"].why.endswith(first_steps.ENDS)
    assert lines["examine"].held is lines["examine"].has.startswith((first_steps.ONLY, first_steps.NOBODY))


def test_what_differs_from_the_run_before_names_a_review_that_changed_between(seeded):
    run = seeded.open().runs.get(seeded.run)
    before = replace(run, id="r-before", created="2000", stale=True)
    changed = "the review was changed between the two"
    assert detail.difference(replace(run, stale=False), [before]) == [changed]
    assert detail.difference(replace(run, stale=True), [before]) == [], "both are older than the change"


def test_a_run_that_gets_ready_is_not_said_to_wait(seeded):
    run = replace(seeded.open().runs.get(seeded.run), started=None)
    for state in ("running", "queued"):  # its job's line is drawn anew each second, this one is not
        assert detail.times(replace(run, state=state)) == f"Asked for {when(run.created)}."
    assert detail.times(replace(run, state="cancelled")).endswith(", never started.")


def test_a_run_that_is_released_says_so_first_and_leads_to_its_release(seeded, visit):
    workspace = seeded.open()
    workspace.runs.approve_all_pending(seeded.run)
    assert "run.released" not in {one.key for one in visit("run", **{"run.choice": seeded.run}).button}
    made = workspace.releases.make(seeded.run, "exploratory", accept_unbounded=True)
    run = workspace.runs.get(seeded.run)
    app = visit("run", **{"run.choice": seeded.run})
    said = f"**Released** {when(run.released_at)} · **Examined**"
    assert any(str(one.value).startswith(said) for one in app.markdown)
    kinds = {str(one.key): one.proto.type for one in app.button}
    assert (kinds["run.released"], kinds["run.measured"]) == ("primary", "secondary")
    app.button(key="run.released").click().run()
    assert app.title[0].value == "Release"
    workspace.releases.revoke(made.id, "It was made by mistake.")
    app = visit("run", **{"run.choice": seeded.run})
    assert any(
        str(one.value).startswith(f"**Released** {when(run.released_at)}, and withdrawn") for one in app.markdown
    )
