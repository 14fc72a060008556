"""Recognise the people of a new file among those already known: merge, ask, or take them as new.

Merging only costs budget; not merging people who are the same breaks the limit. So clear evidence merges, any
evidence beyond chance asks a person, and no run with a guarantee is admitted until the answer is in the ledger.

Clear: at least three records, and 5 per cent of the smaller side's, share three runs of eight words with one earlier
record each; or at least three source ids and 5 per cent of the smaller side's are the same, beyond three times what
chance explains; or whole texts as `populations` compares them; or short records, as
`engine.corpus.people.short_overlap` says; or lines or rests, as `engine.corpus.people.equal_overlap` says. Letters of
one form share runs with each other too, so of these there must be more than twice as many as records of the file that
share runs with another one of it.
Less than that, but at least one such record, or one equal source id, or three and 2 per
cent of the records sharing two runs, or short records beyond chance or too common to tell, or lines or rests beyond
chance, asks.

Privacy posture: keyed hashes and counts.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain, islice, permutations

import numpy as np
from sqlalchemy import ColumnElement, Connection, func, or_, select, update

from engine.corpus.people.equal_overlap import EqualOverlap
from engine.corpus.people.marks import STRONG_RUNS, Hashes, PeopleMarks
from engine.corpus.people.short_overlap import ShortOverlap
from engine.json_types import JSONObject, as_number
from engine.store.audit import now
from engine.store.budget import equal_recognition, short_recognition
from engine.store.database.dialect import insert, move
from engine.store.database.schema import equal_marks, people_marks, people_questions, short_marks
from engine.store.rows import AnyRow

CHUNK, AT_ONCE = 900, 20_000
LEAST, LEAST_SHARE = 3, 0.05
CHANCE_FACTOR = 2.0  # how far beyond what a side repeats of itself
WEAK_RUNS, WEAK_SHARE = 2, 0.02
SOURCE, BARE = 0, -1  # the record numbers of marks of source ids as they are, and of bare ones
COUNTED = ("strong", "sources", "short_excess", "equal_excess")  # what asks again after an answer
GROWN = 1.5  # and by how much more
OPEN, SAME, OTHER = "open", "same", "other"


@dataclass(frozen=True)
class Evidence:
    """What a new file shares with a known population.

    strong, weak: records that share at least three runs, or two (or all of fewer), with one earlier record; one run
    alone tells nothing: the last words of a form and a first word of one's own. sources: equal source ids. records,
    ids: of the smaller side. chance: expected equal ids of strangers. repeated: expected strong ones of strangers, by
    how many records share three runs with another one of their own side. short: what short records share. equal: what
    lines and rests share.
    """

    strong: int
    weak: int
    sources: int
    records: int
    ids: int
    chance: float
    repeated: float = 0.0
    short: ShortOverlap | None = None
    equal: tuple[EqualOverlap, ...] = ()

    @property
    def clear(self) -> bool:
        """Say whether these are the same people beyond doubt."""
        by_text = self.strong - CHANCE_FACTOR * self.repeated >= max(LEAST, LEAST_SHARE * self.records)
        by_id = self.sources >= LEAST and self.sources >= LEAST_SHARE * self.ids
        by_id = by_id and self.sources > LEAST + 3.0 * self.chance
        by_short = self.short is not None and self.short.clear
        return by_text or by_id or by_short or any(one.clear for one in self.equal)

    @property
    def any(self) -> bool:
        """Say whether there is more than chance explains, so that a person is asked."""
        common = self.strong + self.weak
        by_text = bool(self.strong) or (common >= LEAST and common >= WEAK_SHARE * self.records)
        by_short = self.short is not None and self.short.any
        return by_text or self.sources > 0 or by_short or any(one.any for one in self.equal)

    def sentence(self) -> str:
        """Return the evidence in words."""
        found = []
        if self.strong:
            found.append(f"{self.strong:,} records that share long runs of words")
        if self.weak and not self.strong:
            found.append(f"{self.weak:,} records that share runs of words")
        if self.sources:
            found.append(f"{self.sources:,} equal source ids")
        if self.short is not None and self.short.any:
            found.append(self.short.sentence())
        found += [one.sentence() for one in self.equal if one.any]
        return " and ".join(found) or "whole texts"


def evidence(connection: Connection, marks: PeopleMarks) -> dict[str, Evidence]:
    """Return what a file's marks share with each known population, without those that share nothing."""
    shared: dict[str, Counter[tuple[int, int]]] = {}
    order = np.argsort(marks.runs, kind="stable")
    runs, record = marks.runs[order], marks.record[order]
    for row in _rows(connection, np.unique(runs)):
        if row.record > SOURCE:
            left, right = np.searchsorted(runs, row.hash, "left"), np.searchsorted(runs, row.hash, "right")
            pairs = shared.setdefault(row.population, Counter())
            pairs.update((mine, row.record) for mine in record[left:right].tolist())
    size = Counter(marks.record.tolist()) if shared else Counter[int]()
    ids: Counter[str] = Counter()
    for number, hashes in ((SOURCE, marks.sources), (BARE, marks.bare)):
        ids |= Counter(row.population for row in _rows(connection, hashes) if row.record == number)
    found = {}
    short = short_recognition.overlaps(connection, marks.short, lambda population: _sizes(connection, population)[0])
    equal = equal_recognition.overlaps(
        connection, marks.equal, lambda population: min(marks.short.total, _records(connection, population))
    )
    for population in sorted({*shared, *ids, *short, *equal}):
        strong, weak = _by_strength(shared.get(population, Counter()), size)
        records, known_ids = _sizes(connection, population)
        repeated = _repeated(_groups(runs, record), records, marks.records) if strong else 0.0
        smaller = min(len(marks.sources), known_ids)
        found[population] = Evidence(
            strong, weak, ids[population], max(1, min(records, marks.records)), max(1, smaller),
            marks.chance * smaller, repeated, short.get(population), equal.get(population, ()),
        )  # fmt: skip
    return found


def between(connection: Connection, a: str, b: str) -> Evidence:
    """Return what all that is kept of two populations shares.

    How their ids are numbered is not kept, so equal ids count as chance.
    """
    a, b = sorted((a, b))  # records are counted on one side, so it must always be the same
    mine, theirs = people_marks.alias("mine"), people_marks.alias("theirs")
    both = (mine.c.population == a) & (theirs.c.population == b) & (mine.c.hash == theirs.c.hash)
    query = select(mine.c.record, theirs.c.record.label("other"), func.count().label("n")).where(both)
    shared: Counter[tuple[int, int]] = Counter()
    ids = 0
    for row in connection.execute(query.group_by(mine.c.record, theirs.c.record)):
        if row.record > SOURCE and row.other > SOURCE:
            shared[row.record, row.other] = row.n
        elif row.record == row.other:
            ids = max(ids, row.n)
    query = select(people_marks.c.record, func.count().label("n")).where(people_marks.c.population == a)
    size = {row.record: row.n for row in connection.execute(query.group_by(people_marks.c.record))}
    (records, own_ids), (other_records, other_ids) = _sizes(connection, a), _sizes(connection, b)
    smaller = max(1, min(own_ids, other_ids))
    short = short_recognition.between(connection, a, b, records, other_records)
    equal = equal_recognition.between(connection, a, b, min(_records(connection, a), _records(connection, b)))
    strong, weak = _by_strength(shared, size)
    repeated = _repeated(_held(connection, a).values(), other_records, records) if strong else 0.0
    least = max(1, min(records, other_records))
    return Evidence(strong, weak, ids, least, smaller, float(smaller), repeated, short, equal)


def _by_strength(shared: Mapping[tuple[int, int], int], size: Mapping[int, int]) -> tuple[int, int]:
    """Return how many records share at least three runs with one other record, and how many two or all of fewer."""
    best: dict[int, int] = {}
    for (record, _), n in shared.items():
        best[record] = max(best.get(record, 0), n)
    strong = sum(n >= STRONG_RUNS for n in best.values())
    return strong, sum(n < STRONG_RUNS and n >= min(WEAK_RUNS, size[record]) for record, n in best.items())


def _groups(runs: Hashes, record: Hashes) -> Iterator[Sequence[int]]:
    """Yield the records of each mark that several have; marks in ascending order."""
    begin = np.flatnonzero(np.r_[True, runs[1:] != runs[:-1]]) if len(runs) else np.zeros(0, np.int64)
    for first, last in zip(begin.tolist(), [*begin[1:].tolist(), len(runs)], strict=True):
        if last - first > 1:
            yield record[first:last].tolist()


def _repeated(held: Iterable[Sequence[int]], other: int, own: int) -> float:
    """Return how many of a side's records would share three runs with one of `other` records of its own kind.

    Args:
        held: the side's records that have it, of each mark. own: how many records the side has.
    """
    shared: Counter[tuple[int, int]] = Counter()
    for records in held:
        shared.update(permutations(records, 2))
    alike = len({record for (record, _), n in shared.items() if n >= STRONG_RUNS})
    return alike * other / max(1, own - 1)


def keep(connection: Connection, population: str, marks: PeopleMarks) -> int:
    """Keep a file's marks as a population's; records that are there whole are not kept again. Return the rows."""
    there: dict[int, set[int]] = {}
    for row in _rows(connection, np.unique(marks.runs), population):
        there.setdefault(row.hash, set()).add(row.record)
    base = secrets.randbits(38) << 24
    rows = chain(
        (
            (value, base + record)
            for record, values in _of_records(marks)
            if not set.intersection(*(there.get(value, set()) for value in values))
            for value in values
        ),
        ((int(value), SOURCE) for value in marks.sources),
        ((int(value), BARE) for value in marks.bare),
    )
    written = 0
    while some := [{"hash": value, "population": population, "record": n} for value, n in islice(rows, AT_ONCE)]:
        connection.execute(insert(connection, people_marks).on_conflict_do_nothing(), some)
        written += len(some)
    written += short_recognition.keep(connection, population, marks.short)
    return written + equal_recognition.keep(connection, population, marks.equal)


def _of_records(marks: PeopleMarks) -> Iterator[tuple[int, list[int]]]:
    """Yield each record that has marks of runs with them, in the order of its first mark."""
    last, values = -1, list[int]()
    for value, record in zip(map(int, marks.runs), map(int, marks.record)):
        if record != last and values:
            yield last, values
            values = []
        last = record
        values.append(value)
    if values:
        yield last, values


def has_marks(connection: Connection, population: str) -> bool:
    """Say whether a population has marks of runs, short records or rests: one of the first edition has none."""
    every = (people_marks, short_marks, equal_marks)
    return any(connection.execute(select(t.c.hash).where(t.c.population == population).limit(1)).first() for t in every)


def merged(connection: Connection, other: str, into: str) -> None:
    """Make one population's marks and questions those of another."""
    mine = people_marks.c.population == other
    connection.execute(move(people_marks, mine, population=into))
    connection.execute(people_marks.delete().where(mine))  # those that both had
    short_recognition.merged(connection, other, into)
    equal_recognition.merged(connection, other, into)
    for row in connection.execute(select(people_questions).where(_of(other))).all():
        connection.execute(people_questions.delete().where(people_questions.c.id == row.id))
        third = row.second if row.first == other else row.first
        if third != into and not ask(connection, into, third, row.detail, state=row.state) and row.state == OPEN:
            _write(connection, into, third, OPEN, row.detail)  # whatever was answered about the other one


def ask(connection: Connection, a: str, b: str, detail: JSONObject, *, state: str = OPEN) -> bool:
    """Note the question whether two populations are the same people; return whether it is new.

    An answer of `other` holds for what was shared when it was given. Materially more asks again.
    """
    first, second = sorted((a, b))
    known = connection.execute(
        select(people_questions).where(people_questions.c.first == first, people_questions.c.second == second)
    ).first()
    if known is None:
        connection.execute(
            people_questions.insert().values(first=first, second=second, state=state, detail=dict(detail), at=now())
        )
        return True
    if known.state != OTHER or state != OPEN or not _materially_more(detail, known.detail):
        return False
    again = (
        f"{detail['sentence']}; more than the {known.detail.get('sentence', 'marks')} for which they were kept apart"
    )
    _write(connection, first, second, OPEN, {**detail, "sentence": again})
    return True


def _materially_more(found: JSONObject, before: JSONObject) -> bool:
    """Say whether evidence is clear and was not, or one of its counts has grown by half and by three at least."""
    if found.get("clear") and not before.get("clear"):
        return True
    counts = ((as_number(found.get(name)) or 0.0, as_number(before.get(name)) or 0.0) for name in COUNTED)
    return any(count >= max(known + LEAST, GROWN * known) for count, known in counts)


def open_questions(connection: Connection, population: str) -> list[tuple[str, JSONObject]]:
    """Return the open questions about a population, oldest first: the other one, and what they share."""
    query = select(people_questions).where(_of(population), people_questions.c.state == OPEN)
    rows = connection.execute(query.order_by(people_questions.c.id)).all()
    return [(row.second if row.first == population else row.first, dict(row.detail)) for row in rows]


def answer(connection: Connection, a: str, b: str, state: str) -> None:
    """Answer a question, asked or not, and keep with the answer what the two share now."""
    detail = described(between(connection, a, b))
    ask(connection, a, b, detail, state=state)
    _write(connection, a, b, state, detail)


def described(found: Evidence) -> JSONObject:
    """Return evidence as it is kept with a question."""
    excess = found.short.excess if found.short is not None else 0.0
    equal = max((one.excess for one in found.equal), default=0.0)
    told = {"short_excess": excess, "equal_excess": equal, "clear": found.clear, "sentence": found.sentence()}
    return {**asdict(found), **told}


def _write(connection: Connection, a: str, b: str, state: str, detail: JSONObject) -> None:
    first, second = sorted((a, b))
    question = (people_questions.c.first == first) & (people_questions.c.second == second)
    connection.execute(update(people_questions).where(question).values(state=state, detail=dict(detail), at=now()))


def _of(population: str) -> ColumnElement[bool]:
    return or_(people_questions.c.first == population, people_questions.c.second == population)


def _rows(connection: Connection, hashes: Hashes, population: str | None = None) -> list[AnyRow]:
    found: list[AnyRow] = []
    if connection.execute(select(people_marks.c.hash).limit(1)).first() is None:
        return found
    for begin in range(0, len(hashes), CHUNK):
        query = select(people_marks).where(people_marks.c.hash.in_(hashes[begin : begin + CHUNK].tolist()))
        if population is not None:
            query = query.where(people_marks.c.population == population)
        found += connection.execute(query).all()
    return found


def _held(connection: Connection, population: str) -> dict[int, list[int]]:
    """Return a population's marks of runs, each with its records."""
    held: dict[int, list[int]] = {}
    query = select(people_marks.c.hash, people_marks.c.record).where(people_marks.c.population == population)
    for row in connection.execute(query.where(people_marks.c.record > SOURCE)):
        held.setdefault(row.hash, []).append(row.record)
    return held


def _records(connection: Connection, population: str) -> int:
    """Return about how many records a population has, short and long ones."""
    return _sizes(connection, population)[0] + short_recognition.records(connection, population)


def _sizes(connection: Connection, population: str) -> tuple[int, int]:
    """Return how many records and source ids a population has marks of."""
    mine = people_marks.c.population == population
    records = connection.execute(
        select(func.count(people_marks.c.record.distinct())).where(mine, people_marks.c.record > SOURCE)
    ).scalar_one()
    ids = connection.execute(
        select(func.count()).select_from(people_marks).where(mine, people_marks.c.record == SOURCE)
    ).scalar_one()
    return int(records), int(ids)


__all__ = [
    "OTHER",
    "SAME",
    "Evidence",
    "answer",
    "ask",
    "between",
    "described",
    "evidence",
    "keep",
    "merged",
    "open_questions",
]
