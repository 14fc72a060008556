"""What was found in a sample's records and taken back after they were read to the end: rejected, undone, made less of.

Privacy posture: positions, labels and names of people.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, select

from engine.pii.spans import default_identifier_type
from engine.store.database.schema import decisions
from engine.store.rows import AnyRow

FOUND, GONE = ("accept", "add", "relabel"), ("reject", "relabel")


@dataclass(frozen=True)
class Withdrawn:
    """A place that somebody marked since the sample was drawn, and whoever took it back last."""

    start: int
    end: int
    label: str
    kind: str
    actor: str


def withdrawn(connection: Connection, check: AnyRow, positions: Sequence[int]) -> dict[int, list[Withdrawn]]:
    """Return, by position, what people marked since the sample was drawn and took back after the record was read.

    A reading that was undone counts as one too: what it had found may have been seen by then.
    """
    mine, inside = decisions.c.corpus_id == check.corpus_id, set(positions)
    undone = {
        int(row.undoes): (int(row.seq), str(row.actor))
        for row in connection.execute(
            select(decisions.c.undoes, decisions.c.seq, decisions.c.actor).where(
                mine, decisions.c.seq > check.after, decisions.c.undoes.is_not(None)
            )
        )
    }
    query = select(decisions).where(mine, decisions.c.seq > check.after, decisions.c.position.is_not(None))
    events: dict[int, list[AnyRow]] = defaultdict(list)
    read: dict[int, int] = {}
    for row in connection.execute(query.order_by(decisions.c.seq)):
        if row.position not in inside:
            continue
        if row.span_id is not None:
            events[row.position].append(row)
        elif row.action == "review":
            read.setdefault(row.position, int(row.seq))
    return {
        position: found
        for position, rows in events.items()
        if position in read and (found := _taken_back(rows, undone, read[position]))
    }


def _taken_back(rows: Sequence[AnyRow], undone: dict[int, tuple[int, str]], read: int) -> list[Withdrawn]:
    """Return what one record's events marked, where the last that took it back came after its reading."""
    found: dict[tuple[int, int, str], Withdrawn] = {}
    for row in rows:
        if row.action not in FOUND:
            continue
        label = str(row.label or row.first_label)
        kind: str = default_identifier_type(label)
        kept = row.prior or {}
        if row.action == "accept":
            label, kind = str(kept.get("label", label)), str(kept.get("identifier_type", kind))
        back = [
            (int(other.seq), str(other.actor))
            for other in rows
            if other.seq > row.seq and other.action in GONE and (other.start, other.end) == (row.start, row.end)
        ]
        back += [undone[row.batch]] if row.batch in undone else []
        last = max(back, default=(0, ""))
        if last[0] > read:
            found[row.start, row.end, kind] = Withdrawn(int(row.start), int(row.end), label, kind, last[1])
    # of one place that was marked as two kinds, the one that weighs more comes first
    return sorted(found.values(), key=lambda one: (one.start, one.end, one.kind))
