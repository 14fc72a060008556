"""Where the database of a workspace is: the file in its folder, or a PostgreSQL that its `workspace.toml` names.

Beside that line, the file may name where finished files lie: `blobs = "URL"` (`engine.store.disk.blobs`).

Privacy posture: an address may hold a password, so it stands in no message; what is written here never has one.
"""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from engine.errors import StorageError
from engine.store.disk.blobs.place import checked
from engine.store.disk.folder import Folder, file_errors, write_private

ENVIRONMENT = "UNDERSTUDY_WORKSPACE"
SCHEMES = ("postgresql://", "postgres://", "postgresql+psycopg://")
MISTAKE = (
    'The file workspace.toml of this workspace is not usable: it must hold the line database = "postgresql://…". '
    "Correct it; without it the database cannot be found."
)


def database_url(folder: Folder) -> URL | None:
    """Return the address of the PostgreSQL that a workspace names, None where its database is a file of its own.

    Raises:
        StorageError: the file cannot be understood, or there are a database of each kind.
    """
    said = _said(folder)
    if said is None:
        return None
    try:
        url = _url(said["database"])
    except (KeyError, TypeError, ValueError):
        raise StorageError(MISTAKE) from None
    if folder.database.exists():
        raise StorageError(
            f"This workspace has two databases: the file {folder.database.name}, and the one that workspace.toml "
            "names. Move the one away that is not to count. Nothing was changed."
        )
    return url


def blobs_url(folder: Folder) -> str | None:
    """Return where a workspace says that its finished files lie too, None where they lie in its folder alone.

    Raises:
        StorageError: the file cannot be understood, or the URL is none, holds a credential or keeps nothing.
    """
    said = _said(folder)
    return None if said is None or "blobs" not in said else checked(said["blobs"], folder.path)


def _said(folder: Folder) -> dict[str, object] | None:
    with file_errors():
        try:
            return tomllib.loads(folder.settings_file.read_text("utf-8"))
        except FileNotFoundError:
            return None
        except (UnicodeDecodeError, tomllib.TOMLDecodeError):
            raise StorageError(MISTAKE) from None


def default_path() -> Path:
    """Return what `UNDERSTUDY_WORKSPACE` names, or the folder `understudy` under the user's data directory."""
    named = os.environ.get(ENVIRONMENT, "").strip()
    if named:
        return workspace_folder(named)
    import platformdirs

    return Path(platformdirs.user_data_dir("understudy", appauthor=False))


def workspace_folder(text: str) -> Path:
    """Return the folder of what `--workspace` says: a folder, or postgresql://USER@HOST/NAME?folder=FOLDER.

    An address is noted in the folder's `workspace.toml`, so that the folder alone names the workspace from then on.

    Raises:
        StorageError: the address names no folder, has a password, or is not that of this folder's database.
    """
    if not text.startswith(SCHEMES):
        return Path(text).expanduser()
    try:
        url = _url(text)
    except ValueError:
        raise StorageError("workspace: the address must look like postgresql://USER@HOST/NAME?folder=FOLDER") from None
    named = url.query.get("folder")
    if not isinstance(named, str) or not named.strip():
        raise StorageError(
            "workspace: a database alone is no workspace; tables, keys and logs need a folder. "
            "Add it to the address: postgresql://USER@HOST/NAME?folder=FOLDER"
        )
    if url.password is not None:
        raise StorageError(
            "workspace: an address on the command line must not hold the password, which others could read there. "
            "Name it in a file that PGPASSFILE points to, or in the variable PGPASSWORD."
        )
    folder = Folder(Path(named).expanduser().absolute())
    note(folder, url.difference_update_query(["folder"]))
    return folder.path


def note(folder: Folder, url: URL) -> None:
    """Write a database's address into a workspace's `workspace.toml`, unless it stands there.

    Raises:
        StorageError: the folder has another database.
    """
    known = database_url(folder)
    if known is not None and known.set(password=None) != url.set(password=None):
        raise StorageError("workspace: the workspace.toml of this folder names another database; nothing was changed")
    if known is not None:
        return
    if folder.key_file.exists() or folder.database.exists():
        raise StorageError(
            "workspace: this folder holds a workspace with a database of its own. "
            "To move it: python -m engine workspace copy FROM TO"
        )
    folder.create()
    plain = url.set(drivername="postgresql", password=None).render_as_string().replace("\\", "\\\\").replace('"', '\\"')
    with file_errors():
        write_private(folder.settings_file, f'database = "{plain}"\n'.encode()).replace(folder.settings_file)


def _url(text: object) -> URL:
    """Return an address; `ValueError` where it is none of a PostgreSQL."""
    if not isinstance(text, str) or not text.startswith(SCHEMES):
        raise ValueError
    try:
        url = make_url(text)
    except ArgumentError:
        raise ValueError from None
    if not url.database:
        raise ValueError
    return url.set(drivername="postgresql+psycopg")
