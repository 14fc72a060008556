"""The rows of intruder trials under the audit log's chain: each act's line there holds a keyed digest of its row.

So a row that was edited, removed or added outside of the program is found by `audit --verify`, which holds every row
against the line that tells of it, and what a trial says is told only while its rows hold. A trial that went with its
run is accounted for by the line of that deletion.

Privacy posture: digests under the workspace key, ids and counts; never what was claimed.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from sqlalchemy import Connection, inspect, select

from engine.store.chain import keyed
from engine.store.database.schema import intruder_events, intruder_looks, intruder_texts, intruder_trials
from engine.store.logs import about
from engine.store.rows import AnyRow

DRAWN, COUNTED = "intruder trial drawn", "intruder look counted"
CHANGED = "intruder's verdict changed after its bound"
ACTS = (
    "intruder trial begun",
    "intruder trial ended",
    "intruder's claim written",
    "intruder's claim withdrawn",
    "intruder's claim judged",
    CHANGED,
)
GONE = ("run deleted", "corpus deleted")
BROKEN = (
    "Its rows in the database are not those that the audit log tells of, so it tells nothing. `audit --verify` says "
    "more. Draw another."
)


@dataclass
class Told:
    """What the log tells of a trial: its run and corpus, digests of its row, its marks and its events."""

    run: str = ""
    corpus: str = ""
    row: str = ""
    marks: str = ""
    events: Counter[str] = field(default_factory=Counter)


def of_trial(connection: Connection, key: bytes, trial_id: str) -> str:
    """Return the digest of a trial's row and its sample, empty where it is not there."""
    row = connection.execute(select(intruder_trials).where(intruder_trials.c.id == trial_id)).first()
    if row is None:
        return ""
    query = select(intruder_texts.c.place, intruder_texts.c.position).where(intruder_texts.c.trial_id == trial_id)
    texts = [[int(place), int(at)] for place, at in connection.execute(query.order_by(intruder_texts.c.place))]
    columns = (row.id, row.run_id, row.look, row.at, row.actor, row.minutes, row.means, row.drawn_from)
    return keyed(key, "intruder", ["trial", *columns, texts])


def of_event(key: bytes, row: AnyRow) -> str:
    """Return the digest of an act's row; its number too, since the order of acts decides."""
    return keyed(key, "intruder", ["event", row.seq, row.trial_id, row.at, row.actor, row.action, row.place, row.words])


def of_marks(key: bytes, run_id: str, found: bytes) -> str:
    """Return the digest of what a trial left about its texts."""
    return keyed(key, "intruder", ["marks", run_id, found.hex()])


def breaks(connection: Connection, key: bytes) -> list[str]:
    """Return a sentence for each trial whose rows are not those that the log tells of."""
    if not inspect(connection).has_table(intruder_looks.name):
        return []  # an earlier edition's; the log tells no digest there
    told, gone = _told(connection)
    known = set(connection.execute(select(intruder_trials.c.id)).scalars())
    found = [f"trial {one} is there, and the log tells of none." for one in sorted(known - set(told))]
    left: dict[str, Counter[str]] = {}
    for row in connection.execute(select(intruder_events).order_by(intruder_events.c.seq)):
        left.setdefault(row.trial_id, Counter())[of_event(key, row)] += 1
    for trial_id, one in told.items():
        found += _of_one(connection, key, trial_id, one, left.get(trial_id, Counter()))
        if trial_id not in known and not gone & {one.run, one.corpus}:
            found.append(f"trial {trial_id} was removed.")
    return found


def holds(connection: Connection, key: bytes, trial_id: str) -> bool:
    """Say whether a trial's rows are those that the log tells of; True for one of an earlier edition."""
    if not about.whole(connection, key, trial_id):
        return False
    told, _ = _told(connection, trial_id)
    rows = connection.execute(select(intruder_events).where(intruder_events.c.trial_id == trial_id))
    left = Counter(of_event(key, row) for row in rows)
    return trial_id in told and not _of_one(connection, key, trial_id, told[trial_id], left)


def _of_one(connection: Connection, key: bytes, trial_id: str, told: Told, left: Counter[str]) -> list[str]:
    found = []
    there = of_trial(connection, key, trial_id)
    if there and told.row and there != told.row:
        found.append(f"trial {trial_id} or its sample was changed.")
    missing, more = told.events - left, left - told.events
    if there and missing.total():
        found.append(f"acts of trial {trial_id} that were changed or removed: {missing.total():,}.")
    if there and told.row and more.total() > missing.total():
        found.append(f"acts of trial {trial_id} that the log does not tell of: {more.total() - missing.total():,}.")
    query = select(intruder_looks.c.run_id, intruder_looks.c.marks).where(intruder_looks.c.trial_id == trial_id)
    kept = [of_marks(key, row.run_id, row.marks) for row in connection.execute(query)]
    if told.marks and kept != [told.marks]:
        found.append(f"the count of looks at the texts of trial {trial_id} was changed or removed.")
    return found


def _told(connection: Connection, trial_id: str | None = None) -> tuple[dict[str, Told], set[str]]:
    """Return what the log tells of each trial, or of one, and ids of runs and corpora that were deleted."""
    told: dict[str, Told] = {}
    gone = set()
    for action, subject, said in about.told(connection, (DRAWN, COUNTED, *ACTS, *GONE), trial_id):
        if action in GONE:
            gone.add(subject)
            continue
        one = told.setdefault(subject, Told())
        one.run, one.corpus = str(said.get("run", "")), str(said.get("corpus", ""))
        one.marks = str(said.get("marks", one.marks))
        if action == DRAWN:
            one.row = str(said.get("row", ""))
        elif action in ACTS and "row" in said:
            one.events[str(said["row"])] += 1
    return told, gone
