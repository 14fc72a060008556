"""Job `synthesize`: run a method from its last committed state.

Each step's state, records and funnel go into the database in one transaction. Record ids follow
from the position within the run, so an interrupted run's ids and count equal an uninterrupted one's.

A method of kind `dp` sees no record: it gets an empty table and mechanisms bound to the training part, whose
outputs and ledger lines are stored before the method gets them. The budget is reserved before it begins.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
from sqlalchemy import Connection, select

from engine.at_rest import files
from engine.corpus.keyed import keyed_order
from engine.dp.guarantee import Guarantee
from engine.errors import UserError
from engine.jobs.models.cache import ENDPOINT, ModelCache
from engine.jobs.models.catalogued import catalogue
from engine.jobs.models.marks import counted, mark_tuned, marks_used, population_now
from engine.jobs.tasks.run_course import course_of
from engine.jobs.worker.private import mechanisms
from engine.jobs.worker.sharing import others
from engine.jobs.worker.spreading import Pieces
from engine.jobs.worker.task import Stopped, Task
from engine.jobs.worker.used import Used
from engine.json_types import JSON, JSONObject, as_list, as_object
from engine.methods.base import Context, Spread, Spreading, Step, parse_parameters
from engine.methods.label_list import with_labels
from engine.methods.readable import run as run_readable
from engine.store.database.schema import runs
from engine.store.disk.folder import file_errors, remove_tree
from engine.store.review.spans import ACCEPTED_COLUMNS
from engine.store.rows import RunRow
from engine.store.runs import chained, choosable, held
from engine.store.runs.runs import run_row
from engine.store.summaries import corpus_row

if TYPE_CHECKING:
    from pydantic import BaseModel

    from engine.methods.base import Method
    from engine.models.contracts import Operators
    from engine.store.store import Store

TRACES, TUNED = "traces", "tuned"  # below a run's scratch folder: what stays after it
LOSS_WATCHED = (
    "Each training step's loss is computed on private records and shown inside. It is outside the guarantee, is not "
    "accounted for, and must stay inside."
)
COLUMNS = ["record_id", "text", "source_id", "label"]


def run(task: Task) -> None:
    """Make synthetic records until the run is complete."""
    from engine.methods import get_method

    with task.store.session.db.read() as connection:
        row = run_row(connection, task.run_id)
        held.demand_asked(task.store.session, connection, task.run_id)
    method = get_method(row.method)
    claim = _reserved(task, row, method)
    position, begun = row.kept, time.monotonic()
    task.follow(course_of(task.store, row, method))
    pieces = Pieces(task, _shared(task, row, method))
    context = _context(task, row, method, claim, pieces)
    used = Used(context.generator, task)
    for step in used.watched(run_readable(method, context)):
        seconds, begun = time.monotonic() - begun, time.monotonic()
        cursor = pieces.cursor(position + len(step.records))
        sample = [r.text for r in step.records]
        if step.snapshot is not None:
            shot = step.snapshot
            task.store.examinations.save_snapshot(
                task.run_id, int(shot["iteration"]), shot["texts"], shot.get("labels")
            )
        with task.batch(step.stage, step.done, step.total, cursor=cursor, sample=sample[-5:]) as connection:
            _commit(connection, task.store.session.key, task.run_id, position, step, seconds, used.since())
            pieces.end(connection)
        position += len(step.records)
        task.check()
    if task.cancelled():
        raise Stopped
    _keep_parts(task)
    remove_tree(task.store.folder.scratch(task.run_id))


def _keep_parts(task: Task) -> None:
    """Move notes of a method's tries, and the model it tuned, to the run's folder: internal, gone with the run."""
    for part in (TRACES, TUNED):
        made = task.store.folder.scratch(task.run_id) / part
        kept = task.store.folder.run(task.run_id) / part
        if made.is_dir() and not kept.exists():
            with file_errors():
                made.rename(kept)
        files.settle(kept)  # also where a kill came between the two


def _reserved(task: Task, row: RunRow, method: Method) -> Guarantee:
    """Return the run's guarantee with its budget reserved, or its use of private records written down.

    Raises:
        RefusedError: the budget does not cover the run.
    """
    store, claim = task.store, row.guarantee
    if claim.pending:
        task.report("account", 0, 1)
        values = parse_parameters(method.spec, row.parameters)
        claim = store.ledger.promise(
            method, values, store.ledger.facts_for(method, task.corpus_id, _labels(task, row, method)), wait=True
        )
        own, found = population_now(
            store.session, task.corpus_id, marks_used(store.session, method.spec, values, row.model)
        )
        claim = counted(claim, found, own)
    with store.session.db.write() as connection:
        if run_row(connection, task.run_id).guarantee.pending:
            chained.account(store.session, connection, task.run_id, claim.as_dict())
        store.ledger.reserve(connection, task.run_id, task.corpus_id, row.method, claim)
        if method.spec.kind != "dp":
            store.ledger.touch(connection, task.run_id, "run", _touched(method), once=True)
        elif getattr(parse_parameters(method.spec, row.parameters), "watch_loss", False):
            store.ledger.touch(connection, task.run_id, "training loss", LOSS_WATCHED, once=True)
    return claim


def _touched(method: Method) -> str:
    if method.spec.kind == "selection-only":
        return (
            f"{method.spec.title} reads private records; only its choice among candidates is noisy. "
            "Its output has no formal guarantee and must stay inside."
        )
    return f"{method.spec.title} reads private records without a formal guarantee; its output must stay inside."


def _shared(task: Task, row: RunRow, method: Method) -> bool:
    """Say whether others may make pieces of a run: not where a server writes, which one worker keeps busy."""
    served = "generator" in method.spec.needs and row.model.startswith(ENDPOINT)
    seen = not task.store.session.db.is_file or (task.crew is not None and task.crew.sees_workspace)
    return others(task) and isinstance(method, Spreading) and not served and (seen or bare(row))


def bare(row: RunRow) -> bool:
    """Say whether texts of a run can be written without its workspace: from public and paid inputs with a model."""
    from engine.methods import get_method

    spec = get_method(row.method).spec
    fitted = "train" in spec.needs or row.parameters.get("tuning", "none") != "none"
    return spec.kind == "dp" and not fitted and not row.model.startswith(ENDPOINT)


def public_context(store: Store, models: ModelCache, row: RunRow, method: Method) -> Context:
    """Return what any worker may know of a run: its settings and models, and records where the method reads them.

    Nothing of it is bound to a mechanism, and a method of kind `dp` gets no record.
    """
    needs, private = set(method.spec.needs), method.spec.kind == "dp"
    with store.session.db.read() as connection:
        corpus = corpus_row(connection, row.corpus_id)
    spans = pd.DataFrame(columns=ACCEPTED_COLUMNS)
    if "spans" in needs and not private:
        spans = store.review.accepted_spans(row.corpus_id, "train", as_told=True)
    generator = models.generator(row.model, store.session, row.corpus_id, needs) if "generator" in needs else None
    return Context(
        records=pd.DataFrame(columns=COLUMNS) if private else training_records(store, row.corpus_id),
        spans=spans,
        count=row.count,
        parameters=parse_parameters(method.spec, row.parameters),
        seed=row.seed,
        unit=corpus.unit,
        state=row.state_json,
        generator=generator,
        operators=_operators(store, models, row) if "generator" in needs else None,
        embedder=models.embedder() if "embedder" in needs else None,
        detector=models.detector(store.review.detector_settings(row.corpus_id)) if "detector" in needs else None,
        surrogate_key=store.corpora.subkey("surrogate"),
        batch_size=getattr(generator, "texts_a_call", Context.batch_size),
    )


def _context(task: Task, row: RunRow, method: Method, claim: Guarantee, spread: Spread) -> Context:
    needs, store, private = set(method.spec.needs), task.store, method.spec.kind == "dp"
    labels = _labels(task, row, method)
    facts = store.ledger.facts_for(method, task.corpus_id, labels)
    known = public_context(store, task.models, row, method)
    values = known.parameters
    context = replace(
        known,
        cancelled=task.cancelled,
        progress=task.report,
        spread=spread,
        mechanisms=mechanisms(
            task,
            training_records(store, task.corpus_id) if private else known.records,
            unit=known.unit,
            cap=facts.cap,
            adjacency=claim.adjacency or "zero-out",
            bound=private and bool(claim.events),
        ),
        facts=facts,
        labels=labels,
        guarantee=claim,
        candidates=_candidates(task, values) if "pool" in needs else (),
        runs=_runs(task, values) if "runs" in needs else (),
        scratch=_scratch(task),
        saved=partial(_mark, task, row, method),
    )
    return with_labels(context)


def _candidates(task: Task, values: BaseModel) -> tuple[tuple[str, str | None], ...]:
    """Return the pool that a run was asked for with, whole and unchanged."""
    promise = getattr(values, "promise", None)
    if promise is None:
        raise UserError("this run names no pool; start a new one with a pool")
    return task.store.pools.candidates(promise.name, promise.digest)


def _runs(task: Task, values: BaseModel) -> tuple[tuple[tuple[str, str | None], ...], ...]:
    """Return the outputs of the runs that a choice was asked for among."""
    promise = getattr(values, "promise", None)
    if promise is None:
        raise UserError("this choice names no runs; ask for a new one")
    return choosable.texts(task.store.session, promise.runs)


def _labels(task: Task, row: RunRow, method: Method) -> tuple[str, ...]:
    """Return the labels that a run knows: under a formal claim the list as it was declared when the run was asked for.

    Raises:
        UserError: an earlier edition asked for the run.
    """
    if method.spec.kind != "dp":
        return tuple(sorted(task.store.labels.counts(task.corpus_id)))
    if "labels" not in row.manifest:
        raise UserError(
            "this run was begun by an earlier edition, which took the list of labels from the records; start a new "
            "run instead"
        )
    return tuple(str(label) for label in as_list(row.manifest["labels"]))


def _mark(task: Task, row: RunRow, method: Method, folder: Path) -> None:
    """Mark weights that the run fitted, wherever they go from here."""
    from engine.models.builtin.shipped import lm_folder

    store, values = task.store, parse_parameters(method.spec, row.parameters)
    given = str(getattr(values, "tuned_model", "") or "")
    start = Path(given).expanduser() if given else Path(catalogue(store.session).info(row.model).where)
    base = marks_used(store.session, method.spec, values, row.model)
    mark_tuned(store.session, task.run_id, folder, base, [lm_folder(), start])


def _scratch(task: Task) -> Path:
    """Return a folder, owner-only, for what a killed run goes on from: weights in training are private text."""
    path: Path = task.store.folder.scratch(task.run_id)
    with file_errors():
        for folder in (path.parent, path):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path


def _operators(store: Store, models: ModelCache, row: RunRow) -> Operators:
    """Return the run's prompt formats, with the templates and the language it was started with."""
    from engine.models.prompts.templates import with_templates

    return with_templates(models.operators(row.model, store.session), as_object(row.manifest.get("prompts")))


def training_records(store: Store, corpus_id: str) -> pd.DataFrame:
    """Return the training part with the columns of `COLUMNS`, in an order that says nothing about the file's."""
    records = store.corpora.frame(corpus_id, "train", [*COLUMNS, "split"])
    order = keyed_order(store.corpora.subkey("order"), "order", [str(i) for i in records["record_id"]])
    return records.iloc[order].reset_index(drop=True)[COLUMNS]


def added(old: JSONObject, new: JSONObject) -> dict[str, JSON]:
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


def _commit(
    connection: Connection, key: bytes, run_id: str, position: int, step: Step, seconds: float, used: JSONObject
) -> None:
    columns = (runs.c.id, runs.c.kept, runs.c.funnel, runs.c.diagnostics, runs.c.seconds, runs.c.state_json)
    row = connection.execute(select(*columns, runs.c.sealed).where(runs.c.id == run_id)).first()
    if row is None or row.kept != position:
        raise Stopped  # the run was deleted, or another worker was here
    rows = [
        {
            "run_id": run_id,
            "position": position + i,
            "record_id": f"s-{position + i + 1:06d}",
            "text": record.text,
            "label": record.label,
            "lineage": record.lineage,
        }
        for i, record in enumerate(step.records)
    ]
    funnel = dict(row.funnel)
    for stage, n in step.funnel.items():
        funnel[stage] = funnel.get(stage, 0) + int(n)
    values: dict[str, object] = {
        "kept": position + len(rows),
        "funnel": funnel,
        "diagnostics": added(added(row.diagnostics, step.diagnostics), used),
        "state_json": dict(step.state),
        "seconds": row.seconds + seconds,
    }
    chained.grow(connection, key, row, rows, values)
