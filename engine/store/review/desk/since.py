"""What others did to a finding after somebody saw it: an act that was decided upon older knowledge is refused.

Every decision belongs to a numbered group. An act says the number of the latest group it knew; groups that came of
acts of its own page, and of those whose unsent acts that page took over, count as known.
"""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import ColumnElement, Connection, func, select

from engine.store.database.schema import decisions, review_acts
from engine.store.rows import SpanRow


def latest(connection: Connection, corpus_id: str) -> int:
    """Return the number of the latest group of decisions of a corpus, 0 where there is none."""
    found = connection.execute(select(func.max(decisions.c.batch)).where(decisions.c.corpus_id == corpus_id)).scalar()
    return int(found or 0)


def decided_since(connection: Connection, corpus_id: str, row: SpanRow, upon: int, clients: Collection[str]) -> bool:
    """Return whether another page decided on a span, or took a decision on it back, after group `upon`."""
    here = (
        decisions.c.position == row.position, decisions.c.start == row.start, decisions.c.end == row.end,
        decisions.c.first_label == row.first_label,
    )  # fmt: skip
    return _others(connection, corpus_id, here, upon, clients, new=True)


def taken_back_since(
    connection: Connection, corpus_id: str, position: int, upon: int, clients: Collection[str]
) -> bool:
    """Return whether another page took a decision on a record back after group `upon`."""
    return _others(connection, corpus_id, (decisions.c.position == position,), upon, clients, new=False)


def of_pages(connection: Connection, corpus_id: str, clients: Collection[str]) -> set[int]:
    """Return the groups that came of acts of these pages."""
    query = select(review_acts.c.batch).where(
        review_acts.c.corpus_id == corpus_id,
        review_acts.c.client.in_(sorted(clients)),
        review_acts.c.batch.is_not(None),
    )
    return {int(batch) for batch in connection.execute(query).scalars()}


def _others(
    connection: Connection,
    corpus_id: str,
    here: tuple[ColumnElement[bool], ...],
    upon: int,
    clients: Collection[str],
    *,
    new: bool,
) -> bool:
    mine = decisions.c.corpus_id == corpus_id
    groups = {int(b) for b in connection.execute(select(decisions.c.batch).where(mine, *here).distinct()).scalars()}
    if not groups:
        return False
    takings = select(decisions.c.undoes, decisions.c.batch).where(mine, decisions.c.undoes.in_(sorted(groups)))
    taken = {int(undoes): int(batch) for undoes, batch in connection.execute(takings)}
    own = of_pages(connection, corpus_id, clients)
    later = {group for group in groups if new and group > upon and group not in taken}
    back = {undo for group, undo in taken.items() if group <= upon < undo}
    return bool((later | back) - own)
