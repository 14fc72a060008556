"""Rows a worker would write, for tests of what reads them."""

import pandas as pd
from sqlalchemy import select, text, update

from engine.dp.guarantee import Guarantee
from engine.examine.findings.findings import Finding
from engine.store import queue
from engine.store.audit import now
from engine.store.database.schema import runs
from engine.store.runs import chained
from engine.store.session import new_id


def ask_for(session, connection, values):
    """Add a run as whoever asks for one does."""
    chained.begin(connection, session.key, values)
    told = chained.asked(connection, session.key, values)
    session.write_audit(
        connection, chained.ASKED, values["id"], corpus=values["corpus_id"], method=values["method"],
        count=values["count"], **told,
    )  # fmt: skip


def add_texts(session, connection, run_id, rows, state_json=None, **values):
    """Add texts to a run in one batch as the worker does; `rows` lack their run and their position."""
    before = connection.execute(select(runs).where(runs.c.id == run_id)).one()
    made = [{"lineage": None, "label": None, **row, "run_id": run_id, "position": i} for i, row in enumerate(rows)]
    left = {"kept": len(made), "funnel": {"made": len(made), "kept": len(made)}, "diagnostics": {}, "seconds": 0.0}
    chained.grow(connection, session.key, before, made, left | values | {"state_json": state_json})


def made_with(session, run_id, **values):
    """Give a run's row other values, as if it had been asked for and made with them; the log tells of it once more."""
    key = session.key
    with session.db.write() as connection:
        if values:
            connection.execute(update(runs).where(runs.c.id == run_id).values(**values))
        (row,) = chained.read(connection, run_id)
        head, said = chained.texts_of(key, run_id, chained.texts(connection, run_id)), dict(row._mapping)
        connection.execute(
            update(runs).where(runs.c.id == run_id).values(sealed=chained._sealed(key, run_id, head, said))
        )
        told = chained.asked(connection, key, said)
        session.write_audit(connection, chained.ASKED, run_id, corpus=row.corpus_id, **told)
        chained.end(session, connection, run_id)


def finished_run(store, corpus, texts, state="done", settings=None):
    """Add a run with these outputs, and other values of its row than usual, and return its id."""
    run_id = new_id("r")
    with store.session.db.write() as connection:
        values = {
            "id": run_id,
            "corpus_id": corpus.id,
            "method": "filter",
            "title": "Filter",
            "parameters": {"temperature": 0.7, "operator": "rephrase"},
            "seed": 3,
            "model": "builtin",
            "count": len(texts),
            "state": state,
            "created": now(),
            "funnel": {},
            "diagnostics": {},
            "guarantee": Guarantee("none", "No formal guarantee.").as_dict(),
            "manifest": {},
            "revision": 0,
            "needs_spans": True,
        }
        ask_for(store.session, connection, values | (settings or {}))
        rows = [
            {"record_id": f"s-{i + 1:06d}", "text": text, "label": "knee", "lineage": f"id{i}"}
            for i, text in enumerate(texts)
        ]
        add_texts(store.session, connection, run_id, rows, {"seen": texts[:1]})
        job_id = queue.enqueue(connection, "synthesize", corpus_id=corpus.id, run_id=run_id)
        queue.claim(connection, "heavy")
        queue.progress(connection, job_id, sample=texts[:5])
        connection.execute(update(runs).where(runs.c.id == run_id).values(job_id=job_id))
        if state not in queue.ACTIVE:
            queue.finish(connection, job_id, state)
            chained.end(store.session, connection, run_id)
    return run_id


def finding(name, value, group="privacy", reference="train", **extra):
    """Return a finding."""
    return Finding(name, value, None, None, 10, reference, "share", "lower is safer", group, extra)


def examine(store, run_id, found, risk=None, groups=("privacy", "utility"), tables=None, revision=0):
    """Store an examination; it found no original among the records unless its tables say so."""
    found_none = {"originals": pd.DataFrame({"record_id": []}, dtype=object)}
    store.examinations.save_tables(run_id, found_none | (tables or {}))
    with store.session.db.write() as connection:
        store.examinations.save(connection, run_id, found, risk or {}, revision, groups)


def unguard(connection, table):
    """Let lines of an append-only table be changed, as somebody could who has the database in hand."""
    for verb in ("update", "delete"):
        of = f" ON {table}" if connection.dialect.name == "postgresql" else ""
        connection.exec_driver_sql(f"DROP TRIGGER {table}_no_{verb}{of}")


def edited(store, *statements):
    """Change rows as somebody could who has the database in hand: without the triggers that would refuse it."""
    with store.session.db.write() as connection:
        if connection.dialect.name == "postgresql":
            question = "SELECT tgname, CAST(tgrelid AS regclass) FROM pg_trigger WHERE NOT tgisinternal"
            dropped = [f'"{name}" ON {table}' for name, table in connection.execute(text(question))]
        else:
            found = connection.execute(text("SELECT name FROM sqlite_master WHERE type = 'trigger'"))
            dropped = [f'"{name}"' for (name,) in found]
        for statement in (*(f"DROP TRIGGER {one}" for one in dropped), *statements):
            connection.execute(text(statement))
