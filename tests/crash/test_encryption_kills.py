"""A conversion, or a new passphrase, that is killed at any step leaves the workspace whole: the old one or the new."""

from __future__ import annotations

import os
import shutil
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine.at_rest import header, keys, unlocking
from engine.store.disk.encryption import encryption, switch
from engine.store.store import Store
from tests.crash.killing import hooked, in_child
from tests.moving import moved
from tests.store.conftest import MAPPING, made_up
from tests.store.disk.test_encryption import NEW, OLD, contents, private, readable
from tests.store.making import finished_run

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
Place = Callable[[Path], None]  # puts a workspace at a path


@pytest.fixture(autouse=True)
def forget_keys() -> Iterator[None]:
    yield
    keys._held.clear()
    unlocking._tries.clear()


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A small plain workspace, to be put anywhere."""
    path = tmp_path_factory.mktemp("plain") / "workspace"
    store = Store(path, actor="tester")
    corpus = store.corpora.import_table(made_up(8), MAPPING, name="Letters", unit="record", holdout=0.25)
    finished_run(store, corpus, ["Made-up output about a Zanzibarnacle."])
    store.close()
    return lambda at: moved(path, at) and None


@pytest.fixture(scope="module")
def encrypted(plain: Place, tmp_path_factory: pytest.TempPathFactory) -> Place:
    """The same, encrypted."""
    path = tmp_path_factory.mktemp("encrypted") / "workspace"
    plain(path)
    encryption.encrypt(OLD, path)
    key = keys.of(path)
    assert key is not None

    def put(at: Path) -> None:
        keys.hold(at, key)
        moved(path, at)
        keys.drop(at)

    return put


@pytest.fixture
def before(plain: Place, tmp_path: Path) -> dict[str, object]:
    plain(tmp_path / "known")
    return contents(tmp_path / "known")


def state(path: Path, before: dict[str, object]) -> str:
    """Return what a workspace is to whoever opens it next, after checking that it is whole."""
    found = "plain"
    if encryption.state(path) == "encrypted":
        try:
            unlocking.unlock(path, OLD)
            found = "old"
        except header.WrongSecretError:
            unlocking._tries.clear()
            unlocking.unlock(path, NEW)
            found = "new"
    assert contents(path) == before
    assert not list(path.glob(".*.part")), "the next opening removes what a killed conversion left"
    assert not (path / switch.NAME).exists()
    assert private(path)
    assert (readable(path) == []) == (found != "plain")
    return found


def killed_at_each_step(put: Place, act: Place, tmp_path: Path, before: dict[str, object]) -> list[str]:
    """Kill `act` before each of its changes to the files of a workspace; return what the workspace was after each."""
    found = []
    for step in range(2_000):
        path = tmp_path / f"w{step}"
        put(path)

        def work(path: Path = path, step: int = step) -> None:
            count = iter(range(1_000_000))
            hooked((path,), lambda: os.kill(os.getpid(), signal.SIGKILL) if next(count) == step else None)
            act(path)

        code = in_child(work)
        found.append(state(path, before))
        shutil.rmtree(path)
        keys._held.clear()
        if code == 0:
            return found
        assert code == -signal.SIGKILL
    raise AssertionError("it never came to its end")


def encrypt(path: Path) -> None:
    encryption.encrypt(OLD, path)


def decrypt(path: Path) -> None:
    unlocking.unlock(path, OLD)
    encryption.decrypt(path)


def rekey(path: Path) -> None:
    unlocking.unlock(path, OLD)
    encryption.rekey(NEW, path)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("act", "first", "then", "least"),
    [(encrypt, "plain", "old", 30), (decrypt, "old", "plain", 30), (rekey, "old", "new", 4)],
    ids=["encrypt", "decrypt", "rekey"],
)
def test_killed_anywhere_it_is_the_one_or_the_other(
    plain, encrypted, tmp_path, before, act, first, then, least
) -> None:
    found = killed_at_each_step(plain if act is encrypt else encrypted, act, tmp_path, before)
    turn = found.index(then)
    print(f"{act.__name__}: {turn} kills left it {first}, {len(found) - turn} left it {then}")
    assert len(found) > least
    assert set(found[:turn]) == {first}
    assert set(found[turn:]) == {then}


def test_a_decided_conversion_is_finished_once_by_whoever_comes_next(plain, tmp_path, before) -> None:
    path = tmp_path / "w"
    plain(path)

    def work() -> None:
        real = switch.decide
        switch.decide = lambda *given: (real(*given), os.kill(os.getpid(), signal.SIGKILL))[0]  # type: ignore[assignment]
        encrypt(path)

    assert in_child(work) == -signal.SIGKILL
    assert (path / switch.NAME).exists()
    assert readable(path), "nothing plain is gone yet"
    states: list[str] = []
    threads = [threading.Thread(target=lambda: states.append(encryption.state(path))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert states == ["encrypted"] * 4
    assert state(path, before) == "old"
