"""Which runs a paid choice may be made among, what they spent, and their texts.

Privacy posture: reads outputs of runs under a formal claim, no record. A refusal names runs and no text.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection
from dataclasses import replace

from sqlalchemy import Connection, select

from engine.errors import UserError
from engine.json_types import JSON, as_list, as_object
from engine.models.marks import RUN, Mark
from engine.store.audit import now
from engine.store.budget import fitted
from engine.store.database.schema import audit, synthetic
from engine.store.rows import RunRow
from engine.store.runs import held, seen
from engine.store.runs.runs import rows_of_corpus, run_row
from engine.store.session import Session

CHOICE = "paid-choice"
ASKED, DELETED, RESUMED = "run asked for", "run deleted", "run resumed"  # actions in the audit log


def promise(session: Session, corpus_id: str, adjacency: str) -> dict[str, JSON] | None:
    """Return the runs of a choice, their smallest number of outputs, and on what their claims rest; None without a run.

    They are all finished runs of the corpus with a claim for these neighbours: nobody picks some of them.
    """
    with session.db.read() as connection:
        rows = [row for row in rows_of_corpus(connection, corpus_id) if _eligible(row)]
    rows = sorted(
        (row for row in rows if not row.guarantee.epsilon or row.guarantee.adjacency == adjacency),
        key=lambda row: row.id,
    )
    if not rows:
        return None
    return {
        "runs": [row.id for row in rows],
        "outputs": min(row.kept for row in rows),
        "assumptions": list(dict.fromkeys(line for row in rows for line in row.guarantee.assumptions)),
        "voided_by": list(dict.fromkeys(line for row in rows for line in row.guarantee.voided_by)),
    }


def among(row: RunRow) -> tuple[str, ...]:
    """Return the runs that a run was chosen among; none for one that is no choice."""
    if row.method.removeprefix("filter:") != CHOICE:
        return ()
    return tuple(str(name) for name in as_list(as_object(row.parameters.get("promise") or {}).get("runs") or []))


def left_out(connection: Connection, row: RunRow) -> list[str]:
    """Return the runs with a claim that stood beside the runs of a choice and are none of them; none for no choice.

    They were deleted before the choice was asked for, stopped, or are for other neighbours: whoever had seen findings
    about them has picked the others by those. What was deleted before the first of the others was asked for is no part
    of it, nor is what was still being made.
    """
    names = among(row)
    return _beside(connection, row.corpus_id, names, row) if names else []


def picked(session: Session, corpus_id: str, names: Collection[str]) -> bool:
    """Say whether a run was examined that a choice among these runs, asked for now, would leave out."""
    with session.db.read() as connection:
        return any(seen.looked_at(connection, one) for one in _beside(connection, corpus_id, names))


def _beside(connection: Connection, corpus_id: str, names: Collection[str], choice: RunRow | None = None) -> list[str]:
    lines = select(audit.c.seq, audit.c.action, audit.c.subject, audit.c.detail).where(
        (audit.c.action == RESUMED)
        | (audit.c.action.in_((ASKED, DELETED)) & audit.c.detail.contains(f'"corpus":"{corpus_id}"', autoescape=True))
    )
    asked: dict[str, tuple[int, str]] = {}
    deleted: dict[str, int] = {}
    resumed: set[str] = set()
    for seq, action, subject, detail in connection.execute(lines.order_by(audit.c.seq)):
        if action == ASKED:
            asked[subject] = seq, str(json.loads(detail).get("method", ""))
        elif action == DELETED:
            deleted[subject] = seq
        else:
            resumed.add(subject)
    unknown = (0, "")  # of an edition that wrote no such line
    own = math.inf if choice is None or choice.id not in asked else asked[choice.id][0]
    first = min(asked.get(name, unknown)[0] for name in names)
    gone = [name for name, seq in deleted.items() if first < seq < own and _had_claim(asked.get(name, unknown)[1])]
    until = now() if choice is None else choice.created
    there = [
        one.id
        for one in rows_of_corpus(connection, corpus_id)
        if one.id not in names
        and one.method.removeprefix("filter:") != CHOICE
        and one.guarantee.kind == "dp"
        and asked.get(one.id, unknown)[0] < own
        and (one.id in resumed or (one.finished is not None and one.finished <= until))
    ]
    return [*gone, *there]


def _had_claim(method: str) -> bool:
    """Say whether a deleted run may have had a claim, by its method; where nothing is known of it, it may."""
    from engine.methods import get_method

    if method.removeprefix("filter:") == CHOICE:
        return False
    try:
        return not method or get_method(method).spec.kind == "dp"
    except UserError:
        return True  # of another edition


def texts(session: Session, names: Collection[str]) -> tuple[tuple[tuple[str, str | None], ...], ...]:
    """Return text and label of each output of each run, in the runs' own order.

    Raises:
        NotFoundError: a run is gone. RefusedError: its texts are not those that it made.
    """
    found = []
    with session.db.read() as connection:
        for name in names:
            run_row(connection, name)
            held.demand_texts(session, connection, name)
            query = select(synthetic.c.text, synthetic.c.label).where(synthetic.c.run_id == name)
            found.append(
                tuple((text, label) for text, label in connection.execute(query.order_by(synthetic.c.position)))
            )
    return tuple(found)


def marks(session: Session, names: Collection[str]) -> list[Mark]:
    """Return what the runs of a choice spent, one mark a run and one a run behind it."""
    with session.db.read() as connection:
        rows = [run_row(connection, name) for name in names]
        own = [replace(fitted.own_mark(connection, row.id), of=RUN) for row in rows if _spends(row)]
    chosen = {mark.run for mark in own}  # one of these may also stand behind another; it counts once
    behind = {mark.run: mark for row in rows for mark in row.fitted if mark.run not in chosen}
    return [*own, *behind.values()]


def _eligible(row: RunRow) -> bool:
    claim = row.guarantee
    return (
        row.state == "done"
        and bool(row.kept)
        and claim.kind == "dp"
        and not claim.pending
        and row.method.removeprefix("filter:") != CHOICE
    )


def _spends(row: RunRow) -> bool:
    return bool(row.guarantee.epsilon)
