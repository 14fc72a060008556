"""Reservations in a population's ledger: made before a run, settled or given back after it.

Every function works inside the caller's immediate write transaction, so two processes cannot both be
admitted to the same budget.

Privacy posture: see `engine.store.budget.lines`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from sqlalchemy import Connection, func, select

from engine.dp.events import Event, acting
from engine.dp.guarantee import Guarantee
from engine.dp.ledger import Admission, LedgerRun, Limit, admit, share_used
from engine.dp.ledger import change_limit as changed
from engine.dp.ledger import merge as merge_states
from engine.dp.upward import upward
from engine.errors import RefusedError
from engine.store.budget import lines as ledger_lines
from engine.store.budget.lines import Book, LineBody, write
from engine.store.database.schema import corpora, ledger, runs

LOST = (
    "This run was begun before the workspace was restored or copied, or its database rolled back. What it drew since "
    "is not known here, so it cannot go on, and its whole reservation stays counted. Start a new run instead."
)


def claimed(guarantee: Guarantee) -> tuple[Event, ...]:
    """Return the events of a guarantee that a run must reserve: none unless it is `dp` and costs something."""
    if guarantee.kind != "dp":
        return ()
    events = guarantee.mechanisms
    return events if acting(events) else ()


def reserve(
    connection: Connection,
    key: bytes,
    actor: str,
    *,
    population: str,
    run_id: str,
    method: str,
    guarantee: Guarantee,
) -> Admission | None:
    """Admit a run's events and write its line; None where there is nothing to reserve, or it is reserved already.

    Raises:
        RefusedError: the run does not fit under the limit, or its reservation is older than a restore; nothing is
            written.
    """
    events = claimed(guarantee)
    held = open_reservation(connection, run_id)
    if held is not None and lost(connection, held):
        raise RefusedError(LOST)
    if not events or held is not None:
        return None
    book = ledger_lines.read(connection, population)
    epsilon, delta = guarantee.bound
    answer = admit(book.state, events, epsilon, delta)
    if not answer.allowed:
        raise RefusedError(answer.sentence)
    if not book.fixed or book.lowered:
        _fix_default(connection, key, actor, book)
    write(
        connection,
        key,
        actor,
        population,
        "reserve",
        run_id,
        method=method,
        epsilon=epsilon,
        delta=delta,
        events=[event.as_dict() for event in events],
        order=book.state.order,
        list_delta=book.state.limit.list_delta,
        whole=answer.whole,
        what="whole schedule",
        sentence=answer.sentence,
        share_after=answer.share_after,
    )
    return answer


def open_reservation(connection: Connection, run_id: str) -> ledger_lines.Line | None:
    """Return the line that reserves for a run, unless it was settled or given back."""
    row = connection.execute(
        select(ledger)
        .where(ledger.c.run_id == run_id, ledger.c.kind.in_(("reserve", "settle", "give_back")))
        .order_by(ledger.c.seq.desc())
        .limit(1)
    ).first()
    return ledger_lines.line_of(row) if row is not None and row.kind == "reserve" else None


def lost(connection: Connection, reservation: ledger_lines.Line) -> bool:
    """Say whether a reservation is older than a restore or a rollback: what was drawn on it since then is not known.

    Such a run may have gone on elsewhere, so nothing more is drawn on its reservation, which counts whole for good.
    """
    later = select(ledger.c.seq).where(ledger.c.kind == "unknown", ledger.c.seq > reservation.seq).limit(1)
    return connection.execute(later).first() is not None


def drawn_events(connection: Connection, run_id: str, since: int = 0) -> list[Event]:
    """Return the events of a run's drawn outputs from its spend lines after a line's number."""
    query = select(ledger.c.body).where(ledger.c.run_id == run_id, ledger.c.kind == "spend", ledger.c.seq > since)
    return [Event.from_dict(json.loads(body)["event"]) for body in connection.execute(query).scalars()]


def reconcile(connection: Connection, key: bytes, actor: str) -> None:
    """Close the reservations of runs that are over.

    Done or deleted: settled with what was drawn. Failed or cancelled before any output: given back. Failed or
    cancelled after one: kept, since the run may be resumed. Not done, and older than a restore: kept whole for good.
    """
    query = select(ledger.c.run_id).where(ledger.c.kind == "reserve").group_by(ledger.c.run_id)
    closed = (
        select(ledger.c.run_id, func.max(ledger.c.seq).label("seq"))
        .where(ledger.c.kind.in_(("settle", "give_back")))
        .group_by(ledger.c.run_id)
        .subquery()
    )
    query = query.outerjoin(closed, closed.c.run_id == ledger.c.run_id)
    query = query.having(func.max(ledger.c.seq) > func.coalesce(func.max(closed.c.seq), 0))
    for run_id in list(connection.execute(query).scalars()):
        state = connection.execute(select(runs.c.state).where(runs.c.id == run_id)).scalar()
        if state in ("queued", "running"):
            continue
        line = open_reservation(connection, run_id)
        if line is None:
            continue
        drawn = drawn_events(connection, run_id, line.seq)
        if (drawn and state in ("failed", "cancelled")) or (state != "done" and lost(connection, line)):
            continue
        _close(connection, key, actor, line, drawn)


def change_limit(
    connection: Connection, key: bytes, actor: str, population: str, limit: Limit, large: bool = False
) -> None:
    """Write a new limit, with the sentence that it came late where outputs had been drawn.

    large: whether somebody confirmed a δ of 1/N or more.
    """
    book = ledger_lines.read(connection, population)
    state, sentence = changed(book.state, limit)
    if large:
        sentence = f"{sentence} A δ of 1/N or more was confirmed."
    share = share_used(state)
    _limit(connection, key, actor, population, state.limit, state.order, sentence, share, default=False, large=large)


def merge(connection: Connection, key: bytes, actor: str, other: str, into: str, *, by_person: bool = False) -> None:
    """Write that two populations turned out to be the same people: spends add up, the smaller limit holds."""
    first, second = ledger_lines.read(connection, into), ledger_lines.read(connection, other)
    state = merge_states([first.state, second.state])
    write(
        connection,
        key,
        actor,
        into,
        "merge",
        other=other,
        epsilon=state.limit.epsilon,
        delta=state.limit.delta,
        list_delta=state.limit.list_delta,
        order=state.order,
        default=first.is_default and second.is_default,
        what="populations",
        sentence=(
            "Two populations were joined by the person named in this line"
            if by_person
            else "Two populations turned out to overlap"
        )
        + ": what they used adds up and the smaller limit holds.",
        share_after=share_used(state),
    )


def population_of(connection: Connection, corpus_id: str) -> str:
    """Return the population of a corpus."""
    return str(connection.execute(select(corpora.c.population).where(corpora.c.id == corpus_id)).scalar_one())


def _close(connection: Connection, key: bytes, actor: str, line: ledger_lines.Line, drawn: list[Event]) -> None:
    population = ledger_lines.current(connection, line.population)
    book = ledger_lines.read(connection, population)
    kind = "settle" if drawn else "give_back"
    after = tuple(_closed(run, drawn) if run.run_id == line.run_id else run for run in book.state.runs)
    state = replace(book.state, runs=after)
    planned = sum(event.count for event in ledger_lines.events_of(line.body["events"]))
    count = sum(event.count for event in drawn)
    write(
        connection,
        key,
        actor,
        population,
        kind,
        line.run_id,
        method=line.body.get("method"),
        events=[event.as_dict() for event in _joined(drawn)],
        what="whole schedule" if not drawn else f"{count} of {planned} outputs",
        sentence=(
            f"The run is over: {count} of {planned} planned outputs were drawn and count as spent."
            if drawn
            else "Given back: no output had been drawn."
        ),
        share_after=share_used(state),
    )


def _closed(run: LedgerRun, drawn: list[Event]) -> LedgerRun:
    return replace(run, state="spent", events=tuple(drawn)) if drawn else replace(run, state="given_back")


def _joined(events: Sequence[Event]) -> list[Event]:
    """Return equal events as one with their counts added, in the order of their first."""
    counts: dict[Event, int] = {}
    for event in events:
        single = replace(event, count=1)
        counts[single] = counts.get(single, 0) + event.count
    return [replace(event, count=count) for event, count in counts.items()]


def _fix_default(connection: Connection, key: bytes, actor: str, book: Book) -> None:
    state = book.state
    sentence = "The default limit, from the number of units in the largest corpus; it can be changed."
    if book.lowered:
        sentence = (
            f"The default limit's δ is lowered to {upward(state.limit.delta)}, since a larger "
            f"corpus of these people came (N = {book.units:,}); it can be changed."
        )
    _limit(connection, key, actor, book.population, state.limit, state.order, sentence, book.share, default=True)


def _limit(
    connection: Connection,
    key: bytes,
    actor: str,
    population: str,
    limit: Limit,
    order: int,
    sentence: str,
    share: float,
    *,
    default: bool,
    large: bool = False,
) -> None:
    body: LineBody = {
        "epsilon": limit.epsilon,
        "delta": limit.delta,
        "list_delta": limit.list_delta,
        "order": order,
        "default": default,
        "what": "limit",
        "sentence": sentence,
        "share_after": share,
    }
    if large:
        body["large_delta"] = True
    write(connection, key, actor, population, "limit", **body)
