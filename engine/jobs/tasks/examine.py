"""Job `examine`: measure a run's leakage and usefulness, store findings and tables.

Finished parts are kept until all are there, so that a cancelled or killed examination goes on where it stopped. Other
workers may measure parts; this one puts them together in their order.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING

from engine.errors import UserError
from engine.examine import each
from engine.examine.expected import Expected, Sizes, parts
from engine.examine.measures import MEASURES
from engine.examine.tables import CORPUS_MAP
from engine.jobs.models import embedder_choice
from engine.jobs.worker.kept_embeddings import MOST, KeptEmbeddings, kept_embeddings
from engine.jobs.worker.part_shelf import PartShelf
from engine.jobs.worker.parts_ahead import Ahead
from engine.jobs.worker.task import Stopped, Task
from engine.store import queue
from engine.store.runs import held
from engine.store.runs.runs import frame_of, run_row
from engine.store.summaries import corpus_row

if TYPE_CHECKING:
    import pandas as pd

    from engine.examine.prepare import Effort, ExamineInput
    from engine.jobs.models.cache import ModelCache
    from engine.json_types import JSONObject
    from engine.models.contracts import Embedder
    from engine.store.rows import RunRow
    from engine.store.store import Store

TOUCHED = "The run's records were measured against private ones; the results are internal and must not leave."


def seed_of(corpus_id: str) -> int:
    """Return the seed of every examination of a corpus: its runs are then held against the same real texts."""
    return int.from_bytes(hashlib.sha256(corpus_id.encode()).digest()[:4], "big") >> 1


def run(task: Task) -> None:
    """Examine a run against the training and the holdout part."""
    from engine.examine.examination import examine_run

    store = task.store
    task.arguments |= embedder_choice.settled(store, task.corpus_id, task.arguments)
    with store.session.db.write() as connection:  # whoever shares the job, or goes on with it, measures by the same one
        queue.progress(connection, task.id, worker=task.worker, arguments=task.arguments)
    asked = Asked.of(store, task.models, task.corpus_id, task.run_id, task.arguments)
    row, given, embedder = asked.row, asked.given, asked.embedder
    privacy, utility = given.privacy, given.utility
    expected = asked.expected()
    shelf = PartShelf(task, given, asked.more, len(expected))
    ahead = Ahead(task, shelf, expected)
    task.expect(ahead.plan, ahead.kept)
    output = examine_run(
        given, progress=task.report, cancelled=task.cancelled, begin=task.begin, shelf=shelf,
        ahead=ahead if ahead.shared else None,
    )  # fmt: skip
    if output.cancelled or task.cancelled():
        store.session.sweep()  # a part may have been written while the run was deleted
        raise Stopped
    plane = output.tables.pop(CORPUS_MAP, None)
    again = frozenset(name for name, one in MEASURES.items() if (privacy, utility)[one.group == "utility"])
    earlier = store.examinations.table(task.run_id, each.NAME)
    output.tables[each.NAME] = each.renewed(earlier, output.tables.get(each.NAME), again)
    groups = [name for name, wanted in (("privacy", privacy), ("utility", utility)) if wanted]
    try:
        store.examinations.save_tables(
            task.run_id, {**output.tables, **_iterations(task, list(given.train["text"]), embedder)}
        )
        if isinstance(embedder, KeptEmbeddings):
            embedder.keep()
        with task.batch("store findings", 1, 1) as connection:
            store.examinations.save(
                connection, task.run_id, output.findings, output.record_risk, row.corpus_revision, groups
            )
            store.ledger.touch(connection, task.run_id, "examination", TOUCHED)
        if plane is not None:  # a map can be made again; it goes with its corpus, also where that was deleted meanwhile
            store.examinations.save_corpus_map(task.corpus_id, plane)
        shelf.remove()
    except Stopped:
        store.session.sweep()  # the run was deleted meanwhile: its tables go too, and a deleted corpus' embeddings
        raise


@dataclass(frozen=True)
class Asked:
    """An examination that was asked for, as every worker that has a part in it reads it.

    row: of the run. given: what is examined, with the tools; its embedder. choice: by which that is loaded. more: what
    its parts hang on beside that.
    """

    row: RunRow
    given: ExamineInput
    embedder: Embedder
    choice: str
    more: tuple[str, ...]

    @classmethod
    def of(cls, store: Store, models: ModelCache, corpus_id: str, run_id: str, arguments: JSONObject) -> Asked:
        """Read it.

        Raises:
            UserError: the run has no records. RefusedError: its texts are not as they were made.
        """
        from engine.examine.prepare import ExamineInput

        with store.session.db.read() as connection:
            row = run_row(connection, run_id)
            unit = corpus_row(connection, row.corpus_id).unit
            held.demand_texts(store.session, connection, run_id)
            synthetic = frame_of(connection, run_id)
        approvals, synthetic = list(synthetic["approval"]), synthetic[["record_id", "text", "label", "lineage"]]
        if synthetic.empty:
            raise UserError("this run has no records to examine; run the method again with other settings")
        records = store.corpora.frame(corpus_id)
        detector = store.review.detector_settings(corpus_id)
        texts, outputs = list(records["text"].iloc[:MOST]), list(synthetic["text"].iloc[:MOST])
        chosen = embedder_choice.settled(store, corpus_id, arguments)
        choice = chosen[embedder_choice.EMBEDDER]
        embedder = kept_embeddings(store, models.embedder(choice), corpus_id, run_id, texts, outputs)
        given = ExamineInput(
            synthetic=synthetic,
            train=records[records["split"] == "train"].reset_index(drop=True),
            holdout=records[records["split"] == "holdout"].reset_index(drop=True),
            train_spans=store.review.accepted_spans(corpus_id, "train", as_told=True),
            holdout_spans=store.review.accepted_spans(corpus_id, "holdout", as_told=True),
            unit=unit,
            privacy=bool(arguments["privacy"]),
            utility=bool(arguments["utility"]),
            model_attacks=bool(arguments.get("model_attacks", True)),
            tuned_classifier=bool(arguments.get("tuned_classifier", False)),
            embedder=embedder,
            embedder_since=chosen.get(embedder_choice.WHY, ""),
            detector=models.detector(detector),
            seed=seed_of(corpus_id),
            effort=effort_of(row),
            corpus_map=store.examinations.corpus_map(corpus_id),
        )
        return cls(row, given, embedder, choice, (detector.to_json(), *map(str, approvals)))

    def expected(self) -> tuple[Expected, ...]:
        """Return its parts in their order, with what each takes."""
        given = self.given
        records = len(given.train) + len(given.holdout)
        sizes = Sizes(records, len(given.synthetic), bool(len(given.holdout)))
        return parts(
            sizes, privacy=given.privacy, utility=given.utility, models=given.model_attacks,
            tuned=given.tuned_classifier,
        )  # fmt: skip


def effort_of(row: RunRow) -> Effort:
    """Return what a run took, as its row and its notes tell."""
    from engine.examine.prepare import Effort

    noted = row.diagnostics.get("endpoint")
    counts = {
        name: float(value) for name, value in (noted.items() if isinstance(noted, Mapping) else ())
        if isinstance(value, int | float)
    }  # fmt: skip
    requests, tokens_in, tokens_out = (int(counts.get(name, 0)) for name in ("requests", "tokens_in", "tokens_out"))
    return Effort(row.kept, row.seconds, requests, tokens_in, tokens_out, counts.get("cost", 0.0))


def _iterations(task: Task, texts: list[str], embedder: Embedder) -> dict[str, pd.DataFrame]:
    """Return the table of a run's rounds against the training part; none where the method works in no rounds."""
    snapshots = task.store.examinations.snapshots(task.run_id)
    if not snapshots or find_spec("engine.examine.usefulness.iterations") is None:
        return {}
    from engine.examine.usefulness.iterations import iteration_table

    task.report("rounds", 0, len(snapshots))
    tables = [table.assign(iteration=number) for number, table in snapshots]
    return {"iterations": iteration_table(tables, texts, embedder)}
