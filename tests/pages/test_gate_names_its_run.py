"""Whatever speaks of the gate names the run it speaks of, by the name that the pickers give it."""

from __future__ import annotations

import pytest

from pages._ui.current import run_label
from pages._ui.texts import plain
from tests.pages.small import words

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
