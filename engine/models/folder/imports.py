"""Bring a model folder into the workspace, or take one out of it.

Privacy posture: files of models; no text.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex

from engine.corpus.regular import open_regular
from engine.errors import StorageError, UserError
from engine.models.catalogue import FOLDER, ModelInfo, imported_info
from engine.models.folder.inspection import FolderFacts, digest_of, inspect_folder
from engine.models.folder.precision import checked_precision
from engine.models.remote.endpoint_settings import NAME

BLOCK = 1 << 22
NOTE_SUFFIX = ".note"
PART = re.compile(r"\.(.+)\.[0-9a-f]{12}\.(?:part|note)")
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
    precision: str = "",
    mark: Callable[[Path], None] = lambda folder: None,
) -> ModelInfo:
    """Copy a model folder into the workspace after every check, and return it.

    The copy is what is checked, so nothing can change in between; a broken or refused one leaves nothing behind.

    Args:
        origin: hub id and commit, where it was fetched. links_within: see `inspect_folder`. take: move the files.
        precision: `8 bit` or `4 bit` where its weights are to be kept so.
        mark: called with the copy, to write into it what private text its weights are known to have seen.

    Raises:
        UserError: the name is taken or not allowed, the folder is refused, or the disk is too full.
    """
    if not NAME.fullmatch(name):
        raise UserError(f"name: must be 1 to 40 small letters, digits, dots, hyphens or underscores, is {name!r}")
    sweep(models)
    found = inspect_folder(source, links_within=links_within)
    models.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _at_work(models):
        return _import(found, models, name, prompts, origin, take, checked_precision(precision), mark)


def _import(
    found: FolderFacts,
    models: Path,
    name: str,
    prompts: str | None,
    origin: str,
    take: bool,
    precision: str,
    mark: Callable[[Path], None],
) -> ModelInfo:
    source = found.folder
    target, note = models / name, models / f"{name}.json"
    if target.exists() or note.exists():
        raise UserError(f"name: a model named {name!r} is here already; remove it first, or choose another name")
    if not take and shutil.disk_usage(models).free < found.bytes + SPARE_BYTES:
        raise UserError(f"folder: the disk has too little room for {found.bytes / 1e9:.1f} GB more; free some")
    staging = models / f".{name}.{token_hex(6)}.part"
    staged_note = staging.with_suffix(NOTE_SUFFIX)
    staging.mkdir(mode=0o700)
    moved = False
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
            "origin": origin, "precision": precision,
        }  # fmt: skip
        descriptor = os.open(staged_note, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as out:
            json.dump(body, out, indent=1)
        # A process that dies between these two leaves its note, by which `sweep` knows the folder.
        os.replace(staging, target)
        moved = True
        os.replace(staged_note, note)
        moved = False
    except OSError as error:
        raise StorageError(f"The model could not be copied ({type(error).__name__}); see that the disk works") from None
    finally:
        shutil.rmtree(target if moved else staging, ignore_errors=True)
        staged_note.unlink(missing_ok=True)
    return imported_info(FOLDER + name, note)


def set_precision(models: Path, name: str, precision: str) -> ModelInfo:
    """Note in how many bits an imported model's weights are kept from now on; its files stay as they are.

    Raises:
        UserError: there is no such model, or no such precision.
    """
    note = models / f"{name}.json"
    if not NAME.fullmatch(name) or not note.is_file():
        raise UserError(f"name: no imported model is named {name!r}")
    with _at_work(models):
        body = json.loads(note.read_text("utf-8"))
        staged = models / f".{name}.{token_hex(6)}.precision"
        descriptor = os.open(staged, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as out:
                json.dump({**body, "precision": checked_precision(precision)}, out, indent=1)
            os.replace(staged, note)
        finally:
            staged.unlink(missing_ok=True)
    return imported_info(FOLDER + name, note)


def remove_folder(models: Path, name: str) -> None:
    """Delete an imported model, or what is left of one."""
    folder, note = models / name, models / f"{name}.json"
    if not NAME.fullmatch(name) or not (note.is_file() or folder.is_dir()):
        raise UserError(f"name: no imported model is named {name!r}")
    with _at_work(models):
        leaving = models / f".{name}.{token_hex(6)}.part"
        with suppress(FileNotFoundError):
            os.replace(folder, leaving)
        note.unlink(missing_ok=True)
        shutil.rmtree(leaving, ignore_errors=True)


def sweep(models: Path) -> int:
    """Remove what imports and removals left that were killed, unless one is under way; return how many folders.

    Whoever imports or removes holds a lock that the system frees with its process, so nothing alive is touched.
    """
    parts = [path for path in models.glob(".*") if PART.fullmatch(path.name)] if models.is_dir() else []
    if not parts:
        return 0
    with _at_work(models, alone=True) as free:
        if not free:
            return 0
        removed = 0
        for part in parts:
            folder = part
            if part.suffix == NOTE_SUFFIX:
                found = PART.fullmatch(part.name)
                name = found.group(1) if found else ""
                folder = models / name
                finished = (models / f"{name}.json").exists()
                part.unlink(missing_ok=True)
                if finished:
                    continue
            if folder.is_dir():
                shutil.rmtree(folder, ignore_errors=True)
                removed += 1
        return removed


@contextmanager
def _at_work(models: Path, *, alone: bool = False) -> Iterator[bool]:
    """Hold the lock of the models folder, with others or alone; yield whether it was to be had."""
    try:
        import fcntl
    except ImportError:  # no such locks here: then nobody is ever known to be alone
        yield not alone
        return
    lock = os.open(models, os.O_RDONLY)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB if alone else fcntl.LOCK_SH)
            free = True
        except OSError:
            free = not alone  # a file system without locks
        yield free
    finally:
        os.close(lock)


def _copy(source: Path, target: Path) -> None:
    descriptor = os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    with os.fdopen(descriptor, "wb") as out, open_regular(source) as file:
        shutil.copyfileobj(file, out, BLOCK)
