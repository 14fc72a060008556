"""From real reports to a verified bundle by the keyboard alone, as somebody new would go; pictures of each station.

The file is named by its path, since a file chooser is the browser's own. `UNDERSTUDY_STATIONS=FOLDER` keeps a picture
of each station there. The bundle is checked by the `verify.py` inside it, in an empty folder, by a Python that sees
nothing of this program, and refused once a byte of it was changed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tests.browser.test_whole_path import JOB_SECONDS, key, settled, starting, wait_for, yes_to

RECORDS, OUTPUTS = 150, 40
MOST_TABS, MOST_OPENED, MOST_ENTRIES = 500, 8, 12
FOCUSED = """one => { const at = one.getRootNode().activeElement; return !!at && (one === at || one.contains(at)) }"""
SLOW = 3 * JOB_SECONDS

pytestmark = [pytest.mark.browser, pytest.mark.long, pytest.mark.timeout(5400)]


@pytest.fixture
def acting() -> str:
    return ""


class Keys:
    """A person without a mouse."""

    def __init__(self, page: Any) -> None:
        self.page, self.pressed = page, 0

    def down(self, name: str, times: int = 1) -> None:
        for _ in range(times):
            self.page.keyboard.press(name)
            self.pressed += 1

    def to(self, target: Any) -> None:
        """Press Tab until the focus is on the first of what is named, or within it."""
        target.first.wait_for(timeout=SLOW * 1000)
        settled(self.page)
        for _ in range(MOST_TABS):
            if target.first.evaluate(FOCUSED):
                return
            self.down("Tab")
        raise AssertionError(f"not reached by {MOST_TABS} presses of Tab: {target}")

    def press(self, target: Any, name: str = "Enter") -> None:
        self.to(target)
        self.down(name)
        settled(self.page)

    def type(self, target: Any, words: str) -> None:
        self.to(target)
        self.page.keyboard.type(words)
        self.pressed += len(words)
        self.down("Enter")
        settled(self.page)

    def go(self, title: str) -> None:
        """Follow a link of the menu, in the list below its last entry where it does not stand in the line."""
        link, listed = (self.page.get_by_role(role, name=title) for role in ("link", "menuitem"))
        if link.count() and link.first.is_visible():
            self.press(link)
        else:
            for _ in range(MOST_OPENED):  # the list closes when the page is drawn anew, as when a job ends
                self.press(self.page.get_by_test_id("stTopNavSection"))  # the focus is on its first entry then
                self.page.wait_for_timeout(500)
                for _ in range(listed.count() and MOST_ENTRIES):
                    if listed.first.evaluate(FOCUSED):
                        break
                    self.down("ArrowDown")
                else:
                    continue
                self.down("Enter")
                break
        self.page.get_by_role("heading", level=1, name=title).wait_for(timeout=SLOW * 1000)
        settled(self.page)


def station(page: Any, name: str) -> None:
    folder = os.environ.get("UNDERSTUDY_STATIONS")
    if folder:
        page.wait_for_timeout(700)
        page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)


def reports(test_data: Path, folder: Path) -> Path:
    frame = pd.read_parquet(test_data / "vaers_1998_1999.parquet").head(RECORDS)
    path = folder / "reports.csv"
    frame[["report_id", "text", "state", "age_years", "outcome", "vaccine"]].to_csv(path, index=False)
    return path


def test_from_real_reports_to_a_verified_bundle_by_the_keyboard_alone(server, tab, tmp_path, test_data, capsys):
    page, requests = tab
    page.set_default_timeout(SLOW * 1000)
    keys = Keys(page)
    page.goto(server.url)
    page.get_by_role("heading", level=1, name="Home").wait_for()
    station(page, "1_home")
    load(page, keys, reports(test_data, tmp_path))
    workspace = server.open()
    (corpus,) = workspace.corpora.all()
    assert (corpus.records, corpus.unit) == (RECORDS, "record")
    review(page, keys, workspace, corpus.id)
    run_id = synthesise(page, keys, workspace)
    examine(page, keys, workspace, run_id)
    bundle = release(page, keys, workspace, tmp_path)
    check(bundle, tmp_path / "elsewhere")
    keys.go("Ledger")
    station(page, "9_ledger")
    assert requests.foreign() == []
    assert not server.watch.foreign
    assert "Traceback" not in server.log.read_text("utf-8")
    with capsys.disabled():
        print(f"\n{keys.pressed} keys from {RECORDS} reports to {workspace.releases.all()[0].records} records released")


def load(page: Any, keys: Keys, path: Path) -> None:
    keys.press(key(page, "home.load").get_by_role("button"))
    page.get_by_role("heading", level=1, name="Load").wait_for()
    keys.to(key(page, "load.way").get_by_role("radio").first)
    keys.down("ArrowDown")
    settled(page)
    keys.type(page.get_by_label("Path of a file, or of a folder of texts (.txt, .docx, .pdf)"), str(path))
    page.get_by_role("heading", name="5 · Import").wait_for()
    station(page, "2_load")
    keys.press(key(page, "load.import").get_by_role("button"))
    key(page, "load.next").wait_for()
    station(page, "3_loaded")


def review(page: Any, keys: Keys, workspace: Any, corpus: str) -> None:
    keys.go("Review")
    keys.press(key(page, "review.detect.start").get_by_role("button"))
    name = page.get_by_label("Your name")
    mark = page.locator(".mark[role=button]").first
    name.or_(mark).first.wait_for(timeout=SLOW * 1000)
    if name.count():
        keys.type(name, "Ann Newcomer")
        if key(page, "review.actor.keep").count():
            keys.press(key(page, "review.actor.keep").get_by_role("button"))
    mark.wait_for(timeout=SLOW * 1000)
    keys.to(page.locator(".mark[role=button][tabindex='0']"))
    keys.down("Enter")
    settled(page)
    for pressed, decided in (("a", 1), ("x", 2), ("Control+z", 1), ("x", 2)):
        keys.down(pressed)
        wait_for(lambda n=decided: workspace.review.span_counts(corpus)["decided"] == n, 60, f"{pressed} was not kept")
    station(page, "4_review")


def synthesise(page: Any, keys: Keys, workspace: Any) -> str:
    keys.go("Plan")
    deck = page.locator(".st-key-plan-cards, .st-key-plan-cards-all")
    card = deck.locator(".card[data-id=surrogate]")
    if not card.count():
        keys.press(key(page, "plan.all").locator("summary"))
    keys.press(card)
    assert card.first.get_attribute("aria-pressed") == "true"
    station(page, "5_plan")
    keys.press(page.get_by_role("button", name="Start: "))
    page.get_by_role("heading", level=1, name="Runs").wait_for()
    key(page, "run.examine").wait_for(timeout=SLOW * 1000)
    settled(page)
    station(page, "6_run")
    (run,) = workspace.runs.all()
    assert run.state == "done"
    return str(run.id)


def examine(page: Any, keys: Keys, workspace: Any, run_id: str) -> None:
    keys.press(key(page, "run.examine").get_by_role("button"))
    wait_for(lambda: workspace.runs.get(run_id).examined_at is not None, SLOW, "the examination did not end")
    keys.go("Utility")
    keys.go("Privacy")
    station(page, "7_privacy")


def release(page: Any, keys: Keys, workspace: Any, folder: Path) -> Path:
    keys.go("Release")
    for _ in range(2):
        before = workspace.runs.approval_counts(workspace.runs.all()[0].id)["approved"]
        keys.press(starting(page, "release.approved.").get_by_role("button"))
        if (yes := yes_to(page)) is not None:
            keys.press(yes)
        wait_for(
            lambda n=before: workspace.runs.approval_counts(workspace.runs.all()[0].id)["approved"] > n, 120,
            "it was not approved",
        )  # fmt: skip
    station(page, "8_release")
    keys.press(key(page, "release.build").get_by_role("button"))
    keys.press(key(page, "release.build.sure").get_by_role("button"))
    starting(page, "release.made.").first.wait_for(timeout=SLOW * 1000)
    settled(page)
    station(page, "8_released")
    (made,) = workspace.releases.all()
    target = folder / "bundle.zip"
    with page.expect_download() as waiting:
        keys.press(key(page, f"release.zip.{made.id}").get_by_role("button"))
    waiting.value.save_as(target)
    return target


def check(bundle: Path, empty: Path) -> None:
    """Check a bundle where nothing of this program is, with Python's own library alone."""
    empty.mkdir()
    shutil.unpack_archive(bundle, empty / "bundle")

    def verified() -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-I", "-S", "bundle/verify.py", "bundle"], cwd=empty, capture_output=True, text=True,
            check=False, env={},
        )  # fmt: skip

    sound = verified()
    assert sound.returncode == 0, sound.stdout + sound.stderr
    for path in sorted((empty / "bundle").iterdir()):
        if path.name == "verify.py":
            continue
        kept = path.read_bytes()
        path.write_bytes(kept[:-2] + bytes([kept[-2] ^ 1]) + kept[-1:])
        assert verified().returncode != 0, f"a byte of {path.name} was changed"
        path.write_bytes(kept)
    assert verified().returncode == 0
