"""Studies of the workspace: what there is, starting one, what came out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlalchemy import select, update

from engine.errors import NotFoundError, UserError
from engine.jobs.models.language_models import Models
from engine.jobs.models.prompts import Prompts
from engine.json_types import JSON, JSONObject
from engine.store import queue
from engine.store.budget.ledger import Ledger
from engine.store.corpora.corpora import Corpora
from engine.store.corpora.descriptions import Descriptions
from engine.store.database.schema import jobs
from engine.store.disk.folder import remove_tree
from engine.store.rows import AnyRow
from engine.store.session import Session
from engine.store.summaries import corpus_row

if TYPE_CHECKING:
    import pandas as pd

    from engine.studies.base import StudySpec


@dataclass(frozen=True)
class StudyRun:
    """One study that was started; its id is its job's; `done` of `total` counts finished variants.

    prompts: version of the prompt templates it was started with.
    """

    id: str
    study: str
    title: str
    corpus_id: str
    parameters: dict[str, JSON]
    model: str
    seed: int
    state: str
    stage: str
    done: int
    total: int
    created: str
    finished: str | None
    error: str | None
    prompts: str = ""


class Studies:
    """Studies of a workspace: what there is, starting one, what came out."""

    def __init__(self, session: Session, corpora: Corpora, models: Models, prompts: Prompts, ledger: Ledger) -> None:
        self.session = session
        self.corpora = corpora
        self.ledger = ledger
        self.models = models
        self.prompts = prompts

    def all(self) -> tuple[StudySpec, ...]:
        """Return what studies there are."""
        from engine.studies import studies

        return tuple(study.spec for study in studies())

    def start(
        self,
        corpus_id: str,
        study_id: str,
        parameters: JSONObject | None = None,
        *,
        model: str = "builtin",
        seed: int = 0,
    ) -> str:
        """Queue a study and return its job id; its tables are internal.

        Raises:
            UserError: a parameter breaks a rule, spans are needed and missing, or the model may not be used.
        """
        from engine.studies import get_study
        from engine.studies.base import parse

        spec = get_study(study_id).spec
        values = parse(spec, parameters).model_dump(mode="json")
        blockers = self.blockers(corpus_id, study_id, parameters, model=model)
        if blockers:
            raise UserError(" ".join(blockers))
        said = Descriptions(self.session).get(corpus_id)
        arguments = {"study": spec.id, "parameters": values, "model": model, "seed": int(seed),
                     "prompts": self.prompts.manifest("en" if said is None else said.language)}  # fmt: skip
        with self.session.db.write() as connection:
            corpus_row(connection, corpus_id)
            job_id = queue.enqueue(connection, "study", corpus_id=corpus_id, arguments=arguments)
            self.session.write_audit(connection, "study asked for", job_id, corpus=corpus_id, study=spec.id)
        self.session.wake()
        return job_id

    def needs(self, study_id: str, parameters: JSONObject | None = None) -> tuple[str, ...]:
        """Return what a study needs with these parameters, as methods name it: `generator`, `spans`, `train` and so on.

        Raises:
            UserError: a parameter breaks a rule.
        """
        from engine.studies import get_study
        from engine.studies.base import needs_of, parse

        study = get_study(study_id)
        return needs_of(study, parse(study.spec, parameters))

    def blockers(
        self, corpus_id: str, study_id: str, parameters: JSONObject | None = None, *, model: str = "builtin"
    ) -> list[str]:
        """Return why a study cannot start: spans are missing, the model may not be used, or it does not fit the corpus.

        Raises:
            UserError: a parameter breaks a rule.
        """
        from engine.studies import get_study
        from engine.studies.base import parse, refused

        study = get_study(study_id)
        spec, needs = study.spec, self.needs(study_id, parameters)
        holdout = self.corpora.statistics(corpus_id).holdout_records
        found = refused(study, parse(spec, parameters), self.ledger.facts(corpus_id), holdout)
        if "spans" in needs and self.corpora.get(corpus_id).span_source is None:
            found.append(f"{spec.title} needs to know what identifies people: run detection on this corpus first.")
        asked = replace(spec, needs=needs)
        return found + self.models.blockers(asked, corpus_id, model)  # type: ignore[arg-type]  # reads title and needs

    def runs(self, corpus_id: str | None = None) -> list[StudyRun]:
        """Return the studies that were started, latest first."""
        query = select(jobs).where(jobs.c.kind == "study").order_by(jobs.c.seq.desc())
        if corpus_id is not None:
            query = query.where(jobs.c.corpus_id == corpus_id)
        with self.session.db.read() as connection:
            return [_view(row) for row in connection.execute(query)]

    def run(self, job_id: str) -> StudyRun:
        """Return one study that was started."""
        return _view(self._study_row(job_id))

    def results(self, job_id: str) -> dict[str, pd.DataFrame]:
        """Return the tables of a study by name as far as it is; none before its first variant has ended."""
        from engine.studies.task import read_tables, study_folder

        row = self._study_row(job_id)
        return read_tables(study_folder(self.session, row.corpus_id, job_id), int((row.cursor or {}).get("step", 0)))

    def resume(self, job_id: str) -> str:
        """Queue a cancelled or failed study again, to go on after its last finished variant."""
        row = self._study_row(job_id)
        if row.state in queue.ACTIVE:
            return job_id
        if row.state == "done":
            raise UserError("this study is done; there is nothing to resume")
        again = {"state": "queued", "cancel": False, "attempts": 0, "error": None, "finished": None}
        with self.session.db.write() as connection:
            connection.execute(update(jobs).where(jobs.c.id == job_id).values(**again))
            self.session.write_audit(connection, "study resumed", job_id)
        self.session.wake()
        return job_id

    def delete(self, job_id: str) -> None:
        """Delete a study with its tables; what the ledger says about it stays.

        Raises:
            UserError: it is under way.
        """
        from engine.studies.task import study_folder

        row = self._study_row(job_id)
        if row.state in queue.ACTIVE:
            raise UserError("this study is under way; cancel it first")
        with self.session.db.write() as connection:
            connection.execute(jobs.delete().where(jobs.c.id == job_id))
            self.session.write_audit(connection, "study deleted", job_id)
        remove_tree(study_folder(self.session, row.corpus_id, job_id))

    def _study_row(self, job_id: str) -> AnyRow:
        with self.session.db.read() as connection:
            row = connection.execute(select(jobs).where(jobs.c.id == job_id, jobs.c.kind == "study")).first()
        if row is None:
            raise NotFoundError(f"study {job_id!r} does not exist in this workspace")
        return row


def _view(row: AnyRow) -> StudyRun:
    from engine.studies import studies

    titles = {study.spec.id: study.spec.title for study in studies()}
    name = str(row.arguments["study"])
    kept = row.cursor or {}
    return StudyRun(
        row.id, name, titles.get(name, name), row.corpus_id, dict(row.arguments["parameters"]),
        str(row.arguments["model"]), int(row.arguments["seed"]), row.state, row.stage,
        int(kept.get("done", 0)), int(kept.get("total", 0)),
        row.created, row.finished, row.error, str(row.arguments.get("prompts", {}).get("version", "")),
    )  # fmt: skip
