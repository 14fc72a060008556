"""What a run is expected to take, step by step: what the last one of its method and model took in this workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import Connection, select

from engine.errors import UserError
from engine.jobs.course import Course
from engine.json_types import JSONObject, as_number, as_object
from engine.methods.base import parse_parameters
from engine.store.database.schema import jobs, runs

if TYPE_CHECKING:
    from engine.methods.base import Method
    from engine.store.rows import RunRow
    from engine.store.store import Store

SEEN = 5  # newest runs that are looked through for one with times


def course_of(store: Store, row: RunRow, method: Method) -> Course:
    """Return how far a run is to be told by: the steps of the last run like it, else what is planned for it."""
    with store.session.db.read() as connection:
        before, told = steps_before(connection, row), told_before(connection, row)
    if before:
        return Course(before, 0.0, told=told)
    try:
        facts = store.ledger.facts_for(method, row.corpus_id)
        planned = float(method.plan(parse_parameters(method.spec, row.parameters), facts, row.count).seconds)
    except UserError:  # settings of an earlier edition: the run itself says what is wrong with them
        planned = 0.0
    return Course({}, planned, told=told)


def told_before(connection: Connection, row: RunRow) -> JSONObject:
    """Return how far this run was told to be when it was stopped, as `Course.whole` returns it; empty where it begins.

    It may have been resumed as another job.
    """
    own = select(jobs.c.whole).where(jobs.c.kind == "synthesize", jobs.c.run_id == row.id, jobs.c.whole.is_not(None))
    return as_object(connection.execute(own.order_by(jobs.c.seq.desc()).limit(1)).scalar())


def steps_before(connection: Connection, row: RunRow) -> dict[str, float]:
    """Return step -> seconds of the newest finished run with the same method and model, for as many outputs.

    Empty where there is none, or an earlier edition noted no times of it.
    """
    noted = (
        select(jobs.c.whole, runs.c.count.label("outputs"))
        .join(runs, runs.c.id == jobs.c.run_id)
        .where(
            jobs.c.kind == "synthesize", jobs.c.state == "done", jobs.c.whole.is_not(None), runs.c.id != row.id,
            runs.c.method == row.method, runs.c.model == row.model, runs.c.count > 0,
        )
        .order_by(jobs.c.seq.desc())
    )  # fmt: skip
    for one in connection.execute(noted.limit(SEEN)):
        times = as_object(as_object(one.whole).get("times"))
        if times:
            return {name: (as_number(value) or 0.0) * row.count / one.outputs for name, value in times.items()}
    return {}
