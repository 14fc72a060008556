"""The workspace folder: its layout, its mode bits, its key, and atomic files.

Privacy posture: everything below the folder is readable by its owner only (0700 and 0600). File
names are random ids; none is made from the data.
"""

from __future__ import annotations

import errno
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from engine.at_rest import files, header, sealed
from engine.errors import StorageError

KEY_BYTES = 32
REMOVALS = 50  # times that a tree is looked through, where another process removes it too
OVERWRITE_BYTES = 1 << 22
SCRATCH = "scratch"
TEMPORARY = "temporary"  # of the worker of an encrypted workspace
PART_SUFFIX = ".part"
PARTS = ("corpora", "runs", "releases")


def describe_os_error(error: OSError) -> str | None:
    """Return a sentence that says what to do about a file error, or None for an unknown one."""
    sentences = {
        errno.ENOSPC: "The disk that holds the workspace is full. Free some space, then try again.",
        errno.EDQUOT: "The disk quota of the workspace is used up. Free some space, then try again.",
        errno.EROFS: "The workspace lies on a read-only disk. Choose another folder with --workspace.",
        errno.EACCES: "The workspace folder may not be written. Give yourself write access to it, "
        "or choose another folder with --workspace.",
        errno.EPERM: "The workspace folder may not be changed. Give yourself write access to it, "
        "or choose another folder with --workspace.",
        errno.ENOTDIR: "The workspace path leads through a file. Choose a folder with --workspace.",
        errno.EEXIST: "The workspace path is a file, not a folder. Choose a folder with --workspace.",
        errno.EMFILE: "Too many files are open. Close other programs, then try again.",
        errno.EIO: "The disk that holds the workspace reports read or write errors. Check the disk.",
    }
    return sentences.get(error.errno or 0)


@contextmanager
def file_errors() -> Iterator[None]:
    """Turn file errors with a known cause into a `StorageError` that says what to do."""
    try:
        yield
    except OSError as error:
        sentence = describe_os_error(error)
        if sentence is None:
            raise
        raise StorageError(sentence) from None


@dataclass(frozen=True)
class Folder:
    """Paths inside one workspace folder."""

    path: Path

    @property
    def database(self) -> Path:
        """Return the path of the SQLite file."""
        return self.path / "understudy.sqlite"

    @property
    def settings_file(self) -> Path:
        """Return the path of the file that names the PostgreSQL of a workspace without a database file."""
        return self.path / "workspace.toml"

    @property
    def has_database(self) -> bool:
        """Whether the folder holds its database, or says where it is."""
        return self.database.exists() or self.settings_file.exists()

    @property
    def key_file(self) -> Path:
        """Return the path of the 32-byte workspace key."""
        return self.path / "workspace.key"

    @property
    def head_file(self) -> Path:
        """Return the path of the kept heads of the audit log and the ledger."""
        return self.path / "ledger.head"

    @property
    def worker_lock(self) -> Path:
        """Return the path of the lock that the one worker holds."""
        return self.path / "worker.lock"

    @property
    def worker_beat(self) -> Path:
        """Return the path of the file whose time is the worker's last heartbeat."""
        return self.path / "worker.beat"

    @property
    def worker_log(self) -> Path:
        """Return the path of the worker's log."""
        return self.path / "worker.log"

    def records(self, corpus_id: str) -> Path:
        """Return the path of a corpus' record table."""
        return self.path / "corpora" / corpus_id / "records.parquet"

    def corpus(self, corpus_id: str) -> Path:
        """Return the folder of a corpus."""
        return self.path / "corpora" / corpus_id

    def run(self, run_id: str) -> Path:
        """Return the folder of a run's tables."""
        return self.path / "runs" / run_id

    def scratch(self, run_id: str) -> Path:
        """Return the folder of an unfinished run's checkpoints."""
        return self.run(run_id) / SCRATCH

    def release(self, release_id: str) -> Path:
        """Return the folder of a release's files."""
        return self.path / "releases" / release_id

    def create(self) -> None:
        """Create the folder and its parts with owner-only modes."""
        with file_errors():
            try:
                self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            except FileNotFoundError:  # a virtual disk such as /proc: its folders cannot be made
                raise StorageError(
                    "The workspace folder cannot be made at this place. Choose another folder with --workspace."
                ) from None
            if os.name == "posix" and self.path.stat().st_mode & 0o077:
                self.path.chmod(0o700)
            for name in PARTS:
                (self.path / name).mkdir(mode=0o700, exist_ok=True)

    def make_key(self) -> None:
        """Create the workspace key unless there is one."""
        with file_errors():
            key = files.stored(self.key_file, secrets.token_bytes(KEY_BYTES))
            temporary = write_private(self.key_file, key)
            try:
                os.link(temporary, self.key_file)  # fails if another process was first
            except FileExistsError:
                pass
            finally:
                temporary.unlink()
            sync_folder(self.path)

    def key(self) -> bytes:
        """Return the workspace key.

        Raises:
            StorageError: it is missing or damaged.
        """
        with file_errors():
            try:
                key = files.read_bytes(self.key_file)
            except FileNotFoundError:
                raise StorageError(
                    f"The key of this workspace, {self.key_file.name}, is missing. Put it back from a backup."
                ) from None
        if sealed.is_sealed(key):
            raise StorageError(
                f"This workspace is encrypted, and its header, {header.NAME}, is missing. Put it back from a backup of "
                "this workspace; without it nothing can be read."
            )
        if len(key) != KEY_BYTES:
            raise StorageError(
                "The workspace key file is damaged: it must hold 32 bytes. Restore it from a backup of this workspace."
            )
        return key


def part_beside(path: Path) -> Path:
    """Return a fresh name beside `path` for what this process is about to write; see `engine.store.disk.parts`."""
    return path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(6)}{PART_SUFFIX}")


def write_private(near: Path, data: bytes) -> Path:
    """Write `data` to a new owner-only file beside `near`, flush it to disk and return its path."""
    near.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    temporary = part_beside(near)
    descriptor = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return temporary


def write_atomic(path: Path, data: bytes) -> None:
    """Replace the file at `path` by `data` in one step, owner-only; encrypted where its workspace is."""
    with file_errors():
        temporary = write_private(path, files.stored(path, data))
        os.replace(temporary, path)
        sync_folder(path.parent)
    files.settle(path)


def sync_folder(path: Path) -> None:
    """Flush a folder's entries to disk where the system allows it."""
    if os.name != "posix":
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove_tree(path: Path) -> None:
    """Overwrite and delete a file, or a folder with the files below it; a missing one is no error.

    Nor is one that another process removes meanwhile: what is left of it is removed, however little.
    """
    with file_errors(), files.removing(path):
        for _ in range(REMOVALS - 1):
            try:
                _remove(path)
            except FileNotFoundError:
                continue
            return
        _remove(path)


def _remove(path: Path) -> None:
    if not path.exists():
        return
    folder = path.is_dir() and not path.is_symlink()
    for file in path.rglob("*") if folder else (path,):
        if file.is_file() and not file.is_symlink():
            overwrite(file)
    if folder:
        shutil.rmtree(path)
    else:
        path.unlink()


def overwrite(file: Path) -> None:
    """Write zeros over a file in blocks and flush them."""
    left = file.stat().st_size
    with file.open("r+b") as handle:
        while left > 0:
            left -= handle.write(bytes(min(left, OVERWRITE_BYTES)))
        handle.flush()
        os.fsync(handle.fileno())
