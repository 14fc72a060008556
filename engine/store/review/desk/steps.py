"""What a browser decided while it was ahead of the server: a numbered queue of acts, each carried out exactly once.

A browser sends all that nobody has confirmed yet, again and again, until it is confirmed. An act is known by the
page load that sent it (`client`) and its number there (`seq`), so one that comes twice counts once, and those of one
page load are carried out in their order. What cannot be done is refused with a reason and changes nothing; so is an
act on a finding that somebody else decided on after it was seen, however late the act comes.

Privacy posture: acts name spans, records and offsets. Of what was refused a code is kept, nothing that was sent.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from engine.errors import StorageError, UserError
from engine.json_types import JSON, JSONObject, as_list, as_object
from engine.store.audit import now
from engine.store.database.schema import decisions as events
from engine.store.database.schema import review_acts
from engine.store.review import acts, decisions, marks
from engine.store.review.desk import since
from engine.store.review.desk.refusals import Refusal, code_of, sentence
from engine.store.review.queries import alike_rows, position_of, span_row
from engine.store.review.spans import span_id
from engine.store.rows import AnyRow
from engine.store.session import Session
from engine.store.summaries import corpus_row

MOST_STEPS = 2000  # in one message
MOST_PLACES = 5000  # of one act
MOST_CLIENTS = 50  # earlier page loads that one may have taken over
CLIENT = re.compile(r"[0-9a-z-]{8,64}")
MADE = re.compile(r"new-([0-9a-z-]{8,64})-(\d{1,9})")


@dataclass(frozen=True)
class Step:
    """One act of a page load.

    `span` is a span's id, or `new-CLIENT-SEQ` for the one that an earlier act added. `same` marks the same words
    elsewhere too, `again` decides anew what a person decided; `of` is the act that an undo takes back, the page's
    latest by default. `upon` is the number of the latest group of decisions in what was seen, None where nothing was
    looked at; `beside` are earlier page loads whose unsent acts were seen too.
    """

    client: str
    seq: int
    action: str
    record: str = ""
    span: str = ""
    label: str | None = None
    same: bool = False
    again: bool = False
    places: tuple[tuple[int, int], ...] = ()
    of: tuple[str, int] | None = None
    upon: int | None = None
    beside: tuple[str, ...] = ()

    @property
    def clients(self) -> tuple[str, ...]:
        """Return the page loads whose acts this one knew of."""
        return (self.client, *self.beside)


@dataclass(frozen=True)
class Taken:
    """What became of an act: `refused` is empty where it was done; `span` is the id of a span that it added."""

    client: str
    seq: int
    refused: str = ""
    span: str | None = None


def read_steps(value: JSON) -> list[Step]:
    """Return the acts of a message from a browser, or raise `UserError` where it is not one."""
    found = as_list(value)
    if len(found) > MOST_STEPS:
        raise UserError(f"steps: at most {MOST_STEPS:,} at once, are {len(found):,}")
    return [_step(as_object(item)) for item in found]


def _step(item: JSONObject) -> Step:
    client, seq, action = item.get("client"), item.get("seq"), item.get("action")
    if not isinstance(client, str) or not CLIENT.fullmatch(client) or not isinstance(action, str):
        raise UserError("steps: each names its client and an action")
    label, record, span = item.get("label"), item.get("record", ""), item.get("span", "")
    of = as_list(item.get("of"))
    return Step(
        client=client,
        seq=_count(seq),
        action=action,
        record=record if isinstance(record, str) else "",
        span=span if isinstance(span, str) else "",
        label=label if isinstance(label, str) else None,
        same=item.get("same") is True,
        again=item.get("again") is True,
        places=tuple(_pair(place) for place in as_list(item.get("places"))[:MOST_PLACES]),
        of=(str(of[0]), _count(of[1])) if len(of) == 2 else None,
        upon=_count(item.get("upon", 0)),  # an act that does not say what it saw saw nothing
        beside=tuple(_client(name) for name in as_list(item.get("beside"))[:MOST_CLIENTS]),
    )


def _client(value: JSON) -> str:
    if not isinstance(value, str) or not CLIENT.fullmatch(value):
        raise UserError("steps: a page load is named by letters and digits")
    return value


def _pair(value: JSON) -> tuple[int, int]:
    pair = as_list(value)
    if len(pair) != 2:
        raise UserError("places: each is a start and an end")
    return _count(pair[0]), _count(pair[1])


def _count(value: JSON) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**53:
        raise UserError("steps: numbers must be whole and not negative")
    return value


def take(session: Session, connection: Connection, corpus_id: str, steps: Sequence[Step]) -> list[Taken]:
    """Carry out acts in their order, each once, inside the caller's write transaction; return what became of each."""
    corpus_row(connection, corpus_id)
    found, done = [], Counter[str]()
    for step in steps:
        taken = _known(connection, corpus_id, step)
        if taken is None:
            taken = _once(session, connection, corpus_id, step)
            done.update([] if taken.refused else [step.action.partition(" ")[0]])
        found.append(taken)
    decisions.note(session, connection, corpus_id, done)
    return found


def _row(connection: Connection, corpus_id: str, client: str, seq: int) -> AnyRow | None:
    mine = (review_acts.c.corpus_id == corpus_id, review_acts.c.client == client, review_acts.c.seq == seq)
    return connection.execute(select(review_acts).where(*mine)).first()


def _known(connection: Connection, corpus_id: str, step: Step) -> Taken | None:
    row = _row(connection, corpus_id, step.client, step.seq)
    if row is None:
        return None
    return Taken(step.client, step.seq, sentence(row.refused), span_id(row.span_id) if row.span_id else None)


def _once(session: Session, connection: Connection, corpus_id: str, step: Step) -> Taken:
    batch, refused, added = decisions.next_batch(connection, corpus_id), None, None
    try:
        with marks.step(connection):
            added = _carry_out(session, connection, corpus_id, step)
    except StorageError:
        raise
    except UserError as error:
        refused = code_of(error)
    made = decisions.next_batch(connection, corpus_id) > batch
    connection.execute(
        review_acts.insert().values(
            corpus_id=corpus_id,
            client=step.client,
            seq=step.seq,
            at=now(),
            batch=batch if made and not refused else None,
            span_id=added,
            refused=refused,
        )
    )
    return Taken(step.client, step.seq, sentence(refused), span_id(added) if added else None)


def _carry_out(session: Session, connection: Connection, corpus_id: str, step: Step) -> int | None:
    """Do what an act asks for; return the number of the span that it added, if it did."""
    what, _, where = step.action.partition(" ")
    if step.action == "add":
        added = acts.add_spans(session, connection, corpus_id, step.record, step.places, step.label or "")
        return added[0]
    if step.action == "finish":
        _check_record(connection, corpus_id, step)
        acts.mark_reviewed(session, connection, corpus_id, [step.record])
    elif step.action == "undo":
        _undo(session, connection, corpus_id, step)
    elif where == "text":
        _check_record(connection, corpus_id, step)
        acts.decide_record(session, connection, corpus_id, step.record, what)
    elif where in WHERE:
        span = _span(connection, corpus_id, step.span)
        _check_span(connection, corpus_id, span, step, others=where == "alike" and step.again)
        WHERE[where](session, connection, corpus_id, span, what, step)
    else:
        raise Refusal("not possible")
    return None


def _check_span(connection: Connection, corpus_id: str, span: str, step: Step, *, others: bool) -> None:
    """Refuse an act on a finding that somebody decided on after it was seen; `others`, on any with the same words."""
    if step.upon is None:
        return
    row = span_row(connection, corpus_id, span)
    for one in alike_rows(connection, corpus_id, row.value_key, row.label) if others else [row]:
        if since.decided_since(connection, corpus_id, one, step.upon, step.clients):
            raise Refusal("since")


def _check_record(connection: Connection, corpus_id: str, step: Step) -> None:
    """Refuse to settle what is open in a text where somebody took a decision back after it was seen."""
    if step.upon is None:
        return
    position = position_of(connection, corpus_id, step.record)
    if since.taken_back_since(connection, corpus_id, position, step.upon, step.clients):
        raise Refusal("since")


def _one(session: Session, connection: Connection, corpus_id: str, span: str, what: str, step: Step) -> None:
    if what == "accept" and step.same:
        acts.accept_same(session, connection, corpus_id, span)
    else:
        acts.decide(session, connection, corpus_id, [span], what, step.label)


def _alike(session: Session, connection: Connection, corpus_id: str, span: str, what: str, step: Step) -> None:
    mark, again = step.same, step.again
    acts.decide_alike(session, connection, corpus_id, span, what, step.label, mark=mark, again=again)


WHERE: dict[str, Callable[[Session, Connection, str, str, str, Step], None]] = {"": _one, "alike": _alike}


def _span(connection: Connection, corpus_id: str, name: str) -> str:
    """Return the id of a span that may be named by the act that added it."""
    made = MADE.fullmatch(name)
    if made is None:
        return name
    row = _row(connection, corpus_id, made[1], int(made[2]))
    if row is None or row.span_id is None:
        raise Refusal("never added")
    return span_id(row.span_id)


def _undo(session: Session, connection: Connection, corpus_id: str, step: Step) -> None:
    if step.of is None:
        batch = _latest_own(connection, corpus_id, step.client)
    else:
        row = _row(connection, corpus_id, *step.of)
        batch = None if row is None or row.batch is None else int(row.batch)
    if batch is None:
        raise Refusal("nothing" if step.of else "nothing own")
    if decisions.undo(session, connection, corpus_id, batch) is None:
        raise Refusal("nothing")


def _latest_own(connection: Connection, corpus_id: str, client: str) -> int | None:
    """Return the latest group of a page load's decisions that stands."""
    mine = events.c.corpus_id == corpus_id
    undone = select(events.c.undoes).where(mine, events.c.undoes.is_not(None))
    own = select(review_acts.c.batch).where(
        review_acts.c.corpus_id == corpus_id, review_acts.c.client == client, review_acts.c.batch.is_not(None)
    )
    standing = (mine, events.c.action != "undo", events.c.batch.in_(own), events.c.batch.not_in(undone))
    found = connection.execute(select(func.max(events.c.batch)).where(*standing)).scalar()
    return None if found is None else int(found)
