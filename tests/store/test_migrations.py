"""An older workspace is brought up to date in one step; a newer one is refused."""

import pytest
from sqlalchemy import inspect

from engine.errors import StorageError
from engine.store import migrations, schema
from engine.store.service import ServiceStation


def add_column(connection):
    """A migration as a later version would have it."""
    connection.exec_driver_sql("ALTER TABLE corpora ADD COLUMN note TEXT NOT NULL DEFAULT 'none yet'")


def later(monkeypatch, *steps):
    monkeypatch.setattr(migrations, "MIGRATIONS", (*migrations.MIGRATIONS, *steps))
    monkeypatch.setattr(migrations, "VERSION", len(migrations.MIGRATIONS))


def test_a_new_workspace_has_this_programs_version(store):
    with store.db.read() as connection:
        assert migrations.current_version(connection) == migrations.VERSION


def test_an_older_workspace_keeps_its_content(store, corpus, monkeypatch):
    later(monkeypatch, add_column)
    again = ServiceStation(store.path)
    with again.db.read() as connection:
        assert migrations.current_version(connection) == migrations.VERSION
        assert connection.exec_driver_sql("SELECT name, note FROM corpora").all() == [("Letters", "none yet")]
    assert again.verify_audit()["ok"]


def test_a_migration_that_fails_changes_nothing(store, corpus, monkeypatch):
    def breaks(connection):
        raise RuntimeError("half way")

    before = migrations.VERSION
    later(monkeypatch, add_column, breaks)
    with pytest.raises(RuntimeError):
        ServiceStation(store.path)
    with store.db.read() as connection:
        assert migrations.current_version(connection) == before
        assert "note" not in [c["name"] for c in inspect(connection).get_columns("corpora")]


def test_a_newer_workspace_is_refused_with_a_sentence(store):
    with store.db.write() as connection:
        connection.execute(schema.schema_version.update().values(version=migrations.VERSION + 1))
    with pytest.raises(StorageError, match="Update Understudy"):
        ServiceStation(store.path)
