"""The decisions of a corpus as a chain of keyed digests, told of in the audit log.

Each decision has a number within its corpus (1, 2, 3 …) and a digest under the workspace key over what it says and the
digest of the one before it. The audit line of each act holds how many there are then, the digest of the last one, and
the sum of the marks (`engine.store.review.marks`), so `held` finds what was changed, removed, cut off, brought in or
put in another order outside of the program.

Privacy posture: digests under the workspace key; who decided what stands in the rows themselves.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Iterator, Mapping, Sequence

from sqlalchemy import BindParameter, Connection, bindparam, func, or_, select, update

from engine.json_types import JSONObject
from engine.store import audit
from engine.store.chain import GENESIS
from engine.store.database.database import Database
from engine.store.database.dialect import insert
from engine.store.database.schema import audit as log
from engine.store.database.schema import corpora, decisions, settings
from engine.store.logs import about
from engine.store.review import marks

CHAINED = "decisions chained"
"""Action of the line by which the decisions of an earlier edition came under the chain, and the setting that it did."""
IMPORTED = "corpus imported"
TELLING = (
    IMPORTED, "review decisions", "spans detected", "gold spans chosen", "records opened again", CHAINED,
)  # fmt: skip
"""Actions of lines whose subject is a corpus and which may tell of its decisions and marks."""
FIELDS = ("seq", "batch", "at", "actor", "action", "span_id", "position", "start", "end", "first_label", "label",
          "prior", "undoes")  # fmt: skip
_OF: BindParameter[str] = bindparam("of_corpus")
_HEAD = (
    select(decisions.c.number, decisions.c.digest)
    .where(decisions.c.corpus_id == _OF, decisions.c.number.is_not(None))
    .order_by(decisions.c.number.desc())
    .limit(1)
)
_SEQ = select(func.max(decisions.c.seq))
_MARKS = (
    select(log.c.detail)
    .where(log.c.subject == _OF, log.c.action.in_(TELLING), log.c.detail.contains('"marks":"'))
    .order_by(log.c.seq.desc())
    .limit(1)
)
_REVISION = (
    select(log.c.detail)
    .where(log.c.subject == _OF, log.c.action.in_(TELLING), log.c.detail.contains('"revision":'))
    .order_by(log.c.seq.desc())
    .limit(1)
)
_encoded = json.JSONEncoder(separators=(",", ":"), sort_keys=True, default=repr).encode


def digest(key: bytes, corpus_id: str, number: int, previous: str, event: Mapping[str, object]) -> str:
    """Return the digest of a decision, given that of the one before it in its corpus."""
    body = _encoded([corpus_id, number, previous, [event[name] for name in FIELDS]])
    return hmac.digest(key, b"decision\0" + body.encode(), "sha256").hex()


def head(connection: Connection, corpus_id: str) -> tuple[int, str]:
    """Return the number and digest of a corpus' last decision; 0 and zeros where there is none."""
    last = connection.execute(_HEAD, {"of_corpus": corpus_id}).first()
    return (0, GENESIS) if last is None else (int(last.number), str(last.digest))


def append(connection: Connection, key: bytes, corpus_id: str, events: Sequence[Mapping[str, object]]) -> None:
    """Add decisions of a corpus inside the caller's write transaction, in their order, with number and digest.

    Args:
        events: values by column, without number and digest; a column that is left out is empty.
    """
    if not events:
        return
    seq = int(connection.execute(_SEQ).scalar() or 0)
    full = [
        {**dict.fromkeys(FIELDS), **event, "seq": seq + turn, "corpus_id": corpus_id}
        for turn, event in enumerate(events, start=1)
    ]
    rows = list(_linked(key, corpus_id, full, *head(connection, corpus_id)))
    connection.execute(decisions.insert(), rows)
    marks.add(connection, corpus_id, head=(int(str(rows[-1]["number"])), str(rows[-1]["digest"])))


def revision(connection: Connection, corpus_id: str) -> int:
    """Return the number of a corpus' review: the one that stands there, or that a line told of if it was more."""
    there = connection.execute(select(corpora.c.revision).where(corpora.c.id == corpus_id)).scalar()
    detail = connection.execute(_REVISION, {"of_corpus": corpus_id}).scalar()
    told = None if detail is None else about.said_in(detail).get("revision")
    return max(one if isinstance(one, int) else 0 for one in (there, told))


def told(connection: Connection, key: bytes, corpus_id: str) -> dict[str, str | int]:
    """Return what a line of the audit log holds of a corpus' decisions: `decisions`, `head`, `marks` and `revision`.

    The sum of the marks is that of the line before and what was done since, so what was changed outside of the program
    is carried on and does not become true by the next act.
    """
    changed, known = marks.take(connection, corpus_id)
    count, last = known or head(connection, corpus_id)
    total = (_last_marks(connection, key, corpus_id) or 0) + changed
    stands: dict[str, str | int] = {
        "marks": marks.sealed(key, corpus_id, total),
        "revision": revision(connection, corpus_id),
    }
    return {"decisions": count, "head": last, **stands}


def adopt(database: Database, key: bytes, actor: str) -> None:
    """Bring the decisions and marks of a workspace of an earlier edition under the chain, once, as they are then."""
    with database.read() as connection:
        if connection.execute(select(settings.c.key).where(settings.c.key == CHAINED)).first() is not None:
            return
    with database.write() as connection:
        for corpus_id in connection.execute(select(corpora.c.id).order_by(corpora.c.created, corpora.c.id)).scalars():
            lines = [(action, said) for action, _, said in about.told(connection, TELLING, corpus_id)]
            told = any("marks" in said for _, said in lines)
            if not told and any(is_earlier(action, said) for action, said in lines):
                _adopt_one(connection, key, actor, corpus_id)
        values = {"key": CHAINED, "value": True}
        connection.execute(insert(connection, settings).values(values).on_conflict_do_nothing())


def is_earlier(action: str, said: JSONObject) -> bool:
    """Say whether a line of the log tells that an edition without this chain imported a corpus.

    A corpus that no line of the log imported was brought in outside of the program, and is not adopted.
    """
    return action == IMPORTED and "records" in said and "marks" not in said


def _last_marks(connection: Connection, key: bytes, corpus_id: str) -> int | None:
    """Return the sum of the marks by the last line that tells of it, None where none does."""
    detail = connection.execute(_MARKS, {"of_corpus": corpus_id}).scalar()
    return None if detail is None else marks.opened(key, corpus_id, str(about.said_in(detail).get("marks")))


def _linked(
    key: bytes, corpus_id: str, events: Sequence[dict[str, object]], number: int, previous: str
) -> Iterator[dict[str, object]]:
    """Yield events with their numbers and digests, behind the last decision that there is."""
    for event in events:
        number, previous = number + 1, digest(key, corpus_id, number + 1, previous, event)
        yield {**event, "number": number, "digest": previous}


def _adopt_one(connection: Connection, key: bytes, actor: str, corpus_id: str) -> None:
    mine = (decisions.c.corpus_id == corpus_id, or_(decisions.c.number.is_(None), decisions.c.digest.is_(None)))
    query = select(*(decisions.c[name] for name in FIELDS)).where(*mine).order_by(decisions.c.seq)
    events = [dict(row._mapping) for row in connection.execute(query)]
    if events:
        write = update(decisions).where(decisions.c.seq == bindparam("of_seq"))
        values = [
            {"of_seq": one["seq"], "number": one["number"], "digest": one["digest"]}
            for one in _linked(key, corpus_id, events, *head(connection, corpus_id))
        ]
        connection.execute(write.values(number=bindparam("number"), digest=bindparam("digest")), values)
    marks.add(connection, corpus_id, marks.total(connection, key, corpus_id))
    audit.append(connection, key, actor, CHAINED, corpus_id, told(connection, key, corpus_id))
