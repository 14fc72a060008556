"""The parts of a workspace that live on its disk: what the worker and the tests use without a web process."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from engine.json_types import JSONObject
from engine.store.budget.ledger import Ledger, ask_nobody
from engine.store.corpora.corpora import Corpora
from engine.store.corpora.descriptions import Descriptions
from engine.store.corpora.labels import Labels
from engine.store.disk.folder import Folder
from engine.store.people.members import Members
from engine.store.people.signatures import Signatures
from engine.store.pools.pools import Pools
from engine.store.review.bulk import Bulk
from engine.store.review.named import Named
from engine.store.review.review import Review
from engine.store.review.spot.checks import SpotChecks
from engine.store.review.values import Values
from engine.store.runs.assessments import Assessments
from engine.store.runs.examinations import Examinations
from engine.store.runs.intruder.trials import IntruderTrials
from engine.store.runs.releases import Releases
from engine.store.runs.runs import Runs
from engine.store.session import Opened, Session
from engine.store.upkeep import DEFAULT_ACTOR, AuditLog, Disk, Settings


class Store(Opened):
    """An open workspace folder, part by part.

    Args:
        path: the folder; None means `UNDERSTUDY_WORKSPACE` or the user's data directory.
        actor: who acts; goes into the audit log.
        wake: starts the worker of a folder; None where nothing is to start one.
        ask: given the session, a kind of request and the request; has the worker answer it.
        session: one that is open already, in place of path, actor and wake.
    """

    def __init__(
        self,
        path: Path | None = None,
        actor: str = DEFAULT_ACTOR,
        *,
        wake: Callable[[Folder], object] | None = None,
        ask: Callable[[Session, str, JSONObject], None] | None = None,
        session: Session | None = None,
    ) -> None:
        self.session = session or Session(path, actor, wake)
        self.settings = Settings(self.session)
        self.audit = AuditLog(self.session)
        self.disk = Disk(self.session)
        self.corpora = Corpora(self.session)
        self.descriptions = Descriptions(self.session)
        self.labels = Labels(self.session, self.corpora)
        self.review = Review(self.session)
        self.bulk = Bulk(self.session)
        self.named = Named(self.session)
        self.values = Values(self.session, self.corpora, self.review)
        self.spot_checks = SpotChecks(self.session)
        self.pools = Pools(self.session)
        self.people = Members(self.session)
        self.signatures = Signatures(self.session)
        self.runs = Runs(self.session)
        self.examinations = Examinations(self.session)
        self.ledger = Ledger(self.session, self.corpora, self.labels, partial(ask, self.session) if ask else ask_nobody)
        self.intruder = IntruderTrials(self.session, self.examinations, self.ledger)
        self.releases = Releases(
            self.session, self.corpora, self.runs, self.examinations, self.ledger, self.spot_checks, self.intruder
        )
        self.assessments = Assessments(
            self.session,
            self.corpora,
            self.runs,
            self.examinations,
            self.values,
            self.ledger,
            self.releases,
            self.spot_checks,
            self.intruder,
        )
        if self.session.actor == DEFAULT_ACTOR:
            self.session.actor = str(self.settings.get("actor", DEFAULT_ACTOR))
