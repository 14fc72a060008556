"""Checks, and a support file without any text."""

import json
import zipfile

import pytest

from engine.errors import UserError
from engine.pii.detect.settings import DetectorSettings
from tests.jobs.conftest import without_worker
from tests.store.conftest import CANARY
from tests.store.making import finished_run


@pytest.fixture
def asleep(workspace, monkeypatch):
    without_worker(workspace, monkeypatch)
    return workspace


def check(workspace, name):
    return next(c for c in workspace.doctor.check()["checks"] if c["name"] == name)


def test_a_sound_workspace_passes(asleep, corpus):
    names = {c["name"] for c in asleep.doctor.check()["checks"]}
    assert {"package torch", "audit log", "worker", "disk space", "schema version", "database"} <= names
    for name in ("workspace can be written", "private to its owner", "audit log", "database", "schema version"):
        assert check(asleep, name)["ok"], name


def test_open_files_and_a_broken_chain_are_found(asleep, corpus):
    asleep.folder.records(corpus.id).chmod(0o644)
    assert not check(asleep, "private to its owner")["ok"]
    with asleep.session.db.write() as connection:
        connection.exec_driver_sql("DROP TRIGGER audit_no_update")
        connection.exec_driver_sql("UPDATE audit SET actor = 'x' WHERE seq = 1")
    assert "line 1" in check(asleep, "audit log")["detail"]
    assert not asleep.doctor.check()["ok"]


def test_the_support_file_holds_no_text(asleep, corpus, tmp_path):
    asleep.corpora.rename(corpus.id, f"Letters of {CANARY}")
    asleep.review.set_detector_settings(corpus.id, DetectorSettings(deny=(CANARY,)))
    finished_run(asleep, corpus, [f"{CANARY} copied"] * 3, state="failed")
    with asleep.folder.worker_log.open("a") as log:
        log.write(f"2026-01-01T00:00:00.000+00:00 12 detect j-abc begins, attempt 1\nTraceback: '{CANARY}'\n")
    bundle = asleep.doctor.support_file(tmp_path / "support.zip")
    assert bundle.stat().st_mode & 0o077 == 0
    with zipfile.ZipFile(bundle) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    assert set(parts) == {"checks.json", "versions.json", "jobs.json", "counts.json", "worker.log"}
    for word in (*CANARY.split(), "knee", "copied"):
        for name, data in parts.items():
            assert word.encode() not in data, name
    assert b"detect j-abc begins" in parts["worker.log"]
    assert b"Traceback" not in parts["worker.log"]
    assert json.loads(parts["counts.json"])["synthetic"] == 3
    assert {job["state"] for job in json.loads(parts["jobs.json"])} == {"queued", "failed"}
    with pytest.raises(UserError, match="exists already"):
        asleep.doctor.support_file(bundle)


def test_folders_that_nobody_knows_and_parts_of_the_dead_are_listed(asleep, corpus):
    assert check(asleep, "folders without an owner")["ok"]
    assert check(asleep, "left by killed writers")["ok"]
    asleep.folder.run("r-stranger").mkdir(mode=0o700)
    (asleep.path / ".snapshot.99999999.aabbccddeeff.part").write_bytes(b"x")
    assert "runs/r-stranger" in check(asleep, "folders without an owner")["detail"]
    assert not check(asleep, "left by killed writers")["ok"]


def test_a_full_disk_leaves_no_probe(asleep, corpus, monkeypatch):
    from engine.store.disk import folder

    def full(*arguments):
        raise OSError(28, "full")

    with monkeypatch.context() as patched:
        patched.setattr(folder.os, "fsync", full)
        found = asleep.doctor._writable()
    assert not found["ok"]
    assert "full" in found["detail"]
    assert not list(asleep.path.glob(".probe*"))
    assert check(asleep, "private to its owner")["ok"]
