"""Where a workspace's database is: what names it, what is refused, and that no address or password gets out."""

import sys

import pytest
from sqlalchemy import inspect

from engine.errors import StorageError
from engine.store.database import migrations, postgresql, schema
from engine.store.disk.address import default_path, workspace_folder
from engine.store.store import Store
from tests import postgres
from tests.store.conftest import MAPPING, made_up

SECRET = "hunter2-Quillfeather"


@pytest.mark.parametrize(
    "text", ["", "database = ", "database = 3", 'database = "sqlite:///x"', 'database = "postgresql://h"', "\xff"]
)
def test_a_file_that_names_no_database_is_refused(tmp_path, text):
    tmp_path.joinpath("workspace.toml").write_bytes(text.encode("latin-1"))
    with pytest.raises(StorageError, match=r"workspace\.toml"):
        Store(tmp_path)
    assert not tmp_path.joinpath("understudy.sqlite").exists()


def test_two_databases_are_one_too_many(tmp_path):
    Store(tmp_path).close()
    postgres.workspace_on(tmp_path, "postgresql://somebody@localhost/x")
    with pytest.raises(StorageError, match="two databases"):
        Store(tmp_path)


def test_an_address_names_its_folder_once(tmp_path, monkeypatch):
    folder = tmp_path / "w"
    address = f"postgresql://anna@db.example/letters?sslmode=require&folder={folder}"
    assert workspace_folder(address) == folder
    text = (folder / "workspace.toml").read_text()
    assert text == 'database = "postgresql://anna@db.example/letters?sslmode=require"\n'
    assert (folder / "workspace.toml").stat().st_mode & 0o077 == 0
    monkeypatch.setenv("UNDERSTUDY_WORKSPACE", address)
    assert default_path() == folder
    with pytest.raises(StorageError, match="another database"):
        workspace_folder(f"postgresql://anna@db.example/other?folder={folder}")
    assert (folder / "workspace.toml").read_text() == text
    assert workspace_folder(str(folder)) == folder


def test_what_an_address_lacks_or_must_not_hold_is_said(tmp_path):
    for address, said in (
        ("postgresql://anna@db.example/letters", "need a folder"),
        (f"postgresql://anna:{SECRET}@db.example/letters?folder={tmp_path / 'w'}", "PGPASSFILE"),
        (f"postgresql://anna@db.example?folder={tmp_path / 'w'}", "must look like"),
    ):
        with pytest.raises(StorageError, match=said) as caught:
            workspace_folder(address)
        assert SECRET not in str(caught.value)
    assert not (tmp_path / "w").exists()
    Store(tmp_path / "used").close()
    with pytest.raises(StorageError, match="workspace copy"):
        workspace_folder(f"postgresql://anna@db.example/letters?folder={tmp_path / 'used'}")


def test_without_the_driver_it_is_said_how_to_install_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(StorageError, match=r"pip install 'understudy\[postgresql\]'"):
        Store(postgres.workspace_on(tmp_path, "postgresql://anna@localhost/x"))


def test_a_server_that_is_away_is_named_without_its_address(tmp_path):
    address = f"postgresql://anna:{SECRET}@/letters?host={tmp_path}"
    with pytest.raises(StorageError, match="does not answer") as caught:
        Store(postgres.workspace_on(tmp_path / "w", address))
    assert SECRET not in str(caught.value) + repr(caught.value.__cause__)
    assert not (tmp_path / "w" / "workspace.key").exists()


@pytest.fixture
def served(tmp_path):
    """Return an open store on PostgreSQL, and its address."""
    address = postgres.server().database().replace("understudy@", f"understudy:{SECRET}@")
    store = Store(postgres.workspace_on(tmp_path / "served", address), actor="tester")
    yield store, address
    store.close()


@pytest.mark.slow
class TestServed:
    def test_the_password_stands_in_no_other_file(self, served):
        store, _ = served
        store.corpora.import_table(made_up(), MAPPING, name="Letters")
        assert SECRET not in repr(store.session.db.engine)
        for path in store.path.rglob("*"):
            assert path.name == "workspace.toml" or path.is_dir() or SECRET.encode() not in path.read_bytes()

    def test_another_folder_cannot_take_the_database(self, served, tmp_path):
        store, address = served
        with pytest.raises(StorageError, match="key of this workspace"):
            Store(postgres.workspace_on(tmp_path / "second", address))
        postgres.workspace_on(tmp_path / "third", postgres.server().database())
        third = Store(tmp_path / "third")
        third.close()
        postgres.workspace_on(tmp_path / "third", address)
        with pytest.raises(StorageError, match="another key"):
            Store(tmp_path / "third")
        assert store.audit.verify()["ok"]

    def test_a_missing_or_foreign_database_is_refused(self, served):
        store, address = served
        store.corpora.import_table(made_up(), MAPPING, name="Letters")
        store.close()
        for other, said in (
            (address.replace("/w", "/missing", 1), "no database"),
            (postgres.server().database(), "no tables of ours"),
        ):
            postgres.workspace_on(store.path, other)
            with pytest.raises(StorageError, match=said) as caught:
                Store(store.path)
            assert SECRET not in str(caught.value)
        postgres.workspace_on(store.path, address)
        Store(store.path).close()

    def test_a_private_value_stays_out_of_an_error(self, served):
        store, _ = served
        store.settings.set(SECRET, 1)
        with pytest.raises(StorageError) as caught, store.session.db.write() as connection:
            connection.execute(schema.settings.insert().values(key=SECRET, value=2))
        assert SECRET not in str(caught.value)
        assert caught.value.__suppress_context__
        with pytest.raises(StorageError, match="number zero"):
            store.settings.set("b\0", 1)

    def test_a_lost_connection_is_a_sentence_and_the_next_one_works(self, served):
        store, _ = served
        store.settings.set("a", 1)
        name = store.session.db.engine.url.database
        ended = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'understudy'"
        with store.session.db.engine.connect():  # one that lies in the pool afterwards, dead
            pass
        postgres.server().ask(name, ended)
        store.settings.set("a", 3)
        with pytest.raises(StorageError, match="does not answer"), store.session.db.write() as connection:
            connection.exec_driver_sql(ended.replace("WHERE", "WHERE pid = pg_backend_pid() AND"))
        store.settings.set("a", 2)
        assert store.settings.get("a") == 2

    def test_lines_are_kept_for_good(self, served):
        store, _ = served
        store.settings.set("a", 1)
        for statement in ("UPDATE audit SET actor = 'x'", "DELETE FROM audit", "TRUNCATE audit"):
            with pytest.raises(StorageError, match="append-only"), store.session.db.write() as connection:
                connection.exec_driver_sql(statement)
        assert store.audit.verify()["ok"]

    def test_the_first_version_that_was_kept_here_is_brought_up_to_date(self, served):
        store, _ = served
        corpus = store.corpora.import_table(made_up(), MAPPING, name="Letters")
        with store.session.db.write() as connection:  # what version 20 had
            connection.exec_driver_sql("DROP TABLE leases")
            connection.exec_driver_sql("ALTER TABLE jobs DROP COLUMN worker")
            connection.exec_driver_sql(f"UPDATE schema_version SET version = {migrations.FIRST_ON_POSTGRESQL}")
        store.close()
        again = Store(store.path)
        with again.session.db.read() as connection:
            assert migrations.current_version(connection) == migrations.VERSION
            assert "worker" in [column["name"] for column in inspect(connection).get_columns("jobs")]
        assert again.corpora.get(corpus.id).records == 40
        again.close()

    def test_a_newer_program_s_database_is_left_alone(self, served):
        store, _ = served
        with store.session.db.write() as connection:
            connection.exec_driver_sql("UPDATE schema_version SET version = 9999")
        with pytest.raises(StorageError, match="Update Understudy"):
            Store(store.path)

    def test_an_older_server_is_refused(self, served, monkeypatch):
        store, _ = served
        monkeypatch.setattr(postgresql, "LEAST", 99)
        with pytest.raises(StorageError, match="version 99 or later"):
            Store(store.path)
