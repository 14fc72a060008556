"""Finished runs of dp-select as the worker leaves them, for tests of what comes after: packs, further rounds, pages."""

from __future__ import annotations

from engine.store import queue
from engine.store.database.schema import synthetic
from tests.store.making import made_with


def chosen(workspace, corpus_id, pool, count=6, **settings):
    """Ask for a run without any worker, end it with the pool's first texts as its winners, and return its id."""
    run_id = workspace.jobs.synthesize(corpus_id, "dp-select", count=count, parameters={"pool": pool, **settings})
    texts = workspace.pools.texts(pool, limit=count)
    with workspace.session.db.write() as connection:
        for job_id in queue.active_jobs(connection, run_id=run_id):
            queue.finish(connection, job_id, "done")
        winners = [[int(place), 9.5 - i] for i, place in enumerate(texts["position"])]
        rows = [
            {"run_id": run_id, "position": i, "record_id": f"s-{i + 1:06d}", "text": text, "label": label}
            for i, (text, label) in enumerate(zip(texts["text"], texts["label"], strict=True))
        ]
        connection.execute(synthetic.insert(), rows)
    made_with(
        workspace.session, run_id, state="done", kept=count, funnel={"made": count, "kept": count},
        state_json={"phase": "done", "done": 1, "winners": winners},
    )  # fmt: skip
    return run_id
