"""Models of the hub: which suit this machine, what is consented to, and the job that fetches one.

Privacy posture: nothing in this process is connected; the worker connects, after it has found the consent's line.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from sqlalchemy import select

from engine.errors import UserError
from engine.jobs.models.catalogued import models_folder
from engine.models.catalogue import CAPABILITIES
from engine.models.folder.precision import checked_precision
from engine.models.remote import consent as rules
from engine.models.remote.consent import Download
from engine.store import model_settings, queue
from engine.store.database.schema import jobs
from engine.store.session import Session

if TYPE_CHECKING:
    from engine.corpus.description import Description
    from engine.models.offered.machine import Machine
    from engine.models.offered.offers import Offer, SentenceOffer
    from engine.models.offered.suggest import Suggestion


@dataclass(frozen=True)
class Proposals:
    """What is thought of each open model on this machine, in their order, and sentence models for measuring meaning."""

    machine: Machine
    language: str
    models: tuple[Suggestion, ...]
    sentence_models: tuple[SentenceOffer, ...] = ()


class Hub:
    """Models of the hub: what is proposed, what is consented to, and the job that fetches them."""

    def __init__(self, session: Session) -> None:
        self.session = session

    def suggest(self, language: str = "en") -> Proposals:
        """Return what suits this machine and a language (ISO 639-1); nothing is connected."""
        from engine.models.offered.machine import this_machine
        from engine.models.offered.offers import offers, sentence_models
        from engine.models.offered.suggest import suggest

        machine, language = this_machine(), language.strip().lower()[:2]
        suggested = tuple(suggest(offers(), machine, language))
        return Proposals(machine, language, suggested, sentence_models(language))

    def serves(self, offer: Offer) -> tuple[list[str], list[str]]:
        """Return the ids of the methods that a model serves, and of those that ask more of one."""
        from engine.methods import methods

        asking = [method.spec for method in methods() if "generator" in method.spec.needs]
        served = [s.id for s in asking if {need for need in s.needs if need in CAPABILITIES} <= offer.capabilities]
        return served, [spec.id for spec in asking if spec.id not in served]

    def host(self) -> str:
        """Return host:port of the hub that a consent has to name."""
        from engine.models.remote import hub

        return hub.host()

    def statement(self, model: str) -> str:
        """Return what a consent to fetch a model says; raises `UserError` where this is no hub id."""
        return rules.download_statement(_checked(model), self.host())

    def consents(self) -> list[Download]:
        """Return the consents to fetch a model, latest first."""
        with self.session.db.read() as connection:
            return model_settings.downloads(connection)

    def fetch(
        self,
        model: str,
        name: str,
        text: str,
        host: str,
        *,
        revision: str = "",
        prompts: str | None = None,
        description: Description | None = None,
        precision: str = "",
    ) -> str:
        """Write the custodian's consent into the audit log, queue the download and return its job id.

        Args:
            model: hub id, owner/model. name: what it is called here. text: why this is allowed, in the custodian's
                words. host: host:port of the hub, as the custodian typed it. revision: branch, tag or commit; empty:
                the commit that the list of open models names, else the main branch.
            prompts: instruct, plain or builtin; None follows from the model.
            description: of a corpus, in public words; the model then writes five texts for it once it is here.
            precision: `8 bit` or `4 bit` where its weights are to be kept so.

        Raises:
            UserError: the text is too short, the host another one, or a name breaks a rule or is taken.
        """
        from engine.models.remote import hub
        from engine.models.remote.endpoint_settings import NAME

        model, name, cleaned = _checked(model), name.strip(), rules.checked_text(text)
        revision = revision.strip() or pinned(model) or "main"
        if not NAME.fullmatch(name):
            raise UserError(f"name: must be 1 to 40 small letters, digits, dots, hyphens or underscores, is {name!r}")
        if (models_folder(self.session) / f"{name}.json").exists():
            raise UserError(f"name: a model named {name!r} is here already; remove it first, or choose another name")
        if not hub.REVISION.fullmatch(revision):
            raise UserError(f"revision: must be a branch, a tag or a commit, is {revision!r}")
        if prompts not in (None, "instruct", "plain", "builtin"):
            raise UserError(f"prompts: must be instruct, plain or builtin, is {prompts!r}")
        if host.strip().lower() != self.host():
            raise UserError(f"host: must be typed as {self.host()}, which is what will be connected")
        with self.session.db.write() as connection:
            busy = connection.execute(select(jobs.c.id).where(jobs.c.kind == "fetch", jobs.c.state.in_(queue.ACTIVE)))
            if busy.first() is not None:
                raise UserError("another model is being fetched; wait for it, or cancel it")
            self.session.write_audit(
                connection, rules.DOWNLOAD, model, revision=revision, host=self.host(), text=cleaned
            )
            line = model_settings.downloads(connection, model)[0].line
            arguments = {
                "model": model, "name": name, "revision": revision, "prompts": prompts, "consent": line,
                "precision": checked_precision(precision),
                "description": None if description is None else asdict(description),
            }  # fmt: skip
            job_id = queue.enqueue(connection, "fetch", arguments=arguments)
        self.session.wake()
        return job_id


def pinned(model: str) -> str:
    """Return the commit that the list of open models names for a hub id, or nothing."""
    from engine.models.offered.offers import offer

    found = offer(model)
    return (found.revision or "") if found is not None else ""


def _checked(model: str) -> str:
    from engine.models.catalogue import HUB_ID

    cleaned = model.strip()
    if not HUB_ID.fullmatch(cleaned) or ".." in cleaned:
        raise UserError(f"model: must be a hub id such as owner/model, is {cleaned[:100]!r}")
    return cleaned
