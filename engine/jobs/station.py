"""Planning, running and watching: what the plan, run and settings pages ask."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import asdict
from importlib import metadata
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel
from sqlalchemy import select, update

from engine.errors import NotFoundError, UserError
from engine.jobs import launch
from engine.jobs.budget import BudgetStation, find_method
from engine.jobs.prompt_station import PromptStation
from engine.methods.base import Facts, Method, MethodSpec, Plan, parse_parameters
from engine.store import queue
from engine.store.audit import now
from engine.store.base import new_id
from engine.store.runs import run_row
from engine.store.schema import jobs, runs
from engine.store.summaries import corpus_row
from engine.store.views import CorpusSummary, JobView

if TYPE_CHECKING:
    from pydantic import BaseModel

    from engine.dp.guarantee import Guarantee

DEFAULT_COUNT = 500  # outputs of a method that may make any number
LARGEST_COUNT = 1_000_000
NO_LABELS = "The outputs carry no labels, because no list of labels of this corpus has been declared public."
PACKAGES = ("understudy", "torch", "transformers", "presidio-analyzer", "spacy", "pandas", "sqlalchemy")


class JobStation(BudgetStation, PromptStation):
    """What enqueues, cancels and watches jobs."""

    def methods(self) -> tuple[MethodSpec, ...]:
        """Return the specification of every method."""
        from engine.methods import methods

        return tuple(method.spec for method in methods())

    def plan(
        self,
        corpus_id: str,
        method: str,
        *,
        count: int | None = None,
        parameters: Mapping[str, Any] | None = None,
        model: str = "builtin",
    ) -> dict[str, Any]:
        """Return `plan`, `guarantee`, `blockers` (sentences; a run is refused), `warnings` and `what_if`.

        `what_if` is the budget before and after, None without a formal claim and while that is pending.
        """
        known, summary = find_method(method), self.corpus(corpus_id)
        facts = self.facts_for(known, corpus_id)
        values = parse_parameters(known.spec, self._with_domain(known.spec, parameters))
        wanted = self._count(known, facts, count)
        blockers = [*self._blockers(known, summary), *self._model_blockers(known.spec, corpus_id, model)]
        copies = self._copies(corpus_id, values)
        blockers += [copies["refused"]] if copies["refused"] else []
        plan: Plan = known.plan(values, facts, wanted)
        claim, found = self._claim(known, values, facts, corpus_id, model)
        blockers += found
        budget = None if claim.pending or claim.kind != "dp" else self.what_if(corpus_id, claim)
        if budget is not None and not budget["allowed"]:
            blockers.append(budget["sentence"])
        warnings = [*plan.notes, *self._model_warnings(known.spec, model, plan)]
        if known.spec.kind == "dp" and not facts.labels and getattr(values, "label_list", "declared") == "declared":
            warnings.append(NO_LABELS)
        if "spans" in known.spec.needs and summary.span_source == "detected" and not summary.reviewed:
            warnings.append("Nobody has reviewed the detected spans yet; missed ones stay as they are.")
        if copies["sentence"]:
            warnings.append(copies["sentence"])
        if count is not None and count != wanted:
            warnings.append(f"{known.spec.title} makes at most one output a training record: {wanted:,}.")
        return {"plan": plan, "guarantee": claim, "blockers": blockers, "warnings": warnings, "what_if": budget}

    def detect(self, corpus_id: str) -> str:
        """Queue a detection and return its job id; an active one of this corpus is returned instead."""
        settings = self.detector_settings(corpus_id).to_json()
        with self.db.write() as connection:
            corpus_row(connection, corpus_id)
            active = queue.active_jobs(connection, corpus_id=corpus_id, kind="detect")
            job_id = (
                active[0]
                if active
                else queue.enqueue(connection, "detect", corpus_id=corpus_id, arguments={"settings": settings})
            )
        self._wake()
        return job_id

    def synthesize(
        self,
        corpus_id: str,
        method: str,
        *,
        count: int | None = None,
        parameters: Mapping[str, Any] | None = None,
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
        known, summary = find_method(method), self.corpus(corpus_id)
        facts = self.facts_for(known, corpus_id)
        values = parse_parameters(known.spec, self._with_domain(known.spec, parameters))
        wanted = self._count(known, facts, count)
        blockers = [*self._blockers(known, summary), *self._model_blockers(known.spec, corpus_id, model)]
        copies = self._copies(corpus_id, values)
        blockers += [copies["refused"]] if copies["refused"] else []
        promised, found = self._claim(known, values, facts, corpus_id, model)
        if blockers or found:
            raise UserError(" ".join([*blockers, *found]))
        manifest: dict[str, Any] = {"versions": versions(), "seed": int(seed)}
        if known.spec.kind == "dp":
            manifest["labels"] = list(self.public_labels(corpus_id))
        if "generator" in known.spec.needs:
            manifest["model"] = self.model_info(model).as_manifest()
            manifest["prompts"] = self.prompts_manifest()
        fitted = self._marks(known.spec, values, model)
        if fitted:
            manifest["fitted"] = [asdict(mark) for mark in fitted]
        run_id, claim = new_id("r"), promised.as_dict()
        with self.db.write() as connection:
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
                    guarantee=claim,
                    manifest=manifest,
                    revision=row.revision,
                    needs_spans="spans" in known.spec.needs,
                )
            )
            self._reserve_budget(connection, run_id, corpus_id, known.spec.id, claim)
            job_id = queue.enqueue(connection, "synthesize", corpus_id=corpus_id, run_id=run_id)
            connection.execute(update(runs).where(runs.c.id == run_id).values(job_id=job_id))
            self._audit(connection, "run asked for", run_id, corpus=corpus_id, method=known.spec.id, count=wanted)
            if copies["copied"]:
                accepted = copies["accepted"]
                self._audit(
                    connection, "copies accepted", run_id, corpus=corpus_id, copies=copies["copied"], accepted=accepted
                )
        self._wake()
        return run_id

    def examine(self, run_id: str, *, privacy: bool = True, utility: bool = True, model_attacks: bool = True) -> str:
        """Queue the examination of a finished run and return its job id.

        Args:
            run_id: the run. privacy, utility: which halves.
            model_attacks: whether models are trained on the text to be attacked, which takes minutes.
        """
        if not (privacy or utility):
            raise UserError("privacy, utility: at least one must be true")
        with self.db.write() as connection:
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
        self._wake()
        return job_id

    def cancel(self, job_or_run_id: str) -> bool:
        """Cancel a job, or the active jobs of a run; False where nothing was active."""
        with self.db.write() as connection:
            if job_or_run_id.startswith("r-"):
                run_row(connection, job_or_run_id)
                active = queue.active_jobs(connection, run_id=job_or_run_id)
            else:
                _job_row(connection, job_or_run_id)
                active = [job_or_run_id]
            cancelled = sum(queue.cancel(connection, job_id) for job_id in active)
            self._settle(connection)
            return cancelled > 0

    def resume(self, run_id: str) -> str:
        """Continue a cancelled or failed run where it stopped; return the new job's id.

        Raises:
            RefusedError: its budget was given back and does not fit any more.
            UserError: it is done, its spans changed, or its model may not be used any more.
        """
        found = self.run(run_id)
        found_method = find_method(found.method)
        blockers = self._model_blockers(found_method.spec, found.corpus_id, found.model)
        if blockers and found.state not in (*queue.ACTIVE, "done"):
            raise UserError(" ".join(blockers))
        with self.db.write() as connection:
            row = run_row(connection, run_id)
            if row.state in queue.ACTIVE:
                return str(row.job_id)
            if row.state == "done":
                raise UserError("this run is done; there is nothing to resume")
            if found_method.spec.kind == "dp" and "labels" not in (row.manifest or {}):
                raise UserError(
                    "this run was begun by an earlier edition, which took the list of labels from the records; start "
                    "a new run instead"
                )
            if row.needs_spans and row.revision != row.corpus_revision:
                raise UserError("the reviewed spans changed since this run began; start a new run instead")
            self._reserve_budget(connection, run_id, row.corpus_id, row.method, row.guarantee)
            job_id = queue.enqueue(connection, "synthesize", corpus_id=row.corpus_id, run_id=run_id)
            connection.execute(
                update(runs).where(runs.c.id == run_id).values(state="queued", error=None, finished=None, job_id=job_id)
            )
            self._audit(connection, "run resumed", run_id)
        self._wake()
        return job_id

    def job(self, job_id: str) -> JobView:
        """Return one job; starts the worker if it has died."""
        with self.db.read() as connection:
            view = queue.view(_job_row(connection, job_id))
        if view.state in queue.ACTIVE:
            self._wake()
        return view

    def jobs(self, active_only: bool = True) -> list[JobView]:
        """Return jobs, latest first; starts the worker if it has died with work left."""
        with self.db.read() as connection:
            found = list(queue.list_jobs(connection, active_only))
        if any(view.state in queue.ACTIVE for view in found):
            self._wake()
        return found

    def ensure_worker(self) -> bool:
        """Start the worker unless it is at work; return whether it was started."""
        return launch.ensure_worker(self.folder)

    def worker_status(self) -> dict[str, Any]:
        """Return `alive`, `pid`, `heartbeat_age_seconds`, `answering`, `busy` and `queued` (job counts)."""
        with self.db.read() as connection:
            active = list(queue.list_jobs(connection, active_only=True))
        return {
            **launch.worker_status(self.folder),
            "heavy": next((j.id for j in active if j.state == "running" and j.lane == "heavy"), None),
            "light": next((j.id for j in active if j.state == "running" and j.lane == "light"), None),
            "queued": sum(j.state == "queued" for j in active),
        }

    def stop_worker(self) -> bool:
        """Ask the worker to leave after its batch; its jobs resume with the next one."""
        return launch.stop_worker(self.folder)

    def _wake(self) -> None:
        launch.ensure_worker(self.folder)

    def _claim(
        self, method: Method, values: BaseModel, facts: Facts, corpus_id: str, model: str
    ) -> tuple[Guarantee, list[str]]:
        """Return what a run may claim with its models counted in, and why no claim holds with them."""
        claim = self._guarantee_now(method, values, facts)
        try:
            found = self._marks(method.spec, values, model)
        except UserError as error:
            return claim, [] if "generator" in method.spec.needs and not self._knows(model) else [str(error)]
        blockers = self._mark_blockers(method.spec.title, claim, corpus_id, found)
        return (claim if blockers or claim.pending else self._with_marks(claim, corpus_id, found)), blockers

    def _knows(self, model: str) -> bool:
        try:
            self.model_info(model)
        except UserError:
            return False  # `_model_blockers` says so already
        return True

    @staticmethod
    def _count(method: Method, facts: Facts, count: int | None) -> int:
        if count is not None and not 1 <= count <= LARGEST_COUNT:
            raise UserError(f"count: must be from 1 to {LARGEST_COUNT:,}, is {count}")
        if method.spec.one_to_one:
            return min(count or facts.records, facts.records)
        return count or default_count(facts)

    def _copies(self, corpus_id: str, values: BaseModel) -> dict[str, Any]:
        """Return what a run would do with records in which nothing was found, and whether it may.


        Returns:
            `copied` and `accepted` (counts), `refused` and `sentence` (for the plan), empty for other methods.
        """
        from engine.methods.surrogate import SurrogateParameters, copies_refused

        none: dict[str, Any] = {"copied": 0, "accepted": 0, "refused": None, "sentence": ""}
        if not isinstance(values, SurrogateParameters):
            return none
        ids = set(self._frame(corpus_id, "train", ["record_id", "split"])["record_id"])
        without = len(ids - set(self.accepted_spans(corpus_id, "train")["record_id"]))
        if not without:
            return none
        copied = values.without_spans == "copy"
        does = "are copied as they are, which no policy lets leave" if copied else "are left out"
        return {
            "copied": without if copied else 0,
            "accepted": values.copies_accepted,
            "refused": copies_refused(values, without),
            "sentence": f"Records in which nothing was found: {without:,} of {len(ids):,}. They {does}.",
        }

    @staticmethod
    def _blockers(method: Method, summary: CorpusSummary) -> list[str]:
        if "spans" in method.spec.needs and summary.span_source is None:
            return [f"{method.spec.title} needs to know what identifies people: run detection on this corpus first."]
        return []


def default_count(facts: Facts) -> int:
    """Return how many outputs a method makes that may make any number: 500, or N where there are fewer units.

    It depends on nothing but public quantities: the number itself is part of what leaves.
    """
    return min(DEFAULT_COUNT, facts.units)


def versions() -> dict[str, str]:
    """Return the versions a run depends on."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def _job_row(connection: Any, job_id: str) -> Any:
    row = connection.execute(select(jobs).where(jobs.c.id == job_id)).first()
    if row is None:
        raise NotFoundError(f"job {job_id!r} does not exist in this workspace")
    return row
