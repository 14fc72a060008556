"""Rows of other tables under the audit log's chain: who may do what, who signed, waived and declared what.

The line about an act holds a keyed digest of the row that the act left (`put`), and what is there is held against these
lines (`breaks`): each row of a table that only grows, and of what is replaced the one that the latest line tells of.
A row of an earlier edition has a line too, without a digest; as many rows as there are such lines about the same
subject are said to stand outside of the log (`outside`), and any other was brought in.

One more kind of rows: a line in `KINDS`, and `put` where the row is written.

Privacy posture: digests under the workspace key; sentences hold ids of corpora, runs and policies and names of pools
and people, which are in the log's lines themselves.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial

from sqlalchemy import JSON as JSON_COLUMN
from sqlalchemy import Boolean, Connection, Integer, LargeBinary, Table, Text, select, type_coerce

from engine.json_types import JSON, JSONObject
from engine.store.chain import keyed
from engine.store.database.dialect import insert
from engine.store.database.schema import (
    corpora,
    declarations,
    members,
    own_policies,
    packs,
    pools,
    releases,
    revocations,
    settings,
    signatures,
    waivers,
)
from engine.store.logs import about
from engine.store.rows import AnyRow

GONE = "corpus deleted"
ROW = "row"
"""Name in a line's detail of the digest of the row that its act left."""


@dataclass(frozen=True)
class Kind:
    """Rows of a table, and the lines that tell of them.

    Attributes:
        table: the rows. noun: what one is called. acts: actions of the lines about one. of: name in a line's detail of
            what it is about, and of the column that holds it; empty where that is the line's subject.
        column: that holds what a line is about. ends: actions of lines after which there is none of the subject.
        where: value of the column `what`. before: what stands in the column before what a line is about.
        grows: every row stays; otherwise a later one replaces it.
        with_corpus: the rows go with their corpus.
    """

    table: Table
    noun: str
    acts: tuple[str, ...]
    column: str
    of: str = ""
    ends: tuple[str, ...] = ()
    where: str = ""
    before: str = ""
    grows: bool = True
    with_corpus: bool = False


_declared = partial(Kind, declarations, column="corpus_id", grows=False, with_corpus=True)
MEMBERS = Kind(members, "roles", ("roles given", "roles taken", "account of a person"), "identity", of="identity")
SIGNATURES = Kind(signatures, "signatures", ("signed as second person",), "run_id")
WAIVERS = Kind(waivers, "waivers", ("rule waived", "waiver withdrawn"), "run_id")
POLICIES = Kind(own_policies, "own policy", ("own policy added", "own policy changed", "own policy removed"), "id")
RELEASES = Kind(releases, "release", ("records released",), "id")
REVOCATIONS = Kind(revocations, "withdrawal of release", ("release withdrawn",), "release_id")
LABELS = _declared("list of labels", ("label list declared public",), where="labels",
                   ends=("label list no longer public",))  # fmt: skip
CAP = _declared("cap", ("cap declared public",), where="cap")
DESCRIPTION = _declared("description", ("description declared public",), where="description")
POOLS = Kind(pools, "pool", ("pool imported",), "name", ends=("pool deleted",), grows=False)
PACKS = Kind(packs, "prompt pack", ("prompt pack logged",), "id")
CORPORA = Kind(corpora, "corpus", ("corpus imported",), "id", with_corpus=True)
ANSWERS = Kind(settings, "answers of the assessment", ("assessment answered",), "key", before="assessment.",
               grows=False, with_corpus=True)  # fmt: skip
RESTED_ON = (CORPORA, MEMBERS, SIGNATURES, WAIVERS, POLICIES, LABELS, CAP, DESCRIPTION)
"""What a release rests on beside its run."""
KINDS = (*RESTED_ON, ANSWERS, RELEASES, REVOCATIONS, POOLS, PACKS)
OF_A_SUBJECT = ("corpus_id", "run_id", "release_id")  # columns by which a kind's rows are found
NOT_HELD = {
    "releases": ("path",),  # a copy that could not be put in its place stays in the workspace
    "corpora": ("name", "warnings", "population", "span_source", "spans_at", "detected_at", "revision", "detector"),
}
COUNTED_LATER = "near_duplicates_across_split"  # of a corpus' statistics


@dataclass
class _Told:
    """Digests of the rows that stand, and how many lines of earlier editions tell of one without any."""

    rows: Counter[str] = field(default_factory=Counter)
    earlier: int = 0


def put(connection: Connection, key: bytes, kind: Kind, values: Mapping[str, object]) -> dict[str, str]:
    """Add a row, or put it in place of the earlier one, and return what the line about it holds."""
    number = kind.table.autoincrement_column
    if kind.grows:
        made = connection.execute(kind.table.insert().values(**values)).inserted_primary_key
        if number is not None and made is not None:
            values = {**values, number.name: made[0]}
    else:
        there = [column.name for column in kind.table.primary_key]
        statement = insert(connection, kind.table).values(**values)
        rest = {name: value for name, value in values.items() if name not in there}
        connection.execute(statement.on_conflict_do_update(index_elements=there, set_=rest))
    return {ROW: digest(key, kind, values)}


def digest(key: bytes, kind: Kind, values: Mapping[str, object]) -> str:
    """Return the digest of a row; one that a column is missing of has nothing there."""
    names = [column.name for column in kind.table.c if column.name not in NOT_HELD.get(kind.table.name, ())]
    return keyed(key, f"row of {kind.table.name}", [_plain(kind.table, name, values.get(name)) for name in names])


def breaks(
    connection: Connection, key: bytes, kinds: Collection[Kind] = KINDS, subjects: Collection[str] | None = None
) -> list[str]:
    """Return a sentence for each subject whose rows are not those that the log tells of.

    Args:
        subjects: only these, of kinds whose rows are a corpus or a release, or about one of them or a run.
    """
    return [one for kind in kinds for one in _of_kind(connection, key, kind, subjects)[0]]


def outside(connection: Connection, key: bytes) -> list[str]:
    """Return a sentence for each subject with rows of an earlier edition, which are not under the log."""
    return [one for kind in KINDS for one in _of_kind(connection, key, kind, None)[1]]


def said(value: object) -> JSON:
    """Return a value of JSON as it is read back, from the value itself or from its text; a text that is none as it is.

    Numbers of numpy are plain ones then, and tuples lists.
    """
    if isinstance(value, str):
        try:
            found: JSON = json.loads(value)
        except ValueError:
            return value
        return found
    read_back: JSON = json.loads(json.dumps(value, default=_number_of))
    return read_back


def flag(value: object) -> object:
    """Return yes or no as 1 or 0; SQLite keeps numbers in between and words too, which are neither."""
    return int(value) if isinstance(value, int) else repr(value)


def _of_kind(
    connection: Connection, key: bytes, kind: Kind, subjects: Collection[str] | None
) -> tuple[list[str], list[str]]:
    """Return what does not hold of rows of a kind, and what is not under the log."""
    told, left = _told(connection, kind), dict[str, Counter[str]]()
    some = subjects if kind in (CORPORA, RELEASES, ANSWERS) or kind.column in OF_A_SUBJECT else None
    for row in _rows(connection, kind):
        subject = str(getattr(row, kind.column)).removeprefix(kind.before)
        if some is None or subject in some:
            left.setdefault(subject, Counter())[digest(key, kind, dict(row._mapping))] += 1
    found, old = [], []
    for subject in sorted({*told, *left}):
        if some is not None and subject not in some:
            continue
        one, there = told.get(subject, _Told()), left.get(subject, Counter())
        missing, more = (one.rows - there).total(), (there - one.rows).total()
        called = f"{kind.noun} of {subject}" if kind.column in ("identity", "run_id", "corpus_id", "key") else (
            f"{kind.noun} {subject}")  # fmt: skip
        if missing or there.total() < one.rows.total() + (one.earlier if kind.grows else 0):
            found.append(f"{called}: changed or removed.")
        elif more > one.earlier:
            found.append(f"{called}: brought in, and no line of the log tells of it.")
        elif more:
            old.append(f"{called}: told by an earlier edition, and not under the log.")
    return found, old


def _rows(connection: Connection, kind: Kind) -> Iterator[AnyRow]:
    """Yield the rows of a kind, whatever somebody put there."""
    forms = {JSON_COLUMN: Text, Boolean: Integer}
    columns = [
        type_coerce(column, forms[type(column.type)]).label(column.name) if type(column.type) in forms else column
        for column in kind.table.c
    ]
    query = select(*columns)
    if kind.where:
        query = query.where(kind.table.c.what == kind.where)
    if kind.before:
        query = query.where(kind.table.c[kind.column].startswith(kind.before, autoescape=True))
    yield from connection.execute(query)


def _told(connection: Connection, kind: Kind) -> dict[str, _Told]:
    told: dict[str, _Told] = {}
    for action, subject, detail in about.told(connection, (*kind.acts, *kind.ends, GONE)):
        name = str(detail.get(kind.of, "")) if kind.of else subject
        if action in kind.ends or action == GONE:
            if action != GONE or kind.with_corpus:
                told.pop(subject, None)
            continue
        _take(told.setdefault(name, _Told()), kind, detail)
    return told


def _take(one: _Told, kind: Kind, detail: JSONObject) -> None:
    if not kind.grows:
        one.rows.clear()
        one.earlier = 0
    if ROW in detail:
        one.rows[str(detail[ROW])] += 1
    else:
        one.earlier += 1


def _plain(table: Table, name: str, value: object) -> object:
    form = table.c[name].type
    if isinstance(form, JSON_COLUMN):
        found = said(value)
        return {k: v for k, v in found.items() if k != COUNTED_LATER} if isinstance(found, Mapping) else found
    if isinstance(form, LargeBinary):
        return bytes(value).hex() if isinstance(value, bytes) else repr(value)
    return flag(value) if isinstance(form, Boolean) else value


def _number_of(value: object) -> object:
    """Return a number of numpy as a plain one, and what nobody reads as JSON by how it looks."""
    return value.item() if hasattr(value, "item") else repr(value)
