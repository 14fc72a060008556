"""What becomes of text that says nothing: the choice on the plan page and what is said of it."""

import pytest

import engine


@pytest.mark.parametrize(("method", "first", "other"), [("public", "drop", "flag"), ("surrogate", "flag", "drop")])
def test_the_choice_stands_on_the_plan_page_and_reaches_the_run(seeded, visit, method, first, other):
    app = visit("plan", **{"plan.method": method})
    control = next(c for c in app.get("button_group") if c.label == "Text that says nothing")
    assert "English" in control.help
    assert "fewer outputs" in control.help
    assert not [box for box in app.selectbox if box.label == "Unreadable"]  # asked once
    control.set_value(other).run()
    assert not app.exception, app.exception
    next(b for b in app.button if b.label.startswith("Start: ")).click().run()
    workspace = engine.open_workspace(seeded.path)
    (run,) = [r for r in workspace.runs.all(seeded.corpus) if r.state == "queued"]
    assert run.parameters["unreadable"] == other != first
