"""Shards of a job: ranges of a corpus' records that any number of workers claim, each range one worker at a time.

Where a shard ends follows from the number of records alone, so what is made of it does not depend on who shares the
work. A claim is a transaction of its own and so is its end; none is open while work is done. A shard is its worker's
for as long as the worker's lease lasts (`queue.beat`), like a job; a claim has a number, and what comes from a claim
that is not the last one is not written.

A job may look at all of its records first (stage `survey`) before it makes anything of them (stage `work`).

Privacy posture: a shard holds positions, and for a while what was found there: what a job keeps in tables anyway.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal

from sqlalchemy import ColumnElement, Connection, Select, and_, func, or_, select, update

from engine.json_types import JSON
from engine.store.database.schema import jobs, leases, shards

LEAST = 1_000  # records a shard, where there are as many
MOST = 1_000  # shards a job
HELPED = 5  # claims of one shard after which helpers leave it to the worker that has the job, and that can fail it
Stage = Literal["survey", "work"]


@dataclass(frozen=True)
class Shard:
    """A claimed shard: records `start` to `end` of a job's corpus, by position, `end` not included.

    stage: what is to be done. survey: what the first stage found, or what is asked of it (`lay`).
    worker, claims: who claimed it, and how often it was.
    """

    job_id: str
    number: int
    start: int
    end: int
    stage: Stage
    survey: JSON
    worker: str
    claims: int


@dataclass(frozen=True)
class Result:
    """What a worker found in records `start` to `end` of a corpus."""

    number: int
    start: int
    end: int
    found: JSON


def bounds(records: int) -> list[int]:
    """Return where each shard of a corpus ends, the last at the number of records; it is the only one below 2,000."""
    count = max(1, min(MOST, records // LEAST))
    return [records * (number + 1) // count for number in range(count)]


def cut(connection: Connection, job_id: str, records: int, done: int, stage: Stage) -> None:
    """Make shards of what is left of a job; those of its stage that an earlier worker made stay, as far as they go.

    Args:
        connection: in a transaction that writes. records: of the corpus. done: how many of them need no more work.
        stage: that is at work.
    """
    own = shards.c.job_id == job_id
    connection.execute(shards.delete().where(own, or_(shards.c.end <= done, shards.c.stage != stage)))
    connection.execute(
        update(shards)
        .where(own, shards.c.start < done)
        .values(start=done, state="open", worker=None, reached=0, found=None, claims=shards.c.claims + 1)
    )
    there = set(connection.execute(select(shards.c.number).where(own)).scalars())
    ends = bounds(records)
    made = [
        {"job_id": job_id, "number": number, "start": max(done, start), "end": end, "stage": stage, "state": "open"}
        for number, (start, end) in enumerate(zip([0, *ends], ends, strict=False))
        if end > done and number not in there
    ]
    if made:
        connection.execute(shards.insert(), made)


def lay(connection: Connection, job_id: str, ranges: Collection[tuple[int, int, JSON]]) -> None:
    """Make shards of ranges with what is asked of each; those that an earlier worker made of the same stay.

    Args:
        connection: in a transaction that writes. ranges: from where, to where, what is asked; in order.
    """
    own = shards.c.job_id == job_id
    wanted = {start: (end, asked) for start, end, asked in ranges}
    for row in connection.execute(select(shards).where(own)).all():
        if wanted.get(row.start) == (row.end, row.survey) and row.stage == "work":
            del wanted[row.start]
        else:
            connection.execute(shards.delete().where(own, shards.c.number == row.number))
    made = [
        {
            "job_id": job_id, "number": start, "start": start, "end": end, "stage": "work", "state": "open",
            "survey": asked,
        }
        for start, (end, asked) in wanted.items()
    ]  # fmt: skip
    if made:
        connection.execute(shards.insert(), made)


def offered(
    connection: Connection, kinds: Collection[str], job_id: str | None = None, without: Collection[str] = ()
) -> bool:
    """Say whether a shard waits for a worker: of these kinds of jobs without some, or of one job."""
    return connection.execute(_waiting(kinds, job_id, without).limit(1)).first() is not None


def claim(
    connection: Connection,
    worker: str,
    kinds: Collection[str],
    job_id: str | None = None,
    *,
    most: int = 1,
    without: Collection[str] = (),
) -> list[Shard]:
    """Take the first shards that wait, of these kinds of jobs or of one job; none where none does.

    Others may claim at the same moment: each gets other ones, and none waits for another.

    Args:
        connection: in a transaction that writes. worker: that takes them; its lease holds them.
        job_id: of the job that is the worker's own. most: how many are taken, all of one job. without: jobs that it
            cannot help with.
    """
    query = _waiting(kinds, job_id, without).limit(most).with_for_update(skip_locked=True, of=shards)
    found = connection.execute(query).all()
    found = [row for row in found if row.job_id == found[0].job_id and row.stage == found[0].stage]
    for row in found:
        connection.execute(
            update(shards)
            .where(shards.c.job_id == row.job_id, shards.c.number == row.number)
            .values(state="claimed", worker=worker, claims=row.claims + 1, reached=0)
        )
    return [
        Shard(r.job_id, r.number, r.start, r.end, r.stage, r.survey, worker, r.claims + 1) for r in found
    ]  # fmt: skip


def reach(connection: Connection, shard: Shard, records: int) -> bool:
    """Say how many records of a claimed shard are done; False where it is to be left, since it is lost or unwanted."""
    wanted = select(jobs.c.id).where(jobs.c.state == "running", jobs.c.cancel.is_(False))
    mine = _mine(shard) & shards.c.job_id.in_(wanted)
    return bool(connection.execute(update(shards).where(mine).values(reached=records)).rowcount)


def advance(connection: Connection, shard: Shard, start: int) -> bool:
    """Move the start of a claimed shard behind records whose result is kept with this; False where it is lost.

    A shard without records left goes.
    """
    if start >= shard.end:
        return bool(connection.execute(shards.delete().where(_mine(shard))).rowcount)
    return bool(connection.execute(update(shards).where(_mine(shard)).values(start=start, reached=0)).rowcount)


def deliver(connection: Connection, shard: Shard, found: JSON) -> bool:
    """End a claimed shard with what was found there; False where it is lost, and nothing is written."""
    values: Mapping[str, object] = {"state": "done", "reached": shard.end - shard.start, "found": found}
    return bool(connection.execute(update(shards).where(_mine(shard)).values(**values)).rowcount)


def there(connection: Connection, shard: Shard) -> bool:
    """Say whether a shard's result is still to come, or to be kept, whoever has it."""
    own = (shards.c.job_id == shard.job_id) & (shards.c.number == shard.number) & (shards.c.stage == shard.stage)
    return connection.execute(select(shards.c.number).where(own)).first() is not None


def release(connection: Connection, shard: Shard) -> None:
    """Give a claimed shard back."""
    connection.execute(update(shards).where(_mine(shard)).values(state="open", worker=None, reached=0))


def next_done(connection: Connection, job_id: str, start: int) -> Result | None:
    """Return the result of the shard that begins at a position, None where it has none yet."""
    row = connection.execute(
        select(shards).where(
            shards.c.job_id == job_id, shards.c.start == start, shards.c.stage == "work", shards.c.state == "done"
        )
    ).first()
    return None if row is None else Result(row.number, row.start, row.end, row.found)


def drop(connection: Connection, job_id: str, number: int) -> None:
    """Remove a shard whose result is kept."""
    connection.execute(shards.delete().where(shards.c.job_id == job_id, shards.c.number == number))


def surveys(connection: Connection, job_id: str) -> list[JSON] | None:
    """Return what the first stage found in each shard, in their order; None while it is not over."""
    own = shards.c.job_id == job_id
    if connection.execute(select(shards.c.number).where(own, shards.c.state != "done").limit(1)).first() is not None:
        return None
    return list(connection.execute(select(shards.c.found).where(own).order_by(shards.c.number)).scalars())


def begin_work(connection: Connection, job_id: str) -> None:
    """Open every shard again, for the second stage."""
    connection.execute(
        update(shards)
        .where(shards.c.job_id == job_id)
        .values(stage="work", state="open", worker=None, reached=0, survey=shards.c.found, found=None)
    )


def ahead(connection: Connection, job_id: str) -> int:
    """Return how many records of a job's shards are done and not yet kept."""
    query = select(func.coalesce(func.sum(shards.c.reached), 0)).where(
        shards.c.job_id == job_id, shards.c.stage == "work"
    )
    return int(connection.execute(query).scalar_one())


def _waiting(kinds: Collection[str], job_id: str | None, without: Collection[str]) -> Select[tuple[object, ...]]:
    """Return the query for shards of jobs at work that nobody living has claimed; the earliest job's first one first.

    A shard that was lost several times may be what its workers died of: it is left to the worker that has the job.
    """
    lost = and_(shards.c.state == "claimed", shards.c.worker.not_in(select(leases.c.worker)))
    whose = shards.c.claims < HELPED if job_id is None else shards.c.job_id == job_id
    return (
        select(shards)
        .join(jobs, jobs.c.id == shards.c.job_id)
        .where(jobs.c.state == "running", jobs.c.cancel.is_(False), jobs.c.kind.in_(kinds), whose)
        .where(jobs.c.id.not_in(without))
        .where(or_(shards.c.state == "open", lost))
        .order_by(jobs.c.seq, shards.c.number)
    )


def _mine(shard: Shard) -> ColumnElement[bool]:
    return and_(
        shards.c.job_id == shard.job_id, shards.c.number == shard.number, shards.c.state == "claimed",
        shards.c.worker == shard.worker, shards.c.claims == shard.claims,
    )  # fmt: skip
