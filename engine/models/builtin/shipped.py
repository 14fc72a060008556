"""What ships with the program: the built-in models, found on disk without loading anything."""

from __future__ import annotations

import hashlib
import json
from functools import lru_cache
from pathlib import Path
from typing import TypedDict

from engine.assets import ASSETS

LM_CAPABILITIES = frozenset({"logits", "logprobs", "block_tokens", "train", "states"})
"""What the built-in language model can do; here, where nothing heavy is imported."""

SECONDS_A_TOKEN = 1 / 2000
"""Seconds a new token of the built-in model takes, in calls of 64 prompts of some 130 tokens, in a run's worker.

Measured on one core that multiplies bfloat16 natively: 1/2700 to 1/3100 of its time; in float32 twice that. The rest
is left to what a run does beside.
"""


def lm_folder() -> Path:
    """Return the folder of the built-in language model."""
    return ASSETS / "models" / "lm"


def vocabulary_folder() -> Path:
    """Return the folder of the vocabulary that measures count in and everyday words are read from.

    It is of public text, the first built-in model's, and stays where models change, so that what was measured with one
    can be held beside what was measured with another.
    """
    return ASSETS / "models" / "vocabulary"


def tagger_folder() -> Path:
    """Return the folder of the built-in tagger's adapter."""
    return ASSETS / "models" / "tagger"


def word_tagger_folder() -> Path:
    """Return the folder of the tagger for other languages, whose weights may not be there."""
    return ASSETS / "models" / "word_tagger"


def word_tagger_there() -> bool:
    """Return whether the weights of the tagger for other languages are there."""
    return (word_tagger_folder() / "model.safetensors").is_file()


class BuiltinModel(TypedDict):
    """One model that ships with the program: `bytes` of its weights, `parameters` in them."""

    id: str
    kind: str
    use: str
    parameters: int
    bytes: int
    licence: str
    folder: str
    sha256: str


def builtin_models() -> list[BuiltinModel]:
    """Return the built-in models that are present."""
    entries = [
        (
            "builtin",
            "language model",
            "writing",
            lm_folder(),
            "GPL-3.0-or-later",
        ),
        (
            "builtin-tagger",
            "tagger",
            "names, places, organisations, dates and more",
            tagger_folder(),
            "GPL-3.0-or-later",
        ),
        (
            "builtin-word-tagger",
            "tagger",
            "names, places, organisations, dates and codes in languages other than English",
            word_tagger_folder(),
            "GPL-3.0-or-later",
        ),
        (
            "builtin-sentiment",
            "sentiment classifier",
            "tone of abstractions and outputs in RPSG",
            ASSETS / "models" / "sentiment",
            "GPL-3.0-or-later",
        ),
    ]
    return [
        {
            "id": identifier,
            "kind": kind,
            "use": use,
            "parameters": _parameters(weights),
            "bytes": weights.stat().st_size,
            "licence": licence,
            "folder": str(folder),
            "sha256": _sha256(weights, weights.stat().st_mtime_ns),
        }
        for identifier, kind, use, folder, licence in entries
        for weights in sorted(folder.glob("*.safetensors"))
    ]


def _parameters(weights: Path) -> int:
    """Return the number of values in a safetensors file, read from its header alone.

    An output layer beside a transform is that transform times the embedding table, and counts for nothing.
    """
    with weights.open("rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
    total = 0
    for name, entry in header.items():
        if name == "__metadata__" or (name.startswith("lm_head.") and "transform.weight" in header):
            continue
        size = 1
        for side in entry["shape"]:
            size *= side
        total += size
    return total


@lru_cache(maxsize=16)
def _sha256(path: Path, modified: int) -> str:
    del modified  # part of the cache key only
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
