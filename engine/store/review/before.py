"""What counted of each place before a group of decisions: what its undo gives back.

The latest group gives back what its events say was there before. An earlier one may have been followed by others:
a place that was decided again since keeps that decision, and what an event found may itself have been taken back.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from operator import attrgetter
from typing import TypedDict

from sqlalchemy import Connection, and_, select

from engine.store.database.schema import decisions
from engine.store.rows import AnyRow


class Prior(TypedDict):
    """What counted of a span before an event."""

    state: str
    decided: bool
    label: str
    identifier_type: str


def before_batch(connection: Connection, corpus_id: str, batch: int) -> list[tuple[AnyRow, Prior | None]]:
    """Return each event of a group with what its place goes back to; None where the span was not there before.

    Events whose place was decided again since, by an event that stands, are left out.
    """
    here, there, mine = decisions.alias(), decisions.alias(), decisions.c
    same_place = and_(
        here.c.corpus_id == there.c.corpus_id, here.c.position == there.c.position, here.c.start == there.c.start,
        here.c.end == there.c.end, here.c.first_label == there.c.first_label,
    )  # fmt: skip
    places = (
        select(there.c.seq)
        .join(here, same_place)
        .where(there.c.corpus_id == corpus_id, here.c.batch == batch, there.c.span_id.is_not(None))
    )
    history = (
        select(decisions)
        .where(mine.seq.in_(places))
        .order_by(mine.position, mine.start, mine.end, mine.first_label, mine.seq)
    )
    takings = select(mine.undoes, mine.seq).where(mine.corpus_id == corpus_id, mine.undoes.is_not(None))
    taken = {int(undoes): int(seq) for undoes, seq in connection.execute(takings)}
    found = []
    for _, group in groupby(connection.execute(history).all(), attrgetter("position", "start", "end", "first_label")):
        events = list(group)
        index = next(i for i, e in enumerate(events) if e.batch == batch)
        if all(e.batch == batch or e.batch in taken for e in events[index + 1 :]):
            found.append((events[index], _before(events, index, taken)))
    return found


def _before(events: Sequence[AnyRow], index: int, taken: dict[int, int]) -> Prior | None:
    """Return what counted before an event, had nothing been done that was taken back since.

    Args:
        events: all events of one place in their order.
        taken: groups that were taken back -> number of the undo.
    """
    event = events[index]
    while True:
        stood = (i for i in range(index - 1, -1, -1) if taken.get(events[i].batch, event.seq + 1) > event.seq)
        earlier = next(stood, None)
        if earlier is None or events[earlier].batch not in taken:
            return event.prior
        index, event = earlier, events[earlier]
