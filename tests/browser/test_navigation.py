"""Every station stands in the navigation on a small screen, none of them behind a number."""

from __future__ import annotations

import pytest

from pages._ui.navigation import PAGES
from tests.browser.test_whole_path import settled

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]


@pytest.mark.parametrize("width", [1024, 1440])
def test_every_station_is_in_sight_beside_the_sidebar(server, tab, width):
    page, _ = tab
    page.set_viewport_size({"width": width, "height": 800})
    server.open().corpora.import_sample("support_tickets")
    page.goto(server.url)
    settled(page)
    page.get_by_test_id("stSidebar").wait_for()
    links = page.get_by_test_id("stTopNavLink")
    shown = [link.inner_text().strip() for link in links.all() if link.is_visible()]
    assert shown == [one.title for one in PAGES if not one.section]
    last = links.filter(has_text="Release").bounding_box()
    assert last["x"] + last["width"] < width
    assert page.get_by_test_id("stTopNavSection").count() == 1, (
        "the workspace's own pages, and nothing that did not fit"
    )


def test_the_first_page_has_an_address_by_its_name(server, tab):
    page, _ = tab
    page.goto(f"{server.url.rstrip('/')}/home")
    settled(page)
    page.wait_for_url(lambda address: address.split("?")[0].rstrip("/") == server.url.split("?")[0].rstrip("/"))
    page.get_by_role("heading", name="Home", exact=True).wait_for()
    assert "Page not found" not in page.inner_text("body")
