"""A slider moved faster than a page draws, and a release asked for and confirmed twice."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.browser.test_two_presses import press_twice
from tests.browser.test_whole_path import choose_method, goto, key, settled, wait_for

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]


def in_step(page: Any) -> bool:
    """Say whether the page's claim is that of the slider's place."""
    words = page.get_by_test_id("stMain").inner_text()
    moved = re.search(r"10% sure\? (\d+)%", words)
    return moved is not None and f"at most {moved[1]}% sure" in words


@pytest.mark.long
def test_a_slider_at_speed_and_two_presses_on_release(server, tab):
    page, _ = tab
    workspace = server.open()
    corpus = workspace.corpora.import_sample("support_tickets")
    workspace.review.use_gold(corpus.id)
    page.goto(server.url)
    settled(page)

    goto(page, "Plan")
    choose_method(page, "aug-pe")
    slider = page.get_by_test_id("stMain").get_by_role("slider").first
    slider.wait_for()
    settled(page)
    before = slider.evaluate("e => e.value ?? e.getAttribute('aria-valuenow')")
    slider.focus()
    for _ in range(25):
        page.keyboard.press("ArrowLeft")
    settled(page)
    after = slider.evaluate("e => e.value ?? e.getAttribute('aria-valuenow')")
    assert after != before
    wait_for(lambda: in_step(page), 60, "the claim is not the slider's")
    assert page.get_by_text("Traceback").count() == 0

    run_id = workspace.jobs.synthesize(corpus.id, "surrogate")
    wait_for(lambda: workspace.runs.get(run_id).state == "done", 120, "the surrogates did not end")
    job = workspace.jobs.examine(run_id, utility=False, model_attacks=False)
    wait_for(lambda: workspace.jobs.get(job).state == "done", 240, "the examination did not end")
    workspace.runs.approve_all_pending(run_id)
    goto(page, "Release")
    settled(page)
    press_twice(page, key(page, "release.build").get_by_role("button"))
    sure = key(page, "release.build.sure").get_by_role("button")
    sure.wait_for()
    settled(page)
    press_twice(page, sure)
    wait_for(lambda: bool(workspace.releases.all()), 60, "nothing was released")
    settled(page)
    page.wait_for_timeout(1500)  # a second release would be there by now
    assert len(workspace.releases.all()) == 1


@pytest.mark.slow
def test_a_run_is_cancelled_twice_reloaded_and_resumed(server, tab):
    page, _ = tab
    workspace = server.open()
    corpus = workspace.corpora.import_sample("support_tickets")
    run_id = workspace.jobs.synthesize(corpus.id, "public", count=600)
    page.goto(server.url)
    settled(page)
    goto(page, "Runs")
    job = workspace.runs.get(run_id).job_id
    cancel = key(page, f"run.live.cancel.{job}").get_by_role("button")
    cancel.wait_for()
    wait_for(lambda: workspace.runs.get(run_id).kept > 0, 120, "nothing was made")
    press_twice(page, cancel)
    page.reload()  # before the page could say so
    settled(page)
    page.wait_for_timeout(3000)
    if workspace.runs.get(run_id).state == "running" and not workspace.jobs.get(job).stopping:
        # a press that waits behind a drawing is gone with its session: the page has to offer it again
        goto(page, "Runs")
        press_twice(page, key(page, f"run.live.cancel.{job}").get_by_role("button"))
    wait_for(lambda: workspace.runs.get(run_id).state == "cancelled", 60, "the run went on")
    kept = workspace.runs.get(run_id).kept
    assert 0 < kept < 600
    goto(page, "Runs")
    resume = key(page, "run.resume").get_by_role("button")
    resume.wait_for()
    assert page.get_by_text("Traceback").count() == 0
    press_twice(page, resume)
    wait_for(lambda: workspace.runs.get(run_id).state == "done", 300, "the resumed run did not end")
    run = workspace.runs.get(run_id)
    assert kept < run.kept <= 600
    assert len(workspace.runs.all()) == 1, "two presses made one run go on"
