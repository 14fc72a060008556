"""A workspace whose worker is a real process that also knows the slow method."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

import engine.methods
from engine.jobs.worker import launch
from engine.workspace import open_workspace
from tests.jobs import dp_method, slow_method
from tests.store.conftest import MAPPING, made_up

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 4.0  # times what a machine of two free cores needs: others are slower, or have other work


def wait(workspace, job_id, states=("done", "failed", "cancelled"), seconds=60.0, reach=None):
    """Poll a job until it is in one of the states, or has done `reach`, and return it; no test of speed."""
    deadline = time.monotonic() + seconds * PATIENCE
    while time.monotonic() < deadline:
        job = workspace.jobs.get(job_id)
        if job.state in states or (reach is not None and job.done >= reach):
            return job
        time.sleep(0.05)
    raise AssertionError(f"job still {workspace.jobs.get(job_id)}; log: {workspace.folder.worker_log.read_text()}")


def without_worker(workspace, monkeypatch):
    """Keep the workspace's worker from starting, and end the one that an import has started already."""
    monkeypatch.setattr(launch, "ensure_worker", lambda folder: False)
    workspace.jobs.stop_worker()


@pytest.fixture
def idle_seconds():
    """Return how long the worker waits before it leaves."""
    return 60.0


@pytest.fixture
def workspace(tmp_path, monkeypatch, idle_seconds):
    """Return an open workspace with the methods for tests; its worker is stopped at the end."""
    monkeypatch.setattr(engine.methods, "REGISTRY", (*engine.methods.REGISTRY, slow_method.ENTRY, *dp_method.ENTRIES))
    monkeypatch.setattr(
        launch,
        "worker_command",
        lambda folder: [
            sys.executable,
            "-m",
            "tests.jobs.dp_method",
            "--workspace",
            str(folder.path),
            "--idle-seconds",
            str(idle_seconds),
        ],
    )
    opened = open_workspace(tmp_path / "workspace", "tester")
    yield opened
    opened.jobs.stop_worker()
    opened.close()


@pytest.fixture
def corpus(workspace):
    """Return the made-up corpus, imported, with its gold spans chosen."""
    made = workspace.corpora.import_table(made_up(), MAPPING, name="Letters", holdout=0.25, labels_public=True)
    workspace.review.use_gold(made.id)
    return workspace.corpora.get(made.id)
