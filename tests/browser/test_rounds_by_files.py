"""Two rounds of private evolution by files, in a real browser: prompts out, answers in, a vote; and so once more.

The model elsewhere is a function here: it answers each prompt of a downloaded file in a service's batch form.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from pages._ui.pool.view import POOLS, PROMPTS
from tests.browser.test_whole_path import (
    JOB_SECONDS,
    check_accessibility,
    choose,
    choose_method,
    goto,
    key,
    settled,
    starting,
    wait_for,
)

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(2400)]
OUTPUTS = 8


def elsewhere(prompts: Path, answers: Path) -> int:
    """Answer a file of prompts as a language-model service would; return how many."""
    rng, lines = random.Random(4), []
    what = ["parcel", "invoice", "refund", "garden chair", "lamp", "kettle"]
    when = ["on Monday", "in May", "after a week", "before the holiday", "at noon"]
    for line in prompts.read_text("utf-8").splitlines():
        asked = json.loads(line)
        assert "http" not in asked["body"]["messages"][0]["content"]
        number = rng.randrange(10_000)
        said = f"My {rng.choice(what)} came {rng.choice(when)}, order {number}, and the {rng.choice(what)} was missing."
        body = {"choices": [{"message": {"content": f"Sure, here is one:\n\n{said}"}}]}
        lines.append(json.dumps({"custom_id": asked["custom_id"], "response": {"status_code": 200, "body": body}}))
    answers.write_text("\n".join(lines), "utf-8")
    return len(lines)


def tick(page: Any, name: str) -> None:
    starting(page, name).locator("label").first.click()
    settled(page)


def fill(page: Any, name: str, value: str) -> None:
    box = starting(page, name).locator("input, textarea").first
    box.fill(value)
    box.press("Tab")
    settled(page)


def view(page: Any, name: str) -> None:
    key(page, "pool.view").get_by_text(name, exact=True).click()
    settled(page)


def pack_out(page: Any, workspace: Any, folder: Path) -> Path:
    """Log the pack on the screen and download its file."""
    before = len(workspace.packs.all())
    tick(page, "pool.pack.declared.")
    key(page, "pool.pack.write").get_by_role("button").click()
    wait_for(lambda: len(workspace.packs.all()) > before, 60, "the pack was not logged")
    settled(page)
    pack = workspace.packs.all()[0]
    key(page, f"pool.left.{pack.id}").wait_for()  # the page leads on by itself
    settled(page)
    fill(page, f"pool.left.model.{pack.id}", "a-model")
    with page.expect_download() as waiting:
        key(page, f"pool.left.file.{pack.id}").get_by_role("button").click()
    target = folder / f"{pack.id}.jsonl"
    waiting.value.save_as(target)
    assert workspace.audit.lines()["action"].iloc[0] == "prompt pack file made"  # logged before it left
    return target


def pool_in(page: Any, workspace: Any, file: Path, name: str) -> None:
    """Bring a file of answers in."""
    view(page, POOLS)
    page.locator("input[type=file]").first.set_input_files(file)
    starting(page, "pool.in.name.").first.wait_for()
    settled(page)
    fill(page, "pool.in.name.", name)
    fill(page, "pool.in.origin.", "a made-up model elsewhere")
    fill(page, "pool.in.licence.", "CC0")
    tick(page, "pool.in.declared.")
    key(page, "pool.in.import").get_by_role("button").click()
    wait_for(lambda: name in [pool.name for pool in workspace.pools.all()], 60, "the pool was not imported")
    settled(page)


def vote(page: Any, workspace: Any, corpus: str, pool: str) -> Any:
    """Plan and make a run that chooses from a pool."""
    goto(page, "Plan")
    choose_method(page, "dp-select")
    box = starting(page, f"plan.set.{corpus}.dp-select.pool").get_by_role("combobox").first
    options = {one.name: one.texts for one in workspace.pools.all()}
    choose(page, box, f"{pool} · {options[pool]:,} texts")
    settled(page)
    outputs = page.get_by_role("spinbutton", name="Outputs wanted")
    outputs.fill(str(OUTPUTS))
    page.keyboard.press("Enter")
    start = page.get_by_role("button", name=f"Start: up to {OUTPUTS} outputs")
    start.wait_for()
    settled(page)
    before = len(workspace.runs.all(corpus))
    start.click()
    wait_for(lambda: len(workspace.runs.all(corpus)) > before, 60, "no run was made")
    run = workspace.runs.all(corpus)[0]
    wait_for(lambda: workspace.runs.get(run.id).state in ("done", "failed"), JOB_SECONDS, "the run did not end")
    settled(page)
    found = workspace.runs.get(run.id)
    assert (found.state, found.kept) == ("done", OUTPUTS), found.error
    return found


def test_two_rounds_by_files(server, tab, tmp_path):
    page, requests = tab
    workspace = server.open()
    corpus = workspace.corpora.import_sample("support_tickets").id
    workspace.labels.withdraw(corpus)
    workspace.ledger.set_limit(corpus, 30.0, 1e-3)
    page.goto(server.url)
    settled(page)
    goto(page, "Pools")
    check_accessibility(page, "pools, nothing yet")
    view(page, PROMPTS)
    fill(page, "pool.pack.topics", "late parcels\nmissing parts")
    fill(page, "pool.pack.count", "40")
    check_accessibility(page, "pools, prompts")
    prompts = pack_out(page, workspace, tmp_path)
    assert elsewhere(prompts, tmp_path / "answers-1.jsonl") == 40
    pool_in(page, workspace, tmp_path / "answers-1.jsonl", "first")
    check_accessibility(page, "pools, one pool")
    assert all(text.startswith("My ") for text in workspace.pools.texts("first")["text"])  # no chatter of the model
    first = vote(page, workspace, corpus, "first")

    goto(page, "Pools")
    view(page, PROMPTS)
    box = key(page, "pool.pack.run").get_by_role("combobox").first
    box.click()
    page.get_by_role("option").nth(1).click()
    settled(page)
    prompts = pack_out(page, workspace, tmp_path)
    assert elsewhere(prompts, tmp_path / "answers-2.jsonl") == 4 * OUTPUTS
    pool_in(page, workspace, tmp_path / "answers-2.jsonl", "second")
    second = workspace.pools.get("second")
    assert second.rounds == (first.id,)
    assert set(workspace.runs.synthetic_frame(first.id)["text"]) <= set(workspace.pools.texts("second")["text"])
    last = vote(page, workspace, corpus, "second")
    assert last.guarantee.epsilon == pytest.approx(2 * first.guarantee.epsilon)
    assert f"chose in run {first.id}" in last.guarantee.sentence
    kinds = list(workspace.ledger.of(corpus).lines["kind"])
    assert (kinds.count("reserve"), kinds.count("release")) == (2, 1)
    assert requests.foreign() == []
    assert server.watch.foreign == set(), "a process of ours opened a socket beyond this machine"
    assert "Traceback" not in server.log.read_text("utf-8")
