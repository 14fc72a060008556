"""Releases: policies, the gate, the bundle in the workspace, its files.

Privacy posture: the gate's verdict stays inside; the audit line of a release holds its policy, the
number of records and the manifest's SHA-256.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, select, update

from engine.at_rest import files
from engine.errors import NotFoundError, RefusedError, StorageError, UserError
from engine.json_types import as_object
from engine.store.audit import now
from engine.store.budget.ledger import Ledger
from engine.store.corpora.corpora import Corpora
from engine.store.database.schema import releases, revocations, runs
from engine.store.disk import staging
from engine.store.disk.folder import file_errors
from engine.store.logs import about, rows
from engine.store.people.signatures import Signatures
from engine.store.review import held
from engine.store.review.spot.checks import SpotChecks
from engine.store.rows import AnyRow
from engine.store.runs import held as runs_held
from engine.store.runs import policies as own
from engine.store.runs import waivers as waived
from engine.store.runs.examinations import Examinations
from engine.store.runs.facts import Facts, was_examined, was_lost
from engine.store.runs.intruder.trials import IntruderTrials
from engine.store.runs.runs import Runs, frame_of, run_row
from engine.store.runs.words import Words
from engine.store.session import Session, new_id
from engine.store.views import ReleaseSummary, RunSummary

if TYPE_CHECKING:
    import pandas as pd

    from engine.release import Audience, DataCard, Policy, RuleVerdict, SecondPerson, Verdict, Waiver


UNBOUNDED = (
    "This run carries no formal guarantee. Once it is released, no ε can be claimed any more for the people behind "
    "this corpus, in this and in every later release, and that cannot be undone. Say that you accept it "
    "(--accept-unbounded on the command line, the question on the Release page), or release a run with a guarantee"
)

NOT_RELEASED = (
    "This release, or what is known of withdrawals, is not what the audit log tells of, so nothing is handed out; "
    "`audit --verify` says what was done. Restore the latest backup."
)
LONGEST_REASON = 300
DETAIL = ("sha256", "manifest_sha256", "words", "signed_by", "second_person", "second_signed_in")
PUBLISHED = ("manifest_sha256", "revoked", "reason")


class Releases:
    """Policies, the gate, and releases."""

    def __init__(
        self, session: Session, corpora: Corpora, runs: Runs, examinations: Examinations, ledger: Ledger,
        spot_checks: SpotChecks, intruder: IntruderTrials,
    ) -> None:  # fmt: skip
        self.session = session
        self.corpora = corpora
        self.runs = runs
        self.examinations = examinations
        self.ledger = ledger
        self.signatures = Signatures(session)
        self.spot_checks = spot_checks
        self.intruder = intruder
        self._facts = Facts(session, runs, examinations, ledger, spot_checks, intruder)
        self._words = Words(session, corpora, examinations, ledger, spot_checks, intruder)

    def policies(self) -> tuple[Policy, ...]:
        """Return the policies that come with the program, and then the workspace's own."""
        from engine.release import policies

        with self.session.db.read() as connection:
            return (*policies(), *own.in_force(connection))

    def own_policies(self) -> dict[str, str]:
        """Return the text of each own policy in force by its id, also of one that this program does not accept."""
        with self.session.db.read() as connection:
            return own.current(connection)

    def add_policy(self, text: str, name: str = "policy") -> Policy:
        """Put an own policy in force, in place of an earlier one with its id; `name` is what its file is called."""
        return own.add(self.session, text, name)

    def remove_policy(self, policy_id: str) -> None:
        """Take an own policy out of force."""
        own.remove(self.session, policy_id)

    def policy(self, policy_id: str) -> Policy:
        """Return a preset or an own policy in force, or raise `NotFoundError`."""
        with self.session.db.read() as connection:
            return own.get(connection, policy_id)

    def gate(self, run_id: str, policy_id: str, *, signed_off_by: str = "", anew: bool = False) -> Verdict:
        """Hold a run against a policy; whatever is missing or stale is not passed.

        Args:
            anew: go through the decisions of the review and the audit log, whatever is remembered of them.
        """
        from engine.release import evaluate

        policy = self.policy(policy_id)
        signed = self._signed(run_id, policy_id, signed_off_by)
        facts = self._facts.of(run_id, policy.requirements.whole_output, signed, anew=anew)
        return evaluate(policy, self.examinations.findings(run_id), facts, self.waivers(run_id, policy_id))

    def waivers(self, run_id: str, policy_id: str) -> tuple[Waiver, ...]:
        """Return the waivers given for a run under a policy, expired ones and those of other findings too."""
        with self.session.db.read() as connection:
            return waived.given(connection, run_id, policy_id)

    def waive(self, run_id: str, policy_id: str, rule: str, reason: str, expires: str) -> str:
        """Let a run pass although a rule is not met, where its policy allows it; return the waiver's id.

        Args:
            rule: id of a line of the check-list that is not met.
            reason: public words; they stand in every bundle that the waiver lets leave, with the name of who acts.
            expires: last day (YYYY-MM-DD) on which it holds.

        Raises:
            UserError: nobody said who acts, or the reason or the day will not do.
            RefusedError: the policy does not let this rule be waived, or the words hold private text, numbers or a
                direct identifier of the corpus; or review or run were changed outside of the program.
        """
        from engine.release import basis, expiry_of, reason_of, waivable

        waived.check_named(self.session)
        run, policy = self.runs.get(run_id), self.policy(policy_id)
        held.demand(self.session, run.corpus_id)
        runs_held.demand(self.session, run_id)
        sample = self._facts.sample(run, rule)
        line = next((one for one in self.gate(run_id, policy_id).rules if one.rule == rule and one.passed is not True),
                    None)  # fmt: skip
        if line is None:
            raise UserError(f"rule: {rule!r} is no rule of this policy that stands in the way")
        if not waivable(policy, line) or run.stale or run.examination_stale:
            raise RefusedError(
                "This rule cannot be waived. A policy says which of its rules may be; what was not judged, an "
                "original, an undecided record, an outdated examination and a missing proof never are"
            )
        allowed = policy.requirements.waivers
        assert allowed is not None
        said = reason_of(reason)
        last = expiry_of(expires, date.fromisoformat(waived.today()), allowed.longest_days)
        self.check_words(run, policy, {"the reason": said, "the name": self.session.actor})
        self._words.check_names(run, {"the reason": said})
        rests_on = basis(policy, line, run.examined_at or "", sample)  # as it was before the gate was asked
        return waived.give(self.session, run_id, run.corpus_id, policy_id, rule, rests_on, said, last, sample=sample)

    def withdraw_waiver(self, run_id: str, policy_id: str, waiver_id: str) -> None:
        """Take a waiver back; releases that it let leave are not touched."""
        waived.withdraw(self.session, run_id, self.runs.get(run_id).corpus_id, policy_id, waiver_id)

    def _signed(self, run_id: str, policy_id: str, typed: str) -> str:
        """Return the name of the second person: of who signed in and signed where people sign in, else as typed."""
        if self.session.person is None:
            return typed
        signature = self.signatures.of(run_id, policy_id, besides=self.session.person.identity)
        return "" if signature is None else signature.name

    def _second(self, run_id: str, policy: Policy, typed: str) -> SecondPerson | None:
        """Return whose name stands beside a release as the second person's, None where the policy asks for none."""
        from engine.release import SecondPerson
        from engine.release.policy.second import LONGEST, tidy

        if not policy.requirements.second_person:
            return None
        name = tidy(self._signed(run_id, policy.id, typed))
        if self.session.person is None and len(name) > LONGEST:
            raise UserError(f"signed_off_by: give a name of at most {LONGEST} letters")
        return SecondPerson(name, self.session.person is not None) if name else None

    def audience(self, run_id: str) -> Audience:
        """Return to whom a run's text may go by what was measured, people's decisions taken as made."""
        from engine.release import audience

        return audience(self.policies(), self.examinations.findings(run_id), self._facts.of(run_id, False, ""))

    def makes_unbounded(self, run_id: str) -> bool:
        """Return whether releasing this run ends what can be proven about the people behind its corpus.

        Text without a proof is no longer bounded by any ε once it has left; where that happened before, no more is
        lost in this respect.
        """
        run = self.runs.get(run_id)
        return run.guarantee.kind != "dp" and not self.ledger.of(run.corpus_id).unbounded

    def make(
        self,
        run_id: str,
        policy_id: str,
        *,
        out: Path | None = None,
        formats: Sequence[str] = ("csv", "jsonl", "parquet"),
        accept_unbounded: bool = False,
        policy_digest: str = "",
        signed_off_by: str = "",
        title: str = "",
        source: str = "",
        contact: str = "",
        licence: str = "",
        purpose: str = "",
        recipient: str = "",
        review: str = "",
        sign_key: Path | None = None,
    ) -> ReleaseSummary:
        """Write the approved records of a run as a release.

        Args:
            policy_id: policy the gate applies.
            out: folder, or zip file, that gets a copy; the workspace keeps one in any case.
            formats: any of csv, jsonl, parquet.
            policy_digest: of the policy as it was shown; where it was changed since, nothing leaves.
            accept_unbounded: needed where `makes_unbounded`: the caller knows that it cannot be undone.
            signed_off_by: name of the second person, where the policy asks for one; it leaves with the release.
            title, source, contact, licence, purpose, recipient: public words for the data card.
            review: day (YYYY-MM-DD) by which the release is looked at again.
            sign_key: file of a private key outside the workspace, made by `engine.release.bundle.signing.make_key`.

        Raises:
            RefusedError: the gate does not pass, or the total would become unbounded without consent.
            UserError: the day of review is none, or lies in the past.
        """
        from engine.methods import get_method
        from engine.release import work_folder, write_bundle
        from engine.release.bundle.signing import read_key
        from engine.release.card.card import untitled

        run, policy = self.runs.get(run_id), self.policy(policy_id)
        if policy_digest not in ("", policy.digest):
            raise RefusedError("The policy was changed since it was shown. Look at its rules again, then release.")
        target = None if out is None else _free(Path(out))
        words = {
            "title": title or untitled(get_method(run.method).spec), "source": source, "contact": contact,
            "licence": licence, "purpose": purpose, "recipient": recipient, "review": _review_day(review),
        }  # fmt: skip
        signer = None if sign_key is None else read_key(Path(sign_key), self.session.path)
        verdict = self.gate(run_id, policy_id, signed_off_by=signed_off_by, anew=True)
        second = self._second(run_id, policy, signed_off_by)
        ends = self.makes_unbounded(run_id)
        if verdict.passed and ends and not accept_unbounded:
            raise RefusedError(UNBOUNDED)
        given = [line.waived for line in verdict.waived_rules() if line.waived is not None]
        self._words.check_names(run, {f"the reason of the waiver of {one.rule}": one.reason for one in given})
        records = self.runs.synthetic_frame(run_id)
        sources = self._words.sources(run)
        release_id = new_id("rel")
        staged = None if target is None else staging.beside(target)
        inside = [f"releases/{name}" for name in (release_id, work_folder(Path(release_id)).name)]
        for relative in inside:
            self.session.begin_writing(relative)
        if staged is not None:
            self.session.begin_writing(str(staged))
        try:
            card = self.card(run_id, policy, words, verdict.waived_rules(), second)
            bundle = write_bundle(
                self.session.folder.release(release_id),
                release_id=release_id,
                records=records[["text", "label", "approval"]],
                originals=list(self.corpora.frame(run.corpus_id, None, ["text"])["text"]),
                card=card,
                policy=policy,
                verdict=verdict,
                sources=sources,
                formats=tuple(formats),
                ledger=self.ledger.of_run(run_id),
                statistics=self._words.statistics(run),
                signer=signer,
            )
            for file in bundle.path.iterdir():
                file.chmod(0o600)
            if target is not None and staged is not None:
                staging.stage(bundle.path, staged, as_zip=target.suffix.lower() == ".zip")
            summary = ReleaseSummary(
                id=release_id,
                run_id=run_id,
                corpus_id=run.corpus_id,
                created=now(),
                records=bundle.records,
                policy=policy_id,
                path=str(target or bundle.path),
                files=bundle.files,
                sha256=bundle.sha256,
                words=words,
                manifest_sha256=bundle.manifest_sha256,
                signed_by=signer.public if signer else "",
                second_person=second.name if second else "",
                second_signed_in=second is not None and second.signed_in,
            )
            self._record(
                summary, records, accepted=ends, examined=run.examined_at, policy=policy, verdict=verdict, card=card,
                signed=signed_off_by,
            )  # fmt: skip
        except BaseException:
            if staged is not None:
                staging.discard(staged)  # first: the database may be what failed
            with self.session.db.write() as connection:
                for relative in inside:
                    self.session.mark_for_removal(connection, relative)
                if staged is not None:
                    self.session.mark_for_removal(connection, str(staged))
            self.session.sweep()
            raise
        if target is not None and staged is not None:
            self._place(release_id, staged, target, bundle.path)
        return summary

    def _place(self, release_id: str, staged: Path, target: Path, kept: Path) -> None:
        """Put the copy of a recorded release where it was asked for; what cannot be placed does not stay outside."""
        try:
            staging.place(staged, target)
        except BaseException as error:
            gone = staging.discard(staged)
            with self.session.db.write() as connection:
                connection.execute(update(releases).where(releases.c.id == release_id).values(path=str(kept)))
                if gone:
                    self.session.finish_writing(connection, str(staged))
                else:
                    self.session.mark_for_removal(connection, str(staged))
            if isinstance(error, StorageError):
                raise StorageError(
                    f"The release {release_id} is made and recorded, but its copy could not be put in place. {error} "
                    "Download the files from the Release page."
                ) from None
            raise
        with self.session.db.write() as connection:
            self.session.finish_writing(connection, str(staged))

    def all(self, corpus_id: str | None = None) -> list[ReleaseSummary]:
        """Return releases, latest first."""
        query = (
            select(releases, revocations.c.revoked, revocations.c.reason)
            .join(revocations, revocations.c.release_id == releases.c.id, isouter=True)
            .order_by(releases.c.created.desc(), releases.c.id)
        )
        if corpus_id is not None:
            query = query.where(releases.c.corpus_id == corpus_id)
        with self.session.db.read() as connection:
            return [_view(row) for row in connection.execute(query)]

    def get(self, release_id: str) -> ReleaseSummary:
        """Return one release.

        Raises:
            NotFoundError: there is none with this id.
        """
        found = next((release for release in self.all() if release.id == release_id), None)
        if found is None:
            raise NotFoundError(f"release {release_id!r} does not exist in this workspace")
        return found

    def note_preview(self, run_id: str) -> str:
        """Write into the audit log that a run's records were read inside the team; nothing leaves and nothing is spent.

        Returns:
            The run's id.
        """
        run = self.runs.get(run_id)
        with self.session.db.write() as connection:
            self.session.write_audit(connection, "internal preview", run_id, corpus=run.corpus_id, records=run.kept)
        return run_id

    def archive(self, release_id: str) -> bytes:
        """Return a whole release as one zip file, after checking each of its files.

        Raises:
            RefusedError: a file was changed, or the release was withdrawn.
        """
        release = self.get(release_id)
        made = io.BytesIO()
        with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
            for name in sorted(release.files):
                archive.writestr(zipfile.ZipInfo(name), self.file(release_id, name), zipfile.ZIP_DEFLATED)
        return made.getvalue()

    def revoke(self, release_id: str, reason: str) -> ReleaseSummary:
        """Withdraw a release for good; who checks it against the list of withdrawals is told so, with the reason.

        Args:
            reason: words for everybody to read, held against private text and numbers like those of a release.

        Raises:
            UserError: there is no reason, or the release is withdrawn already.
            RefusedError: the reason repeats private text, or holds a number that was measured on it.
        """
        release, said = self.get(release_id), " ".join(reason.split())[:LONGEST_REASON]
        if not said:
            raise UserError("reason: must not be empty; recipients read it")
        self._check_reason(release, said)
        with self.session.db.write() as connection:
            if connection.execute(select(revocations).where(revocations.c.release_id == release_id)).first():
                raise UserError("This release was withdrawn before.")
            values = {
                "release_id": release_id,
                "manifest_sha256": release.manifest_sha256,
                "revoked": datetime.now(UTC).date().isoformat(),
                "actor": self.session.actor,
                "reason": said,
            }
            told = rows.put(connection, self.session.key, rows.REVOCATIONS, values)
            self.session.write_audit(
                connection, "release withdrawn", release_id, run=release.run_id, corpus=release.corpus_id, **told
            )
        return self.get(release_id)

    def check_words(self, run: RunSummary, policy: Policy, given: Mapping[str, str]) -> None:
        """Refuse private words and numbers in texts, each under what it is, that leave apart from a bundle.

        Under a policy for whole outputs nothing is compared with private text; the words are declared public.

        Raises:
            RefusedError: one holds some; says which.
        """
        self._words.check(run, policy, given)

    def _check_reason(self, release: ReleaseSummary, reason: str) -> None:
        """Refuse private words and numbers, unless the release's policy compares nothing with private text."""
        try:
            run = self.runs.get(release.run_id)
        except NotFoundError:
            return  # its corpus is deleted: there is no private text any more
        try:
            policy = self.policy(release.policy)
        except NotFoundError:  # an own policy that was removed since: the strictest preset's rule counts
            policy = self.policy("public")
        self.check_words(run, policy, {"the reason": reason})
        if not policy.requirements.whole_output:
            self._words.check_names(run, {"the reason": reason})

    def revocation_list(self, sign_key: Path | None = None) -> str:
        """Return the list of withdrawn releases, for publishing; signed where a key file is given."""
        from engine.release.bundle.revocations import revocation_list
        from engine.release.bundle.signing import read_key

        signer = None if sign_key is None else read_key(Path(sign_key), self.session.path)
        self._demand_released(None)
        columns = [revocations.c.release_id.label("release"), *(revocations.c[name] for name in PUBLISHED)]
        with self.session.db.read() as connection:
            rows = connection.execute(select(*columns).order_by(revocations.c.revoked, revocations.c.release_id)).all()
        entries = [dict(row._mapping) for row in rows]
        return revocation_list(entries, datetime.now(UTC).date().isoformat(), signer)

    def file(self, release_id: str, name: str) -> bytes:
        """Return one file of a release after checking that it is unchanged.

        Raises:
            RefusedError: the file was changed, or the release was withdrawn.
        """
        release = self.get(release_id)
        self._demand_released(release_id)
        if release.revoked:
            raise RefusedError(f"This release was withdrawn on {release.revoked}; it is not handed out any more.")
        digest = release.sha256.get(name)
        if digest is None:
            raise NotFoundError(f"the release has no such file; it has {', '.join(sorted(release.files))}")
        with file_errors():
            try:
                data = files.read_bytes(self.session.folder.release(release_id) / name)
            except FileNotFoundError:
                raise StorageError("A released file is missing. Restore the workspace from a backup.") from None
        if hashlib.sha256(data).hexdigest() != digest:
            raise RefusedError("This file was changed after its release. Release the run again.")
        return data

    def _demand_released(self, release_id: str | None) -> None:
        """Refuse where a release or its withdrawal, or any of them, is not what the audit log tells of."""
        kinds, only = (rows.RELEASES, rows.REVOCATIONS), None if release_id is None else (release_id,)
        with self.session.db.read() as connection:
            log = about.whole(connection, self.session.key, release_id or "")
            if not log or rows.breaks(connection, self.session.key, kinds, only):
                raise RefusedError(NOT_RELEASED)

    def card(
        self, run_id: str, policy: Policy, words: Mapping[str, str], waived_rules: Sequence[RuleVerdict] = (),
        second: SecondPerson | None = None,
    ) -> DataCard:  # fmt: skip
        """Return the data card of a run under a policy, made of public facts and typed words."""
        from engine.methods import get_method
        from engine.release import CardFacts, build_card
        from engine.release.card.naming import without_ids

        with self.session.db.read() as connection:
            row = run_row(connection, run_id)
        return build_card(
            CardFacts(
                method=get_method(row.method).spec,
                guarantee=without_ids(row.guarantee),
                policy=policy,
                parameters=row.parameters,
                model=row.model,
                versions={n: str(version) for n, version in as_object(row.manifest.get("versions")).items()},
                selected=self._facts.selected(row, policy),
                waived=tuple(waived_rules),
                second=second,
                **words,
            )
        )

    def _record(
        self,
        summary: ReleaseSummary,
        judged: pd.DataFrame,
        *,
        accepted: bool,
        examined: str | None,
        policy: Policy,
        verdict: Verdict,
        card: DataCard,
        signed: str,
    ) -> None:
        """Store the release if the run is still as it was judged; everything is looked at again in one transaction.

        accepted: the person releasing agreed that the total becomes unbounded. examined: when the run had been examined
        as it was judged. policy: as it was asked. verdict: its answer. card: that left with the records.
        signed: name of the second person, as it was typed.
        """
        from engine.release import work_folder

        with self.session.db.write() as connection:
            row = run_row(connection, summary.run_id)
            current = frame_of(connection, summary.run_id)  # nobody else writes while this transaction is open
            if own.get(connection, policy.id).digest != policy.digest:
                raise RefusedError(
                    "The policy was changed while the release was written. Look at it, then release again."
                )
            whole = policy.requirements.whole_output
            again = whole and (was_examined(connection, self.session.key, row) or was_lost(connection, row))
            if row.examined_at != examined or again:
                raise RefusedError(
                    "The run, or one with the same text or seed, was examined while the release was written. Look at "
                    "what was found, then release again."
                )
            if not current[["record_id", "approval"]].equals(judged[["record_id", "approval"]]):
                raise RefusedError("Approvals changed while the release was written. Look at them, then release again.")
            self._check_still(connection, summary, policy, verdict, signed)
            second = self._second(summary.run_id, policy, signed)
            runs_held.demand_here(self.session, connection, summary.run_id)
            texts = ["record_id", "text", "label", "lineage"]
            if not current[texts].equals(judged[texts]) or card != self.card(
                summary.run_id, policy, summary.words, verdict.waived_rules(), second
            ):
                raise RefusedError(
                    "The run was changed outside of the program while the release was written. Run `audit --verify`."
                )
            if row.needs_spans and row.revision != row.corpus_revision:
                raise RefusedError("Spans changed while the release was written. Run the method again, or undo.")
            names = ("id", "run_id", "corpus_id", "created", "records", "policy", "path", "files")
            detail = {name: getattr(summary, name) for name in DETAIL}
            values = {name: getattr(summary, name) for name in names} | {"detail": detail}
            told = rows.put(connection, self.session.key, rows.RELEASES, values)
            connection.execute(update(runs).where(runs.c.id == summary.run_id).values(released_at=summary.created))
            self.session.finish_writing(connection, f"releases/{summary.id}")
            self.session.finish_writing(connection, f"releases/{work_folder(Path(summary.id)).name}")
            self.ledger.touch_of_release(connection, summary.run_id, summary.records)
            self.session.write_audit(
                connection,
                "records released",
                summary.id,
                run=summary.run_id,
                corpus=summary.corpus_id,
                policy=summary.policy,
                policy_digest=policy.digest,
                records=summary.records,
                manifest_sha256=summary.manifest_sha256,
                signed_by=summary.signed_by,
                **_of_second(summary),
                accepted_unbounded=accepted,
                waivers=[line.waived.id for line in verdict.waived_rules() if line.waived],
                **told,
            )

    def _check_still(
        self, connection: Connection, summary: ReleaseSummary, policy: Policy, verdict: Verdict, signed: str
    ) -> None:
        """Refuse where a waiver or the review no longer holds, or a sample's answer changed, while it was written."""
        held.demand_here(self.session, connection, summary.corpus_id, table=False)
        stand = {one.id for one in waived.given(connection, summary.run_id, policy.id) if waived.today() <= one.expires}
        if any(line.waived is not None and line.waived.id not in stand for line in verdict.waived_rules()):
            raise RefusedError(
                "A waiver was withdrawn or expired while the release was written. Look at it, then release again."
            )
        from engine.release import INTRUDER_RULES, SPOT_RULES

        again = {line.rule: line for line in self.gate(summary.run_id, policy.id, signed_off_by=signed).rules}
        other = [line.rule for line in verdict.rules if _answer(again.get(line.rule)) != _answer(line)]
        if any(rule in (*SPOT_RULES, *INTRUDER_RULES) for rule in other):
            raise RefusedError(
                "What the spot check or the intruder trial says changed while the release was written. Look at it, "
                "then release again."
            )
        if other:
            raise RefusedError(
                "What the gate says of the run changed while the release was written. Look at it, then release again."
            )


def _answer(line: RuleVerdict | None) -> tuple[float | None, bool | None] | None:
    return None if line is None else (line.value, line.passed)


def _of_second(made: ReleaseSummary) -> dict[str, str | bool]:
    """Return what the audit line says of the second person; nothing where no policy asked for one."""
    if not made.second_person:
        return {}
    return {"second_person": made.second_person, "second_signed_in": made.second_signed_in}


def _view(row: AnyRow) -> ReleaseSummary:
    names = ("id", "run_id", "corpus_id", "created", "records", "policy", "path", "files")
    return ReleaseSummary(
        **{n: getattr(row, n) for n in names},
        sha256=row.detail["sha256"],
        words=row.detail.get("words", {}),
        manifest_sha256=row.detail["manifest_sha256"],
        signed_by=row.detail.get("signed_by", ""),
        second_person=row.detail.get("second_person", ""),
        second_signed_in=row.detail.get("second_signed_in", False),
        revoked=row.revoked or "",
        reason=row.reason or "",
    )


def _review_day(text: str) -> str:
    """Return the day by which a release is looked at again, or nothing."""
    if not text.strip():
        return ""
    try:
        day = date.fromisoformat(text.strip())
    except ValueError:
        raise UserError("review: give a day as YYYY-MM-DD") from None
    if day <= datetime.now(UTC).date():
        raise UserError("review: give a day to come; by then somebody looks again at whether the release can stand")
    return day.isoformat()


def _free(out: Path) -> Path:
    target = out.absolute()
    if target.exists():
        raise UserError(f"out: {target.name} exists already; name a folder or zip file that does not")
    return target
