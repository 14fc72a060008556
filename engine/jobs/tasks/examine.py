"""Job `examine`: measure a run's leakage and usefulness, store findings and tables.

Finished parts are kept until all are there, so that a cancelled or killed examination goes on where it stopped.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING

from engine.errors import UserError
from engine.examine import each
from engine.examine.expected import Sizes, parts
from engine.examine.measures import MEASURES
from engine.examine.tables import CORPUS_MAP
from engine.jobs.worker.kept_embeddings import KeptEmbeddings, kept_embeddings
from engine.jobs.worker.part_shelf import PartShelf
from engine.jobs.worker.task import Stopped, Task
from engine.store.runs import held
from engine.store.runs.runs import frame_of, run_row
from engine.store.summaries import corpus_row

if TYPE_CHECKING:
    import pandas as pd

    from engine.examine.prepare import Effort
    from engine.models.contracts import Embedder
    from engine.store.rows import RunRow

TOUCHED = "The run's records were measured against private ones; the results are internal and must not leave."


def seed_of(corpus_id: str) -> int:
    """Return the seed of every examination of a corpus: its runs are then held against the same real texts."""
    return int.from_bytes(hashlib.sha256(corpus_id.encode()).digest()[:4], "big") >> 1


def run(task: Task) -> None:
    """Examine a run against the training and the holdout part."""
    from engine.examine.examination import ExamineInput, examine_run

    store = task.store
    with store.session.db.read() as connection:
        row = run_row(connection, task.run_id)
        unit = corpus_row(connection, row.corpus_id).unit
        held.demand_texts(store.session, connection, task.run_id)
        synthetic = frame_of(connection, task.run_id)
    approvals, synthetic = list(synthetic["approval"]), synthetic[["record_id", "text", "label", "lineage"]]
    if synthetic.empty:
        raise UserError("this run has no records to examine; run the method again with other settings")
    privacy, utility = bool(task.arguments["privacy"]), bool(task.arguments["utility"])
    records = store.corpora.frame(task.corpus_id)
    train = records[records["split"] == "train"].reset_index(drop=True)
    embedder = kept_embeddings(task, list(records["text"]), list(synthetic["text"]))
    models = bool(task.arguments.get("model_attacks", True))
    tuned = bool(task.arguments.get("tuned_classifier", False))
    sizes = Sizes(len(records), len(synthetic), bool(len(records) - len(train)))
    expected = parts(sizes, privacy=privacy, utility=utility, models=models, tuned=tuned)
    detector = store.review.detector_settings(task.corpus_id)
    given = ExamineInput(
        synthetic=synthetic,
        train=train,
        holdout=records[records["split"] == "holdout"].reset_index(drop=True),
        train_spans=store.review.accepted_spans(task.corpus_id, "train", as_told=True),
        holdout_spans=store.review.accepted_spans(task.corpus_id, "holdout", as_told=True),
        unit=unit,
        privacy=privacy,
        utility=utility,
        model_attacks=models,
        tuned_classifier=tuned,
        embedder=embedder,
        detector=task.models.detector(detector),
        seed=seed_of(task.corpus_id),
        effort=effort_of(row),
        corpus_map=store.examinations.corpus_map(task.corpus_id),
    )
    shelf = PartShelf(task, given, [detector.to_json(), *approvals], len(expected))
    task.expect([replace(one, seconds=0.0) if one.key in shelf.keys else one for one in expected])
    output = examine_run(given, progress=task.report, cancelled=task.cancelled, begin=task.begin, shelf=shelf)
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
            task.run_id, {**output.tables, **_iterations(task, list(train["text"]), embedder)}
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
