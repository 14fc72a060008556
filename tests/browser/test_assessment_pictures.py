"""The assessment file of a run with a proof, of surrogates and of the filter, as a browser draws it; their pictures.

The page asks for nothing from outside, says of each method what is so of it, and has no sideways scroll at the width of
a sheet. `UNDERSTUDY_WRITE_PICTURES=1` writes the first page of each, internal edition, for the README.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import engine
from tests.browser import pictures
from tests.jobs.conftest import wait

pytestmark = [pytest.mark.browser, pytest.mark.long, pytest.mark.timeout(1200)]
WIDTH, HEIGHT = 1000, 1400
NO_PROOF = "No proof protects anybody here"
RUNS = {
    "dp": ("aug-pe", {"epsilon": 4.0, "delta": 1e-3, "rounds": 1}, "ε = 4.0 at δ = 0.001"),
    "filter": ("filter", {}, NO_PROOF),
    "surrogate": ("surrogate", {}, NO_PROOF),
}
ANSWERS = {
    "purpose": "Trying out a search over letters",
    "recipients": "A research group under contract",
    "attacker_membership": "records",
    "attacker_inference": "model",
}


def done(workspace: Any, job: str) -> None:
    ended = wait(workspace, job, seconds=400.0)
    assert ended.state == "done", ended.error


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, str]]:
    """Both editions of the assessment of each run."""
    workspace = engine.open_workspace(tmp_path_factory.mktemp("assessed") / "w", "Ada Stern")
    corpus = workspace.corpora.import_sample("clinic_letters").id
    workspace.review.use_gold(corpus)
    workspace.assessments.keep(corpus, ANSWERS)
    found = {}
    try:
        for name, (method, parameters, _) in RUNS.items():
            run = workspace.jobs.synthesize(corpus, method, count=30, parameters=parameters)
            done(workspace, workspace.runs.get(run).job_id)
            done(workspace, workspace.jobs.examine(run, model_attacks=False))
            found[name] = {
                edition: workspace.assessments.make(run, "research", edition) for edition in ("internal", "external")
            }
    finally:
        workspace.jobs.stop_worker()
        workspace.close()
    return found


@pytest.mark.parametrize("name", RUNS)
def test_an_assessment_is_drawn_whole_and_says_what_is_so(name, pages, browser, tmp_path):
    context = browser.new_context(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
    page = context.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    said = {}
    for edition, text in pages[name].items():
        file = Path(tmp_path) / f"{edition}.html"
        file.write_text(text, "utf-8")
        page.goto(file.as_uri())
        said[edition] = page.locator("body").inner_text()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert {url.split(":")[0] for url in asked} == {"file"}
    for words in said.values():
        assert RUNS[name][2] in words
        assert "Whole candidate records, and means to train models on the released text" in words
        assert "That is more than the attack was given. Not tested" in words
    assert "Ada Stern" in said["internal"]
    assert "Ada Stern" not in said["external"]
    if os.environ.get("UNDERSTUDY_WRITE_PICTURES") == "1":
        page.goto((Path(tmp_path) / "internal.html").as_uri())
        page.screenshot(path=pictures.FOLDER / f"assessment_{name}_light.png")
        pictures.note(f"assessment_{name}_light.png")
    context.close()
