"""The page never turns white: resizes and page changes in the first seconds of a run leave something standing."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from itertools import cycle
from typing import Any

import pytest

from tests.browser.conftest import free_port, watched
from tests.browser.test_whole_path import choose_method, goto, key, settled, wait_for

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(900)]
SIZES = [(1440, 756), (1440, 900), (1024, 800), (700, 800), (1024, 600), (1360, 900)]
PLACES = ("privacy", "run", "ledger", "run", "compare", "utility", "release", "run")
STEPS = 60  # resizes a start
STARTS = 4
GAP = 90  # milliseconds between resizes: faster than a table is laid out

# Notes, from before the first script of a page, each moment in which the application's root stands empty.
EMPTY = """() => {
    window.wentWhite = [];
    const look = () => {
        const root = document.getElementById('root');
        if (root && root.childElementCount) window.rootWasThere = true;
        else if (window.rootWasThere) window.wentWhite.push(location.pathname);
    };
    new MutationObserver(look).observe(document, {childList: true, subtree: true});
}"""


def white(page: Any) -> list[str]:
    """Return the addresses at which the root stood empty since the page was loaded."""
    assert page.evaluate("() => window.rootWasThere"), "the watch saw no root"
    return list(page.evaluate("() => window.wentWhite"))


def shaken(page: Any, steps: int, started: Callable[[], bool]) -> None:
    """Resize the window again and again, and once the run was started change the page at every seventh resize."""
    sizes, places = cycle(SIZES), cycle(PLACES)
    deadline, number = time.monotonic() + 120, 0
    while number < steps:
        assert time.monotonic() < deadline, "the run was not started"
        width, height = next(sizes)
        page.set_viewport_size({"width": width, "height": height})
        page.wait_for_timeout(GAP)
        number += started()
        if number % 7 == 6:
            place = next(places)
            link = page.locator(f"a[href$='/{place}']").first
            if link.count():
                link.evaluate("link => link.click()")  # it moves, and may lie outside the window
        assert page.evaluate("() => document.getElementById('root').childElementCount") > 0


def test_resizes_and_page_changes_while_a_run_starts_leave_the_page_standing(server, tab):
    page, _ = tab
    workspace = server.open()
    corpus = workspace.corpora.import_sample("clinic_letters")
    workspace.review.use_gold(corpus.id)
    first = workspace.jobs.synthesize(corpus.id, "surrogate")
    wait_for(lambda: workspace.runs.get(first).state == "done", 120, "the first run did not end")

    def begun(runs: int) -> bool:
        return len(workspace.runs.all(corpus.id)) >= runs

    page.add_init_script(f"({EMPTY})()")
    page.goto(server.url)
    settled(page)
    for number in range(STARTS):
        page.set_viewport_size({"width": 1440, "height": 756})
        goto(page, "Plan")
        choose_method(page, "surrogate")  # no budget ends it
        key(page, "plan.start").get_by_role("button").click()
        page.set_viewport_size({"width": 1440, "height": 900})  # as the history's table is put in
        if number == 1:
            workspace.jobs.examine(first, utility=False, model_attacks=False)
        shaken(page, STEPS, partial(begun, number + 2))
        assert white(page) == []
    page.set_viewport_size({"width": 1360, "height": 900})
    goto(page, "Runs")
    assert len(workspace.runs.all(corpus.id)) == STARTS + 1
    settled(page)
    assert white(page) == []


def visited(browser: Any, address: str, script: str) -> None:
    """Run a script on a page whose faults count."""
    with browser.new_context() as context, watched(context):
        page = context.new_page()
        page.goto(address)
        page.evaluate(f"() => {{ {script} }}")
        page.wait_for_timeout(500)


def test_a_fault_in_the_browser_is_told(server, browser):
    nobody = f"http://localhost:{free_port()}/planted"
    own = f"{server.url}/_stcore/health"
    planted = [
        (own, "console.error('planted')", "console: planted"),
        (own, "setTimeout(() => { throw new Error('planted') })", "exception: planted"),
        (own, "fetch('/media/planted')", "answer: 404"),
        ("about:blank", f"fetch('{nobody}', {{mode: 'no-cors'}}).catch(() => 0)", f"request: {nobody}"),
    ]
    for address, script, told in planted:
        with pytest.raises(AssertionError, match=told):
            visited(browser, address, script)


def test_an_emptied_root_is_seen(server, tab):
    page, _ = tab
    page.add_init_script(f"({EMPTY})()")
    page.goto(server.url)
    settled(page)
    assert white(page) == []
    page.evaluate("() => document.getElementById('root').replaceChildren()")
    page.wait_for_timeout(100)
    assert white(page)
