"""Draw a spot check: which records, from which parts, in which order, and what stood marked in them before.

It is drawn from all records. Those that somebody read before are parts of their own, in proportion to how many they
are: reading is a press of a key, and what it overlooked shows in a second look alone. The parts follow the order of
the detector's risk, a number that nobody chose; records of a part, the order of reading and the part for a second
reader come from the operating system's entropy, so that nobody picks them.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence

from sqlalchemy import Connection, func, select, update

from engine.errors import RefusedError, UserError
from engine.pii.decide.missed import strata
from engine.pii.spans import canonical_label
from engine.store.audit import now
from engine.store.database.dialect import one_of
from engine.store.database.schema import corpora, decisions, record_index, spans, spot_checks, spot_records
from engine.store.review import chained as decided
from engine.store.review.marks import watched
from engine.store.review.spans import CHUNK
from engine.store.review.spot import chained, looks
from engine.store.review.spot.views import Drawable
from engine.store.session import Session, new_id
from engine.store.summaries import corpus_row

Before = list[tuple[int, int, str, str]]  # start, end, label, identifier type of each place that goes


def drawable(connection: Connection, corpus_id: str, marks_of: Callable[[str], bytes] | None) -> Drawable:
    """Return what a new spot check could be drawn from.

    marks_of: see `looks.elsewhere`; None: at a glance, looks at the same records in another corpus are not counted.
    """
    corpus_row(connection, corpus_id)
    mine = record_index.c.corpus_id == corpus_id
    query = select(func.count(), func.count().filter(record_index.c.reviewed.is_(True))).where(mine)
    records, read = (int(n) for n in connection.execute(query).one())
    own = looks.own(connection, corpus_id)
    other = looks.elsewhere(connection, corpus_id, marks_of) if marks_of else 0
    return Drawable(records, read, max(own, other) + 1, bool(other))


def draw(
    session: Session, connection: Connection, corpus_id: str, count: int, twice: int, look: int | None,
    marks_of: Callable[[str], bytes],
) -> str:  # fmt: skip
    """Draw a spot check inside the caller's transaction and return its id; see `SpotChecks.draw`."""
    found = drawable(connection, corpus_id, marks_of)
    if corpus_row(connection, corpus_id).span_source is None:
        raise UserError("Look for identifiers first: a spot check finds out what was missed.")
    if look is not None and look != found.look:
        raise RefusedError("Somebody drew a spot check of these texts meanwhile. Look at it before you draw another.")
    if not found.records:
        raise UserError("This corpus has no record to draw.")
    if count < 1:
        raise UserError(f"count: draw at least one record, not {count}")
    if not 0 <= twice <= count:
        raise UserError(f"twice: must lie between 0 and the number of records drawn, is {twice}")
    unread, read = (_by_risk(connection, corpus_id, reviewed=reviewed) for reviewed in (False, True))
    sizes, shares = strata((len(unread), len(read)), count)
    chance = secrets.SystemRandom()
    chosen = _chosen(chance, [*unread, *read], sizes, shares)
    opened = sorted({position for position, _ in chosen} & set(read))
    second = set(chance.sample(range(len(chosen)), min(twice, len(chosen))))
    before = standing(connection, corpus_id, [position for position, _ in chosen])
    check_id = new_id("k")
    latest = connection.execute(select(func.max(decisions.c.seq)).where(decisions.c.corpus_id == corpus_id)).scalar()
    connection.execute(
        spot_checks.insert().values(
            id=check_id, corpus_id=corpus_id, look=found.look, at=now(), actor=session.actor, records=found.records,
            parts=sizes, again=bool(read), read_before=len(read), after=int(latest or 0),
            marks=marks(connection, corpus_id),
        )
    )  # fmt: skip
    connection.execute(
        spot_records.insert(),
        [
            {
                "check_id": check_id, "position": position, "place": place, "part": part, "twice": place in second,
                "before": before.get(position, []),
            }
            for place, (position, part) in enumerate(chosen)
        ],
    )  # fmt: skip
    if opened:
        _open_again(session, connection, corpus_id, opened)
    mine = marks_of(corpus_id)
    looks.keep(connection, check_id, corpus_id, found.look, mine)
    session.write_audit(
        connection, chained.DRAWN, check_id, corpus=corpus_id, look=found.look, drawn=len(chosen),
        drawn_from=found.records, twice=len(second), parts=len(sizes), again=len(opened), read_before=len(read),
        row=chained.of_check(connection, session.key, check_id),
        marks=chained.of_marks(session.key, corpus_id, found.look, mine),
    )  # fmt: skip
    return check_id


def marks(connection: Connection, corpus_id: str) -> list[str | None]:
    """Return what changes when detection is run again or other marks are chosen."""
    query = select(corpora.c.span_source, corpora.c.spans_at, corpora.c.detected_at).where(corpora.c.id == corpus_id)
    return [None if value is None else str(value) for value in connection.execute(query).one()]


def standing(connection: Connection, corpus_id: str, positions: Sequence[int]) -> dict[int, Before]:
    """Return the places of these records that go as it is now, by position."""
    found: dict[int, Before] = {}
    for begin in range(0, len(positions), CHUNK):
        query = (
            select(spans.c.position, spans.c.start, spans.c.end, spans.c.label, spans.c.identifier_type)
            .where(
                spans.c.corpus_id == corpus_id, spans.c.active.is_(True), spans.c.state == "accepted",
                spans.c.position.in_(list(positions[begin : begin + CHUNK])),
            )
            .order_by(spans.c.position, spans.c.start, spans.c.end)
        )  # fmt: skip
        for position, start, end, label, kind in connection.execute(query):
            found.setdefault(position, []).append((start, end, canonical_label(label), kind))
    return found


def _chosen(
    chance: secrets.SystemRandom, positions: Sequence[int], sizes: Sequence[int], shares: Sequence[int]
) -> list[tuple[int, int]]:
    """Return (position, part) of what is drawn from parts that follow each other in `positions`, in random order."""
    found: list[tuple[int, int]] = []
    begin = 0
    for part, (size, share) in enumerate(zip(sizes, shares, strict=True)):
        found += [(position, part) for position in chance.sample(positions[begin : begin + size], share)]
        begin += size
    chance.shuffle(found)
    return found


def _by_risk(connection: Connection, corpus_id: str, *, reviewed: bool) -> list[int]:
    query = select(record_index.c.position).where(
        record_index.c.corpus_id == corpus_id, record_index.c.reviewed.is_(reviewed)
    )
    return list(connection.execute(query.order_by(record_index.c.hazard.desc(), record_index.c.position)).scalars())


def _open_again(session: Session, connection: Connection, corpus_id: str, positions: Sequence[int]) -> None:
    """Have records that were read before count as unread, so that they are read again."""
    mine = (record_index.c.corpus_id == corpus_id, one_of(record_index.c.position, positions))
    with watched(connection, session.key, corpus_id, positions):
        connection.execute(update(record_index).where(*mine).values(reviewed=False))
    held = decided.told(connection, session.key, corpus_id)
    session.write_audit(connection, "records opened again", corpus_id, records=len(positions), **held)
