"""Prompt packs and pools in a real worker: what leaves is listed and logged first, and rounds by files add up."""

from __future__ import annotations

import json

import pytest
from sqlalchemy.exc import DatabaseError

from engine.errors import NotFoundError, RefusedError, StorageError, UserError
from engine.jobs.packs import DECLARED
from tests.jobs.conftest import wait, without_worker
from tests.pool_runs import chosen
from tests.store.making import examine

WORDS = {
    "domain": "clinical", "kind": "letter", "topics": ["sore knees"], "labels": ["knee", "hip"], "lengths": [30, 60],
    "styles": ["tersely"], "count": 12,
}  # fmt: skip
MADE = {"origin": "a large model elsewhere", "licence": "CC0", "declared": True}


def written(workspace, words=WORDS, run_id=""):
    return workspace.packs.write(words, run_id, declared=True)


def answers(prompts, text=lambda i, one: f"Answer {i}: the knee was sore for {i} days and then it went away again."):
    """Return a service's file with an answer a prompt, as a model gives them."""
    lines = [
        {"custom_id": one.id, "response": {"body": {"choices": [{"message": {"content": text(i, one)}}]}}}
        for i, one in enumerate(prompts)
    ]
    return "\n".join(map(json.dumps, lines)).encode()


def actions(workspace):
    return list(workspace.audit.lines()["action"])[::-1]


@pytest.fixture
def pool(workspace):
    """Return a pool of forty answers to a pack of public words."""
    pack = written(workspace, WORDS | {"count": 40})
    return workspace.pools.import_file(answers(workspace.packs.prompts_of(pack.id)), "a.jsonl", name="first", **MADE)


@pytest.fixture
def alone(workspace, monkeypatch):
    """Start no worker: what a run leaves is written as the worker writes it."""
    without_worker(workspace, monkeypatch)


def run_of(workspace, corpus, pool, **settings):
    run_id = workspace.jobs.synthesize(corpus.id, "dp-select", count=6, parameters={"pool": pool, **settings})
    job = wait(workspace, workspace.runs.get(run_id).job_id, seconds=240)
    assert job.state == "done", job.error
    return run_id


def test_nothing_leaves_before_it_is_listed_declared_and_logged(workspace):
    draft = workspace.packs.draft(WORDS)
    assert len(draft.prompts) == 12
    assert {one.what: one.why for one in draft.listed}["Topics"] == "declared public by whoever wrote the pack"
    assert {one.what for one in draft.listed} >= {
        "Labels",
        "Lengths (words)",
        "Who writes",
        "Styles",
        "Number of prompts",
    }
    assert workspace.packs.all() == []
    with pytest.raises(RefusedError, match="declaration"):
        workspace.packs.write(WORDS, declared=False)
    assert workspace.packs.all() == []
    pack = written(workspace)
    assert actions(workspace)[-1] == "prompt pack logged"
    name, data = workspace.packs.file(pack.id, "openai", "some-model")
    assert actions(workspace)[-1] == "prompt pack file made"
    assert name == f"prompts-{pack.id}-openai.jsonl"
    lines = [json.loads(line) for line in data.decode().splitlines()]
    assert [line["custom_id"] for line in lines] == [one.id for one in workspace.packs.prompts_of(pack.id)]
    assert "sore knees" in lines[0]["body"]["messages"][0]["content"]
    detail = json.loads(workspace.audit.lines().iloc[1]["detail"])
    assert (detail["sha256"], detail["declared"]) == (pack.digest, DECLARED)
    assert "sore knees" not in "".join(workspace.audit.lines()["detail"])


@pytest.mark.parametrize("form", ["anthropic", "gemini", "jsonl", "text"])
def test_every_format_names_its_prompts_and_nothing_else(workspace, form):
    pack = written(workspace)
    _, data = workspace.packs.file(pack.id, form, "m")
    prompts = workspace.packs.prompts_of(pack.id)
    assert all(one.id in data.decode() for one in prompts)
    assert all(one.label in (None, "knee", "hip") for one in prompts)
    assert "http" not in data.decode()
    with pytest.raises(UserError, match="names the model"):
        workspace.packs.file(pack.id, "anthropic")
    with pytest.raises(UserError, match="format 'docx'"):
        workspace.packs.file(pack.id, "docx")


def test_the_same_words_give_the_same_prompts_whatever_is_in_the_corpus(workspace, corpus):
    before = [one.prompt for one in workspace.packs.draft(WORDS).prompts]
    workspace.corpora.delete(corpus.id)
    assert [one.prompt for one in workspace.packs.draft(WORDS).prompts] == before
    assert len(set(before)) > 6


def test_what_left_can_not_be_changed_or_taken_out(workspace):
    pack = written(workspace)
    for statement in (f"UPDATE packs SET actor = 'x' WHERE id = '{pack.id}'", "DELETE FROM packs"):
        with pytest.raises((DatabaseError, StorageError)), workspace.session.db.write() as connection:
            connection.exec_driver_sql(statement)
    assert workspace.packs.get(pack.id) == pack
    with pytest.raises(NotFoundError):
        workspace.packs.get("k-nothing")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ({"topics": [""]}, "topics"), ({"lengths": [1]}, "lengths"), ({"count": 0}, "count"),
        ({"domain": "news"}, "domain"), ({"who": "me"}, "who"),
    ],
)  # fmt: skip
def test_words_that_break_a_rule_are_named(workspace, words, says):
    with pytest.raises(UserError, match=says):
        workspace.packs.draft(WORDS | words)


def test_a_pool_needs_its_declaration_its_origin_and_a_name_of_its_own(workspace):
    data = b"text\nThe knee was sore for a week and then it went away.\n"
    for change, says in (
        ({"declared": False}, "declaration"), ({"origin": ""}, "origin"), ({"licence": "?"}, "licence"),
        ({"name": "Über Pool"}, "small letters"), ({"pack_id": "k-none"}, "k-none"),
    ):  # fmt: skip
        with pytest.raises((UserError, NotFoundError), match=says):
            workspace.pools.import_file(data, "p.csv", **({"name": "one", **MADE} | change))
    assert workspace.pools.all() == []
    workspace.pools.import_file(data, "p.csv", name="one", **MADE)
    with pytest.raises(UserError, match="called one already"):
        workspace.pools.import_file(data, "p.csv", name="one", **MADE)
    workspace.pools.delete("one")
    assert actions(workspace)[-2:] == ["pool imported", "pool deleted"]


def test_answers_find_back_to_their_prompts_labels_and_lose_their_chatter(workspace):
    pack = written(workspace)
    prompts = workspace.packs.prompts_of(pack.id)
    said = lambda i, one: f"Sure! Here is a letter:\n\nLetter {i} says that the knee hurt a lot in spring."  # noqa: E731
    pool = workspace.pools.import_file(answers(prompts, said), "a.jsonl", name="one", **MADE)
    assert (pool.pack_id, pool.labels, pool.rounds) == (pack.id, {"hip": 6, "knee": 6}, ())
    texts = workspace.pools.texts("one")
    assert all(text.startswith("Letter ") for text in texts["text"])
    assert list(texts["label"]) == [one.label for one in prompts]
    other = written(workspace)
    both = answers(prompts) + b"\n" + answers(workspace.packs.prompts_of(other.id))
    with pytest.raises(UserError, match="several packs"):
        workspace.pools.import_file(both, "a.jsonl", name="two", **MADE)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_two_rounds_by_files_pay_as_planned_and_the_second_counts_the_first(workspace, corpus, pool):
    workspace.ledger.set_limit(corpus.id, 30.0, 1e-4)
    first = run_of(workspace, corpus, pool.name, epsilon=2.0, delta=1e-5)
    assert workspace.packs.runs(corpus.id) == [first]
    words = {"domain": "clinical", "variations": 3, "operator": "vary"}
    listed = {one.what: one.why for one in workspace.packs.draft(words, first).listed}
    assert f"protected output of run {first} (ε = 2" in listed["Winners"]
    pack = written(workspace, words, first)
    line = workspace.ledger.of(corpus.id).lines.iloc[-1]
    assert (line["kind"], line["what"], line["epsilon"]) == ("release", "prompt pack", 2.0)
    prompts = workspace.packs.prompts_of(pack.id)
    winners = set(workspace.runs.synthetic_frame(first)["text"])
    assert {one.parent for one in prompts} == winners
    assert len(prompts) == 18
    assert all(one.votes is not None and one.parent in one.prompt for one in prompts)
    varied = answers(prompts, lambda i, one: f"{one.parent} It came back after {i} weeks of rest.")
    second = workspace.pools.import_file(varied, "b.jsonl", name="second", **MADE)
    assert (second.rounds, second.texts) == ((first,), 24)
    assert winners <= set(workspace.pools.texts("second")["text"])
    draft = workspace.plan.draft(
        corpus.id, "dp-select", count=6, parameters={"pool": "second", "epsilon": 1.0, "delta": 1e-5}
    )
    assert (draft.guarantee.epsilon, draft.guarantee.delta) == pytest.approx((3.0, 2e-5))
    assert f"what these people's votes chose in run {first}" in draft.guarantee.sentence
    assert "declared on" in draft.guarantee.sentence
    last = run_of(workspace, corpus, "second", epsilon=1.0, delta=1e-5)
    kinds = workspace.ledger.of(corpus.id).lines
    assert list(kinds[kinds["run_id"] == last]["kind"]) == ["reserve", "spend", "spend", "settle"]
    third = workspace.packs.draft(words, last)
    assert "ε = 3" in {one.what: one.why for one in third.listed}["Winners"]
    pack = written(workspace, words, last)
    again = workspace.pools.import_file(answers(workspace.packs.prompts_of(pack.id)), "c.jsonl", name="third", **MADE)
    assert set(again.rounds) == {first, last}
    draft = workspace.plan.draft(
        corpus.id, "dp-select", count=6, parameters={"pool": "third", "epsilon": 1.0, "delta": 1e-5}
    )
    assert draft.guarantee.epsilon == pytest.approx(4.0)


def test_a_further_round_counts_the_first_and_goes_with_no_other_unit(workspace, corpus, pool, alone):
    workspace.ledger.set_limit(corpus.id, 30.0, 1e-4)
    first = chosen(workspace, corpus.id, pool.name, epsilon=2.0, delta=1e-5)
    pack = written(workspace, {"domain": "clinical"}, first)
    assert workspace.ledger.of(corpus.id).lines.iloc[-1]["what"] == "prompt pack"
    workspace.pools.import_file(answers(workspace.packs.prompts_of(pack.id)), "b.jsonl", name="second", **MADE)
    same = {"pool": "second", "epsilon": 1.0, "delta": 1e-5}
    draft = workspace.plan.draft(corpus.id, "dp-select", count=6, parameters=same)
    assert (draft.guarantee.epsilon, draft.guarantee.delta) == pytest.approx((3.0, 2e-5))
    assert f"what these people's votes chose in run {first}" in draft.guarantee.sentence
    changed = same | {"adjacency": "replace-one"}
    draft = workspace.plan.draft(corpus.id, "dp-select", count=6, parameters=changed)
    assert any("Choose another pool" in line for line in draft.blockers)
    with pytest.raises(UserError, match="Choose another pool"):
        workspace.jobs.synthesize(corpus.id, "dp-select", count=6, parameters=changed)


def test_a_pool_that_was_replaced_is_not_taken_for_the_one_that_was_promised(workspace, corpus, pool, alone):
    workspace.ledger.set_limit(corpus.id, 30.0, 1e-4)
    run_id = chosen(workspace, corpus.id, pool.name)
    workspace.pools.delete(pool.name)
    data = b"text\nThe knee was sore for a week and then it went away.\n"
    workspace.pools.import_file(data, "p.csv", name=pool.name, **MADE)
    with pytest.raises(UserError, match="is gone"):
        workspace.packs.draft({"domain": "clinical"}, run_id)
    with pytest.raises(UserError, match="1 texts and 6 outputs"):
        workspace.jobs.again(run_id)
    other = workspace.jobs.synthesize(corpus.id, "public", count=1)
    with pytest.raises(UserError, match="finished run of dp-select"):
        workspace.packs.draft({"domain": "clinical"}, other)


def test_a_promise_that_somebody_types_is_replaced_by_what_was_declared(workspace, corpus, pool):
    lie = {"name": "first", "digest": "x", "texts": 9, "declared_by": "The Queen", "declared_on": "1900-01-01"}
    draft = workspace.plan.draft(corpus.id, "dp-select", count=6, parameters={"pool": "first", "promise": lie})
    assert "The Queen" not in draft.guarantee.sentence
    assert "tester declared on" in draft.guarantee.sentence


def test_a_comparison_is_asked_for_noted_in_the_ledger_and_decides_nothing(workspace, corpus):
    texts = list(workspace.corpora.frame(corpus.id, None, ["text"])["text"])[:3]
    lines = [
        json.dumps({"text": text})
        for text in (*texts, *(f"The knee number {i} was sore for a week." for i in range(20)))
    ]
    workspace.pools.import_file("\n".join(lines).encode(), "p.jsonl", name="mixed", **MADE)
    before = workspace.plan.draft(corpus.id, "dp-select", count=6, parameters={"pool": "mixed"})
    assert any("Nobody has compared" in line for line in before.warnings)
    assert list(workspace.ledger.of(corpus.id).lines["kind"]).count("touch") == 0
    assert wait(workspace, workspace.pools.check("mixed", corpus.id)).state == "done"
    (found,) = workspace.pools.checks("mixed")
    assert (found.equal, found.shared, found.compared) == (3, 3, 40)
    line = workspace.ledger.of(corpus.id).lines.iloc[-1]
    assert (line["kind"], line["what"]) == ("touch", "pool check")
    assert "selection by private text" in line["sentence"]
    after = workspace.plan.draft(corpus.id, "dp-select", count=6, parameters={"pool": "mixed"})
    assert (after.guarantee, after.blockers, after.plan) == (before.guarantee, before.blockers, before.plan)
    assert [line for line in before.warnings if line not in after.warnings] == [
        line for line in before.warnings if "Nobody has compared" in line
    ]
    workspace.corpora.delete(corpus.id)
    assert workspace.pools.checks("mixed") == []
    assert workspace.pools.get("mixed").texts == 23


def unmeasured(workspace, run_id):
    """Return whether nothing private had a say in a run, as the gate has it for whole outputs."""
    workspace.runs.approve_all_pending(run_id)
    verdict = workspace.releases.gate(run_id, "proof")
    return next(line for line in verdict.rules if line.rule == "unmeasured").passed


@pytest.mark.parametrize("looked", ["never", "before the pack", "after the pack", "and deleted"])
def test_winners_of_a_run_that_was_looked_at_leave_before_selection(workspace, corpus, pool, alone, looked):
    """Three runs, all examined, and the pack is of the best: the choice is by private data, which no claim covers."""
    workspace.ledger.set_limit(corpus.id, 30.0, 1e-4)
    first = chosen(workspace, corpus.id, pool.name, epsilon=2.0, delta=1e-5)
    if looked in ("before the pack", "and deleted"):
        examine(workspace, first, [])
    words = {"domain": "clinical"}
    said = [one.why for one in workspace.packs.draft(words, first).listed if one.what == "Winners"]
    pack = written(workspace, words, first)
    line = workspace.ledger.of(corpus.id).lines.iloc[-1]
    known = looked in ("before the pack", "and deleted")
    assert ("before selection" in said[0], "before selection" in line["sentence"]) == (known, known)
    new = answers(workspace.packs.prompts_of(pack.id), lambda i, one: f"After {i} days of rest the hip was well again.")
    workspace.pools.import_file(new, "b.jsonl", name="second", with_winners=False, **MADE)
    second = chosen(workspace, corpus.id, "second", epsilon=1.0, delta=1e-5)
    if looked == "after the pack":
        examine(workspace, first, [])
    if looked == "and deleted":
        workspace.runs.delete(first)
    claim = workspace.runs.get(second).guarantee
    assert any("before selection" in one for one in claim.assumptions) is known
    assert unmeasured(workspace, second) is (looked == "never")
