"""The switch on the plan page that puts the filter behind the chosen method."""

import pytest

import engine


@pytest.mark.parametrize(
    ("method", "promise"), [("surrogate", "corpus' own detector"), ("public", "public rules alone")]
)
def test_a_run_with_the_filter_behind_its_method_is_queued(seeded, visit, method, promise):
    app = visit("plan", **{"plan.method": method})
    switch = next(t for t in app.toggle if t.label == "Filter what comes out")
    assert promise in switch.help
    switch.set_value(True).run()
    assert not app.exception, app.exception
    assert [t for t in app.text_area if t.label == "Filter: phrases no text may come near to"]
    next(b for b in app.button if b.label.startswith("Start: ")).click().run()
    assert not app.exception, app.exception
    workspace = engine.open_workspace(seeded.path)
    assert [r.method for r in workspace.runs.all(seeded.corpus) if r.state == "queued"] == [f"filter:{method}"]


def test_the_filter_itself_has_no_switch(seeded, visit):
    app = visit("plan", **{"plan.method": "filter"})
    assert not [t for t in app.toggle if t.label == "Filter what comes out"]


def test_advice_on_the_budget_stands_above_the_start(seeded, visit):
    app = visit("plan", **{"plan.method": "rpsg-public"})
    app.selectbox(key=f"plan.set.{seeded.corpus}.rpsg-public.labels").set_value("public").run()
    assert not app.exception, app.exception
    assert any("signal-to-noise ratio" in text.value for text in app.caption)
    assert any("**Mostly noise:**" in text.value for text in app.markdown)
