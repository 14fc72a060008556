"""Corpora: preview, import, list, read, rename, delete.

Privacy posture: record text goes to the Parquet file and nowhere else; audit lines hold counts.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
from sqlalchemy import Connection, select, update

from engine.errors import NotFoundError, StorageError, UserError
from engine.store.budget import reservations
from engine.store.corpora import declarations, importing
from engine.store.database.dialect import of_records
from engine.store.database.schema import corpora, record_index, runs, settings
from engine.store.database.schema import populations as populations_table
from engine.store.records import forget, read_rows, read_table, write_table
from engine.store.review import memory
from engine.store.rows import CorpusRow, corpus_of
from engine.store.runs import seen
from engine.store.session import Session, new_id
from engine.store.summaries import corpus_row, summary, totals
from engine.store.views import CorpusSummary

if TYPE_CHECKING:
    from engine.corpus.columns.mapping import ColumnMapping
    from engine.corpus.readers import FilePreview, ReadOptions
    from engine.corpus.samples import SampleInfo
    from engine.corpus.statistics import CorpusStatistics

LONGEST_NAME = 120


class Corpora:
    """The corpora of a workspace: preview, import, list, read, rename, delete."""

    def __init__(self, session: Session) -> None:
        self.session = session

    def preview(self, source: Path | bytes, filename: str, options: ReadOptions | None = None) -> FilePreview:
        """Return the first rows of a file, its columns and a suggested mapping; nothing is stored."""
        from engine.corpus.readers import read_preview

        return read_preview(source, filename, options)

    def import_file(
        self,
        source: Path | bytes,
        filename: str,
        mapping: ColumnMapping,
        *,
        name: str,
        unit: str = "record",
        cap: int | None = None,
        cap_from_file: bool = False,
        holdout: float = 0.2,
        options: ReadOptions | None = None,
        labels_public: bool | Sequence[str] = False,
        same_people_as: Sequence[str] = (),
    ) -> CorpusSummary:
        """Import a file as a corpus.

        Args:
            source: path of the file or folder, or the bytes of an upload.
            filename: its name; the suffix chooses the reader.
            mapping: which columns hold text, id, source, label and gold spans; whether several of them are one text,
                and the rows of one person too.
            name: what the corpus is called, 1 to 120 characters.
            unit: whom a guarantee protects, `record` or `source`.
            cap: records a unit may contribute, at least 1; None takes 1 for a record and 5 for a source, whatever the
                file holds, since the cap is declared and not read from it.
            cap_from_file: whether a person declares that the largest number of records of one unit in this file may be
                public, so that it is the cap; where `cap` is given too, that it is this number. Kept with the corpus.
            holdout: probability in [0, 0.9] that a unit is held out.
            labels_public: the list of labels that is declared public; True takes those of the training part as they
                stand, which is refused where fewer than three people hold one of them.
            same_people_as: corpora, or populations, whose people these are, as the custodian knows.

        Raises:
            DataError: the file breaks a rule; nothing has changed.
            UserError: a setting does, or the list of labels does not look like one that may be public.
        """
        from engine.corpus.readers import ReadOptions
        from engine.corpus.readers import read_table as read_file

        needed = (*mapping.roles().values(), *mapping.keep)
        return self._import(
            lambda: read_file(source, filename, replace(options or ReadOptions(), columns=needed)),
            mapping,
            name,
            unit,
            cap,
            holdout,
            filename,
            labels_public,
            same_people_as,
            cap_from_file,
        )

    def import_table(
        self,
        table: pd.DataFrame,
        mapping: ColumnMapping,
        *,
        name: str,
        unit: str = "record",
        cap: int | None = None,
        holdout: float = 0.2,
        labels_public: bool | Sequence[str] = False,
        same_people_as: Sequence[str] = (),
    ) -> CorpusSummary:
        """Import a data frame as a corpus; arguments as for `import_corpus`."""
        return self._import(lambda: table, mapping, name, unit, cap, holdout, "table", labels_public, same_people_as)

    def samples(self) -> tuple[SampleInfo, ...]:
        """Return the made-up sample corpora."""
        from engine.corpus.samples import ALL_SAMPLES

        return ALL_SAMPLES

    def import_sample(self, sample_id: str, name: str | None = None) -> CorpusSummary:
        """Import one of the made-up sample corpora; its unit is the source."""
        from engine.corpus.columns.mapping import ColumnMapping
        from engine.corpus.samples import ALL_SAMPLES, load_sample

        known = {s.id: s for s in ALL_SAMPLES}
        if sample_id not in known:
            raise NotFoundError(f"sample {sample_id!r} does not exist; choose one of {', '.join(sorted(known))}")
        mapping = ColumnMapping(
            text="text", record_id="record_id", source_id="source_id", label="label", keep=(), spans="spans"
        )
        title, cap = known[sample_id].title, known[sample_id].cap
        # Its labels are the generator's own, public in its source.
        return self._import(lambda: load_sample(sample_id), mapping, name or title, "source", cap, 0.2, sample_id, True)

    def all(self) -> list[CorpusSummary]:
        """Return every corpus, latest first."""
        with self.session.db.read() as connection:
            rows = connection.execute(select(corpora).order_by(corpora.c.created.desc(), corpora.c.id)).all()
            return [_summary(connection, corpus_of(row)) for row in rows]

    def get(self, corpus_id: str) -> CorpusSummary:
        """Return one corpus."""
        with self.session.db.read() as connection:
            return _summary(connection, corpus_row(connection, corpus_id))

    def statistics(self, corpus_id: str) -> CorpusStatistics:
        """Return the statistics computed at import; near-duplicates follow when their job is done."""
        from engine.corpus.statistics import CorpusStatistics

        with self.session.db.read() as connection:
            row = corpus_row(connection, corpus_id)
        return CorpusStatistics.from_dict(dict(row.statistics))

    def rename(self, corpus_id: str, name: str) -> None:
        """Change what a corpus is called."""
        name = _checked_name(name)
        with self.session.db.write() as connection:
            corpus_row(connection, corpus_id)
            connection.execute(update(corpora).where(corpora.c.id == corpus_id).values(name=name))
            self.session.write_audit(connection, "corpus renamed", corpus_id)

    def delete(self, corpus_id: str) -> None:
        """Delete a corpus with its text, spans, decisions, runs, findings, jobs and internal files.

        An audit line without text, the keyed hashes of its units and the ledger stay. Released files stay, since
        they left the custodian's hands as approved synthetic records.

        Raises:
            StorageError: deleted, but another program keeps the log open; its traces go later.
        """
        with self.session.db.write() as connection:
            row = corpus_row(connection, corpus_id)
            run_ids = list(connection.execute(select(runs.c.id).where(runs.c.corpus_id == corpus_id)).scalars())
            for run_id in run_ids:
                self.session.mark_for_removal(connection, f"runs/{run_id}")
            self.session.mark_for_removal(connection, f"corpora/{corpus_id}")
            seen.keep(connection, self.session.key, run_ids)
            connection.execute(corpora.delete().where(corpora.c.id == corpus_id))
            connection.execute(settings.delete().where(settings.c.key.endswith(f".{corpus_id}", autoescape=True)))
            reservations.reconcile(connection, self.session.key, self.session.actor)
            self.session.write_audit(connection, "corpus deleted", corpus_id, records=row.records, runs=len(run_ids))
        forget(corpus_id)
        memory.forget(corpus_id)
        self.session.sweep()
        if not self.session.db.truncate_log():
            raise StorageError(
                "The corpus is deleted, but another program is still reading the workspace, so traces remain in its "
                "log. They go when that program ends or at the next deletion."
            )

    def records(
        self,
        corpus_id: str,
        *,
        split: str | None = None,
        ids: Sequence[str] | None = None,
        offset: int = 0,
        limit: int = 100,
    ) -> pd.DataFrame:
        """Return records in file order, or those with the given ids in that order (unknown ones are left out)."""
        with self.session.db.read() as connection:
            corpus_row(connection, corpus_id)
            places = self._positions(connection, corpus_id, split, ids, offset, limit)
        return read_rows(self.session.folder.records(corpus_id), places)

    def _positions(
        self,
        connection: Connection,
        corpus_id: str,
        split: str | None,
        ids: Sequence[str] | None,
        offset: int,
        limit: int,
    ) -> list[int]:
        query = select(record_index.c.position, record_index.c.record_id).where(record_index.c.corpus_id == corpus_id)
        if split is not None:
            query = query.where(record_index.c.split == split)
        if ids is None:
            query = query.order_by(record_index.c.position).limit(limit).offset(offset)
            return list(connection.execute(query).scalars())
        found: dict[str, int] = {}
        for begin in range(0, len(ids), 500):
            part = query.where(of_records(record_index.c.position, corpus_id, ids[begin : begin + 500]))
            found.update({r.record_id: r.position for r in connection.execute(part)})
        return [found[i] for i in ids if i in found]

    def columns(self, corpus_id: str) -> tuple[str, ...]:
        """Return what the columns are called that were kept besides those with a role; no row is read."""
        from engine.store.records import PLAIN, column_names

        return tuple(name for name in column_names(self.session.folder.records(corpus_id)) if name not in PLAIN)

    def frame(self, corpus_id: str, split: str | None = None, columns: Sequence[str] | None = None) -> pd.DataFrame:
        """Return all records of a corpus or of one part, in file order."""
        frame = read_table(self.session.folder.records(corpus_id), columns)
        if split is not None:
            frame = frame[frame["split"] == split].reset_index(drop=True)
        return frame

    def _import(
        self,
        read: Callable[[], pd.DataFrame],
        mapping: ColumnMapping,
        name: str,
        unit: str,
        cap: int | None,
        holdout: float,
        filename: str,
        labels_public: bool | Sequence[str] = False,
        same_people_as: Sequence[str] = (),
        cap_from_file: bool = False,
    ) -> CorpusSummary:
        from engine.corpus.build import build_corpus, check_settings, take
        from engine.corpus.columns.mapping import default_cap
        from engine.corpus.columns.proposals import largest_cap
        from engine.corpus.label_rules import checked_labels, rare

        name = _checked_name(name)
        table = read()
        if cap is None:
            cap = largest_cap(table, mapping, unit) if cap_from_file else default_cap(unit, mapping)
        check_settings(mapping, unit, cap, holdout)
        taken = take(table, mapping, filename)
        del table, read  # of a million records a gigabyte
        built = build_corpus(
            taken, unit=unit, cap=cap, holdout_rate=holdout, key=self.subkey("corpus"), filename=filename
        )
        del taken
        labels: tuple[str, ...] = ()
        if labels_public:
            as_found = labels_public is True
            found = (label for label in built.statistics.train_labels or {} if label)
            labels = checked_labels(found if isinstance(labels_public, bool) else labels_public)
            declarations.check_usual(labels)
            few = rare(labels, built.statistics.train_label_holders or {})
            declarations.check_held(len(few) if as_found else 0)
        corpus_id = new_id("c")
        self.session.begin_writing(f"corpora/{corpus_id}")
        try:
            write_table(self.session.folder.records(corpus_id), built.records)
            with self.session.db.write() as connection:
                people = [self.population(connection, other) for other in same_people_as]
                importing.keep(connection, self.session, corpus_id, built, name, unit, cap, holdout, people)
                if cap_from_file:
                    told = declarations.declare(self.session, connection, corpus_id, declarations.CAP, cap)
                    self.session.write_audit(connection, "cap declared public", corpus_id, cap=cap, **told)
                if labels:
                    self.declare_labels(connection, corpus_id, labels, as_found=as_found, few=len(few))
        except BaseException:
            self.session.discard(f"corpora/{corpus_id}")
            raise
        self.session.wake()
        return self.get(corpus_id)

    def population(self, connection: Connection, named: str) -> str:
        """Return the population of a corpus, or the one that is named itself.

        Raises:
            NotFoundError: it is neither.
        """
        query = select(populations_table.c.id).where(populations_table.c.id == named)
        if connection.execute(query).first() is not None:
            return named
        return str(corpus_row(connection, named).population)

    def declare_labels(
        self, connection: Connection, corpus_id: str, labels: tuple[str, ...], *, as_found: bool, few: int
    ) -> None:
        """Declare a list of labels public inside the caller's transaction.

        The audit log says how many labels, whether they were taken as found, how many of them one or two people hold
        (`few`), and a keyed digest by which a list can be held against the one that was declared. It never holds the
        labels, since it outlives the corpus.
        """
        told = declarations.declare(self.session, connection, corpus_id, declarations.LABELS, list(labels))
        self.session.write_audit(
            connection,
            "label list declared public",
            corpus_id,
            labels=len(labels),
            as_found=as_found,
            held_by_few=few,
            digest=declarations.digest(self.subkey("label list"), labels),
            **told,
        )

    def subkey(self, purpose: str) -> bytes:
        """Return a key derived from the workspace key for one purpose."""
        return hmac.new(self.session.key, f"subkey\0{purpose}".encode(), "sha256").digest()


def _summary(connection: Connection, row: CorpusRow) -> CorpusSummary:
    """Return a corpus' summary; its records are read where one of them changed since."""
    return summary(connection, row, memory.recalled(connection, row.id, memory.TOTALS, lambda c: totals(c, row.id)))


def _checked_name(name: str) -> str:
    name = " ".join(name.split())
    if not name or len(name) > LONGEST_NAME:
        raise UserError(f"name: must have 1 to {LONGEST_NAME} characters, has {len(name)}; give the corpus a name")
    return name
