"""Job `detect`: find spans in every record; the old ones stay in force until all new ones are there.

A batch's spans and the cursor are committed together, marked `pending`; what other workers found in a shard, in the
order of the records. The last transaction replaces the earlier detected spans and puts the standing decisions on the
new ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict
from itertools import accumulate, pairwise
from typing import cast

import pandas as pd
from sqlalchemy import Connection, func, select, text, update

from engine.jobs.worker.sharing import Coordinator, shares
from engine.jobs.worker.task import Stopped, Task
from engine.json_types import JSON, JSONObject, as_list, as_number, as_object
from engine.store.audit import now
from engine.store.database.schema import corpora, spans
from engine.store.records import read_rows
from engine.store.review import chained, decisions, held
from engine.store.review.marks import PENDING
from engine.store.review.spans import FoundSpan, activate, insert_spans, refresh, span_rows, weigh
from engine.store.rows import JobRow
from engine.store.shards import Shard, bounds
from engine.store.store import Store
from engine.store.summaries import corpus_row

MOST_PROCESSES = 64
WHOLE = 20_000  # records from which on a table is read as a whole
ASK = 256  # records whose language is told between two looks at a cancel


def run(task: Task) -> None:
    """Detect from the cursor on, commit each batch, then put the result in force."""
    done = int((task.cursor or {}).get("done", 0))
    with task.store.session.db.read() as connection:
        total = corpus_row(connection, task.corpus_id).records
    if task.cursor is None:
        task.cursor = {"done": 0}
        with task.batch("detect", 0, total, cursor=task.cursor) as connection:
            _drop_pending(connection, task.corpus_id)
    if done < total:
        share = shares(task, total)
        most = task.crew.processes if share and task.crew is not None else MOST_PROCESSES
        with closing(Detection(task.store, task.corpus_id, task.arguments, most, one_thread=share)) as work:
            if share:
                Coordinator(task, work, total, insert_spans).run()
            else:
                _alone(task, work, done, total)
    with task.batch("put in force", total, total) as connection:
        _put_in_force(task, connection)


def _alone(task: Task, work: Detection, done: int, total: int) -> None:
    survey = work.survey(0, total, task.cancelled) if work.surveys else None
    task.check()
    known = work.settle([survey]) if work.surveys else None
    ends = [end for end in bounds(total) if end > done]
    parts = [(start, end, survey) for start, end in pairwise([done, *ends])]
    for reached, rows in work.found(parts, known, task.cancelled):
        done = reached
        with task.batch("detect", done, total, cursor={"done": done}) as connection:
            insert_spans(connection, rows)
    if done < total:
        raise Stopped


def shared(store: Store, job: JobRow, processes: int) -> Detection:
    """Return what a helper does for a detection."""
    return Detection(store, str(job.corpus_id), job.arguments, processes)


class Detection:
    """Detects in ranges of a corpus' records; implements `engine.jobs.worker.sharing.Work`.

    Attributes:
        surveys: whether the corpus' language has to be told from all of its records.
        processes: how many it uses.
    """

    def __init__(
        self, store: Store, corpus_id: str, arguments: JSONObject, most: int, *, one_thread: bool = True
    ) -> None:
        """Load nothing yet.

        Args:
            store: the workspace. corpus_id: whose records. arguments: of the job: the detector's settings.
            most: processes to use at most. one_thread: compute with one each, so that all who share it find the same.
        """
        from engine.pii.detect.records import Detectors, default_workers
        from engine.pii.detect.settings import DetectorSettings

        self.store, self.corpus_id = store, corpus_id
        self.settings = DetectorSettings.from_json(str(arguments["settings"]))
        with store.session.db.read() as connection:
            self.records = corpus_row(connection, corpus_id).records
        self.surveys = self.settings.language == "auto"
        self.processes = min(most, default_workers(self.records))
        self._by = Detectors(self.settings, self.processes, one_thread=one_thread)
        self._table: pd.DataFrame | None = None

    def survey(self, start: int, end: int, stop: Callable[[], bool]) -> JSON | None:
        """Return each record's language, None where it is too short to tell, and the letters in each language."""
        from engine.pii.languages.telling import letters_of, told

        texts = self._texts(start, end)["text"].astype(str).tolist()
        codes: list[str | None] = []
        for begin in range(0, len(texts), ASK):
            if stop():
                return None
            codes += [told(text) for text in texts[begin : begin + ASK]]
        return {"start": start, "codes": codes, "letters": dict(letters_of(texts, codes))}

    def settle(self, found: Sequence[JSON]) -> JSON:
        """Return the language of the records that are too short to tell."""
        from engine.pii.languages.telling import prevailing

        letters: Counter[str] = Counter()
        for part in found:
            counts = as_object(as_object(part).get("letters"))
            letters.update({code: int(as_number(count) or 0) for code, count in counts.items()})
        return prevailing(letters)

    def batches(
        self, claimed: Sequence[Shard], known: JSON, stop: Callable[[], bool]
    ) -> Iterator[tuple[int, Sequence[Mapping[str, object]]]]:
        """Yield rows of spans batch by batch; a batch ends where a shard does."""
        return self.found([(shard.start, shard.end, shard.survey) for shard in claimed], known, stop)

    def close(self) -> None:
        """End the processes."""
        self._by.close()

    def found(
        self, parts: Sequence[tuple[int, int, JSON]], known: JSON, stop: Callable[[], bool]
    ) -> Iterator[tuple[int, Sequence[Mapping[str, object]]]]:
        """Yield the position behind a batch of records, and rows of the spans in it.

        Args:
            parts: from where to where, in order, and the survey that covers it; a batch ends with each of them.
            known: what was settled. stop: says whether to end.
        """
        from engine.pii.detect.records import detect_records

        tables = [self._texts(start, end) for start, end, _ in parts]
        spoken = [code for table, part in zip(tables, parts, strict=True) for code in self._spoken(table, part, known)]
        table = pd.concat(tables, ignore_index=True)
        positions = [position for start, end, _ in parts for position in range(start, end)]
        pairs = zip(table["record_id"].astype(str), zip(positions, table["text"].astype(str), strict=True), strict=True)
        places, reached = dict(pairs), [0]
        batches = detect_records(
            table, self.settings, by=self._by, progress=lambda count, _: reached.append(positions[count - 1] + 1),
            cancelled=stop, languages=spoken, bounds=list(accumulate(len(table) for table in tables)),
        )  # fmt: skip
        for spans_found in batches:
            yield (
                reached[-1],
                span_rows(
                    [cast("FoundSpan", asdict(span)) for span in spans_found],
                    corpus_id=self.corpus_id,
                    places=places,
                    key=self.store.session.key,
                    origin=PENDING,
                    active=False,
                    threshold=self.settings.threshold,
                ),
            )

    def _spoken(self, table: pd.DataFrame, part: tuple[int, int, JSON], known: JSON) -> list[str]:
        from engine.pii.languages.telling import told

        if not self.surveys:
            return [self.settings.language] * len(table)
        start, end, survey = part
        codes: Sequence[JSON] = as_list(as_object(survey).get("codes"))
        if codes:
            first = int(as_number(as_object(survey).get("start")) or 0)
            codes = codes[start - first : end - first]
        else:
            codes = [told(text) for text in table["text"].astype(str)]
        return [str(known) if code is None else str(code) for code in codes]

    def _texts(self, start: int, end: int) -> pd.DataFrame:
        """Return id and text of records `start` to `end`; a large part of a corpus is read with it and kept."""
        if self._table is None and (end - start > WHOLE or end - start == self.records):
            self._table = self.store.corpora.frame(self.corpus_id, columns=["record_id", "text"])
        if self._table is not None:
            return self._table.iloc[start:end]
        path = self.store.folder.records(self.corpus_id)
        return read_rows(path, range(start, end))[["record_id", "text"]]


def _drop_pending(connection: Connection, corpus_id: str) -> None:
    connection.execute(spans.delete().where(spans.c.corpus_id == corpus_id, spans.c.origin == PENDING))


def _put_in_force(task: Task, connection: Connection) -> None:
    corpus_id, session = task.corpus_id, task.store.session
    with held.derived(session, connection, corpus_id):
        standing = _replace(connection, corpus_id)
    refresh(connection, corpus_id)
    decisions.bump(connection, corpus_id)
    at = now()
    connection.execute(
        update(corpora).where(corpora.c.id == corpus_id).values(span_source="detected", spans_at=at, detected_at=at)
    )
    found = connection.execute(
        select(func.count()).select_from(spans).where(spans.c.corpus_id == corpus_id, spans.c.origin == "detected")
    ).scalar_one()
    records = corpus_row(connection, corpus_id).records
    session.write_audit(
        connection, "spans detected", corpus_id, records=records, spans=found, decisions_kept=standing,
        **chained.told(connection, session.key, corpus_id),
    )  # fmt: skip


def _replace(connection: Connection, corpus_id: str) -> int:
    """Put what was found in the place of what was found before; return on how many spans a decision stands."""
    connection.execute(spans.delete().where(spans.c.corpus_id == corpus_id, spans.c.origin == "detected"))
    parameters: dict[str, object] = {"corpus": corpus_id, "pending": PENDING}
    connection.execute(
        text(
            "DELETE FROM spans WHERE corpus_id = :corpus AND origin = :pending AND EXISTS (SELECT 1 FROM spans AS c "
            "WHERE c.corpus_id = :corpus AND c.active = TRUE AND c.position = spans.position "
            "AND c.origin = 'custodian' AND c.start = spans.start AND c.end = spans.end AND c.label = spans.label)"
        ),
        parameters,
    )
    connection.execute(
        update(spans).where(spans.c.corpus_id == corpus_id, spans.c.origin == PENDING).values(origin="detected")
    )
    activate(connection, corpus_id, "detected")
    weigh(connection, corpus_id)
    return decisions.replay(connection, corpus_id, "detected")
