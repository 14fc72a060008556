"""Finished runs of dp-select as the worker leaves them, for tests of what comes after: packs, further rounds, pages."""

from __future__ import annotations

from sqlalchemy import update

from engine.store import queue
from engine.store.database.schema import runs, synthetic


def chosen(workspace, corpus_id, pool, count=6, **settings):
    """Ask for a run without any worker, end it with the pool's first texts as its winners, and return its id."""
    run_id = workspace.jobs.synthesize(corpus_id, "dp-select", count=count, parameters={"pool": pool, **settings})
    texts = workspace.pools.texts(pool, limit=count)
    with workspace.session.db.write() as connection:
        for job_id in queue.active_jobs(connection, run_id=run_id):
            queue.finish(connection, job_id, "done")
        winners = [[int(place), 9.5 - i] for i, place in enumerate(texts["position"])]
        connection.execute(
            update(runs).where(runs.c.id == run_id).values(
                state="done", kept=count, state_json={"phase": "done", "done": 1, "winners": winners},
                funnel={"made": count, "kept": count},
            )
        )  # fmt: skip
        rows = [
            {"run_id": run_id, "position": i, "record_id": f"s-{i + 1:06d}", "text": text, "label": label}
            for i, (text, label) in enumerate(zip(texts["text"], texts["label"], strict=True))
        ]
        connection.execute(synthetic.insert(), rows)
    return run_id
