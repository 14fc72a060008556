"""The rows of spot checks under the audit log's chain: each act's line there holds keyed digests of its rows.

So a row that was edited, removed or added outside of the program is found by `audit --verify`, and an estimate that
rests on one tells nothing. A spot check that went with its corpus is accounted for by the line of that deletion. What
the first reader decided stands in the decisions of the review, which are not among these rows.

Privacy posture: digests under the workspace key, ids and counts; never a label or a place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from sqlalchemy import Connection, select

from engine.json_types import JSONObject, as_list
from engine.store.chain import keyed
from engine.store.database.schema import spot_checks, spot_events, spot_looks, spot_records
from engine.store.logs import about
from engine.store.rows import AnyRow

DRAWN = "spot check drawn"
NOTED, TAKEN_BACK = "spot check place noted", "spot check place taken back"
READ, SETTLED = "spot check text read by a second person", "spot check difference settled"
ACTS = (NOTED, TAKEN_BACK, READ, SETTLED)
GONE = "corpus deleted"
BROKEN = (
    "Its rows in the database are not those that the audit log tells of, so it tells nothing. `audit --verify` says "
    "more. Draw another."
)


@dataclass
class Told:
    """What the log tells of a spot check: its corpus, the digest of its rows, those of its events.

    Attributes:
        row: empty where an earlier edition drew it, which told of none. marks: of the texts it was drawn from, the
            same.
    """

    corpus: str = ""
    row: str = ""
    marks: str = ""
    events: Counter[str] = field(default_factory=Counter)


def of_check(connection: Connection, key: bytes, check_id: str) -> str:
    """Return the digest of a spot check's row and its sample, empty where it is not there."""
    row = connection.execute(select(spot_checks).where(spot_checks.c.id == check_id)).first()
    if row is None:
        return ""
    query = select(spot_records).where(spot_records.c.check_id == check_id).order_by(spot_records.c.position)
    sample = [
        [int(one.position), int(one.place), int(one.part), bool(one.twice), one.before]
        for one in connection.execute(query)
    ]
    columns = [row.id, row.corpus_id, row.look, row.at, row.actor, row.records, row.parts, bool(row.again), row.after]
    columns += [] if row.read_before is None else [row.read_before]  # an earlier edition kept none
    return keyed(key, "spot check", ["check", *columns, row.marks, sample])


def of_event(key: bytes, row: AnyRow) -> str:
    """Return the digest of an act's row; its number too, since the order of acts decides."""
    columns = (row.seq, row.check_id, row.position, row.at, row.actor, row.action, row.start, row.end, row.label)
    return keyed(key, "spot check", ["event", *columns])


def of_marks(key: bytes, corpus_id: str, look: int, found: bytes) -> str:
    """Return the digest of what a spot check left about its texts."""
    return keyed(key, "spot check", ["marks", corpus_id, look, found.hex()])


def holds(connection: Connection, key: bytes, check_id: str) -> bool:
    """Say whether a spot check's rows are those that the log tells of; True for one of an earlier edition."""
    if not about.whole(connection, key, check_id):
        return False
    told, _ = _told(connection, check_id)
    one = told.get(check_id)
    return one is not None and not _of_one(connection, key, check_id, one, _events(connection, key, check_id))


def breaks(connection: Connection, key: bytes) -> list[str]:
    """Return a sentence for each spot check whose rows are not those that the log tells of."""
    told, gone = _told(connection)
    known = set(connection.execute(select(spot_checks.c.id)).scalars())
    found = [f"spot check {one} is there, and the log tells of none." for one in sorted(known - set(told))]
    for check_id, one in told.items():
        if check_id in known:
            found += _of_one(connection, key, check_id, one, _events(connection, key, check_id))
        else:
            found += _of_look(connection, key, check_id, one)
        if check_id not in known and one.corpus not in gone:
            found.append(f"spot check {check_id} was removed.")
    return found


def _events(connection: Connection, key: bytes, check_id: str) -> Counter[str]:
    rows = connection.execute(select(spot_events).where(spot_events.c.check_id == check_id))
    return Counter(of_event(key, row) for row in rows)


def _of_one(connection: Connection, key: bytes, check_id: str, told: Told, left: Counter[str]) -> list[str]:
    found = _of_look(connection, key, check_id, told)
    if not told.row:
        return found
    if of_check(connection, key, check_id) != told.row:
        found.append(f"spot check {check_id} or its sample was changed.")
    missing, more = (told.events - left).total(), (left - told.events).total()
    if missing:
        found.append(f"acts of spot check {check_id} that were changed or removed: {missing:,}.")
    if more > missing:
        found.append(f"acts of spot check {check_id} that the log does not tell of: {more - missing:,}.")
    return found


def _of_look(connection: Connection, key: bytes, check_id: str, told: Told) -> list[str]:
    query = select(spot_looks).where(spot_looks.c.check_id == check_id)
    kept = [of_marks(key, row.corpus_id, row.look, bytes(row.marks)) for row in connection.execute(query)]
    if not told.marks or kept == [told.marks]:
        return []
    return [f"the count of looks at the texts of spot check {check_id} was changed or removed."]


def _told(connection: Connection, check_id: str | None = None) -> tuple[dict[str, Told], set[str]]:
    """Return what the log tells of each spot check, or of one, and ids of corpora that were deleted."""
    told: dict[str, Told] = {}
    gone = set()
    for action, subject, said in about.told(connection, (DRAWN, *ACTS, GONE), check_id):
        if action == GONE:
            gone.add(subject)
            continue
        one = told.setdefault(subject, Told())
        if action == DRAWN:
            one.corpus, one.row = str(said.get("corpus", "")), str(said.get("row", ""))
            one.marks = str(said.get("marks", ""))
        else:
            one.events.update(_rows(said))
    return told, gone


def _rows(said: JSONObject) -> Iterable[str]:
    return [str(digest) for digest in as_list(said.get("rows", []))]
