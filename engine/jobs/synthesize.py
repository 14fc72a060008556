"""Job `synthesize`: run a method from its last committed state.

Each step's state, records and funnel go into the database in one transaction. Record ids follow
from the position within the run, so an interrupted run's ids and count equal an uninterrupted one's.
"""

from __future__ import annotations

import hmac
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd
from sqlalchemy import Connection, select, update

from engine.jobs.task import Stopped, Task
from engine.methods.base import Context, Step, parse_parameters
from engine.store.runs import run_row
from engine.store.schema import runs, synthetic
from engine.store.spans import ACCEPTED_COLUMNS
from engine.store.summaries import corpus_row

if TYPE_CHECKING:
    from engine.methods.base import Method

COLUMNS = ["record_id", "text", "source_id", "label"]


def run(task: Task) -> None:
    """Make synthetic records until the run is complete."""
    from engine.methods import get_method

    with task.store.db.read() as connection:
        row = run_row(connection, task.run_id)
        unit = corpus_row(connection, row.corpus_id).unit
    method = get_method(row.method)
    position, begun = row.kept, time.monotonic()
    for step in method.run(_context(task, row, unit, method)):
        seconds, begun = time.monotonic() - begun, time.monotonic()
        cursor = {"records": position + len(step.records)}
        sample = [r.text for r in step.records]
        with task.batch(step.stage, step.done, step.total, cursor=cursor, sample=sample[-5:]) as connection:
            _commit(connection, task.run_id, position, step, seconds)
        position += len(step.records)
        task.check()
    if task.cancelled():
        raise Stopped


def _context(task: Task, row: Any, unit: str, method: Method) -> Context:
    needs, store = set(method.spec.needs), task.store
    records = keyed_order(store._frame(task.corpus_id, "train", [*COLUMNS, "split"]), store._subkey("order"))
    if "spans" in needs:
        spans = store.accepted_spans(task.corpus_id, "train")
    else:
        spans = pd.DataFrame(columns=ACCEPTED_COLUMNS)
    models = task.models
    return Context(
        records=records[COLUMNS],
        spans=spans,
        count=row.count,
        parameters=parse_parameters(method.spec, row.parameters),
        seed=row.seed,
        unit=unit,
        state=row.state_json,
        generator=models.generator(row.model) if "generator" in needs else None,
        operators=models.operators(row.model) if "generator" in needs else None,
        embedder=models.embedder() if "embedder" in needs else None,
        detector=models.detector(store.detector_settings(task.corpus_id)) if "detector" in needs else None,
        cancelled=task.cancelled,
        surrogate_key=store._subkey("surrogate"),
    )


def keyed_order(records: pd.DataFrame, key: bytes) -> pd.DataFrame:
    """Return the records ordered by a keyed hash of their id: an order that says nothing about the file's."""
    rank = [hmac.new(key, b"order\0" + str(i).encode(), "sha256").digest() for i in records["record_id"]]
    order = sorted(range(len(rank)), key=rank.__getitem__)
    return records.iloc[order].reset_index(drop=True)


def added(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Return the diagnostics of a run so far: numbers add up, also inside mappings; other values are replaced."""
    result = dict(old)
    for name, value in new.items():
        before = result.get(name)
        if isinstance(value, Mapping):
            result[name] = added(before if isinstance(before, Mapping) else {}, value)
        elif isinstance(value, int | float) and isinstance(before, int | float) and not isinstance(value, bool):
            result[name] = before + value
        else:
            result[name] = value
    return result


def _commit(connection: Connection, run_id: str, position: int, step: Step, seconds: float) -> None:
    row = connection.execute(
        select(runs.c.kept, runs.c.funnel, runs.c.diagnostics, runs.c.seconds).where(runs.c.id == run_id)
    ).first()
    if row is None or row.kept != position:
        raise Stopped  # the run was deleted, or another worker was here
    if step.records:
        connection.execute(
            synthetic.insert(),
            [
                {
                    "run_id": run_id,
                    "position": position + i,
                    "record_id": f"s-{position + i + 1:06d}",
                    "text": record.text,
                    "label": record.label,
                    "lineage": record.lineage,
                }
                for i, record in enumerate(step.records)
            ],
        )
    funnel = dict(row.funnel)
    for stage, n in step.funnel.items():
        funnel[stage] = funnel.get(stage, 0) + int(n)
    connection.execute(
        update(runs)
        .where(runs.c.id == run_id)
        .values(
            kept=position + len(step.records),
            funnel=funnel,
            diagnostics=added(row.diagnostics, step.diagnostics),
            state_json=dict(step.state),
            seconds=row.seconds + seconds,
        )
    )
