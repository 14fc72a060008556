"""The verbs `pool` and `pack`: text made elsewhere comes in, prompts for it go out.

Privacy posture: results hold names, counts and digests; never a text of a pool or a prompt.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from engine.cli.arguments import Argument
from engine.cli.terminal import opened, parse_settings, say, wait_for
from engine.errors import UserError
from engine.json_types import JSON
from engine.models.prompts.pack_formats import written

if TYPE_CHECKING:
    from engine.workspace import Workspace

POOL: list[Argument] = [
    (
        ("action",),
        {"nargs": "?", "choices": ("list", "import", "check", "delete"), "default": "list", "help": "list by default"},
    ),
    (("name",), {"nargs": "?", "help": "name of the pool"}),
    (("file",), {"nargs": "?", "type": Path, "help": "import: answers of a service, a table, or a .txt file"}),
    (("--origin",), {"default": "", "help": "import: where the texts are from, such as the model that wrote them"}),
    (("--licence",), {"default": "", "help": "import: what may be done with the texts"}),
    (
        ("--declare",),
        {"action": "store_true", "help": "import: declare that they were made without the private data here"},
    ),
    (("--text",), {"help": "import: column with the text"}),
    (("--label",), {"help": "import: column with the label; '' for none"}),
    (("--pack",), {"default": "", "help": "import: the prompt pack that they answer, where the file does not say so"}),
    (("--without-winners",), {"action": "store_true", "help": "import: leave the pack's winners out of the pool"}),
    (("--keep-unreadable",), {"action": "store_true", "help": "import: keep texts that say nothing"}),
    (("--drop-near",), {"action": "store_true", "help": "import: drop texts that nearly equal an earlier one"}),
    (("--corpus",), {"help": "check: compare the pool with this corpus; the ledger notes it"}),
]
PACK: list[Argument] = [
    (
        ("action",),
        {"nargs": "?", "choices": ("list", "show", "write", "file"), "default": "list", "help": "list by default"},
    ),
    (("pack",), {"nargs": "?", "help": "file: id of a logged pack"}),
    (("--run",), {"default": "", "help": "show, write: a finished dp-select run whose winners are varied"}),
    (
        ("--set",),
        {
            "action": "append",
            "default": [],
            "metavar": "k=v",
            "help": "show, write: words, such as topics=refunds;parcels",
        },
    ),
    (("--declare",), {"action": "store_true", "help": "write: declare that all of it may leave"}),
    (("--format",), {"default": "jsonl", "help": "write, file: openai, anthropic, gemini, jsonl or text"}),
    (("--for-model",), {"default": "", "help": "write, file: the service's name of a model"}),
    (("--out",), {"type": Path, "help": "write, file: where the file goes; without it nothing leaves"}),
]
LISTS = ("topics", "labels", "keywords", "personas", "styles", "lengths")


def pool(options: Namespace) -> Mapping[str, object]:
    """Do one thing with the pools of the workspace."""
    workspace = opened(options)
    if options.action == "list":
        return {"pools": [asdict(one) for one in workspace.pools.all()]}
    if not options.name:
        raise UserError(f"pool {options.action}: name the pool")
    if options.action == "delete":
        workspace.pools.delete(options.name)
        return {"deleted": options.name}
    if options.action == "check":
        return _checked(workspace, options)
    if options.file is None:
        raise UserError("pool import: name the pool, then the file")
    made = workspace.pools.import_file(
        options.file,
        options.file.name,
        name=options.name,
        origin=options.origin,
        licence=options.licence,
        declared=options.declare,
        text=options.text,
        label=options.label,
        pack_id=options.pack,
        with_winners=not options.without_winners,
        unread="keep" if options.keep_unreadable else "drop",
        near="drop" if options.drop_near else "keep",
    )
    return asdict(made)


def _checked(workspace: Workspace, options: Namespace) -> Mapping[str, object]:
    if not options.corpus:
        raise UserError("pool check: --corpus is needed")
    wait_for(workspace, workspace.pools.check(options.name, options.corpus))
    found = next(one for one in workspace.pools.checks(options.name) if one.corpus_id == options.corpus)
    return {**asdict(found), "internal": "Changing the pool because of this is a selection by private text."}


def pack(options: Namespace) -> Mapping[str, object]:
    """Show, log or write a prompt pack."""
    workspace = opened(options)
    if options.action == "list":
        return {"packs": [asdict(one) for one in workspace.packs.all()]}
    if options.action == "file":
        if not options.pack:
            raise UserError("pack file: name the pack")
        return _file(workspace, options, options.pack)
    words = _words(options.set)
    draft = workspace.packs.draft(words, options.run)
    shown = {
        "prompts": len(draft.prompts),
        "characters": draft.characters,
        "leaves": [asdict(one) for one in draft.listed],
    }
    if options.action == "show":
        return shown
    if options.out is not None:
        written((), options.format, options.for_model)  # wrong options are refused before anything is logged
    for one in draft.listed:
        say(f"leaves: {one.what}: {one.content} ({one.why})")
    made = workspace.packs.write(words, options.run, declared=options.declare)
    return {**shown, **_file(workspace, options, made.id)}


def _file(workspace: Workspace, options: Namespace, pack_id: str) -> Mapping[str, object]:
    """Write a logged pack's file where one was asked for."""
    found = workspace.packs.get(pack_id)
    answer: dict[str, object] = {"pack": found.id, "sha256": found.digest, "run": found.run_id}
    if options.out is None:
        return {**answer, "file": None}
    if options.out.exists():
        raise UserError(f"out: {options.out.name} exists already; name a file that does not")
    _, data = workspace.packs.file(pack_id, options.format, options.for_model)
    options.out.write_bytes(data)
    return {**answer, "file": str(options.out), "bytes": len(data)}


def _words(pairs: list[str]) -> dict[str, JSON]:
    """Return a pack's words; the values of a list stand apart by semicolons."""
    found = parse_settings(pairs)
    for name in LISTS:
        value = found.get(name)
        if isinstance(value, str | int):
            parts = [part.strip() for part in str(value).split(";") if part.strip()]
            found[name] = [int(part) for part in parts if part.isdigit()] if name == "lengths" else parts
    return found
