"""Every language model this workspace can use, by one name, told without loading any of them.

Names: `builtin`, `folder:<name>` (imported into the workspace), `endpoint:<name>` (a server), or a hub id such as
`owner/model` (from the local cache of the hub library, or fetched once with the custodian's written consent).
Privacy posture: names, sizes, digests and licences; no text.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from engine.errors import UserError
from engine.models.builtin.shipped import LM_CAPABILITIES, builtin_models
from engine.models.folder.inspection import FolderFacts, capabilities_of_folder, digest_of, inspect_folder
from engine.models.folder.precision import SHARE, missing
from engine.models.marks import read_marks
from engine.models.remote.endpoint_settings import NAME, EndpointSettings

if TYPE_CHECKING:
    from engine.models.contracts import Generator, Operators
    from engine.models.remote.consent import Consent

BUILTIN, FOLDER, ENDPOINT = "builtin", "folder:", "endpoint:"
HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}")
CAPABILITIES = {
    "instruct": "follows instructions",
    "logits": "shows the probabilities of every next token",
    "logprobs": "scores text",
    "train": "can be trained",
    "block_tokens": "can be kept from writing given words",
    "states": "lets its inner states be read and moved",
}
READ = "read from what it writes"  # how an endpoint's answers among given ones are had where it cannot be held to them
ANEW = "replies that hold one are asked for anew, then cut"
BIASED = "replies that hold one are asked for anew with its first tokens kept out, then cut"
WORK_SHARE = 1.25  # memory at work against the weights alone


@dataclass(frozen=True)
class ModelInfo:
    """One language model.

    back_end: `builtin`, `folder`, `hub` or `endpoint`. prompts: `builtin`, `instruct` or `plain`. memory_bytes: at
    work in 16 and in 32 bit. where: a folder, or host:port. revision: SHA-256, commit, or empty where only the
    server knows. local: whether text stays on this machine. problem: why it cannot be used, or empty. source: hub id
    and commit of one that was fetched. saw: which private text it was fitted to, as its folder says, or empty.
    precision: `8 bit` or `4 bit` where its weights are kept so, or empty. choices: of an endpoint, the form in which it
    is held to given answers, or empty. biases: of an endpoint, whether it keeps tokens out where it is asked to.
    """

    id: str
    back_end: str
    capabilities: frozenset[str]
    prompts: str
    parameters: int = 0
    bytes: int = 0
    memory_bytes: tuple[int, int] = (0, 0)
    context: int = 0
    licence: str = ""
    where: str = ""
    revision: str = ""
    local: bool = True
    problem: str = ""
    architecture: str = ""
    source: str = ""
    saw: str = ""
    precision: str = ""
    choices: str = ""
    biases: bool = False

    def as_manifest(self) -> dict[str, str]:
        """Return what a run's manifest names of the model."""
        return {
            "id": self.id, "back_end": self.back_end, "revision": self.revision or "known to the server alone",
            "architecture": self.architecture, "prompts": self.prompts, "licence": self.licence,
            "where": self.where if self.back_end == "endpoint" else "this machine",
            **({"answers": self.choices or READ, "blocked_words": BIASED if self.biases else ANEW}
               if self.back_end == "endpoint" else {}),
            **({"source": self.source} if self.source else {}),
            **({"saw": self.saw} if self.saw else {}),
            **({"precision": self.precision} if self.precision else {}),
        }  # fmt: skip


@dataclass(frozen=True)
class Catalogue:
    """The models of a workspace: its models folder and its endpoints."""

    folder: Path
    endpoints: Mapping[str, EndpointSettings]

    def all(self) -> tuple[ModelInfo, ...]:
        """Return every model: built-in, imported, endpoints; hub ids are found by name only."""
        names = sorted(path.stem for path in self.folder.glob("*.json")) if self.folder.is_dir() else []
        imported = [self.info(FOLDER + name) for name in names if NAME.fullmatch(name)]
        return (self.info(BUILTIN), *imported, *(_endpoint_info(e) for e in self.endpoints.values()))

    def info(self, model: str) -> ModelInfo:
        """Return what is known of a model.

        Raises:
            UserError: there is no such model.
        """
        if model == BUILTIN:
            return _builtin_info()
        if model.startswith(ENDPOINT) and model.removeprefix(ENDPOINT) in self.endpoints:
            return _endpoint_info(self.endpoints[model.removeprefix(ENDPOINT)])
        if model.startswith(FOLDER) and NAME.fullmatch(model.removeprefix(FOLDER)):
            note = self.folder / f"{model.removeprefix(FOLDER)}.json"
            if note.is_file():
                return imported_info(model, note)
        if HUB_ID.fullmatch(model):
            return self._fetched(model) or _hub_info(model)
        known = ", ".join(info.id for info in self.all()) if model not in (FOLDER, ENDPOINT) else BUILTIN
        raise UserError(f"model: {model!r} is not known here; choose one of {known}, or see the Models page")

    def _fetched(self, model: str) -> ModelInfo | None:
        """Return the imported model that was fetched under this hub id; the cache comes before it."""
        if hub_folder(model) is not None or not self.folder.is_dir():
            return None
        for note in sorted(self.folder.glob("*.json")):
            info = self.info(FOLDER + note.stem) if NAME.fullmatch(note.stem) else None
            if info is not None and info.source.partition("@")[0] == model:
                return info
        return None

    def load(
        self,
        model: str,
        *,
        key: str | None = None,
        consent: Consent | None = None,
        needs: Collection[str] | None = None,
    ) -> Generator:
        """Open a model; for the worker.

        Args:
            key: the API key of an endpoint. consent: for an endpoint on another machine.
            needs: what a method asks of it; where text alone will do, vLLM writes if it is installed. None: anything.

        Raises:
            UserError: it is unknown, changed since it was imported, refused, or consent is missing.
        """
        info = self.info(model)
        if info.problem:
            raise UserError(info.problem)
        if info.back_end == "builtin":
            from engine.models.builtin.language_model import load_builtin_generator

            return load_builtin_generator()
        if info.back_end == "endpoint":
            from engine.models.remote.endpoint import EndpointGenerator

            return EndpointGenerator(self.endpoints[model.removeprefix(ENDPOINT)], key, consent)
        folder, within = Path(info.where), None
        if info.back_end == "hub":
            within = folder.parents[1]
        elif digest_of(folder, inspect_folder(folder).files) != info.revision:
            raise UserError(f"model {model!r}: its files changed since it was imported; remove it and import it again")
        if info.prompts == "builtin":
            from engine.models.builtin.language_model import BuiltinGenerator

            own = BuiltinGenerator(folder)
            own.id = model
            return own
        from engine.models.folder.vllm_local import VllmGenerator, vllm_serves

        facts = inspect_folder(folder, links_within=within)
        if needs is not None and vllm_serves(facts, needs, info.precision):
            return VllmGenerator(folder, model, prompts=info.prompts, links_within=within)
        from engine.models.folder.transformers_local import TransformersGenerator

        return TransformersGenerator(folder, model, prompts=info.prompts, links_within=within, precision=info.precision)

    def operators(self, model: str) -> Operators:
        """Return the prompt formats that suit a model."""
        prompts = self.info(model).prompts
        if prompts == "builtin":
            from engine.models.prompts.operators_builtin import BuiltinOperators

            return BuiltinOperators()
        if prompts == "instruct":
            from engine.models.prompts.operators_instruct import InstructOperators

            return InstructOperators()
        from engine.models.prompts.operators_plain import PlainOperators

        return PlainOperators()


def lacks(info: ModelInfo, title: str, needs: tuple[str, ...]) -> list[str]:
    """Return a sentence for each capability that a method needs and a model does not have."""
    missing = [need for need in needs if need in CAPABILITIES and need not in info.capabilities]
    return [f"{title} needs a model that {CAPABILITIES[need]}; {info.id} does not ({need})." for need in missing]


def hub_folder(model: str) -> Path | None:
    """Return the folder of a hub model's latest cached revision, or None where it is not on this machine."""
    home = Path(os.environ.get("HF_HOME") or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "huggingface")
    cache = Path(os.environ.get("HF_HUB_CACHE") or home / "hub").expanduser() / f"models--{model.replace('/', '--')}"
    try:
        commit = (cache / "refs" / "main").read_text("utf-8").strip()
    except OSError:
        return None
    folder = cache / "snapshots" / commit
    return folder if re.fullmatch(r"[0-9a-f]{40}", commit) and folder.is_dir() else None


def _builtin_info() -> ModelInfo:
    found = next((entry for entry in builtin_models() if entry["id"] == BUILTIN), None)
    if found is None:
        return ModelInfo(BUILTIN, "builtin", LM_CAPABILITIES, "builtin", problem="The built-in model is missing.")
    config = json.loads((Path(found["folder"]) / "config.json").read_text("utf-8"))
    return ModelInfo(
        id=BUILTIN, back_end="builtin", capabilities=LM_CAPABILITIES, prompts="builtin",
        parameters=found["parameters"], bytes=found["bytes"], memory_bytes=_memory(found["parameters"]),
        context=int(config["max_position_embeddings"]), licence=found["licence"], where=found["folder"],
        revision=found["sha256"], architecture="LlamaForCausalLM",
    )  # fmt: skip


def imported_info(model: str, note: Path) -> ModelInfo:
    """Return what was noted about an imported model, held against its folder."""
    folder = note.parent / note.name.removesuffix(".json")
    try:
        body = json.loads(note.read_text("utf-8"))
        facts = _facts(folder, _stamp(folder))
        precision = str(body.get("precision", ""))
        info = _folder_info(model, "folder", facts, str(body["prompts"]), str(body["sha256"]), precision)
        why = missing(precision)
        return replace(
            info,
            source=str(body.get("origin", "")),
            precision=precision,
            problem=f"model {model!r}: {why}" if why else "",
        )
    except (UserError, OSError, ValueError, KeyError) as error:
        why = str(error) if isinstance(error, UserError) else "what was noted at its import cannot be read"
        return ModelInfo(model, "folder", frozenset(), "plain", where=str(folder), problem=f"model {model!r}: {why}")


def _hub_info(model: str) -> ModelInfo:
    folder = hub_folder(model)
    if folder is None:
        raise UserError(
            f"model: {model!r} is not on this machine, and nothing is downloaded without your written consent: give "
            "it on the Models page (From the hub), or import its folder there"
        )
    facts = inspect_folder(folder, links_within=folder.parents[1])
    return _folder_info(model, "hub", facts, facts.prompts, folder.name)


def _folder_info(
    model: str, back_end: str, facts: FolderFacts, prompts: str, revision: str, precision: str = ""
) -> ModelInfo:
    full = _memory(facts.parameters)
    memory = (int(full[0] * SHARE[precision]),) * 2 if precision in SHARE else full
    return ModelInfo(
        id=model, back_end=back_end, capabilities=capabilities_of_folder(facts.kind, prompts, precision),
        prompts=prompts,
        parameters=facts.parameters,
        bytes=facts.bytes, memory_bytes=memory, context=facts.context, licence=facts.licence,
        where=str(facts.folder), revision=revision, architecture=facts.architecture,
        saw="; ".join(mark.sentence() for mark in read_marks(facts.folder)),
    )  # fmt: skip


def _endpoint_info(settings: EndpointSettings) -> ModelInfo:
    from engine.models.remote.endpoint import capabilities_of

    return ModelInfo(
        id=ENDPOINT + settings.name, back_end="endpoint", capabilities=capabilities_of(settings),
        prompts=settings.prompts, context=settings.context, licence=settings.licence or "not stated by the server",
        where=settings.host, local=settings.local, architecture=settings.model, choices=settings.choice_form,
        biases=bool(settings.token_form) and settings.local,
    )  # fmt: skip


@lru_cache(maxsize=32)
def _facts(folder: Path, stamp: tuple[tuple[str, int, int], ...]) -> FolderFacts:
    del stamp  # part of the cache key only: a page asks again and again, and a tokenizer takes long to read
    return inspect_folder(folder)


def _stamp(folder: Path) -> tuple[tuple[str, int, int], ...]:
    if not folder.is_dir():
        return ()
    found = [(path.name, path.lstat()) for path in folder.iterdir()]
    return tuple(sorted((name, status.st_size, status.st_mtime_ns) for name, status in found))


def _memory(parameters: int) -> tuple[int, int]:
    return int(2 * parameters * WORK_SHARE), int(4 * parameters * WORK_SHARE)
