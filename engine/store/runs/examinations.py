"""Findings of examinations and their tables."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import pandas as pd
from sqlalchemy import Connection, Text, cast, select, text, update

from engine.at_rest import files
from engine.errors import NotFoundError, UnderstudyError, UserError
from engine.store.audit import now
from engine.store.database.schema import findings, runs, synthetic
from engine.store.people.reasons import check_reason
from engine.store.records import read_table, write_table
from engine.store.review.queries import position_of
from engine.store.runs import chained, kept_parts
from engine.store.runs.kept_parts import InPart, KeptParts
from engine.store.runs.runs import run_row, seen
from engine.store.session import Session

if TYPE_CHECKING:
    from engine.examine.findings.findings import Finding

KEPT = 16  # runs whose findings are kept as read
MAP_FILE = "map.parquet"
TABLE_NAME = re.compile(r"[a-z0-9_]{1,60}")
SNAPSHOT = re.compile(r"iteration_(\d+)")  # a method's candidates of one round, kept for internal figures


class Examinations:
    """What examinations of runs found, and their tables."""

    def __init__(self, session: Session) -> None:
        self.session = session

    def findings(self, run_id: str) -> list[Finding]:
        """Return the run's findings in the order they were made."""
        query = select(cast(findings.c.body, Text)).where(findings.c.run_id == run_id).order_by(findings.c.position)
        with self.session.db.read() as connection:
            run_row(connection, run_id)
            return list(_decoded(tuple(connection.execute(query).scalars())))

    def table(
        self, run_id: str, name: str, *, columns: Sequence[str] | None = None, where: Mapping[str, str] | None = None
    ) -> pd.DataFrame | None:
        """Return one of the examination's tidy tables, or None where it was not made.

        Args:
            columns: only these; all if None.
            where: only rows whose columns equal these values; milliseconds even in a large table.
        """
        with self.session.db.read() as connection:
            row = run_row(connection, run_id)
        if row.examined_at is None or not TABLE_NAME.fullmatch(name):
            return None
        path = self.session.folder.run(run_id) / f"{name}.parquet"
        files.fetch(path)
        return read_table(path, columns, where=where) if path.exists() else None

    def tables(self, run_id: str) -> list[str]:
        """Return the names of the examination's tables."""
        with self.session.db.read() as connection:
            if run_row(connection, run_id).examined_at is None:
                return []
        files.fetch(self.session.folder.run(run_id))
        names = [path.stem for path in self.session.folder.run(run_id).glob("*.parquet")]
        return sorted(name for name in names if not SNAPSHOT.fullmatch(name))

    def compare(self, run_ids: Sequence[str]) -> pd.DataFrame:
        """Return the findings of two to four runs side by side; see `engine.examine.compare`."""
        from engine.examine.compare import compare

        return compare(
            {run_id: self.findings(run_id) for run_id in run_ids},
            {run_id: self.table(run_id, "each") for run_id in run_ids},
        )

    def save(
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
        bodies = kept + [_plain(f) for f in found]
        if bodies:
            connection.execute(
                findings.insert(), [{"run_id": run_id, "position": i, "body": b} for i, b in enumerate(bodies)]
            )
        with chained.watched(connection, self.session.key, run_id):
            if risk:
                connection.execute(
                    text("UPDATE synthetic SET risk = :risk WHERE run_id = :run AND record_id = :record"),
                    [{"run": run_id, "record": record_id, "risk": float(value)} for record_id, value in risk.items()],
                )
        at = now()
        connection.execute(update(runs).where(runs.c.id == run_id).values(examined_at=at, examined_revision=revision))
        seen.keep(connection, self.session.key, [run_id])
        self.session.write_audit(
            connection, chained.EXAMINED, run_id, findings=len(found),
            **self._told(run_id, bodies, groups, at, revision),
            seen=chained.seen_of(connection, self.session.key, run_id),
            **chained.told(connection, self.session.key, run_id),
        )  # fmt: skip

    def _told(
        self, run_id: str, bodies: Sequence[Mapping[str, object]], groups: Sequence[str], at: str, revision: int
    ) -> dict[str, object]:
        """Return what the line about an examination holds: what was not examined now is told by an earlier line."""
        key = self.session.key
        said: dict[str, object] = {
            "groups": {
                group: chained.findings_of(key, run_id, group, [one for one in bodies if one["group"] == group])
                for group in groups
            },
            "examination": chained.examination_of(key, run_id, at, revision),
        }
        if "privacy" in groups:
            said["originals"] = chained.originals_of(self.session.folder, key, run_id)
        return said

    def look(self, connection: Connection, run_id: str) -> bool:
        """Note inside the caller's transaction that a part of an examination is kept; False where that was known.

        From then on the run counts as examined wherever a release must not follow a look at private records.
        """
        if seen.looked_at(connection, run_id):
            return False
        seen.look(connection, self.session.key, run_id)
        told = chained.seen_of(connection, self.session.key, run_id)
        self.session.write_audit(connection, "run examined in part", run_id, seen=told)
        return True

    def note_reveal(self, run_id: str, record_id: str, source_id: str, reason: str) -> str:
        """Write into the audit log why a private record is shown beside an output, before it is; return the run's id.

        The log leaves with its exports, so the private record stands there by its place in the corpus: its id may be
        a patient's number.

        Args:
            record_id: of the output. source_id: of the private record.

        Raises:
            NotFoundError: there is no such output or private record.
            RefusedError: the reason holds private text of the corpus.
        """
        with self.session.db.read() as connection:
            row = run_row(connection, run_id)
            output = select(synthetic.c.position).where(
                synthetic.c.run_id == run_id, synthetic.c.record_id == record_id
            )
            if connection.execute(output).first() is None:
                raise NotFoundError("the run has no such record")
            position = position_of(connection, row.corpus_id, source_id)
        said = " ".join(reason.split())
        check_reason(self.session, row.corpus_id, said)
        with self.session.db.write() as connection:
            run_row(connection, run_id)
            self.session.write_audit(
                connection, "private text revealed", run_id, reason=said, synthetic=record_id, position=position
            )
        return run_id

    def stopped(self, run_id: str) -> KeptParts | None:
        """Return what is kept of an examination that was stopped, None where there is nothing to go on with."""
        return kept_parts.stopped(self.session, run_id)

    def in_part(self, run_id: str) -> InPart | None:
        """Return how far a run was examined whose examination never ended; None where one did, or nobody looked."""
        with self.session.db.read() as connection:
            return kept_parts.in_part(connection, run_id)

    def save_tables(self, run_id: str, tables: Mapping[str, pd.DataFrame]) -> None:
        """Write an examination's tables, name -> rows, beside the run."""
        for name, frame in tables.items():
            if not TABLE_NAME.fullmatch(name):
                raise UserError(f"table name {name!r}: must be lower-case letters, digits and underscores")
            write_table(self.session.folder.run(run_id) / f"{name}.parquet", frame)

    def corpus_map(self, corpus_id: str) -> pd.DataFrame | None:
        """Return the plane that a corpus' texts were laid out on, or None where there is none or it is damaged."""
        path = self.session.folder.corpus(corpus_id) / MAP_FILE
        try:
            files.fetch(path)
            return read_table(path) if path.exists() else None
        except UnderstudyError:
            return None

    def save_corpus_map(self, corpus_id: str, frame: pd.DataFrame) -> None:
        """Keep the plane of a corpus' texts beside its records; it goes with the corpus."""
        write_table(self.session.folder.corpus(corpus_id) / MAP_FILE, frame)

    def save_snapshot(
        self, run_id: str, iteration: int, texts: Sequence[str], labels: Sequence[str | None] | None
    ) -> None:
        """Keep the candidates of one round; writing the same round again replaces it."""
        frame = pd.DataFrame({"text": list(texts), "label": labels or [None] * len(texts)}, dtype=object)
        write_table(self.session.folder.run(run_id) / f"iteration_{iteration}.parquet", frame)

    def snapshots(self, run_id: str) -> list[tuple[int, pd.DataFrame]]:
        """Return the kept rounds of a run: number, and a table of text and label."""
        files.fetch(self.session.folder.run(run_id))
        found = {
            int(m[1]): p for p in self.session.folder.run(run_id).glob("*.parquet") if (m := SNAPSHOT.fullmatch(p.stem))
        }
        return [(number, read_table(found[number])) for number in sorted(found)]


@lru_cache(maxsize=KEPT)
def _decoded(bodies: tuple[str, ...]) -> tuple[Finding, ...]:
    """Return the findings of stored texts; the same texts, which a page asks for several times, are read once."""
    from engine.examine.findings.findings import Finding

    read = (json.loads(body) for body in bodies)
    return tuple(Finding(**{**b, "value": math.nan if b["value"] is None else b["value"]}) for b in read)


def _plain(finding: Finding) -> dict[str, object]:
    """Return a finding as JSON, NaN as None."""
    value = finding.value
    return {**finding.as_dict(), "value": None if value is None or value != value else float(value)}
