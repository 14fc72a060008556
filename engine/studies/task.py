"""Job `study`: run a study's variants, keep the tables after each, go on from the last finished one.

The tables of step n lie in a folder of their own until the job's cursor says n + 1; a killed worker leaves a whole
step or none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from engine.at_rest import files
from engine.corpus.split import OVER_CAP
from engine.errors import InternalError, UserError
from engine.jobs.worker.task import Stopped, Task
from engine.methods.base import Context
from engine.models.cancel import Cancelled
from engine.store.budget import lines as ledger_lines
from engine.store.budget import reservations
from engine.store.disk.folder import remove_tree
from engine.store.records import read_table, write_table
from engine.store.review.spans import ACCEPTED_COLUMNS
from engine.store.session import Session
from engine.store.summaries import corpus_row

if TYPE_CHECKING:
    from pathlib import Path

    from pydantic import BaseModel

    from engine.studies.base import Study, StudyStep

COLUMNS = ["record_id", "text", "source_id", "label"]
SCRATCH = "scratch"  # below a study's folder: what it keeps between variants, gone when it is done
TOUCHED = "reads private records; its tables are internal and must not leave."


def run(task: Task) -> None:
    """Run the study that the job names until its last variant."""
    from engine.studies import get_study
    from engine.studies.base import StudyContext, parse

    study = get_study(str(task.arguments["study"]))
    parameters = parse(study.spec, task.arguments["parameters"])
    cursor = task.cursor or {"step": 0, "state": None}
    folder = study_folder(task.store.session, task.corpus_id, task.id)
    _touch(task, study)

    def progress(stage: str, done: int, total: int) -> None:
        task.report(stage, done, total)
        task.check()

    holdout = task.store.corpora.frame(task.corpus_id, "holdout", [*COLUMNS, "split"])[COLUMNS]
    spans = pd.DataFrame(columns=ACCEPTED_COLUMNS)
    context = StudyContext(
        run=_context(task, study, parameters),
        holdout=holdout.reset_index(drop=True),
        holdout_spans=task.store.review.accepted_spans(task.corpus_id, "holdout")
        if "spans" in study.spec.needs
        else spans,
        parameters=parameters,
        state=cursor["state"],
        tables=read_tables(folder, cursor["step"]),
        progress=progress,
        scratch=folder / SCRATCH,
        over_cap=task.store.corpora.frame(task.corpus_id, OVER_CAP, [*COLUMNS, "split"])[COLUMNS].reset_index(
            drop=True
        ),
    )
    try:
        for step in study.run(context):
            _keep(task, folder, step, cursor["step"] + 1)
            cursor = {"step": cursor["step"] + 1}
            task.check()
    except Cancelled:
        raise Stopped from None
    if task.cancelled():
        raise Stopped
    remove_tree(folder / SCRATCH)


def study_folder(session: Session, corpus_id: str, job_id: str) -> Path:
    """Return the folder of a study's tables; it goes with its corpus."""
    folder: Path = session.folder.corpus(corpus_id) / "studies" / job_id
    return folder


def read_tables(folder: Path, step: int) -> dict[str, pd.DataFrame]:
    """Return the tables of one step by name; none before the first."""
    files.fetch(folder / str(step))
    return {path.stem: read_table(path) for path in sorted((folder / str(step)).glob("*.parquet"))}


def _keep(task: Task, folder: Path, step: StudyStep, number: int) -> None:
    from engine.studies.base import TABLE_NAME

    new = folder / str(number)
    for name, frame in step.tables.items():
        if not TABLE_NAME.fullmatch(name):
            raise InternalError(f"table name {name!r}: must be lower-case letters, digits and underscores")
        write_table(new / f"{name}.parquet", frame)
    cursor = {"step": number, "state": step.state, "done": step.done, "total": step.total}
    with task.batch(step.stage, step.done, step.total, cursor=cursor):
        pass
    remove_tree(folder / str(number - 1))


def _touch(task: Task, study: Study) -> None:
    """Write once into the ledger that private records are read."""
    if task.cursor is not None:
        return
    with task.batch("getting ready", 0, 1, cursor={"step": 0, "state": None}) as connection:
        population = reservations.population_of(connection, task.corpus_id)
        ledger_lines.write(
            connection, task.store.session.key, task.store.actor, population, "touch", task.id, method=study.spec.id,
            what="study", sentence=f"The study “{study.spec.title}” {TOUCHED}",
            share_after=ledger_lines.last_share(connection, population),
        )  # fmt: skip


def _context(task: Task, study: Study, parameters: BaseModel) -> Context:
    from engine.jobs.tasks.synthesize import training_records
    from engine.models.prompts.templates import with_templates
    from engine.studies.base import needs_of

    needs, store, models = set(needs_of(study, parameters)), task.store, task.models
    kept = task.arguments.get("prompts", {})
    with store.session.db.read() as connection:
        unit = corpus_row(connection, task.corpus_id).unit
    records = training_records(store, task.corpus_id)
    if records.empty:
        raise UserError("the training part of this corpus is empty; import it again with a smaller holdout")
    spans = (
        store.review.accepted_spans(task.corpus_id, "train")
        if "spans" in needs
        else pd.DataFrame(columns=ACCEPTED_COLUMNS)
    )
    model = str(task.arguments.get("model", "builtin"))
    generator: Any = models.generator(model, store.session, task.corpus_id) if "generator" in needs else None
    watch = getattr(generator, "watch", None)
    if watch is not None:
        watch(task.cancelled)
    return Context(
        records=records,
        spans=spans,
        count=0,
        parameters=parameters,
        seed=int(task.arguments.get("seed", 0)),
        unit=unit,
        generator=generator,
        operators=with_templates(models.operators(model, store.session), kept) if "generator" in needs else None,
        embedder=models.embedder() if "embedder" in needs else None,
        detector=models.detector(store.review.detector_settings(task.corpus_id)) if "detector" in needs else None,
        cancelled=task.cancelled,
        surrogate_key=store.corpora.subkey("surrogate"),
        facts=store.ledger.facts(task.corpus_id),
        labels=tuple(sorted(store.labels.counts(task.corpus_id))),
        candidates=_candidates(task, parameters),
    )


def _candidates(task: Task, parameters: BaseModel) -> tuple[tuple[str, str | None], ...]:
    name = str(getattr(parameters, "pool", "") or "")
    return task.store.pools.candidates(name, task.store.pools.get(name).digest) if name else ()
