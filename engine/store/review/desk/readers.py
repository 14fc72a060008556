"""Who has which text in hand: where several people sign in, a text lies ready for one of them at a time.

Nobody is kept from anything: whoever opens a text that another has in hand is told so, and what both decide is taken in
order (`engine.store.review.desk.since`). What is kept apart is the way on: the next text of a reader is one that lies
ready for nobody else. A text is in hand from when it lay ready for `IN_HAND_SECONDS`, until its reader has gone on from
it, or signed out. A second reading of a part is another matter, see `engine.store.review.spot`.

Privacy posture: rows hold positions, and the name and identity of a person who signed in; they pass, and no
copy holds them.
"""

from __future__ import annotations

import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import Connection, delete, select
from sqlalchemy.sql import ColumnElement

from engine.store.database.database import RETRIES, ConflictError, Database
from engine.store.database.dialect import clock, insert, of_records
from engine.store.database.schema import corpora, readers, record_index
from engine.store.people.roles import Person
from engine.store.review.spans import CHUNK
from engine.store.summaries import corpus_row

IN_HAND_SECONDS = 600.0


@dataclass(frozen=True)
class Ahead:
    """What comes next for a reader.

    Args:
        records: ids of records that nobody has read to the end, in the order asked for.
        others: id of each record that another person has in hand -> that person's name.
    """

    records: list[str]
    others: Mapping[str, str] = field(default_factory=dict)


def take_in_hand(
    db: Database, corpus_id: str, person: Person, current: str | None, record_ids: Sequence[str], limit: int
) -> Ahead:
    """Have the open text and the next unread ones lie ready for a person, and no other of theirs.

    Args:
        current: id of the open text. record_ids: in the order of reading. limit: most texts after the open one.
    """
    for attempt in range(1, RETRIES + 1):
        try:
            with db.brief() as connection:
                found = _in_hand(connection, corpus_id, person, current, record_ids, limit)
            return Ahead(found, others_in_hand(db, corpus_id, person))
        except ConflictError:  # two took each other's texts in turn
            if attempt == RETRIES:
                raise
            time.sleep(random.uniform(0.0, 0.01 * 2**attempt))
    raise AssertionError("unreachable")


def _in_hand(
    connection: Connection, corpus_id: str, person: Person, current: str | None, record_ids: Sequence[str], limit: int
) -> list[str]:
    corpus_row(connection, corpus_id)
    # One after the other: two who take several texts in turn would wait for each other.
    connection.execute(select(corpora.c.id).where(corpora.c.id == corpus_id).with_for_update(key_share=True))
    mine = readers.c.identity == person.identity
    connection.execute(delete(readers).where(readers.c.corpus_id == corpus_id, mine | (readers.c.until < clock())))
    if current is not None:
        _take(connection, corpus_id, person, [position for position, _ in _unread(connection, corpus_id, [current])])
    found: list[str] = []
    for begin in range(0, len(record_ids), CHUNK):
        unread = [one for one in _unread(connection, corpus_id, record_ids[begin : begin + CHUNK]) if one[1] != current]
        while unread and len(found) < limit:
            tried, unread = unread[: limit - len(found)], unread[limit - len(found) :]
            taken = _take(connection, corpus_id, person, [position for position, _ in tried])
            found += [record for position, record in tried if position in taken]
        if len(found) >= limit:
            break
    return found


def others_in_hand(db: Database, corpus_id: str, person: Person) -> dict[str, str]:
    """Return which records of a corpus others have in hand: id of the record -> name of the person."""
    query = (
        select(record_index.c.record_id, readers.c.name)
        .join(readers, _same_record())
        .where(readers.c.corpus_id == corpus_id, readers.c.identity != person.identity, readers.c.until >= clock())
    )
    with db.read() as connection:
        return {str(record): str(name) for record, name in connection.execute(query)}


def put_down(connection: Connection, person: Person) -> None:
    """Take nothing any more for a person who goes, in any corpus."""
    connection.execute(delete(readers).where(readers.c.identity == person.identity))


def _same_record() -> ColumnElement[bool]:
    return (record_index.c.corpus_id == readers.c.corpus_id) & (record_index.c.position == readers.c.position)


def _unread(connection: Connection, corpus_id: str, record_ids: Sequence[str]) -> list[tuple[int, str]]:
    """Return position and id of those of the records that nobody has read to the end, in their order."""
    query = select(record_index.c.record_id, record_index.c.position).where(
        record_index.c.corpus_id == corpus_id,
        of_records(record_index.c.position, corpus_id, record_ids),
        record_index.c.reviewed.is_(False),
    )
    position = {str(record): int(at) for record, at in connection.execute(query)}
    return [(position[record], record) for record in record_ids if record in position]


def _take(connection: Connection, corpus_id: str, person: Person, positions: Sequence[int]) -> set[int]:
    """Put records into a person's hand, but for those that another has; return which are theirs now.

    One statement, so that of two who take the same text at the same moment one has it.
    """
    if not positions:
        return set()
    until = clock() + IN_HAND_SECONDS
    statement = insert(connection, readers).values([
        {"corpus_id": corpus_id, "position": position, "identity": person.identity, "name": person.name, "until": until}
        for position in sorted(set(positions))
    ])  # fmt: skip
    statement = statement.on_conflict_do_update(
        index_elements=["corpus_id", "position"],
        set_={"identity": person.identity, "name": person.name, "until": until},
        where=(readers.c.identity == person.identity) | (readers.c.until < clock()),
    )
    return {int(position) for position in connection.execute(statement.returning(readers.c.position)).scalars()}
