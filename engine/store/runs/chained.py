"""Runs under the audit log's chain: keyed digests of what a run is, written with the act that made it so.

The line about a run that was asked for holds digests of its settings and of its guarantee, the line about its end those
of its texts and its counts, the line about an examination those of the findings of each group that was examined. A
part that an act does not touch is not told of again, so what was changed outside of the program stays untrue after any
later act. Approvals and risks of a run's records are one sum as marks of a review are (`engine.store.review.marks`):
each act adds what it changed.

While a run is made, its row carries a digest of its texts so far, chained record by record, and one of what else the
batches left there. Without the key nobody makes these; whoever puts an earlier state back puts its texts back too, and
the run goes on from there.

Privacy posture: digests under the workspace key; texts and numbers go into them and do not come out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sqlalchemy import Connection, Integer, Text, or_, select, type_coerce, update

from engine.at_rest import files
from engine.errors import StorageError
from engine.store.chain import keyed
from engine.store.database.dialect import strangers
from engine.store.database.schema import audit as log
from engine.store.database.schema import runs, seen_outputs, synthetic
from engine.store.logs import about
from engine.store.logs.rows import flag, said
from engine.store.records import digest as of_file
from engine.store.review import marks
from engine.store.rows import AnyRow
from engine.store.session import Session

if TYPE_CHECKING:
    from engine.store.disk.folder import Folder

ASKED, ACCOUNTED, FINISHED, EXAMINED = "run asked for", "run accounted for", "run finished", "run examined"
APPROVED = ("records approved", "records rejected", "records pending", "records approved together")
TELLING = (ASKED, ACCOUNTED, FINISHED, EXAMINED, *APPROVED)
"""Actions of lines whose subject is a run and which may tell of its row, texts, findings or approvals."""
LOOKING = (EXAMINED, "run examined in part")
"""Actions of lines that tell what is kept of a look at private records (`engine.store.runs.seen`)."""
LENGTH = 64  # of a digest
DRAWS, SEALED = "draws", "sealed"
ORIGINALS = "originals"  # the table that says which outputs are an original; the gate reads it
_PLAIN = ("id", "corpus_id", "method", "title", "seed", "model", "count", "created", "revision")
_NOTHING: dict[str, object] = {"kept": 0, "funnel": {}, "diagnostics": {}, "seconds": 0.0, "state_json": None}
_TEXTS = ("position", "record_id", "text", "label", "lineage")


def read(connection: Connection, run_id: str | None = None) -> Iterator[AnyRow]:
    """Yield the rows of runs as they stand: columns of JSON as their text, whatever somebody put there."""
    columns = [
        type_coerce(column, Text).label(column.name) if column.name in _JSON else column
        for column in runs.c
        if column.name != "needs_spans"
    ]
    query = select(*columns, type_coerce(runs.c.needs_spans, Integer).label("needs_spans")).order_by(runs.c.id)
    yield from connection.execute(query if run_id is None else query.where(runs.c.id == run_id))


def settings_of(key: bytes, row: Mapping[str, object]) -> str:
    """Return the digest of what a run was asked to be: corpus, method, parameters, seed, model, count, manifest."""
    plain = [row[name] for name in _PLAIN]
    return keyed(key, "run asked", [*plain, said(row["parameters"]), said(row["manifest"]), flag(row["needs_spans"])])


def guarantee_of(key: bytes, run_id: str, guarantee: object) -> str:
    """Return the digest of what is promised of a run."""
    return keyed(key, "run guarantee", [run_id, said(guarantee)])


def end_of(key: bytes, row: Mapping[str, object], head: str) -> str:
    """Return the digest of a run's end: that it is finished, when, and with which texts."""
    return keyed(key, "run finished", [row["id"], row["state"], row["finished"], row["kept"], head])


def findings_of(key: bytes, run_id: str, group: str, bodies: Sequence[object]) -> str:
    """Return the digest of the findings of one group, in their order."""
    return keyed(key, "findings", [run_id, group, [said(body) for body in bodies]])


def examination_of(key: bytes, run_id: str, at: object, revision: object) -> str:
    """Return the digest of when a run was examined, and of which state of its corpus."""
    return keyed(key, "examination", [run_id, at, revision])


def originals_of(folder: Folder, key: bytes, run_id: str) -> str:
    """Return the digest of the table of outputs that are an original, empty where there is none.

    Raises:
        StorageError: it cannot be read.
    """
    path = folder.run(run_id) / f"{ORIGINALS}.parquet"
    files.fetch(path)
    return of_file(path, key, f"{run_id}/{ORIGINALS}") if path.exists() else ""


def seen_of(connection: Connection, key: bytes, run_id: str) -> str:
    """Return the digest of what an examination of a run leaves, by which its texts are known in another run."""
    query = select(seen_outputs.c.digest).where(seen_outputs.c.run_id == run_id).order_by(seen_outputs.c.digest)
    return keyed(key, "seen", [run_id, list(connection.execute(query).scalars())])


def texts_of(key: bytes, run_id: str, rows: Iterable[Sequence[object]], before: str = "") -> str:
    """Return the digest of a run's texts, each chained to those before it.

    Args:
        rows: position, id, text, label and lineage of each, in their order. before: of the texts before these.
    """
    head = before or keyed(key, "texts", [run_id])
    for row in rows:
        head = keyed(key, "text", [run_id, head, *row])
    return head


def texts(connection: Connection, run_id: str) -> Iterator[Sequence[object]]:
    """Yield of each text of a run, in their order, what its digest is taken over."""
    query = select(*(synthetic.c[name] for name in _TEXTS)).where(synthetic.c.run_id == run_id)
    for row in connection.execute(query.order_by(synthetic.c.position)):
        yield tuple(row)


def begin(connection: Connection, key: bytes, values: Mapping[str, object]) -> None:
    """Put in a run that is asked for, inside the caller's transaction, which tells of it (`asked`).

    Args:
        values: of its columns, all but those that have a default.
    """
    run_id = str(values["id"])
    sealed = _sealed(key, run_id, texts_of(key, run_id, ()), _NOTHING)
    connection.execute(runs.insert().values(**values, sealed=sealed))
    marks.add(connection, run_id)


def asked(connection: Connection, key: bytes, values: Mapping[str, object]) -> dict[str, str]:
    """Return what the line about a run that is asked for holds of it: `asked` and `claim`.

    It also says that what its mechanisms draw is sealed (`engine.store.budget.outputs`).
    """
    run_id = str(values["id"])
    marks.take(connection, run_id)
    claim = guarantee_of(key, run_id, values["guarantee"])
    return {"asked": settings_of(key, values), "claim": claim, DRAWS: SEALED}


def account(session: Session, connection: Connection, run_id: str, guarantee: Mapping[str, object]) -> None:
    """Keep the guarantee of a run that was still being computed when it was asked for, and tell of it."""
    connection.execute(update(runs).where(runs.c.id == run_id).values(guarantee=guarantee))
    claim = {"claim": guarantee_of(session.key, run_id, guarantee)} if is_told(connection, run_id) else {}
    session.write_audit(connection, ACCOUNTED, run_id, **claim)


def grow(
    connection: Connection, key: bytes, before: AnyRow, rows: Sequence[Mapping[str, object]],
    values: Mapping[str, object],
) -> None:  # fmt: skip
    """Add texts to a run and keep what the batch leaves in its row.

    Args:
        before: the run's row as it stands. rows: of `synthetic`. values: the run's new ones, of every column that a
            batch changes.
    """
    run_id = str(before.id)
    if rows:
        connection.execute(synthetic.insert(), [dict(row) for row in rows])
    changed = dict(values)
    if before.sealed is not None:
        head = texts_of(key, run_id, ([row[name] for name in _TEXTS] for row in rows), _head(key, before))
        changed["sealed"] = _sealed(key, run_id, head, values)
    connection.execute(update(runs).where(runs.c.id == run_id).values(**changed))


def end(session: Session, connection: Connection, run_id: str) -> None:
    """Tell of a run that is finished inside the transaction that says so in its row."""
    row = next(read(connection, run_id), None)
    if row is None or row.state != "done":
        return
    told: dict[str, object] = {}
    if is_told(connection, run_id):
        head = _head(session.key, row)
        told = {"texts": head, "end": end_of(session.key, dict(row._mapping), head)}
    session.write_audit(connection, FINISHED, run_id, corpus=row.corpus_id, kept=row.kept, **told)


def holds_so_far(key: bytes, row: AnyRow) -> bool:
    """Say whether a run's row is as its latest batch left it."""
    return str(row.sealed)[LENGTH:] == _left(key, str(row.id), str(row.sealed)[:LENGTH], dict(row._mapping))


def is_told(connection: Connection, run_id: str) -> bool:
    """Say whether the log tells of a run's settings; that of a run of an earlier edition does not."""
    return any("asked" in line for _, _, line in about.told(connection, (ASKED,), run_id))


@contextmanager
def watched(
    connection: Connection, key: bytes, run_id: str, record_ids: Collection[str] | None = None
) -> Iterator[None]:
    """Take into the sum what is done inside to approvals and risks, of a whole run or of some of its records.

    The caller's line tells of it (`told`).

    Raises:
        StorageError: the database would do more than it is told.
    """
    added = strangers(connection)
    if added:
        raise StorageError(f"The database was given {', '.join(added)} outside of the program, so nothing is changed.")
    before = total(connection, key, run_id, record_ids)
    yield
    marks.add(connection, run_id, total(connection, key, run_id, record_ids) - before)


def told(connection: Connection, key: bytes, run_id: str) -> dict[str, str]:
    """Return what a line holds of approvals and risks: `marks`; nothing of a run of an earlier edition."""
    changed, _ = marks.take(connection, run_id)
    if not is_told(connection, run_id):
        return {}
    query = select(log.c.detail).where(
        log.c.subject == run_id, log.c.action.in_(TELLING), log.c.detail.contains('"marks":"')
    )
    last = connection.execute(query.order_by(log.c.seq.desc()).limit(1)).scalar()
    before = 0 if last is None else marks.opened(key, run_id, str(about.said_in(last).get("marks")))
    return {"marks": marks.sealed(key, run_id, (before or 0) + changed)}


def total(connection: Connection, key: bytes, run_id: str, record_ids: Collection[str] | None = None) -> int:
    """Return the sum over all of a run's records, or some, as they stand; one that is pending without a risk adds 0."""
    query = select(synthetic.c.record_id, synthetic.c.approval, synthetic.c.risk).where(
        synthetic.c.run_id == run_id, or_(synthetic.c.approval != "pending", synthetic.c.risk.is_not(None))
    )
    if record_ids is None:
        return sum(_mark(key, run_id, row) for row in connection.execute(query)) % marks.MODULUS
    ids, found = sorted(set(record_ids)), 0
    for start in range(0, len(ids), 500):
        part = query.where(synthetic.c.record_id.in_(ids[start : start + 500]))
        found += sum(_mark(key, run_id, row) for row in connection.execute(part))
    return found % marks.MODULUS


_JSON = frozenset(column.name for column in runs.c if type(column.type).__name__ == "JSON")


def _mark(key: bytes, run_id: str, row: AnyRow) -> int:
    return int(keyed(key, "approval", [run_id, row.record_id, row.approval, row.risk]), 16)


def _head(key: bytes, row: AnyRow) -> str:
    """Return the digest of a run's texts so far; one that no texts have where its row was changed since."""
    head = str(row.sealed)[:LENGTH]
    return head if holds_so_far(key, row) else keyed(key, "changed", [row.id, head])


def _sealed(key: bytes, run_id: str, head: str, values: Mapping[str, object]) -> str:
    return head + _left(key, run_id, head, values)


def _left(key: bytes, run_id: str, head: str, values: Mapping[str, object]) -> str:
    parts = (said(values[name]) for name in ("funnel", "diagnostics", "state_json"))
    return keyed(key, "run so far", [run_id, head, values["kept"], _number(values["seconds"]), *parts])


def _number(value: object) -> object:
    return float(value) if isinstance(value, int | float) else repr(value)
