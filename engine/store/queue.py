"""The job queue's rows: enqueue, claim, progress, cancel, finish, recover.

Privacy posture: `sample` holds up to five of a run's latest outputs and goes with its run; `error`
is a sentence of ours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, case, or_, select, update

from engine.json_types import as_number, as_object
from engine.store.audit import now
from engine.store.database.dialect import clock, insert
from engine.store.database.schema import jobs, leases, runs, shards
from engine.store.rows import JobRow, job_of
from engine.store.session import new_id
from engine.store.views import JobView, Whole

LANES = {
    "profile": "light",
    "detect": "heavy",
    "synthesize": "heavy",
    "examine": "heavy",
    "selftest": "heavy",
    "fetch": "heavy",
    "first texts": "heavy",
    "account": "light",
    "signal": "light",
    "study": "heavy",
    "pool check": "light",
}
ACTIVE = ("queued", "running")
SHORT = ("detect", "selftest", "first texts", "fetch")  # somebody waits for these before the page; they go first
EARLIER = jobs.alias("earlier")
# A detection does not go before work on its own corpus that was asked for earlier: that would read other findings.
FIRST = jobs.c.kind.in_(SHORT) & ~(
    select(EARLIER.c.seq).where(
        EARLIER.c.corpus_id == jobs.c.corpus_id, EARLIER.c.state == "queued", EARLIER.c.lane == jobs.c.lane,
        EARLIER.c.seq < jobs.c.seq, EARLIER.c.kind.not_in(SHORT),
    ).correlate(jobs).exists()
)  # fmt: skip
TURN = (case((FIRST, 0), else_=1), jobs.c.seq)
EXAMINE = "examine"  # argument of a job that makes a run: examine it when it is done
MAX_ATTEMPTS = 5
LEASE_SECONDS = 120.0  # a worker that did not say for so long that it lives is taken for dead
GIVEN_UP = (
    f"The worker stopped {MAX_ATTEMPTS} times at the same place without getting further. "
    "The machine may be short of memory; try a smaller count, then start it again."
)


def enqueue(
    connection: Connection,
    kind: str,
    *,
    corpus_id: str | None = None,
    run_id: str | None = None,
    arguments: Mapping[str, object] | None = None,
) -> str:
    """Add a job and return its id."""
    identifier = new_id("j")
    connection.execute(
        jobs.insert().values(
            id=identifier,
            kind=kind,
            lane=LANES[kind],
            state="queued",
            created=now(),
            sample=[],
            arguments=arguments or {},
            corpus_id=corpus_id,
            run_id=run_id,
        )
    )
    return identifier


def active_jobs(
    connection: Connection, *, corpus_id: str | None = None, run_id: str | None = None, kind: str | None = None
) -> list[str]:
    """Return the ids of queued and running jobs of a corpus, a run or a kind."""
    query = select(jobs.c.id).where(jobs.c.state.in_(ACTIVE)).order_by(jobs.c.seq)
    for column, value in ((jobs.c.corpus_id, corpus_id), (jobs.c.run_id, run_id), (jobs.c.kind, kind)):
        if value is not None:
            query = query.where(column == value)
    return list(connection.execute(query).scalars())


def claim(connection: Connection, lane: str, worker: str | None = None) -> JobRow | None:
    """Take the next queued job of a lane; one restarted too often without progress fails instead.

    One whose worker died after it was asked to stop is not begun again: it ends as cancelled.

    Others may claim at the same moment: each gets another job, and none waits for another.

    Args:
        connection: in a transaction that writes. worker: that takes it; its lease holds the job (`beat`).
    """
    while True:
        row = connection.execute(
            select(jobs)
            .where(jobs.c.state == "queued", jobs.c.lane == lane)
            .order_by(*TURN)
            .limit(1)
            .with_for_update(skip_locked=True, of=jobs)
        ).first()
        if row is None:
            return None
        if row.cancel:
            finish(connection, row.id, "cancelled")
            continue
        if row.attempts >= MAX_ATTEMPTS:
            finish(connection, row.id, "failed", GIVEN_UP)
            continue
        at = now()
        connection.execute(
            update(jobs)
            .where(jobs.c.id == row.id)
            .values(state="running", started=row.started or at, heartbeat=at, attempts=row.attempts + 1, worker=worker)
        )
        if row.kind == "synthesize" and row.run_id:
            run = connection.execute(select(runs.c.started).where(runs.c.id == row.run_id)).first()
            connection.execute(
                update(runs)
                .where(runs.c.id == row.run_id)
                .values(state="running", started=(run.started if run else None) or at)
            )
        return job_of(connection.execute(select(jobs).where(jobs.c.id == row.id)).one())


def beat(connection: Connection, worker: str, place: str) -> None:
    """Say that a worker lives: what it has taken is its own for `LEASE_SECONDS` from now."""
    until = clock() + LEASE_SECONDS
    statement = insert(connection, leases).values(worker=worker, place=place, until=until)
    connection.execute(statement.on_conflict_do_update(index_elements=["worker"], set_={"until": until}))


def leave(connection: Connection, worker: str) -> None:
    """End a worker's lease."""
    connection.execute(leases.delete().where(leases.c.worker == worker))


def recover(connection: Connection, place: str | None = None) -> list[str]:
    """Put the running jobs of dead workers back into the queue and return their ids.

    Args:
        connection: in a transaction that writes. place: where no worker lives, as its lock says, whatever its lease.
    """
    over = leases.c.until < clock()
    connection.execute(leases.delete().where(over if place is None else or_(over, leases.c.place == place)))
    nobodys = or_(jobs.c.worker.is_(None), jobs.c.worker.not_in(select(leases.c.worker)))
    query = select(jobs.c.id).where(jobs.c.state == "running", nobodys).order_by(jobs.c.seq)
    found = list(connection.execute(query.with_for_update(skip_locked=True, of=jobs)).scalars())
    if found:
        connection.execute(
            update(jobs).where(jobs.c.id.in_(found)).values(state="queued", seconds_left=None, worker=None)
        )
    return found


def put_back(connection: Connection, job_id: str, worker: str) -> None:
    """Put a running job of a worker back into the queue; the next one that takes it goes on where it was.

    The worker lives on: what it has claimed of the job's shards waits for anyone again, itself too.
    """
    mine = (jobs.c.id == job_id) & (jobs.c.state == "running") & (jobs.c.worker == worker)
    connection.execute(update(jobs).where(mine).values(state="queued", seconds_left=None, worker=None))
    claimed = (shards.c.job_id == job_id) & (shards.c.worker == worker) & (shards.c.state == "claimed")
    connection.execute(update(shards).where(claimed).values(state="open", worker=None, reached=0))


def progress(connection: Connection, job_id: str, *, worker: str | None = None, **values: object) -> bool:
    """Write stage, done, total, seconds_left, sample or cursor of a running job; False if it is gone.

    worker: that has it; nothing is written where another took it meanwhile. None asks for nobody.
    """
    mine = (jobs.c.id == job_id) & (jobs.c.state == "running")
    mine = mine if worker is None else mine & (jobs.c.worker == worker)
    return bool(connection.execute(update(jobs).where(mine).values(heartbeat=now(), **values)).rowcount)


def finish(
    connection: Connection, job_id: str, state: str, error: str | None = None, *, worker: str | None = None
) -> bool:
    """End a job, and the run it makes, as done, failed or cancelled; False if it had ended before.

    worker: that has it; nothing ends where another took it meanwhile. None asks for nobody.
    """
    row = connection.execute(select(jobs).where(jobs.c.id == job_id)).first()
    if row is None or row.state not in ACTIVE or (worker is not None and row.worker != worker):
        return False
    at = now()
    connection.execute(
        update(jobs)
        .where(jobs.c.id == job_id)
        .values(state=state, finished=at, heartbeat=at, error=error, seconds_left=0.0 if state == "done" else None)
    )
    connection.execute(shards.delete().where(shards.c.job_id == job_id))
    if row.kind == "synthesize" and row.run_id:
        connection.execute(update(runs).where(runs.c.id == row.run_id).values(state=state, finished=at, error=error))
        kept = connection.execute(select(runs.c.kept).where(runs.c.id == row.run_id)).scalar()
        if state == "done" and kept and row.arguments.get(EXAMINE):
            wanted = {"privacy": True, "utility": True, "model_attacks": True}
            enqueue(connection, "examine", corpus_id=row.corpus_id, run_id=row.run_id, arguments=wanted)
    return True


def cancel(connection: Connection, job_id: str) -> bool:
    """Cancel a queued job at once, ask a running one to stop after its batch; False if it had ended."""
    row = connection.execute(select(jobs.c.state).where(jobs.c.id == job_id)).first()
    if row is None or row.state not in ACTIVE:
        return False
    if row.state == "queued":
        return finish(connection, job_id, "cancelled")
    connection.execute(update(jobs).where(jobs.c.id == job_id).values(cancel=True))
    return True


def cancelled(connection: Connection, job_id: str, worker: str | None = None) -> bool:
    """Say whether a running job was asked to stop, does not exist any more, or is not this worker's any more."""
    row = connection.execute(select(jobs.c.cancel, jobs.c.state, jobs.c.worker).where(jobs.c.id == job_id)).first()
    return row is None or bool(row.cancel) or row.state != "running" or row.worker != worker


def view(row: JobRow) -> JobView:
    """Return the public form of a job row."""
    return JobView(
        id=row.id,
        kind=row.kind,
        lane=row.lane,
        state=row.state,
        stage=row.stage,
        done=row.done,
        total=row.total,
        seconds_left=row.seconds_left,
        created=row.created,
        started=row.started,
        finished=row.finished,
        error=row.error,
        sample=tuple(row.sample),
        attempts=row.attempts,
        corpus_id=row.corpus_id,
        run_id=row.run_id,
        whole=None if row.whole is None else Whole(**as_object(row.whole)),  # type: ignore[arg-type]
        stopping=row.cancel and row.state == "running",
        kept=int(as_number(as_object(row.cursor).get("kept")) or 0),
    )


def turns(connection: Connection, lane: str | None = None) -> list[JobView]:
    """Return waiting and running jobs in the order of their turns, those at work first."""
    query = select(jobs).where(jobs.c.state.in_(ACTIVE))
    if lane is not None:
        query = query.where(jobs.c.lane == lane)
    rows = connection.execute(query.order_by(case((jobs.c.state == "running", 0), else_=1), *TURN))
    return [view(job_of(row)) for row in rows]


def before(connection: Connection, job_id: str) -> list[JobView]:
    """Return what a waiting job of a lane waits for: the running one, then those whose turn comes first."""
    own = connection.execute(select(jobs.c.lane, jobs.c.state).where(jobs.c.id == job_id)).first()
    if own is None or own.state != "queued":
        return []
    found = turns(connection, own.lane)
    return found[: [job.id for job in found].index(job_id)]


def list_jobs(connection: Connection, active_only: bool) -> Sequence[JobView]:
    """Return jobs, latest first."""
    query = select(jobs).order_by(jobs.c.seq.desc())
    if active_only:
        query = query.where(jobs.c.state.in_(ACTIVE))
    return [view(job_of(row)) for row in connection.execute(query)]
