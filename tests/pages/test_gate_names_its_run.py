"""Whatever speaks of the gate names the run it speaks of, by the name that the pickers give it."""

from __future__ import annotations

import pytest

from engine.dp.guarantee import Guarantee
from pages._ui.current import run_label
from pages._ui.texts import plain, when
from tests.pages.small import words
from tests.store.making import made_with

PROVEN = Guarantee("dp", "Proven.", epsilon=2.0, delta=1e-6, unit="source", adjacency="zero-out")
NAME = "For *the* board | [x](http://evil.example)"


@pytest.fixture
def twins(small, add_run):
    """Return a workspace with two finished runs of one name, the older one first."""
    workspace = small.open()
    made = [add_run(workspace, small.corpus, [{"text": f"{word} came late."}]) for word in ("Soup", "Bread")]
    for run in made:
        workspace.runs.describe(run, name=NAME, note="")
    return workspace, made


def sidebar(app) -> str:
    """Return what the sidebar says, the lines under the gate as one: name, time, policy."""
    said = "\n".join(str(line.value) for line in app.sidebar.markdown).replace("\u00a0", " ")  # a time stays on a line
    return said.replace("]  \n:small[", " · ")


def test_the_sidebar_names_it_as_the_pickers_do(twins, open_page):
    workspace, made = twins
    for run in made:
        called = run_label(workspace, workspace.runs.get(run))
        app = open_page("privacy", **{"_ui.run": run})
        assert f"Run open now: {plain(called)} · Policy" in sidebar(app)
        assert called in app.selectbox(key="privacy.run").options
    assert run_label(workspace, workspace.runs.get(made[1])).endswith("(2)")


def test_the_release_page_names_it_in_its_bar_its_verdict_and_its_question(twins, open_page):
    workspace, made = twins
    called = plain(run_label(workspace, workspace.runs.get(made[1])))
    app = open_page("release", **{"_ui.run": made[1]})
    told = words(app)
    assert f"closed** for the run {called}." in told
    assert "**Closed**]. Not examined yet" in told
    assert any(f"Exploratory · {called} · " in str(line.value) for line in app.markdown), "the bar, before a decision"
    assert "](http" not in told.replace("\\]", "")


@pytest.mark.parametrize(("page", "picker"), [("release", "release.run"), ("run", "run.choice")])
def test_another_run_chosen_on_a_page_is_the_sidebars_at_once(twins, open_page, page, picker):
    workspace, made = twins
    app = open_page(page, **{"_ui.run": made[1]})
    app.selectbox(key=picker).set_value(made[0]).run()
    assert app.selectbox(key=picker).value == made[0]
    assert plain(run_label(workspace, workspace.runs.get(made[0]))) + " · Policy" in sidebar(app)


def test_the_sidebar_says_of_a_released_run_that_it_was(twins, open_page):
    workspace, made = twins
    made_with(workspace.session, made[1], guarantee=PROVEN.as_dict())
    workspace.runs.approve_all_pending(made[1])
    bundle = workspace.releases.make(made[1], "proof", signed_off_by="Bo Second")
    corpus = workspace.runs.get(made[1]).corpus_id
    workspace.plan.remember(corpus, {"recipients": "public"})
    said = sidebar(open_page("review", **{"_ui.run": made[1]}))
    assert f"Released {when(bundle.created)} under “Proof alone”: 1 record." in said
    assert "Closed" not in said
    assert "Released" not in sidebar(open_page("review", **{"_ui.run": made[0]})), "the other one was not"
    workspace.plan.remember(corpus, {"recipients": "public", "policy": "public", "policy_for": "public"})
    said = sidebar(open_page("review", **{"_ui.run": made[1]}))
    assert "Closed. Not examined yet" in said, "under another policy it was not"
    assert said.index("Closed.") < said.index("Released"), "but it was"
    workspace.plan.remember(corpus, {"recipients": "public"})
    workspace.releases.revoke(bundle.id, "It was made by mistake.")
    assert "Released" not in sidebar(open_page("review", **{"_ui.run": made[1]})), "it was withdrawn"


def test_a_proof_alone_that_was_chosen_for_one_run_is_not_asked_of_another_without_one(twins, open_page):
    workspace, made = twins
    made_with(workspace.session, made[0], guarantee=PROVEN.as_dict())
    app = open_page("release", **{"_ui.run": made[0]})
    app.radio(key="release.policy.choice").set_value("proof").run()
    assert "Policy chosen on Release: Proof alone" in sidebar(app)
    app.selectbox(key="release.run").set_value(made[1]).run()
    assert app.radio(key="release.policy.choice").value == "exploratory"
    assert "Proof alone" not in sidebar(app)
    app.selectbox(key="release.run").set_value(made[0]).run()
    assert app.radio(key="release.policy.choice").value == "proof", "it is kept with its run"
    assert "Proof alone" in sidebar(open_page("review", **{"_ui.run": made[0]}))
    assert "Proof alone" not in sidebar(open_page("review", **{"_ui.run": made[1]}))
    app = open_page("release", **{"_ui.run": made[1]})
    app.radio(key="release.policy.choice").set_value("proof").run()
    assert app.radio(key="release.policy.choice").value == "proof", "whoever asks for it there sees it"
    assert "Policy chosen on Release: Proof alone" in sidebar(app)


def test_a_run_that_ends_meanwhile_takes_nobodys_place(twins, add_run, open_page):
    workspace, made = twins
    app = open_page("review")
    called = plain(run_label(workspace, workspace.runs.get(made[1])))
    assert f"Run open now: {called}" in sidebar(app), "the newest at first"
    corpus = workspace.runs.get(made[1]).corpus_id
    newest = add_run(workspace, corpus, [{"text": "Salt came late."}])
    app.run()
    assert f"Run open now: {called}" in sidebar(app)
    workspace.runs.delete(made[1])
    app.run()
    assert f"Run open now: {plain(run_label(workspace, workspace.runs.get(newest)))}" in sidebar(app)
