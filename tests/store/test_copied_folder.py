"""A workspace's folder that was copied says so when it is opened; one that was moved, or is opened again, does not."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from engine.errors import RefusedError
from engine.store import accept_rollback, restore
from engine.store.disk import heads, place
from engine.store.store import Store
from tests.store.ledger_making import draw, end, gaussian, kinds, limited, reserved_run

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def spent(store, corpus):
    """Return the corpus of a closed workspace that spent half its limit, with a run that goes on."""
    limited(store, corpus, 2.0)
    planned = gaussian(0.8)
    run_id = reserved_run(store, corpus, planned)
    draw(store, run_id, planned)
    end(store, run_id, "done")
    going = reserved_run(store, corpus, gaussian(0.6, count=3))
    store.close()
    return corpus, going


def test_a_copy_does_not_know_what_the_other_one_spends(store, spent, tmp_path):
    corpus, going = spent
    shutil.copytree(store.path, tmp_path / "copy")
    copy = Store(tmp_path / "copy", actor="ben")
    view = copy.ledger.of(corpus.id)
    assert view.unknown_since is not None
    line = view.lines.iloc[-1]
    assert (line["kind"], line["actor"]) == ("unknown", "ben")
    assert line["sentence"].startswith("This workspace is a copy of another folder")
    assert str(tmp_path) not in line["sentence"]
    assert copy.audit.lines(limit=1).iloc[0]["action"] == "workspace copied"
    with pytest.raises(RefusedError, match="spent-since"):
        reserved_run(copy, corpus, gaussian(0.1))
    with pytest.raises(RefusedError, match="restored or copied"):
        draw(copy, going, gaussian(0.6, count=3), key="votes/0")
    copy.ledger.declare_spent(corpus.id, 0.0, 0.0)
    assert copy.ledger.of(corpus.id).unknown_since is None
    copy.close()
    again = Store(tmp_path / "copy")
    assert kinds(again, corpus).count("unknown") == 1
    assert again.ledger.verify()["ok"]
    again.close()
    original = Store(store.path)
    assert original.ledger.of(corpus.id).unknown_since is None  # it cannot know
    original.close()


def test_a_moved_workspace_goes_on(store, spent, tmp_path):
    corpus, going = spent
    (tmp_path / "elsewhere").mkdir()
    target = tmp_path / "elsewhere" / "workspace"
    store.path.rename(target)
    for path in (target, target.parent / ".." / "elsewhere" / "workspace"):
        opened = Store(path)
        assert opened.ledger.of(corpus.id).unknown_since is None
        opened.close()
    opened = Store(target)
    draw(opened, going, gaussian(0.6, count=3), key="votes/0")
    opened.close()
    shutil.copytree(target, store.path)  # back at the first place, and yet a copy
    copy = Store(store.path)
    assert copy.ledger.of(corpus.id).unknown_since is not None
    copy.close()


def test_an_opened_workspace_keeps_its_place_through_commits(store, corpus):
    assert heads.kept_place(store.folder) == place.here(store.folder, store.session.key)
    limited(store, corpus, 3.0)
    assert heads.kept_place(store.folder) == place.here(store.folder, store.session.key)


def test_a_workspace_of_an_earlier_version_takes_its_place_as_it_is(store, corpus, tmp_path):
    store.close()
    body = json.loads(store.folder.head_file.read_text())
    del body["place"]
    store.folder.head_file.write_text(json.dumps(body))
    shutil.copytree(store.path, tmp_path / "copy")
    opened = Store(tmp_path / "copy")
    assert opened.ledger.of(corpus.id).unknown_since is None
    assert heads.kept_place(opened.folder) is not None
    opened.close()


@pytest.mark.parametrize("kind", ["restored", "rolled back"])
def test_a_restored_or_accepted_workspace_is_not_taken_for_a_copy_too(store, corpus, tmp_path, kind):
    if kind == "restored":
        path = restore(store.disk.backup(tmp_path / "b.zip"), tmp_path / "again")
    else:
        path = store.path
        store.close()
        store.folder.head_file.unlink()
        accept_rollback(path)
    for _ in range(2):
        opened = Store(path)
        assert kinds(opened, corpus) == ["unknown"]
        opened.close()


def test_inodes_that_change_with_each_mount_do_not_count_alone():
    before = place.Place("/data/w", "m1", 7)
    assert not place.is_copy(before, place.Place("/data/w", "m1", 8))
    assert not place.is_copy(before, place.Place("/other/w", "m2", 7))
    assert place.is_copy(before, place.Place("/other/w", "m1", 8))
    assert place.is_copy(before, place.Place("/data/w", "m2", 8))
    since = place.Place("/data/w", "m1", 7, 1000)
    assert not place.is_copy(since, place.Place("/data/w", "m1", 8, 1000))  # mounted again
    assert not place.is_copy(since, place.Place("/data/w", "m1", 7, 2000))  # its rights changed
    assert not place.is_copy(before, place.Place("/data/w", "m1", 8, 2000))  # kept by an earlier version
    assert place.is_copy(since, place.Place("/data/w", "m1", 8, 2000))


def test_a_folder_that_was_saved_and_put_back_at_its_own_place_says_so(store, corpus, tmp_path):
    """Save the folder, spend, delete it, put the saved one back: key, database and heads agree with each other."""
    limited(store, corpus, 2.0)
    store.close()
    shutil.copytree(store.path, tmp_path / "saved")
    spending = Store(store.path)
    planned = gaussian(1.5)
    draw(spending, reserved_run(spending, corpus, planned), planned)
    spending.close()
    shutil.rmtree(store.path)
    shutil.copytree(tmp_path / "saved", store.path)
    back = Store(store.path)
    assert back.ledger.of(corpus.id).unknown_since is not None
    with pytest.raises(RefusedError, match="spent-since"):
        reserved_run(back, corpus, gaussian(1.5))
    back.close()
    shutil.rmtree(store.path)
    (tmp_path / "saved").rename(store.path)  # moved back: no copy was made just now, and yet it is one
    moved = Store(store.path)
    assert moved.ledger.of(corpus.id).unknown_since is not None
    moved.close()


OPEN = """
import sys
from pathlib import Path
from engine.store.store import Store
Store(Path(sys.argv[1])).close()
"""


def test_two_processes_that_open_a_copy_at_once_write_it_once(store, spent, tmp_path):
    corpus, _ = spent
    shutil.copytree(store.path, tmp_path / "copy")
    openers = [subprocess.Popen([sys.executable, "-c", OPEN, str(tmp_path / "copy")], cwd=ROOT) for _ in range(3)]
    assert [opener.wait() for opener in openers] == [0, 0, 0]
    opened = Store(tmp_path / "copy")
    assert kinds(opened, corpus).count("unknown") == 1
    opened.close()
