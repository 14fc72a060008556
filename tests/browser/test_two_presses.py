"""A button pressed twice before the page answers starts its work once: runs and imports."""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.test_whole_path import goto, key, sample_as_csv, settled, starting, wait_for

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
GAP = 80  # milliseconds between the presses, as in a fast double click


def press_twice(page: Any, button: Any) -> None:
    """Press the place where a button stands twice, whatever stands there the second time."""
    button.scroll_into_view_if_needed()
    box = button.bounding_box()
    place = box["x"] + 12, box["y"] + box["height"] / 2
    page.mouse.click(*place)
    page.wait_for_timeout(GAP)
    page.mouse.click(*place)


def test_start_pressed_twice_makes_one_run(server, tab):
    page, _ = tab
    workspace = server.open()
    corpus = workspace.corpora.import_sample("support_tickets")
    workspace.review.use_gold(corpus.id)
    page.goto(server.url)
    settled(page)
    goto(page, "Plan")
    press_twice(page, key(page, "plan.start").get_by_role("button"))
    page.get_by_role("heading", level=1, name="Runs").wait_for()
    settled(page)
    wait_for(lambda: bool(workspace.runs.all(corpus.id)), 20, "no run was made")
    page.wait_for_timeout(1500)  # a second run would be there by now
    assert len(workspace.runs.all(corpus.id)) == 1


def test_a_sample_and_a_file_are_imported_once(server, tab):
    page, _ = tab
    workspace = server.open()
    page.goto(server.url)
    settled(page)
    press_twice(page, starting(page, "home.sample.try").first.get_by_role("button"))
    key(page, "sidebar.corpus").wait_for()
    settled(page)
    assert len(workspace.corpora.all()) == 1
    goto(page, "Load")
    page.locator("input[type=file]").set_input_files(
        [{"name": "a_b*c.csv", "mimeType": "text/csv", "buffer": sample_as_csv()}]
    )
    button = key(page, "load.import").get_by_role("button")
    button.wait_for()
    settled(page)
    press_twice(page, button)
    page.get_by_text("a_b*c was imported").wait_for()  # its name as it is, without marks of Markdown
    settled(page)
    assert len(workspace.corpora.all()) == 2
