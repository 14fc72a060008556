"""The product's own worker and a real method, killed (SIGKILL) in the middle."""

import os
import random
import signal
import time

import pytest

from engine.corpus.mapping import ColumnMapping
from engine.corpus.samples import generate
from engine.workspace import open_workspace
from tests.crash.test_kills import done, table
from tests.jobs.conftest import wait

MAPPING = ColumnMapping(
    text="text", record_id="record_id", source_id="source_id", label="label", keep=(), spans="spans"
)


@pytest.mark.parametrize("kills", [2, pytest.param(8, marks=[pytest.mark.slow, pytest.mark.timeout(900)])])
def test_a_killed_surrogate_run_equals_an_undisturbed_one(tmp_path, kills):
    workspace = open_workspace(tmp_path / "workspace", "tester")
    letters = generate("support_tickets", 600 * kills, 5)
    corpus = workspace.import_table(letters, MAPPING, name="Tickets", unit="source", cap=50)
    workspace.use_gold(corpus.id)
    try:
        whole = workspace.synthesize(corpus.id, "surrogate", seed=4)
        assert wait(workspace, workspace.run(whole).job_id, seconds=120).state == "done"
        killed = workspace.synthesize(corpus.id, "surrogate", seed=4)
        job_id, rng, hits = workspace.run(killed).job_id, random.Random(3), 0
        count = workspace.run(killed).count
        for amount in sorted(rng.sample(range(1, count - 128), kills)):
            deadline = time.monotonic() + 60
            while done(workspace, job_id)[0] < amount and done(workspace, job_id)[1] != "done":
                assert time.monotonic() < deadline
                workspace.ensure_worker()
            pid = workspace.worker_status()["pid"]
            if pid is not None and done(workspace, job_id)[1] != "done":
                os.kill(pid, signal.SIGKILL)
                hits += 1
        assert wait(workspace, job_id, seconds=120).state == "done"
        assert hits >= 1
        assert table(workspace, killed) == table(workspace, whole)
    finally:
        workspace.stop_worker()
        workspace.close()
