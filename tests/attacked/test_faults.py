"""Faults of the machine under it: a full disk, a clock that goes backwards, a checkpoint that was half written.

The disk is a real file system of a few megabytes, in a mount namespace of its own; the clock is that of each process.
Others stand elsewhere: a read-only root (`tests/door/test_read_only.py`), a read-only folder and a full database
(`tests/store/disk/test_folder.py`), corrupt Parquet (`tests/store/test_damaged_tables.py`), damaged kept parts
(`tests/jobs/test_stopped_examination.py`).
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from engine.release import verify
from engine.store.logs.check import check_logs
from engine.store.store import Store
from tests.door.test_read_only import isolated
from tests.jobs.conftest import ROOT, idle_seconds, wait, workspace
from tests.jobs.test_scratch import trained, training
from tests.jobs.test_training_runs import lines, small, started
from tests.store.conftest import MAPPING, made_up
from tests.store.making import examine, finding

__all__ = ["idle_seconds", "small", "training", "workspace"]
COMPILER = shutil.which("cc") or ""
CLOCK = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
static long back(void) { char *s = getenv("BACK_SECONDS"); return s ? atol(s) : 0; }
int clock_gettime(clockid_t which, struct timespec *at) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int done = real(which, at);
    if (!done && which == CLOCK_REALTIME) at->tv_sec -= back();
    return done;
}
int gettimeofday(struct timeval *at, void *zone) {
    struct timespec now; int done = clock_gettime(CLOCK_REALTIME, &now);
    at->tv_sec = now.tv_sec; at->tv_usec = now.tv_nsec / 1000; return done;
}
time_t time(time_t *at) {
    struct timespec now; clock_gettime(CLOCK_REALTIME, &now);
    if (at) *at = now.tv_sec;
    return now.tv_sec;
}
"""
FILLED = """
import errno, os, sys
from pathlib import Path
from engine.errors import StorageError, UnderstudyError
from engine.store.logs.check import check_logs
from engine.store.store import Store
from tests.store.conftest import MAPPING, made_up
from tests.store.making import finished_run
place = Path(sys.argv[1])
store = Store(place / "w", actor="tester")
first = store.corpora.import_table(made_up(), MAPPING, name="First", holdout=0.25)
store.review.use_gold(first.id)
refused = []
filler = (place / "filler").open("wb", buffering=0)
for size in (1 << 16, 1 << 12, 256):
    while True:
        try:
            filler.write(b"x" * size)
        except OSError as error:
            assert error.errno == errno.ENOSPC
            break
for act in (
    lambda: store.corpora.import_table(made_up(4000, first=1000), MAPPING, name="Second", holdout=0.25),
    lambda: store.disk.backup(place / "backup.zip"),
    lambda: finished_run(store, first, ["An output. " * 4000 for _ in range(40)]),
    lambda: store.corpora.import_table(made_up(4000, first=9000), MAPPING, name="Third", holdout=0.25),
):
    try:
        act()
    except UnderstudyError as error:
        refused.append(str(error))
os.unlink(place / "filler"); filler.close()
store.close()
store = Store(place / "w", actor="tester")
assert {one.name for one in store.corpora.all()} == {"First"}, store.corpora.all()
assert store.session.strangers() == []
assert sorted(p.name for p in place.iterdir()) == ["w"], list(place.iterdir())
assert check_logs(place / "w").broken == ()
store.corpora.import_table(made_up(50, first=1000), MAPPING, name="Second", holdout=0.25)
assert check_logs(place / "w").broken == ()
print(len(refused)); print("\\n".join(refused))
"""


@pytest.mark.skipif(bool(isolated()), reason=isolated())
def test_a_full_disk_is_said_and_leaves_what_was_there(tmp_path):
    place = tmp_path / "small"
    place.mkdir()
    script = tmp_path / "fill.py"
    script.write_text(FILLED)
    mounted = 'mount -t tmpfs -o size=6m tmpfs "$1" && exec "$2" "$3" "$1"'
    done = subprocess.run(
        ["unshare", "-m", "--propagation", "private", "sh", "-c", mounted, "sh", place, sys.executable, script],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=240,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
    count, *said = done.stdout.strip().split("\n")
    assert int(count) >= 3, said
    assert all("full" in one for one in said), said


def at(path: Path, days: int, *words: object, expect: int = 0) -> dict[str, object]:
    """Run a verb in a process whose clock is so many days behind."""
    library = path.parent / "clock.so"
    if not library.exists():
        (path.parent / "clock.c").write_text(CLOCK)
        subprocess.run([COMPILER, "-shared", "-fPIC", "-o", library, path.parent / "clock.c", "-ldl"], check=True)
    environment = {**os.environ, "LD_PRELOAD": str(library), "BACK_SECONDS": str(days * 86_400)}
    done = subprocess.run(
        [sys.executable, "-m", "engine", "--workspace", str(path), *map(str, words)], cwd=ROOT, env=environment,
        capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert done.returncode == expect, done.stdout + done.stderr
    return json.loads(done.stdout) if done.stdout.strip() else {}


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.skipif(not COMPILER or sys.platform != "linux", reason="needs a C compiler on Linux")
def test_a_clock_that_goes_backwards_changes_no_record_and_breaks_no_log(tmp_path):
    """Each step a year or two before the one behind it: logs hold, the run is made, leaves and is withdrawn."""
    path = tmp_path / "workspace"
    store = Store(path, actor="tester")
    corpus = store.corpora.import_table(made_up(), MAPPING, name="Letters", holdout=0.25)
    store.review.use_gold(corpus.id)
    store.close()
    made = at(path, 400, "synthesize", corpus.id, "--method", "surrogate", "--seed", 3)
    assert made["state"] == "done"
    at(path, 0, "synthesize", corpus.id, "--method", "surrogate", "--seed", 3)
    store = Store(path, actor="tester")
    texts = [list(store.runs.synthetic_frame(run.id)["text"]) for run in store.runs.all()]
    assert texts[0] == texts[1]
    rules = store.releases.policy("exploratory").rules
    found = [finding(r.finding, 0.0, reference=n) for r in rules for n in (r.reference, r.above) if n]
    with store.session.db.read() as connection:
        revision = connection.exec_driver_sql("SELECT revision FROM corpora").scalar_one()
    examine(store, str(made["run"]), found, revision=revision)
    store.close()
    at(path, 800, "approve", made["run"])
    at(path, 1200, "ledger", corpus.id, "--set-limit", 4, 1e-5)
    bundle = tmp_path / "bundle"
    at(path, 1600, "release", made["run"], "--policy", "exploratory", "--out", bundle, "--accept-unbounded")
    assert verify(bundle)["ok"]
    store = Store(path, actor="tester")
    (release,) = store.releases.all()
    store.close()
    at(path, 2000, "revoke", release.id, "--reason", "It was made by mistake.")
    assert at(path, 2400, "audit", "--verify")["ok"]
    assert check_logs(path).broken == ()
    store = Store(path, actor="tester")
    lines = store.audit.lines(limit=1000).sort_values("seq")
    assert not lines["at"].is_monotonic_increasing, "the clock did go back"
    assert list(lines["seq"]) == list(range(1, len(lines) + 1))
    store.close()


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda data: data[: len(data) // 2], id="cut"),
        pytest.param(lambda data: b"", id="empty"),
        pytest.param(lambda data: b"\xff" * len(data), id="overwritten"),
        pytest.param(lambda data: data[:-3], id="end"),
    ],
)
def test_a_half_written_checkpoint_is_never_gone_on_from(training, damage):
    """Without noise the training begins anew, to the same end."""
    workspace, corpus_id = training
    whole, _ = trained(workspace, corpus_id, die=False)
    text = workspace.runs.synthetic(whole)["text"][0]
    run_id, job = trained(workspace, corpus_id, die=False, fail=True)
    assert job.state == "failed"
    kept = workspace.folder.scratch(run_id) / "net" / "epoch.safetensors"
    kept.write_bytes(damage(kept.read_bytes()))
    again = wait(workspace, workspace.jobs.resume(run_id), seconds=180)
    assert again.state == "done", again.error
    assert workspace.runs.synthetic(run_id)["text"][0] == text
    assert "Traceback" not in workspace.folder.worker_log.read_text()


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_half_written_checkpoint_of_a_paid_training_is_not_paid_or_drawn_again(workspace, small):
    """Its steps may have been seen, and cannot be made again under the same claim."""
    run_id, job_id = started(workspace, small, steps=24)
    deadline = time.monotonic() + 300
    while len(workspace.runs.diagnostics(run_id).get("training_losses", [])) < 3:
        assert time.monotonic() < deadline, workspace.folder.worker_log.read_text()
        time.sleep(0.02)
    os.kill(workspace.jobs.worker_status()["pid"], signal.SIGKILL)
    while workspace.jobs.worker_status()["alive"]:
        time.sleep(0.01)
    (kept,) = workspace.folder.scratch(run_id).rglob("training.safetensors")
    kept.write_bytes(kept.read_bytes()[:1000])
    workspace.jobs.ensure_worker()
    job = wait(workspace, job_id, seconds=300)
    assert job.state == "failed"
    assert "its budget is spent" in str(job.error)
    assert list(lines(workspace, small, run_id)["kind"]).count("spend") == 1
    assert workspace.audit.verify()["ok"]
