"""Files that killed writers left are overwritten and removed at the next opening; those at work are left alone."""

import os
import signal
import sqlite3
import subprocess
import sys
import threading
import zipfile
from contextlib import closing
from pathlib import Path

import pytest

from engine.errors import StorageError, UserError
from engine.store import restore
from engine.store import session as base
from engine.store.corpora import importing
from engine.store.disk import backup as backups
from engine.store.disk import parts
from engine.store.disk.folder import part_beside
from engine.store.session import Session
from engine.store.store import Store
from tests.store.conftest import CANARY, MAPPING, made_up
from tests.store.making import finished_run

ROOT = Path(__file__).resolve().parents[3]
KILLED = """
import os, signal, sys
from pathlib import Path
import engine.store.disk.backup as backups
from engine.store import restore
from engine.store.store import Store
die = lambda *a, **k: os.kill(os.getpid(), signal.SIGKILL)
setattr(backups, sys.argv[1], die)
if sys.argv[4] == "restore":
    restore(Path(sys.argv[3]), Path(sys.argv[2]))
else:
    Store(Path(sys.argv[2])).disk.backup(Path(sys.argv[3]))
"""


def killed(point, workspace, file, verb="backup"):
    """Back up or restore in a process that dies at a function of the backup."""
    command = [sys.executable, "-c", KILLED, point, str(workspace), str(file), verb]
    assert subprocess.run(command, cwd=ROOT, timeout=120, check=False).returncode == -signal.SIGKILL


@pytest.mark.parametrize("point", ["_linked", "_pack", "_read_again"])
def test_a_killed_backup_leaves_nothing(store, corpus, tmp_path, point):
    finished_run(store, corpus, [f"{CANARY} copied"])
    before = store.folder.records(corpus.id).read_bytes()
    store.close()
    killed(point, store.path, tmp_path / "out" / "b.zip")
    left = [*store.path.glob(".*.part"), *(tmp_path / "out").glob(".*.part")]
    assert left
    again = Store(store.path)
    assert [path for path in left if path.exists()] == []
    assert again.folder.records(corpus.id).read_bytes() == before  # linked for the backup, not overwritten
    again.corpora.delete(corpus.id)
    assert not any(CANARY.split()[1].encode() in p.read_bytes() for p in store.path.rglob("*") if p.is_file())
    again.close()


def test_a_killed_restore_leaves_nothing(store, corpus, tmp_path):
    backup = store.disk.backup(tmp_path / "b.zip")
    killed("_finish", tmp_path / "again", backup, "restore")
    assert list(tmp_path.glob(".again.*.part"))
    restored = Store(restore(backup, tmp_path / "again"))
    assert not list(tmp_path.glob(".again.*.part"))
    assert len(restored.corpora.all()) == 1
    restored.close()


def test_parts_at_work_stay_and_those_of_the_dead_go(tmp_path):
    mine, dead, old = (
        part_beside(tmp_path / "t"),
        tmp_path / ".t.99999999.aabbccddeeff.part",
        tmp_path / ".probe.aabbccdd.part",
    )
    parent = tmp_path / f".t.{os.getppid()}.aabbccddeeff.part"
    for path in (mine, dead, old, parent):
        path.write_bytes(b"private")
    assert parts.left_overs(tmp_path) == [dead]
    os.utime(old, (0, 0))
    os.utime(parent, (0, 0))  # older than the process that has this number now
    assert parts.sweep(tmp_path) == 3
    assert list(tmp_path.iterdir()) == [mine]


def test_a_reservation_of_this_process_that_nobody_holds_any_more_is_swept(store):
    store.session.begin_writing("corpora/c-lost")
    store.folder.corpus("c-lost").mkdir()
    store.session.sweep()
    assert store.folder.corpus("c-lost").exists()
    base._writing.clear()  # what another process with the same id would see
    with store.session.db.write() as connection:
        connection.exec_driver_sql("UPDATE pending_removals SET pid = ?", (os.getppid(),))
        connection.exec_driver_sql("UPDATE pending_removals SET at = '2001-01-01T00:00:00.000+00:00'")
    store.session.sweep()
    assert not store.folder.corpus("c-lost").exists()


def test_an_import_that_fails_on_a_full_disk_leaves_no_text(store, monkeypatch):
    """The record table is written, then neither the corpus nor a note of its removal can be."""

    def full(connection, *arguments):
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
        connection.exec_driver_sql(f"PRAGMA max_page_count={pages}")
        raise StorageError("The disk that holds the workspace is full.")

    monkeypatch.setattr(importing, "keep", full)
    monkeypatch.setattr(Session, "mark_for_removal", lambda *a: (_ for _ in ()).throw(StorageError("full")))
    with pytest.raises(StorageError, match="full"):
        store.corpora.import_table(made_up(), MAPPING, name="Letters")
    assert list((store.path / "corpora").iterdir()) == []


def test_writers_do_not_wait_for_a_backup_that_is_being_packed(store, corpus, tmp_path, monkeypatch):
    packing, go = threading.Event(), threading.Event()
    real = backups._pack

    def slow(files, target):
        packing.set()
        assert go.wait(30)
        real(files, target)

    monkeypatch.setattr(backups, "_pack", slow)
    made = []
    thread = threading.Thread(target=lambda: made.append(store.disk.backup(tmp_path / "b.zip")))
    thread.start()
    assert packing.wait(30)
    later = store.corpora.import_table(made_up(10, 500), MAPPING, name="Later")  # would wait for 30 s and fail
    go.set()
    thread.join()
    again = Store(restore(made[0], tmp_path / "again"))
    assert [c.id for c in again.corpora.all()] == [corpus.id]
    assert later.id in {c.id for c in store.corpora.all()}
    again.close()


def test_a_backup_beside_a_deletion_is_not_kept(store, corpus, tmp_path, monkeypatch):
    """Files that were overwritten by the deletion must not pass as the corpus."""
    real = backups._pack

    def late(files, target):
        Store(store.path).corpora.delete(corpus.id)
        real(files, target)

    monkeypatch.setattr(backups, "_pack", late)
    with pytest.raises(UserError, match="deleted while"):
        store.disk.backup(tmp_path / "b.zip")
    assert list(tmp_path.glob("*b.zip*")) == []
    assert not list(store.path.glob(".snapshot.*"))


def test_a_backup_that_cannot_be_read_again_is_not_kept(store, corpus, tmp_path, monkeypatch):
    real = backups._pack

    def flipped(files, target):
        real(files, target)
        data = bytearray(target.read_bytes())
        with zipfile.ZipFile(target) as archive:
            place = archive.getinfo("workspace.key").header_offset + 60
        data[place] ^= 0xFF
        target.write_bytes(bytes(data))

    monkeypatch.setattr(backups, "_pack", flipped)
    with pytest.raises(StorageError, match="read again"):
        store.disk.backup(tmp_path / "b.zip")
    assert list(tmp_path.glob("*b.zip*")) == []


def test_a_deep_folder_of_a_run_is_restored(store, corpus, tmp_path):
    """Tuned weights, notes of tries and the like lie below a run's folder."""
    run_id = finished_run(store, corpus, ["one"])
    for name in ("tuned/model.safetensors", "traces/attempts_1.json", "tuned/deeper/still/x.json"):
        file = store.folder.run(run_id) / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(name.encode() * 1000)
    (store.folder.scratch(run_id)).mkdir()
    (store.folder.scratch(run_id) / "weights").write_bytes(b"in the making")
    again = Store(restore(store.disk.backup(tmp_path / "b.zip"), tmp_path / "again"))
    for name in ("tuned/model.safetensors", "traces/attempts_1.json", "tuned/deeper/still/x.json"):
        assert (again.folder.run(run_id) / name).read_bytes() == name.encode() * 1000
    assert not again.folder.scratch(run_id).exists()
    again.close()


def test_a_reader_does_not_hold_up_a_deletion_longer_than_said(store, corpus):
    import time

    with closing(sqlite3.connect(store.folder.database)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM audit").fetchall()
        store.audit.note("something to move")
        begun = time.monotonic()
        assert store.session.db.truncate_log(0.5) is False
        assert time.monotonic() - begun < 5.0
    assert store.session.db.truncate_log(5.0)
