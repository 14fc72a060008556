"""A release that is refused, fails or is killed at any step leaves no record outside that is not on record inside."""

from __future__ import annotations

import os
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest

from engine.errors import RefusedError, StorageError
from engine.release import verify
from engine.store.disk import staging
from engine.store.runs.releases import Releases
from engine.store.store import Store
from tests.crash.killing import hooked, in_child
from tests.moving import moved
from tests.store.conftest import MAPPING, made_up
from tests.store.making import examine, finding, finished_run

TEXTS = [f"Made-up letter {i} about a knee." for i in range(4)]


@pytest.fixture(scope="module")
def ready(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A workspace with a run whose gate is open, closed again, and the run's id."""
    path = tmp_path_factory.mktemp("ready") / "workspace"
    store = Store(path, actor="tester")
    corpus = store.corpora.import_table(made_up(), MAPPING, name="Letters", unit="record", holdout=0.25)
    run = finished_run(store, corpus, TEXTS)
    policy = next(p for p in store.releases.policies() if p.id == "exploratory")
    examine(store, run, [finding(r.finding, 0.0, reference=r.reference) for r in policy.rules])
    store.runs.approve_all_pending(run)
    assert store.releases.gate(run, "exploratory").passed
    store.close()
    return path, run


def release(path: Path, run: str, out: Path) -> None:
    store = Store(path, actor="tester")
    store.releases.make(run, "exploratory", out=out, accept_unbounded=True)
    store.close()


def check(path: Path, run: str, out: Path, releases_before: int = 0) -> bool:
    """Open the workspace as the next person would; return whether the copy is outside."""
    store = Store(path, actor="tester")
    made = store.releases.all()
    assert sorted(p.name for p in (path / "releases").iterdir()) == sorted(m.id for m in made)
    left = [p.name for p in out.parent.iterdir()] if out.parent.exists() else []
    assert left in ([], [out.name]), left
    assert len(made) - releases_before in (0, 1)
    if left:
        assert len(made) > releases_before, "records outside that nobody recorded"
        assert verify(out)["ok"]
    if made:
        assert store.ledger.of(store.runs.get(run).corpus_id).unbounded
        assert store.audit.lines(limit=1).iloc[0]["action"] == "records released"
    store.close()
    return bool(left)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("name", ["bundle", "bundle.zip"])
def test_a_kill_at_any_step_leaves_nothing_outside_that_is_not_recorded(ready, tmp_path, name) -> None:
    source, run = ready
    outcomes = []
    for step in range(200):
        path, out = tmp_path / f"w{step}", tmp_path / f"o{step}" / name
        moved(source, path)

        def work(path: Path = path, out: Path = out, step: int = step) -> None:
            count = iter(range(10_000))
            end = lambda: os.kill(os.getpid(), signal.SIGKILL) if next(count) == step else None  # noqa: E731
            real = Releases._record
            Releases._record = lambda *a, **k: (end(), real(*a, **k), end())[1]  # type: ignore[assignment]
            hooked((path / "releases", out.parent), end)
            release(path, run, out)

        killed = in_child(work)
        outside = check(path, run, out)
        shutil.rmtree(path)
        outcomes.append((killed, outside))
        if killed == 0:
            break
    assert outcomes[-1] == (0, True), "the last one ran to its end"
    assert len(outcomes) > 12
    assert all(killed == -signal.SIGKILL for killed, _ in outcomes[:-1])
    assert (-signal.SIGKILL, False) in outcomes


@pytest.mark.parametrize("name", ["bundle", "bundle.zip"])
@pytest.mark.parametrize(
    "error", [RefusedError("Approvals changed"), OSError(28, "No space left"), KeyboardInterrupt()]
)
@pytest.mark.parametrize("where", ["stage", "record"])
def test_a_refusal_or_an_error_takes_back_what_was_staged(ready, tmp_path, monkeypatch, where, error, name) -> None:
    path, out = tmp_path / "w", tmp_path / "o" / name
    moved(ready[0], path)
    staged: list[Path] = []
    real = staging.stage

    def stage(bundle: Path, place: Path, **options: Any) -> None:
        real(bundle, place, **options)
        staged.append(place)
        assert place.exists()
        if where == "stage":
            raise error

    def record(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr(staging, "stage", stage)
    if where == "record":
        monkeypatch.setattr(Releases, "_record", record)
    with pytest.raises(type(error)):
        release(path, ready[1], out)
    assert staged, "the test reached the step"
    assert list(out.parent.iterdir()) == []
    assert check(path, ready[1], out) is False


@pytest.mark.parametrize("name", ["bundle", "bundle.zip"])
def test_a_name_taken_meanwhile_is_not_overwritten(ready, tmp_path, monkeypatch, name) -> None:
    path, out = tmp_path / "w", tmp_path / "o" / name
    moved(ready[0], path)
    real = Releases._record

    def record(*arguments: Any, **options: Any) -> None:
        real(*arguments, **options)
        out.write_text("somebody else's")

    monkeypatch.setattr(Releases, "_record", record)
    with pytest.raises(StorageError, match=r"made and recorded.*exists by now"):
        release(path, ready[1], out)
    assert out.read_text() == "somebody else's"
    assert [p.name for p in out.parent.iterdir()] == [name]
    store = Store(path, actor="tester")
    (made,) = store.releases.all()
    assert made.path == str(path / "releases" / made.id)
    store.close()


def test_the_sweep_touches_no_other_file(ready, tmp_path) -> None:
    """A database from elsewhere cannot make the sweep delete a person's files."""
    from engine.store.database.schema import pending_removals

    path, mine = tmp_path / "w", tmp_path / "thesis.txt"
    moved(ready[0], path)
    mine.write_text("mine")
    link = tmp_path / ".x.0123456789ab.part"
    link.symlink_to(mine)
    store = Store(path, actor="tester")
    with store.session.db.write() as connection:
        for target in (mine, link, tmp_path / "gone" / ".x.0123456789ab.part"):
            connection.execute(pending_removals.insert().values(path=str(target), pid=None, at="now"))
    store.close()
    Store(path, actor="tester").close()
    assert mine.read_text() == "mine"
