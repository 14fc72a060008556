"""Layout, modes, key, and sentences about disks."""

import errno
import os
import sqlite3
import stat
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from engine.errors import StorageError
from engine.store.database.database import database_errors
from engine.store.disk.address import default_path
from engine.store.disk.folder import Folder, file_errors, remove_tree, write_atomic
from engine.store.store import Store


def test_everything_in_a_workspace_is_its_owners(store, corpus):
    loose = [p for p in (store.folder.path, *store.folder.path.rglob("*")) if p.stat().st_mode & 0o077]
    assert loose == []
    assert stat.S_IMODE(store.folder.path.stat().st_mode) == 0o700
    assert stat.S_IMODE(store.folder.records(corpus.id).stat().st_mode) == 0o600


def test_a_loose_folder_is_closed_on_opening(tmp_path):
    (tmp_path / "w").mkdir(mode=0o755)
    Store(tmp_path / "w").close()
    assert stat.S_IMODE((tmp_path / "w").stat().st_mode) == 0o700


def test_threads_that_open_a_new_workspace_together_get_one_key(tmp_path):
    folder, keys = Folder(tmp_path / "w"), []
    folder.create()
    threads = [threading.Thread(target=lambda: (folder.make_key(), keys.append(folder.key()))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(keys) == 8
    assert len(set(keys)) == 1
    assert len(keys[0]) == 32


def test_a_damaged_key_is_refused(store):
    store.folder.key_file.write_bytes(b"short")
    with pytest.raises(StorageError, match="32 bytes"):
        store.folder.key()


def test_the_environment_names_the_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("UNDERSTUDY_WORKSPACE", str(tmp_path / "named"))
    assert default_path() == tmp_path / "named"
    monkeypatch.setenv("UNDERSTUDY_WORKSPACE", " ")
    assert default_path().name == "understudy"


def test_writing_replaces_in_one_step_and_leaves_no_part(tmp_path):
    write_atomic(tmp_path / "f", b"one")
    write_atomic(tmp_path / "f", b"two")
    assert [p.name for p in tmp_path.iterdir()] == ["f"]
    assert (tmp_path / "f").read_bytes() == b"two"


def test_a_removed_tree_is_gone_and_a_missing_one_is_no_error(tmp_path):
    (tmp_path / "t" / "sub").mkdir(parents=True)
    (tmp_path / "t" / "sub" / "f").write_bytes(b"x" * 100)
    remove_tree(tmp_path / "t")
    remove_tree(tmp_path / "t")
    assert not (tmp_path / "t").exists()


def test_two_who_remove_the_same_tree_are_no_error(tmp_path):
    """As a program and its worker do, which both look for condemned folders."""
    with ThreadPoolExecutor(2) as two:
        for number in range(40):
            tree = tmp_path / str(number)
            for name in ("a", "b", "c"):
                (tree / name).mkdir(parents=True)
                (tree / name / "f").write_bytes(b"x")
            for done in [two.submit(remove_tree, tree) for _ in range(2)]:
                done.result()
            assert not tree.exists()


@pytest.mark.parametrize(
    ("number", "says"),
    [
        (errno.ENOSPC, "full"),
        (errno.EDQUOT, "quota"),
        (errno.EROFS, "read-only"),
        (errno.EACCES, "write access"),
        (errno.EPERM, "write access"),
        (errno.EIO, "Check the disk"),
    ],
)
def test_a_file_error_says_what_to_do(number, says):
    with pytest.raises(StorageError, match=says), file_errors():
        raise OSError(number, "secret name")


def test_an_unknown_file_error_is_passed_on():
    with pytest.raises(FileNotFoundError), file_errors():
        raise FileNotFoundError(errno.ENOENT, "x")


@pytest.mark.parametrize(
    ("message", "says"),
    [
        ("database or disk is full", "full"),
        ("attempt to write a readonly database", "read-only"),
        ("database is locked", "another program|Another program"),
        ("unable to open database file", "cannot be opened"),
        ("database disk image is malformed", "backup"),
        ("file is not a database", "backup"),
    ],
)
def test_a_database_error_says_what_to_do(message, says):
    with pytest.raises(StorageError, match=says), database_errors():
        raise sqlite3.OperationalError(message)


def test_a_full_database_is_reported_and_changes_nothing(store, corpus):
    """SQLite itself is made to run out of pages."""
    before = store.corpora.all()
    with store.session.db.engine.connect() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
        connection.exec_driver_sql(f"PRAGMA max_page_count={pages}")
    with pytest.raises(StorageError, match="full"):
        store.settings.set("large", "x" * 4_000_000)
    assert store.corpora.all() == before


def test_a_damaged_database_is_reported(tmp_path):
    folder = Folder(tmp_path / "w")
    folder.create()
    folder.database.write_bytes(b"not a database at all" * 100)
    with pytest.raises(StorageError, match="backup"):
        Store(folder.path)


def test_a_workspace_path_that_is_a_file_is_reported(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(StorageError, match="Choose a folder"):
        Store(tmp_path / "file")


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="the superuser may write anywhere")
def test_a_read_only_folder_is_reported(tmp_path):
    (tmp_path / "w").mkdir(mode=0o500)
    with pytest.raises(StorageError, match="write access"):
        Store(tmp_path / "w" / "inner")


def test_no_statement_parameter_reaches_an_exception(store, corpus):
    from sqlalchemy.exc import IntegrityError

    from engine.store.database.schema import settings

    twice = [{"key": "Zanzibarnacle", "value": 1}] * 2
    with pytest.raises(IntegrityError) as caught, store.session.db.write() as connection:
        connection.execute(settings.insert(), twice)
    assert "Zanzibarnacle" not in str(caught.value)
