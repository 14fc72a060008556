"""A process in the place of the web process: holds a workspace and polls its jobs, which keeps a worker alive."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from engine.jobs import launch
from engine.workspace import open_workspace
from tests.jobs import slow_method


def worker_command(folder):
    """Return the command of a worker that knows the slow method."""
    return [sys.executable, "-m", "tests.jobs.slow_method", "--workspace", str(folder.path), "--idle-seconds", "60"]


if __name__ == "__main__":
    slow_method.register()
    launch.worker_command = worker_command
    workspace = open_workspace(Path(sys.argv[1]), "web")
    print("ready", flush=True)
    while True:
        workspace.jobs()
        time.sleep(0.1)
