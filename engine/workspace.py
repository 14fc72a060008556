"""The one object that pages and the command line talk to, made of parts."""

from __future__ import annotations

from math import inf
from pathlib import Path

from engine.at_rest import unlocking
from engine.jobs.doctor import Doctor
from engine.jobs.models.catalogued import models_folder
from engine.jobs.models.first_texts import FirstLook
from engine.jobs.models.hub import Hub
from engine.jobs.models.language_models import Models
from engine.jobs.models.prompts import Prompts
from engine.jobs.packs import Packs
from engine.jobs.planning import Planning
from engine.jobs.recipes import Recipes
from engine.jobs.running import Jobs
from engine.jobs.worker import accounting, launch
from engine.models.folder.imports import sweep
from engine.store.disk.address import default_path
from engine.store.disk.folder import Folder
from engine.store.people.calls import CALLS
from engine.store.people.guarded import Visit, guarded
from engine.store.people.roles import Person
from engine.store.session import Opened, Session
from engine.store.store import Store
from engine.store.upkeep import DEFAULT_ACTOR
from engine.studies.running import Studies


def start_worker(folder: Folder) -> None:
    """Start the worker of a workspace, unless it is at work."""
    launch.ensure_worker(folder)


class Workspace(Opened):
    """An open workspace.

    Args:
        path: the folder; None means `UNDERSTUDY_WORKSPACE` or the user's data directory.
        actor: who acts; goes into the audit log.

    Attributes:
        corpora, labels, review, values, bulk, named, spot_checks: private text and what was decided about it;
            descriptions: what it is in public.
        models, hub, first_look, prompts: what writes.
        pools, packs: text made elsewhere, and the prompts that it answers.
        plan, jobs, runs, recipes, examinations, studies: what is made, made again and measured.
        ledger, releases, assessments: what it costs, what leaves, and what a data-protection officer asks of it;
            intruder: trials in which a person says whom approved texts are of.
        people, signatures: who may do what where several sign in, and what second persons signed.
        settings, audit, disk, doctor, session: the workspace itself.
        visit: who signed in and why they look at text; None where nobody has to.
    """

    visit: Visit | None = None

    def __init__(self, path: Path | None = None, actor: str = DEFAULT_ACTOR, *, session: Session | None = None) -> None:
        store = Store(path, actor, wake=start_worker, ask=accounting.ask, session=session)
        self.people, self.signatures = store.people, store.signatures
        self.session, self.settings, self.audit, self.disk = store.session, store.settings, store.audit, store.disk
        self.corpora, self.labels, self.review, self.values = store.corpora, store.labels, store.review, store.values
        self.bulk, self.named, self.spot_checks = store.bulk, store.named, store.spot_checks
        self.runs, self.examinations, self.pools = store.runs, store.examinations, store.pools
        self.ledger, self.releases, self.assessments = store.ledger, store.releases, store.assessments
        self.intruder = store.intruder
        self.models = Models(self.session, self.corpora, self.audit)
        self.hub = Hub(self.session)
        self.descriptions = store.descriptions
        self.first_look = FirstLook(self.session, self.models, self.descriptions)
        self.prompts = Prompts(self.settings)
        self.plan = Planning(
            self.session,
            self.corpora,
            self.review,
            self.runs,
            self.ledger,
            self.settings,
            self.models,
            self.first_look,
            self.pools,
        )
        self.jobs = Jobs(self.plan, self.labels, self.prompts)
        self.recipes = Recipes(self.jobs)
        self.packs = Packs(self.session, self.pools, self.prompts, self.ledger)
        self.doctor = Doctor(self.session, self.ledger, self.audit, self.jobs)
        self.studies = Studies(self.session, self.corpora, self.models, self.prompts, self.ledger)

    def acting_as(self, person: Person, rest: float = inf) -> Workspace:
        """Return this workspace as somebody who signed in may use it: each call asks for its right first.

        What is returned shares the database with this one; it is theirs alone, from sign-in to sign-out, or until they
        rested for `rest` seconds.
        """
        acting = Workspace(session=self.session.acting_as(person))
        acting.visit = Visit(acting.session, person, rest)
        for name in CALLS:
            setattr(acting, name, guarded(getattr(acting, name), name, acting.visit))
        return acting


def open_workspace(path: Path | None = None, actor: str = DEFAULT_ACTOR) -> Workspace:
    """Open a workspace folder, creating it on first use.

    Args:
        path: the folder; None means `UNDERSTUDY_WORKSPACE` or the user's data directory.
        actor: who acts; goes into the audit log.

    Raises:
        StorageError: the folder cannot be written, or a newer program made it.
        LockedError: it is encrypted, this process has not unlocked it, and `UNDERSTUDY_KEY_FILE` names no key file.
    """
    where = Path(path) if path is not None else default_path()
    if unlocking.locked(where) is not None:
        unlocking.unlock_from_environment(where)
    workspace = Workspace(path, actor)
    sweep(models_folder(workspace.session))
    return workspace
