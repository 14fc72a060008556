"""A run that was looked at, is being looked at, or was left behind by the review: every page says the same of it."""

from __future__ import annotations

import pytest

from engine.dp.guarantee import Guarantee
from engine.store import queue
from pages._ui.release import policy as release_policy
from pages._ui.release.records import STALE
from tests.pages.small import words
from tests.store.making import made_with

PROOF = Guarantee(
    "dp", "Proven.", epsilon=2.0, delta=1e-6, unit="source", adjacency="zero-out", scope="the complete output"
)
SAID = "Examined in part (8 of 34): it can no longer leave under “Proof alone”"
BEFORE = "afterwards this run can no longer leave"
CHOSEN = {"release.policy.choice": "research"}


@pytest.fixture
def proven(small, add_run):
    """Return a workspace, and a run with a proof that nobody has looked at; researchers are to read it."""
    workspace = small.open()
    run = add_run(workspace, small.corpus, [{"text": f"Soup {n} came late."} for n in range(3)], method="aug-pe")
    made_with(workspace.session, run, guarantee=PROOF.as_dict(), needs_spans=False)
    workspace.plan.remember(small.corpus, {"recipients": "researchers"})
    return workspace, run


def stop(workspace, run: str) -> None:
    """Leave an examination of which eight parts of 34 were kept."""
    job_id = work(workspace, run)
    with workspace.session.db.write() as connection:
        workspace.examinations.look(connection, run)
        queue.progress(connection, job_id, cursor={"kept": 8, "parts": 34, "state": ""})
        queue.finish(connection, job_id, "cancelled")


def work(workspace, run: str) -> str:
    """Leave an examination at work."""
    job_id = workspace.jobs.examine(run)
    with workspace.session.db.write() as connection:
        assert queue.claim(connection, "heavy").id == job_id
    return job_id


def decide(app, action: str):
    """Return the button that decides on the record shown."""
    return next(one for one in app.button if (one.key or "").startswith(f"release.{action}."))


@pytest.mark.parametrize("page", ["release", "run", "privacy"])
def test_an_examination_that_was_stopped_is_said_alike_everywhere(proven, open_page, page):
    workspace, run = proven
    stop(workspace, run)
    app = open_page(page, **{"_ui.run": run, "run.choice": run}, **CHOSEN)
    told = words(app)
    assert f"{SAID}{' · 3 undecided' if page == 'run' else '.'}" in told
    assert told.count(SAID) == 2 or page != "run", "Runs says it once, and the sidebar"
    assert BEFORE not in told
    assert f"Closed. {SAID}." in "\n".join(str(line.value) for line in app.sidebar.markdown)


def test_the_policy_that_is_preselected_goes_by_the_readers_and_by_who_looked(proven, small, open_page):
    workspace, run = proven
    app = open_page("release", **{"_ui.run": run})
    assert app.radio(key=release_policy.CHOICE).value == "proof"
    assert "Proposed, since this run has a proof and nobody examined it." in words(app)
    assert "Policy for a proof that nobody examined: Proof alone" in words(app)
    stop(workspace, run)
    app.run()
    assert app.radio(key=release_policy.CHOICE).value == "research", "what was proposed is no choice of a person"
    assert "As answered on Plan." in words(app)
    app.radio(key=release_policy.CHOICE).set_value("proof").run()
    again = open_page("release", **{"_ui.run": run})
    assert again.radio(key=release_policy.CHOICE).value == "proof", "what a person chose stays"
    assert "Policy chosen on Release: Proof alone" in words(again)
    assert "For the readers named on Plan “Research release” holds, which goes by measurements." in words(again)


def test_what_does_not_matter_before_is_folded_and_nothing_impossible_would_help(proven, open_page):
    workspace, run = proven
    stop(workspace, run)
    app = open_page("release", **{"_ui.run": run, "release.policy.choice": "proof"})
    (box,) = (one for one in app.expander if "do not matter before" in one.label)
    folded = "\n".join(str(one.value) for one in box.markdown)
    assert "The whole output leaves" in folded
    open_ones = words(app).split("do not matter before")[0]
    assert "This run was examined in part (8 of 34); “Proof alone” takes one that nobody looked at." in open_ones
    assert words(app).count("Approve every record (") == folded.count("Approve every record (") == 1, (
        "said once of them all"
    )
    assert not [one for one in app.button if one.key == f"release.examine.{run}"], "examining opens nothing here"


def test_while_it_is_examined_the_release_page_leads_to_that(proven, open_page):
    workspace, run = proven
    work(workspace, run)
    app = open_page("release", **{"_ui.run": run}, **CHOSEN)
    assert app.button(key=f"release.examine.{run}").label == "Watch the examination"
    told = words(app)
    assert "The run is being examined." in told
    assert "The run was not examined" not in told
    assert "was not examined, so no record has a risk" not in told
    assert BEFORE not in told


def test_a_run_that_is_out_of_date_takes_no_decision_and_says_why_once(small, open_page, add_run):
    workspace = small.open()
    run = add_run(workspace, small.corpus, [{"text": f"Soup {n} came late."} for n in range(3)])
    made_with(workspace.session, run, revision=-1)
    with workspace.session.db.write() as connection:
        connection.exec_driver_sql("UPDATE synthetic SET risk = 0.96 WHERE run_id = ?", (run,))
    assert workspace.runs.get(run).stale
    app = open_page("release", **{"_ui.run": run, f"{release_policy.FOLDED}.{run}": True})
    assert all(decide(app, action).disabled for action in ("approved", "rejected", "pending"))
    assert not decide(app, "next").disabled
    assert not [one for one in app.button if (one.key or "").startswith("release.rest.")]
    assert words(app).count(str(STALE)) == 1
    assert "Risk" not in app.dataframe[0].value.columns
    assert "0.96" not in words(app)
    assert "Riskiest first" not in words(app)


def test_the_bar_names_the_rule_that_the_check_list_begins_with(small, open_page, add_run):
    run = add_run(small.open(), small.corpus, [{"text": "Soup came late."}])
    app = open_page("release", **{"_ui.run": run, "release.policy.choice": "proof"})
    assert "Not met: “The method carries a formal guarantee” and" in words(app)
    assert "Not met: “Nothing private had a say”" not in words(app)


def test_under_proof_alone_all_is_read_and_approved_and_nothing_leads_to_an_examination(proven, open_page):
    workspace, run = proven
    app = open_page("release", **{"_ui.run": run, "release.policy.choice": "proof"})
    assert "Under “Proof alone” nothing is measured: read the records, then approve what is left, 3 records." in words(
        app
    )
    assert "Privacy page" not in words(app)
    assert words(app).count("Approve every record (0 of 3 so far), or choose another policy.") == 1, (
        "one help for three"
    )
    assert "Approve or reject" not in words(app)
    app.button(key=f"release.rest.all.{run}").click().run()
    assert workspace.runs.approval_counts(run)["approved"] == 0
    assert "**3 records that nobody decided on are approved unread.**" in words(app)
    decide(app, "approved").click().run()
    assert "**2 records that nobody decided on" in words(app), "the question is of what is left"
    app.button(key=f"release.rest.unread.{run}").click().run()
    assert workspace.runs.approval_counts(run)["approved"] == 3
    app.text_input(key="release.second").set_value("Mary Second").run()
    next(one for one in app.checkbox if (one.key or "").startswith("release.second.signs.")).check().run()
    app.button(key="release.build").click().run()
    assert "No risk is known: nobody examined this run. None stays here." in words(app)
    app.button(key="release.build.sure").click().run()
    (made,) = workspace.releases.all()
    assert made.second_person == "Mary Second"
    assert "Second person: Mary Second (name typed, no sign-in)" in words(app)


def test_under_another_policy_it_is_said_what_examining_a_run_with_a_proof_ends(proven, open_page):
    app = open_page("release", **{"_ui.run": proven[1], "release.policy.choice": "exploratory"})
    assert "so no record has a risk. Examining looks at private text: afterwards this run can no longer" in words(app)
    assert "Examine it on the Privacy page first" not in words(app)
