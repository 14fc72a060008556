"""Planning, running and watching: what the plan, run and settings pages ask."""

from __future__ import annotations

import platform
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib import metadata
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, select, update

from engine.errors import NotFoundError, RefusedError, UserError
from engine.examine.expected import Sizes, parts
from engine.jobs.drafts import Copies
from engine.jobs.models import embedder_choice
from engine.jobs.models.prompts import Prompts
from engine.jobs.planning import Planning, find_method
from engine.jobs.sweeps import MOST as MOST_SWEPT
from engine.jobs.sweeps import Wanted
from engine.jobs.worker import launch
from engine.json_types import JSONObject
from engine.methods.base import parse_parameters
from engine.methods.choice.method import blockers as choice_blockers
from engine.methods.select.method import blockers as pool_blockers
from engine.store import queue
from engine.store.audit import now
from engine.store.corpora.labels import Labels
from engine.store.database.schema import jobs, runs
from engine.store.rows import JobRow, job_of
from engine.store.runs import chained, held, kept_parts
from engine.store.runs.runs import run_row
from engine.store.session import new_id
from engine.store.summaries import corpus_row
from engine.store.views import JobView

if TYPE_CHECKING:
    from pydantic import BaseModel

    from engine.dp.guarantee import Guarantee
    from engine.methods.base import MethodSpec

PACKAGES = ("understudy", "torch", "transformers", "presidio-analyzer", "spacy", "pandas", "sqlalchemy")


class Workload(launch.WorkerStatus):
    """How the worker is, the ids of the jobs it has in its heavy and light lane, and how many wait."""

    heavy: str | None
    light: str | None
    queued: int


@dataclass(frozen=True)
class _Prepared:
    """A run that was found to be allowed, with all that its row holds."""

    wanted: Wanted
    spec: MethodSpec
    values: BaseModel
    count: int
    promised: Guarantee
    manifest: Mapping[str, Any]
    copies: Copies


class Jobs:
    """Starting, cancelling and watching jobs."""

    def __init__(self, plan: Planning, labels: Labels, prompts: Prompts) -> None:
        self.plan, self.labels, self.prompts = plan, labels, prompts
        self.session, self.corpora, self.review = plan.session, plan.corpora, plan.review
        self.runs, self.ledger, self.models = plan.runs, plan.ledger, plan.models

    def detect(self, corpus_id: str) -> str:
        """Queue a detection and return its job id; an active one of this corpus by the same settings instead.

        Raises:
            UserError: one by other settings is at work already.
        """
        asked: JSONObject = {"settings": self.review.detector_settings(corpus_id).to_json()}
        with self.session.db.write() as connection:
            corpus_row(connection, corpus_id)
            active = queue.active_jobs(connection, corpus_id=corpus_id, kind="detect")
            job_id = next((one for one in active if _joined(connection, one, asked)), None) or queue.enqueue(
                connection, "detect", corpus_id=corpus_id, arguments=asked
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
        wanted = Wanted(method, parameters or {}, count, seed, model)
        return self._queue(corpus_id, [self._prepared(corpus_id, wanted)], examine=False)[0]

    def sweep(self, corpus_id: str, wanted: Sequence[Wanted], *, examine: bool = False) -> list[str]:
        """Queue several runs as one and return their ids, in order: all of them, or none.

        Args:
            corpus_id: whose records. wanted: the runs; see `engine.jobs.sweeps.grid`.
            examine: whether each is examined when it is done.

        Raises:
            UserError: as `synthesize`, or an exact accounting is not there yet.
            RefusedError: the budget does not cover them all; nothing is reserved.
        """
        if not 1 <= len(wanted) <= MOST_SWEPT:
            raise UserError(f"runs: must be from 1 to {MOST_SWEPT}, are {len(wanted)}")
        prepared = [self._prepared(corpus_id, one) for one in wanted]
        if any(one.promised.pending for one in prepared):
            raise UserError("the exact accounting of these runs is still being computed; start them when it is there")
        formal = [one.promised for one in prepared if one.promised.kind == "dp"]
        together = self.ledger.what_if_all(corpus_id, formal)
        if not together.allowed:
            raise RefusedError(together.sentence)
        return self._queue(corpus_id, prepared, examine=examine)

    def _prepared(self, corpus_id: str, wanted: Wanted) -> _Prepared:
        """Return a run that may be queued.

        Raises:
            UserError: it may not.
        """
        known, summary = find_method(wanted.method), self.corpora.get(corpus_id)
        facts = self.ledger.facts_for(known, corpus_id)
        values = parse_parameters(known.spec, self.plan.completed(known.spec, dict(wanted.parameters), corpus_id))
        count = self.plan.count(known, facts, wanted.count)
        blockers = [*self.plan.blockers(known, summary), *self.models.blockers(known.spec, corpus_id, wanted.model)]
        copies = self.plan.copies(corpus_id, values)
        blockers += [copies.refused] if copies.refused else []
        blockers += [*pool_blockers(values, count), *choice_blockers(values, count)]
        promised, found = self.plan.claim(known, values, facts, corpus_id, wanted.model)
        if blockers or found:
            raise UserError(" ".join([*blockers, *found]))
        manifest: dict[str, Any] = {"versions": versions(), "seed": int(wanted.seed)}
        if known.spec.kind == "dp":
            manifest["labels"] = list(self.labels.public(corpus_id))
        if "generator" in known.spec.needs:
            manifest["model"] = self.models.info(wanted.model).as_manifest()
            manifest["prompts"] = self.prompts.manifest(self.plan.language(corpus_id))
        fitted = self.models.marks_used(known.spec, values, wanted.model)
        if fitted:
            manifest["fitted"] = [asdict(mark) for mark in fitted]
        return _Prepared(wanted, known.spec, values, count, promised, manifest, copies)

    def _queue(self, corpus_id: str, prepared: Sequence[_Prepared], *, examine: bool) -> list[str]:
        """Reserve and queue runs in one transaction, so that all or none are."""
        made = self.session.db.retried(lambda c: [self._insert(c, corpus_id, one, examine) for one in prepared])
        self.session.wake()
        return made

    def _insert(self, connection: Connection, corpus_id: str, one: _Prepared, examine: bool) -> str:
        run_id, spec = new_id("r"), one.spec
        values: dict[str, Any] = {
            "id": run_id,
            "corpus_id": corpus_id,
            "method": spec.id,
            "title": spec.title,
            "parameters": one.values.model_dump(mode="json"),
            "seed": int(one.wanted.seed),
            "model": one.wanted.model,
            "count": one.count,
            "state": "queued",
            "created": now(),
            "funnel": {},
            "diagnostics": {},
            "guarantee": one.promised.as_dict(),
            "manifest": one.manifest,
            "revision": corpus_row(connection, corpus_id).revision,
            "needs_spans": "spans" in spec.needs,
        }
        chained.begin(connection, self.session.key, values)
        self.ledger.reserve(connection, run_id, corpus_id, spec.id, one.promised)
        arguments = {queue.EXAMINE: True} if examine else {}
        job_id = queue.enqueue(connection, "synthesize", corpus_id=corpus_id, run_id=run_id, arguments=arguments)
        connection.execute(update(runs).where(runs.c.id == run_id).values(job_id=job_id))
        self.session.write_audit(
            connection, chained.ASKED, run_id, corpus=corpus_id, method=spec.id, count=one.count,
            **chained.asked(connection, self.session.key, values),
        )  # fmt: skip
        if one.copies.copied:
            copied, accepted = one.copies.copied, one.copies.accepted
            self.session.write_audit(
                connection, "copies accepted", run_id, corpus=corpus_id, copies=copied, accepted=accepted
            )
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

    def examine(
        self, run_id: str, *, privacy: bool = True, utility: bool = True, model_attacks: bool = True,
        tuned_classifier: bool = False, embedder: str = "",
    ) -> str:  # fmt: skip
        """Queue the examination of a finished run and return its job id.

        Args:
            run_id: the run. privacy, utility: which halves.
            model_attacks: whether models are trained on the text to be attacked, which takes minutes.
            tuned_classifier: whether an encoder is trained to label records too, which takes minutes more.
            embedder: what meaning is measured by, see `Models.set_embedder`; empty for what is set.
        """
        wanted = {"privacy": privacy, "utility": utility, "model_attacks": model_attacks,
                  "tuned_classifier": tuned_classifier}  # fmt: skip
        more = {embedder_choice.EMBEDDER: embedder_choice.checked(embedder)} if embedder else {}
        return self._examine(run_id, wanted, more)

    def _examine(self, run_id: str, settings: Mapping[str, bool], embedder: Mapping[str, str]) -> str:
        """Queue an examination with these settings; `embedder` as `embedder_choice.settled` takes it."""
        privacy, utility = settings.get("privacy", True), settings.get("utility", True)
        model_attacks = settings.get("model_attacks", True)
        if not (privacy or utility):
            raise UserError("privacy, utility: at least one must be true")
        with self.session.db.write() as connection:
            row = run_row(connection, run_id)
            if row.state in queue.ACTIVE:
                raise UserError("this run is still being made; examine it when it is done")
            if not row.kept:
                raise UserError("this run has no records to examine; run the method again with other settings")
            active = queue.active_jobs(connection, run_id=run_id, kind="examine")
            wanted: JSONObject = {"privacy": privacy, "utility": utility, "model_attacks": model_attacks,
                                  "tuned_classifier": settings.get("tuned_classifier", False), **embedder}  # fmt: skip
            if active:
                job_id = active[0]
            else:
                job_id = queue.enqueue(connection, "examine", corpus_id=row.corpus_id, run_id=run_id, arguments=wanted)
                self.session.write_audit(
                    connection, "examination asked for", run_id, corpus=row.corpus_id, quick=not model_attacks
                )
        self.session.wake()
        return job_id

    def continue_examination(self, run_id: str) -> str:
        """Go on with a run's examination that was stopped, with its settings, and return the job id.

        Raises:
            UserError: nothing of it is kept, or what it describes has changed.
        """
        kept = kept_parts.stopped(self.session, run_id)
        if kept is None:
            raise UserError("nothing is kept of an examination of this run; start a new one")
        return self._examine(run_id, kept.settings, kept.embedder)

    def cancel(self, job_or_run_id: str) -> bool:
        """Cancel a job, or the active jobs of a run; False where nothing was active."""

        def cancel(connection: Connection) -> bool:
            if job_or_run_id.startswith("r-"):
                run_row(connection, job_or_run_id)
                active = queue.active_jobs(connection, run_id=job_or_run_id)
            else:
                _job_row(connection, job_or_run_id)
                active = [job_or_run_id]
            cancelled = sum(self._cancel_one(connection, job_id) for job_id in active)
            self.ledger.settle(connection)
            return cancelled > 0

        return self.session.db.retried(cancel)

    def _cancel_one(self, connection: Connection, job_id: str) -> bool:
        """Cancel a job and say so in the audit log; return False where it had ended."""
        job = _job_row(connection, job_id)
        if not queue.cancel(connection, job_id):
            return False
        self.session.write_audit(
            connection, "job cancelled", job.run_id or job.corpus_id or job_id, job=job.kind, corpus=job.corpus_id
        )
        return True

    def resume(self, run_id: str) -> str:
        """Continue a cancelled or failed run where it stopped; return the new job's id.

        Raises:
            RefusedError: its budget was given back and does not fit any more, or it was changed outside of the program.
            UserError: it is done, its spans changed, or its model may not be used any more.
        """
        found = self.runs.get(run_id)
        found_method = find_method(found.method)
        blockers = self.models.blockers(found_method.spec, found.corpus_id, found.model)
        if blockers and found.state not in (*queue.ACTIVE, "done"):
            raise UserError(" ".join(blockers))

        def ask_again(connection: Connection) -> str:
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
            held.demand_asked(self.session, connection, run_id)
            if row.needs_spans and row.revision != row.corpus_revision:
                raise UserError("the reviewed spans changed since this run began; start a new run instead")
            self.ledger.reserve(connection, run_id, row.corpus_id, row.method, row.guarantee)
            job_id = queue.enqueue(connection, "synthesize", corpus_id=row.corpus_id, run_id=run_id)
            connection.execute(
                update(runs).where(runs.c.id == run_id).values(state="queued", error=None, finished=None, job_id=job_id)
            )
            self.session.write_audit(connection, "run resumed", run_id)
            return job_id

        job_id = self.session.db.retried(ask_again)
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

    def before(self, job_id: str) -> list[JobView]:
        """Return what a waiting job waits for, in the order of turns: the running one first."""
        with self.session.db.read() as connection:
            return queue.before(connection, job_id)

    def turns(self) -> list[JobView]:
        """Return waiting and running jobs in the order of their turns: those at work first."""
        with self.session.db.read() as connection:
            return queue.turns(connection)

    def examination_seconds(self, run_id: str, *, models: bool = True, tuned_classifier: bool = False) -> float:
        """Return what an examination of a run takes on two cores, by measured times."""
        run = self.runs.get(run_id)
        corpus = self.corpora.get(run.corpus_id)
        sizes = Sizes(corpus.records, run.kept, corpus.holdout_units > 0)
        return sum(one.seconds for one in parts(sizes, models=models, tuned=tuned_classifier))

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
    found = {name: _version(name) for name in PACKAGES}
    return {"python": platform.python_version(), **{name: one for name, one in found.items() if one is not None}}


@cache
def _version(package: str) -> str | None:
    """Return the version of a package, None without it; read once, since what is loaded stays what it is."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _joined(connection: Connection, job_id: str, asked: JSONObject) -> bool:
    """Say whether an active detection does what is asked for; one that was never begun is told to."""
    row = _job_row(connection, job_id)
    if row.cancel:
        return False
    if row.arguments != asked and (row.state == "running" or row.attempts):
        raise UserError(
            "Identifiers of this corpus are being looked for by the settings from before. Let that end, or cancel it; "
            "then look again."
        )
    connection.execute(update(jobs).where(jobs.c.id == job_id).values(arguments=asked))
    return True


def _job_row(connection: Connection, job_id: str) -> JobRow:
    row = connection.execute(select(jobs).where(jobs.c.id == job_id)).first()
    if row is None:
        raise NotFoundError(f"job {job_id!r} does not exist in this workspace")
    return job_of(row)
