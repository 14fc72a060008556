"""The frame around every page: sidebar, leaving, folders that cannot be opened."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from pages._ui import navigation
from tests.pages.small import ROOT, labels, words


class TestFrame:
    def test_sidebar_says_what_is_known_of_a_corpus(self, small, open_page):
        app = open_page("home")
        text = words(app)
        assert "each person, with all their records" in text
        assert "0% of ε = 10 in use" in text
        assert app.button(key="sidebar.to.review").label == "**Missed identifiers**"
        assert not app.sidebar.get("progress"), "a bar of nothing would be an empty line"
        assert "No finished run yet" in text
        assert r"Tickets \*80\*" in text, "names are escaped"

    @pytest.mark.parametrize(
        ("page", "title"),
        [("load", "Load"), ("review", "Review"), ("ledger", "Ledger and audit"), ("release", "Release")],
    )
    def test_the_heads_of_the_sidebar_lead_to_their_page(self, small, open_page, page, title):
        app = open_page("home")
        app.button(key=f"sidebar.to.{page}").click().run()
        assert not app.exception
        assert app.title[0].value == title

    def test_a_folder_that_cannot_be_opened_fills_the_page(self, tmp_path, monkeypatch):
        path = tmp_path / "file"
        path.write_text("not a folder")
        monkeypatch.setenv("UNDERSTUDY_WORKSPACE", str(path))
        app = AppTest.from_file(str(ROOT / "pages/_ui/main.py"), default_timeout=30).run()
        assert not app.exception
        assert app.title[0].value == "The workspace cannot be opened"
        assert len(app.error) == 1
        assert not app.selectbox

    def test_a_page_reached_without_the_menu_shows_nothing(self, small):
        app = AppTest.from_file(str(ROOT / "pages/home.py"), default_timeout=30).run()
        assert app.title[0].value == "Please open this page through the menu"
        assert "Tickets" not in words(app)

    def test_leaving_draws_no_page_and_coming_back_does(self, small, open_page):
        app = open_page("home", **{"_ui.left": "stopped"})
        assert app.title[0].value == "You have left"
        assert "worker has stopped" in words(app)
        app.button(key="sidebar.leave.return").click().run()
        assert app.title[0].value == "Home"

    def test_leave_offers_to_keep_or_stop_the_worker(self, small, open_page):
        app = open_page("home")
        app.button(key="sidebar.leave").click().run()
        assert {"Keep the worker running", "Stop the worker"} <= set(labels(app))

    def test_running_job_shows_in_the_sidebar_of_another_page(self, small, open_page):
        small.open().jobs.detect(small.corpus)
        app = open_page("home")
        assert "Looking for identifiers" in words(app)
        assert "Waiting for its turn" in [bar.proto.text for bar in app.get("progress")]


def test_home_has_an_address_of_its_own_which_leads_to_the_first_page(monkeypatch):
    """Streamlit gives the default page the address `/` alone, and says of any other that there is no such page."""
    made, gone = [], []
    monkeypatch.setattr(navigation.st, "Page", lambda page, **how: made.append((page, how)) or page)
    monkeypatch.setattr(navigation.st, "switch_page", gone.append)
    navigation.streamlit_pages(lambda right: True)
    addresses = [how["url_path"] for _, how in made]
    assert len(set(addresses)) == len(addresses)
    ((page, how),) = [(page, how) for page, how in made if how["url_path"] == "home"]
    assert how["visibility"] == "hidden"
    page()
    assert gone == [navigation.page_path("home")]


def test_the_budget_line_is_amber_once_almost_nothing_is_left(small, open_page, monkeypatch):
    from dataclasses import replace

    from engine.store.budget.ledger import Ledger

    of = Ledger.of
    for share, left, said in (
        (0.995, 0.334, ":orange[99% of ε = 10 in use: almost nothing is left]"),
        (1.0, 0.0, ":orange[Nothing left of ε = 10]"),
        (0.3, 6.8, "30% of ε = 10 in use"),
    ):

        def view(self, corpus_id, share=share, left=left):
            return replace(of(self, corpus_id), share=share, remaining_epsilon=left)

        monkeypatch.setattr(Ledger, "of", view)
        lines = [str(line.value) for line in open_page("home").sidebar.markdown]
        assert said in lines, share
