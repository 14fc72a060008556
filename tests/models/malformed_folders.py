"""Model folders as strangers might make them: each damaged in one way, with no library that makes models."""

from __future__ import annotations

import json
import os
import pickle
from collections.abc import Callable
from pathlib import Path

CONFIG = {"architectures": ["GPT2LMHeadModel"], "model_type": "gpt2", "n_positions": 64}
TOKENIZER = {"added_tokens": [{"content": "<pad>"}], "model": {"vocab": {"a": 0}}}
HEADER = {"w": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]}}
Damage = Callable[[Path], object]


def weights(header: object, body: bytes = b"\0" * 16, size: int | None = None) -> bytes:
    """Return a safetensors file with this header, as JSON or as it stands."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return (len(text) if size is None else size).to_bytes(8, "little", signed=False) + text + body


def make(folder: Path) -> Path:
    """Write a sound, very small model folder."""
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(CONFIG))
    (folder / "tokenizer.json").write_text(json.dumps(TOKENIZER))
    (folder / "model.safetensors").write_bytes(weights(HEADER))
    return folder


def text(name: str, body: str | bytes) -> Damage:
    """Return what writes one file."""
    return lambda folder: (folder / name).write_bytes(body if isinstance(body, bytes) else body.encode())


def header(value: object, **more: object) -> Damage:
    """Return what writes weights with this header."""
    return text("model.safetensors", weights(value, **more))  # type: ignore[arg-type]


def entry(**changed: object) -> Damage:
    """Return what writes weights with one changed entry."""
    return header({"w": HEADER["w"] | changed})


def index(value: object) -> Damage:
    """Return what writes an index of shards."""
    return text("model.safetensors.index.json", json.dumps(value))


def config(**changed: object) -> Damage:
    """Return what writes a changed configuration."""
    return text("config.json", json.dumps(CONFIG | changed))


def link(name: str, target: str) -> Damage:
    """Return what puts a link in the place of a file."""

    def damage(folder: Path) -> None:
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(target)

    return damage


def pipe(name: str) -> Damage:
    """Return what puts a pipe in the place of a file."""

    def damage(folder: Path) -> None:
        (folder / name).unlink(missing_ok=True)
        os.mkfifo(folder / name)

    return damage


def deep(mark: str, times: int = 200_000) -> bytes:
    """Return JSON that nests without end."""
    closing = {"[": "]", '{"a":': "}"}[mark]
    return (mark * times + "1" + closing * times).encode()


def folder_named(name: str) -> Damage:
    """Return what puts a folder in the place of a file."""

    def damage(folder: Path) -> None:
        (folder / name).unlink(missing_ok=True)
        (folder / name).mkdir()

    return damage


PLAIN = ("config.json", "tokenizer.json", "model.safetensors")
ODD_JSON: dict[str, bytes] = {
    "empty": b"", "blank": b" \n", "cut": b'{"a": ', "list": b"[]", "number": b"1", "text": b'"x"', "null": b"null",
    "bytes": b"\xff\xfe\x00", "nul": b'{"a\\u0000": 1}', "deep lists": deep("["), "deep objects": deep('{"a":'),
    "endless number": b"[" + b"9" * 6000 + b"]", "many lists": b"[" + b"[]," * 9_000_000 + b"[]]", "nan": b'{"a": NaN}',
    "surrogate": b'{"architectures": ["\\ud800ForCausalLM"]}', "twice": b'{"a": 1, "a": 2}',
}  # fmt: skip
DAMAGES: dict[str, Damage] = {
    **{f"{name} is {what}": text(name, body) for name in PLAIN[:2] for what, body in ODD_JSON.items()},
    **{f"header is {what}": header(body) for what, body in ODD_JSON.items() if what != "many lists"},
    **{f"index is {what}": text("model.safetensors.index.json", body) for what, body in ODD_JSON.items()},
    **{f"{name} is missing": lambda folder, name=name: (folder / name).unlink() for name in PLAIN},
    **{f"{name} is a folder": folder_named(name) for name in PLAIN},
    **{f"{name} is a pipe": pipe(name) for name in (*PLAIN, "LICENSE", "README.md", "x.json", "a.txt", "odd")},
    **{f"{name} links to itself": link(name, name) for name in (*PLAIN, "LICENSE")},
    **{f"{name} links out": link(name, "/etc/hostname") for name in PLAIN},
    **{f"{name} links nowhere": link(name, "nothing") for name in PLAIN},
    **{f"{name} links to a device": link(name, "/dev/zero") for name in PLAIN},
    "folder links round": lambda folder: (folder / "sub").symlink_to(folder),
    "header many lists": header(b"[" + b"[]," * 4_000_000 + b"[]]"),
    "header size 2^63": text("model.safetensors", (2**63).to_bytes(8, "little") + b"{}"),
    "header size 0": text("model.safetensors", bytes(8)),
    "header size beyond": header(HEADER, size=10**6),
    "weights of 3 bytes": text("model.safetensors", b"abc"),
    "shape infinite": header(b'{"w": {"dtype": "F32", "shape": [Infinity], "data_offsets": [0, 16]}}'),
    "shape nan": header(b'{"w": {"dtype": "F32", "shape": [NaN], "data_offsets": [0, 16]}}'),
    "offset infinite": header(b'{"w": {"dtype": "F32", "shape": [4], "data_offsets": [0, Infinity]}}'),
    "offset huge": entry(data_offsets=[0, 10**30]),
    "offset negative": entry(data_offsets=[0, -5]),
    "offset text": entry(data_offsets=["0", "x"]),
    "offset one": entry(data_offsets=[0]),
    "offset null": entry(data_offsets=None),
    "shape text": entry(shape="22"),
    "shape null": entry(shape=None),
    "shape number": entry(shape=4),
    "shape negative": entry(shape=[-2, 2]),
    "shape huge": entry(shape=[10**40]),
    "shape objects": entry(shape=[{}]),
    "shape bool": entry(shape=[True]),
    "entry list": header({"w": []}),
    "entry text": header({"w": "x"}),
    "entry null": header({"w": None}),
    "only metadata": header({"__metadata__": {}}),
    "weights cut": header(HEADER, body=b""),
    "weights grown": header(HEADER, body=bytes(99)),
    "weight map list": index({"weight_map": ["model.safetensors"]}),
    "weight map text": index({"weight_map": "x"}),
    "weight map number": index({"weight_map": 3}),
    "weight map nested": index({"weight_map": {"w": ["model.safetensors"]}}),
    "weight map out": index({"weight_map": {"w": "../../etc/passwd"}}),
    "weight map null": index({"weight_map": None}),
    "weight map sound": index({"weight_map": {"w": "model.safetensors"}}),
    "weight map nowhere": index({"weight_map": {"w": "b"}}),
    "architectures text": config(architectures="GPT2LMHeadModel"),
    "architectures nested": config(architectures=[["x"]]),
    "architectures number": config(architectures=[1]),
    "architectures object": config(architectures={"a": 1}),
    "context huge": config(n_positions=10**400),
    "context text": config(n_positions="many"),
    "licence list": config(license=[1]),
    "code": config(auto_map={"AutoModel": "x.M"}),
    "code below": config(vision={"deep": [{"auto_map": {}}]}),
    "code in the tokenizer": text("tokenizer_config.json", '{"a": [[{"auto_map": 1}]]}'),
    "quantised": config(quantization_config={}),
    "chat template list": text("tokenizer_config.json", '{"chat_template": [1]}'),
    "added tokens list": text("tokenizer.json", '{"added_tokens": [{"content": ["a"]}]}'),
    "added tokens text": text("tokenizer.json", '{"added_tokens": "abc"}'),
    "added tokens number": text("tokenizer.json", '{"added_tokens": 5}'),
    "added tokens object": text("tokenizer.json", '{"added_tokens": [{"content": {"a": 1}}]}'),
    "card broken": text("README.md", b"---\nlicense: \xff\xfe\n---"),
    "card endless": text("README.md", "---\n" + "a" * 3_000_000),
    "licence binary": text("LICENSE", os.urandom(5000)),
    "pickle without suffix": text("model", pickle.dumps([1])),
    **{
        f"file {suffix}": text(f"a{suffix}", b"x")
        for suffix in (".bin", ".pt", ".py", ".pyw", ".gguf", ".PKL", ".so", ".js")
    },
    "name with a line break": text("a\nb.json", "{}"),
    "name not UTF-8": lambda folder: Path(os.fsdecode(os.fsencode(folder) + b"/\xff.json")).write_text("{}"),
}
