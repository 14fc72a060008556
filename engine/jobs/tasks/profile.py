"""Job `profile`: near-duplicates across the split, after an import."""

from __future__ import annotations

from dataclasses import replace

from sqlalchemy import update

from engine.jobs.worker.task import Task
from engine.store.database.schema import corpora
from engine.store.summaries import corpus_row


def run(task: Task) -> None:
    """Count holdout records that nearly repeat a training record and put the number into the statistics."""
    from engine.corpus.statistics import CorpusStatistics
    from engine.corpus.text.near_duplicates import near_duplicates_across_split

    stage = "near-duplicates"
    records = task.store.corpora.frame(task.corpus_id, columns=["record_id", "text", "split"])
    pairs = near_duplicates_across_split(records, progress=lambda done, total: task.report(stage, done, total))
    found = int(pairs["holdout_id"].nunique())
    with task.batch(stage, 1, 1) as connection:
        stored = CorpusStatistics.from_dict(dict(corpus_row(connection, task.corpus_id).statistics))
        changed = replace(stored, near_duplicates_across_split=found)
        connection.execute(update(corpora).where(corpora.c.id == task.corpus_id).values(statistics=changed.as_dict()))
