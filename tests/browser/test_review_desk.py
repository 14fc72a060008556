"""Review at the speed of a hand: no key is lost, on a busy machine, over a reload, in two tabs."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import engine
from engine import NAME_LABELS
from engine.store.database.schema import spans
from tests.browser.test_whole_path import check_accessibility, settled

pytestmark = [pytest.mark.browser, pytest.mark.timeout(400)]
SAMPLE = "clinic_letters"
GAP = 150  # milliseconds between keys
SLOW = 20_000  # milliseconds that a page drawn anew may take on a busy machine
KEYS = "aaxajaxkauxnaaXnxanu"
BACK_AND_FORTH = "xauu" * 10  # ends where it began
DRAWINGS = 5  # an answer takes as long as that many drawings of the desk at most; 1.2 as measured

# Presses keys and says of each whether the desk changed before the press returned (nothing of the server can come in
# between), how long the page took, and how long it takes to lay out a copy of the desk.
ANSWERS = """(first, keys) => {
    const root = first.getRootNode()
    const laid_out = () => document.body.getBoundingClientRect()
    return [...keys].map((key) => {
        const before = root.querySelector(".desk").innerHTML
        const begin = performance.now()
        document.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }))
        laid_out()
        const end = performance.now()
        const desk = root.querySelector(".desk")
        const changed = desk.innerHTML !== before
        const again = performance.now()
        const copy = desk.cloneNode(true)
        desk.after(copy)
        laid_out()
        copy.remove()
        laid_out()
        return { changed, took: end - begin, drawn: performance.now() - again }
    })
}"""


@dataclass
class Hand:
    """What the keys mean, on a workspace of its own, decided with the engine one by one."""

    workspace: engine.Workspace
    corpus: str
    order: list[str]
    record: str
    span: str | None = None
    made: list[tuple[str, str | None]] = field(default_factory=list)

    def spans(self) -> list[engine.SpanView]:
        return self.workspace.review.spans(self.corpus, self.record)

    def chosen(self) -> engine.SpanView | None:
        spans = self.spans()
        found = next((s for s in spans if s.span_id == self.span), None)
        return found or (next((s for s in spans if not s.decided), None) if self.span is None else None)

    def press(self, keys: str) -> None:
        for key in keys:
            span = self.chosen()
            self.span = span.span_id if span else self.span
            if key in "axX" or key in "An":
                self.made.append((self.record, self.span))
            if key in "ax":
                assert span is not None, "a key of this test would fall on nothing"
                self.decide(span, key)
            elif key in "AX":
                ids = [s.span_id for s in self.spans() if not s.decided]
                self.workspace.review.decide(self.corpus, ids, "accept" if key == "A" else "reject")
                self.span = ""
            elif key in "jk":
                self.step(1 if key == "j" else -1)
            elif key == "n":
                self.workspace.review.mark_reviewed(self.corpus, [self.record])
                after = self.order.index(self.record)
                rest = self.order[after + 1 :] + self.order[:after]
                self.record, self.span = self.workspace.review.ahead(self.corpus, None, rest, 1).records[0], None
            elif key == "u":
                assert self.workspace.review.undo(self.corpus)
                self.record, self.span = self.made.pop()

    def decide(self, span: engine.SpanView, key: str) -> None:
        here = self.workspace.review.unmarked_places(self.corpus, span.span_id)["record"]
        if key == "a" and here and span.label in NAME_LABELS:
            self.workspace.review.accept_same(self.corpus, span.span_id)
        else:
            self.workspace.review.decide(self.corpus, [span.span_id], "accept" if key == "a" else "reject")
        spans = self.spans()
        at = next(i for i, s in enumerate(spans) if s.span_id == span.span_id)
        target = next((s for s in [*spans[at + 1 :], *spans] if not s.decided), None)
        self.span = target.span_id if target else ""

    def step(self, by: int) -> None:
        ids = [s.span_id for s in self.spans()]
        at = (ids.index(self.span) if self.span in ids else -1 if by > 0 else len(ids)) + by
        if 0 <= at < len(ids):
            self.span = ids[at]


def state_of(workspace: engine.Workspace, corpus: str, records: list[str]) -> list[tuple[object, ...]]:
    """Return what counts of every place of these records, and which of them were read."""
    places: list[tuple[object, ...]] = [
        (record, s.start, s.end, s.label, s.state, s.decided)
        for record in records
        for s in workspace.review.spans(corpus, record)
    ]
    read = workspace.review.rows(corpus, records)
    return places + list(zip(read["record_id"], read["reviewed"], strict=True))


@contextmanager
def busy(processes: int) -> Iterator[None]:
    """Keep the processors at work."""
    started = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(processes)]
    try:
        yield
    finally:
        for one in started:
            one.kill()


@pytest.fixture
def hand(tmp_path: Path) -> Hand:
    """Return the model of the keys on a workspace that holds the same sample."""
    workspace = engine.open_workspace(tmp_path / "model")
    corpus = workspace.corpora.import_sample(SAMPLE)
    workspace.review.use_gold(corpus.id)
    order = workspace.review.order(corpus.id)
    return Hand(workspace, corpus.id, order, order[0])


def opened(server: Any, page: Any) -> tuple[engine.Workspace, str]:
    """Import the sample into the server's workspace and open its review."""
    workspace = server.open()
    corpus = workspace.corpora.import_sample(SAMPLE)
    workspace.review.use_gold(corpus.id)
    page.goto(f"{server.url}/review")
    ready(page)
    return workspace, corpus.id


def ready(page: Any) -> None:
    page.locator(".desk .mark[role=button]").first.wait_for()
    settled(page)


def type_keys(page: Any, keys: str) -> None:
    for one in keys:
        page.keyboard.press(f"Shift+{one}" if one.isupper() else one)
        page.wait_for_timeout(GAP)


def first_mark(page: Any) -> str:
    """Return the classes of the first mark of the open text."""
    return str(page.locator(".desk .text .mark").first.get_attribute("class"))


def counted(page: Any) -> None:
    """Wait for the answer to the tab's last question: how often the words in sight stand elsewhere.

    A tab asks it when the hand has rested, once more where no answer came for long, and each answer brings the texts
    as they are by then.
    """
    page.get_by_text("The same words elsewhere: counting").wait_for(state="hidden")
    page.locator(".desk .status[data-waiting='0'][data-unanswered='0']").wait_for()
    settled(page)


def stored(page: Any, seconds: float = 60) -> None:
    page.locator(".desk .status[data-waiting='0']").wait_for(timeout=seconds * 1000)
    page.get_by_text("All stored").wait_for(timeout=seconds * 1000)


@pytest.mark.parametrize("load", [0, 4], ids=["idle", "busy"])
def test_no_key_is_lost_and_each_is_answered_at_once(server, tab, hand, load):
    page, _ = tab
    workspace, corpus = opened(server, page)
    with busy(load):
        type_keys(page, KEYS)
        stored(page, 120)  # and the texts that the keys led to are there: a key on one that is not yet waits for it
        answers = page.locator(".desk").first.evaluate(ANSWERS, BACK_AND_FORTH)
        stored(page, 120)
    hand.press(KEYS + BACK_AND_FORTH)
    assert state_of(workspace, corpus, hand.order[:8]) == state_of(hand.workspace, hand.corpus, hand.order[:8])
    assert all(one["changed"] for one in answers), "each key is seen before anything else could answer it"
    took, drawn = (min(one[what] for one in answers) for what in ("took", "drawn"))  # one that nothing cut short
    assert took < DRAWINGS * drawn, (took, drawn)
    assert f"Text {hand.record}" in page.locator(".desk .middle .head").first.inner_text()
    assert page.get_by_text("Traceback").count() == 0


def test_a_reload_loses_nothing(server, tab, hand):
    page, _ = tab
    workspace, corpus = opened(server, page)
    type_keys(page, "axa")
    stored(page)
    hand.press("axa")
    assert state_of(workspace, corpus, hand.order[:3]) == state_of(hand.workspace, hand.corpus, hand.order[:3])
    with busy(4):
        for one in "xxaxa":
            page.keyboard.press(one)
        page.reload()  # before the server can have heard of all of them
    ready(page)
    stored(page)
    hand.press("xxaxa")
    assert state_of(workspace, corpus, hand.order[:3]) == state_of(hand.workspace, hand.corpus, hand.order[:3])
    kept = page.evaluate("() => Object.keys(localStorage).filter((key) => key.startsWith('understudy.review.'))")
    assert kept == []


def test_two_tabs_decide_the_same_finding_and_the_one_that_saw_less_is_told(server, tab):
    page, _ = tab
    opened(server, page)
    second = page.context.new_page()
    second.goto(f"{server.url}/review")
    ready(second)
    counted(second)  # else its question, asked after the first tab's key, would let it see that decision
    page.keyboard.press("x")
    stored(page)
    second.keyboard.press("a")
    second.get_by_text("somebody decided on it since").wait_for(timeout=120_000)
    stored(second)
    page.keyboard.press("k")  # a step asks the server
    for one in (page, second):
        deadline = time.monotonic() + 60
        while not {"stays", "decided"} <= set(first_mark(one).split()):
            assert time.monotonic() < deadline, first_mark(one)
            one.wait_for_timeout(200)
    second.keyboard.press("k")  # now it is seen, and may be decided otherwise
    second.keyboard.press("a")
    stored(second)
    assert "goes" in first_mark(second)


def test_the_desk_is_accessible_and_keeps_its_columns_on_a_small_screen(server, tab):
    page, _ = tab
    opened(server, page)
    page.set_viewport_size({"width": 1024, "height": 768})
    settled(page)
    check_accessibility(page, "review at 1024")
    for name in ("Text", "Open", "Risk"):
        box = page.locator(".desk th", has_text=name).bounding_box()
        pane = page.locator(".desk .queue").bounding_box()
        assert box["x"] + box["width"] <= pane["x"] + pane["width"] + 1, name
    assert page.get_by_test_id("stMain").evaluate("one => one.scrollTop") == 0, "the list scrolls, not the page"
    text, side = (page.locator(f".desk .{name}").bounding_box() for name in ("original", "side"))
    assert text["width"] > 400, "as wide as a line of text"
    assert side["y"] < text["y"] < 500, "its card stands beside it"
    for key, held in (("x", "reject"), ("a", "accept")):  # what holds is filled, and the other is not
        type_keys(page, f"{key}k")
        for one in ("accept", "reject"):
            found = page.locator(f'.desk [data-act="{one}"]')
            assert ("primary" in (found.get_attribute("class") or "")) is (one == held), (key, one)
            assert found.get_attribute("aria-pressed") == str(one == held).lower()
        type_keys(page, "u")
    stored(page)
    order = page.locator(".desk .open").all_inner_texts()
    type_keys(page, "aaaa")
    stored(page)
    assert page.locator(".desk .open").all_inner_texts() == order


def keep_act(page: Any, corpus: str, act: dict[str, Any]) -> None:
    """Leave an unsent act in the browser's storage, as a page load does that is gone."""
    page.evaluate(
        "([key, act]) => localStorage.setItem(key, JSON.stringify([{ ...act, at: Date.now() }]))",
        [f"understudy.review.{corpus}.{act['client']}", act],
    )


def test_an_old_unsent_act_does_not_overwrite_a_later_decision(server, tab):
    page, _ = tab
    workspace, corpus = opened(server, page)
    record = workspace.review.order(corpus)[0]
    span = workspace.review.spans(corpus, record)[0]
    upon = workspace.review.sheets(corpus, [record])[0].upon
    workspace.review.decide(corpus, [span.span_id], "accept")  # somebody else, later
    old = {"client": "0" * 16, "seq": 1, "action": "reject", "span": span.span_id, "upon": upon, "beside": []}
    keep_act(page, corpus, old)
    page.reload()
    page.get_by_text("somebody decided on it since").wait_for()
    stored(page)
    assert workspace.review.spans(corpus, record)[0].state == "accepted"
    assert page.evaluate("() => Object.keys(localStorage).filter((key) => key.startsWith('understudy.review.'))") == []


def test_undo_takes_back_this_tabs_decisions_alone_and_survives_a_reload(server, tab):
    page, _ = tab
    workspace, corpus = opened(server, page)
    record = workspace.review.order(corpus)[0]
    other = workspace.review.spans(corpus, record)[-1]
    workspace.review.decide(corpus, [other.span_id], "reject")
    page.keyboard.press("u")
    page.get_by_text("Nothing was decided since this page was opened").wait_for()
    page.keyboard.press("x")
    stored(page)
    page.reload()
    ready(page)
    page.keyboard.press("u")
    page.keyboard.press("u")  # once more than was done here
    page.get_by_text("Nothing was decided since this page was opened").wait_for()
    stored(page)
    found = workspace.review.spans(corpus, record)
    assert [(s.state, s.decided) for s in (found[0], found[-1])] == [("accepted", False), ("rejected", True)]


def test_a_second_tab_leaves_the_acts_of_a_living_one_and_takes_over_those_of_a_closed_one(server, tab):
    page, _ = tab
    workspace, corpus = opened(server, page)
    record = workspace.review.order(corpus)[0]
    sheet = workspace.review.sheets(corpus, [record])[0]
    client = "1" * 16
    # The first tab lives under this name too, and holds an act that it has not sent.
    page.evaluate("(name) => { navigator.locks.request(name, () => new Promise(() => {})) }",
                  f"understudy.review.{corpus}.{client}")  # fmt: skip
    act = {"client": client, "seq": 1, "action": "reject", "span": sheet.spans[0].span_id, "upon": sheet.upon}
    keep_act(page, corpus, {**act, "beside": []})
    kept = "() => Object.keys(localStorage).filter((key) => key.startsWith('understudy.review.')).length"
    second = page.context.new_page()
    second.goto(f"{server.url}/review")
    ready(second)
    second.keyboard.press("j")
    second.keyboard.press("x")
    stored(second)
    assert second.evaluate(kept) == 1
    assert not workspace.review.spans(corpus, record)[0].decided
    names = second.evaluate("async () => (await navigator.locks.query()).held.length")
    assert names == 3, "each of both tabs under its own name, and the one of this test"
    page.close()
    second.get_by_text("1 decision from before the page was opened again").wait_for()
    stored(second)
    assert second.evaluate(kept) == 0
    assert workspace.review.spans(corpus, record)[0].state == "rejected"


def test_the_desk_is_left_while_a_message_is_on_its_way(server, tab):
    page, _ = tab
    workspace, corpus = opened(server, page)
    made = 0
    for pause in (0, 60, 150, 300, 420):  # the desk asks for counts 400 ms after the last key
        page.keyboard.press("a")
        made += 1
        page.wait_for_timeout(pause)
        page.get_by_test_id("stMain").locator("label").filter(has_text="Spot check").first.click()
        settled(page)
        assert page.get_by_text("This page has a fault").count() == 0
        page.get_by_test_id("stMain").locator("label").filter(has_text="Text by text").first.click()
        ready(page)
        stored(page)
    counts = workspace.review.span_counts(corpus)
    assert counts["accepted"] >= made, "what was decided before the desk was left is stored"


def test_a_desk_that_is_drawn_anew_stays_where_the_hand_is(server, tab):
    """The server heard of one text that was read, the browser is two further: the next key is meant for that one."""
    page, _ = tab
    workspace, corpus = opened(server, page)
    counted(page)
    head = page.locator(".desk .middle .head").first
    views = page.get_by_test_id("stMain").locator("label")
    server.process.send_signal(signal.SIGSTOP)  # as slow as a machine can be
    try:
        for _ in range(2):  # the second waits until the first is answered
            page.keyboard.press("n")
            page.wait_for_timeout(GAP)
        there = head.inner_text().split(" · ")[0]
        views.filter(has_text="Spot check").first.click()
        page.wait_for_timeout(GAP)
    finally:
        server.process.send_signal(signal.SIGCONT)
    page.locator(".desk").wait_for(state="detached")
    settled(page)
    views.filter(has_text="Text by text").first.click()
    ready(page)
    assert head.inner_text().split(" · ")[0] == there
    page.keyboard.press("x")  # the choice of the view has the focus, and takes no letters
    stored(page)
    assert head.inner_text().split(" · ")[0] == there
    order = workspace.review.order(corpus, order="risk")
    record = there.removeprefix("Text ")
    assert record in order
    decided = {one: [s.state for s in workspace.review.spans(corpus, one) if s.decided] for one in order}
    assert "rejected" in decided[record]
    assert not any("rejected" in states for one, states in decided.items() if one != record)


def test_what_points_at_a_person_is_listed_and_going_on_says_what_it_closes(server, tab):
    from playwright.sync_api import expect

    page, _ = tab
    workspace = server.open()
    corpus = workspace.corpora.import_sample(SAMPLE).id
    workspace.review.use_gold(corpus)
    with workspace.session.db.write() as connection:
        stays = (spans.c.corpus_id == corpus, spans.c.position == 7, spans.c.identifier_type == "direct")
        connection.execute(spans.update().where(*stays).values(state="rejected"))
    (record,) = workspace.review.order(corpus, state="pressing")
    page.goto(f"{server.url}/review")
    ready(page)
    page.locator(".desk .pressing").get_by_text("until you decide.").wait_for()
    page.get_by_role("button", name="See them").click()
    page.get_by_text("Only texts with such findings are listed.").wait_for()
    settled(page)
    expect(page.locator(".desk .rows tr")).to_have_count(1, timeout=SLOW)
    expect(page.locator(".desk .middle .head").first).to_contain_text(f"Text {record}", timeout=SLOW)
    expect(page.locator(".desk .text .mark.active").first).to_have_class(re.compile(r"\bstays\b"), timeout=SLOW)
    done = page.locator(".desk button[data-act=finish]")
    number = len(workspace.review.spans(corpus, record))
    expect(done).to_contain_text(f"Done: all {number} as marked", timeout=SLOW)
    page.keyboard.press("x")  # where the desk is away, being drawn, the key is kept until it stands again
    expect(done).to_contain_text(f"Done: the other {number - 1} as marked", timeout=SLOW)
    page.keyboard.press("l")
    expect(page.locator(".desk .look")).to_be_visible(timeout=SLOW)
    expect(page.locator(".desk .original")).to_be_hidden(timeout=SLOW)
    page.keyboard.press("Shift+X")
    expect(done).to_contain_text("Done, next text", timeout=SLOW)
    stored(page)
    page.get_by_role("button", name="Show all texts").click()
    page.locator(".desk .rows tr").nth(5).wait_for()
