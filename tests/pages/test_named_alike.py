"""Two runs, corpora or studies that are called alike are two options of every picker: a picker tells by its labels."""

from __future__ import annotations

import json

import pytest

from pages._ui.current import corpus_names, distinct, run_names
from tests.pages.test_studies import add_study
from tests.pages.test_utility import plane

TWIN = "The same name"


@pytest.fixture
def twins(seeded, add_run, examine):
    """Return three examined runs of one corpus and one name, oldest first."""
    workspace = seeded.open()
    third = add_run(workspace, seeded.corpus, [{"text": f"Point {i}.", "label": None} for i in range(12)])
    workspace.examinations.save_tables(third, {"map": plane(seeded, third)})
    examine(workspace, third, groups=("utility",))
    for run in (seeded.run, seeded.other, third):
        workspace.runs.describe(run, name=TWIN, note="")
    return workspace, [seeded.run, seeded.other, third]


def test_a_number_is_never_given_twice():
    named = {"a": "Filter", "b": "Filter (2)", "c": "Filter", "d": "Other", "e": "Filter"}
    assert distinct(named) == {"a": "Filter", "b": "Filter (2)", "c": "Filter (3)", "d": "Other", "e": "Filter (4)"}


def test_a_run_is_called_the_same_on_every_page(twins, visit):
    workspace, runs = twins
    labels = run_names(workspace.runs.all(workspace.runs.get(runs[0]).corpus_id))
    assert list(labels) == runs[::-1]  # newest first, the oldest without a number
    wanted = {labels[run] for run in runs}
    assert len(wanted) == 3
    assert labels[runs[1]].endswith("(2)")
    assert set(visit("run").selectbox(key="run.choice").options) == wanted
    assert set(visit("privacy").selectbox(key="privacy.run").options) == wanted
    beside = visit("privacy", **{"_ui.run": runs[0]}).selectbox(key="privacy.beside").options
    assert set(beside) == {"no other run", labels[runs[1]], labels[runs[2]]}
    compare = visit("compare", **{"compare.view": "Texts"})
    assert set(compare.multiselect(key="compare.runs").options) == wanted


def test_each_of_three_alike_opens_itself(twins, visit):
    _, (first, second, third) = twins
    app = visit("compare", **{"compare.view": "Texts", "compare.runs": [third, first]})
    app.multiselect(key="compare.runs").set_value([second, first]).run()
    assert app.multiselect(key="compare.runs").value == [second, first]
    app = visit("privacy", **{"_ui.run": first, "privacy.view": "People at risk"})
    app.selectbox(key="privacy.beside").set_value(second).run()
    assert app.selectbox(key="privacy.beside").value == second


def test_the_map_draws_both_of_two_alike(twins, seeded, visit):
    workspace, (first, second, third) = twins
    for run in (first, second):
        workspace.examinations.save_tables(run, {"map": plane(seeded, run)})
    app = visit("utility", **{"_ui.run": third, "utility.view": "Map of texts"})
    app.multiselect(key=f"utility.map.others.{third}").set_value([first, second]).run()
    drawn = json.loads(app.get("plotly_chart")[0].spec)["data"]
    assert len({p[2] for trace in drawn for p in trace["customdata"] if p[1] == "synthetic"}) == 3


def test_of_two_corpora_alike_the_named_one_is_opened_and_deleted(empty, visit, import_small):
    import engine

    workspace = engine.open_workspace(empty)
    older, newer = import_small(workspace).id, import_small(workspace).id
    assert corpus_names(workspace) == {newer: "Small (2)", older: "Small"}
    app = visit("settings")
    app.selectbox(key="sidebar.corpus").set_value(older).run()
    assert app.selectbox(key="sidebar.corpus").value == older
    app.selectbox(key="settings.delete.corpus").set_value(newer).run()
    app.text_input(key=f"settings.delete.name.{newer}").set_value("Small").run()
    assert app.button(key="settings.delete.do").disabled  # the name of the other one
    app.text_input(key=f"settings.delete.name.{newer}").set_value("Small (2)").run()
    app.button(key="settings.delete.do").click().run()
    assert [corpus.id for corpus in workspace.corpora.all()] == [older]


def test_home_calls_two_corpora_alike_as_the_sidebar_does(empty, visit, import_small):
    import engine

    workspace = engine.open_workspace(empty)
    older, newer = import_small(workspace).id, import_small(workspace).id
    app = visit("home")
    called = {name: app.button(key=f"home.then.go.{name}").label.rpartition(" · ")[2] for name in (older, newer)}
    assert called == {newer: "Small (2)", older: "Small"}
    assert any("with Small (2)" in box.label for box in app.expander)
    app.button(key=f"home.delete.{newer}").click().run()
    assert any(str(line.value).startswith("**Small (2)**: its text") for line in app.markdown)


def test_two_studies_of_one_minute_are_two_options(seeded, visit):
    workspace = seeded.open()
    first, second = (add_study(workspace, seeded.corpus) for _ in range(2))
    app = visit("compare", **{"compare.view": "Studies", "study.run": second})
    app.selectbox(key="study.run").set_value(first).run()
    assert app.selectbox(key="study.run").value == first
    assert len(set(app.selectbox(key="study.run").options)) == 2
