"""A corpus that is imported: its row, its records' index, gold spans, and the people it is recognised as.

Privacy posture: audit lines hold counts; warnings hold times and sentences of ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import pandas as pd
from sqlalchemy import Connection

from engine.store import queue
from engine.store.audit import now
from engine.store.budget import held_people, populations, reservations, unknown
from engine.store.database.schema import record_index
from engine.store.logs import rows
from engine.store.records import digest
from engine.store.review import chained, marks
from engine.store.review.spans import FoundSpan, insert_spans, refresh, span_rows, weigh
from engine.store.session import Session

if TYPE_CHECKING:
    from engine.corpus.build import BuiltCorpus

AT_ONCE = 20_000  # rows that are made at once for the database: of a million records they would take gigabytes


def keep(
    connection: Connection,
    session: Session,
    corpus_id: str,
    built: BuiltCorpus,
    name: str,
    unit: str,
    cap: int,
    holdout: float,
    joined: Sequence[str],
) -> None:
    """Write a corpus that was built, inside the caller's transaction: whose people these are, its index, gold spans.

    Args:
        joined: populations that the custodian says are the same people.
    """
    statistics, gold = built.statistics, built.gold
    people = held_people.Watch(connection, session.key)
    adopted = populations.adopt(
        connection,
        built.unit_hashes,
        built.people,
        former=built.former_hashes,
        units=statistics.train_units,
        joined=joined,
        merging=lambda other, into: reservations.merge(connection, session.key, session.actor, other, into),
        looking=people.look,
    )
    values = {
        "id": corpus_id,
        "name": name,
        "created": now(),
        "unit": unit,
        "cap": cap,
        "holdout_rate": holdout,
        "records": statistics.records,
        "units": statistics.units,
        "holdout_units": statistics.holdout_units,
        "has_gold": len(gold) > 0,
        "span_source": "gold" if len(gold) else None,
        "population": adopted.population,
        "warnings": [*built.warnings, *_people_warnings(adopted, unknown.ever(connection))],
        "statistics": statistics.as_dict(),
    }
    row = rows.put(connection, session.key, rows.CORPORA, values)
    records = built.records
    for begin in range(0, len(records), AT_ONCE):
        some = records.iloc[begin : begin + AT_ONCE]
        index = [
            {"corpus_id": corpus_id, "position": begin + i, "record_id": r, "split": s}
            for i, (r, s) in enumerate(zip(some["record_id"], some["split"]))
        ]
        connection.execute(record_index.insert(), index)
    if len(gold):
        ids, texts = list(records["record_id"]), list(records["text"])
        for begin in range(0, len(gold), AT_ONCE):
            end = begin + AT_ONCE
            found = _found(gold.frame(ids, begin, end))
            places = {ids[i]: (i, texts[i]) for i in set(gold.numbers(begin, end))}
            insert_spans(
                connection,
                span_rows(found, corpus_id=corpus_id, places=places, key=session.key, origin="gold", active=True),
            )
        weigh(connection, corpus_id)
        refresh(connection, corpus_id)
    marks.add(connection, corpus_id, marks.total(connection, session.key, corpus_id))
    queue.enqueue(connection, "profile", corpus_id=corpus_id)
    session.finish_writing(connection, f"corpora/{corpus_id}")
    session.write_audit(
        connection,
        "corpus imported",
        corpus_id,
        records=statistics.records,
        units=statistics.units,
        population=adopted.population,
        population_known=adopted.known,
        population_joined=len(joined),
        population_asked=len(adopted.asked),
        table=digest(session.folder.records(corpus_id), session.key, corpus_id),
        **people.told(adopted.population, adopted.gone),
        **row,
        **chained.told(connection, session.key, corpus_id),
    )


def _people_warnings(adopted: populations.Adopted, lost_since: str | None) -> list[str]:
    found = [
        f"This file shares {asked} with text that is known here. Say on the ledger page whether these are the same "
        "people; until then no run with a guarantee is admitted."
        for asked in adopted.asked
    ]
    if lost_since is not None and not adopted.known:
        found.append(
            f"This workspace lost what happened for a time after {lost_since}. If this file was here then, what was "
            "spent on its people is not counted: lower the limit on the ledger page by that amount."
        )
    return found


def _found(frame: pd.DataFrame) -> list[FoundSpan]:
    return [cast("FoundSpan", row) for row in frame.to_dict("records")]
