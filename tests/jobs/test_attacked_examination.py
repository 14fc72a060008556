"""A shared examination under attack: bad results, late ones, kills at each stage, a move, and words left in clear."""

from __future__ import annotations

import base64
import shutil
import threading
import time
from contextlib import suppress

import numpy as np
import pytest

from engine.at_rest import header, keys, unlocking
from engine.examine import keeping
from engine.examine.findings.part import Part
from engine.jobs.models.cache import ModelCache
from engine.jobs.tasks import examine, examining
from engine.jobs.worker import kept_embeddings, launch, parts_ahead, slots
from engine.jobs.worker.part_shelf import PartShelf
from engine.jobs.worker.spreading import packed_rows, unpacked_rows
from engine.store import queue
from engine.store import shards as store_shards
from engine.store.runs import examinations, kept_parts
from engine.workspace import open_workspace
from tests.jobs import examined, sharing
from tests.jobs.conftest import wait
from tests.jobs.examined import PRIVACY, alone, end, forget, taken, told_once
from tests.jobs.sharing import begun, free, helpers, left_over, put_back
from tests.jobs.test_stopped_examination import kept_files, outcome, same, the_run
from tests.store.disk.test_encryption import readable

VECTORS = ": vectors"


class Killed(BaseException):
    """The process is gone here, as by a kill: nothing of it goes on, and nobody says so."""


@pytest.fixture(scope="module", autouse=True)
def threads():
    """Compute with one thread."""
    with examined.one_thread():
        yield


@pytest.fixture(params=[pytest.param(kind, marks=pytest.mark.slow) for kind in ("sqlite", sharing.ENCRYPTED)])
def workspace(request, tmp_path, monkeypatch):
    """Return a workspace with a run that leaks some of its corpus."""
    with examined.kept_in(request.param, tmp_path / "workspace", monkeypatch) as opened:
        yield opened


@pytest.fixture
def plain(tmp_path, monkeypatch):
    """Return such a workspace, not encrypted."""
    with examined.kept_in("sqlite", tmp_path / "workspace", monkeypatch) as opened:
        yield opened


def private_texts(workspace):
    """Return the longer private records."""
    frame = workspace.corpora.frame(workspace.corpora.all()[0].id)
    return [text for text in frame["text"] if len(text) > 60]


FAULTS = {
    "no numbers": lambda rows: packed_rows(np.full_like(rows, np.nan)),
    "one that is none": lambda rows: packed_rows(np.concatenate([rows[:-1], np.full_like(rows[-1:], np.inf)])),
    "fewer rows": lambda rows: packed_rows(rows[:-1]),
    "narrower rows": lambda rows: packed_rows(rows[:, :-1]),
    "rows of another length": lambda rows: packed_rows(rows * 3),
    "half a row": lambda rows: base64.b64encode(rows.tobytes()[:-6]).decode(),
    "no rows at all": lambda rows: "none",
}


def test_what_a_helper_makes_wrong_is_made_again(plain, monkeypatch):
    """Its results are sealed as the right ones are: it has the key, and a processor that fails."""
    expected, faults, texts = alone(plain, PRIVACY), list(FAULTS.values()), private_texts(plain)
    embed, measure, done = parts_ahead.embedded, parts_ahead.measured, []

    def make(self, asked):
        if parts_ahead.EMBED in asked:
            rows = unpacked_rows(embed(self._prepared, asked)[parts_ahead.ROWS], len(asked[parts_ahead.ROWS]))
            fault = faults[len(done) % len(faults)]
            done.append("rows")
            return {parts_ahead.ROWS: fault(rows)}
        made = measure(self._prepared, asked)
        done.append("parts")
        for name in made[parts_ahead.PARTS]:
            bad = keeping.Kept(Part(), vectors={("train", "r-1"): np.full(384, np.nan, np.float32)})
            self._shelf._files.write(name, (b"no part", keeping.pack(bad))[len(done) % 2])
        if len(done) % 3 == 0:
            return {parts_ahead.PARTS: ["another"]}
        if len(done) % 5 == 0:
            raise ValueError(texts[0])
        return made

    monkeypatch.setattr(examining.Examining, "_make", make)
    task = taken(plain, True, PRIVACY)
    with helpers(plain, ("h0", "h1"), failing=True) as (_, said):
        examine.run(task)
    end(plain, task)
    assert done.count("rows") >= 3
    assert done.count("parts") >= 2
    assert not any(text[:40] in step for text in texts for step in said)
    same(outcome(plain), expected)
    for path in plain.folder.path.rglob("*kept.safetensors"):
        from safetensors.numpy import load_file

        assert np.isfinite(load_file(path)["rows"]).all()
    assert (left_over(plain), kept_files(plain)) == ([0, 0], [])


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_faulty_rows_are_told(fault):
    rows = np.eye(4, 8, dtype=np.float32)
    assert parts_ahead.are_rows(packed_rows(rows), 4, 8)
    assert not parts_ahead.are_rows(fault(rows), 4, 8)
    assert not parts_ahead.are_rows(None, 4, 8)


@pytest.mark.parametrize(
    "ended", [True, pytest.param(False, marks=pytest.mark.slow)], ids=["after the end", "just before it"]
)
def test_what_comes_when_the_examination_is_over_does_not_stay(plain, monkeypatch, ended):
    """The helper's lease ran out while it measured; another measured the part, and the examination ended."""
    put, over, late = examining.HelperShelf.put, threading.Event(), []

    def put_late(self, key, content):
        if not late:
            late.append(key)
            with plain.session.db.brief() as connection:
                queue.leave(connection, "h0")
            assert over.wait(120)
            monkeypatch.setattr(examining.HelperShelf, "_there", there)
        put(self, key, content)

    looks = []

    def there(self):  # it ends between the first look and the writing
        looks.append(kept_files(plain))
        return True

    real = examining.HelperShelf._ended
    monkeypatch.setattr(examining.HelperShelf, "_ended", lambda self: len(looks) > 1 and real(self))
    monkeypatch.setattr(examining.HelperShelf, "put", put_late)
    expected = None
    task = taken(plain, True, PRIVACY)
    with helpers(plain, ("h0",), failing=True):
        examine.run(task)
        if ended:
            end(plain, task)
        assert late
        assert kept_files(plain) == []
        expected = outcome(plain)
        over.set()
        deadline = time.monotonic() + 60
        while len(looks) < 2 and time.monotonic() < deadline:
            time.sleep(0.02)
    assert [path.stem for path in looks[1]] == late, "it was written"
    assert kept_files(plain) == []
    assert left_over(plain)[0] == 0
    same(outcome(plain), expected)


def at(monkeypatch, owner, name, number=1, *, before=False):
    """Have the process killed at the call of something, of which it is the first, second ...; True once it was."""
    whole, calls = getattr(owner, name), []
    main = threading.current_thread()

    def call(*arguments, **named):
        if threading.current_thread() is not main:
            return whole(*arguments, **named)
        calls.append(1)
        mine = len(calls)  # it may call itself
        if before and mine == number:
            raise Killed
        found = whole(*arguments, **named)
        if mine == number:
            raise Killed
        return found

    monkeypatch.setattr(owner, name, call)


STAGES = {
    "before anything was laid": lambda patch: at(patch, store_shards, "lay", before=True),
    "embedding was laid": lambda patch: at(patch, store_shards, "lay"),
    "some were embedded": lambda patch: at(patch, kept_embeddings.KeptEmbeddings, "learn", 3),
    "all were embedded": lambda patch: at(patch, kept_embeddings.KeptEmbeddings, "keep"),
    "near-copies were kept": lambda patch: at(patch, kept_parts.PartFiles, "write"),
    "parts were laid": lambda patch: at(patch, store_shards, "lay", 2),
    "some parts were found": lambda patch: at(patch, PartShelf, "found", 4),
    "all parts were there": lambda patch: at(patch, examinations.Examinations, "save_tables", before=True),
    "findings were told": lambda patch: at(patch, PartShelf, "remove", before=True),
}


@pytest.mark.timeout(900)
def test_a_coordinator_killed_at_any_stage_changes_no_finding(workspace, monkeypatch):
    expected = alone(workspace, PRIVACY)
    for number, kill in enumerate(STAGES.values()):
        first, second = f"w{number}a", f"w{number}b"
        task = taken(workspace, True, PRIVACY, worker=first)
        with monkeypatch.context() as patch, helpers(workspace, (f"h{number}",), failing=True):
            kill(patch)
            with suppress(Killed):
                examine.run(task)
                pytest.fail(f"never killed: {list(STAGES)[number]}")
        put_back(workspace, task)
        task = sharing.taken(workspace, True, worker=second)
        with monkeypatch.context() as patch, helpers(workspace, (f"g{number}",)):
            if number > list(STAGES).index("near-copies were kept"):
                patch.setattr("engine.corpus.text.near_duplicates.near_duplicate_pairs", None)  # found before the kill
            examine.run(task)
        end(workspace, task)
        same(outcome(workspace), expected)
        assert (left_over(workspace), kept_files(workspace)) == ([0, 0], []), list(STAGES)[number]
        forget(workspace)
    assert workspace.audit.verify()["ok"]
    assert workspace.ledger.verify()["ok"]


def test_a_workspace_that_is_moved_in_between_goes_on(workspace, tmp_path, monkeypatch):
    expected = alone(workspace, PRIVACY)
    task = taken(workspace, True, PRIVACY)
    with monkeypatch.context() as patch, helpers(workspace, ("h0",), failing=True):
        STAGES["some parts were found"](patch)
        with pytest.raises(Killed):
            examine.run(task)
    there = len(kept_files(workspace))
    assert there >= 4
    put_back(workspace, task)
    workspace.close()
    new = tmp_path / "elsewhere"
    shutil.move(workspace.folder.path, new)
    if keys.of(workspace.folder.path) is not None:
        keys.drop(workspace.folder.path)
        unlocking.unlock(new, header.passphrase(sharing.PASSPHRASE))
    opened = open_workspace(new, "tester")
    monkeypatch.setattr(opened.session, "_start_worker", None)
    try:
        task = sharing.taken(opened, True, worker="w2")
        assert len(kept_files(opened)) == there
        with helpers(opened, ("h1",)):
            examine.run(task)
        end(opened, task)
        same(outcome(opened), expected)
        assert (left_over(opened), kept_files(opened)) == ([0, 0], [])
        told_once(opened)
    finally:
        opened.close()
        keys.drop(new)


def test_one_run_is_examined_once_at_a_time(plain):
    first = plain.jobs.examine(the_run(plain), model_attacks=False)
    assert plain.jobs.examine(the_run(plain), utility=False) == first
    task = sharing.taken(plain, False)
    assert plain.jobs.examine(the_run(plain), privacy=False) == first == task.id
    plain.jobs.cancel(first)
    assert plain.jobs.examine(the_run(plain)) == first, "its worker and helpers are still at it"


@pytest.mark.slow
def test_two_runs_of_one_corpus_examined_at_once_find_what_they_find_alone(plain):
    expected = alone(plain, PRIVACY)
    (run,) = plain.runs.all()
    texts = plain.runs.synthetic_frame(run.id)["text"].tolist()
    other = examined.finished_run(plain, plain.corpora.get(run.corpus_id), texts[::-1])
    tasks, failed = [], []
    for worker, run_id in (("w1", run.id), ("w2", other)):
        with plain.session.db.write() as connection:
            queue.enqueue(connection, "examine", corpus_id=run.corpus_id, run_id=run_id, arguments=PRIVACY)
            queue.beat(connection, worker, worker)
            row = queue.claim(connection, "heavy", worker)
        tasks.append(sharing.task_of(plain, row, True))

    def do(task):
        try:
            examine.run(task)
        except Exception as error:  # noqa: BLE001  told below
            failed.append(error)

    with helpers(plain):
        doing = [threading.Thread(target=do, args=(task,)) for task in tasks]
        for one in doing:
            one.start()
        for one in doing:
            one.join()
    assert failed == []
    for task in tasks:
        end(plain, task)
    mine = next(task for task in tasks if task.run_id == run.id)
    findings = {task.run_id: {(f.name, f.reference): f.value for f in plain.examinations.findings(task.run_id)}
                for task in tasks}  # fmt: skip
    assert {(f["name"], f["reference"]): f["value"] for f in expected[0]} == {
        name: None if value != value else value for name, value in findings[mine.run_id].items()
    }  # fmt: skip
    assert findings[other].keys() == findings[run.id].keys()
    assert left_over(plain) == [0, 0]


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_two_workers_on_an_encrypted_workspace_leave_nothing_to_be_read(tmp_path, monkeypatch):
    """Looked at while they are at work and when both were killed: folder, log, and where temporary files go."""
    scratch = tmp_path / "tmp"
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    monkeypatch.setenv(slots.ENVIRONMENT, "2")
    monkeypatch.setattr(launch, "PAUSE_SECONDS", 0.0)
    with examined.kept_in(sharing.ENCRYPTED, tmp_path / "sealed", monkeypatch) as workspace:
        job, found = examination(workspace), set()
        for killed in (True, True, False):
            pid = begun(workspace, 2, job)
            found |= in_clear(workspace, scratch)
            if killed and pid:
                sharing.kill(pid)
                assert free(workspace.folder)
                found |= in_clear(workspace, scratch)
                workspace.jobs.ensure_worker()
        assert wait(workspace, job, seconds=300).state == "done"
        found |= in_clear(workspace, scratch)
        assert "slot:" not in workspace.folder.worker_log.read_text()
    assert found == set()
    assert [path for path in scratch.rglob("*") if path.is_file()] == []
    with examined.kept_in("sqlite", tmp_path / "plain", monkeypatch) as workspace:
        assert wait(workspace, examination(workspace), seconds=300).state == "done"
        told = in_clear(workspace, scratch)
    assert any(name.endswith(VECTORS) for name in told), "the search finds what is plain"
    assert any(not name.endswith(VECTORS) for name in told)


def examination(workspace):
    """Begin one; return its job."""
    job = workspace.jobs.examine(the_run(workspace), utility=False, model_attacks=False)
    workspace.jobs.ensure_worker()
    return job


def in_clear(workspace, scratch):
    """Return the files of a workspace and its worker in which a private text, or a vector of one, can be read."""
    texts = private_texts(workspace)[::8]
    vectors = ModelCache().embedder().embed(texts)
    rows = [row.astype("<f4").tobytes()[:48] for row in vectors]
    forms = [*rows, *(base64.b64encode(row) for row in rows)]
    found = {*readable(workspace.folder.path, tuple(texts)), *readable(scratch, tuple(texts))}
    for file in (*workspace.folder.path.rglob("*"), *scratch.rglob("*")):
        with suppress(FileNotFoundError):  # it was one on its way
            data = file.read_bytes() if file.is_file() else b""
            found |= {f"{file.name}{VECTORS}"} if any(form in data for form in forms) else set()
    return found
