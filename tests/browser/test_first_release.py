"""The list on the first page leads a newcomer to a released bundle: every press is counted."""

from __future__ import annotations

from typing import Any

import pytest

from engine.release import verify
from tests.browser.test_whole_path import JOB_SECONDS, key, settled, starting, yes_to

MOST_PRESSES = 16  # one of them says that a record of high risk is meant

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(2400)]


class Presses:
    """Presses what it is given, and counts."""

    def __init__(self, page: Any) -> None:
        self.page, self.made = page, list[str]()

    def __call__(self, target: Any, what: str) -> None:
        target.wait_for(timeout=JOB_SECONDS * 1000)
        settled(self.page)
        target.click()
        self.made.append(what)
        settled(self.page)


@pytest.fixture
def acting() -> str:
    return ""


def button(page: Any, name: str) -> Any:
    return key(page, name).get_by_role("button")


def test_from_nothing_to_a_bundle_in_fifteen_presses(server, tab):
    page, requests = tab
    page.goto(server.url)
    press = Presses(page)
    press(button(page, "home.step.sample"), "a made-up sample")
    press(button(page, "home.step.go.review"), "to Review")
    page.get_by_label("Your name").fill("Ann Newcomer")
    press(button(page, "review.actor.keep"), "sign with a name")
    page.locator(".mark[role=button]").first.wait_for()
    press(page.get_by_role("button", name="It goes").first, "accept a finding")
    press(page.get_by_role("link", name="Home"), "Home")
    press(button(page, "home.step.go.run"), "to Plan")
    press(page.get_by_role("button", name="Start: "), "start a run")
    press(button(page, "run.quick"), "quick look")
    press(page.get_by_role("link", name="Home"), "Home")
    waiting = button(page, "home.step.go.examine")
    waiting.wait_for(state="detached", timeout=2 * JOB_SECONDS * 1000)  # the line ticks itself
    press(button(page, "home.step.go.approve"), "to Release")
    press(starting(page, "release.approved.").get_by_role("button"), "approve a record")
    if (yes := yes_to(page)) is not None:
        press(yes, "though its risk is high")
    press(button(page, "release.build"), "build")
    press(button(page, "release.build.sure"), "yes, release it")
    page.get_by_text("1 record released").first.wait_for()
    assert len(press.made) <= MOST_PRESSES, press.made
    (made,) = server.open().releases.all()
    log = server.open().audit.lines()
    assert set(log.loc[log["action"].isin(["review decisions", "records released"]), "actor"]) == {"Ann Newcomer"}
    assert verify(server.workspace / "releases" / made.id)["ok"]
    page.get_by_role("link", name="Home").click()
    page.get_by_text("7 of 7 done").wait_for()
    settled(page)
    assert not button(page, "home.step.go.release").is_visible(), "the list has folded"
    assert requests.foreign() == []
    assert not server.watch.foreign
