"""The verb `worker`: work on a workspace's jobs in this terminal, with as many workers as the machine is to have.

On a machine that shares the workspace's PostgreSQL, and its folder or its place of blobs, this is how it joins.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping

from engine.cli.arguments import Argument
from engine.cli.terminal import say, unlock
from engine.errors import StorageError, UserError

ARGUMENTS: list[Argument] = [
    (
        ("--workers",),
        {"type": int, "metavar": "N", "help": "workers on this machine that share a job (or UNDERSTUDY_WORKERS); 1"},
    ),
    (
        ("--idle-seconds",),
        {
            "type": float,
            "default": None,
            "metavar": "S",
            "help": "leave after so long without work; never unless given",
        },
    ),
]


def worker(options: Namespace) -> Mapping[str, object]:
    """Work until it is stopped, or idle for long enough."""
    from engine.cli.worker import main
    from engine.jobs.worker import slots
    from engine.jobs.worker.lock import ProcessLock
    from engine.store import default_workspace_path
    from engine.store.disk.folder import Folder

    count = slots.wanted() if options.workers is None else options.workers
    if not 1 <= count <= slots.MOST:
        raise UserError(f"--workers: must be from 1 to {slots.MOST}")
    path = (options.workspace or default_workspace_path()).absolute()
    if not path.is_dir():
        raise UserError("There is no workspace in this folder. Open it once, then start its worker.")
    if ProcessLock(Folder(path).worker_lock).held():
        raise UserError("A worker of this workspace is at work on this machine already.")
    unlock(options)
    idle = float("inf") if options.idle_seconds is None else options.idle_seconds
    say("The worker takes jobs until it is stopped with Ctrl-C; what it leaves unfinished the next one goes on with.")
    if main(["--workspace", str(path), slots.WORKERS, str(count), "--idle-seconds", str(idle)]):
        raise StorageError("The worker could not begin; the line above says why.")
    return {"workspace": str(path), "workers": count, "state": "ended"}
