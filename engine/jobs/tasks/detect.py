"""Job `detect`: find spans in every record; the old ones stay in force until all new ones are there.

A batch's spans and the cursor are committed together, marked `pending`. The last transaction
replaces the earlier detected spans and puts the standing decisions on the new ones.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import cast

from sqlalchemy import Connection, func, select, text, update

from engine.jobs.worker.task import Stopped, Task
from engine.store.audit import now
from engine.store.database.schema import corpora, spans
from engine.store.review import chained, decisions, marks
from engine.store.review.marks import PENDING
from engine.store.review.spans import FoundSpan, activate, insert_spans, refresh, span_rows, weigh
from engine.store.summaries import corpus_row


def run(task: Task) -> None:
    """Detect from the cursor on, commit each batch, then put the result in force."""
    from engine.pii.detect.detector import detect_records
    from engine.pii.detect.settings import DetectorSettings
    from engine.pii.languages.telling import languages_of

    settings = DetectorSettings.from_json(task.arguments["settings"])
    records = task.store.corpora.frame(task.corpus_id, columns=["record_id", "text"])
    total, done = len(records), int((task.cursor or {}).get("done", 0))
    if task.cursor is None:
        with task.batch("detect", 0, total, cursor={"done": 0}) as connection:
            _drop_pending(connection, task.corpus_id)
    rest = records.iloc[done:]
    places = {r: (done + i, t) for i, (r, t) in enumerate(zip(rest["record_id"], rest["text"]))}
    reached = begun = done

    def progress(count: int, _of: int) -> None:
        nonlocal reached
        reached = begun + count

    spoken = languages_of(records["text"].astype(str).tolist(), settings.language)[done:] if len(rest) else []
    batches = (
        detect_records(rest, settings, progress=progress, cancelled=task.cancelled, languages=spoken)
        if len(rest)
        else iter(())
    )
    for found in batches:
        rows = span_rows(
            [cast("FoundSpan", asdict(s)) for s in found],
            corpus_id=task.corpus_id,
            places=places,
            key=task.store.session.key,
            origin=PENDING,
            active=False,
            threshold=settings.threshold,
        )
        done = reached
        with task.batch("detect", done, total, cursor={"done": done}) as connection:
            insert_spans(connection, rows)
    if done < total:
        raise Stopped
    with task.batch("put in force", total, total) as connection:
        _put_in_force(task, connection)


def _drop_pending(connection: Connection, corpus_id: str) -> None:
    connection.execute(spans.delete().where(spans.c.corpus_id == corpus_id, spans.c.origin == PENDING))


def _put_in_force(task: Task, connection: Connection) -> None:
    corpus_id, session = task.corpus_id, task.store.session
    with marks.watched(connection, session.key, corpus_id):
        standing = _replace(connection, corpus_id)
    refresh(connection, corpus_id)
    decisions.bump(connection, corpus_id)
    at = now()
    connection.execute(
        update(corpora).where(corpora.c.id == corpus_id).values(span_source="detected", spans_at=at, detected_at=at)
    )
    found = connection.execute(
        select(func.count()).select_from(spans).where(spans.c.corpus_id == corpus_id, spans.c.origin == "detected")
    ).scalar_one()
    records = corpus_row(connection, corpus_id).records
    session.write_audit(
        connection, "spans detected", corpus_id, records=records, spans=found, decisions_kept=standing,
        **chained.told(connection, session.key, corpus_id),
    )  # fmt: skip


def _replace(connection: Connection, corpus_id: str) -> int:
    """Put what was found in the place of what was found before; return on how many spans a decision stands."""
    connection.execute(spans.delete().where(spans.c.corpus_id == corpus_id, spans.c.origin == "detected"))
    parameters: dict[str, object] = {"corpus": corpus_id, "pending": PENDING}
    connection.execute(
        text(
            "DELETE FROM spans WHERE corpus_id = :corpus AND origin = :pending AND EXISTS (SELECT 1 FROM spans AS c "
            "WHERE c.corpus_id = :corpus AND c.active = TRUE AND c.position = spans.position "
            "AND c.origin = 'custodian' AND c.start = spans.start AND c.end = spans.end AND c.label = spans.label)"
        ),
        parameters,
    )
    connection.execute(
        update(spans).where(spans.c.corpus_id == corpus_id, spans.c.origin == PENDING).values(origin="detected")
    )
    activate(connection, corpus_id, "detected")
    weigh(connection, corpus_id)
    return decisions.replay(connection, corpus_id, "detected")
