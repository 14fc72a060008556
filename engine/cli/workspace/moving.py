"""The verb that moves a workspace, `workspace copy FROM TO`, or lets another machine in: `workspace join FROM TO`.

Privacy posture: prints counts and the folder; an address of a database is never printed.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from engine.cli.arguments import Argument
from engine.cli.terminal import say
from engine.errors import UserError

ARGUMENTS: list[Argument] = [
    (
        ("what",),
        {
            "choices": ["copy", "join"],
            "help": "copy: the workspace, check its chains there, close the old one; join: make another machine's "
            "folder of a workspace whose workspace.toml names a database and a place of blobs",
        },
    ),
    (("source",), {"metavar": "FROM", "help": "folder of the workspace"}),
    (("target",), {"metavar": "TO", "help": "new folder, or postgresql://USER@HOST/NAME?folder=FOLDER"}),
    (
        ("--keep",),
        {"action": "store_true", "help": "leave the old one open too; the new ledger says that its spends are unknown"},
    ),
]


def workspace(options: Namespace) -> Mapping[str, object]:
    """Move a workspace to another folder and another database."""
    from engine.store.disk.address import workspace_folder
    from engine.store.disk.moving import copy_workspace, join_workspace

    if options.what == "join":
        if options.keep:
            raise UserError("workspace join: --keep goes with copy; both folders stay open anyway")
        joined = join_workspace(Path(options.source).expanduser(), Path(options.target).expanduser())
        say("The new folder holds the key of the workspace. Carry it as you would the workspace itself.")
        return {"workspace": str(joined)}
    source, target = workspace_folder(options.source), workspace_folder(options.target)
    copied = copy_workspace(source, target, keep=options.keep)
    if not options.keep:
        say("The old workspace is closed: its key and database end in .moved. Delete its folder once all is well.")
        if copied.elsewhere:
            say(f"What it kept elsewhere stays: delete the folder {copied.elsewhere} below the URL of its blobs too.")
    return {"workspace": str(target), **asdict(copied)}
