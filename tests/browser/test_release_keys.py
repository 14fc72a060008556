"""Keys on Release faster than it draws, and a reload: no decision is lost without a word, nothing else is looked at."""

from __future__ import annotations

from typing import Any

import pytest

from engine.store.database.schema import synthetic
from tests.browser.test_whole_path import goto, key, settled, starting, wait_for

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]


def rejected(workspace: Any, run_id: str) -> list[str]:
    """Return the records that were rejected, in the page's order."""
    rows = workspace.runs.synthetic(run_id, limit=25, order="risk")
    return [str(row.record_id) for row in rows.itertuples() if row.approval == "rejected"]


def test_each_key_counts_or_is_said_not_to(server, tab):
    page, _ = tab
    workspace = server.open()
    corpus = workspace.corpora.import_sample("support_tickets")
    workspace.review.use_gold(corpus.id)
    run_id = workspace.jobs.synthesize(corpus.id, "surrogate")
    wait_for(lambda: workspace.runs.get(run_id).state == "done", 120, "the surrogates did not end")
    order = [str(record) for record in workspace.runs.synthetic(run_id, limit=25, order="risk")["record_id"]]
    page.goto(server.url)
    settled(page)
    goto(page, "Release")
    settled(page)
    page.locator('[class*="st-key-release-approved-"] button').wait_for()
    said = page.get_by_text("was not counted")
    assert said.count() == 0

    for place in range(3):  # at the pace of a reader
        page.keyboard.press("x")
        wait_for(lambda place=place: len(rejected(workspace, run_id)) == place + 1, 20, "a key was lost")
        settled(page)
        page.wait_for_timeout(300)
    assert rejected(workspace, run_id) == order[:3]
    assert said.count() == 0

    for name in "xxax":  # faster than any page draws: the first one counts, the others are told
        page.keyboard.press(name)
        page.wait_for_timeout(20)
    said.wait_for()
    settled(page)
    page.wait_for_timeout(1500)
    assert rejected(workspace, run_id) == order[:4]
    assert workspace.runs.approval_counts(run_id)["approved"] == 0, "no key fell on a record that was not seen"
    assert said.count() == 1, "it stands until a key counts"

    page.keyboard.press("a")
    wait_for(lambda: workspace.runs.approval_counts(run_id)["approved"] == 1, 20, "keys do not count again")
    settled(page)
    assert said.count() == 0


def test_a_key_held_down_answers_no_question_and_decides_on_one_record(server, tab):
    page, _ = tab
    workspace = server.open()
    corpus = workspace.corpora.import_sample("support_tickets")
    workspace.review.use_gold(corpus.id)
    run_id = workspace.jobs.synthesize(corpus.id, "surrogate", count=3)
    wait_for(lambda: workspace.runs.get(run_id).state == "done", 120, "the surrogates did not end")

    def measured(risk: float) -> None:  # as an examination leaves it, which takes minutes here
        with workspace.session.db.write() as connection:
            connection.execute(synthetic.update().where(synthetic.c.run_id == run_id).values(risk=risk))

    measured(0.95)
    page.goto(server.url)
    settled(page)
    goto(page, "Release")
    settled(page)
    page.keyboard.down("a")
    asked = starting(page, "release.sure.").get_by_role("button")
    asked.wait_for()
    settled(page)
    for _ in range(3):
        page.keyboard.down("a")  # as a key that was never let go
        page.wait_for_timeout(200)
    assert workspace.runs.approval_counts(run_id)["approved"] == 0
    page.keyboard.up("a")
    page.keyboard.press("a")
    wait_for(lambda: workspace.runs.approval_counts(run_id)["approved"] == 1, 20, "the second key does not count")

    measured(0.1)
    page.reload()
    settled(page)
    starting(page, "release.approved.").get_by_role("button").wait_for()
    page.keyboard.press("j")
    settled(page)
    page.keyboard.down("a")
    wait_for(lambda: workspace.runs.approval_counts(run_id)["approved"] == 2, 20, "a key of low risk does not count")
    for _ in range(8):
        page.keyboard.down("a")
        page.wait_for_timeout(300)
    assert workspace.runs.approval_counts(run_id)["approved"] == 2, "the third record was not looked at yet"
    page.keyboard.up("a")


def test_a_reload_looks_at_the_same_corpus_and_run(server, tab):
    page, _ = tab
    workspace = server.open()
    older = workspace.corpora.import_sample("support_tickets")
    workspace.review.use_gold(older.id)
    first, second = (workspace.jobs.synthesize(older.id, "surrogate", seed=seed) for seed in (1, 2))
    wait_for(lambda: workspace.runs.get(second).state == "done", 120, "the surrogates did not end")
    newer = workspace.corpora.import_sample("clinic_letters")
    page.goto(server.url)
    settled(page)
    chosen = key(page, "sidebar.corpus").get_by_role("combobox")
    assert chosen.input_value() == newer.name
    chosen.click()
    page.get_by_role("option", name=older.name).click()
    settled(page)
    goto(page, "Runs")
    picker = key(page, "run.choice").get_by_role("combobox")
    shown = picker.input_value()
    picker.click()
    options = page.get_by_role("option")
    other = next(text for text in options.all_inner_texts() if text != shown)
    options.get_by_text(other, exact=True).click()
    settled(page)
    assert picker.input_value() == other
    page.reload()
    settled(page)
    assert (chosen.input_value(), picker.input_value()) == (older.name, other)
    assert first != second


def test_keys_count_after_a_policy_was_chosen_and_never_where_letters_are_typed_or_a_question_stands(server, tab):
    page, _ = tab
    workspace = server.open()
    corpus = workspace.corpora.import_sample("support_tickets")
    workspace.review.use_gold(corpus.id)
    run_id = workspace.jobs.synthesize(corpus.id, "surrogate")
    wait_for(lambda: workspace.runs.get(run_id).state == "done", 120, "the surrogates did not end")
    page.goto(server.url)
    settled(page)
    goto(page, "Release")
    settled(page)
    starting(page, "release.approved.").get_by_role("button").wait_for()
    key(page, "release.policy.choice").locator("input[type=radio]:checked").focus()
    for name in ("ArrowRight", "ArrowLeft"):
        page.keyboard.press(name)
        settled(page)
        page.wait_for_timeout(500)
    assert page.evaluate("document.activeElement.type") == "radio"
    for place in range(2):
        page.keyboard.press("x")
        wait_for(lambda place=place: len(rejected(workspace, run_id)) == place + 1, 20, "a key was lost")
        settled(page)
        page.wait_for_timeout(300)
    key(page, "release.card.purpose").get_by_role("textbox").fill("A")
    for name in "xax":
        page.keyboard.press(name)
    page.keyboard.press("Tab")
    settled(page)
    key(page, "release.preview").get_by_role("button").click()
    page.get_by_role("dialog").wait_for()
    for name in "xax":
        page.keyboard.press(name)
    page.wait_for_timeout(1000)
    assert len(rejected(workspace, run_id)) == 2
    assert workspace.runs.approval_counts(run_id)["approved"] == 0
