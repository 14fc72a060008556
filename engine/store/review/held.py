"""Decisions and marks held against the chain and the audit log: what was done to them outside of the program, in words.

The rows of a corpus are held against each other (`chained`), against every line of the log that tells how many there
were and how the last one ended, and the marks against the sum in the latest line (`marks`). What does not hold stays
so: a later act carries it on, and marks that were made of decisions or marks which did not hold at that moment never
hold again (`derived`). The file of a corpus' records is held against the line about its import (`tables`). The log
itself is checked apart from this (`engine.store.logs`).

The index of the records is held against that file, and the number of the review against the lines that tell of it.

Runs and their approvals are held by `engine.store.runs.held`, declarations and roles by `engine.store.logs.rows`. Not
held: what a detection at work has found, until it is put in force; files that an earlier edition imported.
Whoever changes rows while people work may keep a mark out of an act, as what stands there at that moment is acted on,
and cannot change what was decided of it; an undo asks of the decisions from the first one that it takes back on. A
workspace that is put back whole, or a database with the heads beside the key (`engine.store.disk.heads`), shows by an
export kept elsewhere alone.

Privacy posture: ids of corpora, numbers of decisions and counts; never a place, a label or a word.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from sqlalchemy import Connection, Text, select, text, type_coerce

from engine.errors import RefusedError, StorageError
from engine.pii.decide.rules import Standing, after
from engine.store import audit
from engine.store.chain import GENESIS
from engine.store.database.dialect import strangers
from engine.store.database.schema import corpora, decisions, record_index, settings, spans
from engine.store.disk import heads
from engine.store.disk.folder import Folder
from engine.store.logs import about
from engine.store.logs.breaks import Link, cut_off, within
from engine.store.records import digest, read_table
from engine.store.review import chained, marks
from engine.store.review.memory import forget, spared
from engine.store.rows import AnyRow
from engine.store.session import Session

GONE = "corpus deleted"
SPOILED = 1  # added to a sum that is to hold no more; it adds up and no digests make up for it
RAW_PRIOR = type_coerce(decisions.c.prior, Text).label("prior")  # as it stands: an edited one may be no JSON
LOG = "The audit log does not hold, so nothing that it tells of the decisions can be relied on."
NOT_HELD = (
    "The review's decisions or marks, or the corpus' records, are not those that the audit log tells of; `audit "
    "--verify` says what was done. Restore the latest backup, or import the file anew and review it again."
)


@dataclass
class _Told:
    """What the log tells of a corpus: how many decisions and how the last one ended, line by line; the latest marks.

    revision: the latest number of its review, by which runs and examinations are known to be outdated.
    """

    heads: list[tuple[int, str]] = field(default_factory=list)
    marks: str = ""
    revision: int = 0
    again: bool = False  # brought under the chain after a line had told of it


@dataclass
class _Log:
    """What the log tells of corpora, by id; which of them were deleted, and which an earlier edition imported."""

    told: dict[str, _Told] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)
    earlier: set[str] = field(default_factory=set)


def of_corpus(session: Session, corpus_id: str, *, anew: bool = True) -> tuple[str, ...]:
    """Return what does not hold of a corpus' decisions, its marks and the audit log, in sentences.

    Args:
        anew: go through all of it; otherwise what was found is remembered until a decision or a mark changes, and
            where going through it takes long, for a while after.
    """
    if anew:
        kept = heads.kept(session.folder, audit.CHAIN.name)  # before the database is read: it may not be ahead of it
        with session.db.read() as connection:
            found = _found(connection, session, corpus_id, anew=True)
            if kept is not None and kept[0] and not audit.CHAIN.holds(connection, session.key, *kept):
                found = (LOG, *(one for one in found if one != LOG))
        if found:
            forget(corpus_id)  # pages tell it too
        return found
    return spared(session.db, corpus_id, "decisions held", lambda c: _found(c, session, corpus_id, anew=False))


def demand(session: Session, corpus_id: str) -> None:
    """Refuse where a corpus' decisions or marks are not those that the audit log tells of.

    Raises:
        RefusedError: they are not.
    """
    if of_corpus(session, corpus_id):
        raise RefusedError(NOT_HELD)


def demand_here(session: Session, connection: Connection, corpus_id: str, *, table: bool) -> None:
    """Refuse what `demand` does, of what the caller's transaction sees.

    Args:
        table: read the file of the corpus' records too.
    """
    found = tables(connection, session.folder, session.key, corpus_id) if table else []
    if found or _found(connection, session, corpus_id, anew=False):
        raise RefusedError(NOT_HELD)


def tables(connection: Connection, folder: Folder, key: bytes, corpus_id: str | None = None) -> list[str]:
    """Return a sentence for each corpus, of one or all, whose file of records is not the one that was imported.

    Of a corpus that an earlier edition imported the log does not tell it.
    """
    known = set(connection.execute(select(corpora.c.id)).scalars())
    found = []
    for _, one, said in about.told(connection, (chained.IMPORTED,), corpus_id):
        if one not in known:
            continue
        told = said.get("table")
        try:
            there = digest(folder.records(one), key, one) if isinstance(told, str) else ""
            indexed = _indexed(connection, folder, one)
        except StorageError:
            found.append(f"corpus {one}: the file of its records is missing or cannot be read.")
            continue
        if isinstance(told, str) and not hmac.compare_digest(there.encode(), told.encode()):
            found.append(f"corpus {one}: the file of its records is not the one that was imported.")
        elif not indexed:
            found.append(f"corpus {one}: the index of its records, by which marks belong to a text, was changed.")
    return found


def _indexed(connection: Connection, folder: Folder, corpus_id: str) -> bool:
    """Say whether the index names the records of the file, each in its place and in its part."""
    columns = (record_index.c.position, record_index.c.record_id, record_index.c.split)
    query = select(*columns).where(record_index.c.corpus_id == corpus_id).order_by(record_index.c.position)
    there = [tuple(row) for row in connection.execute(query)]
    frame = read_table(folder.records(corpus_id), ["record_id", "split"])
    return there == list(zip(range(len(frame)), frame["record_id"], frame["split"], strict=True))


@contextmanager
def derived(
    session: Session, connection: Connection, corpus_id: str, positions: Collection[int] | None = None, since: int = 0
) -> Iterator[None]:
    """Take into the sum of the marks what is made of the decisions inside, for all of a corpus or at some positions.

    Where decisions, or the marks of the whole corpus, are not those that the log tells of at this moment, the marks
    will not hold ever after, although the rows that were changed may be put back.

    Args:
        since: the first decision that counts, so that taking back the latest one among 100,000 goes through few rows;
            all count by default.
    """
    log = about.whole(connection, session.key, corpus_id, anew=positions is None)
    as_told = log and _as_told(connection, session.key, corpus_id, since, all_marks=positions is None)
    spoiled = 0 if as_told else SPOILED
    with marks.watched(connection, session.key, corpus_id, positions):
        yield
    marks.add(connection, corpus_id, spoiled)


def breaks(connection: Connection, key: bytes, corpus_id: str | None = None) -> list[str]:
    """Return a sentence for each way in which decisions and marks, of one corpus or of all, do not hold."""
    log = _told(connection, corpus_id)
    query = select(corpora.c.id) if corpus_id is None else select(corpora.c.id).where(corpora.c.id == corpus_id)
    known = list(connection.execute(query.order_by(corpora.c.id)).scalars())
    begun = connection.execute(select(settings.c.key).where(settings.c.key == chained.CHAINED)).first() is not None
    found = [f"the database was given {one} outside of the program." for one in strangers(connection)]
    for one in known:
        if one in log.gone:
            found.append(f"corpus {one}: it was deleted, and is there again.")
        elif one in log.told:
            found += [f"corpus {one}: {said}" for said in _of_one(connection, key, one, log.told[one])]
        elif begun or one not in log.earlier:
            found.append(f"corpus {one}: no line of the log tells of its decisions.")
    if corpus_id is None:
        found += [f"corpus {one} was removed with its decisions." for one in log.told if one not in {*known, *log.gone}]
    return found


def _found(connection: Connection, session: Session, corpus_id: str, *, anew: bool) -> tuple[str, ...]:
    log = [] if about.whole(connection, session.key, corpus_id, anew=anew) else [LOG]
    files = tables(connection, session.folder, session.key, corpus_id) if anew else []
    return (*log, *breaks(connection, session.key, corpus_id), *files)


def _told(connection: Connection, corpus_id: str | None) -> _Log:
    """Return what the log tells of each corpus, or of one, since it was under the chain."""
    log = _Log()
    for action, subject, said in about.told(connection, (*chained.TELLING, GONE), corpus_id):
        if action == GONE:
            log.gone.add(subject)
            continue
        if chained.is_earlier(action, said):
            log.earlier.add(subject)
        count, head, total = (said.get(name) for name in ("decisions", "head", "marks"))
        if not isinstance(count, int) or not isinstance(head, str) or not isinstance(total, str):
            continue  # of an earlier edition, or made unreadable, which the log's own check tells
        one = log.told.setdefault(subject, _Told())
        one.again |= action == chained.CHAINED and bool(one.heads)
        one.heads.append((count, head))
        one.marks = total
        number = said.get("revision")
        one.revision = number if isinstance(number, int) else one.revision
    return log


def _of_one(connection: Connection, key: bytes, corpus_id: str, told: _Told) -> list[str]:
    found = ["its decisions were brought under the chain a second time."] if told.again else []
    found += _rows(connection, key, corpus_id, told.heads)
    total = marks.total(connection, key, corpus_id)
    if marks.opened(key, corpus_id, told.marks) != total:
        found += _of_marks(connection, corpus_id)
    number = connection.execute(select(corpora.c.revision).where(corpora.c.id == corpus_id)).scalar()
    if not isinstance(number, int) or number < told.revision:
        found.append("the number of its review, by which runs are known to be outdated, was put back.")
    return found


def _as_told(connection: Connection, key: bytes, corpus_id: str, since: int, *, all_marks: bool) -> bool:
    """Say inside a transaction whether decisions, and marks if asked, are as the log and what was noted since say."""
    told = _told(connection, corpus_id).told.get(corpus_id)
    if told is None:
        return False
    changed, head = marks.noted(connection, corpus_id)
    heads = [*told.heads, *([head] if head else [])]
    if not _follow(connection, key, corpus_id, since, heads) if since > 1 else _rows(connection, key, corpus_id, heads):
        return False
    known = marks.opened(key, corpus_id, told.marks) if all_marks else None
    if not all_marks:
        return True
    return known is not None and (known + changed) % marks.MODULUS == marks.total(connection, key, corpus_id)


def _rows(connection: Connection, key: bytes, corpus_id: str, heads: Sequence[tuple[int, str]]) -> list[str]:
    """Return what does not hold of a corpus' rows, in their own order and against the lines that tell of them."""
    links, stray = _links(connection, corpus_id)
    last = max(count for count, _ in heads)  # a later line tells of fewer where the program went on behind a cut
    inside = [one for one in links if one.seq <= last]

    def hashed(previous: str, number: int, said: Mapping[str, object]) -> str:
        return chained.digest(key, corpus_id, number, previous, said)

    more = stray + len(links) - len(inside)
    found = [f"{_count(more)} brought in that the log does not tell of."] if more else []
    found += [one.sentence for one in within(inside, hashed, "decision")]
    end = inside[-1].seq if inside else 0
    if end < last:
        found.append(cut_off("decision", end + 1, last))
    digests = {one.seq: one.hash for one in inside} | {0: GENESIS}
    other = [n for n, said in heads if n <= end and not hmac.compare_digest(digests.get(n, "").encode(), said.encode())]
    if other and not found:
        found.append(f"Decision {other[0]} is another one than the log tells of.")
    return found


def _links(connection: Connection, corpus_id: str, since: int | None = None) -> tuple[list[Link], int]:
    """Return a corpus' decisions by their numbers, all or from one on, and how many have none."""
    columns = [decisions.c[name] for name in chained.FIELDS if name != "prior"]
    query = select(decisions.c.number, decisions.c.digest, RAW_PRIOR, *columns)
    query = query.where(decisions.c.corpus_id == corpus_id).order_by(decisions.c.number, decisions.c.seq)
    if since is not None:
        query = query.where(decisions.c.number >= since)
    rows = [row._mapping for row in connection.execute(query)]
    links = [
        Link(row["number"], str(row["digest"]), {**row, "prior": _prior(row["prior"])})
        for row in rows
        if isinstance(row["number"], int)
    ]
    return links, len(rows) - len(links)


def _follow(connection: Connection, key: bytes, corpus_id: str, since: int, heads: Sequence[tuple[int, str]]) -> bool:
    """Say whether decisions from the one before a number on follow each other up to the end that was told.

    Each digest rests on the one before it, so the end vouches for all of them; what comes earlier is not asked.
    """
    links, _ = _links(connection, corpus_id, since - 2)
    last, end = max(heads)
    if (
        not links
        or [one.seq for one in links] != list(range(links[0].seq, last + 1))
        or links[0].seq > max(1, since - 2)
    ):
        return False
    before, *behind = [Link(0, GENESIS, {}), *links] if links[0].seq == 1 else links
    for one in behind:
        said = chained.digest(key, corpus_id, one.seq, before.hash, one.content)
        if not hmac.compare_digest(said.encode(), one.hash.encode()):
            return False
        before = one
    return hmac.compare_digest(before.hash.encode(), end.encode())


def _prior(said: object) -> object:
    """Return what stood before a decision, as its digest has it."""
    if not isinstance(said, str):
        return said
    try:
        return json.loads(said)
    except ValueError:
        return said


def _count(decided: int) -> str:
    return "1 decision was" if decided == 1 else f"{decided:,} decisions were"


def _of_marks(connection: Connection, corpus_id: str) -> list[str]:
    """Return in what the marks are not what was decided, for marks that do not hold."""
    standing = _standing(connection, corpus_id)
    mine = (spans.c.corpus_id == corpus_id, marks.COUNT)
    there = connection.execute(select(spans).where(*mine)).all()
    other = sum(_contradicts(row, standing) for row in there)
    known = {row.id for row in there if row.active}
    gone = sum(e.action == "add" and e.span_id not in known for e in standing.values())
    read = select(record_index.c.position).where(
        record_index.c.corpus_id == corpus_id, record_index.c.reviewed.is_not(False)
    )
    unread = len(set(connection.execute(read).scalars()) - _read(connection, corpus_id))
    found = []
    if other:
        found.append(f"marks that are not what was decided of them: {other:,}.")
    if gone:
        found.append(f"marks that a person added and that are gone: {gone:,}.")
    if unread:
        found.append(f"texts that count as read and that nobody read: {unread:,}.")
    if found:
        return found
    return ["its marks are not those that the log tells of: some were changed, removed or brought in."]


def _contradicts(row: AnyRow, standing: Mapping[tuple[object, ...], AnyRow]) -> bool:
    """Say whether a mark in force is another than the latest decision on it, or decided and nobody decided it."""
    event = standing.get((row.position, row.start, row.end, row.first_label))
    if not row.active or event is None:
        return bool(row.active and row.decided and event is None)
    if not row.decided:
        return True
    prior = _prior(event.prior)
    if event.span_id != row.id or not isinstance(prior, dict):
        return event.action != "review" and (row.state == "rejected") != (event.action == "reject")
    stood = Standing(str(prior.get("state")), str(prior.get("label")), str(prior.get("identifier_type")))
    return Standing(row.state, row.label, row.identifier_type) != after(event.action, stood, event.label)


def _standing(connection: Connection, corpus_id: str) -> dict[tuple[object, ...], AnyRow]:
    """Return the latest decision of each place that was not taken back."""
    mine = decisions.c.corpus_id == corpus_id
    undone = select(decisions.c.undoes).where(mine, decisions.c.undoes.is_not(None))
    columns = (decisions.c[name] for name in ("position", "start", "end", "first_label", "span_id", "action", "label"))
    query = select(*columns, RAW_PRIOR).where(mine, decisions.c.span_id.is_not(None), decisions.c.batch.not_in(undone))
    rows: Iterable[AnyRow] = connection.execute(query.order_by(decisions.c.seq))
    return {(row.position, row.start, row.end, row.first_label): row for row in rows}


def _read(connection: Connection, corpus_id: str) -> set[int]:
    """Return the records that somebody read to the end, by a decision that was not taken back."""
    query = text(
        "SELECT position FROM decisions WHERE corpus_id = :corpus AND action = 'review' AND span_id IS NULL "
        "AND batch NOT IN (SELECT undoes FROM decisions WHERE corpus_id = :corpus AND undoes IS NOT NULL)"
    )
    return set(connection.execute(query, {"corpus": corpus_id}).scalars())
