"""What the review computes from all spans of a corpus, kept in memory until a span, a decision or a spot check does.

Privacy posture: lives in this process alone, keyed by the corpus' random id; holds counts, positions
and keyed digests.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import TypeVar

from sqlalchemy import Connection, func, select

from engine.store.database.database import Database
from engine.store.database.schema import corpora, decisions, spot_checks
from engine.store.summaries import corpus_row

ENTRIES = 64
TOTALS = "totals"  # under which `summaries.totals` is remembered, for all who ask for them
CHEAP = 0.05  # seconds of processor time up to which something is computed anew at every change
SPARING = 50.0  # how many times as long as it took something dearer is not computed again
Version = tuple[object, ...]
Result = TypeVar("Result")

_held: OrderedDict[tuple[str, ...], tuple[Version, object]] = OrderedDict()
_spared: dict[tuple[str, ...], tuple[Version, object, float, float]] = {}
_lock = Lock()


def version(connection: Connection, corpus_id: str) -> Version:
    """Return what changes with every decision, undo, detection, choice of gold spans and spot check of a corpus."""
    decided = select(func.max(decisions.c.batch)).where(decisions.c.corpus_id == corpus_id)
    drawn = select(func.max(spot_checks.c.look)).where(spot_checks.c.corpus_id == corpus_id)
    row = connection.execute(
        select(
            corpora.c.revision, corpora.c.span_source, corpora.c.spans_at,
            decided.scalar_subquery(), drawn.scalar_subquery(),
        ).where(corpora.c.id == corpus_id)
    ).first()  # fmt: skip
    if row is None:
        corpus_row(connection, corpus_id)  # raises
    return tuple(row or ())


def remembered(database: Database, corpus_id: str, name: str, compute: Callable[[Connection], Result]) -> Result:
    """Return `compute(connection)`, or its earlier result where nothing has changed since."""
    with database.read() as connection:
        return recalled(connection, corpus_id, name, compute)


def recalled(connection: Connection, corpus_id: str, name: str, compute: Callable[[Connection], Result]) -> Result:
    """Return what `remembered` does, by the caller's connection; one that writes recalls nothing and leaves nothing.

    What it wrote may be taken back, and its version then be that of something else.
    """
    if "begin_mode" in connection.get_execution_options():
        return compute(connection)
    key = (str(connection.engine.url), corpus_id, name)
    now = version(connection, corpus_id)
    with _lock:
        found = _held.get(key)
        if found is not None and found[0] == now:
            _held.move_to_end(key)
            return found[1]  # type: ignore[return-value]
    result = compute(connection)  # of the same snapshot as the version
    with _lock:
        _held[key] = (now, result)
        while len(_held) > ENTRIES:
            _held.popitem(last=False)
    return result


def spared(database: Database, corpus_id: str, name: str, compute: Callable[[Connection], Result]) -> Result:
    """Return what `remembered` does, or an earlier result for a while where computing it anew takes long.

    Whoever must not act on an earlier one computes it without this. Of 100,000 records with five marks each it takes
    seconds, and each decision would.
    """
    with database.read() as connection:
        key = (str(connection.engine.url), corpus_id, name)
        now = version(connection, corpus_id)
        with _lock:
            found = _spared.get(key)
        if found is not None:
            known, result, seconds, at = found
            if known == now or (seconds > CHEAP and time.monotonic() - at < SPARING * seconds):
                return result  # type: ignore[return-value]
        begun = time.thread_time()
        made = compute(connection)
    with _lock:
        _spared.pop(key, None)
        _spared[key] = (now, made, time.thread_time() - begun, time.monotonic())
        if len(_spared) > ENTRIES:
            del _spared[next(iter(_spared))]
    return made


def forget(corpus_id: str) -> None:
    """Drop what is held of a corpus."""
    with _lock:
        for key in [k for k in _held if k[1] == corpus_id]:
            del _held[key]
        for key in [k for k in _spared if k[1] == corpus_id]:
            del _spared[key]
