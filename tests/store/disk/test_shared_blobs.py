"""Two machines, each with a folder of its own, on one PostgreSQL and one place of blobs; also killed at each step."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import select

from engine.__main__ import main
from engine.errors import StorageError, UserError
from engine.jobs.doctor import Doctor
from engine.store.database.schema import corpora, pending_removals
from engine.store.disk.backup import restore
from engine.store.disk.encryption import encryption
from engine.store.disk.moving import copy_workspace, join_workspace
from engine.store.logs.check import check_logs
from engine.store.store import Store
from tests import postgres
from tests.crash.killing import hooked, in_child
from tests.store.conftest import CANARY, MAPPING, made_up
from tests.store.making import examine, finding, finished_run

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[3]


def at_place(place):
    """Return the files at a place of blobs, without its marks."""
    return sorted(path.name for path in place.rglob("*") if path.is_file() and path.name != "place")


def workspace_at(folder, place):
    """Make a folder whose workspace has a new database and this place of blobs."""
    postgres.workspace_on(folder, postgres.server().database())
    name_place(folder, f"file://{place}")
    return folder


def name_place(folder, url):
    file = folder / "workspace.toml"
    lines = [line for line in file.read_text().splitlines() if not line.startswith("blobs")]
    file.write_text("\n".join([*lines, *([] if url is None else [f'blobs = "{url}"'])]) + "\n")


@pytest.fixture
def place(tmp_path):
    return tmp_path / "place"


@pytest.fixture
def folders(tmp_path, place):
    """Return the folders of two machines; the second one holds three small files."""
    first = workspace_at(tmp_path / "first", place)
    Store(first).close()
    second = join_workspace(first, tmp_path / "second")
    assert sorted(path.name for path in second.iterdir() if path.is_file()) == [
        "ledger.head", "workspace.key", "workspace.toml"
    ]  # fmt: skip
    return first, second


@pytest.fixture
def machines(folders):
    stores = Store(folders[0], actor="anna"), Store(folders[1], actor="ben")
    yield stores
    for store in stores:
        store.close()


def imported(store, **more):
    return store.corpora.import_table(made_up(**more), MAPPING, name="Letters", unit="record", holdout=0.25)


def released(store, corpus):
    """Make a run whose gate is open, and release it inside the workspace; return both ids."""
    with store.session.db.read() as connection:
        revision = connection.execute(select(corpora.c.revision).where(corpora.c.id == corpus.id)).scalar_one()
    run = finished_run(
        store, corpus, [f"Made-up letter {i} about a knee." for i in range(4)], settings={"revision": revision}
    )
    policy = next(p for p in store.releases.policies() if p.id == "exploratory")
    examine(store, run, [finding(r.finding, 0.0, reference=r.reference) for r in policy.rules], revision=revision)
    store.runs.approve_all_pending(run)
    return run, store.releases.make(run, "exploratory", accept_unbounded=True).id


def test_imported_on_one_reviewed_and_released_on_the_other_removed_on_the_first(machines, place):
    anna, ben = machines
    corpus = imported(anna)
    assert len(at_place(place)) == 1
    assert CANARY.encode() not in b"".join(path.read_bytes() for path in place.rglob("*") if path.is_file())
    spans = [span.span_id for span in ben.review.spans(corpus.id, "id3")]
    ben.review.decide(corpus.id, spans, "reject")
    assert ben.review.record_text(corpus.id, "id3") == anna.review.record_text(corpus.id, "id3")
    run, release = released(ben, corpus)
    assert anna.examinations.tables(run) == ["originals"]
    assert anna.examinations.table(run, "originals").empty
    name = next(iter(anna.releases.get(release).files))
    assert anna.releases.file(release, name) == ben.releases.file(release, name)
    for store in machines:
        assert store.audit.verify()["ok"]
        assert store.ledger.verify()["ok"]
    anna.corpora.delete(corpus.id)
    assert len(at_place(place)) == len(ben.releases.get(release).files), "nothing is left there but what was released"
    assert list((anna.path / "corpora").iterdir()) == list((anna.path / "runs").iterdir()) == []
    ben.session.sweep()
    for part in ("corpora", "runs"):
        assert list((ben.path / part).iterdir()) == [], "nor on the machine that had a copy"
    assert ben.session.blobs.state().bad == ()


def test_a_long_open_program_removes_what_another_machine_deleted_as_it_reads(machines):
    anna, ben = machines
    first, second = imported(anna), imported(anna, first=100)
    for one in (first, second):
        ben.corpora.frame(one.id, None, ["text"])
    anna.corpora.delete(first.id)
    assert (ben.path / "corpora" / first.id).exists()
    ben.session.blobs._tidied -= 61.0
    ben.corpora.frame(second.id, None, ["text"])
    assert not (ben.path / "corpora" / first.id).exists()
    assert (ben.path / "corpora" / second.id).exists()


def test_a_joined_machine_is_no_copy_and_spends_from_one_ledger(machines):
    corpus = imported(machines[0])
    assert not check_logs(machines[1].path).broken, "what it checks is brought here"
    assert [store.ledger.of(corpus.id).unknown_since for store in machines] == [None, None]
    for store in machines:
        assert not [a for a in store.audit.lines()["action"] if "copy" in a.lower()]


def test_what_one_machine_is_writing_the_other_does_not_sweep(machines, place, monkeypatch):
    anna, ben = machines
    anna.session.begin_writing("corpora/c-writing")
    file = anna.session.folder.records("c-writing")
    from engine.store.disk.folder import write_atomic

    write_atomic(file, b"being imported")
    with ben.session.db.write() as connection:  # a process of that number is not at work on this machine
        connection.execute(pending_removals.update().values(pid=99999999))
    ben.session.sweep()
    assert len(at_place(place)) == 1
    with ben.session.db.write() as connection:
        assert connection.execute(pending_removals.select()).all()
        connection.execute(pending_removals.update().values(at="2026-01-01T00:00:00.000+00:00"))
    ben.session.sweep()
    assert at_place(place) == [], "after a day its machine is taken to be gone"
    anna.session.sweep()


def test_what_another_machine_stages_outside_is_its_own_to_remove(machines, tmp_path):
    anna, ben = machines
    staged = tmp_path / ".out.0123456789ab.part"
    anna.session.begin_writing(str(staged))
    with anna.session.db.write() as connection:
        connection.execute(pending_removals.update().values(at="2026-01-01T00:00:00.000+00:00", pid=99999999))
    staged.write_text("released records")
    ben.session.sweep()
    assert staged.exists()
    anna.session.sweep()
    assert not staged.exists()


def test_a_place_must_be_named_on_every_machine_and_be_the_same(folders, tmp_path):
    _, second = folders
    name_place(second, None)
    with pytest.raises(StorageError, match="does not name on this machine"):
        Store(second)
    name_place(second, f"file://{tmp_path / 'elsewhere'}")
    store = Store(second)
    with pytest.raises(StorageError, match="not that of this workspace"):
        imported(store)
    assert store.corpora.all() == []
    store.close()
    name_place(second, f"file://anna:{CANARY}@host/x")
    with pytest.raises(StorageError, match="must hold no name") as caught:
        Store(second)
    assert CANARY not in str(caught.value)


def test_a_workspace_that_was_in_its_folder_alone_is_put_there_as_a_whole(tmp_path, place):
    first = postgres.workspace_on(tmp_path / "first", postgres.server().database())
    store = Store(first)
    corpus = imported(store)
    run, release = released(store, corpus)
    store.close()
    with pytest.raises(UserError, match="must name both"):
        join_workspace(first, tmp_path / "second")
    name_place(first, f"file://{place}")
    empty = tmp_path / "empty"
    shutil.copytree(first, empty)
    shutil.rmtree(empty / "corpora")
    with pytest.raises(StorageError, match="Not all tables"):
        Store(empty)
    assert at_place(place) == []
    Store(first).close()
    second = Store(join_workspace(first, tmp_path / "second"))
    assert len(second.corpora.frame(corpus.id, None, ["text"])) == 40
    name = next(iter(second.releases.get(release).files))
    assert second.releases.file(release, name)
    assert second.examinations.table(run, "originals").empty
    assert second.session.blobs.state().bad == ()
    second.close()


def test_what_a_program_made_that_did_not_know_of_the_place_is_put_there_at_the_next_opening(tmp_path, place):
    first = postgres.workspace_on(tmp_path / "first", postgres.server().database())
    earlier = Store(first)
    name_place(first, f"file://{place}")
    Store(first).close()
    corpus = imported(earlier)
    earlier.close()
    assert at_place(place) == []
    store = Store(first)
    assert len(at_place(place)) == 1
    assert store.session.blobs.state().bad == ()
    assert store.corpora.get(corpus.id).records == 40
    store.close()


def test_join_refuses_what_it_cannot_let_another_machine_into(folders, tmp_path, capsys):
    first, second = folders
    with pytest.raises(UserError, match="not empty"):
        join_workspace(first, second)
    with pytest.raises(UserError, match="outside"):
        join_workspace(first, first / "in")
    with pytest.raises(UserError, match="no workspace"):
        join_workspace(tmp_path / "nothing", tmp_path / "third")
    assert main(["workspace", "join", str(first), str(tmp_path / "third")]) == 0
    assert (tmp_path / "third" / "workspace.key").read_bytes() == (first / "workspace.key").read_bytes()
    assert (tmp_path / "third" / "workspace.key").stat().st_mode & 0o077 == 0
    assert "place" not in json.loads((tmp_path / "third" / "ledger.head").read_text())
    assert "database" not in capsys.readouterr().out
    with pytest.raises(Exception, match="cannot be encrypted"):
        encryption.encrypt(encryption.new_key_file(tmp_path / "key"), first)


def test_a_backup_of_a_machine_with_no_table_holds_them_all_and_comes_back_without_a_place(machines, tmp_path):
    anna, ben = machines
    corpus = imported(anna)
    _, release = released(anna, corpus)
    restored = Store(restore(ben.disk.backup(tmp_path / "backup.zip"), tmp_path / "restored"))
    assert restored.session.blobs is None
    assert restored.session.db.is_file
    assert list(restored.corpora.frame(corpus.id, None, ["text"])["text"]) == list(
        anna.corpora.frame(corpus.id, None, ["text"])["text"]
    )
    name = next(iter(restored.releases.get(release).files))
    assert restored.releases.file(release, name) == anna.releases.file(release, name)
    assert not [line for line in check_logs(restored.path).broken if "missing" in line]
    restored.close()


def test_a_backup_without_a_blob_is_refused(machines, place, tmp_path):
    anna, ben = machines
    imported(anna)
    next(path for path in place.rglob("*") if path.is_file() and path.name != "place").unlink()
    with pytest.raises(StorageError, match="The record table of a corpus is missing"):
        ben.disk.backup(tmp_path / "backup.zip")
    assert not (tmp_path / "backup.zip").exists()


def test_a_copy_takes_all_and_may_have_the_same_url(machines, place, tmp_path):
    anna, ben = machines
    corpus = imported(anna)
    texts = list(anna.corpora.frame(corpus.id, None, ["text"])["text"])
    anna.close()
    third = workspace_at(tmp_path / "third", place)
    copied = copy_workspace(ben.path, third)
    assert copied.files == 1
    assert copied.elsewhere == ben.session.blobs.ident
    assert (place / copied.elsewhere).is_dir()
    moved = Store(third)
    assert list(moved.corpora.frame(corpus.id, None, ["text"])["text"]) == texts
    assert len(at_place(place)) == 2, "its own, and what the old one left"
    assert moved.session.blobs.state().bad == ()
    moved.corpora.delete(corpus.id)
    assert len(at_place(place)) == 1
    moved.close()
    with pytest.raises(StorageError, match="moved"):
        Store(anna.path)


def test_the_doctor_says_where_tables_lie_and_what_is_wrong_there(machines, place):
    store = machines[1]
    imported(machines[0])
    doctor = Doctor(store.session, store.ledger, store.audit, None)

    def check():
        (found,) = doctor._blobs()
        return found["ok"], found["detail"]

    ok, detail = check()
    assert ok
    assert detail.startswith("1 file(s), ")
    assert detail.endswith("; each is there")
    assert "sealed, at a place of kind file" in detail
    assert str(place) not in detail
    file = next(path for path in place.rglob("*") if path.is_file() and path.name != "place")
    file.write_bytes(file.read_bytes()[:-1])
    (file.parent / "stray").write_bytes(b"x")
    ok, detail = check()
    assert not ok
    assert "1 missing or cut short: the record table of a corpus" in detail
    assert "1 there of which the database does not know" in detail
    place.rename(place.with_name("away"))
    ok, detail = check()
    assert not ok
    assert "not that of this workspace" in detail


def test_a_disk_that_is_taken_away_loses_no_blob_and_is_not_written_beside(machines, place):
    anna, _ = machines
    first, second = imported(anna), imported(anna, first=100)
    place.rename(place.with_name("away"))
    with pytest.raises(StorageError, match="not that of this workspace"):
        imported(anna, first=200)
    anna.corpora.delete(first.id)
    assert [corpus.id for corpus in anna.corpora.all()] == [second.id]
    assert not place.exists()
    assert len(at_place(place.with_name("away"))) == 2
    place.with_name("away").rename(place)
    assert anna.session.blobs.state().leaving == 2, "also what could not be put"
    anna.session.sweep()
    assert len(at_place(place)) == 1


WHOLE = """
import sys
from pathlib import Path
from engine.store.disk.blobs import keeper
import os, signal
from engine.store.store import Store
from tests.store.conftest import MAPPING, made_up
store = Store(Path(sys.argv[1]), actor="anna")
kill = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
if sys.argv[2] == "put":
    keeper._enforce = kill
elif sys.argv[2] == "in force":
    store.session.finish_writing = kill
elif sys.argv[2] == "removed":
    store.session.sweep = kill
if sys.argv[2] == "removed":
    store.corpora.delete(sys.argv[3])
else:
    store.corpora.import_table(made_up(), MAPPING, name="Letters", unit="record", holdout=0.25)
"""


@pytest.mark.parametrize("moment", ["put", "in force", "removed"])
def test_a_kill_between_blob_and_row_leaves_neither_alone(folders, place, moment):
    first, second = folders
    before = Store(first, actor="anna")
    kept, gone = imported(before), imported(before, first=100)
    before.close()
    ended = subprocess.run([sys.executable, "-c", WHOLE, str(first), moment, gone.id], cwd=ROOT, check=False)
    assert ended.returncode == -signal.SIGKILL
    assert len(at_place(place)) == (2 if moment == "removed" else 3)
    if moment == "removed":  # any machine finishes that; what was being written is its machine's for a day
        ben = Store(second, actor="ben")
        assert len(at_place(place)) == 1
        ben.close()
    anna = Store(first, actor="anna")
    assert {corpus.id for corpus in anna.corpora.all()} == {kept.id, *([] if moment == "removed" else [gone.id])}
    assert len(at_place(place)) == len(anna.corpora.all()) == len(list((first / "corpora").iterdir()))
    found = anna.session.blobs.state()
    assert (found.bad, found.strays, found.leaving) == ((), 0, 0)
    assert not check_logs(first).broken
    anna.close()


@pytest.mark.timeout(900)
def test_a_kill_at_any_change_of_a_file_loses_nothing_and_leaves_nothing(folders, place):
    """Import a corpus and delete another, killed before the first, second, ... change of a file here or there."""
    first, second = folders
    here = (first / "corpora", place)
    moments, ended = 0, -1
    while ended:
        anna = Store(first, actor="anna")
        for corpus in anna.corpora.all():
            anna.corpora.delete(corpus.id)
        old = imported(anna)
        anna.close()
        left = moments

        def work(left=left, old=old):
            store = Store(first, actor="anna")

            def seen():
                nonlocal left
                left -= 1
                if left < 0:
                    os.kill(os.getpid(), signal.SIGKILL)

            hooked(here, seen)
            imported(store, first=100)
            store.corpora.delete(old.id)
            store.close()

        ended = in_child(work)
        assert ended in (0, -signal.SIGKILL)
        Store(first, actor="anna").close()
        ben = Store(second, actor="ben")
        known = [corpus.id for corpus in ben.corpora.all()]
        assert len(known) in (1, 2)
        for one in known:
            assert len(ben.corpora.frame(one, None, ["text"])) == 40
        assert sorted(path.name for path in (first / "corpora").iterdir()) == sorted(known)
        found = ben.session.blobs.state()
        assert (found.count, found.bad, found.strays, found.leaving) == (len(known), (), 0, 0)
        assert len(at_place(place)) == len(known)
        ben.close()
        moments += 1
    assert moments > 8, "there are as many moments"
