"""What tests of shared examinations have in common: a run that leaks, an examination of it, and what was found."""

from __future__ import annotations

from contextlib import contextmanager

import threadpoolctl

from engine.corpus.samples import load_sample
from engine.jobs.tasks import examine
from engine.jobs.worker import parts_ahead
from engine.store import queue
from engine.store.runs.examinations import MAP_FILE
from tests.jobs import sharing
from tests.jobs.sharing_worker import RECORDS
from tests.jobs.test_stopped_examination import MAPPING, outcome, the_run
from tests.store.making import finished_run

BOTH = {"privacy": True, "utility": True, "model_attacks": False}
PRIVACY = BOTH | {"utility": False}


@contextmanager
def one_thread():
    """Compute with one thread, since helpers of these tests share a process, and with it how many threads there are."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    with threadpoolctl.threadpool_limits(1):
        yield
    torch.set_num_threads(before)


@contextmanager
def kept_in(kind, path, monkeypatch):
    """Yield a workspace of a kind with a run that leaks some of its corpus; workers share whatever there is."""
    monkeypatch.setattr(parts_ahead, "LEAST_SECONDS", 0.0)
    monkeypatch.setattr("engine.examine.apart.AT_ONCE", 8)
    monkeypatch.setenv(RECORDS, "1000")
    with sharing.kept_in(kind, path, monkeypatch) as opened:
        fill(opened)
        yield opened


def fill(opened):
    """Give a workspace a run that leaks some of its corpus."""
    corpus = opened.corpora.import_table(
        load_sample("support_tickets").head(80), MAPPING, name="Tickets", unit="source", holdout=0.3
    )
    opened.review.use_gold(corpus.id)
    train = opened.corpora.frame(corpus.id).query("split == 'train'")["text"].tolist()
    texts = [f"{text[:120]} The matter was settled on the phone, number {i}." for i, text in enumerate(train[:16])]
    finished_run(opened, corpus, texts)
    sharing.without_jobs(opened)


def taken(workspace, helped, settings, leaving=lambda: False, worker="w1"):
    """Return an examination as this process took it; others may help where `helped`."""
    run = workspace.runs.get(the_run(workspace))
    with workspace.session.db.write() as connection:
        queue.enqueue(connection, "examine", corpus_id=run.corpus_id, run_id=run.id, arguments=settings)
    return sharing.taken(workspace, helped, leaving, worker)


def end(workspace, task, state="done"):
    with workspace.session.db.write() as connection:
        queue.finish(connection, task.id, state)


def forget(workspace):
    """Remove what an examination found and embedded, so that the next one measures anew."""
    for path in workspace.folder.path.rglob("*kept.safetensors"):
        path.unlink()
    (workspace.folder.corpus(workspace.corpora.all()[0].id) / MAP_FILE).unlink(missing_ok=True)


def alone(workspace, settings):
    """Examine without anybody else; return what was found."""
    task = taken(workspace, False, settings)
    examine.run(task)
    end(workspace, task)
    found = outcome(workspace)
    forget(workspace)
    return found


def told_once(workspace):
    """Assert that the ledger and the log tell of one examination each time one was made, and hold."""
    lines = workspace.ledger.of(workspace.corpora.all()[0].id).lines
    what = list(lines["what"])
    assert what.count("examination in part") == 1
    assert workspace.audit.verify()["ok"]
    assert workspace.ledger.verify()["ok"]
