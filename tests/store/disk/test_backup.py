"""Backup and restore as one file."""

import json
import zipfile

import pytest

from engine.errors import StorageError, UserError
from engine.store import queue, restore
from engine.store.database import migrations
from engine.store.store import Store
from tests.store.making import finished_run


@pytest.fixture
def backup(store, corpus, tmp_path):
    finished_run(store, corpus, ["one", "two"])
    return store.disk.backup(tmp_path / "backup.zip")


def rewrite(source, target, change):
    """Copy a zip, passing its members through `change(name, data) -> (name, data) | None`."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for info in old.infolist():
            kept = change(info.filename, old.read(info.filename))
            if kept is not None:
                new.writestr(*kept)
    return target


def test_a_restored_workspace_is_the_same(store, corpus, backup, tmp_path):
    target = restore(backup, tmp_path / "again")
    again = Store(target)
    assert again.corpora.all() == store.corpora.all()
    assert again.corpora.records(corpus.id, limit=100).equals(store.corpora.records(corpus.id, limit=100))
    assert again.runs.all() == store.runs.all()
    assert again.session.key == store.session.key
    assert again.audit.verify()["ok"]
    assert backup.stat().st_mode & 0o077 == 0
    assert [p for p in (target, *target.rglob("*")) if p.stat().st_mode & 0o077] == []


def test_what_a_worker_was_at_is_nobodys_in_the_restored_workspace(store, corpus, tmp_path):
    with store.session.db.write() as connection:
        queue.beat(connection, "1-here", "a place")
        job_id = queue.claim(connection, "light", "1-here").id  # the profile that follows the import
    again = Store(restore(store.disk.backup(tmp_path / "held.zip"), tmp_path / "again"))
    with again.session.db.write() as connection:  # a worker that begins there, and one that is at work here
        assert queue.recover(connection, "another place") == [job_id]
    with store.session.db.write() as connection:
        assert queue.recover(connection) == []


def test_a_backup_and_a_restore_overwrite_nothing(store, backup, tmp_path):
    with pytest.raises(UserError, match="exists already"):
        store.disk.backup(backup)
    with pytest.raises(UserError, match="not empty"):
        restore(backup, store.path)
    assert [p.name for p in tmp_path.iterdir() if ".part" in p.name] == []


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda n, d: ("../evil", d) if n == "workspace.key" else (n, d), "differ from its manifest"),
        (lambda n, d: (n, bytes(32)) if n == "workspace.key" else (n, d), "digest"),
        (lambda n, d: (n, d * 2) if n == "workspace.key" else (n, d), "larger"),
        (lambda n, d: None if n.endswith(".parquet") else (n, d), "differ from its manifest"),
        (lambda n, d: None if n == "manifest.json" else (n, d), "not a backup"),
        (lambda n, d: (n, b"[]") if n == "manifest.json" else (n, d), "not a backup"),
    ],
)
def test_a_changed_backup_is_refused(backup, tmp_path, change, says):
    bad = rewrite(backup, tmp_path / "bad.zip", change)
    with pytest.raises(UserError, match=says):
        restore(bad, tmp_path / "again")
    assert not (tmp_path / "again").exists()


@pytest.mark.parametrize(
    "name", ["../evil", "/etc/evil", "corpora/../../evil/x", "logs/x", "corpora/a", "corpora\\x\\y", "runs/C:/x"]
)
def test_a_file_outside_the_workspace_is_refused(backup, tmp_path, name):
    def change(member, data):
        if member == "manifest.json":
            manifest = json.loads(data)
            manifest["files"][name] = manifest["files"].pop(victim)
            return member, json.dumps(manifest)
        return (name, data) if member == victim else (member, data)

    with zipfile.ZipFile(backup) as archive:
        victim = next(n for n in archive.namelist() if n.endswith(".parquet"))
    bad = rewrite(backup, tmp_path / "bad.zip", change)
    with pytest.raises(UserError, match=r"outside the workspace|differ from its manifest"):
        restore(bad, tmp_path / "again")
    assert not (tmp_path / "evil").exists()


def test_a_newer_backup_is_refused(store, backup, tmp_path):
    def change(name, data):
        if name == "manifest.json":
            data = json.dumps({**json.loads(data), "schema_version": migrations.VERSION + 1})
        return name, data

    bad = rewrite(backup, tmp_path / "bad.zip", change)
    with pytest.raises(StorageError, match="Update Understudy"):
        restore(bad, tmp_path / "again")


@pytest.mark.parametrize("content", [b"", b"not a zip", b"PK\x03\x04 cut"])
def test_a_file_that_is_no_backup_is_refused(tmp_path, content):
    (tmp_path / "x.zip").write_bytes(content)
    with pytest.raises(UserError, match="backup"):
        restore(tmp_path / "x.zip", tmp_path / "again")
    with pytest.raises(UserError, match="no such backup"):
        restore(tmp_path / "missing.zip", tmp_path / "again")
