"""Runs that reserve, draw and end, for tests of the ledger."""

from pathlib import Path

import numpy as np
from sqlalchemy import update

from engine.dp.accounting.closed_form import noise_multiplier
from engine.dp.events import Event
from engine.dp.guarantee import Guarantee
from engine.store.database.schema import runs
from tests.store.making import finished_run

ROOT = Path(__file__).resolve().parents[2]
DELTA = 1e-5


def gaussian(claim, count=1, delta=DELTA, what="votes"):
    """Return the guarantee of `count` Gaussian releases calibrated to a claim."""
    noise = noise_multiplier(claim, delta, count)
    event = Event("gaussian", what, noise_multiplier=noise, count=count)
    return Guarantee("dp", "Made for a test.", "the run's complete output", claim, delta, "record", "zero-out",
                     events=(event.as_dict(),))  # fmt: skip


def reserved_run(store, corpus, guarantee, state="running"):
    """Add a run that reserves its guarantee, and return its id."""
    run_id = finished_run(store, corpus, ["made up"], settings={"guarantee": guarantee.as_dict()})
    with store.session.db.write() as connection:
        connection.execute(update(runs).where(runs.c.id == run_id).values(state=state))
        store.ledger.reserve(connection, run_id, corpus.id, "test", guarantee)
    return run_id


def draw(store, run_id, guarantee, key="votes/0", values=(1.0, 2.0)):
    """Store one output of a run's first event."""
    event = Event.from_dict({**guarantee.events[0], "count": 1})
    store.ledger.outputs(run_id).save(key, {"of": key}, event, np.asarray(values))


def end(store, run_id, state):
    """End a run as the worker does."""
    with store.session.db.write() as connection:
        connection.execute(update(runs).where(runs.c.id == run_id).values(state=state))
        store.ledger.settle(connection)


def kinds(store, corpus):
    """Return the kinds of a corpus' lines in order."""
    return list(store.ledger.of(corpus.id).lines["kind"])


def limited(store, corpus, claim=2.0):
    """Set a limit and return it."""
    store.ledger.set_limit(corpus.id, claim, DELTA)
    return store.ledger.of(corpus.id)
