"""The custodian's decisions: appended events; undo is an event too.

An event names the place (record position, start, end, label as detected), so a decision survives a
new detection that finds the same span again. Events are chained (`chained`), and whoever appends some writes the audit
line that tells of them in the same transaction (`note`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy import JSON, Connection, Integer, String, func, select, text, update

from engine.pii.decide.rules import Standing, after
from engine.store.audit import now
from engine.store.database.schema import corpora, decisions, spans
from engine.store.review import chained, held, marks
from engine.store.review.before import Prior, before_batch
from engine.store.review.spans import CHUNK, refresh
from engine.store.rows import AnyRow, SpanRow
from engine.store.session import Session

IN_THE_LOG = {  # action -> what the audit log calls it
    "accept": "accepted",
    "reject": "rejected",
    "relabel": "relabelled",
    "add": "added",
    "finish": "texts_read",
    "undo": "taken_back",
}


def next_batch(connection: Connection, corpus_id: str) -> int:
    """Return the number of the next group of events of a corpus."""
    last = connection.execute(select(func.max(decisions.c.batch)).where(decisions.c.corpus_id == corpus_id)).scalar()
    return int(last or 0) + 1


def apply(
    connection: Connection,
    corpus_id: str,
    rows: Sequence[SpanRow],
    action: str,
    label: str | None,
    session: Session,
    batch: int | None = None,
) -> int:
    """Append one event a span row and change the spans' state; return how many changed or were confirmed.

    `batch` joins the events to a group that undo takes back as one; None begins a new one.
    """
    if not rows:
        return 0
    batch, at = batch or next_batch(connection, corpus_id), now()
    events = [_event(r, batch, at, session.actor, action, label) for r in rows]
    chained.append(connection, session.key, corpus_id, events)
    before = [Standing(r.state, r.label, r.identifier_type) for r in rows]
    outcomes = [(r.id, old, after(action, old, label)) for r, old in zip(rows, before)]
    changed = _decide(connection, outcomes)
    marks.decided(connection, session.key, rows, [now_counts for _, _, now_counts in outcomes])
    refresh(connection, corpus_id, [r.position for r in rows])
    if changed:
        bump(connection, corpus_id)
    return len(rows)


def _decide(connection: Connection, outcomes: Sequence[tuple[int, Standing, Standing]]) -> bool:
    """Mark spans as decided with what now counts of them (number, before, after); return whether anything differs."""
    groups: dict[Standing, list[int]] = {}
    for number, _, now_counts in outcomes:
        groups.setdefault(now_counts, []).append(number)
    for now_counts, numbers in groups.items():
        _update(connection, numbers, {"decided": True, **now_counts._asdict()})
    return any(old != new for _, old, new in outcomes)


def note(session: Session, connection: Connection, corpus_id: str, counts: Mapping[str, int]) -> None:
    """Write into the audit log how often each action was taken, and where decisions and marks stand then.

    Nothing is written where none was taken.
    """
    made = {IN_THE_LOG[action]: count for action, count in counts.items() if count}
    if made:
        told = chained.told(connection, session.key, corpus_id)
        session.write_audit(connection, "review decisions", corpus_id, **made, **told)


def bump(connection: Connection, corpus_id: str) -> None:
    """Raise the corpus' revision: what was made from its accepted spans is stale now.

    It is more than any that a line of the log told of, so that one that was put back does not come round again.
    """
    raised = chained.revision(connection, corpus_id) + 1
    connection.execute(update(corpora).where(corpora.c.id == corpus_id).values(revision=raised))


def record_added(
    session: Session,
    connection: Connection,
    corpus_id: str,
    added: Sequence[tuple[int, tuple[int, int, int]]],
    label: str,
    batch: int,
) -> None:
    """Append the events that the custodian added spans: the number of each, and its position, start and end."""
    common = {"batch": batch, "at": now(), "actor": session.actor, "action": "add"}
    events = [
        {**common, "span_id": number, "position": position, "start": start, "end": end, "first_label": label,
         "label": label}
        for number, (position, start, end) in added
    ]  # fmt: skip
    chained.append(connection, session.key, corpus_id, events)


def undo(session: Session, connection: Connection, corpus_id: str, batch: int | None = None) -> str | None:
    """Take back a group of events, the latest by default; return a sentence about it, or None if there is none.

    Of a group that is not the latest, what was decided again since stays as it was decided.
    """
    undone = select(decisions.c.undoes).where(decisions.c.corpus_id == corpus_id, decisions.c.undoes.is_not(None))
    latest = select(func.max(decisions.c.batch)).where(
        decisions.c.corpus_id == corpus_id, decisions.c.action != "undo", decisions.c.batch.not_in(undone)
    )
    if batch is not None:
        latest = latest.where(decisions.c.batch == batch)
    batch = connection.execute(latest).scalar()
    if batch is None:
        return None
    events = connection.execute(
        select(decisions).where(decisions.c.corpus_id == corpus_id, decisions.c.batch == batch)
    ).all()
    positions = {e.position for e in events}
    with held.derived(session, connection, corpus_id, positions, since=_first(events)):
        _revert(connection, corpus_id, before_batch(connection, corpus_id, batch))
        _unmark_records(connection, corpus_id, batch)
    taking = {"batch": next_batch(connection, corpus_id), "at": now(), "actor": session.actor, "action": "undo"}
    chained.append(connection, session.key, corpus_id, [{**taking, "undoes": batch}])
    refresh(connection, corpus_id, sorted(positions))
    bump(connection, corpus_id)
    return describe(events)


def _first(events: Sequence[AnyRow]) -> int:
    """Return the number of the first of these decisions, 0 where one has none."""
    return min(event.number if isinstance(event.number, int) else 0 for event in events)


def describe(events: Sequence[AnyRow]) -> str:
    """Return a plain sentence about what was taken back."""
    n, action = len(events), events[0].action
    noun = "1 span" if n == 1 else f"{n:,} spans"
    if action == "review":
        records = len({e.position for e in events})
        return f"Took back: {records:,} record{'s' if records != 1 else ''} marked as reviewed."
    if action == "relabel":
        return f"Took back: {noun} changed to {events[0].label}."
    words = {"accept": "accepted", "reject": "rejected", "add": "added"}
    return f"Took back: {noun} {words[action]}."


def replay(connection: Connection, corpus_id: str, origin: str) -> int:
    """Apply the latest standing decision of each place to the spans of one origin; return how many.

    The caller watches the marks.
    """
    latest = """
        SELECT max(d.seq) FROM decisions AS d
        WHERE d.corpus_id = :corpus AND d.action IN ('accept', 'reject', 'relabel', 'review') AND d.span_id IS NOT NULL
          AND d.batch NOT IN (SELECT undoes FROM decisions WHERE corpus_id = :corpus AND undoes IS NOT NULL)
        GROUP BY d.position, d.start, d.end, d.first_label"""
    places = connection.execute(
        text(
            "SELECT s.id, s.state, s.label, s.identifier_type, e.action, e.label AS given, e.prior "
            "FROM decisions AS e JOIN spans AS s "
            "ON s.corpus_id = :corpus AND s.active IN (FALSE, TRUE) AND s.position = e.position "
            "AND s.start = e.start AND s.end = e.end AND s.first_label = e.first_label "
            f"WHERE e.seq IN ({latest}) AND s.origin = :origin AND s.decided = FALSE"
        ).columns(
            id=Integer, state=String, label=String, identifier_type=String, action=String, given=String, prior=JSON
        ),
        {"corpus": corpus_id, "origin": origin},
    ).all()
    outcomes = []
    for row in places:
        found = Standing(row.state, row.label, row.identifier_type)
        stood = found._replace(state=row.prior["state"]) if row.action == "review" else found
        outcomes.append((row.id, found, after(row.action, stood, row.given)))
    _decide(connection, outcomes)
    return len(places)


def _event(row: SpanRow, batch: int, at: str, actor: str, action: str, label: str | None) -> dict[str, object]:
    return {
        "batch": batch,
        "at": at,
        "actor": actor,
        "action": action,
        "span_id": row.id,
        "position": row.position,
        "start": row.start,
        "end": row.end,
        "first_label": row.first_label,
        "label": label,
        "prior": {
            "state": row.state,
            "decided": bool(row.decided),
            "label": row.label,
            "identifier_type": row.identifier_type,
        },
    }


def _unmark_records(connection: Connection, corpus_id: str, batch: int) -> None:
    """Take back that records were read, unless another event that stands says so too."""
    connection.execute(
        text("""
            UPDATE record_index SET reviewed = FALSE WHERE corpus_id = :corpus AND position IN (
                SELECT position FROM decisions WHERE corpus_id = :corpus AND batch = :batch AND span_id IS NULL)
            AND position NOT IN (
                SELECT position FROM decisions WHERE corpus_id = :corpus AND batch != :batch AND action = 'review'
                AND span_id IS NULL AND position IS NOT NULL AND batch NOT IN (
                    SELECT undoes FROM decisions WHERE corpus_id = :corpus AND undoes IS NOT NULL))"""),
        {"corpus": corpus_id, "batch": batch},
    )


def _revert(connection: Connection, corpus_id: str, before: Sequence[tuple[AnyRow, Prior | None]]) -> None:
    """Give places back what counted of them before; a span that was not there before goes."""
    _update(connection, [e.span_id for e, prior in before if prior is None], {"active": False, "origin": "removed"})
    changed = [
        {
            "corpus": corpus_id,
            "position": e.position,
            "start": e.start,
            "end": e.end,
            "first": e.first_label,
            "state": prior["state"],
            "decided": bool(prior["decided"]),
            "label": prior["label"],
            "kind": prior["identifier_type"],
        }
        for e, prior in before
        if prior is not None
    ]
    if changed:
        # `active IN (FALSE, TRUE)` lets SQLite use the index on (corpus_id, active, position).
        connection.execute(
            text(
                "UPDATE spans SET state = :state, decided = :decided, label = :label, identifier_type = :kind "
                "WHERE corpus_id = :corpus AND active IN (FALSE, TRUE) AND position = :position "
                'AND start = :start AND "end" = :end AND first_label = :first'
            ),
            changed,
        )


def _update(connection: Connection, numbers: Sequence[int], values: Mapping[str, object]) -> None:
    for begin in range(0, len(numbers), CHUNK):
        part = numbers[begin : begin + CHUNK]
        connection.execute(update(spans).where(spans.c.id.in_(part)).values(**values))
