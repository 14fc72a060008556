"""What lies in a model folder, told without loading anything, and why a folder is refused.

Only weights in the safetensors format are read; formats that run code when opened, and models that bring code of
their own, are refused. Nothing here imports torch or transformers.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from engine.corpus.regular import NotRegularError, open_regular
from engine.errors import UserError
from engine.json_types import JSON, JSONObject
from engine.models.builtin.format import BOS, OUT
from engine.models.builtin.shipped import LM_CAPABILITIES

LARGEST_JSON, LARGEST_HEADER = 64 << 20, 16 << 20  # bytes; tokenizers are the largest JSON files
MOST_VALUES = 8_000_000  # lists, objects and separators in a JSON file; the largest tokenizers have some three million
# What reading values of the wrong kind, depth or size raises.
ODD = (ValueError, KeyError, TypeError, AttributeError, IndexError, OverflowError, RecursionError)
CODE_KEYS = frozenset({"auto_map", "custom_pipelines"})
# Pickles and other formats that can run code, and code itself.
REFUSED = frozenset(
    ".bin .pt .pth .pkl .pickle .ckpt .joblib .dill .npz .npy .h5 .hdf5 .keras .pb .ot .msgpack .onnx .nemo .mar "
    ".gguf .ggml .py .pyw .pyc .pyd .so .dll .dylib .exe .sh .bat .ps1 .jar .js .ipynb".split()
)
KEPT_SUFFIXES = frozenset(".safetensors .json .txt .md .model .jinja .jsonl".split())
KEPT_NAMES = re.compile(r"(LICEN[CS]E|NOTICE|COPYING|USE_POLICY)([._-].*)?", re.IGNORECASE)
SEQ2SEQ = "ForConditionalGeneration"
CAUSAL = ("ForCausalLM", "LMHeadModel")
CONTEXT_NAMES = ("max_position_embeddings", "n_positions", "n_ctx", "max_seq_len", "seq_length")
DEFAULT_CONTEXT = 512  # T5 and its kin have no fixed context; they were trained at this length


@dataclass(frozen=True)
class FolderFacts:
    """A model folder that passed every check.

    kind: `causal` or `seq2seq`. parameters: values in the weights. weight_bytes, bytes: of the weights, of all
    files that are kept. context: tokens. prompts: `instruct` with a chat template, `builtin` with our control
    tokens, else `plain`. left_out: names of files that are not needed and are not copied.
    """

    folder: Path
    kind: str
    architecture: str
    model_type: str
    parameters: int
    weight_bytes: int
    bytes: int
    context: int
    licence: str
    prompts: str
    files: tuple[str, ...]
    left_out: tuple[str, ...]


def inspect_folder(folder: Path, *, links_within: Path | None = None) -> FolderFacts:
    """Return what a model folder holds.

    Args:
        folder: config.json, tokenizer and *.safetensors.
        links_within: links may lead anywhere below this folder; below `folder` itself by default.

    Raises:
        UserError: something is missing, damaged, leads out of the folder, or could run code.
    """
    if not folder.is_dir():
        raise UserError("folder: there is no such folder; give the folder that holds the model's config.json")
    try:
        return _inspect(folder, (links_within or folder).resolve())
    except ODD:
        raise UserError("folder: its files do not have the form of a model's; copy the model again") from None
    except OSError as error:
        raise UserError(f"folder: cannot be read ({type(error).__name__}); see that its files may be opened") from None


def _inspect(folder: Path, within: Path) -> FolderFacts:
    kept, left_out = _files(folder, within)
    config = _config(folder, kept)
    kind, architecture = _kind(config)
    weights = _weights(folder, kept)
    parameters, weight_bytes = 0, 0
    for name in weights:
        counted, length = read_header(folder / name)
        size = (folder / name).stat().st_size
        if length != size:
            raise UserError(f"{name}: is cut off or has grown ({size:,} bytes, its header says {length:,}); copy again")
        parameters, weight_bytes = parameters + counted, weight_bytes + size
    if not parameters:
        raise UserError("folder: its weights hold no numbers; copy the model again")
    return FolderFacts(
        folder=folder,
        kind=kind,
        architecture=architecture,
        model_type=str(config.get("model_type", "")),
        parameters=parameters,
        weight_bytes=weight_bytes,
        bytes=sum((folder / name).stat().st_size for name in kept),
        context=_context(config),
        licence=_licence(folder, config),
        prompts=_prompts(folder, kept),
        files=tuple(kept),
        left_out=tuple(left_out),
    )


def capabilities_of_folder(kind: str, prompts: str, precision: str = "") -> frozenset[str]:
    """Return what a model folder can do; `kind` is `causal` or `seq2seq`, `precision` that of fewer bits or empty."""
    found = {"logprobs", "block_tokens"} | ({"instruct"} if prompts == "instruct" else set())
    found |= {"logits", "train", "states"} if kind == "causal" else set()
    found -= {"logits"} if precision else set()  # rows may depend on one another there
    return frozenset(found | LM_CAPABILITIES if prompts == "builtin" else found)


def digest_of(folder: Path, files: tuple[str, ...]) -> str:
    """Return one SHA-256 of a model: over the names and digests of its files in order of name."""
    whole = hashlib.sha256()
    for name in sorted(files):
        with open_regular(folder / name) as file:
            whole.update(f"{name}\0{hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode())
    return whole.hexdigest()


def read_header(weights: Path) -> tuple[int, int]:
    """Return the number of values in a safetensors file and the length in bytes that its header promises.

    Raises:
        UserError: it is no safetensors file.
    """
    try:
        with open_regular(weights) as file:
            size = int.from_bytes(file.read(8), "little")
            if not 2 <= size <= LARGEST_HEADER:
                raise ValueError
            header = _parsed(file.read(size))
        if not isinstance(header, dict):
            raise ValueError
        values, ends = 0, 0
        for name, entry in header.items():
            if name != "__metadata__":
                shape, (_, end) = _tensor(entry)
                values, ends = values + math.prod(shape), max(ends, end)
        return values, 8 + size + ends
    except (*ODD, NotRegularError):
        raise UserError(f"{weights.name}: is not a safetensors file; copy the model again") from None


def _tensor(entry: JSON) -> tuple[list[int], list[int]]:
    """Return a tensor's shape, and the bytes where it begins and ends."""
    if not isinstance(entry, dict):
        raise ValueError
    shape, offsets = entry["shape"], entry["data_offsets"]
    if not isinstance(shape, list) or not isinstance(offsets, list):
        raise ValueError
    return [int(str(side)) for side in shape], [int(str(at)) for at in offsets]


def _files(folder: Path, within: Path) -> tuple[list[str], list[str]]:
    """Return the names that are kept and those left out; refuse what could run code or leads outside."""
    kept: list[str] = []
    left_out: list[str] = []
    for path in _walk(folder):
        name = path.relative_to(folder).as_posix()
        if not name.isprintable():  # half a character too, which a file system may hold and a message may not
            raise UserError("folder: the name of a file holds marks that cannot be shown; rename or remove it")
        _check_circle(path, name)
        if path.is_symlink() or path.resolve() != path.absolute():
            if not path.resolve().is_relative_to(within) and not path.resolve().is_relative_to(folder.resolve()):
                raise UserError(f"{name}: is a link that leads out of the folder; copy the file itself there")
            if not path.exists():
                raise UserError(f"{name}: is a link that leads nowhere; copy the file itself there")
        if not path.is_file():
            raise UserError(f"{name}: is a pipe or a device and no file; take it out of the folder")
        if path.suffix.lower() in REFUSED:
            raise UserError(
                f"{name}: only weights in the safetensors format are read, and no code of a model is run; remove this "
                "file, or get the model as safetensors"
            )
        needed = "/" not in name and (path.suffix.lower() in KEPT_SUFFIXES or KEPT_NAMES.fullmatch(name))
        (kept if needed else left_out).append(name)
    return kept, left_out


def _walk(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        if path.is_dir() and path.is_symlink():
            raise UserError(f"{path.name}: is a link to a folder; copy the files themselves there")
        if not path.is_dir():
            yield path


def _config(folder: Path, kept: list[str]) -> JSONObject:
    if "config.json" not in kept:
        raise UserError("config.json: is missing; give the folder that holds the model's config.json")
    config: JSONObject = {}
    for name in (n for n in kept if n.endswith(".json")):
        values = _json(folder / name)
        if _asks_for_code(values):
            raise UserError(f"{name}: asks for code that comes with the model, which is never run; use another model")
        if name == "config.json" and isinstance(values, dict):
            config = values
    if "quantization_config" in config:
        raise UserError("config.json: quantised weights are not read here; get the model in 16 or 32 bit")
    if not {"tokenizer.json", "tokenizer.model", "spiece.model", "vocab.json"} & set(kept):
        raise UserError("tokenizer.json: is missing; copy the model's tokenizer too")
    if not {"tokenizer.json", "vocab.json"} & set(kept) and find_spec("sentencepiece") is None:
        raise UserError(
            "tokenizer.json: is missing, and the tokenizer that is there needs the package sentencepiece, which is not "
            "installed; install it, or copy the model with its tokenizer.json"
        )
    return config


def _json(path: Path) -> JSON:
    if path.stat().st_size > LARGEST_JSON:
        raise UserError(f"{path.name}: is larger than {LARGEST_JSON >> 20} MB; copy the model again")
    try:
        with open_regular(path) as file:
            return _parsed(file.read(LARGEST_JSON + 1))
    except (ValueError, RecursionError, NotRegularError):
        raise UserError(f"{path.name}: is not JSON; copy the model again") from None


def _parsed(data: bytes) -> JSON:
    """Return JSON of a bounded number of values: sixty megabytes of empty lists would take gigabytes."""
    if sum(map(data.count, (b",", b"[", b"{"))) > MOST_VALUES:
        raise ValueError
    values: JSON = json.loads(data.decode("utf-8"))
    return values


def _asks_for_code(values: JSON) -> bool:
    """Return whether a key at any depth names code that comes with a model."""
    waiting = [values]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            if CODE_KEYS & value.keys():
                return True
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
    return False


def _check_circle(path: Path, name: str) -> None:
    try:
        path.resolve(strict=False)
    except (RuntimeError, OSError):
        raise UserError(f"{name}: is a link that leads back to itself; copy the file itself there") from None


def _kind(config: JSONObject) -> tuple[str, str]:
    named = config.get("architectures") or [""]
    architecture = str(named[0]) if isinstance(named, list) else ""
    if architecture.endswith(CAUSAL):
        return "causal", architecture
    if architecture.endswith(SEQ2SEQ) and config.get("is_encoder_decoder"):
        return "seq2seq", architecture
    raise UserError(
        f"config.json: a model that writes text is needed (…ForCausalLM or a text …{SEQ2SEQ}), this is "
        f"{architecture or 'not named'!r}"
    )


def _weights(folder: Path, kept: list[str]) -> list[str]:
    present = [name for name in kept if name.endswith(".safetensors")]
    index = "model.safetensors.index.json"
    if index in kept:
        listed = _json(folder / index)
        named = listed.get("weight_map") if isinstance(listed, dict) else None
        shards = sorted(set(map(str, named.values()))) if isinstance(named, dict) else []
        missing = [name for name in shards if name not in present]
        if missing or not shards:
            raise UserError(f"{index}: names {len(missing)} file(s) that are not here; copy the model again")
        return shards
    if "model.safetensors" not in present:
        raise UserError("model.safetensors: is missing; get the model in the safetensors format")
    return ["model.safetensors"]


def _context(config: JSONObject) -> int:
    named = (config.get(name) for name in CONTEXT_NAMES)
    return next((int(value) for value in named if isinstance(value, int) and value > 0), DEFAULT_CONTEXT)


def _licence(folder: Path, config: JSONObject) -> str:
    """Return the licence that the model card names, else the first words of a licence file."""
    for card in ("README.md", "readme.md"):
        if (folder / card).is_file():
            head = _beginning(folder / card, 20_000)
            found = re.match(r"---\s*\n(.*?)\n---", head, re.DOTALL)
            named = re.search(
                r"^licen[cs]e(?:_name)?:\s*['\"]?([\w .+/-]{1,60})", found.group(1) if found else "", re.M
            )
            if named:
                return named.group(1).strip()
    if isinstance(config.get("license"), str):
        return str(config["license"])[:60]
    for path in sorted(folder.iterdir()):
        if path.is_file() and KEPT_NAMES.fullmatch(path.name):
            words = " ".join(_beginning(path, 2000).split())
            if words:
                return words[:60]
    return "not stated; see where the model came from"


def _beginning(path: Path, length: int) -> str:
    with open_regular(path) as file:
        return file.read(4 * length).decode("utf-8", "replace")[:length]


def _prompts(folder: Path, kept: list[str]) -> str:
    if any(name in kept for name in ("chat_template.jinja", "chat_template.json")):
        return "instruct"
    if "tokenizer_config.json" in kept:
        values = _json(folder / "tokenizer_config.json")
        if isinstance(values, dict) and values.get("chat_template"):
            return "instruct"
    if "tokenizer.json" in kept:
        values = _json(folder / "tokenizer.json")
        added = values.get("added_tokens") if isinstance(values, dict) else None
        named = added if isinstance(added, list) else []
        names = {str(entry.get("content")) for entry in named if isinstance(entry, dict)}
        if {BOS, OUT} <= names:
            return "builtin"
    return "plain"
