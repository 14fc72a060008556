"""A process killed while it writes or removes a file of an encrypted workspace leaves the old file or the new one.

Killed before each change of the file system and before and after each note of a version; afterwards the workspace
opens, the file is read, nothing is amiss, and the one of the two that is not there is refused where it is put back.
"""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine.at_rest import files, keys, unlocking, versions
from engine.at_rest.header import Secret
from engine.at_rest.sealed import UnsealError
from engine.store.disk.encryption import encryption
from engine.store.disk.encryption.versions import FileVersions
from engine.store.disk.folder import remove_tree, write_atomic
from engine.store.logs.check import check_logs
from engine.store.store import Store
from tests.crash.killing import hooked, in_child
from tests.moving import moved
from tests.store.conftest import MAPPING, made_up

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
SECRET = Secret("key file", b"v" * 32)
NOTES = ("begin", "settle", "leave", "left")


@pytest.fixture(autouse=True)
def forget_keys() -> Iterator[None]:
    yield
    keys._held.clear()
    versions._followed.clear()
    unlocking._tries.clear()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an encrypted workspace with a cache of one corpus in it, closed."""
    path = tmp_path_factory.mktemp("made") / "w"
    encryption.encrypt(SECRET, path)
    store = Store(path, actor="tester")
    corpus = store.corpora.import_table(made_up(8), MAPPING, name="Letters", unit="record", holdout=0.25)
    write_atomic(store.folder.corpus(corpus.id) / "cache.npy", b"older")
    write_atomic(store.folder.corpus(corpus.id) / "cache.npy", b"old")
    store.close()
    return path


def replace(file: Path) -> None:
    write_atomic(file, b"new")


def beside(file: Path) -> None:
    part = file.with_suffix(".tmp")
    files.write_bytes(part, b"new", at=file)
    files.put(part, file)


def folder(file: Path) -> None:
    part = file.parent / "kept.part"
    part.mkdir(exist_ok=True)
    files.write_bytes(part / "a.npy", b"new")
    files.write_bytes(part / "a.npy", b"new")
    part.rename(file.parent / "kept")
    files.settle(file.parent / "kept")


def killed(made: Path, path: Path, act: Callable[[Path], None], step: int) -> int:
    """Do `act` in a copy of the workspace in a process that is killed at this step; return how it ended."""
    keys.hold(path, keys.of(made) or opened(made))
    moved(made, path)
    file = next(path.glob("corpora/*/cache.npy"))

    def work() -> None:
        store, count = Store(path, actor="tester"), iter(range(1_000_000))

        def strike() -> None:
            if next(count) == step:
                os.kill(os.getpid(), signal.SIGKILL)

        def struck(real: Callable[..., None]) -> Callable[..., None]:
            def noted(*given: object) -> None:
                strike()
                real(*given)
                strike()

            return noted

        for name in NOTES:
            setattr(FileVersions, name, struck(getattr(FileVersions, name)))
        hooked((file.parent,), strike)
        act(file)
        store.close()

    return in_child(work)


def opened(made: Path) -> keys.DataKey:
    unlocking.unlock(made, SECRET)
    found = keys.of(made)
    assert found is not None
    return found


@pytest.mark.parametrize("act", [replace, beside, remove_tree, folder], ids=["write", "put", "remove", "folder"])
def test_killed_anywhere_the_file_is_the_old_one_or_the_new(made, tmp_path, act):
    older = {}
    found = []
    for step in range(200):
        path = tmp_path / f"w{step}"
        code = killed(made, path, act, step)
        store = Store(path, actor="tester")
        file = next(path.glob("corpora/*")) / "cache.npy"
        assert check_logs(path).broken == ()
        data = files.read_bytes(file) if file.exists() else None
        found.append(data)
        if act is folder and (file.parent / "kept").exists():
            assert files.read_bytes(file.parent / "kept/a.npy") == b"new"
        if file.exists():
            older.setdefault(data, file.read_bytes())
            write_atomic(file, b"after")
            assert files.read_bytes(file) == b"after"
            for earlier in older.values():
                file.write_bytes(earlier)
                with pytest.raises(UnsealError):
                    files.read_bytes(file)
        store.close()
        shutil.rmtree(path)
        if code == 0:
            break
        assert code == -signal.SIGKILL
    print(f"{len(found) - 1} kills: {found}")
    assert len(found) > 5
    turns = [data for at, data in enumerate(found) if not at or data != found[at - 1]]
    assert turns == {"remove_tree": [b"old", None], "folder": [b"old"]}.get(act.__name__, [b"old", b"new"])
