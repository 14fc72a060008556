"""The ledger's chain: changed lines, the export, a backup, two processes at once."""

import json
import subprocess
import sys

import pytest
from sqlalchemy.exc import IntegrityError

from engine.errors import RefusedError, StorageError
from engine.store import restore
from engine.store.store import Store
from tests.store.conftest import MAPPING, made_up
from tests.store.ledger_making import DELTA, ROOT, draw, gaussian, kinds, limited, reserved_run
from tests.store.making import unguard


def tampered(store, statement):
    with store.session.db.write() as connection:
        unguard(connection, "ledger")
        connection.exec_driver_sql(statement)
    return store.ledger.verify()


@pytest.mark.parametrize(
    ("statement", "first_bad"),
    [
        ("UPDATE ledger SET body = replace(body, '2.0', '9.0') WHERE seq = 1", 1),
        ("UPDATE ledger SET population = 'pop-other' WHERE seq = 2", 2),
        ("UPDATE ledger SET kind = 'give_back' WHERE seq = 2", 2),
        ("DELETE FROM ledger WHERE seq = 3", 3),
    ],
)
def test_a_changed_line_is_found(store, corpus, statement, first_bad):
    limited(store, corpus)
    planned = gaussian(1.0)
    draw(store, reserved_run(store, corpus, planned), planned)
    assert store.ledger.verify() == {"ok": True, "lines": 3, "first_bad": None}
    found = tampered(store, statement)
    assert (found["ok"], found["first_bad"]) == (False, first_bad)


@pytest.mark.parametrize("verb", ["UPDATE ledger SET actor = 'x'", "DELETE FROM ledger"])
def test_lines_cannot_be_changed_by_a_statement(store, corpus, verb):
    limited(store, corpus)
    with pytest.raises((IntegrityError, StorageError), match="append-only"), store.session.db.write() as connection:
        connection.exec_driver_sql(verb)


def test_the_export_holds_every_line_and_its_hash(store, corpus):
    limited(store, corpus)
    planned = gaussian(1.0)
    draw(store, reserved_run(store, corpus, planned), planned)
    exported = json.loads(store.ledger.export(corpus.id))
    assert [line["kind"] for line in exported["lines"]] == kinds(store, corpus)
    assert all(len(line["hash"]) == 64 for line in exported["lines"])
    assert exported["limit_epsilon"] == 2.0


def test_a_backup_carries_the_ledger_and_drawn_outputs(store, corpus, tmp_path):
    limited(store, corpus)
    planned = gaussian(1.0, count=2)
    run_id = reserved_run(store, corpus, planned)
    draw(store, run_id, planned)
    (store.folder.corpus(corpus.id) / "embeddings_x.npy").write_bytes(b"private numbers")
    again = Store(restore(store.disk.backup(tmp_path / "b.zip"), tmp_path / "again"))
    lines = store.ledger.verify()["lines"]
    assert again.ledger.verify() == {"ok": True, "lines": lines + 1, "first_bad": None}  # and one that it was restored
    assert again.ledger.of(corpus.id).share == store.ledger.of(corpus.id).share
    assert (again.ledger.outputs(run_id).load("votes/0").values == [1.0, 2.0]).all()
    assert not list(again.folder.path.rglob("embeddings_*"))
    with pytest.raises(RefusedError, match="before the workspace was restored"):  # the original may have gone on
        draw(again, run_id, planned, "votes/1")
    again.close()


RESERVE = """
import sys
from pathlib import Path
from engine.errors import RefusedError
from engine.store.budget import reservations
from engine.store.store import Store
from tests.store.ledger_making import gaussian
store = Store(Path(sys.argv[1]), actor=sys.argv[3])
guarantee, done = gaussian(float(sys.argv[4])), 0
sys.stdin.readline()
for i in range(20):
    try:
        with store.session.db.write() as connection:
            population = reservations.population_of(connection, sys.argv[2])
            reservations.reserve(connection, store.session.key, store.actor, population=population,
                                 run_id=f"r-{sys.argv[3]}{i}", method="test", guarantee=guarantee)
        done += 1
    except RefusedError:
        pass
print(done)
"""


def race(store, corpus, claim):
    """Let two processes reserve twenty runs each at the same moment; return how many were admitted to each."""
    processes = [
        subprocess.Popen([sys.executable, "-c", RESERVE, str(store.path), corpus.id, name, str(claim)],
                         cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for name in ("anna", "ben")
    ]  # fmt: skip
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    outputs = [process.communicate(timeout=120)[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    return [int(output) for output in outputs]


def test_two_processes_cannot_overspend(store, corpus):
    limited(store, corpus)
    claim = 0.6
    fits = 0
    alone = store.corpora.import_table(made_up(20, 800), MAPPING, name="Alone")
    store.ledger.set_limit(alone.id, 2.0, DELTA)
    while store.ledger.what_if(alone.id, gaussian(claim)).allowed:
        reserved_run(store, alone, gaussian(claim))
        fits += 1
    assert 2 <= fits < 20
    admitted = race(store, corpus, claim)
    assert sum(admitted) == fits
    view = store.ledger.of(corpus.id)
    assert view.share <= 1.0
    assert kinds(store, corpus).count("reserve") == fits
    assert store.ledger.verify()["ok"]
