"""A run that several workers make: the texts that one worker makes, whoever helps, comes late or is killed."""

from __future__ import annotations

import threading
import time

import pytest
from sqlalchemy import select, update

from engine.errors import UserError
from engine.jobs.models.cache import ModelCache
from engine.jobs.tasks import synthesize, writing
from engine.jobs.worker import slots, spreading
from engine.jobs.worker.task import Stopped
from engine.methods import get_method
from engine.methods.evolution import common as pe
from engine.models.builtin import language_model
from engine.models.builtin.language_model import BuiltinGenerator
from engine.store import queue
from engine.store import shards as store_shards
from engine.store.database.schema import shards as table
from engine.store.database.schema import synthetic
from engine.store.runs import chained
from engine.store.runs.runs import run_row
from tests.jobs.conftest import wait
from tests.jobs.sharing import free, helpers, kept_in, killed_and_done, left_over, put_back, taken, without_jobs
from tests.jobs.sharing_worker import CALL, RECORDS
from tests.store.conftest import MAPPING, made_up

COUNT, A_CALL = 70, 4
SETTINGS = {
    "surrogate": {},
    "public": {"words": 12},
    "filter:public": {"words": 12},
    "dp-steer": {"words": 12, "epsilon": 1.0, "public_texts": 8},
    "dp-topics": {"words": 12, "epsilon": 1.0, "candidates": 2},
    "finetune": {"words": 12, "epochs": 1, "tokens": 24},
}


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def workspace(request, tmp_path, monkeypatch):
    """Return a workspace with a corpus; each worker has a model of its own, and writes few texts a call."""
    monkeypatch.setenv(RECORDS, "1000")
    monkeypatch.setenv(CALL, str(A_CALL))
    monkeypatch.setattr(BuiltinGenerator, "texts_a_call", A_CALL)
    monkeypatch.setattr(
        language_model, "load_builtin_generator", lambda: BuiltinGenerator(language_model.lm_folder())
    )  # fmt: skip
    with kept_in(request.param, tmp_path / "workspace", monkeypatch) as opened:
        yield opened


@pytest.fixture
def corpus(workspace):
    """Return a corpus with its marks and a public list of labels."""
    made = workspace.corpora.import_table(made_up(600), MAPPING, name="Letters", holdout=0.25, labels_public=True)
    workspace.review.use_gold(made.id)
    without_jobs(workspace)
    return made


def asked(workspace, corpus, method, count=COUNT, **parameters):
    """Ask for a run and return its id."""
    count = None if method == "surrogate" else count
    settings = {**SETTINGS[method], **parameters}
    return workspace.jobs.synthesize(corpus.id, method, count=count, parameters=settings, seed=3)


def finish(workspace, task):
    """End a job as the worker does."""
    with workspace.session.db.write() as connection:
        queue.finish(connection, task.id, "done")
        chained.end(workspace.session, connection, task.run_id)


def texts(workspace, run_id):
    """Return a run's rows in their order."""
    columns = [synthetic.c[name] for name in ("position", "record_id", "text", "label", "lineage")]
    query = select(*columns).where(synthetic.c.run_id == run_id).order_by(synthetic.c.position)
    with workspace.session.db.read() as connection:
        return [tuple(row) for row in connection.execute(query)]


def alone(workspace, corpus, method, **parameters):
    """Make a run without anybody else and return its rows and its counts."""
    run_id = asked(workspace, corpus, method, **parameters)
    task = taken(workspace, helped=False)
    synthesize.run(task)
    finish(workspace, task)
    return texts(workspace, run_id), workspace.runs.get(run_id).funnel


@pytest.fixture
def told(monkeypatch):
    """Return the pieces that runs were cut into, with what their makers had to know."""
    found = []
    window = spreading.Pieces._window

    def watched(self, pieces, known, make):
        found.extend((self.task.run_id, piece, known) for piece in pieces)
        yield from window(self, pieces, known, make)

    monkeypatch.setattr(spreading.Pieces, "_window", watched)
    return found


def again(workspace, run_id, told):
    """Return what a fresh process would make of a run's pieces: text by text, once each was drawn."""
    with workspace.session.db.read() as connection:
        row = run_row(connection, run_id)
    method = get_method(row.method)
    context = synthesize.public_context(workspace, ModelCache(), row, method)
    made, makers = {}, {}
    for own, piece, known in told:
        if own == run_id:
            make = makers.setdefault(repr(known), method.maker(context, known))
            made[piece.start] = [text for text in make(piece)["texts"] if text is not None]
    return [text for start in sorted(made) for text in made[start]]


@pytest.mark.parametrize("method", ["surrogate", "public", "filter:public", "finetune"])
def test_helpers_change_no_text(workspace, corpus, method):
    expected, funnel = alone(workspace, corpus, method)
    assert len(expected) >= 60
    run_id = asked(workspace, corpus, method)
    task = taken(workspace, helped=True)
    with helpers(workspace) as (did, _):
        synthesize.run(task)
    finish(workspace, task)
    assert did == {"h0", "h1"} or (method == "surrogate" and did), "both had a part in it"
    assert left_over(workspace) == [0, 0]
    assert texts(workspace, run_id) == expected
    assert workspace.runs.get(run_id).funnel == funnel
    assert workspace.audit.verify()["ok"]


@pytest.mark.parametrize("method", ["dp-steer", "dp-topics"])
def test_helpers_write_from_what_was_drawn_and_draw_nothing(workspace, corpus, method, told, monkeypatch):
    contexts = []
    begin = writing.Writing.__init__

    def watched(self, *arguments):
        begin(self, *arguments)
        contexts.append(self._context)

    monkeypatch.setattr(writing.Writing, "__init__", watched)
    run_id = asked(workspace, corpus, method)
    task = taken(workspace, helped=True)
    with helpers(workspace) as (did, _):
        synthesize.run(task)
    finish(workspace, task)
    assert did == {"h0", "h1"}
    assert [(len(one.records), one.mechanisms, len(one.spans)) for one in contexts] == [(0, None, 0)] * 2
    found = [row[2] for row in texts(workspace, run_id)]
    made = again(workspace, run_id, told)
    dropped = sum(n for stage, n in workspace.runs.get(run_id).funnel.items() if stage.startswith("dropped: unread"))
    assert len(made) == COUNT
    assert [text for text in made if text in set(found)] == found
    assert len(found) >= COUNT - max(dropped, 20)
    lines = workspace.ledger.of(corpus.id).lines
    kinds = list(lines[lines["run_id"] == run_id]["kind"])
    with workspace.session.db.read() as connection:
        drawn = connection.exec_driver_sql("SELECT count(*) FROM mechanism_outputs").scalar_one()
    assert kinds.count("spend") == drawn > 0
    assert workspace.ledger.verify()["ok"]
    assert workspace.audit.verify()["ok"]


@pytest.mark.parametrize("first", [False, True], ids=["alone first", "helped first"])
def test_a_run_that_changes_hands_has_the_same_texts(workspace, corpus, first):
    expected, funnel = alone(workspace, corpus, "public")
    run_id = asked(workspace, corpus, "public")
    task = taken(workspace, first, leaving=lambda: workspace.runs.get(run_id).kept > 20)
    with helpers(workspace, ("h0",) if first else ()), pytest.raises(Stopped):
        synthesize.run(task)
    assert 20 < workspace.runs.get(run_id).kept < COUNT
    put_back(workspace, task)
    task = taken(workspace, not first, worker="w2")
    with helpers(workspace, () if first else ("h1",)) as (did, _):
        synthesize.run(task)
    finish(workspace, task)
    assert did == set() if first else {"h1"}
    assert (texts(workspace, run_id), workspace.runs.get(run_id).funnel) == (expected, funnel)
    assert left_over(workspace) == [0, 0]


def test_what_was_changed_on_its_way_is_made_again(workspace, corpus, monkeypatch):
    expected, _ = alone(workspace, corpus, "public")
    deliver, changed = store_shards.deliver, []

    def deliver_other(connection, shard, found):
        body = found[spreading.MADE][0]
        body = {**body, "texts": ["Zanzibarnacle lives here and nowhere else." for _ in body["texts"]]}
        changed.append(shard.number)
        return deliver(connection, shard, {**found, spreading.MADE: [body]})

    monkeypatch.setattr(store_shards, "deliver", deliver_other)
    run_id = asked(workspace, corpus, "public")
    task = taken(workspace, helped=True)
    with helpers(workspace, ("h0",)):
        synthesize.run(task)
    finish(workspace, task)
    assert changed
    assert texts(workspace, run_id) == expected


def test_a_piece_that_was_lost_five_times_is_its_own_workers(workspace, corpus, monkeypatch):
    expected, _ = alone(workspace, corpus, "public")
    lay = store_shards.lay

    def laid(connection, *arguments):
        lay(connection, *arguments)
        connection.execute(update(table).values(claims=store_shards.HELPED))

    monkeypatch.setattr(store_shards, "lay", laid)
    run_id = asked(workspace, corpus, "public")
    task = taken(workspace, helped=True)
    with helpers(workspace, ("h0",)) as (did, _):
        synthesize.run(task)
    finish(workspace, task)
    assert did == set()
    assert texts(workspace, run_id) == expected


def test_a_cancel_stops_everybody_and_leaves_nothing(workspace, corpus):
    run_id = asked(workspace, corpus, "public", count=400)
    task = taken(workspace, helped=True)

    def cancel():
        while workspace.runs.get(run_id).kept < 10:
            time.sleep(0.01)
        workspace.jobs.cancel(task.id)

    canceller = threading.Thread(target=cancel, daemon=True)
    canceller.start()
    with helpers(workspace), pytest.raises(Stopped):
        synthesize.run(task)
    canceller.join()
    with workspace.session.db.write() as connection:
        queue.finish(connection, task.id, "cancelled", worker="w1")
    assert left_over(workspace) == [0, 0]
    assert len(texts(workspace, run_id)) == workspace.runs.get(run_id).kept < 400


def test_a_model_of_no_use_is_given_up_whoever_finds_out(workspace, corpus, monkeypatch):
    monkeypatch.setattr(pe, "unusable", lambda *_: pe.EMPTY)
    run_id = asked(workspace, corpus, "public")
    task = taken(workspace, helped=True)
    with helpers(workspace), pytest.raises(UserError, match="no usable text"):
        synthesize.run(task)
    assert texts(workspace, run_id) == []


@pytest.mark.timeout(900)
@pytest.mark.parametrize("method", ["surrogate", "public"])
@pytest.mark.parametrize("count", [pytest.param(2, marks=pytest.mark.slow), pytest.param(5, marks=pytest.mark.long)])
def test_two_and_five_workers_make_what_one_makes(workspace, corpus, monkeypatch, count, method):
    expected, funnel = alone(workspace, corpus, method)
    monkeypatch.setenv(slots.ENVIRONMENT, str(count))
    run_id = asked(workspace, corpus, method)
    workspace.jobs.ensure_worker()
    job = wait(workspace, workspace.runs.get(run_id).job_id, seconds=400)
    assert job.state == "done", job.error
    assert (texts(workspace, run_id), workspace.runs.get(run_id).funnel) == (expected, funnel)
    assert left_over(workspace) == [0, 0]
    workspace.jobs.stop_worker()
    assert free(workspace.folder)
    assert workspace.audit.verify()["ok"]


@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("seed", "rounds"),
    [pytest.param(1, 1, marks=pytest.mark.slow), *(pytest.param(n, 3, marks=pytest.mark.long) for n in (2, 3))],
)
def test_slots_and_coordinators_killed_at_any_moment_change_no_text(workspace, corpus, monkeypatch, seed, rounds):
    expected, funnel = alone(workspace, corpus, "public", count=600)
    run_id = asked(workspace, corpus, "public", count=600)
    killed_and_done(workspace, workspace.runs.get(run_id).job_id, monkeypatch, seed=seed, rounds=rounds, within=1.0)
    assert (texts(workspace, run_id), workspace.runs.get(run_id).funnel) == (expected, funnel)
    assert left_over(workspace) == [0, 0]
    assert workspace.audit.verify()["ok"]
