"""Rows a worker would write, for tests of what reads them."""

import pandas as pd
from sqlalchemy import update

from engine.dp.guarantee import Guarantee
from engine.examine.findings.findings import Finding
from engine.store import queue
from engine.store.audit import now
from engine.store.database.schema import runs, synthetic
from engine.store.session import new_id


def finished_run(store, corpus, texts, state="done"):
    """Add a run with these outputs and return its id."""
    run_id = new_id("r")
    with store.session.db.write() as connection:
        connection.execute(
            runs.insert().values(
                id=run_id,
                corpus_id=corpus.id,
                method="filter",
                title="Filter",
                parameters={"temperature": 0.7, "operator": "rephrase"},
                seed=3,
                model="builtin",
                count=len(texts),
                kept=len(texts),
                state=state,
                created=now(),
                funnel={"made": len(texts), "kept": len(texts)},
                diagnostics={},
                guarantee=Guarantee("none", "No formal guarantee.").as_dict(),
                manifest={},
                state_json={"seen": texts[:1]},
                revision=0,
                needs_spans=True,
            )
        )
        connection.execute(
            synthetic.insert(),
            [
                {
                    "run_id": run_id,
                    "position": i,
                    "record_id": f"s-{i + 1:06d}",
                    "text": text,
                    "label": "knee",
                    "lineage": f"id{i}",
                }
                for i, text in enumerate(texts)
            ],
        )
        job_id = queue.enqueue(connection, "synthesize", corpus_id=corpus.id, run_id=run_id)
        queue.claim(connection, "heavy")
        queue.progress(connection, job_id, sample=texts[:5])
        connection.execute(update(runs).where(runs.c.id == run_id).values(job_id=job_id))
        if state not in queue.ACTIVE:
            queue.finish(connection, job_id, state)
    return run_id


def finding(name, value, group="privacy", reference="train", **extra):
    """Return a finding."""
    return Finding(name, value, None, None, 10, reference, "share", "lower is safer", group, extra)


def examine(store, run_id, found, risk=None, groups=("privacy", "utility"), tables=None):
    """Store an examination; it found no original among the records unless its tables say so."""
    found_none = {"originals": pd.DataFrame({"record_id": []}, dtype=object)}
    store.examinations.save_tables(run_id, found_none | (tables or {}))
    with store.session.db.write() as connection:
        store.examinations.save(connection, run_id, found, risk or {}, 0, groups)


def unguard(connection, table):
    """Let lines of an append-only table be changed, as somebody could who has the database in hand."""
    for verb in ("update", "delete"):
        of = f" ON {table}" if connection.dialect.name == "postgresql" else ""
        connection.exec_driver_sql(f"DROP TRIGGER {table}_no_{verb}{of}")
