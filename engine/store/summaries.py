"""A corpus' row as the summary the pages show, with its next step.

Privacy posture: counts and the custodian's own name for the corpus.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from engine.errors import NotFoundError
from engine.store.database.schema import corpora, record_index, releases, runs
from engine.store.rows import CorpusRow, corpus_of
from engine.store.views import CorpusSummary, NextStep


def corpus_row(connection: Connection, corpus_id: str) -> CorpusRow:
    """Return a corpus' row or raise `NotFoundError`."""
    row = connection.execute(select(corpora).where(corpora.c.id == corpus_id)).first()
    if row is None:
        raise NotFoundError(f"corpus {corpus_id!r} does not exist in this workspace; list them with `corpora`")
    return corpus_of(row)


@dataclass(frozen=True)
class Totals:
    """What a corpus' records add up to.

    records, reviewed: how many there are, and were read to the end. spans: in force; accepted, undecided, decided: how
    many of them are accepted, were not looked at, and were decided by a person.
    """

    records: int
    reviewed: int
    spans: int
    accepted: int
    undecided: int
    decided: int


def totals(connection: Connection, corpus_id: str) -> Totals:
    """Return what a corpus' records add up to; looks at every record, once for all that a page says of them."""
    one = record_index.c
    columns = (one.spans, one.accepted, one.undecided, one.decided)
    query = select(
        func.count(), func.count().filter(one.reviewed), *(func.coalesce(func.sum(column), 0) for column in columns)
    ).where(one.corpus_id == corpus_id)
    return Totals(*(int(number) for number in connection.execute(query).one()))


def summary(connection: Connection, row: CorpusRow, read: Totals) -> CorpusSummary:
    """Return a corpus' summary; `read` is its `totals`."""
    mine = runs.c.corpus_id == row.id
    counts = connection.execute(
        select(
            func.count(),
            func.count().filter(runs.c.state == "done"),
            func.count(runs.c.examined_at),
            func.count().filter(runs.c.needs_spans.is_(True), runs.c.revision != row.revision),
        ).where(mine)
    ).one()
    total, done, examined, stale = (int(c) for c in counts)
    released = connection.execute(
        select(func.count()).select_from(releases).where(releases.c.corpus_id == row.id)
    ).scalar_one()
    return CorpusSummary(
        id=row.id,
        name=row.name,
        created=row.created,
        unit=row.unit,
        cap=row.cap,
        holdout_rate=row.holdout_rate,
        records=row.records,
        units=row.units,
        holdout_units=row.holdout_units,
        has_gold=bool(row.has_gold),
        detected_at=row.detected_at,
        span_source=row.span_source,
        reviewed=read.decided,
        runs=total,
        examined=examined,
        released=released,
        next_step=_next_step(row, bool(read.decided or read.reviewed), total, done, examined, released),
        population=row.population,
        warnings=tuple(row.warnings),
        stale=bool(stale),
    )


def _next_step(row: CorpusRow, reviewed: bool, total: int, done: int, examined: int, released: int) -> NextStep:
    if released:
        return "done"
    if examined:
        return "release"
    if done:
        return "examine"
    if total:
        return "run"
    if row.span_source is None:
        return "detect"
    return "plan" if reviewed else "review"
