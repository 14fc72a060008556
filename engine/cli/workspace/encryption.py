"""The verbs of encryption at rest: encrypt, decrypt, rekey.

Privacy posture: passphrases are typed without being shown, or come as lines of standard input; none is an argument.
"""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path

from engine.at_rest import header
from engine.at_rest.header import Secret
from engine.at_rest.unlocking import ENVIRONMENT
from engine.cli.arguments import Argument
from engine.cli.terminal import asked, say, unlock
from engine.errors import UserError

OUTSIDE = (
    "What it does not cover: the memory of a running program, swap, and copies made before. Keep the passphrase or key "
    "file apart: without it nobody can read the workspace."
)
REKEY: list[Argument] = [
    (
        ("--new-key-file",),
        {"type": Path, "metavar": "FILE", "help": "open with this key file from now on, made where there is none"},
    ),
    (("--new-passphrase",), {"action": "store_true", "help": "open with a passphrase from now on; it is asked for"}),
]


def encrypt(options: Namespace) -> Mapping[str, object]:
    """Encrypt the workspace, or begin a new one encrypted."""
    from engine.store.disk.encryption import encryption

    if encryption.state(options.workspace) == "encrypted":
        raise UserError("The workspace is encrypted already. To change what opens it, run `rekey`.")
    secret = _new(options.key_file, options.workspace)
    _stop_worker(options.workspace)
    path = encryption.encrypt(secret, options.workspace, "command line")
    say(f"The workspace is encrypted and opens with its {secret.by}. {OUTSIDE}")
    return {"workspace": str(path), "state": "encrypted", "opens_with": secret.by}


def decrypt(options: Namespace) -> Mapping[str, object]:
    """Make the workspace a plain one again."""
    from engine.store.disk.encryption import encryption

    encryption.state(options.workspace)
    unlock(options)
    _stop_worker(options.workspace)
    path = encryption.decrypt(options.workspace, "command line")
    say("The workspace is not encrypted any more.")
    return {"workspace": str(path), "state": "plain"}


def rekey(options: Namespace) -> Mapping[str, object]:
    """Change the passphrase or key file that opens the workspace."""
    from engine.store.disk.encryption import encryption

    if (options.new_key_file is None) == (not options.new_passphrase):
        raise UserError("rekey: say what opens the workspace from now on: --new-passphrase or --new-key-file FILE")
    encryption.state(options.workspace)
    unlock(options)
    secret = _new(options.new_key_file, options.workspace)
    generation = encryption.rekey(secret, options.workspace, "command line")
    say(
        "Whoever kept an earlier copy of the folder and its passphrase can still read that copy. To be rid of the old "
        "key altogether, run `decrypt`, then `encrypt`."
    )
    return {"state": "encrypted", "opens_with": secret.by, "generation": generation}


def secret_of_backup(options: Namespace) -> Secret | None:
    """Return what opens the backup that is to be restored, asked for where it is a passphrase; None for a plain one."""
    from engine.store.disk.backup import opened_by

    by = opened_by(options.file)
    if by is None:
        return None
    if by == "passphrase" and options.key_file is None:
        return header.passphrase(asked("Passphrase of the backup: "))
    file = options.key_file or os.environ.get(ENVIRONMENT, "").strip()
    if not file:
        raise UserError("This backup opens with a key file: name it with --key-file FILE.")
    return header.key_file(Path(file).expanduser())


def _stop_worker(workspace: Path | None) -> None:
    """Stop the workspace's worker: a conversion needs the workspace alone. Its jobs go on with the next worker."""
    from engine.jobs.worker.launch import stop_worker
    from engine.store import default_workspace_path
    from engine.store.disk.folder import Folder

    if stop_worker(Folder((workspace or default_workspace_path()).absolute())):
        say("The worker was stopped; unfinished jobs go on with the next one.")


def _new(file: Path | None, workspace: Path | None) -> Secret:
    from engine.store.disk.encryption import encryption

    if file is not None:
        return encryption.new_key_file(file, workspace)
    text = asked("New passphrase: ")
    secret = header.passphrase(text, new=True)
    if asked("The same once more: ") != text:
        raise UserError("passphrase: the two differ; nothing was changed")
    return secret
