"""Runs: summaries, synthetic records, approvals, findings and their tables.

Privacy posture: lineage and risk are internal; nothing here writes synthetic text outside the database.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd
import yaml
from sqlalchemy import Connection, func, select, text, update

from engine.errors import NotFoundError, UserError
from engine.examine import run_notes
from engine.store.audit import now
from engine.store.budget import reservations
from engine.store.records import read_table, write_table
from engine.store.review.values import ValueStation
from engine.store.schema import corpora, findings, runs, synthetic
from engine.store.views import RunSummary

if TYPE_CHECKING:
    from engine.examine.findings import Finding

APPROVALS = ("pending", "approved", "rejected")
SYNTHETIC_COLUMNS = ["record_id", "text", "label", "approval", "risk"]
TABLE_NAME = re.compile(r"[a-z0-9_]{1,60}")
SNAPSHOT = re.compile(r"iteration_(\d+)")  # a method's candidates of one round, kept for internal figures


class RunStation(ValueStation):
    """What the run, privacy, utility and release pages read."""

    def runs(self, corpus_id: str | None = None) -> list[RunSummary]:
        """Return the runs of a corpus, or all, latest first."""
        query = _run_query().order_by(runs.c.created.desc(), runs.c.id)
        if corpus_id is not None:
            query = query.where(runs.c.corpus_id == corpus_id)
        with self.db.read() as connection:
            return [_run_view(row) for row in connection.execute(query)]

    def run(self, run_id: str) -> RunSummary:
        """Return one run."""
        with self.db.read() as connection:
            return _run_view(run_row(connection, run_id))

    def diagnostics(self, run_id: str) -> dict[str, Any]:
        """Return the numbers a run noted on its way, for internal figures; never released."""
        with self.db.read() as connection:
            return dict(run_row(connection, run_id).diagnostics or {})

    def run_notes(self, run_id: str) -> list[run_notes.Note]:
        """Return what the run noted on its way, in words beside what chance gives; never released."""
        return run_notes.read(self.diagnostics(run_id))

    def delete_run(self, run_id: str) -> None:
        """Delete a run with its records, findings and jobs."""
        with self.db.write() as connection:
            row = run_row(connection, run_id)
            self._condemn(connection, f"runs/{run_id}")
            connection.execute(runs.delete().where(runs.c.id == run_id))
            reservations.reconcile(connection, self.key, self.actor)
            self._audit(connection, "run deleted", run_id, corpus=row.corpus_id, records=row.kept)
        self._sweep()
        self.db.truncate_log(2.0)

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
        with self.db.read() as connection:
            run_row(connection, run_id)
            if ids is not None:
                found: dict[str, Any] = {}
                for begin in range(0, len(ids), 500):
                    part = query.where(synthetic.c.record_id.in_(list(ids[begin : begin + 500])))
                    found.update({r.record_id: tuple(r) for r in connection.execute(part)})
                rows = [found[i] for i in ids if i in found]
            else:
                if order == "risk":
                    query = query.order_by(synthetic.c.risk.desc(), synthetic.c.position)
                else:
                    query = query.order_by(synthetic.c.position)
                rows = [tuple(r) for r in connection.execute(query.limit(limit).offset(offset))]
        return _frame(rows, SYNTHETIC_COLUMNS)

    def lineage(self, run_id: str, record_id: str) -> str | None:
        """Return the source record's id of a synthetic record, or None; internal, never released."""
        with self.db.read() as connection:
            run_row(connection, run_id)
            row = connection.execute(
                select(synthetic.c.lineage).where(synthetic.c.run_id == run_id, synthetic.c.record_id == record_id)
            ).first()
        if row is None:
            raise NotFoundError("there is no synthetic record with this id in the run")
        return None if row.lineage is None else str(row.lineage)

    def script(self, run_id: str) -> str:
        """Return the run's settings as YAML, and the one command that repeats it."""
        run = self.run(run_id)
        body = {
            "corpus": run.corpus_id,
            "method": run.method,
            "model": run.model,
            "count": run.count,
            "seed": run.seed,
            "parameters": run.parameters,
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
        changed = 0
        with self.db.write() as connection:
            _finished(run_row(connection, run_id))
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
            if changed:
                self._audit(connection, f"records {approval}", run_id, records=changed)
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
        with self.db.write() as connection:
            _finished(run_row(connection, run_id))
            changed = int(connection.execute(statement).rowcount)
            if changed:
                self._audit(connection, "records approved together", run_id, records=changed, max_risk=max_risk)
        return changed

    def pending_below(self, run_id: str, max_risk: float) -> int:
        """Return how many records `approve_all_pending(run_id, max_risk)` would approve."""
        query = select(func.count()).where(
            synthetic.c.run_id == run_id, synthetic.c.approval == "pending", synthetic.c.risk <= max_risk
        )
        with self.db.read() as connection:
            run_row(connection, run_id)
            return int(connection.execute(query).scalar_one())

    def approval_counts(self, run_id: str) -> dict[str, int]:
        """Return how many records are pending, approved and rejected."""
        query = select(synthetic.c.approval, func.count()).where(synthetic.c.run_id == run_id)
        with self.db.read() as connection:
            run_row(connection, run_id)
            found = dict(tuple(r) for r in connection.execute(query.group_by(synthetic.c.approval)))
        return {name: int(found.get(name, 0)) for name in APPROVALS}

    def findings(self, run_id: str) -> list[Finding]:
        """Return the run's findings in the order they were made."""
        from engine.examine.findings import Finding

        with self.db.read() as connection:
            run_row(connection, run_id)
            query = select(findings.c.body).where(findings.c.run_id == run_id).order_by(findings.c.position)
            return [Finding(**_number(body)) for body in connection.execute(query).scalars()]

    def table(
        self, run_id: str, name: str, *, columns: Sequence[str] | None = None, where: Mapping[str, str] | None = None
    ) -> pd.DataFrame | None:
        """Return one of the examination's tidy tables, or None where it was not made.

        Args:
            columns: only these; all if None.
            where: only rows whose columns equal these values; milliseconds even in a large table.
        """
        with self.db.read() as connection:
            row = run_row(connection, run_id)
        if row.examined_at is None or not TABLE_NAME.fullmatch(name):
            return None
        path = self.folder.run(run_id) / f"{name}.parquet"
        return read_table(path, columns, where=where) if path.exists() else None

    def tables(self, run_id: str) -> list[str]:
        """Return the names of the examination's tables."""
        with self.db.read() as connection:
            if run_row(connection, run_id).examined_at is None:
                return []
        names = [path.stem for path in self.folder.run(run_id).glob("*.parquet")]
        return sorted(name for name in names if not SNAPSHOT.fullmatch(name))

    def compare(self, run_ids: Sequence[str]) -> pd.DataFrame:
        """Return the findings of two to four runs side by side; see `engine.release.compare`."""
        from engine.release import compare

        return compare({run_id: self.findings(run_id) for run_id in run_ids})

    def _save_examination(
        self,
        connection: Connection,
        run_id: str,
        found: Sequence[Finding],
        risk: Mapping[str, float],
        revision: int,
        groups: Sequence[str],
    ) -> None:
        """Replace the findings of the examined groups and the records' risks inside the caller's transaction."""
        kept = [
            body
            for body in connection.execute(
                select(findings.c.body).where(findings.c.run_id == run_id).order_by(findings.c.position)
            ).scalars()
            if body["group"] not in groups
        ]
        connection.execute(findings.delete().where(findings.c.run_id == run_id))
        bodies = kept + [_plain(f.as_dict()) for f in found]
        if bodies:
            connection.execute(
                findings.insert(), [{"run_id": run_id, "position": i, "body": b} for i, b in enumerate(bodies)]
            )
        if risk:
            connection.execute(
                text("UPDATE synthetic SET risk = :risk WHERE run_id = :run AND record_id = :record"),
                [{"run": run_id, "record": record_id, "risk": float(value)} for record_id, value in risk.items()],
            )
        connection.execute(
            update(runs).where(runs.c.id == run_id).values(examined_at=now(), examined_revision=revision)
        )
        self._audit(connection, "run examined", run_id, findings=len(found))

    def _save_tables(self, run_id: str, tables: Mapping[str, pd.DataFrame]) -> None:
        for name, frame in tables.items():
            if not TABLE_NAME.fullmatch(name):
                raise UserError(f"table name {name!r}: must be lower-case letters, digits and underscores")
            write_table(self.folder.run(run_id) / f"{name}.parquet", frame)

    def _save_snapshot(self, run_id: str, snapshot: Mapping[str, Any]) -> None:
        """Keep the candidates of one round; writing the same round again replaces it."""
        texts = list(snapshot["texts"])
        frame = pd.DataFrame({"text": texts, "label": snapshot.get("labels") or [None] * len(texts)}, dtype=object)
        write_table(self.folder.run(run_id) / f"iteration_{int(snapshot['iteration'])}.parquet", frame)

    def _snapshots(self, run_id: str) -> list[tuple[int, pd.DataFrame]]:
        """Return the kept rounds of a run: number, and a table of text and label."""
        found = {int(m[1]): p for p in self.folder.run(run_id).glob("*.parquet") if (m := SNAPSHOT.fullmatch(p.stem))}
        return [(number, read_table(found[number])) for number in sorted(found)]

    def _synthetic_frame(self, run_id: str) -> pd.DataFrame:
        """Return all records of a run with lineage, for the examination and the release."""
        names = ["record_id", "text", "label", "lineage", "approval", "risk"]
        query = select(*[synthetic.c[n] for n in names]).where(synthetic.c.run_id == run_id)
        with self.db.read() as connection:
            rows = [tuple(r) for r in connection.execute(query.order_by(synthetic.c.position))]
        return _frame(rows, names)


def run_row(connection: Connection, run_id: str) -> Any:
    """Return a run's row, with its corpus' revision, or raise `NotFoundError`."""
    row = connection.execute(_run_query().where(runs.c.id == run_id)).first()
    if row is None:
        raise NotFoundError(f"run {run_id!r} does not exist in this workspace; list them with `runs`")
    return row


def _run_query() -> Any:
    return select(runs, corpora.c.revision.label("corpus_revision")).join(corpora, corpora.c.id == runs.c.corpus_id)


def _run_view(row: Any) -> RunSummary:
    names = (
        "id corpus_id method title parameters seed model count state created started finished seconds kept funnel "
        "error guarantee examined_at released_at"
    ).split()
    return RunSummary(
        **{name: getattr(row, name) for name in names},
        stale=bool(row.needs_spans) and row.revision != row.corpus_revision,
        examination_stale=row.examined_at is not None and row.examined_revision != row.corpus_revision,
        job_id=row.job_id or "",
    )


def _finished(row: Any) -> None:
    if row.state in ("queued", "running"):
        raise UserError("this run is still being made; wait until it is done, or cancel it first")


def _frame(rows: Sequence[tuple[Any, ...]], columns: Sequence[str]) -> pd.DataFrame:
    frame = pd.DataFrame({name: pd.Series([r[i] for r in rows], dtype=object) for i, name in enumerate(columns)})
    if "risk" in columns:
        frame["risk"] = frame["risk"].astype("float64")
    return frame


def _plain(body: dict[str, Any]) -> dict[str, Any]:
    """Return the finding with NaN as None, which JSON can hold."""
    value = body["value"]
    return {**body, "value": None if value is None or value != value else float(value)}


def _number(body: dict[str, Any]) -> dict[str, Any]:
    return {**body, "value": float("nan") if body["value"] is None else body["value"]}


def _shell(value: Any) -> str:
    import json
    import shlex

    return shlex.quote(value if isinstance(value, str) else json.dumps(value))
