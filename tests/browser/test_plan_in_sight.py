"""What was chosen on Plan is in sight with Start, on the screen that the page is made for."""

from __future__ import annotations

import pytest

from tests.browser.test_whole_path import settled, wait_for

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]


def test_a_chosen_card_that_is_not_recommended_stands_whole_above_the_bar(server, tab):
    page, _ = tab
    page.set_viewport_size({"width": 1440, "height": 900})
    workspace = server.open()
    corpus = workspace.corpora.import_sample("clinic_letters")
    workspace.plan.remember(corpus.id, {"method": "surrogate"})
    page.goto(f"{server.url.rstrip('/')}/plan")
    settled(page)
    cards = page.locator(".st-key-plan-cards .card")
    cards.first.wait_for()
    chosen, dock = page.locator(".st-key-plan-cards .card[aria-pressed=true]"), page.locator(".st-key-plan-dock")
    assert cards.count() > 4, "more than a row, and the chosen one"
    assert chosen.get_attribute("data-id") == "surrogate"
    dock.wait_for()
    place, bar = chosen.bounding_box(), dock.bounding_box()
    assert place["y"] + place["height"] < bar["y"] < bar["y"] + bar["height"] <= 900
    assert chosen.locator(".does").is_visible(), "what the chosen method does is said"
    assert not cards.nth(1).locator(".does").is_visible()
    cards.nth(1).click()
    page.locator(".st-key-plan-cards .card[aria-pressed=true]:not([data-id=surrogate])").wait_for()
    settled(page)
    stayed = page.locator(".st-key-plan-cards .card[data-id=surrogate]")
    assert stayed.bounding_box()["y"] == place["y"], "no card moved under the pointer"


def test_the_sidebar_follows_the_readers_at_once(server, tab):
    page, _ = tab
    workspace = server.open()
    corpus = workspace.corpora.import_sample("support_tickets")
    workspace.review.use_gold(corpus.id)
    run_id = workspace.jobs.synthesize(corpus.id, "surrogate", count=3)
    wait_for(lambda: workspace.runs.get(run_id).state == "done", 120, "the surrogates did not end")
    page.goto(f"{server.url.rstrip('/')}/plan")
    settled(page)
    beside = page.locator('[data-testid="stSidebar"]')
    beside.get_by_text("no readers named yet").wait_for()
    page.get_by_role("combobox", name="Who will receive the text?").click()
    page.get_by_role("option", name="Researchers").click()
    beside.get_by_text("Policy of the readers on Plan: Research release").wait_for()
