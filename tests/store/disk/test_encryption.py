"""A workspace that is encrypted: nothing readable lies in it, it opens with its secret alone, and goes back whole."""

from __future__ import annotations

import io
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from engine.at_rest import header, keys, sealed, unlocking
from engine.at_rest.header import LockedError, Secret, WrongSecretError
from engine.errors import NotFoundError, RefusedError, StorageError, UserError
from engine.release import verify
from engine.store.disk.backup import opened_by, restore
from engine.store.disk.encryption import cipher, encryption, switch
from engine.store.logs.check import check_logs
from engine.store.store import Store
from tests.store.conftest import CANARY, MAPPING, made_up
from tests.store.making import examine, finding, finished_run

OLD, NEW = Secret("key file", b"o" * 32), Secret("key file", b"n" * 32)
OUTPUT = "Made-up output about a Zanzibarnacle in the knee."


@pytest.fixture(autouse=True)
def forget_keys():
    yield
    keys._held.clear()
    unlocking._tries.clear()


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    """Return a plain workspace with a corpus, a run and an endpoint's key in it, closed."""
    path = tmp_path / "workspace"
    store = Store(path, actor="tester")
    filled(store)
    store.close()
    return path


def filled(store: Store) -> None:
    corpus = store.corpora.import_table(made_up(), MAPPING, name="Letters", unit="record", holdout=0.25)
    run = finished_run(store, corpus, [OUTPUT] * 4)
    store.examinations.save_snapshot(run, 1, [OUTPUT], None)
    scratch = store.folder.scratch(run)
    scratch.mkdir(mode=0o700)
    (scratch / "training.tmp").write_text(CANARY)  # a writer was killed here


def contents(path: Path) -> dict[str, object]:
    """Return everything a workspace holds, as its parts read it."""
    store = Store(path, actor="tester")
    corpus = store.corpora.all()[0]
    run = store.runs.all()[0]
    found = {
        "records": store.corpora.frame(corpus.id).to_dict("records"),
        "some": store.corpora.records(corpus.id, limit=3).to_dict("records"),
        "spans": store.review.span_counts(corpus.id),
        "outputs": store.runs.synthetic_frame(run.id).to_csv(),
        "snapshot": [frame.to_dict("records") for _, frame in store.examinations.snapshots(run.id)],
        "key": store.session.key,
        "unknown": store.ledger.of(corpus.id).unknown_since,
        "audit": store.audit.verify()["ok"],
    }
    store.close()
    return found


def readable(path: Path, words: tuple[str, ...] = (CANARY, "Zanzibarnacle", "sore knee")) -> list[str]:
    """Return the files below a folder in which one of the words can be read, in whatever form."""
    forms = [form for word in words for form in (word.encode(), word.encode("utf-16-le"), word.encode("utf-16-be"))]
    found = []
    for file in sorted(path.rglob("*")):
        if not file.is_file():
            continue
        data = file.read_bytes()
        if data[:4] == b"PAR1":
            data += pq.read_table(io.BytesIO(data)).to_pandas().to_csv().encode()
        if any(form in data for form in forms):
            found.append(file.relative_to(path).as_posix())
    return found


def private(path: Path) -> list[Path]:
    return [f for top in ("corpora", "runs", "releases", "keys") for f in (path / top).rglob("*") if f.is_file()]


def test_a_workspace_is_encrypted_in_place_and_goes_back_whole(plain):
    before = contents(plain)
    assert readable(plain), "the search finds what is plain"
    encryption.encrypt(OLD, plain)
    assert readable(plain) == []
    assert private(plain)
    assert all(sealed.is_sealed(file.read_bytes()) for file in [*private(plain), plain / "workspace.key"])
    assert contents(plain) == before
    keys.drop(plain)
    with pytest.raises(LockedError):
        Store(plain)
    unlocking.unlock(plain, OLD)
    assert contents(plain) == before
    encryption.decrypt(plain)
    assert encryption.state(plain) == "plain"
    assert not (plain / header.NAME).exists()
    assert contents(plain) == before
    left = {p.name for p in plain.iterdir()}
    assert not {name for name in left if name.startswith((".", "encryption"))}, left
    assert not list(plain.rglob("*.tmp"))
    with closing(sqlite3.connect(plain / "understudy.sqlite")) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_what_was_encrypted_is_in_the_audit_log_and_no_secret_is(plain):
    encryption.encrypt(OLD, plain, "Paula")
    encryption.rekey(NEW, plain, "Paula")
    encryption.decrypt(plain, "Paula")
    store = Store(plain)
    lines = store.audit.lines(limit=100)
    store.close()
    said = list(lines[lines["actor"] == "Paula"]["action"])[::-1]
    assert said == [
        "encryption asked for", "workspace encrypted", "encryption opened by another secret", "decryption asked for",
        "workspace decrypted",
    ]  # fmt: skip
    text = lines.to_csv()
    assert not any(form in text for value in (OLD.value, NEW.value) for form in (value.decode(), value.hex()))


def test_a_new_workspace_begins_encrypted(tmp_path):
    path = tmp_path / "new" / "workspace"
    encryption.encrypt(OLD, path)
    store = Store(path, actor="tester")
    filled(store)
    while_open = readable(path)  # the log is not yet in the database
    store.close()
    (next(path.glob("runs/*/scratch")) / "training.tmp").unlink()
    assert while_open == [next(path.glob("runs")).name + "/" + next(path.glob("runs/*")).name + "/scratch/training.tmp"]
    assert readable(path) == []
    assert len(contents(path)["records"]) == 40


def test_what_is_asked_of_the_wrong_state_is_refused(plain):
    with pytest.raises(UserError, match="not encrypted"):
        encryption.decrypt(plain)
    with pytest.raises(UserError, match="not encrypted"):
        encryption.rekey(NEW, plain)
    encryption.encrypt(OLD, plain)
    with pytest.raises(UserError, match="already"):
        encryption.encrypt(NEW, plain)
    keys.drop(plain)
    for act in (lambda: encryption.decrypt(plain), lambda: encryption.rekey(NEW, plain)):
        with pytest.raises(LockedError):
            act()
    with pytest.raises(WrongSecretError):
        unlocking.unlock(plain, NEW)


def test_it_is_refused_while_another_process_has_the_workspace_open(plain, monkeypatch):
    monkeypatch.setattr(encryption, "PATIENCE_SECONDS", 0.3)
    code = "import sys; from engine.store.store import Store; "
    code += f"s = Store({str(plain)!r}); print('open', flush=True); sys.stdin.read()"
    before = contents(plain)
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline()
        with pytest.raises(RefusedError, match="Another process"):
            encryption.encrypt(OLD, plain)
        other.communicate()
    assert not (plain / header.NAME).exists()
    assert contents(plain) == before
    encryption.encrypt(OLD, plain)


def test_rekey_writes_the_header_alone(plain):
    encryption.encrypt(OLD, plain)
    before = {file: file.read_bytes() for file in private(plain)}
    assert encryption.rekey(NEW, plain) == 2
    assert {file: file.read_bytes() for file in private(plain)} == before
    keys.drop(plain)
    with pytest.raises(WrongSecretError):
        unlocking.unlock(plain, OLD)
    unlocking._tries.clear()
    unlocking.unlock(plain, NEW)
    contents(plain)


def test_an_earlier_header_that_was_put_back_is_refused_until_it_is_rekeyed(plain):
    encryption.encrypt(OLD, plain)
    earlier = (plain / header.NAME).read_bytes()
    encryption.rekey(NEW, plain)
    (plain / header.NAME).write_bytes(earlier)
    keys.drop(plain)
    unlocking.unlock(plain, OLD)
    with pytest.raises(StorageError, match="number 1, after number 2"):
        Store(plain)
    assert encryption.rekey(NEW, plain) == 3
    contents(plain)


def test_a_lost_or_damaged_header_says_so(plain):
    encryption.encrypt(OLD, plain)
    kept = (plain / header.NAME).read_bytes()
    (plain / header.NAME).unlink()
    for _ in range(2):
        with pytest.raises(StorageError, match=r"encryption\.json.*missing"):
            Store(plain)
        keys.drop(plain)
    (plain / header.NAME).write_bytes(kept[:-40])
    with pytest.raises(StorageError, match="damaged"):
        Store(plain)
    (plain / header.NAME).write_bytes(kept)
    unlocking.unlock(plain, OLD)
    contents(plain)


@pytest.mark.parametrize("how", ["cut", "changed", "plain", "other corpus", "other workspace"])
def test_a_record_table_that_is_not_what_was_written_is_refused(plain, tmp_path, how):
    encryption.encrypt(OLD, plain)
    store = Store(plain)
    mine = store.corpora.all()[0]
    other = store.corpora.import_table(made_up(40, 100), MAPPING, name="Others", unit="record", holdout=0.25)
    table, theirs = store.folder.records(mine.id), store.folder.records(other.id)
    data = table.read_bytes()
    foreign = sealed.seal(b"PAR1", keys.DataKey.new(), f"corpora/{mine.id}/records.parquet")
    changed = bytearray(data)
    changed[len(data) // 2] ^= 1
    table.write_bytes({
        "cut": data[:-5], "changed": bytes(changed), "plain": b"PAR1" + data, "other corpus": theirs.read_bytes(),
        "other workspace": foreign,
    }[how])  # fmt: skip
    with pytest.raises(StorageError, match="encrypted workspace") as said:
        store.corpora.frame(mine.id)
    assert CANARY not in str(said.value)
    with pytest.raises(StorageError):
        store.corpora.records(mine.id, limit=2)
    assert len(store.corpora.frame(other.id)) == 40
    store.close()
    with pytest.raises(StorageError):
        encryption.decrypt(plain)
    assert encryption.state(plain) == "encrypted"


@pytest.mark.parametrize("how", ["cut", "changed", "other workspace", "plain"])
def test_a_database_that_is_not_what_was_written_is_refused(plain, tmp_path, how):
    encryption.encrypt(OLD, plain)
    database = plain / "understudy.sqlite"
    data = bytearray(database.read_bytes())
    if how == "cut":
        data = data[: 5 * 4096]
    elif how == "changed":
        data[200] ^= 1
    else:
        other = tmp_path / "other"
        Store(other).close()
        if how == "other workspace":
            encryption.encrypt(OLD, other)
        data = bytearray((other / "understudy.sqlite").read_bytes())
    database.write_bytes(data)
    with pytest.raises(StorageError, match=r"damaged|lacks|no tables"):
        contents(plain)


def test_a_swapped_workspace_key_is_refused(plain, tmp_path):
    other = tmp_path / "other"
    for path in (plain, other):
        (encryption.encrypt)(OLD, path)
    (plain / "workspace.key").write_bytes((other / "workspace.key").read_bytes())
    with pytest.raises(StorageError):
        Store(plain)


def test_backups_are_encrypted_under_the_same_header_and_come_back(plain, tmp_path):
    encryption.encrypt(OLD, plain)
    before = contents(plain)
    store = Store(plain, actor="tester")
    file = store.disk.backup(tmp_path / "backup.zip")
    assert opened_by(file) == "key file"
    shutil.unpack_archive(file, tmp_path / "unpacked")
    assert readable(tmp_path / "unpacked") == []
    inside = store.disk.restore(file, tmp_path / "beside")  # this workspace's key opens it
    store.close()
    keys._held.clear()
    with pytest.raises(LockedError, match="key file"):
        restore(file, tmp_path / "restored")
    with pytest.raises(WrongSecretError):
        restore(file, tmp_path / "restored", secret=NEW)
    assert not (tmp_path / "restored").exists()
    restore(file, tmp_path / "restored", secret=OLD)
    for path in (tmp_path / "restored", inside):
        keys._held.clear()
        with pytest.raises(LockedError):
            Store(path)
        unlocking.unlock(path, OLD)
        found = contents(path)
        assert found["unknown"]
        assert {**found, "unknown": None} == before
        assert readable(path) == []


@pytest.mark.parametrize("name", ["bundle", "bundle.zip"])
def test_releases_are_encrypted_inside_and_leave_plain(plain, tmp_path, name):
    encryption.encrypt(OLD, plain)
    store = Store(plain, actor="tester")
    run = finished_run(store, store.corpora.all()[0], [f"Made-up letter {i} about a knee." for i in range(4)])
    policy = next(p for p in store.releases.policies() if p.id == "exploratory")
    examine(store, run, [finding(r.finding, 0.0, reference=r.reference) for r in policy.rules])
    store.runs.approve_all_pending(run)
    made = store.releases.make(run, "exploratory", out=tmp_path / name, accept_unbounded=True)
    inside = list((plain / "releases").rglob("*.*"))
    assert inside
    assert all(sealed.is_sealed(file.read_bytes()) for file in inside)
    assert verify(tmp_path / name)["ok"]
    assert b"Made-up letter 1" in store.releases.file(made.id, "records.jsonl")
    assert not list((plain / "releases").glob(".*"))
    store.close()


def test_kept_steps_of_a_training_are_encrypted_and_read_back(plain):
    import torch

    from engine.dp.noise.train_store import FolderKeeper

    encryption.encrypt(OLD, plain)
    folder = plain / "runs" / "r-1" / "scratch" / "training"
    FolderKeeper(folder).save({"of": "a training", "losses": "[1]"}, {"w": torch.arange(4.0)})
    assert all(sealed.is_sealed(file.read_bytes()) for file in folder.iterdir())
    held = FolderKeeper(folder).load()
    assert held is not None
    assert held[0] == {"of": "a training", "losses": "[1]"}
    assert held[1]["w"].tolist() == [0.0, 1.0, 2.0, 3.0]


def test_a_key_file_is_made_once_owner_only_and_never_inside(plain, tmp_path):
    made = encryption.new_key_file(tmp_path / "k", plain)
    assert encryption.new_key_file(tmp_path / "k", plain) == made
    assert (tmp_path / "k").stat().st_mode & 0o777 == 0o600
    for inside in (plain / "k", plain / "corpora" / "k"):
        with pytest.raises(UserError, match="outside"):
            encryption.new_key_file(inside, plain)


def test_without_the_driver_nothing_is_changed_and_it_says_what_to_install(plain, monkeypatch):
    before = {file: file.read_bytes() for file in plain.rglob("*") if file.is_file()}
    monkeypatch.setitem(sys.modules, "sqlcipher3", None)
    with pytest.raises(StorageError, match=r"understudy\[encryption\]"):
        encryption.encrypt(OLD, plain)
    assert {file: file.read_bytes() for file in plain.rglob("*") if file.is_file()} == before
    monkeypatch.undo()
    encryption.encrypt(OLD, plain)
    monkeypatch.setitem(sys.modules, "sqlcipher3", None)
    with pytest.raises(StorageError, match=r"understudy\[encryption\]"):
        Store(plain)


def test_a_full_disk_leaves_the_workspace_as_it_was(plain, monkeypatch):
    before = contents(plain)
    real = os.fsync
    calls = iter(range(100))

    def full(descriptor: int) -> None:
        if next(calls) == 3:
            raise OSError(28, "No space left on device")
        real(descriptor)

    monkeypatch.setattr(encryption.os, "fsync", full)
    with pytest.raises(StorageError, match="full"):
        encryption.encrypt(OLD, plain)
    monkeypatch.undo()
    assert not list(plain.glob(".encryption*"))
    assert contents(plain) == before


@pytest.mark.parametrize("what", ["corpora", "runs", "a file"])
def test_a_workspace_with_a_part_elsewhere_is_refused_before_anything_is_done(plain, tmp_path, what):
    part = next(plain.rglob("records.parquet")) if what == "a file" else plain / what
    shutil.move(part, tmp_path / "elsewhere")
    part.symlink_to(tmp_path / "elsewhere")
    before = {file: file.read_bytes() for file in plain.rglob("*") if file.is_file()}
    with pytest.raises(RefusedError, match="another disk"):
        encryption.encrypt(OLD, plain)
    assert {file: file.read_bytes() for file in plain.rglob("*") if file.is_file()} == before
    encryption_begun = [path.name for path in plain.iterdir() if "encryption" in path.name]
    assert encryption_begun == []


def test_a_database_that_is_not_a_file_of_the_folder_is_refused(plain, monkeypatch):
    monkeypatch.setattr(encryption, "_note", lambda folder, *said: folder.database.unlink(missing_ok=True))
    with pytest.raises(RefusedError, match="not a file in its folder"):
        encryption.encrypt(OLD, plain)
    assert not (plain / header.NAME).exists()
    assert not list(plain.glob(".*"))


def test_a_copy_that_differs_is_not_used(plain, monkeypatch):
    before = contents(plain)
    monkeypatch.setattr(sealed, "_nonce", lambda number, last: os.urandom(12))
    with pytest.raises(StorageError):
        encryption.encrypt(OLD, plain)
    monkeypatch.undo()
    monkeypatch.setattr(encryption, "_same", lambda one, other: False)
    with pytest.raises(StorageError, match="differs"):
        encryption.encrypt(OLD, plain)
    monkeypatch.undo()
    assert encryption.state(plain) == "plain"
    assert contents(plain) == before


def test_two_databases_are_the_same_only_with_the_same_rows_and_numbers(tmp_path):
    def made(name: str, *statements: str) -> sqlite3.Connection:
        connection = sqlite3.connect(tmp_path / name)
        connection.execute("CREATE TABLE t (a)")
        connection.execute("CREATE TABLE k (a PRIMARY KEY, b) WITHOUT ROWID")
        for statement in ("INSERT INTO t VALUES (1), (2)", "INSERT INTO k VALUES (1, 2), (3, 4)", *statements):
            connection.execute(statement)
        return connection

    with closing(made("a")) as one:
        with closing(made("b")) as same:
            assert encryption._same(one, same)
        changes = (
            "UPDATE t SET a = 3 WHERE a = 2", "INSERT INTO t VALUES (3)", "DELETE FROM t WHERE a = 2",
            "UPDATE t SET rowid = 9 WHERE a = 2", "UPDATE k SET b = 5 WHERE a = 3", "CREATE INDEX i ON t (a)",
            "CREATE TRIGGER g BEFORE DELETE ON t BEGIN SELECT RAISE(ABORT, 'no'); END",
        )  # fmt: skip
        for number, change in enumerate(changes):
            with closing(made(f"c{number}", change)) as other:
                assert not encryption._same(one, other), change


def test_the_log_of_an_encrypted_database_can_be_cut(plain):
    encryption.encrypt(OLD, plain)
    store = Store(plain)
    log = plain / "understudy.sqlite-wal"
    store.settings.set("domain", "clinical")
    assert log.stat().st_size
    assert store.session.db.truncate_log()
    assert log.stat().st_size == 0
    store.close()


def test_a_deleted_corpus_goes_from_an_encrypted_workspace_too(plain):
    encryption.encrypt(OLD, plain)
    store = Store(plain)
    corpus = store.corpora.all()[0].id
    store.corpora.delete(corpus)
    assert private(plain) == []
    with pytest.raises(NotFoundError):
        store.corpora.get(corpus)
    store.close()


def test_a_damaged_switch_is_refused(plain):
    before = contents(plain)
    for content in ("", "{}", "[]", json.dumps({"stage": 3})):
        (plain / switch.NAME).write_text(content)
        with pytest.raises(StorageError, match=r"encryption\.switch"):
            Store(plain)
    (plain / switch.NAME).unlink()
    assert contents(plain) == before


def test_a_plain_workspace_loads_no_driver(plain):
    code = "import sys; from engine.store.store import Store; "
    code += f"Store({str(plain)!r}).close(); print('sqlcipher3' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_the_database_of_an_encrypted_workspace_keeps_the_posture_of_a_plain_one(plain):
    encryption.encrypt(OLD, plain)
    store = Store(plain)
    with store.session.db.read() as connection:
        found = {
            name: connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("journal_mode", "secure_delete", "foreign_keys", "temp_store", "trusted_schema")
        }
    store.close()
    assert found == {"journal_mode": "wal", "secure_delete": 1, "foreign_keys": 1, "temp_store": 2, "trusted_schema": 0}
    with closing(cipher.connect(plain / "understudy.sqlite", keys.of(plain))) as connection:
        assert connection.execute("PRAGMA cipher_integrity_check").fetchall() == []


def test_what_was_changed_in_an_encrypted_workspace_is_told(plain):
    encryption.encrypt(OLD, plain)
    store = Store(plain, actor="tester")
    (run,) = store.runs.all()
    examine(store, run.id, [finding("pipp", 0.2)], {"s-000001": 0.4})
    store.runs.approve_all_pending(run.id, 0.5)
    assert check_logs(plain).broken == ()
    store.folder.run(run.id).joinpath("originals.parquet").unlink()
    assert any("table of outputs that are an original was" in one for one in check_logs(plain).broken)
    with store.session.db.write() as connection:
        connection.exec_driver_sql("UPDATE synthetic SET approval = 'approved'")
        connection.exec_driver_sql("UPDATE runs SET method = 'public'")
    said = " ".join(check_logs(plain).broken)
    assert f"run {run.id}: its settings" in said
    assert f"run {run.id}: approvals or risks" in said
    store.close()
