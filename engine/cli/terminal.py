"""What every verb of the command line needs: the workspace, settings from `k=v`, a line to the person, a job's end."""

from __future__ import annotations

import getpass
import json
import os
import sys
import time
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from engine.cli.named import resolve
from engine.errors import StorageError, UnderstudyError, UserError
from engine.json_types import JSON

if TYPE_CHECKING:
    from engine.workspace import Workspace

_POLL_SECONDS = 0.2


def say(message: str) -> None:
    """Write one line for the person at the terminal."""
    print(message, file=sys.stderr, flush=True)  # noqa: T201


def opened(options: Namespace) -> Workspace:
    """Return the workspace that the options name; names of corpora and runs among them become ids."""
    from engine import open_workspace

    unlock(options)
    workspace = open_workspace(options.workspace, "command line")
    resolve(workspace, options)
    return workspace


def unlock(options: Namespace) -> None:
    """Unlock the workspace that the options name, where it is encrypted: by key file, else by passphrase.

    Raises:
        UserError: the key file or passphrase is not that of the workspace, or none can be asked for.
    """
    from engine.at_rest import header, unlocking
    from engine.store import default_workspace_path

    path = options.workspace or default_workspace_path()
    found = unlocking.locked(path)
    if found is None:
        return
    if options.key_file is not None:
        unlocking.unlock(path, header.key_file(options.key_file))
    elif not unlocking.unlock_from_environment(path):
        if found.by != "passphrase":
            header.demand(path)
        unlocking.unlock(path, header.passphrase(asked("Passphrase of the workspace: ")))


def asked(question: str) -> str:
    """Return a line that a person types without being shown; without a terminal, the next line of standard input.

    Raises:
        UserError: there is none.
    """
    if sys.stdin is not None and sys.stdin.isatty():
        try:
            return getpass.getpass(question)
        except EOFError:
            raise UserError("passphrase: none was typed") from None
    line = sys.stdin.readline() if sys.stdin is not None else ""
    if not line:
        raise UserError("passphrase: there is no terminal to ask at; send it as a line of standard input")
    return line.removesuffix("\n").removesuffix("\r")


def parse_settings(pairs: list[str]) -> dict[str, JSON]:
    """Return `k=v` pairs as a mapping; a value is JSON where it parses as JSON, else a string.

    Raises:
        UserError: a pair has no `=`.
    """
    settings: dict[str, JSON] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise UserError(f"--set {pair!r} is not of the form name=value")
        try:
            settings[key] = json.loads(value)
        except json.JSONDecodeError:
            settings[key] = value
    return settings


def write_new(path: Path, data: bytes, mode: int = 0o666) -> None:
    """Write a file that is not there yet, with these permissions at most.

    Raises:
        UserError: there is a file of this name.
        StorageError: it cannot be written.
    """
    try:
        with open(path, "xb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
            file.write(data)
    except FileExistsError:
        raise UserError(f"out: {path.name} exists already; name a file that does not") from None
    except OSError as error:
        raise StorageError(f"out: {path.name} cannot be written: {error.strerror or 'unknown reason'}") from error


def wait_for(workspace: Workspace, job_id: str) -> None:
    """Block until the job ends, writing progress.

    Raises:
        UnderstudyError: the job failed; the message is the job's.
        UserError: the job was cancelled.
    """
    shown = ""
    while True:
        job = workspace.jobs.get(job_id)
        left = f", about {job.seconds_left:.0f} s left" if job.seconds_left else ""
        line = f"{job.kind}: {job.stage or job.state} {job.done}/{job.total}"
        if line != shown:
            say(line + left)
            shown = line
        if job.state == "done":
            return
        if job.state == "failed":
            raise UnderstudyError(job.error or "the job failed")
        if job.state == "cancelled":
            raise UserError("the job was cancelled")
        time.sleep(_POLL_SECONDS)
