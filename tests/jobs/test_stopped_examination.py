"""An examination that is stopped keeps its finished parts, goes on with them to the same findings, and has looked."""

from __future__ import annotations

import math
import os
import shutil
import signal
import subprocess
import sys

import pandas as pd
import pytest
from sqlalchemy import select, update

from engine.corpus.columns.mapping import ColumnMapping
from engine.corpus.samples import load_sample
from engine.errors import UserError
from engine.examine.registry import EXAMINATIONS, LAST, USEFULNESS
from engine.jobs.models.cache import ModelCache
from engine.jobs.tasks import examine
from engine.jobs.worker.task import Stopped, Task
from engine.pii.detect.settings import DetectorSettings
from engine.store import queue
from engine.store.database.schema import jobs, synthetic
from engine.store.disk.backup import restore
from engine.store.rows import job_of
from engine.store.runs import kept_parts, seen
from engine.store.store import Store
from tests.jobs.conftest import wait
from tests.store.making import finished_run, made_with

MAPPING = ColumnMapping(text="text", record_id="record_id", source_id="source_id", label="label", spans="spans")
KNOWN = {one.key for one in (*EXAMINATIONS, *LAST, *USEFULNESS)} | {"lengths", "metrics"}
PARTS = 34  # of a whole examination
PLACES = ["x", "y", "tsne_x", "tsne_y"]
MODELS = ModelCache()


@pytest.fixture(scope="module", autouse=True)
def threads_of_a_worker():
    """Compute with as many threads as a worker begins with, whatever an earlier test left.

    Texts are embedded in bfloat16, and another number of threads adds in another order: cosines differ by 1e-5.
    """
    import torch

    before = torch.get_num_threads()
    asked = [sys.executable, "-c", "import torch; print(torch.get_num_threads())"]
    torch.set_num_threads(int(subprocess.run(asked, capture_output=True, text=True, check=True).stdout))
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Return a workspace folder with a reviewed corpus and a run that leaks some of it."""
    path = tmp_path_factory.mktemp("whole") / "workspace"
    store = Store(path, actor="tester")
    records = load_sample("support_tickets").head(80)
    corpus = store.corpora.import_table(records, MAPPING, name="Tickets", unit="source", holdout=0.3)
    store.review.use_gold(corpus.id)
    train = store.corpora.frame(corpus.id).query("split == 'train'")["text"].tolist()
    texts = [f"{text[:120]} The matter was settled on the phone, number {i}." for i, text in enumerate(train[:16])]
    finished_run(store, corpus, texts)
    store.close()
    return path


@pytest.fixture
def store(whole, tmp_path):
    """Return a copy of that workspace, opened; nothing starts a worker."""
    shutil.copytree(whole, tmp_path / "workspace")
    opened = Store(tmp_path / "workspace", actor="tester")
    yield opened
    opened.close()


def the_run(store):
    return store.runs.all()[0].id


def kept_files(store):
    """Return the files of whole parts; not one that a process was writing when it was killed."""
    return [path for path in all_files(store) if not path.name.startswith(".")]


def all_files(store):
    return sorted(kept_parts.folder(store.session, the_run(store)).glob("*"))


def job_for(store, settings):
    run = store.runs.all()[0]
    with store.session.db.write() as connection:
        queue.enqueue(connection, "examine", corpus_id=run.corpus_id, run_id=run.id, arguments=settings)
        return queue.claim(connection, "heavy")


def worked(store, *, parts=None, settings=None):
    """Do an examination as the worker does, up to so many kept parts; return the keys of the parts that were begun."""
    asked = {"privacy": True, "utility": True, "model_attacks": False} | (settings or {})
    row = job_for(store, asked)
    begun = []
    task = Task(store, row, MODELS, lambda: parts is not None and len(kept_files(store)) >= parts)
    tell = task.begin
    task.begin = lambda key: (begun.append(key), tell(key))
    try:
        examine.run(task)
        ended = "done"
    except Stopped:
        ended = "cancelled"
    with store.session.db.write() as connection:
        queue.finish(connection, row.id, ended)
    assert ended == ("done" if parts is None else "cancelled")
    return begun


def outcome(store):
    """Return findings, tables and risks; but for how long each part took."""
    run_id = the_run(store)
    findings = [
        {**found.as_dict(), "value": None if math.isnan(found.value) else found.value}
        for found in store.examinations.findings(run_id)
    ]
    tables = {name: store.examinations.table(run_id, name) for name in store.examinations.tables(run_id)}
    tables["parts"] = tables["parts"].drop(columns="seconds")
    return findings, tables, store.runs.synthetic_frame(run_id)["risk"].tolist()


def same(ours, theirs, *, here=True):
    """Compare outcomes, to the last digit where both were measured `here`.

    Threads of another process add in another order: a number's last digits may shift there, and places on the map do.
    """
    if not here:
        ours, theirs = (
            [one[0], one[1] | {"map": one[1]["map"].drop(columns=PLACES)}, one[2]] for one in (ours, theirs)
        )
    assert len(ours[0]) == len(theirs[0])
    for mine, other in zip(ours[0], theirs[0], strict=True):
        assert mine == other if here else alike(mine, other)
    assert ours[1].keys() == theirs[1].keys()
    for name, table in ours[1].items():
        pd.testing.assert_frame_equal(
            table, theirs[1][name], check_exact=here, rtol=1e-9, atol=1e-12, obj=name
        )  # fmt: skip
    assert ours[2] == theirs[2]


def alike(mine, other):
    """Say whether two findings are equal but for the last digits of their numbers."""
    if isinstance(mine, dict):
        return mine.keys() == other.keys() and all(alike(value, other[key]) for key, value in mine.items())
    if isinstance(mine, list | tuple):
        return len(mine) == len(other) and all(map(alike, mine, other))
    return math.isclose(mine, other, rel_tol=1e-9, abs_tol=1e-12) if isinstance(mine, float) else mine == other


@pytest.fixture(scope="module")
def uninterrupted(whole, tmp_path_factory):
    path = tmp_path_factory.mktemp("uninterrupted") / "workspace"
    shutil.copytree(whole, path)
    store = Store(path, actor="tester")
    worked(store)
    assert all_files(store) == [], "a finished examination leaves its parts in its own tables alone"
    found = outcome(store)
    store.close()
    return found


@pytest.mark.slow
@pytest.mark.parametrize("stops", [[1, 6, 8, 11, 19, 23, 26], [14, 30]], ids=str)
def test_one_that_goes_on_finds_the_same_and_measures_only_what_is_missing(store, uninterrupted, stops):
    measured = []
    for number in stops:
        measured += worked(store, parts=number)[1:]  # the first is reading the words, each time
        assert len(kept_files(store)) == number
        assert store.examinations.findings(the_run(store)) == [], "nothing is told of a half examination"
        kept = store.examinations.stopped(the_run(store))
        assert kept is not None
        assert (kept.kept, kept.parts) == (number, PARTS)
        measured = measured[: len(measured) - 1] if len(measured) > number else measured  # one was cut off
        assert len(measured) == number
    rest = worked(store)[1:]
    assert not set(rest) & set(measured)
    assert {*rest, *measured} == KNOWN | {"map"}
    same(outcome(store), uninterrupted)
    assert kept_files(store) == []
    assert store.examinations.stopped(the_run(store)) is None


def decide(store):
    run = store.runs.all()[0]
    spans = store.review.spans(run.corpus_id, store.corpora.frame(run.corpus_id)["record_id"].iloc[0])
    store.review.decide(run.corpus_id, [spans[0].span_id], "reject")


def other_text(store):
    with store.session.db.write() as connection:
        connection.execute(update(synthetic).where(synthetic.c.position == 3).values(text="Another text."))
    made_with(store.session, the_run(store))


CHANGES = {
    "a decision on a span": decide,
    "an approval": lambda store: store.runs.approve(the_run(store), ["s-000001"], "rejected"),
    "the detector's settings": lambda store: store.review.set_detector_settings(
        store.runs.all()[0].corpus_id, DetectorSettings(deny=("phone",))
    ),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_kept_parts_are_void_when_what_they_describe_changes(store, change):
    worked(store, parts=3)
    assert store.examinations.stopped(the_run(store)) is not None
    change(store)
    assert store.examinations.stopped(the_run(store)) is None, "the page would offer what is void"
    before = {path: path.stat().st_mtime_ns for path in kept_files(store)}
    assert worked(store, parts=3)[1:4] == ["strict", "leaks", "labels"], "a void part was taken"
    assert all(path.stat().st_mtime_ns > before[path] for path in kept_files(store))


@pytest.mark.parametrize(
    "change",
    [{"settings": {"tuned_classifier": True}}, {"settings": {"utility": False}}, {"change": other_text}],
    ids=["another classifier", "one half", "another text"],
)
def test_parts_of_other_settings_or_records_are_not_taken(store, change):
    worked(store, parts=2)
    change.get("change", lambda store: None)(store)
    assert worked(store, parts=2, settings=change.get("settings"))[1:3] == ["strict", "leaks"]


def test_one_that_goes_on_tells_of_the_whole(store):
    worked(store, parts=3)
    worked(store, parts=5)
    with store.session.db.read() as connection:
        first, second = connection.execute(select(jobs.c.whole).order_by(jobs.c.seq)).scalars().all()[-2:]
    assert (first["began"], second["parts"]) == (0.0, PARTS)
    assert 0.0 < second["began"] <= second["fraction"], "it said that nothing was done yet"


def test_parts_that_are_damaged_or_of_another_part_are_measured_again(store):
    worked(store, parts=4)
    labels, leaks, originals, strict = kept_files(store)
    whole = leaks.read_bytes()
    leaks.write_bytes(whole[:-9] + bytes([whole[-9] ^ 1]) + whole[-8:])
    strict.write_bytes(originals.read_bytes())
    labels.write_bytes(labels.read_bytes()[: labels.stat().st_size // 2])
    (labels.parent / ".left.123.abcdef012345.part").write_bytes(b"half a part")
    assert worked(store, parts=4)[1:4] == ["strict", "leaks", "labels"]
    assert [path.stem for path in kept_files(store)] == ["labels", "leaks", "originals", "strict"]


def test_a_half_examination_has_looked_at_private_records(store):
    run_id = the_run(store)
    with store.session.db.read() as connection:
        assert not seen.looked_at(connection, run_id)
    worked(store, parts=1)
    assert store.runs.get(run_id).examined_at is None
    with store.session.db.read() as connection:
        assert seen.looked_at(connection, run_id)
    gate = store.releases.gate(run_id, "proof", signed_off_by="Grace")
    said = f"This run was examined in part (1 of {PARTS}); “Proof alone” takes one that nobody looked at."
    assert said in [rule.sentence for rule in gate.open_rules()]
    found = store.examinations.in_part(run_id)
    assert found is not None
    assert (found.kept, found.parts) == (1, PARTS)
    twin = finished_run(store, store.corpora.all()[0], store.runs.synthetic_frame(run_id)["text"].tolist())
    store.runs.delete(run_id)
    with store.session.db.read() as connection:
        assert seen.elsewhere(connection, store.session.key, twin), "its text was looked at, whoever has it now"
    lines = store.ledger.of(store.corpora.all()[0].id).lines
    assert list(lines[lines["run_id"] == run_id]["what"]) == ["examination in part"]
    assert list(store.audit.lines()["action"]).count("run examined in part") == 1


def test_kept_parts_go_with_the_run_stay_out_of_backups_and_their_names_tell_nothing(store, tmp_path):
    worked(store, parts=7)
    files = kept_files(store)
    assert {path.stem for path in files} <= KNOWN
    assert all(path.suffix == ".kept" and path.stat().st_mode & 0o077 == 0 for path in files)
    store.disk.backup(tmp_path / "backup.zip")
    other = Store(restore(tmp_path / "backup.zip", tmp_path / "restored"))
    assert kept_files(other) == []
    assert other.examinations.stopped(the_run(other)) is None, "nothing is there to go on with"
    other.close()
    folder = files[0].parent
    store.corpora.delete(store.corpora.all()[0].id)
    assert not folder.exists()


def test_a_run_that_is_deleted_while_a_part_ends_leaves_nothing(store):
    run_id = the_run(store)
    row = job_for(store, {"privacy": True, "utility": False, "model_attacks": False})
    task = Task(store, row, MODELS, lambda: False)
    tell = task.begin

    def begin(key):
        tell(key)
        if key == "leaks":
            store.runs.delete(run_id)

    task.begin = begin
    with pytest.raises(Stopped):
        examine.run(task)
    assert not store.folder.run(run_id).exists()


@pytest.mark.slow
def test_a_worker_that_is_killed_goes_on_with_the_parts_that_were_kept(whole, uninterrupted, tmp_path):
    from engine.workspace import open_workspace

    shutil.copytree(whole, tmp_path / "workspace")
    workspace = open_workspace(tmp_path / "workspace", "tester")
    try:
        run_id = the_run(workspace)
        with pytest.raises(UserError, match="nothing is kept"):
            workspace.jobs.continue_examination(run_id)
        job = workspace.jobs.examine(run_id, model_attacks=False)
        wait_for_parts(workspace, job, 5)
        os.kill(int(workspace.jobs.worker_status()["pid"]), signal.SIGKILL)
        before = {path.name: path.stat().st_mtime_ns for path in kept_files(workspace)}
        wait_for_parts(workspace, job, len(before) + 2)
        again = {path.name: path.stat().st_mtime_ns for path in kept_files(workspace)}
        assert {name: again[name] for name in before} == before, "a kept part was measured again"
        workspace.jobs.cancel(job)
        assert wait(workspace, job, seconds=120).state == "cancelled"
        assert workspace.examinations.stopped(run_id).kept >= len(again)
        assert wait(workspace, workspace.jobs.continue_examination(run_id), seconds=240).state == "done"
        same(outcome(workspace), uninterrupted, here=False)
        with workspace.session.db.read() as connection:
            assert {job_of(row).arguments["model_attacks"] for row in connection.execute(jobs.select())
                    if row.kind == "examine"} == {False}  # fmt: skip
    finally:
        workspace.jobs.stop_worker()
        workspace.close()


def wait_for_parts(workspace, job, number):
    import time

    deadline = time.monotonic() + 240
    while len(kept_files(workspace)) < number:
        assert time.monotonic() < deadline
        assert workspace.jobs.get(job).state in ("queued", "running")
        time.sleep(0.05)
