"""Home, empty and full."""

from __future__ import annotations

import engine
from tests.pages.small import labels


class TestHome:
    def test_empty_offers_own_text_and_three_samples(self, empty, visit):
        app = visit("home")
        assert "Load your own" in labels(app)
        assert {"Try clinic letters", "Try support tickets", "Try court decisions"} <= set(labels(app))

    def test_next_step_of_a_row_leads_to_its_page(self, small, open_page):
        app = open_page("home")
        app.button(key=f"home.next.{small.corpus}").click().run()
        assert app.title[0].value == "Review"

    def test_rename(self, small, open_page):
        app = open_page("home")
        app.text_input(key=f"home.name.{small.corpus}").set_value("Letters 2021")
        app.button(key=f"home.rename.{small.corpus}").click().run()
        assert small.open().corpora.get(small.corpus).name == "Letters 2021"

    def test_delete_asks_first(self, small, open_page):
        app = open_page("home")
        app.button(key=f"home.delete.{small.corpus}").click().run()
        assert len(small.open().corpora.all()) == 2, "nothing goes before the second question"
        app.button(key=f"home.delete.sure.{small.corpus}").click().run()
        assert [corpus.id for corpus in small.open().corpora.all()] == [small.bare]
        assert not app.exception

    def test_sample_is_imported_and_becomes_current(self, empty, visit):
        app = visit("home")
        app.button(key="home.sample.try.court_decisions").click().run()
        assert not app.exception
        assert [corpus.name for corpus in engine.open_workspace(empty).corpora.all()] == ["Court decisions"]
        assert app.selectbox(key="sidebar.corpus").value == engine.open_workspace(empty).corpora.all()[0].id
