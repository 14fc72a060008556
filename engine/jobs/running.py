"""Planning, running and watching: what the plan, run and settings pages ask."""

from __future__ import annotations

import platform
import secrets
from dataclasses import asdict
from importlib import metadata
from typing import Any

from sqlalchemy import Connection, select, update

from engine.errors import NotFoundError, UserError
from engine.jobs import launch
from engine.jobs.models.prompts import Prompts
from engine.jobs.planning import Planning, find_method
from engine.json_types import JSONObject
from engine.methods.base import parse_parameters
from engine.store import queue
from engine.store.audit import now
from engine.store.corpora.labels import Labels
from engine.store.rows import JobRow, job_of
from engine.store.runs.runs import run_row
from engine.store.schema import jobs, runs
from engine.store.session import new_id
from engine.store.summaries import corpus_row
from engine.store.views import JobView

PACKAGES = ("understudy", "torch", "transformers", "presidio-analyzer", "spacy", "pandas", "sqlalchemy")


class Workload(launch.WorkerStatus):
    """How the worker is, the ids of the jobs it has in its heavy and light lane, and how many wait."""

    heavy: str | None
    light: str | None
    queued: int


class Jobs:
    """Starting, cancelling and watching jobs."""

    def __init__(self, plan: Planning, labels: Labels, prompts: Prompts) -> None:
        self.plan, self.labels, self.prompts = plan, labels, prompts
        self.session, self.corpora, self.review = plan.session, plan.corpora, plan.review
        self.runs, self.ledger, self.models = plan.runs, plan.ledger, plan.models

    def detect(self, corpus_id: str) -> str:
        """Queue a detection and return its job id; an active one of this corpus is returned instead."""
        settings = self.review.detector_settings(corpus_id).to_json()
        with self.session.db.write() as connection:
            corpus_row(connection, corpus_id)
            active = queue.active_jobs(connection, corpus_id=corpus_id, kind="detect")
            job_id = (
                active[0]
                if active
                else queue.enqueue(connection, "detect", corpus_id=corpus_id, arguments={"settings": settings})
            )
        self.session.wake()
        return job_id

    def synthesize(
        self,
        corpus_id: str,
        method: str,
        *,
        count: int | None = None,
        parameters: JSONObject | None = None,
        seed: int = 0,
        model: str = "builtin",
    ) -> str:
        """Queue a run and return its id; a `dp` run reserves its budget at once.

        Where the exact accounting is not there yet, the worker computes it and reserves before it begins.

        Args:
            count: outputs wanted; every training record for a one-to-one method, else 500, or one a unit where there
                are fewer units.
            seed: fixes everything except mechanism noise.
            model: id of a language model, see `language_models`.

        Raises:
            UserError: a parameter breaks a rule, the method needs spans and the corpus has none, or the model lacks
                what the method needs or a consent.
            RefusedError: the budget of the people behind the corpus does not cover the run.
        """
        known, summary = find_method(method), self.corpora.get(corpus_id)
        facts = self.ledger.facts_for(known, corpus_id)
        values = parse_parameters(known.spec, self.plan.with_domain(known.spec, parameters))
        wanted = self.plan.count(known, facts, count)
        blockers = [*self.plan.blockers(known, summary), *self.models.blockers(known.spec, corpus_id, model)]
        copies = self.plan.copies(corpus_id, values)
        blockers += [copies.refused] if copies.refused else []
        promised, found = self.plan.claim(known, values, facts, corpus_id, model)
        if blockers or found:
            raise UserError(" ".join([*blockers, *found]))
        manifest: dict[str, Any] = {"versions": versions(), "seed": int(seed)}
        if known.spec.kind == "dp":
            manifest["labels"] = list(self.labels.public(corpus_id))
        if "generator" in known.spec.needs:
            manifest["model"] = self.models.info(model).as_manifest()
            manifest["prompts"] = self.prompts.manifest()
        fitted = self.models.marks_used(known.spec, values, model)
        if fitted:
            manifest["fitted"] = [asdict(mark) for mark in fitted]
        run_id = new_id("r")
        with self.session.db.write() as connection:
            row = corpus_row(connection, corpus_id)
            connection.execute(
                runs.insert().values(
                    id=run_id,
                    corpus_id=corpus_id,
                    method=known.spec.id,
                    title=known.spec.title,
                    parameters=values.model_dump(mode="json"),
                    seed=int(seed),
                    model=model,
                    count=wanted,
                    state="queued",
                    created=now(),
                    funnel={},
                    diagnostics={},
                    guarantee=promised.as_dict(),
                    manifest=manifest,
                    revision=row.revision,
                    needs_spans="spans" in known.spec.needs,
                )
            )
            self.ledger.reserve(connection, run_id, corpus_id, known.spec.id, promised)
            job_id = queue.enqueue(connection, "synthesize", corpus_id=corpus_id, run_id=run_id)
            connection.execute(update(runs).where(runs.c.id == run_id).values(job_id=job_id))
            self.session.write_audit(
                connection, "run asked for", run_id, corpus=corpus_id, method=known.spec.id, count=wanted
            )
            if copies.copied:
                accepted = copies.accepted
                self.session.write_audit(
                    connection, "copies accepted", run_id, corpus=corpus_id, copies=copies.copied, accepted=accepted
                )
        self.session.wake()
        return run_id

    def again(self, run_id: str) -> str:
        """Start a run once more and return the new run's id.

        One that draws no mechanism noise gets a fresh seed: the old one would write the same text, and whoever examined
        that has examined this one.
        """
        run = self.runs.get(run_id)
        return self.synthesize(
            run.corpus_id,
            run.method,
            count=run.count,
            parameters=run.parameters,
            seed=secrets.randbelow(2**31) if run.guarantee.noiseless else run.seed,
            model=run.model,
        )

    def examine(self, run_id: str, *, privacy: bool = True, utility: bool = True, model_attacks: bool = True) -> str:
        """Queue the examination of a finished run and return its job id.

        Args:
            run_id: the run. privacy, utility: which halves.
            model_attacks: whether models are trained on the text to be attacked, which takes minutes.
        """
        if not (privacy or utility):
            raise UserError("privacy, utility: at least one must be true")
        with self.session.db.write() as connection:
            row = run_row(connection, run_id)
            if row.state in queue.ACTIVE:
                raise UserError("this run is still being made; examine it when it is done")
            if not row.kept:
                raise UserError("this run has no records to examine; run the method again with other settings")
            active = queue.active_jobs(connection, run_id=run_id, kind="examine")
            wanted = {"privacy": privacy, "utility": utility, "model_attacks": model_attacks}
            job_id = (
                active[0]
                if active
                else queue.enqueue(connection, "examine", corpus_id=row.corpus_id, run_id=run_id, arguments=wanted)
            )
        self.session.wake()
        return job_id

    def cancel(self, job_or_run_id: str) -> bool:
        """Cancel a job, or the active jobs of a run; False where nothing was active."""
        with self.session.db.write() as connection:
            if job_or_run_id.startswith("r-"):
                run_row(connection, job_or_run_id)
                active = queue.active_jobs(connection, run_id=job_or_run_id)
            else:
                _job_row(connection, job_or_run_id)
                active = [job_or_run_id]
            cancelled = sum(queue.cancel(connection, job_id) for job_id in active)
            self.ledger.settle(connection)
            return cancelled > 0

    def resume(self, run_id: str) -> str:
        """Continue a cancelled or failed run where it stopped; return the new job's id.

        Raises:
            RefusedError: its budget was given back and does not fit any more.
            UserError: it is done, its spans changed, or its model may not be used any more.
        """
        found = self.runs.get(run_id)
        found_method = find_method(found.method)
        blockers = self.models.blockers(found_method.spec, found.corpus_id, found.model)
        if blockers and found.state not in (*queue.ACTIVE, "done"):
            raise UserError(" ".join(blockers))
        with self.session.db.write() as connection:
            row = run_row(connection, run_id)
            if row.state in queue.ACTIVE:
                return str(row.job_id)
            if row.state == "done":
                raise UserError("this run is done; there is nothing to resume")
            if found_method.spec.kind == "dp" and "labels" not in row.manifest:
                raise UserError(
                    "this run was begun by an earlier edition, which took the list of labels from the records; start "
                    "a new run instead"
                )
            if row.needs_spans and row.revision != row.corpus_revision:
                raise UserError("the reviewed spans changed since this run began; start a new run instead")
            self.ledger.reserve(connection, run_id, row.corpus_id, row.method, row.guarantee)
            job_id = queue.enqueue(connection, "synthesize", corpus_id=row.corpus_id, run_id=run_id)
            connection.execute(
                update(runs).where(runs.c.id == run_id).values(state="queued", error=None, finished=None, job_id=job_id)
            )
            self.session.write_audit(connection, "run resumed", run_id)
        self.session.wake()
        return job_id

    def get(self, job_id: str) -> JobView:
        """Return one job; starts the worker if it has died."""
        with self.session.db.read() as connection:
            view = queue.view(_job_row(connection, job_id))
        if view.state in queue.ACTIVE:
            self.session.wake()
        return view

    def all(self, active_only: bool = True) -> list[JobView]:
        """Return jobs, latest first; starts the worker if it has died with work left."""
        with self.session.db.read() as connection:
            found = list(queue.list_jobs(connection, active_only))
        if any(view.state in queue.ACTIVE for view in found):
            self.session.wake()
        return found

    def ensure_worker(self) -> bool:
        """Start the worker unless it is at work; return whether it was started."""
        return launch.ensure_worker(self.session.folder)

    def worker_status(self) -> Workload:
        """Return how the worker is, the job it has in each lane, and how many wait."""
        with self.session.db.read() as connection:
            active = list(queue.list_jobs(connection, active_only=True))
        worker = launch.worker_status(self.session.folder)
        return {
            "alive": worker["alive"],
            "pid": worker["pid"],
            "heartbeat_age_seconds": worker["heartbeat_age_seconds"],
            "answering": worker["answering"],
            "heavy": next((j.id for j in active if j.state == "running" and j.lane == "heavy"), None),
            "light": next((j.id for j in active if j.state == "running" and j.lane == "light"), None),
            "queued": sum(j.state == "queued" for j in active),
        }

    def stop_worker(self) -> bool:
        """Ask the worker to leave after its batch; its jobs resume with the next one."""
        return launch.stop_worker(self.session.folder)


def versions() -> dict[str, str]:
    """Return the versions a run depends on."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def _job_row(connection: Connection, job_id: str) -> JobRow:
    row = connection.execute(select(jobs).where(jobs.c.id == job_id)).first()
    if row is None:
        raise NotFoundError(f"job {job_id!r} does not exist in this workspace")
    return job_of(row)
