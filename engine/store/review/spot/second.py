"""The second reader of a spot check: a text without the first's decisions, what this person adds, and what is settled.

Privacy posture: words that are typed are looked for in their text; a row keeps where they stand and their type.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import Connection, select

from engine.corpus.text.folding import folded
from engine.errors import NotFoundError, UserError
from engine.store.audit import now
from engine.store.database.schema import decisions as events
from engine.store.database.schema import spans, spot_events
from engine.store.people.names import one_person
from engine.store.review import acts, decisions
from engine.store.review.desk.refusals import Refusal
from engine.store.review.queries import check_label
from engine.store.review.search import texts_at
from engine.store.review.spot import chained
from engine.store.review.spot.reading import Seen, same, seen
from engine.store.review.spot.views import SecondSheet
from engine.store.review.unmarked import free_places
from engine.store.rows import AnyRow
from engine.store.session import Session
from engine.store.upkeep import DEFAULT_ACTOR

NAMED = "Say who you are first: a second reading, and what is settled after it, stand under a person's name."
OUTCOMES = ("missed", "none")
OTHER = (
    "That this is no identifier is for somebody else to say: it is about your own reading, or you took it back "
    "yourself. Until then it counts as missed."
)
SHORTEST_REASON, LONGEST_REASON = 10, 200


def waiting(connection: Connection, session: Session, check: AnyRow) -> list[Seen]:
    """Return the records that the person acting may read as the second one and has not, in order."""
    met = _met(connection, check, session.actor)
    mine = same(session.actor)
    return [
        one for one in seen(connection, check)
        if one.twice and not one.done and one.position not in met and not _one_of(session.actor, one.readers)
        and (not one.marked_by or same(one.marked_by) == mine)
    ]  # fmt: skip


def sheet(session: Session, corpus_id: str, one: Seen) -> SecondSheet:
    """Return a record as the second reader sees it."""
    text = texts_at(session, corpus_id, [one.position])[one.position]
    return SecondSheet(
        one.record_id, text, tuple((start, end, label) for start, end, label, _ in one.before),
        tuple((*place, label) for place, label in sorted(one.added.items())),
    )  # fmt: skip


def mark(
    session: Session, connection: Connection, corpus_id: str, check: AnyRow, record_id: str, words: str, label: str
) -> int:
    """Note words of a text as missed, wherever they stand unmarked in it; return in how many places."""
    check_label(label)
    one = _open(connection, session, check, record_id)
    surface = " ".join(words.split())
    if not surface:
        raise UserError("words: type the words as they stand in the text")
    text = texts_at(session, corpus_id, [one.position])[one.position]
    taken = [(start, end) for start, end, _, _ in one.before] + list(one.added)
    places = free_places(text, surface, taken)
    if not places:
        raise UserError("words: they do not stand in this text where nothing is marked; type them as they stand there")
    rows = [_event(session, connection, check, one, "mark", start, end, label) for start, end in places]
    session.write_audit(
        connection, chained.NOTED, check.id, corpus=corpus_id, position=one.position, places=len(rows), rows=rows
    )
    return len(places)


def unmark(session: Session, connection: Connection, check: AnyRow, record_id: str, start: int, end: int) -> None:
    """Take back a place that the second reader added."""
    one = _open(connection, session, check, record_id)
    if (start, end) not in one.added:
        raise NotFoundError("nothing was added at this place; it may have been taken back before")
    row = _event(session, connection, check, one, "unmark", start, end, None)
    session.write_audit(
        connection, chained.TAKEN_BACK, check.id, corpus=check.corpus_id, position=one.position, rows=[row]
    )


def finish(session: Session, connection: Connection, check: AnyRow, record_id: str) -> None:
    """Note that the person acting has read a record to the end as the second one."""
    one = _open(connection, session, check, record_id)
    row = _event(session, connection, check, one, "finish", None, None, None)
    session.write_audit(
        connection, chained.READ, check.id, corpus=check.corpus_id, position=one.position, added=len(one.added),
        rows=[row],
    )  # fmt: skip


def settle(
    session: Session, connection: Connection, corpus_id: str, check: AnyRow, record_id: str, place: tuple[int, int],
    outcome: str, reason: str,
) -> None:  # fmt: skip
    """Settle what one reader alone found, or took back; where it was missed and nobody marked it, it is marked now.

    That it is no identifier is for somebody else to say than whose reading it is about, and with a reason: until then
    it counts as missed.
    """
    _named(session)
    if outcome not in OUTCOMES:
        raise UserError(f"outcome: must be one of {', '.join(OUTCOMES)}, is {outcome!r}")
    one = next((one for one in seen(connection, check) if one.record_id == record_id), None)
    found = next((d for d in one.differences() if (d.start, d.end) == place), None) if one else None
    if one is None or found is None:
        raise NotFoundError("there is no difference at this place; somebody may have decided on it since")
    if found.settled:
        raise UserError(f"this was settled before, by {found.settled_by}")
    said = " ".join(reason.split())
    if outcome == "none":
        if _one_of(session.actor, one.barred(found)):
            raise UserError(OTHER)
        _check_reason(session, corpus_id, one.position, place, said)
    row = _event(session, connection, check, one, outcome, *place, found.label)
    if outcome == "missed" and found.by != "first":
        _mark(session, connection, corpus_id, one, place, found.label)
    session.write_audit(
        connection, chained.SETTLED, check.id, corpus=corpus_id, position=one.position, by=found.by,
        label=found.label, outcome=outcome, reason=said if outcome == "none" else "", rows=[row],
    )  # fmt: skip


def _check_reason(session: Session, corpus_id: str, position: int, place: tuple[int, int], said: str) -> None:
    """Refuse a reason that says too little, or repeats the words it is about: it stands in the audit log."""
    if not SHORTEST_REASON <= len(said) <= LONGEST_REASON:
        raise UserError(f"reason: say in {SHORTEST_REASON} to {LONGEST_REASON} characters why it identifies nobody")
    words = folded(texts_at(session, corpus_id, [position])[position][place[0] : place[1]])
    if words and f" {words} " in f" {folded(said)} ":
        raise UserError("reason: leave out the words in question; the reason stands in the audit log")


def _mark(
    session: Session, connection: Connection, corpus_id: str, one: Seen, place: tuple[int, int], label: str
) -> None:
    """Mark a place, or accept the mark that is there."""
    try:
        acts.add_spans(session, connection, corpus_id, one.record_id, [place], label)
        decisions.note(session, connection, corpus_id, {"add": 1})
    except Refusal as error:
        if error.code != "there":
            raise
        there = select(spans.c.id).where(
            spans.c.corpus_id == corpus_id, spans.c.active.is_(True), spans.c.position == one.position,
            spans.c.start == place[0], spans.c.end == place[1], spans.c.label == label,
        )  # fmt: skip
        ids = [f"p-{number}" for number in connection.execute(there).scalars()]
        accepted = acts.decide(session, connection, corpus_id, ids, "accept")
        decisions.note(session, connection, corpus_id, {"accept": accepted})


def _open(connection: Connection, session: Session, check: AnyRow, record_id: str) -> Seen:
    """Return a record that the person acting may read as the second one, or refuse."""
    _named(session)
    one = next((one for one in waiting(connection, session, check) if one.record_id == record_id), None)
    if one is not None:
        return one
    known = next((one for one in seen(connection, check) if one.record_id == record_id and one.twice), None)
    if known is None:
        raise NotFoundError("this text is not among those that a second person reads")
    if known.done:
        raise UserError("A second person has read this text to the end.")
    if known.marked_by and same(known.marked_by) != same(session.actor):
        raise UserError("Somebody else is reading this text as the second person.")
    raise UserError("You decided on this text yourself; somebody else has to read it as the second person.")


def _one_of(name: str, names: Iterable[str]) -> bool:
    return any(one_person(name, other) for other in names)


def _named(session: Session) -> None:
    if same(session.actor) in (DEFAULT_ACTOR, "command line"):
        raise UserError(NAMED)


def _met(connection: Connection, check: AnyRow, actor: str) -> set[int]:
    """Return the positions on which a person decided anything since the sample was drawn."""
    query = select(events.c.position, events.c.actor).where(
        events.c.corpus_id == check.corpus_id, events.c.seq > check.after, events.c.position.is_not(None)
    )
    return {int(position) for position, who in connection.execute(query) if one_person(str(who), actor)}


def _event(
    session: Session, connection: Connection, check: AnyRow, one: Seen, action: str, start: int | None,
    end: int | None, label: str | None,
) -> str:  # fmt: skip
    """Add an act and return the digest of its row, for the line that tells of it."""
    made = connection.execute(
        spot_events.insert().values(
            check_id=check.id, position=one.position, at=now(), actor=session.actor, action=action, start=start,
            end=end, label=label,
        )
    )  # fmt: skip
    assert made.inserted_primary_key is not None
    query = select(spot_events).where(spot_events.c.seq == made.inserted_primary_key[0])
    return chained.of_event(session.key, connection.execute(query).one())
