"""An older workspace is brought up to date in one step; a newer one is refused."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import inspect

from engine.errors import StorageError
from engine.store.database import migrations, schema
from engine.store.logs.check import check_logs
from engine.store.store import Store


def add_column(connection):
    """A migration as a later version would have it."""
    connection.exec_driver_sql("ALTER TABLE corpora ADD COLUMN note TEXT NOT NULL DEFAULT 'none yet'")


def later(monkeypatch, *steps):
    monkeypatch.setattr(migrations, "MIGRATIONS", (*migrations.MIGRATIONS, *steps))
    monkeypatch.setattr(migrations, "VERSION", len(migrations.MIGRATIONS))


def test_a_new_workspace_has_this_programs_version(store):
    with store.session.db.read() as connection:
        assert migrations.current_version(connection) == migrations.VERSION


def test_an_older_workspace_keeps_its_content(store, corpus, monkeypatch):
    later(monkeypatch, add_column)
    again = Store(store.path)
    with again.session.db.read() as connection:
        assert migrations.current_version(connection) == migrations.VERSION
        assert connection.exec_driver_sql("SELECT name, note FROM corpora").all() == [("Letters", "none yet")]
    assert again.audit.verify()["ok"]


def test_a_migration_that_fails_changes_nothing(store, corpus, monkeypatch):
    def breaks(connection):
        raise RuntimeError("half way")

    before = migrations.VERSION
    later(monkeypatch, add_column, breaks)
    with pytest.raises(RuntimeError):
        Store(store.path)
    with store.session.db.read() as connection:
        assert migrations.current_version(connection) == before
        assert "note" not in [c["name"] for c in inspect(connection).get_columns("corpora")]


def test_a_newer_workspace_is_refused_with_a_sentence(store):
    with store.session.db.write() as connection:
        connection.execute(schema.schema_version.update().values(version=migrations.VERSION + 1))
    with pytest.raises(StorageError, match="Update Understudy"):
        Store(store.path)


def version_1(folder):
    """Write the workspace that the program of version 1 left, and return its folder."""
    script = Path(__file__).with_name("version_1.sql").read_text("utf-8")
    folder.mkdir(mode=0o700)
    with closing(sqlite3.connect(folder / "understudy.sqlite")) as database:
        database.executescript(script)
    key = script.splitlines()[0].rpartition("Key: ")[2]
    (folder / "workspace.key").write_bytes(bytes.fromhex(key))
    return folder


def test_a_workspace_of_version_1_gets_a_ledger(tmp_path):
    store = Store(version_1(tmp_path / "old"))
    with store.session.db.read() as connection:
        assert migrations.current_version(connection) == migrations.VERSION
        tables = set(inspect(connection).get_table_names())
        assert {"ledger", "ledger_head", "mechanism_outputs", "accounts"} <= tables
        units = dict(connection.exec_driver_sql("SELECT id, units FROM populations").all())
        population = connection.exec_driver_sql("SELECT population FROM corpora").scalar_one()
    assert units.pop(population) == store.ledger.facts(store.corpora.all()[0].id).units
    assert list(units.values()) == [6]  # its corpus is deleted: the hashes are counted
    assert store.audit.verify() == {"ok": True, "lines": 4, "first_bad": None}
    assert list(store.audit.lines(1)["action"]) == ["decisions chained"]
    records, told = check_logs(store.path).broken
    assert records.endswith("the file of its records is missing or cannot be read."), "the script is the database alone"
    # its run was written by a test of that edition, which told of none
    assert told.endswith("it is there, and no line of the log tells of it.")
    assert Store(store.path).audit.count() == 4, "once"
    assert store.ledger.verify() == {"ok": True, "lines": 0, "first_bad": None}
    assert store.runs.all()[0].guarantee.kind == "none"
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        _change_a_ledger_line(store)


def _change_a_ledger_line(store):
    view = store.ledger.of(store.corpora.all()[0].id)
    store.ledger.set_limit(store.corpora.all()[0].id, 3.0, view.limit_delta)
    with closing(sqlite3.connect(store.folder.database)) as database:
        database.execute("UPDATE ledger SET actor = 'x'")
