"""A workspace moved from SQLite to PostgreSQL and back: the same rows, the same chains, one of the two open."""

import os
import shutil
import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import select

from engine.at_rest.header import passphrase
from engine.errors import RefusedError, StorageError, UserError
from engine.store.database import schema
from engine.store.disk import moving
from engine.store.disk.encryption import encryption
from engine.store.disk.lock import locked
from engine.store.disk.moving import copy_workspace
from engine.store.disk.opening import KEY_TOLD
from engine.store.logs.check import check_logs
from engine.store.store import Store
from tests import postgres
from tests.store.conftest import MAPPING, made_up
from tests.store.ledger_making import draw, gaussian, limited, reserved_run
from tests.store.making import finished_run


def filled(path):
    """Make a workspace with people, decisions, a run, a reservation and an output drawn on it; return it closed."""
    store = Store(path, actor="tester")
    corpus = store.corpora.import_table(made_up(), MAPPING, name="Letters – été", unit="record", holdout=0.25)
    spans = [span.span_id for span in store.review.spans(corpus.id, "id3")]
    store.review.decide(corpus.id, spans, "reject")
    store.settings.set("a", {"b": [1, 2.5, None, "ß"], "c": 10**17})
    finished_run(store, corpus, ["one text", "another\twith “quotes”\n"])
    limited(store, corpus)
    planned = gaussian(1.0)
    draw(store, reserved_run(store, corpus, planned), planned)
    store.close()
    return path


def raw(path):
    """Return every row of every table, JSON as it is stored, without what says which key a database belongs to."""
    with closing(sqlite3.connect(path / "understudy.sqlite")) as database:
        found = {
            table.name: sorted(map(repr, database.execute(f"SELECT * FROM {table.name}")))
            for table in schema.metadata.sorted_tables
        }
    found["settings"] = [row for row in found["settings"] if KEY_TOLD not in row]
    return found


def values(path):
    """Return every row of every table as the store reads it."""
    store = Store(path, actor="tester")
    try:
        with store.session.db.read() as connection:
            return {
                table.name: sorted(
                    repr(tuple(row)) for row in connection.execute(select(table)) if KEY_TOLD not in repr(row)
                )
                for table in schema.metadata.sorted_tables
            }
    finally:
        store.close()


def files(path):
    """Return the contents of every file of a workspace's parts by name."""
    found = (file for part in ("corpora", "runs", "releases") for file in (path / part).rglob("*") if file.is_file())
    return {file.relative_to(path).as_posix(): file.read_bytes() for file in found}


@pytest.mark.slow
def test_there_and_back_again_is_the_same(tmp_path):
    first = filled(tmp_path / "first")
    rows, kept, key = raw(first), files(first), (first / "workspace.key").read_bytes()
    told = check_logs(first).broken  # of a run that was made without a worker, that its end is another
    assert [one for one in told if "People" in one or "Weights" in one] == []
    second = postgres.workspace_on(tmp_path / "second", postgres.server().database())
    there = copy_workspace(first, second)
    assert not (second / "understudy.sqlite").exists()
    assert (there.audit, there.ledger) == (len(rows["audit"]), len(rows["ledger"]))
    assert there.ledger == 3
    read = values(second)
    assert check_logs(second).broken == told, "what the log tells holds there as it did"
    third = tmp_path / "third"
    assert copy_workspace(second, third) == there
    assert raw(third) == rows
    assert files(third) == kept
    assert (third / "workspace.key").read_bytes() == key
    assert values(third) == read
    assert check_logs(third).broken == told
    store = Store(third, actor="tester")
    assert store.audit.verify()["ok"]
    assert store.ledger.verify() == {"ok": True, "lines": 3, "first_bad": None}, "a move is no copy"
    store.close()
    with pytest.raises(StorageError, match=r"missing"):
        Store(first)
    with pytest.raises(StorageError, match=r"missing"):
        Store(second)


@pytest.mark.slow
def test_numbers_go_on_after_those_that_came(tmp_path):
    second = postgres.workspace_on(tmp_path / "second", postgres.server().database())
    copy_workspace(filled(tmp_path / "first"), second)
    store = Store(second, actor="tester")
    corpus = store.corpora.all()[0]
    spans = [span.span_id for span in store.review.spans(corpus.id, "id4")]
    store.review.decide(corpus.id, spans, "reject")
    again = store.corpora.import_table(made_up(9, 500), MAPPING, name="More", unit="record", holdout=0.0)
    assert again.records == 9
    assert store.audit.verify()["ok"]
    store.close()


@pytest.mark.slow
def test_who_has_the_old_one_open_can_write_nothing_more(tmp_path):
    for number, (old, new) in enumerate((("file", "server"), ("server", "file"))):
        places = {
            "file": tmp_path / f"file{number}",
            "server": postgres.workspace_on(tmp_path / f"server{number}", postgres.server().database()),
        }
        opened = Store(filled(places[old]), actor="tester")
        copy_workspace(places[old], places[new])
        with pytest.raises(StorageError):
            opened.settings.set("b", 1)
        opened.close()
        Store(places[new]).close()


@pytest.mark.slow
def test_a_database_that_is_not_empty_is_left_alone(tmp_path):
    address = postgres.server().database()
    mine = filled(postgres.workspace_on(tmp_path / "mine", address))
    before = values(mine)
    other = filled(tmp_path / "other")
    taken = postgres.workspace_on(tmp_path / "taken", address)
    with pytest.raises(StorageError, match="holds a workspace already"):
        copy_workspace(other, taken)
    assert values(mine) == before
    Store(other).close()


def test_a_move_between_files_keeps_all_and_refuses_a_folder_in_use(tmp_path):
    first = filled(tmp_path / "first")
    rows = raw(first)
    (tmp_path / "used").mkdir()
    (tmp_path / "used" / "letter.txt").write_text("mine")
    for target in (tmp_path / "used", first, first / "below"):
        with pytest.raises(UserError):
            copy_workspace(first, target)
    copy_workspace(first, tmp_path / "second")
    assert raw(tmp_path / "second") == rows
    assert not [path for path in Path(first).iterdir() if path.name == "workspace.key"]


def test_what_is_kept_open_makes_the_copy_say_that_spends_are_unknown(tmp_path):
    first = filled(tmp_path / "first")
    copy_workspace(first, tmp_path / "second", keep=True)
    for path, lines in ((first, 3), (tmp_path / "second", 4)):
        store = Store(path, actor="tester")
        assert store.ledger.verify() == {"ok": True, "lines": lines, "first_bad": None}
        store.close()


def test_a_chain_that_does_not_hold_is_not_moved(tmp_path):
    first = filled(tmp_path / "first")
    with closing(sqlite3.connect(first / "understudy.sqlite")) as database:
        database.execute("DROP TRIGGER audit_no_update")
        database.execute("UPDATE audit SET actor = 'someone' WHERE seq = 2")
        database.commit()
    with pytest.raises(StorageError, match="line 2"):
        copy_workspace(first, tmp_path / "second")
    Store(first).close()
    assert not (tmp_path / "second" / "workspace.key").exists()
    shutil.rmtree(tmp_path / "second")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("at", ["_copy_files", "_same_chains", "_retire", "_give_key"])
def test_a_kill_leaves_one_that_opens_or_one_to_put_back(tmp_path, monkeypatch, at):
    first, second = filled(tmp_path / "first"), tmp_path / "second"
    pid = os.fork()
    if not pid:
        monkeypatch.setattr(moving, at, lambda *_: os.kill(os.getpid(), signal.SIGKILL))
        copy_workspace(first, second)
        os._exit(0)
    assert os.WIFSIGNALED(os.waitpid(pid, 0)[1])
    with pytest.raises(StorageError, match="key"):
        Store(second)
    if at == "_give_key":
        with pytest.raises(StorageError, match="key"):
            Store(first)
        for moved in first.glob("*.moved"):
            moved.rename(moved.with_suffix(""))
    shutil.rmtree(second)
    store = Store(first)
    assert store.audit.verify() == {"ok": True, "lines": 7, "first_bad": None}
    assert store.ledger.verify() == {"ok": True, "lines": 3, "first_bad": None}
    store.close()
    assert copy_workspace(first, second).ledger == 3


def test_a_worker_at_work_is_waited_for_by_nobody(tmp_path):
    first = filled(tmp_path / "first")
    with locked(first / "worker.lock"), pytest.raises(StorageError, match="Stop it"):
        copy_workspace(first, tmp_path / "second")
    assert not (tmp_path / "second").exists()


def test_an_encrypted_workspace_is_not_moved_and_one_kept_elsewhere_is_not_encrypted(tmp_path):
    pytest.importorskip("sqlcipher3")
    first = filled(tmp_path / "first")
    encryption.encrypt(passphrase("one two three four"), first)
    with pytest.raises(UserError, match="run `decrypt` first"):
        copy_workspace(first, tmp_path / "second")
    assert not (tmp_path / "second").exists()
    encryption.decrypt(first)
    copy_workspace(first, tmp_path / "second")
    (tmp_path / "third").mkdir()
    (tmp_path / "third" / "workspace.toml").write_text('database = "postgresql://nobody@192.0.2.7/none"\n')
    with pytest.raises(RefusedError, match="not a file in its folder"):
        encryption.encrypt(passphrase("one two three four"), tmp_path / "third")
    assert [path.name for path in (tmp_path / "third").iterdir()] == ["workspace.toml"]


@pytest.mark.slow
def test_a_folder_of_another_machine_does_not_go_on_with_what_was_moved_away(tmp_path):
    first = postgres.workspace_on(tmp_path / "first", postgres.server().database())
    store = Store(first, actor="tester")
    other = tmp_path / "other"
    shutil.copytree(first, other)  # with the key
    store.close()
    copy_workspace(first, tmp_path / "second")
    for _ in range(2):
        with pytest.raises(StorageError, match="moved to another place"):
            Store(other)
        with pytest.raises(StorageError, match="missing"):
            Store(first)
    Store(tmp_path / "second").close()
