"""Every page and every view in it: axe in both themes, nothing wider than a narrow window, all of it by keyboard."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.browser.test_whole_path import check_accessibility, goto, settled, wait_for

OUTPUTS, SECONDS = 12, 900  # of a job, on a machine that others use too
NARROW = {"width": 1024, "height": 800}
VIEWS: dict[str, tuple[str, ...]] = {
    "Home": (),
    "Load": ("Load a file", "What was loaded"),
    "Review": (
        "Value by value", "By type and confidence", "Named people", "Spot check", "Detector settings",
        "Text by text",
    ),
    "Plan": (),
    "Runs": (),
    "Privacy": (
        "Leaks", "Proof and attacks", "People at risk", "Membership", "Curves", "Canaries and audit", "Groups",
        "All numbers",
    ),
    "Utility": (
        "Measures", "Map of texts", "Lengths and phrases", "Classifier", "What the numbers mean", "All numbers",
    ),
    "Compare": ("Board", "Side by side", "Table", "Texts", "Studies"),
    "Release": (),
    "Ledger": ("This corpus", "Whole workspace"),
    "Pools": (),
    "Models": (),
    "Settings": (),
}  # fmt: skip
MOST_STEPS = 400  # presses of Tab after which a page is said to hold the focus
# Tab stops once in a group of choices; the arrows move within it. How many choices the group of the focus has, or 0.
CHOICES = """() => document.activeElement?.closest('[role=radiogroup], [role=toolbar]')
    ?.querySelectorAll('button').length || 0"""
# What takes the focus in the part of the page that is drawn, in words: what it is, and what it is called.
FOCUSED = """() => {
    const at = document.activeElement
    if (!at || at === document.body) return null
    const box = at.getBoundingClientRect()
    return {name: (at.getAttribute('aria-label') || at.innerText || at.type || '').trim().slice(0, 60),
            tag: at.tagName, drawn: box.width > 0 && box.height > 0}
}"""
PRESSABLE = """() => [...document.querySelectorAll('[data-testid=stMain] button')]
    .filter(one => !one.disabled && one.tabIndex >= 0 && one.getBoundingClientRect().width > 0
                   && one.checkVisibility({contentVisibilityAuto: true, visibilityProperty: true})
                   && !one.closest('[data-testid=stDataFrame]') && !one.closest('[data-testid=stElementToolbar]'))
    .map(one => (one.getAttribute('aria-label') || one.innerText).trim().slice(0, 60))"""

pytestmark = [pytest.mark.browser, pytest.mark.long, pytest.mark.timeout(3600)]


@pytest.fixture
def workspace(server) -> Any:
    """Return the workspace of the server with two examined runs of made-up tickets, one of them named."""
    opened = server.open()
    corpus = opened.corpora.import_sample("support_tickets").id
    opened.review.use_gold(corpus)
    runs = [opened.jobs.synthesize(corpus, method, count=OUTPUTS) for method in ("surrogate", "public")]
    for run in runs:
        done(opened, opened.runs.get(run).job_id)
        done(opened, opened.jobs.examine(run, model_attacks=False))
    opened.runs.describe(runs[0], name="The second one, for the team that trains the classifier", note="")
    return opened


def done(opened: Any, job: str) -> None:
    wait_for(lambda: opened.jobs.get(job).state in ("done", "failed"), SECONDS, "a job did not end")
    assert opened.jobs.get(job).state == "done"


def visited(page: Any) -> Any:
    """Yield each page and view as it stands drawn, by name."""
    for title, views in VIEWS.items():
        goto(page, title)
        for view in views or ("",):
            if view:
                main = page.get_by_test_id("stMain")
                main.locator("label").filter(has_text=re.compile(f"^{re.escape(view)}")).first.click()
                settled(page)
                page.wait_for_timeout(500)
            yield f"{title}, {view}".rstrip(", ")


def wider(page: Any) -> int:
    """Return by how many pixels the page is wider than its window."""
    script = """() => Math.max(...[document.documentElement, ...document.querySelectorAll('[data-testid=stMain]')]
        .map(one => one.scrollWidth - one.clientWidth))"""
    return int(page.evaluate(script))


def test_every_view_in_both_themes_on_a_narrow_window(server, tab, workspace):
    page, requests = tab
    page.set_viewport_size(NARROW)
    page.goto(server.url)
    settled(page)
    for name in visited(page):
        check_accessibility(page, name)
        assert wider(page) <= 1, f"{name}: the page has to be moved sideways"
        assert page.get_by_text("Traceback").count() == 0
    assert requests.foreign() == []


def test_every_button_is_reached_by_the_tab_key(server, tab, workspace):
    page, _ = tab
    page.goto(server.url)
    settled(page)
    for title in VIEWS:
        goto(page, title)
        page.mouse.move(5, 890)
        wanted = set(page.evaluate(PRESSABLE))
        page.evaluate("() => document.activeElement?.blur()")
        reached, steps = set(), 0
        while not wanted <= reached and steps < MOST_STEPS:
            page.keyboard.press("Tab")
            steps += 1
            at = page.evaluate(FOCUSED)
            if at is not None:
                assert at["drawn"] or at["tag"] == "INPUT", f"{title}: the focus is on something unseen, {at['name']}"
                reached.add(at["name"])
                for _ in range(page.evaluate(CHOICES) - 1 if at["tag"] == "BUTTON" else 0):
                    page.keyboard.press("ArrowRight")
                    reached.add(page.evaluate(FOCUSED)["name"])
        assert wanted <= reached, f"{title}: not reached by Tab: {sorted(wanted - reached)}"
