"""Runs: summaries, synthetic records, approvals.

Privacy posture: lineage and risk are internal; nothing here writes synthetic text outside the database.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import pandas as pd
import yaml
from sqlalchemy import Connection, func, select, update

from engine.errors import NotFoundError, UserError
from engine.examine.findings import run_notes
from engine.json_types import JSON, JSONObject
from engine.store.budget import reservations
from engine.store.database.schema import corpora, runs, synthetic
from engine.store.rows import AnySelect, RunRow, run_of
from engine.store.runs import chained, seen
from engine.store.session import Session
from engine.store.views import Risks, RunSummary

APPROVALS = ("pending", "approved", "rejected")
LONGEST_NAME, LONGEST_NOTE = 60, 2_000
SYNTHETIC_COLUMNS = ["record_id", "text", "label", "approval", "risk"]


class Runs:
    """Runs and their synthetic records."""

    def __init__(self, session: Session) -> None:
        self.session = session

    def all(self, corpus_id: str | None = None) -> list[RunSummary]:
        """Return the runs of a corpus, or all, latest first."""
        query = _run_query().order_by(runs.c.created.desc(), runs.c.id)
        if corpus_id is not None:
            query = query.where(runs.c.corpus_id == corpus_id)
        with self.session.db.read() as connection:
            return [_run_view(run_of(row)) for row in connection.execute(query)]

    def get(self, run_id: str) -> RunSummary:
        """Return one run."""
        with self.session.db.read() as connection:
            return _run_view(run_row(connection, run_id))

    def diagnostics(self, run_id: str) -> JSONObject:
        """Return the numbers a run noted on its way, for internal figures; never released."""
        with self.session.db.read() as connection:
            return run_row(connection, run_id).diagnostics

    def notes(self, run_id: str) -> list[run_notes.Note]:
        """Return what the run noted on its way, in words beside what chance gives; never released."""
        return run_notes.read(self.diagnostics(run_id))

    def describe(self, run_id: str, *, name: str, note: str) -> None:
        """Keep what people here call a run and say of it; the audit log says that they did, not what.

        Raises:
            UserError: the name has several lines, or one of the two is too long.
        """
        name, note = " ".join(name.split()), note.strip()
        if len(name) > LONGEST_NAME or len(note) > LONGEST_NOTE:
            raise UserError(f"a name has at most {LONGEST_NAME} characters, a note at most {LONGEST_NOTE:,}")
        with self.session.db.write() as connection:
            row = run_row(connection, run_id)
            if (row.name, row.note) == (name, note):
                return
            connection.execute(update(runs).where(runs.c.id == run_id).values(name=name, note=note))
            self.session.write_audit(connection, "run described", run_id, named=bool(name), noted=bool(note))

    def delete(self, run_id: str) -> None:
        """Delete a run with its records, findings and jobs."""
        with self.session.db.write() as connection:
            row = run_row(connection, run_id)
            self.session.mark_for_removal(connection, f"runs/{run_id}")
            seen.keep(connection, self.session.key, [run_id])
            connection.execute(runs.delete().where(runs.c.id == run_id))
            reservations.reconcile(connection, self.session.key, self.session.actor)
            self.session.write_audit(connection, "run deleted", run_id, corpus=row.corpus_id, records=row.kept)
        self.session.sweep()
        self.session.db.truncate_log(2.0)

    def synthetic(
        self,
        run_id: str,
        *,
        ids: Sequence[str] | None = None,
        offset: int = 0,
        limit: int = 50,
        order: Literal["position", "risk"] = "position",
    ) -> pd.DataFrame:
        """Return synthetic records: record_id, text, label, approval, risk (0..1, None before examining)."""
        if order not in ("position", "risk"):
            raise UserError(f"order: must be position or risk, is {order!r}")
        columns = [synthetic.c[name] for name in SYNTHETIC_COLUMNS]
        query = select(*columns).where(synthetic.c.run_id == run_id)
        with self.session.db.read() as connection:
            run_row(connection, run_id)
            if ids is not None:
                found: dict[str, tuple[object, ...]] = {}
                for begin in range(0, len(ids), 500):
                    part = query.where(synthetic.c.record_id.in_(list(ids[begin : begin + 500])))
                    found.update({r.record_id: tuple(r) for r in connection.execute(part)})
                rows = [found[i] for i in ids if i in found]
            else:
                if order == "risk":
                    query = query.order_by(synthetic.c.risk.desc().nulls_last(), synthetic.c.position)
                else:
                    query = query.order_by(synthetic.c.position)
                rows = [tuple(r) for r in connection.execute(query.limit(limit).offset(offset))]
        return _frame(rows, SYNTHETIC_COLUMNS)

    def lineage(self, run_id: str, record_id: str) -> str | None:
        """Return the source record's id of a synthetic record, or None; internal, never released."""
        with self.session.db.read() as connection:
            run_row(connection, run_id)
            row = connection.execute(
                select(synthetic.c.lineage).where(synthetic.c.run_id == run_id, synthetic.c.record_id == record_id)
            ).first()
        if row is None:
            raise NotFoundError("there is no synthetic record with this id in the run")
        return None if row.lineage is None else str(row.lineage)

    def script(self, run_id: str) -> str:
        """Return the run's settings as YAML, and the one command that repeats it."""
        run = self.get(run_id)
        body = {
            "corpus": run.corpus_id,
            "method": run.method,
            "model": run.model,
            "count": run.count,
            "seed": run.seed,
            "parameters": dict(run.parameters),
        }
        command = [
            "python -m engine synthesize",
            run.corpus_id,
            f"--method {run.method}",
            f"--model {run.model}",
            f"--count {run.count}",
            f"--seed {run.seed}",
        ]
        command += [f"--set {name}={_shell(value)}" for name, value in run.parameters.items()]
        return yaml.safe_dump(body, sort_keys=False, allow_unicode=True) + "\n# " + " ".join(command) + "\n"

    def approve(
        self, run_id: str, record_ids: Sequence[str], approval: Literal["approved", "rejected", "pending"]
    ) -> int:
        """Set the approval of synthetic records; return how many."""
        if approval not in APPROVALS:
            raise UserError(f"approval: must be one of {', '.join(APPROVALS)}, is {approval!r}")
        key, changed = self.session.key, 0
        with self.session.db.write() as connection:
            _finished(run_row(connection, run_id))
            with chained.watched(connection, key, run_id, record_ids):
                for begin in range(0, len(record_ids), 500):
                    result = connection.execute(
                        update(synthetic)
                        .where(
                            synthetic.c.run_id == run_id,
                            synthetic.c.record_id.in_(list(record_ids[begin : begin + 500])),
                        )
                        .values(approval=approval)
                    )
                    changed += result.rowcount
            told = chained.told(connection, key, run_id)
            if changed:
                self.session.write_audit(connection, f"records {approval}", run_id, records=changed, **told)
        return changed

    def approve_all_pending(self, run_id: str, max_risk: float | None = None) -> int:
        """Approve every pending record, or those with a known risk of at most `max_risk`; return how many."""
        statement = (
            update(synthetic)
            .where(synthetic.c.run_id == run_id, synthetic.c.approval == "pending")
            .values(approval="approved")
        )
        if max_risk is not None:
            statement = statement.where(synthetic.c.risk <= max_risk)
        with self.session.db.write() as connection:
            _finished(run_row(connection, run_id))
            with chained.watched(connection, self.session.key, run_id):
                changed = int(connection.execute(statement).rowcount)
            told = chained.told(connection, self.session.key, run_id)
            if changed:
                self.session.write_audit(
                    connection, "records approved together", run_id, records=changed, max_risk=max_risk, **told
                )
        return changed

    def pending_below(self, run_id: str, max_risk: float) -> int:
        """Return how many records `approve_all_pending(run_id, max_risk)` would approve."""
        query = select(func.count()).where(
            synthetic.c.run_id == run_id, synthetic.c.approval == "pending", synthetic.c.risk <= max_risk
        )
        with self.session.db.read() as connection:
            run_row(connection, run_id)
            return int(connection.execute(query).scalar_one())

    def lowest_pending_risk(self, run_id: str) -> float | None:
        """Return the lowest risk of an undecided record, None where none has a risk."""
        query = select(func.min(synthetic.c.risk)).where(
            synthetic.c.run_id == run_id, synthetic.c.approval == "pending"
        )
        with self.session.db.read() as connection:
            found = connection.execute(query).scalar_one_or_none()
        return None if found is None else float(found)

    def highest_approved_risk(self, run_id: str) -> float | None:
        """Return the highest risk of an approved record, None where none has a risk."""
        query = select(func.max(synthetic.c.risk)).where(
            synthetic.c.run_id == run_id, synthetic.c.approval == "approved"
        )
        with self.session.db.read() as connection:
            found = connection.execute(query).scalar_one_or_none()
        return None if found is None else float(found)

    def approval_counts(self, run_id: str) -> dict[str, int]:
        """Return how many records are pending, approved and rejected."""
        return {name: found.records for name, found in self.risks(run_id).items()}

    def risks(self, run_id: str) -> dict[str, Risks]:
        """Return how many records are pending, approved and rejected, with the sums of their risks."""
        risk = synthetic.c.risk
        query = select(
            synthetic.c.approval, func.count(), func.count(risk), func.sum(risk), func.sum(risk * risk)
        ).where(synthetic.c.run_id == run_id)
        with self.session.db.read() as connection:
            run_row(connection, run_id)
            found = {
                str(name): Risks(int(records), int(known), float(total or 0.0), float(squares or 0.0))
                for name, records, known, total, squares in connection.execute(query.group_by(synthetic.c.approval))
            }
        return {name: found.get(name, Risks(0, 0, 0.0, 0.0)) for name in APPROVALS}

    def synthetic_frame(self, run_id: str) -> pd.DataFrame:
        """Return all records of a run with lineage, for the examination and the release."""
        with self.session.db.read() as connection:
            return frame_of(connection, run_id)


def run_row(connection: Connection, run_id: str) -> RunRow:
    """Return a run's row, with its corpus' revision, or raise `NotFoundError`."""
    row = connection.execute(_run_query().where(runs.c.id == run_id)).first()
    if row is None:
        raise NotFoundError(f"run {run_id!r} does not exist in this workspace; list them with `runs`")
    return run_of(row)


def frame_of(connection: Connection, run_id: str) -> pd.DataFrame:
    """Return all records of a run with lineage, as the caller's transaction sees them."""
    names = ["record_id", "text", "label", "lineage", "approval", "risk"]
    query = select(*[synthetic.c[n] for n in names]).where(synthetic.c.run_id == run_id)
    same: dict[object, object] = {}  # one string for each label and each word on approval, of a million records too
    rows = [
        (r[0], r[1], same.setdefault(r[2], r[2]), r[3], same.setdefault(r[4], r[4]), r[5])
        for r in connection.execute(query.order_by(synthetic.c.position))
    ]
    return _frame(rows, names)


def rows_of_corpus(connection: Connection, corpus_id: str) -> list[RunRow]:
    """Return the runs of a corpus, oldest first."""
    query = _run_query().where(runs.c.corpus_id == corpus_id).order_by(runs.c.created, runs.c.id)
    return [run_of(row) for row in connection.execute(query)]


def _run_query() -> AnySelect:
    return select(runs, corpora.c.revision.label("corpus_revision")).join(corpora, corpora.c.id == runs.c.corpus_id)


def _run_view(row: RunRow) -> RunSummary:
    return RunSummary(
        id=row.id,
        corpus_id=row.corpus_id,
        method=row.method,
        title=row.title,
        parameters=row.parameters,
        seed=row.seed,
        model=row.model,
        count=row.count,
        state=row.state,
        created=row.created,
        started=row.started,
        finished=row.finished,
        seconds=row.seconds,
        kept=row.kept,
        funnel=row.funnel,
        error=row.error,
        guarantee=row.guarantee,
        examined_at=row.examined_at,
        released_at=row.released_at,
        stale=row.stale,
        examination_stale=row.examined_at is not None and row.examined_revision != row.corpus_revision,
        job_id=row.job_id or "",
        name=row.name,
        note=row.note,
    )


def _finished(row: RunRow) -> None:
    if row.state in ("queued", "running"):
        raise UserError("this run is still being made; wait until it is done, or cancel it first")


def _frame(rows: Sequence[tuple[object, ...]], columns: Sequence[str]) -> pd.DataFrame:
    frame = pd.DataFrame({name: pd.Series([r[i] for r in rows], dtype=object) for i, name in enumerate(columns)})
    if "risk" in columns:
        frame["risk"] = frame["risk"].astype("float64")
    return frame


def _shell(value: JSON) -> str:
    import json
    import shlex

    return shlex.quote(value if isinstance(value, str) else json.dumps(value))
