"""One custodian's way through the whole application, in a real browser, without any network.

UNDERSTUDY_WRITE_PICTURES=1 writes the README's pictures to assets/pictures.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine.release import verify
from tests.browser import pictures

RECORDS, OUTPUTS = 60, 6
JOB_SECONDS = 700  # a job takes a few seconds on an idle machine of two cores; some take ten times as long
SERIOUS = {"serious", "critical"}
CHOSEN = re.compile(r"Chosen: (\d+) synthetic texts? and (\d+) private texts?")

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(2400)]


def sample_as_csv() -> bytes:
    """Return the first records of a sample corpus as a CSV file."""
    from engine.corpus.samples import load_sample

    frame = load_sample("clinic_letters").head(RECORDS)
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["letter", "patient", "body", "outcome"])
    writer.writerows(frame[["record_id", "source_id", "text", "label"]].itertuples(index=False))
    return out.getvalue().encode()


def settled(page: Any) -> None:
    """Wait until the script has run and nothing is stale."""
    page.locator("h1").first.wait_for()
    page.wait_for_timeout(150)
    page.wait_for_function(
        "() => document.querySelector('[data-testid=stApp]')?.dataset.testScriptState !== 'running'"
        " && !document.querySelector('[data-testid=stSkeleton]')"
    )


def goto(page: Any, title: str) -> None:
    """Follow the menu to a page."""
    heading = page.get_by_role("heading", level=1, name=title)
    follow(page, title)
    for _ in range(80):
        if heading.is_visible():
            break
        page.wait_for_timeout(250)
    else:  # a click while the page before still draws can be lost: click once more, as people do
        follow(page, title)
        heading.wait_for()
    settled(page)


def follow(page: Any, title: str) -> None:
    """Press a link of the menu; its list closes when the page is drawn anew, so open it again."""
    from playwright.sync_api import TimeoutError as TooLong

    links = page.locator("[data-testid=stTopNavLink], [data-testid=stTopNavDropdownLink]")
    link = links.filter(has_text=re.compile(f"{title}$")).first
    for _ in range(11):
        try:
            if not link.is_visible():
                page.get_by_test_id("stTopNavSection").first.click(timeout=5000)
            link.click(timeout=5000)
        except TooLong:
            continue
        return
    link.click()


def key(page: Any, name: str) -> Any:
    """Return the element with a widget key."""
    return page.locator(f".st-key-{re.sub(r'[^a-zA-Z0-9_-]', '-', name)}")


def starting(page: Any, name: str) -> Any:
    """Return elements whose widget key starts with a name."""
    return page.locator(f"[class*='st-key-{re.sub(r'[^a-zA-Z0-9_-]', '-', name)}']")


def yes_to(page: Any) -> Any | None:
    """Return the button that says yes to a record of high risk, where the page asks; None where it does not."""
    settled(page)
    asked = starting(page, "release.sure.").get_by_role("button")
    return asked if asked.count() else None


def choose(page: Any, box: Any, option: str) -> None:
    """Choose an option of a select box; its list closes when the page moves, so try again."""
    from playwright.sync_api import TimeoutError as TooLong

    for _ in range(6):
        if box.input_value() == option:
            break
        box.click()
        try:
            page.get_by_role("option", name=option, exact=True).click(timeout=3000)
        except TooLong:
            page.keyboard.press("Escape")
        settled(page)
    assert box.input_value() == option


def check_accessibility(page: Any, name: str) -> None:
    """Fail on any serious or critical violation that axe finds, in the dark and in the light."""
    from axe_playwright_python.sync_playwright import Axe

    for scheme in ("dark", "light"):
        page.emulate_media(color_scheme=scheme)
        for _ in range(3):  # a part that is drawn again at this moment is shown pale, which is no fault of its colours
            page.wait_for_timeout(300)
            page.wait_for_function("() => !document.querySelector('[data-stale=true]')")
            found = [
                (violation["id"], violation["impact"], [node["html"][:160] for node in violation["nodes"][:3]])
                for violation in Axe().run(page).response["violations"]
                if violation["impact"] in SERIOUS
            ]
            if not found:
                break
        assert not found, f"{name}, {scheme}: {json.dumps(found, indent=1)}"


def wait_for(what: Callable[[], bool], seconds: float, message: str) -> None:
    """Wait for something in the workspace."""
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline, message
        time.sleep(0.2)


def picture(page: Any, name: str) -> None:
    """Write a picture of the page in light and dark where pictures are asked for."""
    if os.environ.get("UNDERSTUDY_WRITE_PICTURES") != "1":
        return
    for scheme in ("dark", "light"):
        page.emulate_media(color_scheme=scheme)
        page.wait_for_timeout(700)
        page.screenshot(path=pictures.FOLDER / f"{name}_{scheme}.png")
        pictures.note(f"{name}_{scheme}.png")


def test_from_upload_to_download(server, tab, tmp_path):
    page, requests = tab
    workspace = server.open()

    page.goto(server.url)
    page.get_by_role("heading", level=1, name="Home").wait_for()
    check_accessibility(page, "home, empty")
    load(page, workspace, tmp_path)
    review(page, workspace)
    run_id = synthesise(page, workspace)
    examine(page, workspace, run_id)
    release(page, workspace, run_id, tmp_path)
    beside(workspace, run_id)
    for title in ("Compare", "Ledger", "Models", "Settings", "Home"):
        goto(page, title)
        check_accessibility(page, title)
        if title != "Compare":  # the README's has more runs, see test_board
            picture(page, title.lower())

    assert requests.foreign() == []
    assert len(requests.urls) > 20
    assert server.watch.foreign == set(), "a process of ours opened a socket beyond this machine"
    assert server.watch.looked > 50
    assert len(server.watch.seen) >= 2, "the worker was watched too"
    text = server.log.read_text("utf-8")
    assert "Traceback" not in text
    assert "Error" not in text


def load(page: Any, workspace: Any, folder: Path) -> None:
    key(page, "home.load").get_by_role("button").click()
    page.get_by_role("heading", level=1, name="Load").wait_for()
    check_accessibility(page, "load, empty")
    file = folder / "letters.csv"
    file.write_bytes(sample_as_csv())
    page.locator("input[type=file]").set_input_files(file)
    page.get_by_role("heading", name="2 · Map the columns").wait_for()
    page.get_by_role("heading", name="5 · Import").wait_for()
    settled(page)
    for name, column in (("text", "body"), ("source", "patient"), ("label", "outcome"), ("record", "letter")):
        box = starting(page, f"load.map.{name}.").get_by_role("combobox").first
        choose(page, box, column)
    check_accessibility(page, "load, mapped")
    picture(page, "load")
    key(page, "load.import").get_by_role("button").click()
    key(page, "load.next").wait_for()
    (corpus,) = workspace.corpora.all()
    assert (corpus.records, corpus.unit) == (RECORDS, "source")
    settled(page)
    check_accessibility(page, "load, what was loaded")


def review(page: Any, workspace: Any) -> None:
    goto(page, "Review")
    check_accessibility(page, "review, nothing yet")
    key(page, "review.detect.start").get_by_role("button").click()
    page.get_by_text("You can leave this page").wait_for()
    page.locator(".mark[role=button]").first.wait_for(timeout=JOB_SECONDS * 1000)
    settled(page)
    corpus_id = workspace.corpora.all()[0].id
    before = workspace.review.span_counts(corpus_id)
    assert before["decided"] == 0
    assert before["accepted"] > RECORDS

    page.locator(".mark[role=button]").first.focus()
    page.keyboard.press("Enter")
    settled(page)
    page.keyboard.press("a")
    wait_for(lambda: workspace.review.span_counts(corpus_id)["decided"] == 1, 10, "A did not accept")
    settled(page)
    page.keyboard.press("x")
    wait_for(lambda: workspace.review.span_counts(corpus_id)["decided"] == 2, 10, "X did not reject")
    settled(page)
    assert workspace.review.span_counts(corpus_id)["rejected"] == before["rejected"] + 1
    page.keyboard.press("Control+z")
    wait_for(lambda: workspace.review.span_counts(corpus_id)["decided"] == 1, 10, "Ctrl+Z did not undo")
    settled(page)
    page.keyboard.press("x")
    wait_for(lambda: workspace.review.span_counts(corpus_id)["decided"] == 2, 10, "X did not reject again")
    settled(page)
    check_accessibility(page, "review")
    picture(page, "review")


def choose_method(page: Any, method: str) -> None:
    """Press a method's card, among all of them where it is not recommended."""
    deck = page.locator(".st-key-plan-cards, .st-key-plan-cards-all")
    deck.locator(".card").first.wait_for()
    if deck.locator(f".card[data-id={method}]").count() == 0:
        key(page, "plan.all").locator("summary").click()
    card = deck.locator(f".card[data-id={method}]").first
    card.click()
    settled(page)
    assert card.get_attribute("aria-pressed") == "true"


def synthesise(page: Any, workspace: Any) -> str:
    goto(page, "Plan")
    choose_method(page, "filter")
    outputs = page.get_by_role("spinbutton", name="Outputs wanted")
    outputs.wait_for()
    outputs.fill(str(OUTPUTS))
    page.keyboard.press("Enter")
    page.get_by_role("button", name=f"Start: up to {OUTPUTS} outputs").wait_for()
    settled(page)
    check_accessibility(page, "plan")
    picture(page, "plan")
    page.get_by_role("button", name=f"Start: up to {OUTPUTS} outputs").click()
    page.get_by_role("heading", level=1, name="Runs").wait_for()
    check_accessibility(page, "runs, running")
    key(page, "run.examine").wait_for(timeout=JOB_SECONDS * 1000)
    settled(page)
    (run,) = workspace.runs.all()
    assert run.state == "done"
    assert 0 < run.kept <= OUTPUTS
    check_accessibility(page, "runs, done")
    picture(page, "run")
    return str(run.id)


def examine(page: Any, workspace: Any, run_id: str) -> None:
    key(page, "run.examine").get_by_role("button").click()
    page.get_by_role("heading", level=1, name="Privacy").wait_for()
    settled(page)
    wait_for(lambda: workspace.runs.get(run_id).examined_at is not None, JOB_SECONDS, "the examination did not end")
    for title in ("Privacy", "Utility"):
        goto(page, title)
        page.wait_for_timeout(1000)
        check_accessibility(page, title)  # the README's pictures of both have more texts, see test_board
    draw_lasso_on_map(page, workspace, run_id)


def draw_lasso_on_map(page: Any, workspace: Any, run_id: str) -> None:
    """Draw a lasso around all points of the map of texts with the mouse, then around none, and read what is chosen."""
    points = workspace.examinations.table(run_id, "map")
    made = points["kind"] == "synthetic"
    key(page, "utility.view").get_by_text("Map of texts", exact=True).click()
    page.locator(".js-plotly-plot .nsewdrag").first.wait_for()
    settled(page)
    assert page.get_by_text(CHOSEN).count() == 0
    lasso(page, 0.005, 0.995)
    said = page.get_by_text(CHOSEN).first
    said.wait_for()
    settled(page)
    found = CHOSEN.search(said.inner_text())
    assert found
    assert (int(found[1]), int(found[2])) == (int(made.sum()), int((~made).sum()))
    shown = starting(page, "utility.read.").all_inner_texts()
    texts = [str(text).split("\n")[0] for text in workspace.runs.synthetic(run_id)["text"]]
    assert sorted(one.split("\n")[0] for one in shown) == sorted(texts)
    box = page.locator(".js-plotly-plot .nsewdrag").first.bounding_box()
    # takes the selection back: in the corner, since the lasso's line and inside take the pointer themselves
    page.mouse.dblclick(box["x"] + box["width"] - 1, box["y"] + box["height"] - 1)
    page.get_by_text(CHOSEN).wait_for(state="hidden")


def lasso(page: Any, low: float, high: float) -> None:
    """Draw a lasso with the mouse around these shares of the plot's width and height."""
    layer = page.locator(".js-plotly-plot .nsewdrag").first
    layer.scroll_into_view_if_needed()
    box = layer.bounding_box()
    corners = [(low, low), (high, low), (high, high), (low, high), (low, low)]
    at = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in corners]
    page.mouse.move(*at[0])
    page.mouse.down()
    for x, y in at[1:]:
        page.mouse.move(x, y, steps=12)
    page.mouse.up()


def beside(workspace: Any, run_id: str) -> None:
    """Make a run that reads no private text and take a quick look at it, so that the board has two runs to draw."""
    corpus = workspace.runs.get(run_id).corpus_id
    other = workspace.jobs.synthesize(corpus, "public", count=OUTPUTS)
    wait_for(lambda: workspace.runs.get(other).state in ("done", "failed"), JOB_SECONDS, "no run to compare with")
    job = workspace.jobs.examine(other, model_attacks=False)
    wait_for(lambda: workspace.jobs.get(job).state in ("done", "failed"), JOB_SECONDS, "it was not examined")
    assert workspace.runs.get(other).examined_at is not None


def release(page: Any, workspace: Any, run_id: str, folder: Path, *, ends: bool = True) -> None:
    """Approve, build and download; of text without a proof (`ends`) the question says what it ends."""
    goto(page, "Release")
    check_accessibility(page, "release, nothing approved")
    for _ in range(workspace.runs.get(run_id).kept):
        waiting = workspace.runs.approval_counts(run_id)["pending"]
        shown = starting(page, "release.approved.").get_attribute("class")
        starting(page, "release.approved.").get_by_role("button").click()
        if (yes := yes_to(page)) is not None:
            yes.click()
        wait_for(
            lambda left=waiting: workspace.runs.approval_counts(run_id)["pending"] < left, 10, "approval was not saved"
        )
        if waiting > 1:  # a press on a record that was decided is not counted
            wait_for(
                lambda before=shown: starting(page, "release.approved.").get_attribute("class") != before, 20,
                "the next record is not shown",
            )  # fmt: skip
        settled(page)
    assert workspace.runs.approval_counts(run_id)["pending"] == 0
    page.get_by_test_id("stMain").evaluate("one => one.scrollTo(0, 0)")
    picture(page, "release")
    key(page, "release.build").get_by_role("button").click()
    sure = key(page, "release.build.sure").get_by_role("button")
    assert ("claim no ε" in sure.inner_text()) is ends
    sure.click()
    starting(page, "release.made.").first.wait_for()
    settled(page)
    check_accessibility(page, "release, built")
    (made,) = workspace.releases.all()
    assert made.records == workspace.runs.approval_counts(run_id)["approved"]
    with page.expect_download() as waiting_download:
        starting(page, "release.made.").first.get_by_role("button", name="Download").first.click()
    target = folder / "download"
    waiting_download.value.save_as(target)
    assert verify(target, manifest_sha256=made.manifest_sha256)["ok"]
