"""The frame around every page: sidebar, leaving, folders that cannot be opened."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

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
