"""Fetch a model by its hub id: what the hub lists, which files are needed, and each held against its digest.

Nothing is asked for before the custodian's written consent (`engine.models.remote.consent.Download`). Only weights in
the safetensors format, settings, tokenizer and licence are fetched, never code or pickles. Large files are held against
the SHA-256 that the hub states, small ones against their Git digest; a folder is checked once more before it is kept.

Privacy posture: what leaves the machine is the model's name and this machine's address; no record, no token, no key.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO
from urllib.parse import quote, urljoin, urlsplit

from engine.errors import UserError
from engine.json_types import JSON
from engine.models.folder.inspection import KEPT_NAMES, KEPT_SUFFIXES, REFUSED
from engine.models.remote.endpoint_settings import is_loopback

if TYPE_CHECKING:
    import httpx

PUBLIC = "https://huggingface.co"
REVISION = re.compile(r"[A-Za-z0-9][\w.-]{0,99}(/[\w-][\w.-]{0,99})*")
COMMIT = re.compile(r"[0-9a-f]{40}")
NAME = re.compile(r"[A-Za-z0-9_][\w.-]{0,150}")
WEIGHTS = re.compile(r"model(-\d{5}-of-\d{5})?\.safetensors")
CONNECT_SECONDS, READ_SECONDS = 10.0, 60.0
LARGEST_LISTING, BLOCK, REDIRECTS = 16 << 20, 1 << 20, 5


@dataclass(frozen=True)
class HubFile:
    """One file: its size in bytes, and its SHA-256, or for a small one its Git digest (SHA-1)."""

    name: str
    size: int
    sha256: str
    git: str


@dataclass(frozen=True)
class Listing:
    """What of a model is needed, at one commit."""

    model: str
    commit: str
    files: tuple[HubFile, ...]

    @property
    def bytes(self) -> int:
        """Return the bytes of all files."""
        return sum(file.size for file in self.files)


def address() -> str:
    """Return the hub's address: `HF_ENDPOINT` where it is set, as for the hub's own library, else the public one.

    Raises:
        UserError: it is no https address.
    """
    found = os.environ.get("HF_ENDPOINT", "").strip().rstrip("/") or PUBLIC
    parts = urlsplit(found)
    if not parts.hostname or parts.username or parts.query or not _safe(found):
        raise UserError("HF_ENDPOINT: must be an https address; correct it, or take it away for the public hub")
    return found


def host() -> str:
    """Return host:port of the hub, as a consent names it."""
    parts = urlsplit(address())
    return f"{parts.hostname}:{parts.port or (443 if parts.scheme == 'https' else 80)}"


class Hub:
    """One conversation with the hub.

    Args:
        told: gets bytes fetched, after each block; may raise to stop.
    """

    def __init__(self, told: Callable[[int], None] = lambda done: None) -> None:
        self._address, self._told, self._done = address(), told, 0

    def listing(self, model: str, revision: str = "main") -> Listing:
        """Return what of a model is needed.

        Raises:
            UserError: the hub cannot be reached, does not have it or does not give it to everyone, or it has no
                weights in the safetensors format.
        """
        if not REVISION.fullmatch(revision):
            raise UserError(f"revision: must be a branch, a tag or a commit, is {revision!r}")
        url = f"{self._address}/api/models/{model}/revision/{quote(revision, safe='')}?blobs=true"
        with self._stream(url, model) as reply:
            body = _whole(reply, LARGEST_LISTING)
        try:
            values = json.loads(body)
            commit = str(values["sha"])
            files = tuple(_file(entry) for entry in values["siblings"] if _needed(str(entry["rfilename"])))
            if not COMMIT.fullmatch(commit):
                raise ValueError
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise UserError(f"the hub's answer about {model!r} cannot be read; try again later") from None
        if not any(WEIGHTS.fullmatch(file.name) for file in files):
            raise UserError(f"model {model!r} has no weights in the safetensors format; choose another one")
        return Listing(model, commit, files)

    def fetch(self, listed: Listing, folder: Path) -> None:
        """Write a model's files into a folder that exists, owner-only, each held against its digest.

        Raises:
            UserError: the hub cannot be reached, or a file is not what the hub said it is.
        """
        for file in listed.files:
            url = f"{self._address}/{listed.model}/resolve/{listed.commit}/{quote(file.name)}"
            descriptor = os.open(folder / file.name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
            with os.fdopen(descriptor, "wb") as out, self._stream(url, listed.model) as reply:
                self._save(file, reply, out)

    def _save(self, file: HubFile, reply: httpx.Response, out: BinaryIO) -> None:
        large = hashlib.sha256() if file.sha256 else hashlib.sha1(f"blob {file.size}\0".encode(), usedforsecurity=False)
        size = 0
        for block in reply.iter_bytes(BLOCK):
            size += len(block)
            if size > file.size:
                break
            large.update(block)
            out.write(block)
            self._done += len(block)
            self._told(self._done)
        if size != file.size or large.hexdigest() != (file.sha256 or file.git):
            raise UserError(f"{file.name}: what came is not what the hub lists (size or digest differ); try again")

    @contextmanager
    def _stream(self, url: str, model: str) -> Iterator[httpx.Response]:
        """Yield a reply, redirects followed; they lead to the hub's file servers and may not leave https."""
        import httpx

        where = urlsplit(url).hostname or ""
        limits = httpx.Timeout(READ_SECONDS, connect=CONNECT_SECONDS)
        try:
            with httpx.Client(timeout=limits, trust_env=not is_loopback(where), follow_redirects=False) as client:
                for _ in range(REDIRECTS):
                    with client.stream("GET", url) as reply:
                        if not reply.is_redirect:
                            _check(reply, model)
                            yield reply
                            return
                        url = urljoin(url, reply.headers.get("location", ""))
                    if not _safe(url):
                        raise UserError("the hub leads to an address that is not https; nothing was fetched from there")
                raise UserError("the hub leads from one address to the next without end; try again later")
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise UserError(
                f"{where} could not be reached ({type(error).__name__}): see that this machine has a network and that "
                "nothing blocks the way, or bring the model's folder on a disk and import it"
            ) from None


def _check(reply: httpx.Response, model: str) -> None:
    if reply.status_code in (401, 403):
        raise UserError(
            f"model {model!r} does not exist, or is not open to everyone (status {reply.status_code}); get it with "
            "your own account and import its folder"
        )
    if reply.status_code == 404:
        raise UserError(f"model {model!r} or its revision is not on the hub; see that the name is right")
    if reply.status_code != 200:
        raise UserError(f"the hub answered with status {reply.status_code}; try again later")


def _whole(reply: httpx.Response, most: int) -> bytes:
    body = bytearray()
    for block in reply.iter_bytes(BLOCK):
        body += block
        if len(body) > most:
            raise UserError("the hub's answer is too long to be a list of files; try another model")
    return bytes(body)


def _needed(name: str) -> bool:
    suffix = Path(name).suffix.lower()
    if not NAME.fullmatch(name) or suffix in REFUSED:
        return False
    if suffix == ".safetensors":
        return WEIGHTS.fullmatch(name) is not None
    return suffix in KEPT_SUFFIXES or KEPT_NAMES.fullmatch(name) is not None


def _file(entry: JSON) -> HubFile:
    large = entry.get("lfs") or {} if isinstance(entry, Mapping) else None
    if not isinstance(entry, Mapping) or not isinstance(large, Mapping):
        raise ValueError
    size, git = int(str(large.get("size", entry["size"]))), str(entry["blobId"])
    sha256 = str(large.get("sha256", ""))
    if size < 0 or not re.fullmatch(r"[0-9a-f]{64}" if large else "", sha256) or not COMMIT.fullmatch(git):
        raise ValueError
    return HubFile(str(entry["rfilename"]), size, sha256, git)


def _safe(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme == "https" or (parts.scheme == "http" and is_loopback(parts.hostname or ""))
