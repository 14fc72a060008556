"""The tick that declares a list of labels public, on the plan page."""

from __future__ import annotations

import pandas as pd
import pytest

from tests.pages.small import words

PUBLIC = {"plan.method": "public"}


@pytest.fixture
def keys(small):
    return {name: f"plan.labels.{small.corpus}.{name}" for name in ("tick", "withdraw", "list")}


def listed(app) -> list[str]:
    return [label for frame in app.dataframe if "Label" in frame.value.columns for label in frame.value["Label"]]


def test_the_list_is_shown_and_a_tick_declares_it(small, open_page, keys):
    workspace = small.open()
    app = open_page("plan", **PUBLIC)
    known = workspace.labels.known(small.corpus)
    usual = set(known.counts) - set(known.rare)
    assert set(listed(app)) == usual
    assert "does not say whose each record is" not in words(app)
    assert "The outputs carry no labels" in words(app)
    warned = [str(one.value) for one in app.warning]
    assert not any("carry no labels" in said for said in warned), "nobody asked for labels: that is no warning"
    app.checkbox(key=keys["tick"]).check().run()
    assert not app.exception
    found = workspace.labels.known(small.corpus)
    assert set(found.declared) == usual
    assert f"declared public by {found.actor}" in words(app)
    assert f"the list of the {len(found.declared)} labels" in words(app)
    assert "no list of labels" not in words(app)
    app.button(key=keys["withdraw"]).click().run()
    assert workspace.labels.public(small.corpus) == ()
    assert not app.checkbox(key=keys["tick"]).value


def test_a_list_that_looks_like_remarks_is_pointed_at(small, open_page):
    from engine.corpus.columns.mapping import ColumnMapping

    workspace = small.open()
    rows = [
        {"text": f"A note {i} about soup.", "kind": "x" * 61 if i % 2 else "![a](http://evil.example)"}
        for i in range(9)
    ]
    mapping = ColumnMapping(text="text", label="kind")
    made = workspace.corpora.import_table(pd.DataFrame(rows), mapping, name="Remarks", holdout=0.0)
    app = open_page("plan", **PUBLIC, **{"_ui.next_corpus": made.id})
    assert "longer than 60 characters" in words(app)
    assert "The file does not say whose each record is" in words(app)
    assert "evil.example" not in words(app)
    tick = app.checkbox(key=f"plan.labels.{made.id}.tick")
    assert "long or many as they are" in tick.label
    tick.check().run()
    assert len(workspace.labels.public(made.id)) == 2


def test_labels_of_one_person_are_left_out_unless_that_is_unticked(small, open_page):
    from engine.corpus.columns.mapping import ColumnMapping

    workspace = small.open()
    rows = [{"text": f"A note {i} about soup.", "kind": "routine" if i else "HIV unit"} for i in range(9)]
    mapping = ColumnMapping(text="text", label="kind")
    made = workspace.corpora.import_table(pd.DataFrame(rows), mapping, name="Wards", holdout=0.0)
    app = open_page("plan", **PUBLIC, **{"_ui.next_corpus": made.id})
    key = f"plan.labels.{made.id}"
    assert "Leave out 1 label that fewer than 3 people hold" in app.checkbox(key=f"{key}.rare").label
    assert listed(app) == ["routine"]
    app.checkbox(key=f"{key}.rare").uncheck().run()
    assert listed(app) == ["routine", "HIV unit"]
    assert [v for f in app.dataframe if "Label" in f.value for v in f.value["People who hold it"]] == [
        "3 to 9", "fewer than 3",
    ]  # fmt: skip
    tick = app.checkbox(key=f"{key}.tick.1")
    assert "with what it tells of single people" in tick.label
    assert workspace.labels.public(made.id) == ()
    tick.check().run()
    assert workspace.labels.public(made.id) == ("HIV unit", "routine")
    app.button(key=f"{key}.withdraw").click().run()
    app.checkbox(key=f"{key}.rare").check().run()
    app.checkbox(key=f"{key}.tick").check().run()
    assert workspace.labels.public(made.id) == ("routine",)


def test_methods_without_a_formal_claim_do_not_ask(small, open_page, keys):
    app = open_page("plan", **{"plan.method": "filter"})
    assert listed(app) == []
