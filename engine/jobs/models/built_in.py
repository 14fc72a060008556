"""The models that ship with the program and the encoder they build on: what is there, and whether its files are whole.

Files are read, no model is loaded.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from engine.errors import UserError
from engine.models.builtin import minilm
from engine.models.builtin.shipped import builtin_models

ENCODER = "encoder"


@dataclass(frozen=True)
class BuiltInModel:
    """One model that ships with the program. bytes: of its weights; parameters: how many numbers they hold."""

    id: str
    kind: str
    use: str
    parameters: int
    bytes: int
    licence: str
    folder: str
    sha256: str


def shipped() -> list[BuiltInModel]:
    """Return the built-in models that are present."""
    return [BuiltInModel(**model) for model in builtin_models()]


def encoder() -> BuiltInModel | None:
    """Return the sentence encoder, None where it is not installed."""
    try:
        folder = minilm.packaged_folder()
        weights = folder / minilm.WEIGHTS
        size = weights.stat().st_size
    except (UserError, OSError):
        return None
    return BuiltInModel(
        id=ENCODER,
        kind="encoder",
        use="similarity, the map of texts, base of the tagger (all-MiniLM-L6-v2)",
        parameters=header(weights)[0],
        bytes=size,
        licence="Apache-2.0",
        folder=str(folder),
        sha256=minilm.SHA256,
    )


def check_files(model: BuiltInModel) -> tuple[bool, str]:
    """Return whether a model's files are whole and as expected, and a sentence."""
    try:
        if model.id == ENCODER:
            minilm.check_weights.cache_clear()
            minilm.check_weights(Path(model.folder))
            return True, "The weights are the published ones, bit by bit."
        files = sorted(Path(model.folder).glob("*.safetensors"))
        for weights in files:
            parameters, length = header(weights)
            if length != weights.stat().st_size:
                return False, f"{weights.name} is cut off or has grown. Install the application again."
            if not parameters:
                return False, f"{weights.name} holds no numbers. Install the application again."
        if hashlib.sha256(files[0].read_bytes()).hexdigest() != model.sha256:
            return False, "The weights changed while the application was running. Install it again."
    except (UserError, OSError, ValueError, KeyError, IndexError):
        return False, "The weights cannot be read. Install the application again."
    return True, "The weights are whole and in the safe format (safetensors)."


def header(weights: Path) -> tuple[int, int]:
    """Return the number of values in a safetensors file and the length in bytes its header promises."""
    with weights.open("rb") as file:
        size = int.from_bytes(file.read(8), "little")
        found = json.loads(file.read(size))
    entries = [entry for name, entry in found.items() if name != "__metadata__"]
    values = 0
    for entry in entries:
        count = 1
        for side in entry["shape"]:
            count *= side
        values += count
    return values, 8 + size + max((entry["data_offsets"][1] for entry in entries), default=0)
