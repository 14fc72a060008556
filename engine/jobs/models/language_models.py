"""Language models of the workspace: what is here, imports, endpoints, consents, self-tests.

Privacy posture: nothing in this process speaks to a server or opens a model; the worker does both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from sqlalchemy import Connection, select

from engine.errors import UserError
from engine.jobs.models import built_in, embedder_choice, marks
from engine.jobs.models.built_in import BuiltInModel
from engine.jobs.models.catalogued import catalogue, models_folder
from engine.json_types import JSONObject
from engine.models.remote import consent as rules
from engine.models.remote.consent import Consent
from engine.models.remote.endpoint_settings import EndpointSettings
from engine.store import model_settings, queue
from engine.store.corpora.corpora import Corpora
from engine.store.database.schema import jobs, runs
from engine.store.model_settings import SelfTest
from engine.store.rows import AnyRow
from engine.store.session import Session
from engine.store.summaries import corpus_row
from engine.store.upkeep import AuditLog, Settings

if TYPE_CHECKING:
    from pydantic import BaseModel

    from engine.dp.guarantee import Guarantee
    from engine.methods.base import MethodSpec, Plan
    from engine.models.catalogue import ModelInfo
    from engine.models.folder.inspection import FolderFacts
    from engine.models.marks import Mark


class LastTest(TypedDict):
    """A model's latest self-test: `none`, `queued`, `running` or `done`, and its result, None without one."""

    state: str
    result: SelfTest | None


class Models:
    """The language models of a workspace: what is here, imports, endpoints, consents, self-tests."""

    def __init__(self, session: Session, corpora: Corpora, audit: AuditLog) -> None:
        self.session = session
        self.corpora = corpora
        self.audit = audit

    def built_in(self) -> list[BuiltInModel]:
        """Return the built-in models that are present, and the encoder they build on."""
        found = built_in.encoder()
        return [*built_in.shipped(), *([found] if found is not None else [])]

    def check_files(self, model: BuiltInModel) -> tuple[bool, str]:
        """Return whether a built-in model's files are whole and as expected, and a sentence."""
        return built_in.check_files(model)

    def all(self) -> tuple[ModelInfo, ...]:
        """Return every language model that can be named here, the built-in one first."""
        return catalogue(self.session).all()

    def info(self, model: str) -> ModelInfo:
        """Return what is known of one model; a hub id is looked for in the local cache."""
        return catalogue(self.session).info(model)

    def inspect(self, folder: Path) -> FolderFacts:
        """Return what a model folder holds, before it is imported; raises `UserError` where it is refused."""
        from engine.models.folder.inspection import inspect_folder

        return inspect_folder(Path(folder).expanduser())

    def import_folder(self, folder: Path, name: str, prompts: str | None = None) -> ModelInfo:
        """Copy a model folder into the workspace after checks; safetensors only, no code, no links out."""
        from engine.models.folder.imports import import_folder

        if prompts not in (None, "instruct", "plain", "builtin"):
            raise UserError(f"prompts: must be instruct, plain or builtin, is {prompts!r}")
        info = import_folder(
            Path(folder).expanduser(),
            models_folder(self.session),
            name.strip(),
            prompts,
            mark=partial(marks.carry, self.session),
        )
        self.audit.note(
            "model imported", info.id, sha256=info.revision, bytes=info.bytes, licence=info.licence, saw=info.saw
        )
        return info

    def set_precision(self, model: str, precision: str) -> ModelInfo:
        """Keep an imported model's weights in `8 bit` or `4 bit` from now on, or (empty) as the machine is fast in."""
        from engine.models.catalogue import FOLDER
        from engine.models.folder.imports import set_precision

        if not model.startswith(FOLDER):
            raise UserError(f"model {model!r} was not imported here, so its numbers stay as they are")
        info = set_precision(models_folder(self.session), model.removeprefix(FOLDER), precision)
        with self.session.db.write() as connection:
            model_settings.save_test(connection, model, None)
            model_settings.save_first_texts(connection, model, None)
            self.session.write_audit(connection, "model precision", model, precision=precision or "full")
        return info

    def marks_used(self, spec: MethodSpec, values: BaseModel, model: str) -> list[Mark]:
        """Return the marks of every model that a run would use; raises `UserError` for a folder in a workspace."""
        return marks.marks_used(self.session, spec, values, model)

    def with_marks(self, claim: Guarantee, corpus_id: str, found: list[Mark]) -> Guarantee:
        """Return a claim that counts what the models of its run have spent on the same people."""
        own, known = marks.population_now(self.session, corpus_id, found)
        return marks.counted(claim, known, own)

    def mark_blockers(self, title: str, claim: Guarantee, corpus_id: str, found: list[Mark]) -> list[str]:
        """Return why no claim can be made with the models of a run."""
        own, known = marks.population_now(self.session, corpus_id, found)
        return marks.refused(title, claim, known, own)

    def embedder(self) -> str:
        """Return what examinations measure meaning by: `auto`, `english`, `ngrams` or the path of a folder."""
        return str(Settings(self.session).get(embedder_choice.KEY) or embedder_choice.AUTO)

    def set_embedder(self, choice: str) -> str:
        """Keep what examinations measure meaning by from now on.

        Args:
            choice: `english`, the built-in embedder; `ngrams`, runs of letters; the path of a sentence-transformers
                folder; or `auto`: the built-in one where at least half of a corpus' text looks English, else `ngrams`.
        """
        kept = embedder_choice.checked(choice)
        named = kept if kept in embedder_choice.OFFERED else "folder"
        Settings(self.session).change(
            embedder_choice.KEY, kept, "setting changed", "", setting=embedder_choice.KEY, embedder=named
        )
        return kept

    def remove(self, model: str) -> None:
        """Delete an imported model, or forget an endpoint with its key; its consents end.

        Raises:
            UserError: it is built in or unknown, or a run with it is under way.
        """
        from engine.models.catalogue import ENDPOINT, FOLDER
        from engine.models.folder.imports import remove_folder

        with self.session.db.read() as connection:
            busy = connection.execute(
                select(runs.c.id).where(runs.c.model == model, runs.c.state.in_(queue.ACTIVE)).limit(1)
            ).first()
        if busy is not None:
            raise UserError(f"model {model!r} is at work in run {busy.id}; cancel that run first")
        if model.startswith(FOLDER):
            remove_folder(models_folder(self.session), model.removeprefix(FOLDER))
        elif model.startswith(ENDPOINT):
            self._remove_endpoint(model.removeprefix(ENDPOINT))
        else:
            raise UserError(f"model {model!r} was not added here, so it cannot be removed")
        with self.session.db.write() as connection:
            model_settings.save_test(connection, model, None)
            model_settings.save_first_texts(connection, model, None)
            self.session.write_audit(connection, "model removed", model)

    def endpoints(self) -> dict[str, EndpointSettings]:
        """Return the endpoints by name."""
        with self.session.db.read() as connection:
            return model_settings.endpoints(connection)

    def add_endpoint(self, settings: EndpointSettings | JSONObject, key: str | None = None) -> ModelInfo:
        """Keep an endpoint; one of the same name is replaced. `key` goes into a file of mode 600, never elsewhere.

        A consent names the host: where that changes, consents end and the key has to be given again.
        """
        endpoint = settings if isinstance(settings, EndpointSettings) else EndpointSettings.from_dict(settings)
        before = self.endpoints().get(endpoint.name)
        moved = before is not None and before.host != endpoint.host
        if not key and endpoint.key_source == "file":
            if moved:
                raise UserError("key: give it again, because the endpoint's host changed")
            model_settings.read_key(self.session.folder, endpoint)
        if key:
            endpoint = replace(endpoint, key_source="file", key_variable="")
            model_settings.write_key(self.session.folder, endpoint.name, key)
        elif endpoint.key_source != "file":
            model_settings.write_key(self.session.folder, endpoint.name, None)
        with self.session.db.write() as connection:
            for consent in model_settings.consents(connection, None, endpoint.name) if moved else ():
                self._withdraw(connection, consent.corpus_id, endpoint.name)
            known = model_settings.endpoints(connection)
            model_settings.save_endpoints(connection, {**known, endpoint.name: endpoint})
            model_settings.save_test(connection, f"endpoint:{endpoint.name}", None)
            self.session.write_audit(
                connection, "endpoint kept", f"endpoint:{endpoint.name}", host=endpoint.host, model=endpoint.model,
                key=endpoint.key_source,
            )  # fmt: skip
        return self.info(f"endpoint:{endpoint.name}")

    def consent_statement(self, corpus_id: str, endpoint: str) -> str:
        """Return what a consent for this corpus and endpoint says."""
        settings = self._endpoint(endpoint)
        return rules.statement(self.corpora.get(corpus_id).name, settings.host, settings.model)

    def consents(self, corpus_id: str | None = None) -> list[Consent]:
        """Return the consents in force, latest first."""
        with self.session.db.read() as connection:
            return model_settings.consents(connection, corpus_id)

    def give_consent(self, corpus_id: str, endpoint: str, text: str, host: str) -> Consent:
        """Write the custodian's consent into the audit log.

        Args:
            text: why this is allowed, in the custodian's words.
            host: host:port of the endpoint as the custodian typed it; it must be the one in the settings.

        Raises:
            UserError: the text is too short, the host another one, or the endpoint needs no consent.
        """
        settings, cleaned = self._endpoint(endpoint), rules.checked_text(text)
        if settings.local:
            raise UserError(f"endpoint {endpoint!r} is on this machine; it needs no consent")
        if host.strip().lower() != settings.host:
            raise UserError(f"host: must be typed as {settings.host}, which is where the text will go")
        with self.session.db.write() as connection:
            corpus_row(connection, corpus_id)
            self.session.write_audit(
                connection, rules.GIVEN, corpus_id, endpoint=endpoint, host=settings.host, model=settings.model,
                text=cleaned,
            )  # fmt: skip
            return model_settings.consents(connection, corpus_id, endpoint)[0]

    def withdraw_consent(self, corpus_id: str, endpoint: str) -> int:
        """End a consent and cancel the runs that rely on it; return how many were cancelled."""
        with self.session.db.write() as connection:
            if not model_settings.consents(connection, corpus_id, endpoint):
                raise UserError(f"there is no consent for endpoint {endpoint!r} and this corpus to withdraw")
            return self._withdraw(connection, corpus_id, endpoint)

    def test(self, model: str) -> str:
        """Queue a self-test and return its job id: a line written, one scored, blocked words kept out, with times.

        Raises:
            UserError: the model is unknown, or an endpoint on another machine that no corpus has a consent for.
        """
        self.check_reachable(model)
        with self.session.db.write() as connection:
            waiting = self._test_job(connection, model)
            if waiting is not None:
                return str(waiting.id)
            job_id = queue.enqueue(connection, "selftest", arguments={"model": model})
        self.session.wake()
        return job_id

    def check_reachable(self, model: str) -> None:
        """Check that a model may be asked with public text: it is whole, and a server elsewhere has a consent.

        Raises:
            UserError: it is unknown or has a problem, or it is on another machine that no corpus has a consent for.
        """
        info = self.info(model)
        if info.problem:
            raise UserError(info.problem)
        if info.local:
            return
        name = model.removeprefix("endpoint:")
        with self.session.db.read() as connection:
            given = [c for c in model_settings.consents(connection, None, name) if c.host == info.where]
        if not given:
            raise UserError(
                f"model {model!r} is on another machine; give a consent for a corpus first. The test itself sends "
                "made-up text only"
            )

    def last_test(self, model: str) -> LastTest:
        """Return how far a model's latest self-test is, and its result."""
        with self.session.db.read() as connection:
            waiting = self._test_job(connection, model)
            result = model_settings.tests(connection).get(model)
        if waiting is not None:
            self.session.wake()
        state = waiting.state if waiting is not None else "done" if result is not None else "none"
        return {"state": state, "result": result}

    def verdict(self, model: str, names: Mapping[str, str] | None = None) -> str:
        """Return in one line what a model is good enough for; see `engine.jobs.models.verdict`."""
        from engine.jobs.models.verdict import verdict
        from engine.methods import methods

        return verdict(self.info(model), [method.spec for method in methods()], names)

    def blockers(self, spec: MethodSpec, corpus_id: str, model: str) -> list[str]:
        """Return why a method cannot run with a model on a corpus."""
        from engine.models.catalogue import ENDPOINT, lacks

        try:
            info = self.info(model)
        except UserError as error:
            return [str(error)]
        if "generator" not in spec.needs:
            return []
        if info.problem:
            return [info.problem]
        found = lacks(info, spec.title, spec.needs)
        if not info.local:
            settings = self._endpoint(model.removeprefix(ENDPOINT))
            with self.session.db.read() as connection:
                given = model_settings.consent_for(connection, corpus_id, settings)
            try:
                rules.require(settings, given)
            except UserError as error:
                found.append(str(error))
        return found

    def warnings(self, spec: MethodSpec, model: str, plan: Plan) -> list[str]:
        """Return what a person should know who plans a run with a model that is not built in."""
        if "generator" not in spec.needs or model == "builtin":
            return []
        try:
            info = self.info(model)
        except UserError:
            return []
        found = ["Time and tokens are estimated for the built-in model; this one may be slower or faster."]
        if info.prompts == "plain":
            found.append("This model only writes on and follows no instructions; expect outputs that wander.")
        if info.back_end == "endpoint":
            settings = self._endpoint(model.removeprefix("endpoint:"))
            cost = plan.tokens * (settings.price_in + settings.price_out) / 1e6
            if cost:
                found.append(f"At the prices you gave, tokens cost up to about {cost:,.2f}.")
            if not settings.local:
                sees = "What that machine sees is covered by no guarantee."
                found.append(f"Prompts leave this machine for {settings.host}. {sees}")
        return found

    def _endpoint(self, name: str) -> EndpointSettings:
        known = self.endpoints()
        if name not in known:
            raise UserError(f"endpoint {name!r} does not exist; add it on the Models page")
        return known[name]

    def _remove_endpoint(self, name: str) -> None:
        self._endpoint(name)
        with self.session.db.write() as connection:
            for consent in model_settings.consents(connection, None, name):
                self._withdraw(connection, consent.corpus_id, name)
            known = model_settings.endpoints(connection)
            known.pop(name)
            model_settings.save_endpoints(connection, known)
        model_settings.write_key(self.session.folder, name, None)

    def _withdraw(self, connection: Connection, corpus_id: str, endpoint: str) -> int:
        self.session.write_audit(connection, rules.WITHDRAWN, corpus_id, endpoint=endpoint)
        relying = connection.execute(
            select(runs.c.id).where(runs.c.corpus_id == corpus_id, runs.c.model == f"endpoint:{endpoint}")
        ).scalars()
        active = [job for run_id in list(relying) for job in queue.active_jobs(connection, run_id=run_id)]
        return sum(queue.cancel(connection, job) for job in active)

    @staticmethod
    def _test_job(connection: Connection, model: str) -> AnyRow | None:
        rows = connection.execute(select(jobs).where(jobs.c.kind == "selftest", jobs.c.state.in_(queue.ACTIVE)))
        return next((row for row in rows if row.arguments.get("model") == model), None)
