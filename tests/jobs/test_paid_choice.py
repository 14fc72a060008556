"""A paid choice in the workspace: what it may choose among, what its claim adds up, and a real worker that makes it."""

from __future__ import annotations

import json
from dataclasses import asdict, replace

import pytest
from sqlalchemy import select, update

from engine.dp.groups import NAMED, with_named
from engine.errors import UserError
from engine.jobs.planning import LEFT_OUT
from engine.models.marks import POOL
from engine.store.budget import fitted
from engine.store.database.schema import runs, synthetic
from engine.store.runs import choosable
from tests.jobs.conftest import wait, without_worker
from tests.jobs.test_packs import MADE, WORDS, answers, written
from tests.pool_runs import chosen
from tests.store.making import made_with


@pytest.fixture
def two(workspace, corpus, monkeypatch):
    """Return two finished runs at ε = 2 and 1 that chose from pools; no worker has been at work."""
    without_worker(workspace, monkeypatch)
    workspace.ledger.set_limit(corpus.id, 30.0, 1e-4)
    pack = written(workspace, WORDS | {"count": 40})
    workspace.pools.import_file(answers(workspace.packs.prompts_of(pack.id)), "a.jsonl", name="first", **MADE)
    found = [chosen(workspace, corpus.id, "first", count=n, epsilon=e, delta=1e-5) for n, e in ((6, 2.0), (8, 1.0))]
    monkeypatch.undo()
    return sorted(found)


def draft(workspace, corpus, **settings):
    return workspace.plan.draft(corpus.id, "paid-choice", count=4, parameters={"epsilon": 0.5, **settings})


def test_the_claim_adds_the_choice_and_every_run_and_the_ledger_pays_the_choice_alone(
    workspace, corpus, two, monkeypatch
):
    without_worker(workspace, monkeypatch)
    claim = draft(workspace, corpus).guarantee
    assert claim.epsilon == pytest.approx(2.0 + 1.0 + 0.5)
    assert claim.delta == pytest.approx(2e-5)
    assert all(f"run {run}" in claim.sentence for run in two)
    assert "the choice and all of them count" in claim.sentence
    assert [event["epsilon"] for event in claim.events] == [0.5]  # what the runs drew is in the ledger already
    run_id = workspace.jobs.synthesize(corpus.id, "paid-choice", count=4, parameters={"epsilon": 0.5})
    assert workspace.runs.get(run_id).guarantee.epsilon == pytest.approx(3.5)
    with pytest.raises(UserError, match="holds 6 outputs and 7 are wanted"):
        workspace.jobs.synthesize(corpus.id, "paid-choice", count=7)


def test_what_a_candidate_rests_on_is_named_and_the_conditions_stay_in_the_sentence(
    workspace, corpus, two, monkeypatch
):
    without_worker(workspace, monkeypatch)
    row = workspace.runs.get(two[0])
    with workspace.session.db.read() as connection:
        own = fitted.own_mark(connection, two[0])
        manifest = connection.execute(select(runs.c.manifest).where(runs.c.id == two[0])).scalar_one()
    behind = [replace(own, run="r-aaaaaaaaaa", of=POOL), replace(own, run=two[1], of=POOL)]
    changed(workspace, two[0], manifest=manifest | {"fitted": [asdict(mark) for mark in behind]})
    claim = draft(workspace, corpus).guarantee
    assert claim.epsilon == pytest.approx(2.0 + 1.0 + 0.5 + row.guarantee.epsilon)  # the second run counts once
    assert claim.sentence.startswith(f"The text was chosen among the outputs of run {two[0]} and run {two[1]}, and ")
    assert "these rest on run r-aaaaaaaaaa, so the choice and all of them count" in claim.sentence
    assert "taken as public" in claim.sentence


def test_what_is_made_with_a_chosen_text_counts_the_choice_and_each_run_once(workspace, corpus, two, monkeypatch):
    without_worker(workspace, monkeypatch)
    run_id = workspace.jobs.synthesize(corpus.id, "paid-choice", count=4, parameters={"epsilon": 4.0})
    found = choosable.marks(workspace.session, [run_id])
    assert sorted((mark.epsilon, mark.delta) for mark in found) == [(1.0, 1e-5), (2.0, 1e-5), (4.0, 0.0)]


def test_what_may_be_chosen_is_finished_and_has_a_proof_and_is_no_choice_itself(workspace, corpus, two, monkeypatch):
    without_worker(workspace, monkeypatch)
    unfinished = workspace.jobs.synthesize(corpus.id, "public", count=3)
    without = workspace.jobs.synthesize(corpus.id, "surrogate")
    assert workspace.plan.choosable(corpus.id) == (tuple(two), 6)
    with workspace.session.db.write() as connection:
        connection.execute(update(runs).where(runs.c.id == without).values(state="done", kept=9))
        connection.execute(
            update(runs).where(runs.c.id == unfinished).values(state="done", kept=9, method="paid-choice")
        )
    assert workspace.plan.choosable(corpus.id) == (tuple(two), 6)


def test_nobody_names_some_of_the_runs(workspace, corpus, two, monkeypatch):
    without_worker(workspace, monkeypatch)
    with pytest.raises(UserError, match="runs of method 'paid-choice'"):
        draft(workspace, corpus, runs=two)
    other = chosen(workspace, corpus.id, "first", count=6, epsilon=1.0, delta=1e-5, adjacency="replace-one")
    assert workspace.plan.choosable(corpus.id) == (tuple(two), 6)  # its claim is for other neighbours
    assert draft(workspace, corpus).blockers == []
    assert other not in draft(workspace, corpus).guarantee.sentence


def test_the_claim_rests_on_what_its_candidates_rest_on(workspace, corpus, two, monkeypatch):
    without_worker(workspace, monkeypatch)
    claim, behind = draft(workspace, corpus).guarantee, [workspace.runs.get(run).guarantee for run in two]
    relied_on = {line for one in behind for line in one.assumptions if not line.startswith(NAMED)}
    assert relied_on <= set(claim.assumptions)
    (named,) = [line for line in claim.assumptions if line.startswith(NAMED)]  # of the choice and the runs together
    assert named == with_named(claim).assumptions[-1]
    assert {line for one in behind for line in one.voided_by} <= set(claim.voided_by)
    assert any("made without these data, as tester declared" in line for line in claim.assumptions)
    assert "what each of them takes as public" in claim.sentence
    assert len(set(claim.voided_by)) == len(claim.voided_by)


@pytest.mark.parametrize("how", ["watched", "lost", "examined", "gone"])
def test_what_stops_a_candidate_stops_the_choice(workspace, corpus, two, monkeypatch, how):
    without_worker(workspace, monkeypatch)
    run_id = workspace.jobs.synthesize(corpus.id, "paid-choice", count=4, parameters={"epsilon": 4.0})
    finish(workspace, run_id)

    def stopped():
        return {line.rule for line in workspace.releases.gate(run_id, "proof").open_rules()} - {"second-person"}

    assert not stopped()
    values = workspace.runs.get(two[0]).parameters
    if how == "watched":
        changed(workspace, two[0], parameters={**values, "watch_loss": True})
    elif how == "lost":
        with workspace.session.db.write() as connection:
            workspace.session.write_audit(connection, "workspace restored", corpus.id)
        changed(workspace, run_id, created="2999-01-01T00:00:00+00:00")
    elif how == "examined":
        changed(workspace, two[0], examined_at="2026-01-01T00:00:00+00:00")
    else:
        workspace.runs.delete(two[1])
    assert stopped()


@pytest.mark.parametrize("how", ["deleted", "other neighbours", "stopped", "never examined", "no claim", "before them"])
def test_a_run_that_was_examined_and_left_out_stops_the_choice(workspace, corpus, two, monkeypatch, how):
    """Whoever deletes the run with the worse findings has picked among the others by them."""
    without_worker(workspace, monkeypatch)
    if how == "no claim":
        third = workspace.jobs.synthesize(corpus.id, "surrogate")
    else:
        neighbours = "replace-one" if how == "other neighbours" else "zero-out"
        third = chosen(workspace, corpus.id, "first", count=6, epsilon=1.0, delta=1e-5, adjacency=neighbours)
    with workspace.session.db.write() as connection:  # a text of its own: none that the others hold
        connection.execute(update(synthetic).where(synthetic.c.run_id == third).values(text="Quite another letter."))
    seen = "2026-01-01T00:00:00+00:00"
    changed(workspace, third, examined_at=None if how == "never examined" else seen,
            state="cancelled" if how == "stopped" else "done")  # fmt: skip
    if how not in ("other neighbours", "stopped"):
        workspace.runs.delete(third)
    if how == "before them":
        for run in two:
            workspace.runs.delete(run)
        for epsilon in (2.0, 1.0):
            chosen(workspace, corpus.id, "first", count=6, epsilon=epsilon, delta=1e-5)
    stops = how in ("deleted", "other neighbours", "stopped")
    assert (LEFT_OUT in draft(workspace, corpus).warnings) is stops
    run_id = workspace.jobs.synthesize(corpus.id, "paid-choice", count=4, parameters={"epsilon": 4.0})
    assert third not in workspace.runs.get(run_id).parameters["promise"]["runs"]
    finish(workspace, run_id)
    late = chosen(workspace, corpus.id, "first", count=6, epsilon=1.0, delta=1e-5)
    changed(workspace, late, examined_at=seen)
    with workspace.session.db.write() as connection:
        connection.execute(update(synthetic).where(synthetic.c.run_id == late).values(text="A letter after it."))
    stopped = {line.rule for line in workspace.releases.gate(run_id, "proof").open_rules()} - {"second-person"}
    assert stopped == ({"unmeasured"} if stops else set())


def test_a_release_shows_what_the_choice_drew_itself_and_no_ids(workspace, corpus, two, monkeypatch):
    from pages._ui.release.dock import effect

    without_worker(workspace, monkeypatch)
    run_id = workspace.jobs.synthesize(corpus.id, "paid-choice", count=4, parameters={"epsilon": 4.0})
    finish(workspace, run_id)
    claim = workspace.runs.get(run_id).guarantee
    assert (claim.bound[0], claim.drawn) == (pytest.approx(7.0), (4.0, 0.0))
    said = effect(workspace, workspace.runs.get(run_id))
    assert "drew ε = 4 at δ = 0 from" in said
    assert "ε = 7 at δ = 2e-05, counts the earlier runs" in said
    made = workspace.releases.make(run_id, "proof", signed_off_by="second")
    ledger = json.loads(workspace.releases.file(made.id, "ledger.json"))
    assert [line.get("epsilon", 4.0) for line in ledger["lines"]] == [4.0] * len(ledger["lines"])
    assert ledger["lines"][0]["epsilon"] == 4.0
    assert "is not in these lines" in ledger["sentence"]
    card = workspace.releases.file(made.id, "DATA_CARD.md").decode()
    assert "outputs of earlier run 1 and earlier run 2" in card
    for name in made.files:
        held = workspace.releases.file(made.id, name)
        assert not any(run.encode() in held for run in (*two, run_id)), name


def test_a_run_that_rests_on_no_other_says_one_number(workspace, corpus, two):
    from pages._ui.release.dock import effect

    run = workspace.runs.get(two[0])
    assert run.guarantee.drawn == run.guarantee.bound
    assert "earlier runs" not in effect(workspace, run)


def finish(workspace, run_id):
    """End a run with approved records of its own, as the worker and a person leave it."""
    from engine.store import queue

    with workspace.session.db.write() as connection:
        for job_id in queue.active_jobs(connection, run_id=run_id):
            queue.finish(connection, job_id, "done")
        rows = [
            {"run_id": run_id, "position": i, "record_id": f"s-{i:06d}", "text": f"The knee was sore {i}.",
             "label": None}
            for i in range(4)
        ]  # fmt: skip
        connection.execute(synthetic.insert(), rows)
    made_with(workspace.session, run_id, state="done", kept=4)
    workspace.runs.approve_all_pending(run_id)


def changed(workspace, run_id, **values):
    made_with(workspace.session, run_id, **values)


def test_a_worker_chooses_and_the_output_is_one_of_the_runs(workspace, corpus, two):
    run_id = workspace.jobs.synthesize(corpus.id, "paid-choice", count=5, parameters={"epsilon": 4.0})
    job = wait(workspace, workspace.runs.get(run_id).job_id, seconds=240)
    assert job.state == "done", job.error
    run = workspace.runs.get(run_id)
    texts = [tuple(text for text, _ in one[:5]) for one in choosable.texts(workspace.session, two)]
    assert tuple(workspace.runs.synthetic(run_id)["text"]) in texts
    assert run.guarantee.epsilon == pytest.approx(7.0)

    # A choice made from a copy of a chosen text is known as what it is.
    assert {mark.run for mark in choosable.marks(workspace.session, [run_id])} == {run_id, *two}


def test_a_run_that_is_gone_when_the_choice_is_made_ends_it_and_gives_the_budget_back(
    workspace, corpus, two, monkeypatch
):
    with monkeypatch.context() as patch:
        without_worker(workspace, patch)
        run_id = workspace.jobs.synthesize(corpus.id, "paid-choice", count=5)
        held = workspace.ledger.of(corpus.id)
        assert held.reserved_share > 0.0
        workspace.runs.delete(two[0])
    job = wait(workspace, workspace.runs.get(run_id).job_id, seconds=240)
    assert job.state == "failed"
    assert workspace.runs.get(run_id).kept == 0
    assert workspace.ledger.of(corpus.id).remaining_epsilon > held.remaining_epsilon
