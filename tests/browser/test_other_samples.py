"""The made-up letters in Estonian and in German go the whole way, from their button on Home to a verified bundle."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from engine.release import verify
from tests.browser.test_first_release import Presses, button
from tests.browser.test_whole_path import JOB_SECONDS, choose_method, goto, settled, starting, wait_for, yes_to

SAMPLES = {"et": ("clinic_letters_et", "Letters in Estonian"), "de": ("clinic_letters_de", "Letters in German")}
OUTPUTS = 12

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(2400)]


def look(page: Any, code: str, station: str) -> None:
    """Keep a picture of a station where a folder for them is named."""
    folder = os.environ.get("UNDERSTUDY_STATIONS")
    if folder:
        page.wait_for_timeout(700)
        page.screenshot(path=Path(folder) / f"{code}_{station}.png")


@pytest.mark.parametrize("code", sorted(SAMPLES))
def test_from_its_button_to_a_verified_bundle(server, tab, tmp_path, code):
    page, requests = tab
    sample, title = SAMPLES[code]
    workspace = server.open()
    page.goto(server.url)
    press = Presses(page)
    press(button(page, f"home.sample.try.{sample}"), "the sample")
    look(page, code, "home")
    (corpus,) = workspace.corpora.all()
    assert corpus.name.startswith(title)

    goto(page, "Review")  # what identifies came with the sample
    page.locator(".mark[role=button]").first.wait_for()
    settled(page)
    look(page, code, "review")
    page.get_by_role("button", name="It goes").first.click()
    wait_for(lambda: workspace.review.span_counts(corpus.id)["decided"] == 1, 20, "It goes did not decide")

    goto(page, "Plan")
    choose_method(page, "surrogate")
    outputs = page.get_by_role("spinbutton", name="Outputs wanted")
    outputs.fill(str(OUTPUTS))
    page.keyboard.press("Enter")
    page.get_by_role("button", name=f"Start: up to {OUTPUTS} outputs").wait_for()
    settled(page)
    look(page, code, "plan")
    press(page.get_by_role("button", name="Start: "), "start a run")
    press(button(page, "run.quick"), "quick look")
    (run,) = workspace.runs.all()
    wait_for(lambda: workspace.runs.get(run.id).examined_at is not None, 4 * JOB_SECONDS, "it was not examined")
    in_its_language(workspace, run.id, code)
    goto(page, "Runs")
    look(page, code, "runs")
    goto(page, "Privacy")
    look(page, code, "privacy")

    goto(page, "Release")
    press(starting(page, "release.approved.").get_by_role("button"), "approve a record")
    if (yes := yes_to(page)) is not None:
        press(yes, "though its risk is high")
    look(page, code, "release")
    press(button(page, "release.build"), "build")
    press(button(page, "release.build.sure"), "yes, release it")
    page.get_by_text("1 record released").first.wait_for()
    look(page, code, "released")
    (made,) = workspace.releases.all()
    with page.expect_download() as waiting:
        starting(page, "release.made.").first.get_by_role("button", name="Download").first.click()
    waiting.value.save_as(tmp_path / "bundle")
    assert verify(tmp_path / "bundle", manifest_sha256=made.manifest_sha256)["ok"]
    assert requests.foreign() == []
    assert not server.watch.foreign
    assert "Traceback" not in server.log.read_text("utf-8")


def in_its_language(workspace: Any, run_id: str, code: str) -> None:
    """Check that what was made is text of the language, and that no patient's or doctor's name went over."""
    from engine.corpus.samples import load_sample
    from engine.pii.languages.telling import languages_of

    made = [str(text) for text in workspace.runs.synthetic(run_id)["text"]]
    told = languages_of(made, "auto")
    assert sum(one == code for one in told) >= 0.95 * len(told)
    names = {
        row.text[span["start"] : span["end"]]
        for row in load_sample(SAMPLES[code][0]).itertuples()
        for span in row.spans
        if span["label"] == "PERSON" and " " in row.text[span["start"] : span["end"]]
    }
    assert names
    kept = [name for name in names if any(name in text for text in made)]
    assert len(kept) <= 0.02 * len(names), len(kept)
