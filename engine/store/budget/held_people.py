"""What people are known again by, under the audit log's chain: marks of each population, and answers about two.

Whoever imports, joins or keeps apart begins with a `Watch`, lets it `look` at the populations that are about to
change, and puts what `told` returns into the act's line. A line tells of one population as the act left it; where what
was there before was not as told, the population is said to have been changed for good, so that no later act blesses it.
`breaks` holds what is there against these lines.

Removing a mark makes people strangers to text of their own, and their budget is counted twice; bringing one in joins
strangers; an answer decides whether two share a limit.

Privacy posture: digests under the workspace key of what is keyed hashes and counts itself; sentences hold ids of
populations.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from sqlalchemy import Connection, Text, select, type_coerce

from engine.json_types import as_list, as_object
from engine.store.chain import keyed
from engine.store.database.schema import (
    equal_marks,
    people_marks,
    people_questions,
    populations,
    short_marks,
    unit_hashes,
)
from engine.store.logs import about
from engine.store.logs.rows import said

ACTS = ("corpus imported", "people joined", "people kept apart")
TOLD = "people_held"
QUESTIONS = "answers on whether two groups of people are the same"
CHANGED = "changed, removed or brought in outside of the program"
AT_ONCE = 20_000
MARKS = (unit_hashes, people_marks, short_marks, equal_marks)
ORDERS = {  # that of an index, so that nothing is sorted where there are many
    "unit_hashes": ("hash",), "people_marks": ("record", "hash"), "short_marks": ("hash", "record"),
    "equal_marks": ("kind", "hash", "item"),
}  # fmt: skip


@dataclass
class _Log:
    """What the log tells: digest by population, of the questions, what was changed before a later act; and editions.

    began: populations that a line tells of for the first time although there were marks of them before. earlier: there
    are lines of an edition that told of none.
    """

    populations: dict[str, str] = field(default_factory=dict)
    questions: str | None = None
    changed: set[str] = field(default_factory=set)
    began: set[str] = field(default_factory=set)
    earlier: bool = False


class Watch:
    """Looks at what an act is about to change, and says what its line has to tell; inside its write transaction."""

    def __init__(self, connection: Connection, key: bytes) -> None:
        """Read what the log tells, and hold the questions against it."""
        self._connection, self._key, self._log = connection, key, _told(connection)
        self._changed, self._began = set[str](), set[str]()
        there = _questions(connection, key)
        if self._log.questions is None:
            self._began |= {QUESTIONS} if there != _nothing(key) else set()
        elif there != self._log.questions:
            self._changed.add(QUESTIONS)

    def look(self, changing: Sequence[str]) -> None:
        """Hold populations against the log before they change."""
        for one in changing:
            if one not in self._log.populations:
                self._began.add(one)
            elif _digest(self._connection, self._key, one) != self._log.populations[one]:
                self._changed.add(one)

    def told(self, population: str, gone: Sequence[str] = ()) -> dict[str, object]:
        """Return what the line of the act holds.

        Args:
            population: as the act left it. gone: those that became part of it.
        """
        line = {
            "population": population, "digest": _digest(self._connection, self._key, population), "gone": [*gone],
            "questions": _questions(self._connection, self._key), "changed": sorted(self._changed),
            "began": sorted(self._began),
        }  # fmt: skip
        return {TOLD: line}


def breaks(connection: Connection, key: bytes, population: str | None = None) -> list[str]:
    """Return, in sentences, what is not as the log tells, of one population and the questions, or of all."""
    log, found = _told(connection), []
    for one, digest in sorted(log.populations.items()):
        if population in (None, one) and (one in log.changed or _digest(connection, key, one) != digest):
            found.append(f"what the people of {one} are known again by: {CHANGED}.")
    if not log.earlier:
        found += [
            f"what the people of {one} are known again by: brought in, and no line of the log tells of it."
            for one in _all(connection) if one not in log.populations and population in (None, one)
        ]  # fmt: skip
    known = log.questions is not None or not log.earlier
    if QUESTIONS in log.changed or (known and _questions(connection, key) != (log.questions or _nothing(key))):
        found.append(f"{QUESTIONS}: {CHANGED}.")
    return found


def outside(connection: Connection) -> list[str]:
    """Return, in sentences, what an earlier edition left, of which the log tells nothing."""
    log = _told(connection)
    if not log.earlier:
        return []
    left = [one for one in _all(connection) if one in log.began or one not in log.populations]
    return [f"what the people of {one} are known again by: kept by an earlier edition." for one in left]


def _told(connection: Connection) -> _Log:
    log = _Log()
    for action, _, detail in about.told(connection, ACTS):
        line = as_object(detail.get(TOLD))
        if not line:
            log.earlier = log.earlier or action == ACTS[0]
            continue
        one = str(line["population"])
        gone, changed, began = ({str(each) for each in as_list(line[name])} for name in ("gone", "changed", "began"))
        for other in gone:
            log.populations.pop(other, None)
        mine = {one, *gone}
        for what, into in ((changed, log.changed), (began, log.began)):
            if (what | into) & mine:
                into -= gone
                into.add(one)
            into |= what & {QUESTIONS}
        log.populations[one], log.questions = str(line["digest"]), str(line["questions"])
    return log


def _digest(connection: Connection, key: bytes, population: str) -> str:
    """Return the digest of all that is kept of a population, questions aside."""
    taken = hashlib.blake2b(key=hashlib.blake2b(key, person=b"people held").digest())
    row = connection.execute(select(populations).where(populations.c.id == population)).first()
    taken.update(repr(None if row is None else (row.id, row.created, row.units)).encode())
    for table in MARKS:
        taken.update(f"\n{table.name}".encode())
        for line in _rows(connection, table.name, population):
            taken.update(line)
    return taken.hexdigest()


def _rows(connection: Connection, name: str, population: str) -> Iterator[bytes]:
    """Yield the rows of a table about a population, in the order of their columns."""
    table = next(one for one in MARKS if one.name == name)
    columns = [column for column in table.c if column.name != "population"]
    query = select(*columns).where(table.c.population == population).order_by(*(table.c[one] for one in ORDERS[name]))
    for some in connection.execute(query.execution_options(yield_per=AT_ONCE)).partitions():
        yield f"{repr([tuple(row) for row in some])[1:-1]}, ".encode()  # whatever the number of rows at once


def _questions(connection: Connection, key: bytes) -> str:
    table = people_questions.c
    query = select(table.first, table.second, table.state, type_coerce(table.detail, Text), table.at)
    found = connection.execute(query.order_by(table.first, table.second))
    return keyed(key, QUESTIONS, [[*row[:3], said(row[3]), row[4]] for row in found])


def _nothing(key: bytes) -> str:
    return keyed(key, QUESTIONS, [])


def _all(connection: Connection) -> list[str]:
    """Return every population of which something is kept."""
    found = set(connection.execute(select(populations.c.id)).scalars())
    for table in MARKS:
        found |= set(connection.execute(select(table.c.population).distinct()).scalars())
    return sorted(map(str, found))
