"""A spend is not forgotten by a restore or by an older database that is put back."""

import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pandas as pd
import pytest
from sqlalchemy import update

from engine.errors import RefusedError, StorageError, UserError
from engine.store import accept_rollback, restore
from engine.store.database.schema import runs
from engine.store.disk import heads
from engine.store.store import Store
from tests.store.conftest import MAPPING, made_up
from tests.store.ledger_making import DELTA, draw, end, gaussian, kinds, limited, reserved_run

ROOT = Path(__file__).resolve().parents[2]


def spend(store, corpus, claim=1.0):
    """Reserve, draw and settle one run."""
    planned = gaussian(claim)
    run_id = reserved_run(store, corpus, planned)
    draw(store, run_id, planned)
    end(store, run_id, "done")
    return run_id


def kept_database(store, target):
    """Copy the database as it is now, as somebody would who saves the file."""
    with closing(sqlite3.connect(store.folder.database)) as live, closing(sqlite3.connect(target)) as copy:
        live.backup(copy)
        copy.execute("PRAGMA journal_mode=DELETE")
    return target


def put_back(store, copy):
    """Replace the database by an earlier copy."""
    store.close()
    for part in ("", "-wal", "-shm"):
        store.folder.database.with_name(store.folder.database.name + part).unlink(missing_ok=True)
    shutil.copyfile(copy, store.folder.database)


def test_a_restore_says_that_spends_since_are_unknown_and_admits_nothing_until_they_are_entered(
    store, corpus, tmp_path
):
    limited(store, corpus, 2.0)
    backup = store.disk.backup(tmp_path / "b.zip")
    spend(store, corpus, 2.0)
    again = Store(restore(backup, tmp_path / "again"), actor="ben")
    view = again.ledger.of(corpus.id)
    assert view.unknown_since is not None
    assert "at least" in view.sentence
    assert "no run is admitted" in view.sentence
    line = view.lines.iloc[-1]
    assert line["kind"] == "unknown"
    assert line["sentence"].startswith("Restored from a backup of ")
    assert not again.ledger.what_if(corpus.id, gaussian(0.1)).allowed
    assert again.audit.lines(limit=1).iloc[0]["action"] == "workspace restored"
    with pytest.raises(RefusedError, match="spent-since"):
        reserved_run(again, corpus, gaussian(0.1))

    again.ledger.declare_spent(corpus.id, 2.0, DELTA / 2)
    view = again.ledger.of(corpus.id)
    assert view.unknown_since is None
    assert "entered ε = 2 at" in view.sentence
    assert view.share == 1.0
    with pytest.raises(RefusedError):
        reserved_run(again, corpus, gaussian(2.0))
    assert again.ledger.wait_total(corpus.id) == pytest.approx(2.0, abs=1e-3)  # at the limit's δ, twice the entered one
    assert again.ledger.verify()["ok"]
    again.close()


def test_nothing_spent_since_can_be_entered_too(store, corpus, tmp_path):
    limited(store, corpus, 2.0)
    spend(store, corpus, 1.0)
    before = store.ledger.of(corpus.id).share
    again = Store(restore(store.disk.backup(tmp_path / "b.zip"), tmp_path / "again"))
    again.ledger.declare_spent(corpus.id, 0.0, 0.0)
    assert again.ledger.of(corpus.id).share == before
    assert f"{again.session.actor} stated that nothing was spent elsewhere." in again.ledger.of(corpus.id).sentence
    reserved_run(again, corpus, gaussian(0.2))
    with pytest.raises(UserError, match="Nothing about this ledger is unknown"):
        again.ledger.declare_spent(corpus.id, 1.0, 0.0)
    again.close()


@pytest.mark.parametrize("amount", [(-1.0, 0.0), (float("nan"), 0.0), (1.0, 1.0), (0.0, 1e-6), (1e6, 0.0)])
def test_an_amount_out_of_range_is_refused(store, corpus, tmp_path, amount):
    again = Store(restore(store.disk.backup(tmp_path / "b.zip"), tmp_path / "again"))
    with pytest.raises(UserError, match="spent since"):
        again.ledger.declare_spent(corpus.id, *amount)
    assert kinds(again, corpus) == ["unknown"]
    again.close()


def test_an_amount_answers_its_own_population_alone(store, corpus, tmp_path):
    """Two populations with lost spends merge after one of them was answered."""
    other = store.corpora.import_table(made_up(30, 1000), MAPPING, name="Others")
    assert other.population != corpus.population
    again = Store(restore(store.disk.backup(tmp_path / "b.zip"), tmp_path / "again"))
    again.ledger.declare_spent(corpus.id, 1.0, 0.0)
    both = pd.concat([made_up(40), made_up(30, 1000)], ignore_index=True)
    joined = again.corpora.import_table(both, MAPPING, name="Joined")
    view = again.ledger.of(joined.id)
    assert "merge" in list(view.lines["kind"])
    assert view.unknown_since is not None
    again.ledger.declare_spent(joined.id, 0.0, 0.0)
    assert again.ledger.of(joined.id).unknown_since is None
    again.close()


def test_an_older_database_is_refused_and_can_be_accepted(store, corpus, tmp_path):
    limited(store, corpus, 2.0)
    old = kept_database(store, tmp_path / "old.sqlite")
    spend(store, corpus, 2.0)
    files = sorted(p for p in store.folder.path.rglob("*") if p.suffix == ".parquet")
    put_back(store, old)
    with pytest.raises(StorageError, match="accept-rollback"):
        Store(store.path)
    assert sorted(p for p in store.folder.path.rglob("*") if p.suffix == ".parquet") == files
    found = accept_rollback(store.path, "ben")
    assert found["populations"] == 1
    assert found["lines_missing"]["ledger"] == 3
    again = Store(store.path)
    view = again.ledger.of(corpus.id)
    assert view.unknown_since is not None
    assert list(view.lines["kind"]) == ["limit", "unknown"]
    line = again.audit.lines(limit=1).iloc[0]
    assert (line["action"], line["actor"]) == ("rollback accepted", "ben")
    with pytest.raises(RefusedError):
        reserved_run(again, corpus, gaussian(0.5))
    again.close()
    with pytest.raises(UserError, match="no rollback"):
        accept_rollback(store.path)


def test_an_older_database_that_grew_again_is_refused(store, corpus, tmp_path):
    """Another history of the same length: written by a program that knew nothing of the heads."""
    old = kept_database(store, tmp_path / "old.sqlite")
    limited(store, corpus, 2.0)
    put_back(store, old)
    store.folder.head_file.rename(tmp_path / "aside")
    with closing(sqlite3.connect(store.folder.database)) as database:
        database.execute("DELETE FROM settings WHERE key = ?", (heads.MARK,))
        database.commit()
    other = Store(store.path)
    for value in (3.0, 4.0, 5.0):
        limited(other, corpus, value)
    other.close()
    (tmp_path / "aside").replace(store.folder.head_file)
    with pytest.raises(StorageError, match="another line"):
        Store(store.path)


@pytest.mark.parametrize("damage", [None, b"", b"{}", b"[1]", b'{"audit": {"seq": "x", "seal": 1}}'])
def test_a_missing_or_damaged_head_file_is_refused(store, corpus, damage):
    store.close()
    store.folder.head_file.unlink()
    if damage is not None:
        store.folder.head_file.write_bytes(damage)
    with pytest.raises(StorageError, match="accept-rollback"):
        Store(store.path)
    accept_rollback(store.path)
    again = Store(store.path)
    assert again.ledger.of(corpus.id).unknown_since is not None
    again.close()


def test_a_workspace_of_an_earlier_version_gets_a_head_file(store, corpus):
    with store.session.db.write() as connection:
        connection.exec_driver_sql(f"DELETE FROM settings WHERE key = '{heads.MARK}'")
    store.close()
    store.folder.head_file.unlink()
    again = Store(store.path)
    assert again.folder.head_file.exists()
    assert again.settings.get(heads.MARK) is True
    again.close()


def test_the_heads_follow_each_commit_and_a_full_disk_does_not_lose_the_commit(store, corpus, monkeypatch):
    before = store.folder.head_file.read_bytes()
    limited(store, corpus, 3.0)
    after = store.folder.head_file.read_bytes()
    assert before != after

    def full(*arguments):
        raise OSError(28, "full")

    with monkeypatch.context() as patched:
        patched.setattr(heads, "write_private", full)
        limited(store, corpus, 4.0)
    assert store.folder.head_file.read_bytes() == after
    again = Store(store.path)
    assert again.ledger.of(corpus.id).limit_epsilon == 4.0
    assert again.folder.head_file.read_bytes() != after
    again.close()


WRITE = """
import sys
from pathlib import Path
from engine.store.store import Store
store = Store(Path(sys.argv[1]), actor=sys.argv[2])
print("open", flush=True)
while True:
    store.audit.note("looked")
"""


@pytest.mark.parametrize(
    "kills", [3, pytest.param(8, marks=pytest.mark.slow), pytest.param(40, marks=pytest.mark.long)]
)
def test_processes_killed_while_they_write_never_look_like_a_rollback(store, kills):
    """Two writers at once, killed at random moments: between a commit and its head file as well."""
    rng, path, lines = random.Random(5), store.path, 0
    store.close()
    for _ in range(kills):
        writers = [
            subprocess.Popen([sys.executable, "-c", WRITE, str(path), name], cwd=ROOT, stdout=subprocess.PIPE)
            for name in ("anna", "ben")
        ]
        for writer in writers:
            assert writer.stdout.readline() == b"open\n"
        time.sleep(0.05 + rng.random() * 0.2)
        for writer in writers:
            writer.kill()
        assert [writer.wait() for writer in writers] == [-signal.SIGKILL] * 2
        again = Store(path)
        checked = again.audit.verify()
        assert checked["ok"]
        assert checked["lines"] >= lines
        lines = checked["lines"]
        assert not list(path.glob(".*.part"))
        again.close()
    assert lines > 2 * kills


@pytest.mark.parametrize("state", ["running", "failed", "cancelled"])
def test_a_run_begun_before_a_restore_draws_nothing_more_and_counts_whole(store, corpus, tmp_path, state):
    """It may have gone on elsewhere: another draw of the same rounds would be paid by nobody."""
    limited(store, corpus, 2.0)
    planned = gaussian(2.0, count=3)
    run_id = reserved_run(store, corpus, planned)
    if state != "cancelled":
        draw(store, run_id, planned)
    if state != "running":
        with store.session.db.write() as connection:
            connection.execute(update(runs).where(runs.c.id == run_id).values(state=state))
    backup = store.disk.backup(tmp_path / "b.zip")
    for number in range(1 if state != "cancelled" else 0, 3):  # in the original it goes on to its end
        draw(store, run_id, planned, key=f"votes/{number}")
    again = Store(restore(backup, tmp_path / "again"), actor="ben")
    share = again.ledger.of(corpus.id).share
    with pytest.raises(RefusedError, match="before the workspace was restored"):
        draw(again, run_id, planned, key="votes/1")
    again.ledger.declare_spent(corpus.id, 0.0, 0.0)
    with pytest.raises(RefusedError, match="before the workspace was restored"), again.session.db.write() as connection:
        again.ledger.reserve(connection, run_id, corpus.id, "test", planned)
    with pytest.raises(RefusedError, match="before the workspace was restored"):
        draw(again, run_id, planned, key="votes/1")
    end(again, run_id, "failed")
    assert again.ledger.of(corpus.id).share == share == pytest.approx(1.0, abs=1e-6)
    with pytest.raises(RefusedError):
        reserved_run(again, corpus, gaussian(0.5))
    again.close()
