"""The δ of a limit: one of 1/N or more is set only with a tick, and a share of it is for lists of labels."""

from __future__ import annotations

import pandas as pd

from tests.pages.small import words


def test_a_large_delta_needs_a_tick(small, open_page):
    from engine.corpus.columns.mapping import ColumnMapping

    workspace = small.open()
    table = pd.DataFrame({"text": [f"A note {i} about soup." for i in range(1500)]})
    made = workspace.corpora.import_table(table, ColumnMapping(text="text"), name="Notes", holdout=0.0)
    app = open_page("ledger", **{"_ui.next_corpus": made.id})
    assert "publishing whole records" not in words(app)
    app.number_input(key=f"ledger.limit.delta.{made.id}").set_value(1e-3).run()
    assert "1/N or more (N = 1,500)" in words(app)
    app.button(key="ledger.limit.set").click().run()
    assert workspace.ledger.of(made.id).limit_is_default
    app.checkbox(key=f"ledger.limit.large.{made.id}").check().run()
    app.button(key="ledger.limit.set").click().run()
    assert workspace.ledger.of(made.id).limit_delta == 1e-3


def test_the_share_of_delta_for_lists_is_set_with_the_limit(small, open_page):
    workspace = small.open()
    app = open_page("ledger", **{"_ui.next_corpus": small.corpus})
    view = workspace.ledger.of(small.corpus)
    assert f"Of δ, {view.limit_list_delta:.3g} is set aside for lists of labels" in words(app)
    field = app.number_input(key=f"ledger.limit.lists.{small.corpus}")
    assert field.value == 0.3
    field.set_value(0.0).run()
    app.button(key="ledger.limit.set").click().run()
    assert workspace.ledger.of(small.corpus).limit_list_delta == 0.0
    assert "no run may buy one under this limit" in words(app)
