"""The verb `models`: list and suggest language models, import a folder, fetch one, keep an endpoint, consent, test.

Privacy posture: prints names, sizes, digests and settings; a key is read from standard input or named by its
environment variable, and never printed.
"""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING

from engine.cli.arguments import Argument
from engine.cli.terminal import opened, parse_settings, wait_for
from engine.errors import UserError

if TYPE_CHECKING:
    from engine.models.catalogue import ModelInfo
    from engine.models.folder.inspection import FolderFacts
    from engine.workspace import Workspace

ACTIONS = (
    "list",
    "suggest",
    "inspect",
    "import",
    "fetch",
    "endpoint",
    "consent",
    "withdraw",
    "test",
    "texts",
    "precision",
    "remove",
)
BITS = {"full": "", "8": "8 bit", "4": "4 bit"}
ARGUMENTS: list[Argument] = [
    (("action",), {"nargs": "?", "choices": ACTIONS, "default": "list", "help": "what to do; list by default"}),
    (
        ("name",),
        {"nargs": "?", "help": "a folder (inspect, import), a hub id (fetch), an endpoint's name, or a model id"},
    ),
    (("--as",), {"dest": "as_name", "help": "import, fetch: the name it gets here"}),
    (("--prompts",), {"choices": ("instruct", "plain", "builtin"), "help": "how the model is asked"}),
    (("--set",), {"action": "append", "default": [], "metavar": "k=v", "help": "endpoint: a setting, such as url=…"}),
    (("--key-stdin",), {"action": "store_true", "help": "endpoint: read its key from standard input"}),
    (("--corpus",), {"help": "consent, withdraw: the corpus; texts, fetch: whose public description texts are for"}),
    (("--text",), {"default": "", "help": "consent, fetch: why this is allowed, in your words"}),
    (("--host",), {"default": "", "help": "consent, fetch: the host that is connected, typed out"}),
    (
        ("--revision",),
        {"default": "", "help": "fetch: branch, tag or commit; by default as `suggest` names it, else main"},
    ),
    (("--bits",), {"choices": ("full", "8", "4"), "default": "full", "help": "precision, fetch: bits a number"}),
    (("--language",), {"default": "en", "help": "suggest: the text's language (two letters)"}),
]


def models(options: Namespace) -> Mapping[str, object]:
    """Do one thing with the language models of the workspace."""
    workspace = opened(options)
    if options.action == "list":
        return {"models": [_shown(info) for info in workspace.models.all()]}
    if options.action == "suggest":
        return _suggest(workspace, options.language)
    if not options.name:
        raise UserError(f"models {options.action}: name the folder, endpoint or model")
    if options.action == "inspect":
        return _shown(workspace.models.inspect(Path(options.name)))
    if options.action == "import":
        name = options.as_name or Path(options.name).resolve().name.lower()
        return _shown(workspace.models.import_folder(Path(options.name), name, options.prompts))
    if options.action == "fetch":
        return _fetch(workspace, options)
    if options.action == "endpoint":
        return _endpoint(workspace, options)
    if options.action == "test":
        return _test(workspace, options.name)
    if options.action == "texts":
        return _texts(workspace, options)
    if options.action == "precision":
        return _shown(workspace.models.set_precision(options.name, BITS[options.bits]))
    if options.action == "remove":
        workspace.models.remove(options.name)
        return {"removed": options.name}
    return _consent(workspace, options)


def _fetch(workspace: Workspace, options: Namespace) -> Mapping[str, object]:
    if not options.text or not options.host:
        raise UserError(
            f"models fetch: --text and --host are needed; you consent to this: "
            f"{workspace.hub.statement(options.name)} The host is {workspace.hub.host()}"
        )
    name = options.as_name or options.name.rpartition("/")[2].lower()
    job = workspace.hub.fetch(
        options.name, name, options.text, options.host, revision=options.revision, prompts=options.prompts,
        description=workspace.descriptions.get(options.corpus) if options.corpus else None,
        precision=BITS[options.bits],
    )  # fmt: skip
    wait_for(workspace, job)
    return _shown(workspace.models.info(f"folder:{name}"))


def _suggest(workspace: Workspace, language: str) -> Mapping[str, object]:
    found = workspace.hub.suggest(language)
    listed = []
    for one in found.models:
        served, lacking = workspace.hub.serves(one.offer)
        listed.append(
            one.offer.model_dump() | {
                "verdict": one.verdict, "role": one.role, "precision": one.precision, "memory_bytes": one.memory_bytes,
                "hours_for_500_texts": round(one.hours, 2), "trains_here": one.trains, "serves": served,
                "lacks": lacking,
            }
        )  # fmt: skip
    roles: dict[str, object] = {one.role: one.offer.hub for one in found.models if one.role}
    told = {"machine": asdict(found.machine), "language": found.language, **roles, "models": listed}
    if found.sentence_models:
        told["sentence_models"] = [{**one.model_dump(), "for": one.sentence()} for one in found.sentence_models]
    return told


def _shown(info: ModelInfo | FolderFacts) -> Mapping[str, object]:
    body = {field.name: getattr(info, field.name) for field in fields(info)}
    return {name: sorted(value) if isinstance(value, frozenset) else value for name, value in body.items()}


def _endpoint(workspace: Workspace, options: Namespace) -> Mapping[str, object]:
    given = parse_settings(options.set)
    before = workspace.models.endpoints().get(options.name)
    values = {**(before.as_dict() if before else {}), **given, "name": options.name}
    if options.prompts:
        values["prompts"] = options.prompts
    if missing := {"url", "model"} - set(values):
        raise UserError(f"models endpoint: --set {min(missing)}=… is needed")
    if "key_variable" in given:
        values["key_source"] = "environment"
    return _shown(workspace.models.add_endpoint(values, sys.stdin.readline().strip() if options.key_stdin else None))


def _consent(workspace: Workspace, options: Namespace) -> Mapping[str, object]:
    if not options.corpus:
        raise UserError(f"models {options.action}: --corpus is needed")
    if options.action == "withdraw":
        return {"cancelled": workspace.models.withdraw_consent(options.corpus, options.name)}
    if not options.text or not options.host:
        raise UserError(
            f"models consent: --text and --host are needed; you consent to this: "
            f"{workspace.models.consent_statement(options.corpus, options.name)}"
        )
    return asdict(workspace.models.give_consent(options.corpus, options.name, options.text, options.host))


def _texts(workspace: Workspace, options: Namespace) -> Mapping[str, object]:
    if not options.corpus:
        raise UserError("models texts: --corpus is needed; its public description is what they are written for")
    wait_for(workspace, workspace.first_look.write(options.name, options.corpus))
    found = workspace.first_look.of(options.name, options.corpus).result
    return {"model": options.name, "unlike": workspace.first_look.unlike(options.name, options.corpus), **(found or {})}


def _test(workspace: Workspace, model: str) -> Mapping[str, object]:
    wait_for(workspace, workspace.models.test(model))
    return {"model": model, **workspace.models.last_test(model)}
