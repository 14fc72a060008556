"""A pool that holds what a run here made is told from one that does not, however the file names its prompts."""

from __future__ import annotations

import json

import pytest

from engine.errors import UserError
from engine.store.database.schema import synthetic
from tests.jobs.conftest import without_worker
from tests.jobs.test_packs import MADE, WORDS, answers, written
from tests.pool_runs import chosen

ASKED = {"epsilon": 1.0, "delta": 1e-5}


@pytest.fixture
def round_(workspace, corpus, monkeypatch):
    """Return a run at ε = 2 that chose from a pool, and the prompts of a pack of its winners."""
    without_worker(workspace, monkeypatch)
    workspace.ledger.set_limit(corpus.id, 30.0, 1e-4)
    pack = written(workspace, WORDS | {"count": 40})
    workspace.pools.import_file(answers(workspace.packs.prompts_of(pack.id)), "a.jsonl", name="first", **MADE)
    run_id = chosen(workspace, corpus.id, "first", epsilon=2.0, delta=1e-5)
    second = written(workspace, {"domain": "clinical"}, run_id)
    return run_id, workspace.packs.prompts_of(second.id)


def claimed(workspace, corpus, pool):
    return workspace.plan.draft(corpus.id, "dp-select", count=4, parameters={"pool": pool, **ASKED}).guarantee


def varied(prompts):
    return [f"{one.parent} It came back after {i} weeks of rest." for i, one in enumerate(prompts)]


def table(**columns):
    rows = zip(*columns.values(), strict=True)
    return "\n".join([",".join(columns), *(",".join(f'"{cell}"' for cell in row) for row in rows)]).encode()


@pytest.mark.parametrize(
    "kind", ["another name", "two columns of ids", "capitals", "blanks", "winners alone", "records"]
)
def test_whatever_the_file_calls_its_prompts_the_round_before_counts(workspace, corpus, round_, kind):
    run_id, prompts = round_
    ids, texts = [one.id for one in prompts], varied(prompts)
    made = {
        "another name": lambda: table(pid=ids, text=texts),
        "two columns of ids": lambda: table(prompt_id=range(len(ids)), id=ids, text=texts),
        "capitals": lambda: table(prompt_id=[one.upper() for one in ids], text=texts),
        "blanks": lambda: table(prompt_id=[f" {one} " for one in ids], text=texts),
        "winners alone": lambda: table(text=[*texts, *{f" {one.parent.upper()}  " for one in prompts}]),
        "records": lambda: table(text=workspace.runs.synthetic_frame(run_id)["text"]),
    }[kind]()
    found = workspace.pools.import_file(made, "made.csv", name="second", **MADE)
    assert found.rounds == (run_id,)
    claim = claimed(workspace, corpus, "second")
    assert claim.epsilon == pytest.approx(3.0)
    assert run_id in claim.sentence
    assert any("encoder was not fitted" in one for one in claim.assumptions)


def test_another_pack_named_with_them_hides_no_winner(workspace, corpus, round_):
    run_id, prompts = round_
    public = written(workspace, WORDS | {"count": 3})
    made = table(text=[*varied(prompts), *{one.parent for one in prompts}])
    found = workspace.pools.import_file(made, "made.csv", name="second", pack_id=public.id, **MADE)
    assert (found.pack_id, found.rounds) == (public.id, (run_id,))
    assert claimed(workspace, corpus, "second").epsilon == pytest.approx(3.0)


def test_answers_to_a_pack_nobody_knows_are_refused(workspace, round_):
    lines = answers(round_[1]).decode().splitlines()
    bodies = [json.loads(line) for line in lines]
    for number, body in enumerate(bodies, 1):
        body["custom_id"] = f"k-abcdefghjk-{number:05d}"
    with pytest.raises(UserError, match="does not know"):
        workspace.pools.import_file("\n".join(map(json.dumps, bodies)).encode(), "b.jsonl", name="second", **MADE)
    assert [one.name for one in workspace.pools.all()] == ["first"]


def test_a_whole_pool_brought_in_again_is_as_public_as_it_was(workspace, corpus, round_):
    texts = workspace.pools.texts("first", limit=100)["text"]
    again = workspace.pools.import_file(table(text=texts), "again.csv", name="again", **MADE)
    assert again.rounds == ()
    assert claimed(workspace, corpus, "again").epsilon == pytest.approx(1.0)
    less = workspace.pools.import_file(table(text=texts[:-1]), "less.csv", name="less", **MADE)
    assert less.rounds == (round_[0],)  # a cut of it may show what was chosen


def test_outputs_without_a_guarantee_are_no_pool(workspace, corpus, round_):
    run_id = workspace.jobs.synthesize(corpus.id, "surrogate")
    body = "Her knee hurt again after the long walk home from town."
    row = {"run_id": run_id, "position": 0, "record_id": "s-000001", "text": body, "label": None}
    with workspace.session.db.write() as connection:
        connection.execute(synthetic.insert(), [row])
    with pytest.raises(UserError, match="no formal guarantee") as error:
        workspace.pools.import_file(
            table(text=[body.upper(), "Nobody answered the phone."]), "c.csv", name="no", **MADE
        )
    assert "knee" not in str(error.value)


def test_the_plan_has_one_point_of_a_claim_that_counts_the_round_before(workspace, corpus, round_):
    _, prompts = round_
    made = table(prompt_id=[one.id for one in prompts], text=varied(prompts))
    workspace.pools.import_file(made, "made.csv", name="second", **MADE)
    asked = {"pool": "second", **ASKED}
    claim = claimed(workspace, corpus, "second")
    curve = workspace.plan.guarantee_curve("dp-select", corpus_id=corpus.id, parameters=asked)
    assert claim.counts_earlier
    assert (tuple(curve.epsilons), tuple(curve.standard), tuple(curve.strict)) == (
        (claim.epsilon,), (claim.delta,), (),
    )  # fmt: skip
