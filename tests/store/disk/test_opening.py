"""A workspace that lacks its database, key or tables is refused with a sentence, and nothing in it is changed."""

import shutil
import sqlite3
from contextlib import closing

import pytest

from engine.errors import StorageError
from engine.store.disk.folder import Folder
from engine.store.store import Store
from tests.store.conftest import MAPPING, made_up
from tests.store.making import examine, finding, finished_run


@pytest.fixture
def closed(store, corpus):
    """Return the folder of a closed workspace with a run that has tables."""
    run_id = finished_run(store, corpus, ["one", "two"])
    examine(store, run_id, [finding("pipp", 0.5)], tables={"leaks": made_up(3)[["text"]]})
    tuned = store.folder.run(run_id) / "tuned"
    tuned.mkdir()
    (tuned / "model.safetensors").write_bytes(b"weights" * 100)
    store.close()
    return store.folder


def content(folder):
    """Return name → bytes of all tables and weights."""
    return {p: p.read_bytes() for p in folder.path.rglob("*") if p.suffix in (".parquet", ".safetensors", ".key")}


def remove_database(folder):
    for part in ("", "-wal", "-shm"):
        folder.database.with_name(folder.database.name + part).unlink(missing_ok=True)


def empty_database(folder):
    remove_database(folder)
    folder.database.write_bytes(b"")


def foreign_database(folder):
    remove_database(folder)
    with closing(sqlite3.connect(folder.database)) as other:
        other.execute("CREATE TABLE x (y)")


def damaged_database(folder):
    remove_database(folder)
    folder.database.write_bytes(b"not a database" * 1000)


def without_a_table(folder):
    with closing(sqlite3.connect(folder.database)) as database:
        database.execute("DROP TABLE ledger_head")


def without_key(folder):
    folder.key_file.unlink()


def without_key_and_database(folder):
    remove_database(folder)
    folder.key_file.unlink()


def short_key(folder):
    folder.key_file.write_bytes(b"short")


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (remove_database, "missing or empty"),
        (empty_database, "missing or empty"),
        (foreign_database, "no tables of ours"),
        (damaged_database, "backup"),
        (without_a_table, "ledger_head"),
        (without_key, "workspace.key"),
        (without_key_and_database, "not its key"),
        (short_key, "32 bytes"),
    ],
)
def test_what_is_missing_is_named_and_nothing_is_destroyed(closed, damage, says):
    damage(closed)
    before = content(closed)
    for _ in range(2):
        with pytest.raises(StorageError, match=says):
            Store(closed.path)
    assert content(closed) == before
    assert before


def test_a_lost_database_put_back_opens_again(closed, tmp_path):
    shutil.copyfile(closed.database, tmp_path / "aside")
    remove_database(closed)
    with pytest.raises(StorageError):
        Store(closed.path)
    shutil.copyfile(tmp_path / "aside", closed.database)
    again = Store(closed.path)
    assert len(again.runs.all()) == 1
    again.close()


def test_a_creation_that_was_cut_off_is_finished(tmp_path):
    """A process killed after the tables were made, or before, leaves no key: nothing is lost by going on."""
    for name, cut in (("tables", lambda f: f.key_file.unlink()), ("file", empty_database)):
        made = Store(tmp_path / name)
        folder = made.folder
        made.close()
        folder.head_file.unlink()
        folder.key_file.unlink(missing_ok=True)
        if name == "file":
            cut(folder)
        with closing(sqlite3.connect(folder.database)) as database:
            if name == "tables":
                database.execute("DELETE FROM settings")
                database.commit()
        again = Store(tmp_path / name)
        again.corpora.import_table(made_up(5), MAPPING, name="Letters", holdout=0)
        again.close()


def test_a_folder_that_the_database_does_not_know_stays_and_is_listed(store, corpus):
    stranger = store.folder.run("r-stranger")
    stranger.mkdir()
    (stranger / "leaks.parquet").write_bytes(b"private")
    again = Store(store.path)
    assert (stranger / "leaks.parquet").read_bytes() == b"private"
    assert again.session.strangers() == ["runs/r-stranger"]
    again.close()


def test_a_place_where_no_folder_can_be_made_is_named():
    with pytest.raises(StorageError, match="--workspace"):
        Folder(__import__("pathlib").Path("/proc/none/workspace")).create()


@pytest.mark.parametrize("replaced", [False, True])
def test_a_database_that_leaves_its_place_stops_reads_and_writes(store, corpus, replaced):
    """A moved file would go on taking decisions that nobody finds again."""
    away = store.folder.database.with_name("moved")
    store.folder.database.rename(away)
    if replaced:
        shutil.copy(away, store.folder.database)
    for ask in (
        store.corpora.all,
        lambda: store.settings.set("domain", "legal"),
        lambda: store.corpora.delete(corpus.id),
    ):
        with pytest.raises(StorageError, match="moved, deleted or replaced"):
            ask()
    away.replace(store.folder.database)
    assert [one.id for one in store.corpora.all()] == [corpus.id]
