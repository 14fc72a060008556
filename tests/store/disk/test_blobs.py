"""Files that lie elsewhere too: two folders, one database, one place; what is altered there, and what is refused."""

import secrets

import fsspec
import pytest
from sqlalchemy import select, update

from engine.at_rest import elsewhere, files
from engine.errors import InternalError, StorageError
from engine.store.database.schema import blobs, removed
from engine.store.disk.blobs import place as places
from engine.store.disk.blobs.here import Here, look
from engine.store.disk.blobs.keeper import Blobs, DamagedBlobError
from engine.store.disk.blobs.names import kind, shared
from engine.store.disk.blobs.place import BlobError, BlobPlace, NoBlobError, checked
from engine.store.disk.folder import Folder, remove_tree, write_atomic, write_private
from tests import postgres

SECRET = "Quillfeather-Zanzibarnacle"
TEXT = f"{SECRET} came on Monday. ".encode() * 40
RECORDS = "corpora/c-1/records.parquet"


class Two:
    """Two machines' folders of one workspace: its database in the first, its place in the memory of this process."""

    def __init__(self, store, second, system="memory"):
        self.store, self.key = store, store.session.key
        self.system = fsspec.filesystem(system, **({"auto_mkdir": True} if system == "file" else {}))
        self.root = f"/{secrets.token_hex(6)}" if system == "memory" else str(second.parent / "place")
        self.folders = (store.session.folder, Folder(second))
        self.folders[1].create()
        self.keepers = tuple(self.keeper(folder) for folder in self.folders)
        self.keepers[0]._place.make()
        for folder, keeper in zip(self.folders, self.keepers, strict=True):
            elsewhere.follow(folder.path, keeper)

    def keeper(self, folder):
        return Blobs(folder, self.store.session.db, self.key, "memory://", "w", there=BlobPlace(self.system, self.root))

    def path(self, machine, name=RECORDS):
        return self.folders[machine].path / name

    def stored(self):
        """Return key → content of what lies at the place."""
        found = (path for path in self.system.find(self.root) if not path.endswith("/place"))
        return {path.rpartition("/")[2]: self.system.cat_file(path) for path in found}

    def alter(self, change):
        ((key, content),) = self.stored().items()
        self.system.pipe_file(f"{self.root}/{key}", change(content))

    def states(self):
        with self.store.session.db.read() as connection:
            return sorted((row.path, row.state) for row in connection.execute(select(blobs)))


@pytest.fixture
def two(store, tmp_path):
    made = Two(store, tmp_path / "second")
    yield made
    for folder, keeper in zip(made.folders, made.keepers, strict=True):
        elsewhere.drop(folder.path, keeper)
    made.system.rm(made.root, recursive=True)


@pytest.mark.parametrize(
    ("url", "said"),
    [
        (3, "must be a URL"), ("", "must be a URL"), ("s3", "must be a URL"), ("/srv/blobs", "must be a URL"),
        ("s3://", "must be a URL"), ("file://srv/blobs", "must be a URL"), ("simplecache::s3://b/p", "must be a URL"),
        (f"s3://key:{SECRET}@bucket/p", "must hold no name"), (f"s3://{SECRET}@bucket/p", "must hold no name"),
        (f"s3://bucket/p?secret={SECRET}", "must hold no name"), ("memory://x", "keeps nothing"),
        ("file://{folder}", "lies in the workspace"), ("file://{folder}/runs", "lies in the workspace"),
    ],
)  # fmt: skip
def test_a_url_that_cannot_be_used_is_refused_without_repeating_it(tmp_path, url, said):
    with pytest.raises(StorageError, match=said) as caught:
        checked(url.format(folder=tmp_path) if isinstance(url, str) else url, tmp_path)
    assert SECRET not in str(caught.value)


def test_a_url_that_can_be_used_stays_as_it_is(tmp_path):
    for url in ("s3://bucket/a/prefix", "gs://bucket", "file:///srv/blobs", f"file://{tmp_path}-beside"):
        assert checked(url + "/", tmp_path) == url
    assert places.scheme("s3://bucket/p") == "s3"


def test_a_url_of_an_unknown_kind_says_what_is_missing(tmp_path):
    with pytest.raises(StorageError) as caught:
        places.at(f"nosuchkind://{SECRET}/p", "w")
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    ("path", "said"),
    [
        (RECORDS, "The record table of a corpus"), ("corpora/c-1/map.parquet", "A table of a corpus"),
        ("corpora/c-1/studies/j-1/2/a.parquet", "A table of a study"), ("runs/r-1/mia.parquet", "A table of a run"),
        ("runs/r-1/tuned/model.safetensors", "A file of a run's tuned weights"),
        ("runs/r-1/scratch/training.safetensors", "A file of an unfinished run"),
        ("releases/rel-1/records.csv", "A file of a release"),
    ],
)  # fmt: skip
def test_finished_files_of_corpora_runs_and_releases_lie_elsewhere_too(path, said):
    assert shared(path)
    assert kind(path) == said


@pytest.mark.parametrize(
    "path",
    [
        "workspace.key", "understudy.sqlite", "worker.log", "worker.lock", "keys/openai", "models/m/model.safetensors",
        "corpora/c-1", "runs/r-1/.a.parquet.7.0123456789ab.part", "runs/r-1/scratch/tuned.part/model.safetensors",
        "runs/r-1/scratch/training.tmp", "temporary/x/y", "releases/.rel-1.part/bundle/records.csv",
    ],
)  # fmt: skip
def test_what_is_of_this_machine_alone_or_not_finished_does_not(path):
    assert not shared(path)


def test_what_one_machine_writes_another_reads_and_the_place_sees_no_text(two):
    write_atomic(two.path(0), TEXT)
    ((key, content),) = two.stored().items()
    assert not any(SECRET.encode()[i : i + 8] in content for i in range(len(SECRET) - 8))
    assert key not in RECORDS
    assert "corpora" not in key
    assert not two.path(1).exists()
    assert files.read_bytes(two.path(1)) == TEXT
    assert two.path(1).stat().st_mode & 0o077 == 0
    assert all(folder.stat().st_mode & 0o077 == 0 for folder in two.path(1).parents[:2])
    with files.readable(two.path(1)) as path:
        assert path == two.path(1)


def test_what_is_written_anew_replaces_the_earlier_one_on_every_machine(two):
    for machine, text in ((0, b"one"), (1, b"other"), (0, b"third, longer"), (1, b"")):
        write_atomic(two.path(machine), text)
        assert [files.read_bytes(two.path(one)) for one in (1, 0)] == [text, text]
        assert len(two.stored()) == 1, "earlier ones are removed"
    assert two.states() == [(RECORDS, "in force")]


def test_what_is_here_is_not_brought_again_and_what_was_changed_here_is(two):
    write_atomic(two.path(0), TEXT)
    files.fetch(two.path(1))
    two.alter(lambda content: b"")  # it would be refused
    assert files.read_bytes(two.path(1)) == TEXT
    two.alter(lambda _: b"gone")
    two.path(1).write_bytes(b"another program wrote here")
    with pytest.raises(DamagedBlobError):
        files.read_bytes(two.path(1))
    write_atomic(two.path(0), b"again")
    assert files.read_bytes(two.path(1)) == b"again"


@pytest.mark.parametrize(
    "change",
    [
        lambda content: content[:-1], lambda content: content[:40], lambda _: b"", lambda content: content + b"\0",
        lambda content: bytes([content[0] ^ 1]) + content[1:], lambda content: content[:60] + b"!" + content[61:],
        lambda content: TEXT,
    ],
    ids=["cut", "cut to a head", "emptied", "longer", "no magic", "altered", "plain"],
)  # fmt: skip
def test_a_blob_that_was_cut_or_altered_is_refused_by_its_kind(two, change):
    write_atomic(two.path(0), TEXT)
    two.alter(change)
    with pytest.raises(DamagedBlobError, match="The record table of a corpus was cut short or changed") as caught:
        files.fetch(two.path(1))
    assert SECRET not in str(caught.value)
    assert "c-1" not in str(caught.value)
    assert not two.path(1).exists()
    assert [path for path in two.path(1).parent.iterdir() if path.name.endswith(".part")] == []
    assert files.read_bytes(two.path(0)) == TEXT, "who has it goes on"


def test_a_blob_in_the_place_of_another_is_refused(two):
    for name in (RECORDS, "runs/r-1/mia.parquet"):
        write_atomic(two.path(0, name), TEXT)
    first, second = two.stored().items()
    for (key, _), (_, content) in ((first, second), (second, first)):
        two.system.pipe_file(f"{two.root}/{key}", content)
    for name in (RECORDS, "runs/r-1/mia.parquet"):
        with pytest.raises(DamagedBlobError):
            files.fetch(two.path(1, name))


def test_an_earlier_version_put_back_is_refused(two):
    write_atomic(two.path(0), b"earlier")
    (earlier,) = two.stored().values()
    write_atomic(two.path(0), b"a later")
    two.alter(lambda _: earlier)
    with pytest.raises(DamagedBlobError):
        files.fetch(two.path(1))


def test_a_blob_that_is_gone_is_missed_by_its_kind_and_found_by_the_check(two):
    write_atomic(two.path(0, "runs/r-1/mia.parquet"), TEXT)
    assert two.keepers[0].state().bad == ()
    (key,) = two.stored()
    two.system.rm_file(f"{two.root}/{key}")
    with pytest.raises(DamagedBlobError, match="A table of a run is missing"):
        files.fetch(two.path(1, "runs/r-1"))
    assert two.keepers[1].state().bad == ("A table of a run",)


def test_the_check_counts_what_is_cut_and_what_nobody_knows(two):
    write_atomic(two.path(0), TEXT)
    two.alter(lambda content: content[:-1])
    two.system.pipe_file(f"{two.root}/{'0' * 32}", b"x")
    found = two.keepers[1].state()
    assert (found.count, found.bad, found.strays, found.leaving) == (1, ("The record table of a corpus",), 1, 0)


def test_a_folder_that_is_settled_as_a_whole_comes_as_a_whole(two):
    folder = two.path(0, "runs/r-1/scratch/tuned.part")
    for name in ("model.safetensors", "config.json"):
        write_private(folder / name, name.encode()).replace(folder / name)
    assert two.stored() == {}
    folder.rename(folder.with_suffix(""))
    for _ in range(2):  # also where a kill came after the first time
        files.settle(folder.with_suffix(""))
    assert len(two.stored()) == 2
    files.fetch(two.path(1, "runs/r-1"))
    there = two.path(1, "runs/r-1/scratch/tuned")
    assert {path.name: path.read_bytes().decode() for path in there.iterdir()} == {
        "model.safetensors": "model.safetensors", "config.json": "config.json"
    }  # fmt: skip


def test_a_file_that_is_written_in_its_place_is_put_too(two):
    name = "runs/r-1/tuned/config.json"
    two.path(0, name).parent.mkdir(parents=True)
    for text in (b"one", b"two"):
        files.write_bytes(two.path(0, name), text)
        assert files.read_bytes(two.path(1, name)) == text


def test_what_one_machine_removes_is_gone_there_and_on_the_other(two):
    for name in (RECORDS, "runs/r-1/a.parquet", "runs/r-1/scratch/b.kept", "runs/r-10/a.parquet"):
        write_atomic(two.path(0, name), TEXT)
    files.fetch(two.folders[1].path)
    remove_tree(two.path(1, "runs/r-1/scratch"))
    files.fetch(two.path(0, "runs/r-1"))
    assert not two.path(0, "runs/r-1/scratch/b.kept").exists()
    assert two.path(0, "runs/r-1/a.parquet").exists()
    remove_tree(two.path(0, "runs/r-1"))
    assert [path for path, _ in two.states()] == [RECORDS, "runs/r-10/a.parquet"]
    assert len(two.stored()) == 2
    files.fetch(two.folders[1].path)
    assert not two.path(1, "runs/r-1/a.parquet").exists()
    assert two.path(1, "runs/r-10/a.parquet").read_bytes() == TEXT


def test_a_file_that_is_being_written_here_is_not_replaced_by_the_one_in_force(two):
    write_atomic(two.path(0), b"first")
    files.fetch(two.path(1))
    part = write_private(two.path(1), files.stored(two.path(1), b"second"))
    part.replace(two.path(1))
    write_atomic(two.path(0), b"of another machine")
    assert files.read_bytes(two.path(1)) == b"second"
    files.settle(two.path(1))
    assert files.read_bytes(two.path(0)) == b"second"


def test_a_file_whose_writer_died_gives_way_to_the_one_in_force(two):
    write_atomic(two.path(0), b"first")
    files.fetch(two.path(1))
    write_private(two.path(1), files.stored(two.path(1), b"never put")).replace(two.path(1))
    with Here(two.folders[1].path)._change() as connection:
        connection.execute("UPDATE files SET pid = 99999999")
    assert files.read_bytes(two.path(1)) == b"first"


class Failing:
    """A file system that stops in the middle of a blob, or is away."""

    def __init__(self, system, after):
        self._system, self.after = system, after

    def __getattr__(self, name):
        return getattr(self._system, name)

    def open(self, path, mode):
        if "w" in mode and self.after == 0:
            raise ConnectionError(f"https://{SECRET}@host")
        opened = self._system.open(path, mode)
        if "w" in mode:
            write = opened.write

            def cut(data):
                write(data[: self.after])
                raise TimeoutError(f"https://{SECRET}@host")

            opened.write = cut
        return opened


@pytest.mark.parametrize("after", [0, 30])
def test_what_cannot_be_put_is_not_in_force_and_leaves_nothing(two, after):
    write_atomic(two.path(0), b"before")
    keeper = two.keepers[0]
    keeper._place._system = Failing(two.system, after)
    with pytest.raises(BlobError, match="cannot be reached") as caught:
        write_atomic(two.path(0), TEXT)
    assert SECRET not in str(caught.value) + repr(caught.value.__cause__)
    assert caught.value.__suppress_context__
    keeper._place._system = two.system
    assert files.read_bytes(two.path(1)) == b"before"
    assert files.read_bytes(two.path(0)) == b"before", "here too"
    assert two.states() == [(RECORDS, "in force")]
    assert len(two.stored()) == 1


def test_a_removal_that_cannot_reach_the_place_is_done_later(two):
    write_atomic(two.path(0), TEXT)
    keeper, remove = two.keepers[0], two.keepers[0]._place.remove

    def away(key):
        raise BlobError(places.AWAY)

    keeper._place.remove = away
    remove_tree(two.path(0, "corpora/c-1"))
    assert not two.path(0).exists()
    assert len(two.stored()) == 1
    assert two.states() == [(RECORDS, "removed")]
    assert two.keepers[1].state().leaving == 1
    keeper._place.remove = remove
    keeper.sweep()
    assert (two.stored(), two.states()) == ({}, [])


def test_what_a_killed_writer_left_is_swept_and_what_a_living_one_writes_is_not(two):
    keeper, db = two.keepers[0], two.store.session.db
    write_atomic(two.path(0), b"kept")
    two.system.pipe_file(f"{two.root}/k1", b"half of a blob")
    row = {"key": "k1", "path": RECORDS, "size": 99, "state": "written", "at": "2026-01-01T00:00:00.000+00:00"}
    with db.brief() as connection:
        connection.execute(blobs.insert().values(machine=two.keepers[1]._machine, pid=1, **row))
    keeper.sweep()
    assert "k1" not in two.stored(), "of another machine, and a day old"
    with db.brief() as connection:
        for key, values in (
            ("k2", {"machine": keeper._machine, "pid": 99999999}),
            ("k3", {"machine": two.keepers[1]._machine, "pid": 99999999}),
        ):
            two.system.pipe_file(f"{two.root}/{key}", b"half")
            at = select(blobs.c.at).where(blobs.c.state == "in force").scalar_subquery()
            connection.execute(blobs.insert().values(**{**row, "key": key, "at": at}, **values))
    keeper.sweep()
    assert "k2" not in two.stored(), "of a process of this machine that is gone"
    assert "k3" in two.stored(), "of another machine, which may be at work"
    assert files.read_bytes(two.path(1)) == b"kept"


def test_a_writer_that_was_taken_for_dead_does_not_put_its_version_in_force(two):
    write_atomic(two.path(0), b"kept")
    place = two.keepers[1]._place
    put = place.put

    def stalled(key, pieces, size):
        put(key, pieces, size)
        with two.store.session.db.brief() as connection:  # as a sweep of another machine a day later
            connection.execute(update(blobs).where(blobs.c.key == key).values(state="removed"))
        two.keepers[0].sweep()

    place.put = stalled
    with pytest.raises(StorageError, match="taken for a dead one"):
        write_atomic(two.path(1), b"late")
    assert files.read_bytes(two.path(0)) == b"kept"
    assert two.states() == [(RECORDS, "in force")]
    assert len(two.stored()) == 1


def test_what_a_late_worker_writes_of_a_deleted_run_goes_too(two):
    with two.store.session.db.write() as connection:
        connection.execute(removed.insert().values(path="runs/r-1", at="now"))
    write_atomic(two.path(1, "runs/r-1/late.parquet"), TEXT)
    two.keepers[0].sweep()
    assert (two.stored(), two.states()) == ({}, [])


def test_nothing_is_written_or_removed_elsewhere_inside_a_transaction(two):
    write_atomic(two.path(0), b"x")
    with two.store.session.db.write(), pytest.raises(InternalError, match="inside a transaction"):
        remove_tree(two.path(0))
    with two.store.session.db.write(), pytest.raises(InternalError, match="inside a transaction"):
        write_atomic(two.path(0), b"y")


def test_a_place_of_another_workspace_is_refused(two):
    other = BlobPlace(two.system, f"{two.root}-other")
    for use in (lambda: other.put("k", [b"x"], 1), lambda: other.remove("k"), other.sizes):
        with pytest.raises(BlobError, match="not that of this workspace"):
            use()


def test_a_blob_that_is_not_there_is_told_from_a_place_that_is_away(two):
    with pytest.raises(NoBlobError), two.keepers[0]._place.reading("nothing"):
        pass


def test_a_folder_on_this_machine_does_as_a_place(store, tmp_path):
    two = Two(store, tmp_path / "second", system="file")
    write_atomic(two.path(0), TEXT)
    write_atomic(two.path(0), TEXT + TEXT)
    assert files.read_bytes(two.path(1)) == TEXT + TEXT
    (left,) = [path for path in (tmp_path / "place").rglob("*") if path.is_file() and path.name != "place"]
    assert SECRET.encode() not in left.read_bytes()
    remove_tree(two.path(1, "corpora/c-1"))
    assert [path.name for path in (tmp_path / "place").rglob("*") if path.is_file()] == ["place"]
    for folder, keeper in zip(two.folders, two.keepers, strict=True):
        elsewhere.drop(folder.path, keeper)


def test_a_damaged_list_of_what_is_here_says_so_and_can_be_deleted(two):
    write_atomic(two.path(0), TEXT)
    name = two.folders[1].path / "machine.sqlite"
    for ending in ("", "-wal", "-shm"):
        name.with_name(name.name + ending).unlink(missing_ok=True)
    name.write_bytes(b"no database" * 500)
    with pytest.raises(StorageError, match="Delete it"):
        files.fetch(two.path(1))
    name.unlink()
    Here(two.folders[1].path)
    assert files.read_bytes(two.path(1)) == TEXT
    assert look(two.path(1))[0] == len(TEXT)


def test_a_workspace_in_a_database_file_names_no_place(store, tmp_path, backend):
    if backend != "sqlite":
        pytest.skip("it is in PostgreSQL")
    from engine.store.disk.address import blobs_url

    folder = Folder(tmp_path / "other")
    folder.create()
    folder.settings_file.write_text('blobs = "file:///srv/blobs"\n')
    assert blobs_url(folder) == "file:///srv/blobs"
    with pytest.raises(StorageError, match=r'must hold the line database = "postgresql'):
        type(store)(folder.path)
    postgres.workspace_on(folder.path, "postgresql://anna@localhost/x")
    assert blobs_url(folder) is None
