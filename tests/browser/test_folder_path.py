"""A model folder from import to released text, by the pages alone: the worker writes with the transformers library."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.browser.taught_model import make_taught
from tests.browser.test_whole_path import (
    JOB_SECONDS,
    check_accessibility,
    choose,
    choose_method,
    examine,
    goto,
    key,
    load,
    release,
    review,
    settled,
    starting,
    wait_for,
)  # fmt: skip

OUTPUTS = 4
pytestmark = [pytest.mark.browser, pytest.mark.long, pytest.mark.timeout(2400)]


def test_from_a_folder_to_released_text(server, tab, tmp_path):
    page, requests = tab
    workspace, folder = server.open(), make_taught(tmp_path / "taught")

    page.goto(server.url)
    page.get_by_role("heading", level=1, name="Home").wait_for()
    load(page, workspace, tmp_path)
    review(page, workspace)
    import_and_test(page, workspace, folder)
    look(page, workspace)
    run_id = synthesise(page, workspace)
    examine(page, workspace, run_id)
    release(page, workspace, run_id, tmp_path, ends=False)

    with workspace.session.db.read() as connection:
        row = connection.exec_driver_sql("SELECT manifest FROM runs WHERE id = ?", (run_id,)).one()
    model = json.loads(row.manifest)["model"]
    assert (model["id"], model["back_end"], model["architecture"]) == ("folder:taught", "folder", "LlamaForCausalLM")
    assert model["revision"] == workspace.models.info("folder:taught").revision
    assert requests.foreign() == []
    assert server.watch.foreign == set(), "a process of ours opened a socket beyond this machine"
    assert "Traceback" not in server.log.read_text("utf-8")


def import_and_test(page: Any, workspace: Any, folder: Path) -> None:
    goto(page, "Models")
    check_accessibility(page, "models, suggested")
    box = key(page, "models.add.folder").get_by_role("textbox")
    box.fill(str(folder))
    box.press("Enter")
    key(page, "models.add.import").get_by_role("button").click()
    wait_for(lambda: len(workspace.models.all()) == 2, 30, "the folder was not imported")
    settled(page)
    key(page, "models.try.folder:taught").get_by_role("button").click()
    wait_for(lambda: workspace.models.last_test("folder:taught")["state"] == "done", JOB_SECONDS, "no self-test")
    result = workspace.models.last_test("folder:taught")["result"]
    assert result["ok"], result["checks"]
    settled(page)


def look(page: Any, workspace: Any) -> None:
    """Describe the corpus in public words and read what the model writes for them."""
    (corpus,) = workspace.corpora.all()
    name = f"models.describe.{corpus.id}"
    key(page, f"{name}.box").locator("summary").click()
    box = key(page, f"{name}.kind").get_by_role("textbox")
    box.fill("message to a shop")
    box.press("Enter")
    settled(page)
    key(page, f"{name}.keep").get_by_role("button").click()
    wait_for(lambda: workspace.descriptions.get(corpus.id) is not None, 30, "the description was not kept")
    settled(page)
    key(page, "models.first.folder:taught").get_by_role("button").click()
    wait_for(
        lambda: workspace.first_look.of("folder:taught", corpus.id).state == "done",
        JOB_SECONDS,
        "no texts were written",
    )
    starting(page, "models.first.box.folder").first.wait_for()
    settled(page)
    check_accessibility(page, "models, five texts")
    assert page.get_by_text("Text 5", exact=True).count() == 1


def synthesise(page: Any, workspace: Any) -> str:
    goto(page, "Plan")
    choose_method(page, "public")
    choose(page, key(page, "plan.model").get_by_role("combobox"), "taught (imported model)")
    outputs = page.get_by_role("spinbutton", name="Outputs wanted")
    outputs.fill(str(OUTPUTS))
    page.keyboard.press("Enter")
    start = page.get_by_role("button", name=f"Start: up to {OUTPUTS} outputs")
    start.wait_for()
    settled(page)
    start.click()
    page.get_by_role("heading", level=1, name="Runs").wait_for()
    key(page, "run.examine").wait_for(timeout=JOB_SECONDS * 1000)
    settled(page)
    (run,) = workspace.runs.all()
    assert (run.state, run.model) == ("done", "folder:taught")
    assert 0 < run.kept <= OUTPUTS
    return str(run.id)
