"""The heads of the audit log and the ledger, kept in a small file beside the key.

A database that is older than its heads, or has another history, was put back by hand: what was spent since is
missing from its ledger, so it is not opened until a person says so. The file is written after each commit that
added a line, and read before the database is: it may be behind the database, never ahead of it, whenever a
process is killed. A file whose lines the database no longer has stays as it is, however many lines come after: what
was put back under an open program shows too. Whoever puts the database and this file back together, or takes away this
file under an open program, cannot be noticed from inside the folder. A folder that was copied, elsewhere or back to
its own place, can: the file holds where the workspace lies (`engine.store.disk.place`).

Privacy posture: line numbers, keyed seals, the workspace's own path.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from sqlalchemy import Connection, select

from engine.errors import StorageError
from engine.store import audit
from engine.store.budget import lines as ledger_lines
from engine.store.chain import Chain
from engine.store.database.database import Database
from engine.store.database.dialect import insert
from engine.store.database.schema import settings
from engine.store.disk.folder import Folder, file_errors, write_private
from engine.store.disk.lock import locked
from engine.store.disk.place import Place

CHAINS: tuple[Chain, ...] = (audit.CHAIN, ledger_lines.CHAIN)
MARK = "head file kept"  # a setting: from here on a missing file is noticed
GO_ON = (
    "Put the newer database back, or restore the latest backup into a new folder. To go on with what is here, run "
    "`python -m engine ledger --accept-rollback`: every ledger then says that the amount spent since is unknown."
)

Heads = dict[str, tuple[int, str]]


class RolledBackError(StorageError):
    """The database is older than the heads that were kept beside the key, or has another history."""


def check(folder: Folder, database: Database, key: bytes) -> None:
    """Compare the database with the kept heads, and keep those of the database from now on.

    Raises:
        RolledBackError: the database lacks lines that it once had, or the file with the heads is missing.
    """
    kept = _kept(folder)
    with database.read() as connection:
        marked = connection.execute(select(settings.c.value).where(settings.c.key == MARK)).first() is not None
        if kept is not None:
            _compare(connection, key, kept)
    if kept is None and marked and _kept(folder) is None:  # written before the mark, so read once more
        raise RolledBackError(
            f"The file {folder.head_file.name} of the workspace is missing, so nothing tells whether its database is "
            f"the latest. {GO_ON}"
        )
    keep(folder, database, key)
    if not marked:
        with database.write() as connection:
            connection.execute(insert(connection, settings).values(key=MARK, value=True).on_conflict_do_nothing())


def keep(folder: Folder, database: Database, key: bytes, *, anew: bool = False, place: Place | None = None) -> None:
    """Write the database's heads into the file; those that the database does not have stay unless written `anew`.

    place: where the workspace lies; None leaves what the file says.
    """
    with locked(folder.path / "ledger.lock"):
        before: Heads = {}
        with database.read() as connection:
            found = {chain.name: _head(connection, chain) for chain in CHAINS}
            if not anew:
                with suppress(RolledBackError):
                    before = _kept(folder) or {}
            other = any(
                seq and not chain.holds(connection, key, seq, seal)
                for chain in CHAINS for seq, seal in [before.get(chain.name, (0, ""))]
            )  # fmt: skip
        if place is None and before and (other or before == found):
            return
        found = before if other else found
        body: dict[str, Any] = {name: {"seq": seq, "seal": seal} for name, (seq, seal) in found.items()}
        place = place or kept_place(folder)
        if place is not None:
            body["place"] = asdict(place)
        with file_errors():
            # The folder's entry is not flushed: after a loss of power the file may be an older one.
            write_private(folder.head_file, json.dumps(body, indent=1).encode()).replace(folder.head_file)


def kept_place(folder: Folder) -> Place | None:
    """Return where the file says that the workspace lies, None where it does not say."""
    try:
        said = json.loads(folder.head_file.read_text("utf-8"))["place"]
        return Place(str(said["path"]), str(said["machine"]), int(said["inode"]), int(said.get("changed", 0)))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def note(folder: Folder, database: Database, key: bytes) -> None:
    """Write the heads after a commit; a full disk leaves the file behind, which is no error."""
    with suppress(StorageError, OSError):
        keep(folder, database, key)


def kept(folder: Folder, name: str) -> tuple[int, str] | None:
    """Return the kept number and seal of a chain's last line, None where there is no file or it is damaged."""
    try:
        return (_kept(folder) or {}).get(name)
    except RolledBackError:
        return None


def lines_missing(folder: Folder, database: Database) -> Mapping[str, int]:
    """Return how many lines of each chain the database lacks against the kept heads, 0 where that is unknown."""
    try:
        kept = _kept(folder) or {}
    except RolledBackError:
        kept = {}
    with database.read() as connection:
        found = {chain.name: _head(connection, chain)[0] for chain in CHAINS}
    return {name: max(0, kept.get(name, (0, ""))[0] - seq) for name, seq in found.items()}


def _compare(connection: Connection, key: bytes, kept: Heads) -> None:
    for chain in CHAINS:
        seq, seal = kept.get(chain.name, (0, ""))
        if seq and not chain.holds(connection, key, seq, seal):
            last = _head(connection, chain)[0]
            found = f"ends at line {last} of {seq}" if last < seq else f"has another line {seq} than it had"
            raise RolledBackError(
                f"The database of this workspace is not the latest: its {chain.name} {found}, so what was spent "
                f"since is missing. {GO_ON}"
            )


def _head(connection: Connection, chain: Chain) -> tuple[int, str]:
    row = connection.execute(select(chain.head.c.seq, chain.head.c.seal)).first()
    return (row.seq, row.seal) if row else (0, "")


def _kept(folder: Folder) -> Heads | None:
    """Return the kept heads, None where there is no file."""
    with file_errors():
        try:
            text = folder.head_file.read_text("utf-8")
        except FileNotFoundError:
            return None
    try:
        body: dict[str, Any] = json.loads(text)
        return {chain.name: (int(body[chain.name]["seq"]), str(body[chain.name]["seal"])) for chain in CHAINS}
    except (ValueError, KeyError, TypeError):
        raise RolledBackError(
            f"The file {folder.head_file.name} of the workspace is damaged, so nothing tells whether its database is "
            f"the latest. {GO_ON}"
        ) from None
