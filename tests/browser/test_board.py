"""The board of a whole sweep: runs of methods with a proof and without one, drawn, picked and put side by side.

UNDERSTUDY_WRITE_PICTURES=1 writes the README's pictures of it.
"""

from __future__ import annotations

import re
from typing import Any

import pytest

from engine.jobs.sweeps import Wanted, grid
from tests.browser.test_whole_path import check_accessibility, goto, picture, settled, wait_for

OUTPUTS, BUDGETS, SECONDS = 60, (1.0, 2.0, 4.0), 2400
HEURISTIC = ("filter", "surrogate", "icl")

pytestmark = [pytest.mark.browser, pytest.mark.long, pytest.mark.timeout(3000)]


@pytest.fixture
def runs(server) -> tuple[Any, list[str]]:
    """Make and examine ten runs of the made-up letters: two methods at three budgets, three without proof, public."""
    workspace = server.open()
    corpus = workspace.corpora.import_sample("clinic_letters").id
    first = Wanted("aug-pe", {"rounds": 1}, OUTPUTS, 0, "builtin")
    wanted = grid(first, BUDGETS, 1, ("dp-topics",), reference=True)
    for one in wanted:
        workspace.plan.wait_guarantee(one.method, corpus_id=corpus, parameters=dict(one.parameters))
    made = workspace.jobs.sweep(corpus, wanted)
    made += [workspace.jobs.synthesize(corpus, method, count=OUTPUTS) for method in HEURISTIC]
    for run_id in made:
        ended(workspace, workspace.runs.get(run_id).job_id)
        ended(workspace, workspace.jobs.examine(run_id, model_attacks=False))
    return workspace, made


def ended(workspace: Any, job: str) -> None:
    """Wait until a job is done."""
    wait_for(lambda: workspace.jobs.get(job).state in ("done", "failed"), SECONDS, "a job did not end")
    assert workspace.jobs.get(job).state == "done"


def test_a_sweep_on_the_board(server, tab, runs):
    page, requests = tab
    page.set_viewport_size({"width": 1440, "height": 1100})
    page.goto(server.url)
    goto(page, "Compare")
    page.locator(".js-plotly-plot .point").first.wait_for()
    settled(page)
    assert page.locator(".js-plotly-plot .scatterlayer .point").count() == len(runs[1])
    page.mouse.move(1420, 140)  # beside all that has a tooltip
    check_accessibility(page, "compare, board")
    picture(page, "compare")

    page.locator(".js-plotly-plot .scatterlayer .point").first.click(force=True)
    page.locator(".st-key-compare-picked").wait_for()
    page.get_by_text("Side by side", exact=True).first.click()
    settled(page)
    page.locator(".js-plotly-plot").first.wait_for()
    check_accessibility(page, "compare, side by side")
    picture(page, "beside")
    text = page.get_by_test_id("stMain").inner_text()
    assert re.search(r"better|worse|cannot tell", text)

    page.get_by_text("Table", exact=True).first.click()
    settled(page)
    topics = page.locator("[class*=st-key-compare-topic]")
    topics.first.wait_for()
    assert topics.locator("summary").count() == 2
    assert topics.locator("details[open]").count() == 0  # what tells the runs apart stands above, open
    check_accessibility(page, "compare, table")
    picture(page, "table")

    page.set_viewport_size({"width": 1360, "height": 900})
    for title in ("Privacy", "Utility"):
        goto(page, title)
        page.locator(f".st-key-{title.lower()}-verdict").wait_for()
        settled(page)
        picture(page, title.lower())
    page.set_viewport_size({"width": 1440, "height": 1100})
    page.get_by_text("Classifier", exact=True).first.click()
    settled(page)
    page.get_by_text("A small transformer trained on the text").wait_for()
    said = page.get_by_test_id("stMain").inner_text()
    assert "How well classifiers say the labels of the holdout's records" in said
    assert "those of what was lost hold for all labels together" in said
    assert "five times each" in said
    check_accessibility(page, "utility, classifier")
    picture(page, "classifier")
    assert requests.foreign() == []
