"""The interface in German, in a browser: chosen in Settings, kept over the four translated pages, with room for it."""

from __future__ import annotations

import re
import time

import pytest

from tests.browser.test_whole_path import settled

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(420)]

PAGES = {"Laden": "load", "Sichten": "review", "Plan": "plan", "Freigabe": "release"}
# What is cut off: an element that hides what does not fit, or that stands beyond the edge of the box around it.
CUT = """() => {
  const found = []
  const look = (root) => {
    for (const one of root.querySelectorAll("button, label, p, h1, h2, h3, th, summary, [role=tab], .words, .counts")) {
      const text = one.textContent.trim()
      if (!text || !one.offsetParent || one.closest("[data-testid=stDataFrame]")) continue
      const hides = ["hidden", "clip"].includes(getComputedStyle(one).overflowX)
      const box = one.closest(".side, [data-testid=stSidebar], [data-testid=stMain]")
      const beyond = box && one.getBoundingClientRect().right > box.getBoundingClientRect().right + 1
      const cut = hides && one.clientWidth > 4 && one.scrollWidth > one.clientWidth + 1
      if (beyond || cut) found.push(text.slice(0, 60))
    }
    for (const one of root.querySelectorAll("*")) if (one.shadowRoot) look(one.shadowRoot)
  }
  look(document)
  return found
}"""


@pytest.mark.parametrize("width", [1440, 1024])
def test_german_is_chosen_in_settings_and_fits(server, tab, width):
    page, _ = tab
    workspace = server.open()
    corpus = workspace.corpora.import_sample("support_tickets")
    workspace.review.use_gold(corpus.id)
    run = workspace.jobs.synthesize(corpus.id, "surrogate", count=12)
    deadline = time.monotonic() + 120
    while workspace.runs.get(run).state not in ("done", "failed") and time.monotonic() < deadline:
        time.sleep(0.5)
    assert workspace.runs.get(run).state == "done"
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(f"{server.url}/settings")
    settled(page)
    page.get_by_role("combobox", name="Language of the interface").click()
    page.get_by_role("option", name="Deutsch").click()
    settled(page)
    page.get_by_role("combobox", name="Sprache der Oberfläche").wait_for()
    assert server.open().settings.language() == "de"
    for title, name in PAGES.items():
        page.get_by_role("link", name=re.compile(rf"^{title}$")).first.click()
        settled(page)
        page.get_by_role("heading", name=title, level=1).wait_for()
        assert page.url.endswith(f"/{name}")
        assert page.evaluate(CUT) == [], f"{title} at {width}"
        assert page.evaluate("() => document.documentElement.scrollWidth <= window.innerWidth"), f"{title} at {width}"
    page.goto(f"{server.url}/load")  # another visit: it is kept
    settled(page)
    page.get_by_role("heading", name="Laden", level=1).wait_for()
