"""Releases: policies, the gate, the bundle in the workspace, its files.

Privacy posture: the gate's verdict stays inside; the audit line of a release holds its policy, the
number of records and the manifest's SHA-256.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import select, update

from engine.errors import NotFoundError, RefusedError, StorageError, UserError
from engine.json_types import as_object
from engine.store.audit import now
from engine.store.budget.ledger import Ledger
from engine.store.corpora.corpora import Corpora
from engine.store.disk import staging
from engine.store.disk.folder import file_errors
from engine.store.rows import AnyRow, RunRow
from engine.store.runs.examinations import Examinations
from engine.store.runs.runs import Runs, run_row, seen
from engine.store.schema import releases, runs
from engine.store.session import Session, new_id
from engine.store.views import ReleaseSummary, RunSummary

if TYPE_CHECKING:
    import pandas as pd

    from engine.release import DataCard, Policy, Verdict


UNBOUNDED = (
    "This run carries no formal guarantee. Once it is released, no ε can be claimed any more for the people behind "
    "this corpus, in this and in every later release, and that cannot be undone. Say that you accept it "
    "(--accept-unbounded on the command line, the question on the Release page), or release a run with a guarantee"
)

WATCHED = "watch_loss"  # the parameter that shows exact losses of private records


class Releases:
    """Policies, the gate, and releases."""

    def __init__(
        self, session: Session, corpora: Corpora, runs: Runs, examinations: Examinations, ledger: Ledger
    ) -> None:
        self.session = session
        self.corpora = corpora
        self.runs = runs
        self.examinations = examinations
        self.ledger = ledger

    def policies(self) -> tuple[Policy, ...]:
        """Return the policies that come with the program."""
        from engine.release import policies

        return policies()

    def gate(self, run_id: str, policy_id: str, *, signed_off_by: str = "") -> Verdict:
        """Hold a run against a policy; whatever is missing or stale is not passed."""
        from engine.release import GateFacts, evaluate, get_policy

        run, counts = self.runs.get(run_id), self.runs.approval_counts(run_id)
        whole = get_policy(policy_id).requirements.whole_output
        facts = GateFacts(
            approved=counts["approved"],
            rejected=counts["rejected"],
            pending=counts["pending"],
            stale=run.stale or run.examination_stale,
            examined=run.examined_at is not None,
            text_examined=whole and self._examined_elsewhere(run_id),
            lost=whole and self._lost_since(run_id),
            watched=bool(run.parameters.get(WATCHED)),
            originals=self._approved_originals(run),
            epsilon=run.guarantee.epsilon,
            delta=run.guarantee.delta,
            units=self.ledger.public_facts(run.corpus_id).units,
            guarantee_kind=run.guarantee.kind,
            run_state=run.state,
            actor=self.session.actor,
            signed_off_by=signed_off_by,
        )
        return evaluate(get_policy(policy_id), self.examinations.findings(run_id), facts)

    def _approved_originals(self, run: RunSummary) -> int | None:
        """Return how many approved records are an original, None where the examination did not look."""
        found = None if run.guarantee.kind == "dp" else self.examinations.table(run.id, "originals")
        if found is None:
            return None
        ids = list(found["record_id"])
        return int((self.runs.synthetic(run.id, ids=ids)["approval"] == "approved").sum()) if ids else 0

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
        signed_off_by: str = "",
        title: str = "",
        source: str = "",
        contact: str = "",
        licence: str = "",
    ) -> ReleaseSummary:
        """Write the approved records of a run as a release.

        Args:
            policy_id: policy the gate applies.
            out: folder, or zip file, that gets a copy; the workspace keeps one in any case.
            formats: any of csv, jsonl, parquet.
            accept_unbounded: needed where `makes_unbounded`: the caller knows that it cannot be undone.
            signed_off_by: name of the second person, where the policy asks for one.
            title, source, contact, licence: public words for the data card.

        Raises:
            RefusedError: the gate does not pass, or the total would become unbounded without consent.
        """
        from engine.release import get_policy, work_folder, write_bundle

        run, policy = self.runs.get(run_id), get_policy(policy_id)
        target = None if out is None else _free(Path(out))
        verdict = self.gate(run_id, policy_id, signed_off_by=signed_off_by)
        ends = self.makes_unbounded(run_id)
        if verdict.passed and ends and not accept_unbounded:
            raise RefusedError(UNBOUNDED)
        records = self.runs.synthetic_frame(run_id)
        sources = self._sources(run)
        release_id = new_id("rel")
        staged = None if target is None else staging.beside(target)
        inside = [f"releases/{name}" for name in (release_id, work_folder(Path(release_id)).name)]
        for relative in inside:
            self.session.begin_writing(relative)
        if staged is not None:
            self.session.begin_writing(str(staged))
        try:
            bundle = write_bundle(
                self.session.folder.release(release_id),
                release_id=release_id,
                records=records[["text", "label", "approval"]],
                originals=list(self.corpora.frame(run.corpus_id, None, ["text"])["text"]),
                card=self._card(run_id, policy, title, source, contact, licence),
                policy=policy,
                verdict=verdict,
                sources=sources,
                formats=tuple(formats),
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
            )
            self._record(
                summary, records, bundle.manifest_sha256, accepted=ends, examined=run.examined_at,
                whole=policy.requirements.whole_output,
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
        query = select(releases).order_by(releases.c.created.desc(), releases.c.id)
        if corpus_id is not None:
            query = query.where(releases.c.corpus_id == corpus_id)
        with self.session.db.read() as connection:
            return [_view(row) for row in connection.execute(query)]

    def file(self, release_id: str, name: str) -> bytes:
        """Return one file of a release after checking that it is unchanged."""
        with self.session.db.read() as connection:
            row = connection.execute(select(releases).where(releases.c.id == release_id)).first()
        if row is None:
            raise NotFoundError(f"release {release_id!r} does not exist in this workspace")
        digest = row.detail["sha256"].get(name)
        if digest is None:
            raise NotFoundError(f"the release has no such file; it has {', '.join(sorted(row.files))}")
        with file_errors():
            try:
                data = (self.session.folder.release(release_id) / name).read_bytes()
            except FileNotFoundError:
                raise StorageError("A released file is missing. Restore the workspace from a backup.") from None
        if hashlib.sha256(data).hexdigest() != digest:
            raise RefusedError("This file was changed after its release. Release the run again.")
        return data

    def _sources(self, run: RunSummary) -> list[str]:
        """Return what a release must not repeat: the texts the method could read, and their labels.

        The labels of a `dp` run follow from a public list or were bought, so they are no copies.
        """
        frame = self.corpora.frame(run.corpus_id, "train", ["text", "label", "split"])
        labels = [] if run.guarantee.kind == "dp" else [str(label) for label in frame["label"].dropna().unique()]
        return [*frame["text"], *labels]

    def _card(self, run_id: str, policy: Policy, title: str, source: str, contact: str, licence: str) -> DataCard:
        from engine.methods import get_method
        from engine.release import CardFacts, build_card

        with self.session.db.read() as connection:
            row = run_row(connection, run_id)
        return build_card(
            CardFacts(
                method=get_method(row.method).spec,
                guarantee=row.guarantee,
                policy=policy,
                parameters=row.parameters,
                model=row.model,
                versions={n: str(version) for n, version in as_object(row.manifest.get("versions")).items()},
                selected=self._selected(row, policy),
                title=title or "Synthetic text records",
                source=source,
                contact=contact,
                licence=licence,
            )
        )

    def _selected(self, row: RunRow, policy: Policy) -> bool:
        """Say whether anything but the run's own mechanisms may have chosen what is released.

        Only a policy for whole outputs leaves nothing to choose: its gate wants every record approved, no examination,
        no loss watched and no comparison with the original.
        """
        counts = self.runs.approval_counts(row.id)
        watched = bool(row.parameters.get(WATCHED))
        held_back = counts["rejected"] + counts["pending"] > 0
        if held_back or watched or row.examined_at is not None or not policy.requirements.whole_output:
            return True
        return self._examined_elsewhere(row.id) or self._lost_since(row.id)

    def _lost_since(self, run_id: str) -> bool:
        """Say whether nobody can tell what was examined after the run was made."""
        with self.session.db.read() as connection:
            return seen.lost_since(connection, run_id)

    def _examined_elsewhere(self, run_id: str) -> bool:
        """Say whether the same texts were examined as another run's; see `engine.store.runs.seen`."""
        with self.session.db.read() as connection:
            return seen.elsewhere(connection, self.session.key, run_id)

    def _record(
        self,
        summary: ReleaseSummary,
        judged: pd.DataFrame,
        manifest_sha256: str,
        *,
        accepted: bool,
        examined: str | None,
        whole: bool,
    ) -> None:
        """Store the release if the run is still as it was judged; everything is looked at again in one transaction.

        accepted: the person releasing agreed that the total becomes unbounded. examined: when the run had been examined
        as it was judged. whole: the policy lets whole outputs leave that nobody examined.
        """
        from engine.release import work_folder

        with self.session.db.write() as connection:
            row = run_row(connection, summary.run_id)
            current = self.runs.synthetic_frame(summary.run_id)  # nobody else writes while this transaction is open
            again = whole and (
                seen.elsewhere(connection, self.session.key, row.id) or seen.lost_since(connection, row.id)
            )
            if row.examined_at != examined or again:
                raise RefusedError(
                    "The run, or one with the same text or seed, was examined while the release was written. Look at "
                    "what was found, then release again."
                )
            if not current[["record_id", "approval"]].equals(judged[["record_id", "approval"]]):
                raise RefusedError("Approvals changed while the release was written. Look at them, then release again.")
            if row.needs_spans and row.revision != row.corpus_revision:
                raise RefusedError("Spans changed while the release was written. Run the method again, or undo.")
            connection.execute(
                releases.insert().values(
                    id=summary.id,
                    run_id=summary.run_id,
                    corpus_id=summary.corpus_id,
                    created=summary.created,
                    records=summary.records,
                    policy=summary.policy,
                    path=summary.path,
                    files=summary.files,
                    detail={"sha256": summary.sha256, "manifest_sha256": manifest_sha256},
                )
            )
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
                records=summary.records,
                manifest_sha256=manifest_sha256,
                accepted_unbounded=accepted,
            )


def _view(row: AnyRow) -> ReleaseSummary:
    names = ("id", "run_id", "corpus_id", "created", "records", "policy", "path", "files")
    return ReleaseSummary(**{n: getattr(row, n) for n in names}, sha256=row.detail["sha256"])


def _free(out: Path) -> Path:
    target = out.absolute()
    if target.exists():
        raise UserError(f"out: {target.name} exists already; name a folder or zip file that does not")
    return target
