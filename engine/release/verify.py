"""Check a release bundle: every file listed, none changed, none added.

Reads only plain names inside the bundle, follows no link, and reads no more than the manifest
promises, so that a hostile bundle cannot make the check leave its folder or fill memory.
"""

from __future__ import annotations

import hashlib
import json
import re
import zipfile
import zlib
from pathlib import Path
from typing import Protocol, TypedDict

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from engine.errors import NotFoundError

MANIFEST, SUMS = "manifest.json", "SHA256SUMS"
_PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")
_SMALL = 1 << 20  # bytes; more than any manifest or checksum list needs


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str
    what: str = ""
    bytes: int = Field(ge=0)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")


class _Manifest(BaseModel):
    format: int
    release: str
    files: list[_Entry] = Field(min_length=1)


class FileCheck(TypedDict):
    """Whether one file of a bundle is as the manifest says, and what is wrong with it, empty where nothing is."""

    name: str
    ok: bool
    problem: str


class BundleCheck(TypedDict):
    """Whether a bundle is whole, of which release it says that it is, its files, and all problems as sentences."""

    ok: bool
    release: str
    files: list[FileCheck]
    problems: list[str]


class _Source(Protocol):
    def names(self) -> list[str]: ...

    def read(self, name: str, limit: int) -> bytes: ...


def verify(bundle: Path, *, manifest_sha256: str | None = None) -> BundleCheck:
    """Return whether a folder or zip file is a whole release, and what is wrong with it.

    Args:
        manifest_sha256: checksum from the custodian's audit log, if it is to be compared too.
    """
    if not bundle.exists():
        raise NotFoundError(f"bundle: {bundle.name} does not exist; give the folder or zip file of a release")
    try:
        source: _Source = _Folder(bundle) if bundle.is_dir() else _Zip(bundle)
        return _verify(source, manifest_sha256)
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError):
        return _result("", [], ["not a release bundle: neither a folder nor a readable zip file"])
    except OSError as error:
        return _result("", [], [f"cannot be read: {error.strerror or 'unknown reason'}"])


def _verify(source: _Source, expected: str | None) -> BundleCheck:
    names = source.names()
    problems = [f"unsafe file name ({len(n)} characters)" for n in names if not _PLAIN_NAME.fullmatch(n)]
    if len(names) != len(set(names)):
        problems.append("a file name occurs twice")
    if problems:
        return _result("", [], problems)
    missing = [f"{name} is missing" for name in (MANIFEST, SUMS) if name not in names]
    if missing:
        return _result("", [], missing)
    raw = source.read(MANIFEST, _SMALL)
    try:
        manifest = _Manifest.model_validate(json.loads(raw))
    except (ValueError, ValidationError, RecursionError):
        return _result("", [], [f"{MANIFEST} is not a release manifest"])
    if expected is not None and hashlib.sha256(raw).hexdigest() != expected.lower():
        problems.append(f"{MANIFEST} is not the one in the audit log")
    files = [_check(source, names, entry) for entry in manifest.files]
    listed = {entry.name for entry in manifest.files} | {MANIFEST, SUMS}
    problems += [f"{file['name']}: {file['problem']}" for file in files if not file["ok"]]
    problems += [f"{name}: not listed in {MANIFEST}" for name in sorted(set(names) - listed)]
    sums = {entry.name: entry.sha256 for entry in manifest.files} | {MANIFEST: hashlib.sha256(raw).hexdigest()}
    if source.read(SUMS, _SMALL) != "".join(f"{h}  {n}\n" for n, h in sorted(sums.items())).encode():
        problems.append(f"{SUMS} does not agree with {MANIFEST}")
    return _result(manifest.release, files, problems)


def _check(source: _Source, names: list[str], entry: _Entry) -> FileCheck:
    problem = ""
    if not _PLAIN_NAME.fullmatch(entry.name):
        return {"name": "(unsafe name)", "ok": False, "problem": "unsafe file name"}
    if entry.name not in names:
        problem = "missing"
    else:
        data = source.read(entry.name, entry.bytes + 1)
        if len(data) != entry.bytes:
            problem = "size differs"
        elif hashlib.sha256(data).hexdigest() != entry.sha256:
            problem = "content differs"
    return {"name": entry.name, "ok": not problem, "problem": problem}


def _result(release: str, files: list[FileCheck], problems: list[str]) -> BundleCheck:
    return {"ok": not problems, "release": release, "files": files, "problems": problems}


class _Folder:
    """A bundle as a folder; links and subfolders are names that are never plain."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def names(self) -> list[str]:
        return [p.name if p.is_file() and not p.is_symlink() else f"{p.name}/" for p in self._path.iterdir()]

    def read(self, name: str, limit: int) -> bytes:
        with (self._path / name).open("rb") as file:
            return file.read(limit)


class _Zip:
    """A bundle as a zip file; nothing is ever unpacked to disk."""

    def __init__(self, path: Path) -> None:
        with zipfile.ZipFile(path) as archive:
            self._names = [info.filename for info in archive.infolist()]
        self._path = path

    def names(self) -> list[str]:
        return self._names

    def read(self, name: str, limit: int) -> bytes:
        with zipfile.ZipFile(self._path) as archive, archive.open(name) as file:
            return file.read(limit)
