"""Job `pool check`: how many texts of a pool repeat private records, at a person's request.

What it is for: a pool that holds private text breaks every claim made with it, so the answer to "is the declaration
true?" may be to delete the pool, before any run. It is not for cutting a pool: what is left out because of private rows
tells of them, and no noise covers that.

Privacy posture: reads every record of the corpus outside any bound. The ledger says so before anything is compared; the
counts stay in the workspace and go with the corpus, and no run, plan or claim reads them.
"""

from __future__ import annotations

from engine.jobs.worker.task import Task
from engine.store.audit import now
from engine.store.budget import lines as ledger_lines
from engine.store.budget.reservations import population_of
from engine.store.database.dialect import insert
from engine.store.database.schema import pool_checks
from engine.store.runs.compared import POOL_CHECK

SHARED, LONG = 8, 25  # consecutive words of one record that a text may repeat: stock phrases, and no longer chance
MOST_SHOWN = 200
STAGE = "comparing a pool with private records"
TOUCHED = (
    "The pool {name} was compared with private records at a person's request; the result is internal and no bound "
    "covers it. Choosing, cutting or changing a pool because of it is a selection by private text."
)


def run(task: Task) -> None:
    """Compare a pool with all records of a corpus and keep the counts."""
    from engine.examine.repeats.originals_scores import originals_among
    from engine.release.copies import check_copies

    store, name = task.store, str(task.arguments["pool"])
    task.report(STAGE, 0, 3)
    with store.session.db.write() as connection:  # first the line, then the look
        population = population_of(connection, task.corpus_id)
        ledger_lines.write(
            connection, store.session.key, str(task.arguments["actor"]), population, "touch", what=POOL_CHECK,
            sentence=TOUCHED.format(name=name), share_after=ledger_lines.last_share(connection, population),
        )  # fmt: skip
    pool = store.pools.get(name)
    texts = [text for text, _ in store.pools.candidates(name, pool.digest)]
    records = [str(text) for text in store.corpora.frame(task.corpus_id, None, ["text"])["text"]]
    equal = len(originals_among(texts, records))
    task.check()
    task.report(STAGE, 1, 3)
    shared = check_copies(texts, records, SHARED).texts
    task.check()
    task.report(STAGE, 2, 3)
    long = check_copies([texts[i] for i in shared], records, LONG).texts
    body = {
        "compared": len(records), "equal": equal, "shared": len(shared), "long": len(long),
        "positions": [shared[i] for i in long[:MOST_SHOWN]],
    }  # fmt: skip
    with task.batch(STAGE, 3, 3) as connection:
        row = {"at": now(), "actor": str(task.arguments["actor"]), "body": body}
        statement = insert(connection, pool_checks).values(pool=name, corpus_id=task.corpus_id, **row)
        connection.execute(statement.on_conflict_do_update(index_elements=["pool", "corpus_id"], set_=row))
