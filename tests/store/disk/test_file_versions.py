"""A single file of an encrypted workspace that is not the one that was written last is refused, and named."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from engine.at_rest import files, keys, unlocking, versions
from engine.at_rest.header import Secret
from engine.at_rest.sealed import UnsealError
from engine.dp.noise.train_store import FolderKeeper
from engine.errors import InternalError, StorageError
from engine.store import model_settings
from engine.store.database.schema import file_versions, settings
from engine.store.disk.backup import restore
from engine.store.disk.encryption import encryption, switch
from engine.store.disk.encryption.versions import MARK
from engine.store.disk.folder import remove_tree, write_atomic
from engine.store.logs.check import check_logs
from engine.store.runs.kept_parts import PartFiles
from engine.store.store import Store
from tests.moving import moved
from tests.store.conftest import MAPPING, made_up
from tests.store.making import finished_run

SECRET = Secret("key file", b"v" * 32)
FIRST, SECOND = "A first made-up note.", "A second made-up note."


@pytest.fixture(autouse=True)
def forget_keys():
    yield
    keys._held.clear()
    versions._followed.clear()
    unlocking._tries.clear()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "w"


@pytest.fixture
def store(path: Path):
    """Return an encrypted workspace with a corpus and a run, open."""
    encryption.encrypt(SECRET, path)
    opened = Store(path, actor="tester")
    corpus = opened.corpora.import_table(made_up(8), MAPPING, name="Letters", unit="record", holdout=0.25)
    run = finished_run(opened, corpus, [FIRST] * 4)
    opened.examinations.save_snapshot(run, 1, [FIRST], None)
    yield opened
    opened.close()


def snapshot(store: Store) -> Path:
    return store.folder.run(store.runs.all()[0].id) / "iteration_1.parquet"


def change(store: Store, text: str = SECOND) -> None:
    store.examinations.save_snapshot(store.runs.all()[0].id, 1, [text], None)


def read(store: Store) -> str:
    ((_, frame),) = store.examinations.snapshots(store.runs.all()[0].id)
    return str(frame["text"][0])


def named(store: Store) -> tuple[str, ...]:
    return check_logs(store.path).broken


def test_each_folder_of_private_files_has_versions():
    assert switch.TOPS == versions.TOPS


def test_an_earlier_file_that_was_put_back_is_refused_and_named(store):
    file = snapshot(store)
    before = file.read_bytes()
    change(store)
    latest = file.read_bytes()
    assert read(store) == SECOND
    assert named(store) == ()
    file.write_bytes(before)
    with pytest.raises(UnsealError, match="not the one that was written last"):
        read(store)
    (said,) = named(store)
    assert file.relative_to(store.path).as_posix() in said
    assert "an earlier one" in said
    store.close()
    again = Store(store.path)
    with pytest.raises(UnsealError):
        read(again)
    file.write_bytes(latest)
    assert read(again) == SECOND
    assert named(again) == ()
    change(again, FIRST)
    assert read(again) == FIRST
    again.close()


def test_two_files_that_were_put_back_together_are_both_named(store):
    run = store.runs.all()[0].id
    store.examinations.save_snapshot(run, 2, [FIRST], None)
    found = [snapshot(store), snapshot(store).with_name("iteration_2.parquet")]
    before = [file.read_bytes() for file in found]
    for number in (1, 2):
        store.examinations.save_snapshot(run, number, [SECOND], None)
    for file, data in zip(found, before, strict=True):
        file.write_bytes(data)
    assert len(named(store)) == 2
    with pytest.raises(UnsealError):
        store.examinations.snapshots(run)


def test_a_removed_or_foreign_file_is_named(store):
    corpus = store.corpora.all()[0].id
    table = store.folder.records(corpus)
    aside = table.read_bytes()
    table.unlink()
    records, said = named(store)
    assert records == f"Records: corpus {corpus}: the file of its records is missing or cannot be read."
    assert said == f"Files: corpora/{corpus}/records.parquet is missing."
    table.write_bytes(aside)
    (table.parent / "more.parquet").write_bytes(aside)
    assert "never written there" in named(store)[0]
    (table.parent / "more.parquet").write_bytes(b"plain")
    assert "not encrypted" in named(store)[0]
    (table.parent / "more.parquet").unlink()
    cut = table.read_bytes()[:-1]
    table.write_bytes(cut)
    records, said = named(store)
    assert "missing or cannot be read" in records
    assert "changed or cut" in said


def test_what_was_removed_for_good_does_not_come_back(store):
    model_settings.write_key(store.folder, "there", "secret-of-an-endpoint")
    file = store.path / "keys/there"
    before = file.read_bytes()
    model_settings.write_key(store.folder, "there", None)
    assert named(store) == ()
    file.write_bytes(before)
    with pytest.raises(UnsealError):
        files.read_bytes(file)
    assert "or removed" in named(store)[0]


def test_files_of_two_workspaces_under_one_key_do_not_change_places(store, tmp_path):
    store.disk.backup(tmp_path / "b.zip")
    there = restore(tmp_path / "b.zip", tmp_path / "other", secret=SECRET)
    other = Store(there)
    assert named(other) == ()
    assert read(other) == FIRST
    change(other, "Only in the other one.")
    snapshot(store).write_bytes(snapshot(other).read_bytes())
    with pytest.raises(UnsealError, match="from elsewhere"):
        read(store)
    assert len(named(store)) == 1
    other.close()


def test_a_backup_comes_back_without_what_it_leaves_out(store, tmp_path):
    run, corpus = store.runs.all()[0].id, store.corpora.all()[0].id
    model_settings.write_key(store.folder, "there", "secret-of-an-endpoint")
    write_atomic(store.folder.corpus(corpus) / "embeddings_0.npy", b"cache")
    FolderKeeper(store.folder.scratch(run)).save({"step": "1"}, {})
    change(store)
    store.disk.backup(tmp_path / "b.zip")
    keys.drop(store.path)
    again = Store(restore(tmp_path / "b.zip", tmp_path / "again", secret=SECRET))
    assert read(again) == SECOND
    assert named(again) == ()
    assert again.corpora.frame(corpus) is not None
    again.folder.records(corpus).unlink()
    assert [said.split(":")[0] for said in named(again)] == ["Records", "Files"], "what a backup holds is missed"
    again.close()


def test_going_back_to_plain_does_not_take_an_earlier_file_along(store, path):
    before = snapshot(store).read_bytes()
    change(store)
    latest = snapshot(store).read_bytes()
    snapshot(store).write_bytes(before)
    store.close()
    with pytest.raises(StorageError, match="not the file that was written last"):
        encryption.decrypt(path)
    assert encryption.state(path) == "encrypted"
    file = next((path / "runs").rglob("iteration_1.parquet"))
    file.write_bytes(latest)
    encryption.decrypt(path)
    plain = Store(path)
    assert read(plain) == SECOND
    plain.close()
    encryption.encrypt(SECRET, path)
    again = Store(path)
    assert named(again) == ()
    assert read(again) == SECOND
    snapshot(again).write_bytes(latest)
    assert len(named(again)) == 1, "of the time before, under another key"
    again.close()


def test_a_workspace_of_an_earlier_edition_begins_with_what_is_there(store, path):
    with store.session.db.write() as connection:
        connection.execute(file_versions.delete())
        connection.execute(settings.delete().where(settings.c.key == MARK))
    with pytest.raises(UnsealError):
        read(store)
    store.close()
    again = Store(path)
    assert read(again) == FIRST
    assert named(again) == ()
    before = snapshot(again).read_bytes()
    change(again)
    snapshot(again).write_bytes(before)
    assert len(named(again)) == 1
    again.close()


def test_a_cache_or_part_that_was_put_back_is_as_good_as_none(store):
    kept = PartFiles(store.folder.scratch(store.runs.all()[0].id) / "examination", b"k" * 32, b"stamp")
    kept.write("copies", b"first")
    file = next(store.folder.run(store.runs.all()[0].id).rglob("copies.kept"))
    before = file.read_bytes()
    kept.write("copies", b"second")
    file.write_bytes(before)
    assert kept.read("copies") is None
    assert kept.keys() == []
    assert named(store) == ()


def test_a_step_of_a_training_that_was_put_back_is_refused(store):
    torch = pytest.importorskip("torch")
    keeper = FolderKeeper(store.folder.scratch(store.runs.all()[0].id))
    keeper.save({"step": "1"}, {"w": torch.zeros(3)})
    file = next(store.folder.run(store.runs.all()[0].id).rglob("training.safetensors"))
    before = file.read_bytes()
    keeper.save({"step": "2"}, {"w": torch.ones(3)})
    assert keeper.load()[0] == {"step": "2"}
    file.write_bytes(before)
    with pytest.raises(UnsealError):
        keeper.load()
    assert "training.safetensors" in named(store)[0]


def test_a_folder_that_moves_up_keeps_its_versions_and_an_earlier_one_is_refused(store):
    run = store.runs.all()[0].id
    part, made, kept = (store.folder.scratch(run) / "tuned.part", store.folder.scratch(run) / "tuned",
                        store.folder.run(run) / "tuned")  # fmt: skip
    part.mkdir(parents=True)
    files.write_bytes(part / "model.safetensors", b"first")
    before = (part / "model.safetensors").read_bytes()
    files.write_bytes(part / "model.safetensors", b"weights")
    part.rename(made)
    files.settle(made)
    made.rename(kept)
    files.settle(kept)
    remove_tree(store.folder.scratch(run))
    assert files.read_bytes(kept / "model.safetensors") == b"weights"
    assert named(store) == ()
    (kept / "model.safetensors").write_bytes(before)
    with pytest.raises(UnsealError):
        files.read_bytes(kept / "model.safetensors")
    assert len(named(store)) == 1


def test_several_writers_and_readers_of_one_file_never_see_a_refusal(store):
    file = store.folder.corpus(store.corpora.all()[0].id) / "cache.npy"
    write_atomic(file, b"0")

    def write(number: int) -> None:
        for turn in range(8):
            write_atomic(file, f"{number} {turn}".encode())
            assert files.read_bytes(file)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(4)))
    assert named(store) == ()


def test_a_file_is_not_written_inside_a_transaction(store):
    with pytest.raises(InternalError, match="inside a transaction"), store.session.db.write():
        change(store)
    assert read(store) == FIRST


def test_a_deleted_run_and_corpus_leave_no_version_behind(store):
    run, corpus = store.runs.all()[0].id, store.corpora.all()[0].id
    store.runs.delete(run)
    assert named(store) == ()
    store.corpora.delete(corpus)
    assert named(store) == ()
    with store.session.db.read() as connection:
        assert connection.execute(file_versions.select()).all() == []


def test_a_moved_workspace_is_whole_and_a_plain_one_keeps_no_versions(store, tmp_path, path):
    store.close()
    keys.hold(tmp_path / "there", keys.of(path))
    again = Store(moved(path, tmp_path / "there"))
    assert read(again) == FIRST
    assert named(again) == ()
    again.close()
    plain = Store(tmp_path / "plain", actor="tester")
    corpus = plain.corpora.import_table(made_up(8), MAPPING, name="Letters", unit="record", holdout=0.25)
    np.save(plain.folder.corpus(corpus.id) / "x.npy", np.zeros(3))
    with plain.session.db.read() as connection:
        assert connection.execute(file_versions.select()).all() == []
    plain.close()
