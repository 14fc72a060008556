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
    return [
        label for frame in app.dataframe if list(frame.value.columns) == ["Label"] for label in frame.value["Label"]
    ]


def test_the_list_is_shown_and_a_tick_declares_it(small, open_page, keys):
    workspace = small.open()
    app = open_page("plan", **PUBLIC)
    assert set(listed(app)) == set(workspace.labels.counts(small.corpus))
    assert "The outputs carry no labels" in words(app)
    app.checkbox(key=keys["tick"]).check().run()
    assert not app.exception
    found = workspace.labels.known(small.corpus)
    assert set(found.declared) == set(found.counts)
    assert f"declared public by {found.actor}" in words(app)
    assert f"the list of the {len(found.declared)} labels" in words(app)
    assert "no list of labels" not in words(app)
    app.button(key=keys["withdraw"]).click().run()
    assert workspace.labels.public(small.corpus) == ()
    assert not app.checkbox(key=keys["tick"]).value


def test_a_list_that_looks_like_remarks_is_pointed_at(small, open_page):
    from engine.corpus.mapping import ColumnMapping

    workspace = small.open()
    rows = [
        {"text": f"A note {i} about soup.", "kind": "x" * 61 if i else "![a](http://evil.example)"} for i in range(9)
    ]
    mapping = ColumnMapping(text="text", label="kind")
    made = workspace.corpora.import_table(pd.DataFrame(rows), mapping, name="Remarks", holdout=0.0)
    app = open_page("plan", **PUBLIC, **{"_ui.next_corpus": made.id})
    assert "longer than 60 characters" in words(app)
    assert "evil.example" not in words(app)
    tick = app.checkbox(key=f"plan.labels.{made.id}.tick")
    assert "long or many as they are" in tick.label
    tick.check().run()
    assert len(workspace.labels.public(made.id)) == 2


def test_methods_without_a_formal_claim_do_not_ask(small, open_page, keys):
    app = open_page("plan", **{"plan.method": "filter"})
    assert listed(app) == []
