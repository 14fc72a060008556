"""Bring a model folder into the workspace, or take one out of it.

Privacy posture: files of models; no text.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex

from engine.errors import StorageError, UserError
from engine.models.endpoint_settings import NAME
from engine.models.model_folder import digest_of, inspect_folder
from engine.models.registry import FOLDER, ModelInfo, imported_info

BLOCK = 1 << 22
SPARE_BYTES = 1 << 30  # disk space that an import leaves free


def import_folder(
    source: Path,
    models: Path,
    name: str,
    prompts: str | None = None,
    *,
    origin: str = "",
    links_within: Path | None = None,
    take: bool = False,
    mark: Callable[[Path], None] = lambda folder: None,
) -> ModelInfo:
    """Copy a model folder into the workspace after every check, and return it.

    The copy is what is checked, so nothing can change in between; a broken or refused one leaves nothing behind.

    Args:
        origin: hub id and commit, where it was fetched. links_within: see `inspect_folder`. take: move the files.
        mark: called with the copy, to write into it what private text its weights are known to have seen.

    Raises:
        UserError: the name is taken or not allowed, the folder is refused, or the disk is too full.
    """
    if not NAME.fullmatch(name):
        raise UserError(f"name: must be 1 to 40 small letters, digits, dots, hyphens or underscores, is {name!r}")
    target, note = models / name, models / f"{name}.json"
    if target.exists() or note.exists():
        raise UserError(f"name: a model named {name!r} is here already; remove it first, or choose another name")
    found = inspect_folder(source, links_within=links_within)
    models.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not take and shutil.disk_usage(models).free < found.bytes + SPARE_BYTES:
        raise UserError(f"folder: the disk has too little room for {found.bytes / 1e9:.1f} GB more; free some")
    staging = models / f".{name}.{token_hex(6)}.part"
    staging.mkdir(mode=0o700)
    try:
        for file in found.files:
            if take:
                os.replace(source / file, staging / file)
            else:
                _copy(source / file, staging / file)
        facts = inspect_folder(staging)
        mark(staging)
        body = {
            "name": name, "sha256": digest_of(staging, facts.files), "prompts": prompts or facts.prompts,
            "imported": datetime.now(UTC).isoformat(timespec="seconds"), "left_out": list(found.left_out),
            "origin": origin,
        }  # fmt: skip
        os.replace(staging, target)
        descriptor = os.open(note, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as out:
            json.dump(body, out, indent=1)
    except OSError as error:
        raise StorageError(f"The model could not be copied ({type(error).__name__}); see that the disk works") from None
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    return imported_info(FOLDER + name, note)


def remove_folder(models: Path, name: str) -> None:
    """Delete an imported model."""
    if not NAME.fullmatch(name) or not (models / f"{name}.json").is_file():
        raise UserError(f"name: no imported model is named {name!r}")
    (models / f"{name}.json").unlink()
    shutil.rmtree(models / name, ignore_errors=True)


def _copy(source: Path, target: Path) -> None:
    descriptor = os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    with os.fdopen(descriptor, "wb") as out, source.open("rb") as file:
        shutil.copyfileobj(file, out, BLOCK)
