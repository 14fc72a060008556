"""Assessment files of runs, and the words that people typed for them.

Privacy posture: typed words are kept with the corpus and go with it. The external edition is refused where a typed word
repeats private text or a private number; the audit line holds the edition and the file's SHA-256, no words.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

from sqlalchemy import select

from engine.errors import RefusedError, UserError
from engine.json_types import as_object
from engine.store.budget.ledger import Ledger
from engine.store.corpora.corpora import Corpora
from engine.store.database.schema import settings
from engine.store.logs import rows
from engine.store.review.spot.checks import SpotChecks
from engine.store.review.spot.words import sentences
from engine.store.review.values import Values
from engine.store.runs.examinations import Examinations
from engine.store.runs.intruder.trials import IntruderTrials
from engine.store.runs.intruder.words import sentences as tried
from engine.store.runs.releases import Releases
from engine.store.runs.runs import Runs
from engine.store.session import Session
from engine.store.views import RunSummary

if TYPE_CHECKING:
    from engine.release import Policy


TRIED = (
    "A person read {texts:,} of the texts, drawn at random, and took {minutes:,} minutes to say whom they are of; a "
    "second person checked each claim."
)

NOT_TYPED = (
    "The answers for the assessment file are not those that the audit log tells of; `audit --verify` says so. Read "
    "them, change what is wrong and keep them again, or restore the latest backup."
)


def key_of(corpus_id: str) -> str:
    """Return the setting under which the words typed for a corpus are kept; it goes with the corpus."""
    return f"{rows.ANSWERS.before}{corpus_id}"


class Assessments:
    """What a data-protection officer asks of a release: typed answers, and the file with them and the findings."""

    def __init__(
        self, session: Session, corpora: Corpora, runs: Runs, examinations: Examinations, values: Values,
        ledger: Ledger, releases: Releases, spot_checks: SpotChecks, intruder: IntruderTrials,
    ) -> None:  # fmt: skip
        self.session = session
        self.corpora = corpora
        self.runs = runs
        self.examinations = examinations
        self.values = values
        self.ledger = ledger
        self.releases = releases
        self.spot_checks = spot_checks
        self.intruder = intruder

    def answers(self, corpus_id: str) -> dict[str, str]:
        """Return the words typed for a corpus, by field."""
        self.corpora.get(corpus_id)
        with self.session.db.read() as connection:
            row = connection.execute(select(settings.c.value).where(settings.c.key == key_of(corpus_id))).first()
        return {} if row is None else {name: str(said) for name, said in as_object(row.value).items()}

    def keep(self, corpus_id: str, answers: Mapping[str, str]) -> dict[str, str]:
        """Keep typed words in place of those before; return them without empty ones.

        Raises:
            UserError: a field is unknown or its words are too long.
        """
        from engine.release.assessment import checked

        kept = checked(answers)
        before = self.answers(corpus_id)
        changed = sorted({name for name in {*kept, *before} if kept.get(name) != before.get(name)})
        if not changed:
            return kept
        with self.session.db.write() as connection:
            told = rows.put(connection, self.session.key, rows.ANSWERS, {"key": key_of(corpus_id), "value": kept})
            self.session.write_audit(connection, "assessment answered", corpus_id, fields=", ".join(changed), **told)
        return kept

    def make(
        self, run_id: str, policy_id: str, edition: Literal["internal", "external"], *,
        words: Mapping[str, str] | None = None, signed_off_by: str = "", called: str = "",
    ) -> str:  # fmt: skip
        """Return a run's assessment under a policy as one HTML page, and note in the audit log that it was made.

        Args:
            words: public words for the data card, as `Releases.make` takes them.
            called: what the caller's pages call the method.

        Raises:
            RefusedError: the external edition would hold private words or numbers; says in which field. Or the typed
                words are not those that the audit log tells of.
            UserError: the run is not finished.
        """
        from engine.release.assessment import Facts, document
        from engine.release.sbom import sentence as software

        run, policy = self.runs.get(run_id), self.releases.policy(policy_id)
        if run.state != "done":
            raise UserError("run: it is not finished; an assessment describes a finished run")
        answers = self._held(run.corpus_id)
        given = {name: said for name, said in (words or {}).items() if said}
        if edition == "external":
            self._check(run, policy, {**given, **answers})
        verdict = self.releases.gate(run_id, policy_id, signed_off_by=signed_off_by, anew=True)
        trial = self.intruder.estimate(run_id)
        book = self.ledger.of(run.corpus_id)
        mine = {one.id for one in self.corpora.all() if one.population == book.population}
        corpus = self.corpora.get(run.corpus_id)
        page = document(
            Facts(
                card=self.releases.card(run_id, policy, given, verdict.waived_rules()),
                answers=answers,
                made=datetime.now(UTC).date().isoformat(),
                made_by=self.session.actor,
                run=f"{run.name or run.title}, {run.created[:16].replace('T', ' ')}",
                corpus=corpus.name,
                called=called,
                whole=policy.requirements.whole_output,
                examined=run.examined_at or "",
                stale=run.stale or run.examination_stale,
                findings=self.examinations.findings(run_id),
                risk=self._risk(run.corpus_id),
                software=software(),
                trial=() if trial is None else tried(trial),
                tried=""
                if trial is None or trial.share is None
                else TRIED.format(texts=trial.trial.texts, minutes=trial.trial.spent),
                verdict=verdict,
                releases=sum(one.corpus_id in mine for one in self.releases.all()),
                unbounded=book.unbounded,
            ),
            edition,
        )
        with self.session.db.write() as connection:
            self.session.write_audit(
                connection, "assessment made", run_id, edition=edition, policy=policy_id,
                sha256=hashlib.sha256(page.encode()).hexdigest(),
            )  # fmt: skip
        return page

    def _held(self, corpus_id: str) -> dict[str, str]:
        """Return the words typed for a corpus, or refuse those that nobody typed here."""
        with self.session.db.read() as connection:
            if rows.breaks(connection, self.session.key, (rows.ANSWERS,), (corpus_id,)):
                raise RefusedError(NOT_TYPED)
        return self.answers(corpus_id)

    def _risk(self, corpus_id: str) -> tuple[str, ...]:
        """Return what detection misses, by the spot check and by what was reviewed, as sentences."""
        found, risk = self.spot_checks.estimate(corpus_id), self.values.residual_risk(corpus_id)
        said = () if found is None else sentences(found)
        if risk is None:
            return said
        share = f"{risk['low']:.1%} to {risk['high']:.1%} of the identifiers (95 % interval). {risk['sentence']}"
        return (*said, f"By all that was reviewed: {share}")

    def _check(self, run: RunSummary, policy: Policy, typed: Mapping[str, str]) -> None:
        """Refuse private words and numbers in what stands in the external edition."""
        from engine.release.assessment import questions

        titles = {one.id: one.title for one in questions().fields if one.outside and not one.choices}
        cards = {name: f"the {name} on the data card" for name in ("title", "source", "contact", "licence")}
        self.releases.check_words(
            run, policy, {titles.get(name) or cards[name]: said for name, said in typed.items()
                          if name in titles or name in cards},
        )  # fmt: skip
