"""The ledger's lines: what they are, how they are written, and what they amount to for a population.

Lines are append-only and chained. A line's body holds numbers, events and a sentence of ours. What a
population has used follows from replaying its lines and those of the populations merged into it; the
meaning of limits and admission is `engine.dp.ledger`'s.

Privacy posture: public parameters, counts and ids; no text, no statistic of private data.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypedDict, Unpack

import numpy as np
from sqlalchemy import Connection, select

from engine.dp.accounting.rdp import added_delta
from engine.dp.events import Event
from engine.dp.ledger import LedgerRun, LedgerState, default_limit, divided, new_state, share_used
from engine.errors import InternalError
from engine.json_types import JSONObject
from engine.store.budget import recognition
from engine.store.chain import Chain, canonical
from engine.store.database.schema import ledger, ledger_head, populations
from engine.store.rows import AnyRow

CHAIN = Chain("ledger", ledger, ledger_head)
KINDS = (
    "limit",
    "reserve",
    "spend",
    "settle",
    "give_back",
    "touch",
    "release",
    "merge",
    "unknown",
    "declared",
    "apart",
)


class Released(TypedDict, total=False):
    """What the line of a release says of its claim."""

    epsilon: float | None
    delta: float | None
    records: int
    unbounded: bool


class LineBody(Released, total=False):
    """What a line says beside who wrote it, when, for whom and of which kind; each kind has some of it.

    what, sentence: what was used, in a word and in words. method: of the run. epsilon, delta: claimed, set as a
    limit, or entered. events: of a reservation; event: of one output or amount. order, list_delta, whole, default: of
    a limit or of how a reservation was admitted. share_after: part of the limit in use. other: the other population
    of a merger. since: from when spends are unknown; answers: the lines that an amount answers.
    """

    what: str
    sentence: str
    method: str | None
    events: Sequence[JSONObject]
    event: JSONObject | None
    order: int
    list_delta: float
    whole: bool
    default: bool
    large_delta: bool
    by_person: bool
    share_after: float
    other: str
    since: str
    answers: Sequence[int]


@dataclass(frozen=True)
class Line:
    """One line with its body read."""

    seq: int
    at: str
    actor: str
    population: str
    kind: str
    run_id: str
    body: LineBody

    @property
    def bound(self) -> tuple[float, float]:
        """ε and δ of a limit, a reservation or an amount that a person entered."""
        return _bound(self.body)

    @property
    def event(self) -> Event | None:
        """The event of an output or of an amount, None where there is none."""
        found = self.body.get("event")
        return Event.from_dict(found) if found else None


@dataclass(frozen=True)
class Book:
    """What a population's lines amount to.

    fixed: a line holds the limit. is_default: nobody chose it. drawn: events of every output that was drawn.
    unbounded: records without a formal guarantee were released. unknown: lines that say that spends were lost, to
    which nobody has entered the amount yet. declared: lines with such an amount. units: of the population's largest
    corpus. lowered: the default limit that a line holds came from a smaller corpus, and a smaller δ holds now.
    """

    population: str
    state: LedgerState
    fixed: bool
    is_default: bool
    drawn: tuple[Event, ...]
    unbounded: bool
    lines: tuple[Line, ...]
    unknown: tuple[Line, ...] = ()
    declared: tuple[Line, ...] = ()
    units: int = 0
    lowered: bool = False

    @property
    def share(self) -> float:
        """Return the part of the limit that is reserved or spent."""
        return share_used(self.state)

    def run(self, run_id: str) -> LedgerRun | None:
        """Return what a run has claimed, or None."""
        return next((run for run in self.state.runs if run.run_id == run_id), None)


def write(
    connection: Connection,
    key: bytes,
    actor: str,
    population: str,
    kind: str,
    run_id: str = "",
    **body: Unpack[LineBody],
) -> None:
    """Add a line inside the caller's write transaction."""
    cleaned = {name: _finite(value) for name, value in body.items()}
    values = {"actor": actor, "population": population, "kind": kind, "run_id": run_id, "body": canonical(cleaned)}
    CHAIN.append(connection, key, values)


def read(connection: Connection, population: str) -> Book:
    """Return what the lines of a population, and of those merged into it, amount to."""
    members = _members(connection, population)
    rows = connection.execute(select(ledger).where(ledger.c.population.in_(members)).order_by(ledger.c.seq)).all()
    lines = tuple(line_of(row) for row in rows)
    units = int(connection.execute(select(populations.c.units).where(populations.c.id == population)).scalar() or 0)
    usual = default_limit(units)
    state = new_state(usual)
    fixed, is_default, unbounded = False, True, False
    runs: dict[str, LedgerRun] = {}
    drawn: list[Event] = []
    unknown: dict[int, Line] = {}
    declared: list[Line] = []
    set_aside = _bought_before(lines)
    for line in lines:
        if line.kind in ("limit", "merge") and line.population == population:
            limit = divided(*line.bound)
            if "list_delta" in line.body:
                limit = replace(limit, list_delta=line.body["list_delta"])
            elif set_aside is not None:
                limit = replace(limit, list_delta=set_aside)
            state = replace(state, limit=limit, order=int(line.body["order"]))
            fixed, is_default = True, bool(line.body["default"])
        elif line.kind == "release":
            unbounded = unbounded or bool(line.body["unbounded"])
        elif line.kind == "spend":
            drawn.extend([line.event] if line.event else [])
            runs[line.run_id] = replace(runs[line.run_id], drawn=runs[line.run_id].drawn + 1)
        elif line.kind == "unknown":
            unknown[line.seq] = line
        elif line.kind == "declared":
            unknown = {seq: open_line for seq, open_line in unknown.items() if seq not in line.body["answers"]}
            declared.append(line)
            for run in declared_runs(line.seq, line.body):
                runs[run.run_id] = run
                drawn.extend(run.events)
        elif line.kind in ("reserve", "settle", "give_back"):
            runs[line.run_id] = _after(runs.get(line.run_id), line)
    lowered = fixed and is_default and usual.delta < state.limit.delta
    if lowered:
        set_aside = min(state.limit.list_delta, usual.list_delta)
        state = new_state(replace(state.limit, delta=usual.delta, list_delta=set_aside))
    state = replace(state, runs=tuple(runs.values()), unknown=bool(unknown))
    state = replace(state, asked=bool(recognition.open_questions(connection, population)))
    return Book(
        population, state, fixed, is_default, tuple(drawn), unbounded, lines, tuple(unknown.values()), tuple(declared),
        units, lowered,
    )  # fmt: skip


def declared_runs(seq: int, body: LineBody) -> tuple[LedgerRun, ...]:
    """Return what a person entered as spent in an unknown time as one spent run, or none for nothing."""
    if not body["event"]:
        return ()
    event = Event.from_dict(body["event"])
    epsilon, delta = _bound(body)
    return (LedgerRun(f"declared {seq}", (event,), "spent", 1, epsilon, delta, entered=True),)


def _bought_before(lines: Sequence[Line]) -> float | None:
    """Return the δ of label lists that an earlier edition reserved; None where it reserved nothing.

    Its limits set nothing aside, and took each list's δ from the room as it came. What they had taken is now what is
    set aside for good: the room for other runs stays what it was, and another list needs a limit that provides for it.
    """
    earlier = [line.body["events"] for line in lines if line.kind == "reserve" and "list_delta" not in line.body]
    return sum(added_delta(events_of(events)) for events in earlier) if earlier else None


def line_of(row: AnyRow) -> Line:
    """Return a table row as a line."""
    return Line(row.seq, row.at, row.actor, row.population, row.kind, row.run_id, json.loads(row.body))


def events_of(body: Sequence[JSONObject]) -> tuple[Event, ...]:
    """Return serialised events as events."""
    return tuple(Event.from_dict(event) for event in body)


def last_share(connection: Connection, population: str) -> float:
    """Return the share of the limit in use after the last line of a population."""
    row = connection.execute(
        select(ledger.c.body).where(ledger.c.population == population).order_by(ledger.c.seq.desc()).limit(1)
    ).scalar()
    return float(json.loads(row).get("share_after") or 0.0) if row else 0.0


def current(connection: Connection, population: str) -> str:
    """Return the population that a merged one belongs to now, or itself."""
    into = _merged_into(connection)
    while population in into:
        population = into[population]
    return population


def _merged_into(connection: Connection) -> dict[str, str]:
    rows = connection.execute(select(ledger.c.population, ledger.c.body).where(ledger.c.kind == "merge"))
    return {json.loads(row.body)["other"]: row.population for row in rows}


def _members(connection: Connection, population: str) -> list[str]:
    members, into = [population], _merged_into(connection)
    for member in members:
        members.extend(other for other, target in into.items() if target == member and other not in members)
    return members


def _after(run: LedgerRun | None, line: Line) -> LedgerRun:
    body = line.body
    if line.kind == "reserve":
        return LedgerRun(line.run_id, events_of(body["events"]), "reserved", 0, *line.bound, whole=bool(body["whole"]))
    assert run is not None  # a line that closes follows one that reserves, inside one transaction
    if line.kind == "settle":
        return replace(run, state="spent", events=events_of(body["events"]))
    return replace(run, state="given_back")


def _bound(body: LineBody) -> tuple[float, float]:
    epsilon, delta = body["epsilon"], body["delta"]
    if epsilon is None or delta is None:
        raise InternalError("a line of the ledger that needs ε and δ has none")
    return float(epsilon), float(delta)


def _finite(value: object) -> object:
    """Return a number that JSON cannot hold as None, and one of numpy as a plain one."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value.item() if isinstance(value, np.generic) else value
