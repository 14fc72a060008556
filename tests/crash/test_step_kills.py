"""Import, deletion, backup and restore killed at every step on the file system: nothing is left over afterwards.

The release has this test of its own (`test_release_kills`); models have theirs with their folders.
"""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.errors import UserError
from engine.store import restore
from engine.store.store import Store
from tests.crash.killing import hooked, in_child
from tests.moving import moved
from tests.store.conftest import MAPPING, made_up

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")]
MOST_STEPS = 300


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with two corpora, closed again."""
    path = tmp_path_factory.mktemp("source") / "workspace"
    store = Store(path, actor="tester")
    store.corpora.import_table(made_up(), MAPPING, name="Letters", unit="record", holdout=0.25)
    store.corpora.import_table(made_up(first=40), MAPPING, name="More letters", unit="record", holdout=0.25)
    store.close()
    return path


def killed_at_every_step(
    tmp_path: Path, source: Path, work: Callable[[Path, Path], None], check: Callable[[Path, Path], None]
) -> int:
    """Kill `work(workspace, outside)` before each of its writes, look at what the next opening finds; return kills."""
    for step in range(MOST_STEPS):
        place = tmp_path / f"s{step}"
        path, outside = place / "workspace", place / "outside"
        moved(source, path)
        outside.mkdir()

        def run(path: Path = path, outside: Path = outside, step: int = step) -> None:
            count = iter(range(10 * MOST_STEPS))
            hooked((path, outside), lambda: os.kill(os.getpid(), signal.SIGKILL) if next(count) == step else None)
            work(path, outside)

        ended = in_child(run)
        check(path, outside)
        shutil.rmtree(place)
        if ended == 0:
            return step
        assert ended == -signal.SIGKILL
    raise AssertionError(f"more than {MOST_STEPS} steps")


def looked_over(path: Path) -> Store:
    """Open a workspace as the next person would; nothing half-written is left in it."""
    store = Store(path, actor="tester")
    assert store.session.strangers() == []
    known = {corpus.id for corpus in store.corpora.all()}
    assert {p.name for p in (path / "corpora").iterdir()} == known
    assert [p for p in path.rglob("*") if p.name.endswith((".part", ".note", ".tmp"))] == []
    assert store.audit.verify()["ok"]
    assert store.ledger.verify()["ok"]
    for corpus in known:
        assert len(store.corpora.records(corpus, limit=1000)) == store.corpora.get(corpus).records
    return store


def test_an_import_killed_at_any_step_comes_whole_or_not_at_all(tmp_path, source, capsys):
    def work(path: Path, _outside: Path) -> None:
        store = Store(path, actor="tester")
        store.corpora.import_table(made_up(first=80), MAPPING, name="New", unit="record", holdout=0.25)

    def check(path: Path, _outside: Path) -> None:
        store = looked_over(path)
        assert len(store.corpora.all()) in (2, 3)
        store.close()

    kills = killed_at_every_step(tmp_path, source, work, check)
    with capsys.disabled():
        print(f" import: {kills} kills", end="")
    assert kills >= 3


def test_a_deletion_killed_at_any_step_is_finished_or_has_not_begun(tmp_path, source, capsys):
    def work(path: Path, _outside: Path) -> None:
        store = Store(path, actor="tester")
        store.corpora.delete(next(c.id for c in store.corpora.all() if c.name == "More letters"))

    def check(path: Path, _outside: Path) -> None:
        store = looked_over(path)
        left = {corpus.name for corpus in store.corpora.all()}
        store.close()
        assert left in ({"Letters", "More letters"}, {"Letters"})
        files = [p for p in (path / "corpora").rglob("*") if p.is_file()]
        assert len({p.parent for p in files}) == len(left)

    kills = killed_at_every_step(tmp_path, source, work, check)
    with capsys.disabled():
        print(f" deletion: {kills} kills", end="")
    assert kills >= 2


def test_a_backup_killed_at_any_step_leaves_a_whole_file_or_none(tmp_path, source, capsys):
    def work(path: Path, outside: Path) -> None:
        Store(path, actor="tester").disk.backup(outside / "backup.zip")

    def check(path: Path, outside: Path) -> None:
        looked_over(path).close()
        left = sorted(p.name for p in outside.iterdir())
        assert left in ([], ["backup.zip"]), left
        if left:
            again = Store(restore(outside / "backup.zip", outside / "again"), actor="tester")
            assert len(again.corpora.all()) == 2
            again.close()

    kills = killed_at_every_step(tmp_path, source, work, check)
    with capsys.disabled():
        print(f" backup: {kills} kills", end="")
    assert kills >= 3


def test_a_restore_killed_at_any_step_leaves_no_text_in_the_way(tmp_path, source, capsys):
    saved = tmp_path / "saved.zip"
    store = Store(moved(source, tmp_path / "w"), actor="tester")
    store.disk.backup(saved)
    store.close()

    def work(_path: Path, outside: Path) -> None:
        restore(saved, outside / "again")

    def check(_path: Path, outside: Path) -> None:
        try:
            target = restore(saved, outside / "again")
        except UserError:  # it came whole before it was killed
            target = outside / "again"
        again = looked_over(target)
        assert len(again.corpora.all()) == 2
        assert all(again.ledger.of(corpus.id).unknown_since for corpus in again.corpora.all())
        again.close()
        assert [p.name for p in outside.iterdir()] == ["again"], "parts with private text left beside it"

    kills = killed_at_every_step(tmp_path, source, work, check)
    with capsys.disabled():
        print(f" restore: {kills} kills", end="")
    assert kills >= 3
