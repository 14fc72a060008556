"""Which runs a paid choice may be made among, what they spent, and their texts.

Privacy posture: reads outputs of runs under a formal claim, no record. A refusal names runs and no text.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from sqlalchemy import select

from engine.json_types import JSON, as_list, as_object
from engine.models.marks import RUN, Mark
from engine.store.budget import fitted
from engine.store.database.schema import synthetic
from engine.store.rows import RunRow
from engine.store.runs import held
from engine.store.runs.runs import rows_of_corpus, run_row
from engine.store.session import Session

CHOICE = "paid-choice"


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
    found: dict[str, Mark] = {}
    with session.db.read() as connection:
        for name in names:
            row = run_row(connection, name)
            own = [replace(fitted.own_mark(connection, name), of=RUN)] if _spends(row) else []
            found |= {mark.run: mark for mark in (*own, *row.fitted) if mark.run not in found}
    return list(found.values())


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
