"""The versions in force of an encrypted workspace's files, kept in its database.

A file that was put back, swapped with that of another workspace under the same key, or removed does not have the
version that the database knows. Whoever puts back the database too is noticed by what its logs lack
(`engine.store.disk.heads`).

A version is noted before its file is written, in a transaction of its own, and made the only one once the file has its
name. A process killed in between leaves both noted, and the file has the one or the other: whoever opens the workspace
next keeps what is there. The same holds for files that are removed.

Privacy posture: places of files and random numbers.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path, PurePosixPath

from sqlalchemy import ColumnElement, Connection, and_, delete, select, update

from engine.at_rest import files, keys
from engine.at_rest import versions as at_rest
from engine.at_rest.sealed import HEAD, UNFINISHED, SealedFile, UnsealError, identity
from engine.errors import InternalError
from engine.store.chain import now
from engine.store.database.database import Database
from engine.store.database.dialect import insert
from engine.store.database.schema import corpora, file_versions, pending_removals, releases, runs, settings
from engine.store.disk import parts
from engine.store.disk.encryption.switch import private_files
from engine.store.disk.folder import Folder, file_errors
from engine.store.rows import AnyRow

MARK = "versions of files kept"  # a setting: the check of the data key under which they are
IN_FORCE, WRITTEN, REMOVED = "in force", "written", "removed"
LOOKS = 3  # at what does not fit: the worker may have been replacing it
T = file_versions.c


class FileVersions:
    """Implements `engine.at_rest.versions.Versions` over a workspace's database."""

    def __init__(self, folder: Folder, database: Database) -> None:
        self._folder, self._database = folder, database

    def begin(self, place: str, version: bytes) -> None:
        """Note, before it is written, that a file may have this version too from now on."""
        row = {"place": _told(place), "version": version.hex(), "path": place, "state": WRITTEN}
        self._write(lambda c: c.execute(
            insert(c, file_versions).values(**row, pid=os.getpid(), at=now()).on_conflict_do_nothing()
        ))  # fmt: skip

    def settle(self, places: Sequence[str]) -> None:
        """Note that files have their names: each has the version on the disk and no earlier one."""
        if any(files.version_of(self._folder.path / place) for place in places):
            self._write(lambda connection: self._settled(connection, places))

    def knows(self, place: str, version: bytes) -> bool:
        """Say whether this version of a file is in force, or about to be."""
        query = select(T.state).where(T.place == _told(place), T.version == version.hex())
        with self._database.read() as connection:
            return connection.execute(query).first() is not None

    def leave(self, found: Sequence[tuple[str, bytes]]) -> None:
        """Note, before they are removed, that these versions of files may be gone from now on."""
        values = {"state": REMOVED, "pid": os.getpid(), "at": now()}

        def work(connection: Connection) -> None:
            for place, version in found:
                connection.execute(update(file_versions).where(_this(place, version)).values(**values))

        self._write(work)

    def left(self, found: Sequence[tuple[str, bytes]]) -> None:
        """Forget versions whose files are gone; where another one had been put there, that in force too."""

        def work(connection: Connection) -> None:
            for place, version in found:
                connection.execute(delete(file_versions).where(_this(place, version)))
                query = select(file_versions).where(T.place == _told(place), T.state == IN_FORCE)
                rows = list(connection.execute(query))
                if rows and not _there(self._folder, rows):
                    gone = delete(file_versions).where(T.place == _told(place), T.state == IN_FORCE)
                    connection.execute(gone)

        self._write(work)

    def _settled(self, connection: Connection, places: Sequence[str]) -> None:
        """Within the transaction: two that wrote one file settle one after the other, by what lies there then."""
        for place in places:
            version = files.version_of(self._folder.path / place).hex()
            if not version:
                continue
            values = {"state": IN_FORCE, "path": place, "pid": None, "at": now()}
            mine = update(file_versions).where(T.place == _told(place), T.version == version).values(**values)
            if connection.execute(mine).rowcount:
                others = and_(T.place == _told(place), T.version != version, T.state == IN_FORCE)
                connection.execute(delete(file_versions).where(others))

    def _write(self, work: Callable[[Connection], object]) -> None:
        if self._database.writes:  # it would wait for itself; and what it noted could be rolled back
            raise InternalError("an encrypted file is written or removed inside a transaction")
        with self._database.write() as connection:
            work(connection)


def adopt(folder: Folder, database: Database) -> None:
    """Begin to keep versions where none are kept under the workspace's key: after encryption, or by an older program.

    What lies there is then in force.
    """
    key = keys.of(folder.path)
    if key is None:
        return
    query = select(settings.c.value).where(settings.c.key == MARK)
    with database.read() as connection:
        if connection.execute(query).scalar() == key.check:
            return
    with file_errors(), database.write() as connection:
        if connection.execute(query).scalar() == key.check:  # another process was first
            return
        connection.execute(delete(file_versions))
        for file in private_files(folder):
            place = file.relative_to(folder.path).as_posix()
            version = files.version_of(file).hex()
            if version and place.partition("/")[0] in at_rest.TOPS:
                row = {"place": _told(place), "version": version, "path": place, "state": IN_FORCE, "at": now()}
                connection.execute(insert(connection, file_versions).values(**row).on_conflict_do_nothing())
        row = {"key": MARK, "value": key.check}
        connection.execute(insert(connection, settings).values(**row).on_conflict_do_update(
            index_elements=["key"], set_={"value": key.check}
        ))  # fmt: skip


def recover(folder: Folder, database: Database, *, writers: bool = True) -> None:
    """Settle what killed processes left: of each file, the version that lies there stays.

    writers: whether other processes may be writing; False for a copy that was just unpacked.
    """
    if keys.of(folder.path) is None:
        return
    query = select(file_versions).where(T.state != IN_FORCE)
    with database.read() as connection:
        open_ = [row for row in connection.execute(query) if not (writers and _at_work(row))]
    if not open_:
        return
    for row in open_:
        if row.state == REMOVED and _overwritten(folder.path / str(row.path)):
            (folder.path / str(row.path)).unlink(missing_ok=True)
    with database.write() as connection:
        for place in sorted({row.place for row in open_}):
            ours = {row.version for row in open_ if row.place == place}
            _recovered(connection, folder, place, ours)


def _recovered(connection: Connection, folder: Folder, place: str, ours: set[str]) -> None:
    rows = list(connection.execute(select(file_versions).where(T.place == place)))
    there = _there(folder, rows)
    if not there:  # what was in force and not removed is missed
        connection.execute(delete(file_versions).where(T.place == place, T.version.in_(ours)))
        return
    for row in rows:
        here = and_(T.place == place, T.version == row.version)
        if row.version in ours and row.version in there:
            connection.execute(
                update(file_versions).where(here).values(state=IN_FORCE, pid=None, path=there[row.version])
            )
        elif row.version in ours or (row.state == IN_FORCE and row.version not in there and ours & set(there)):
            connection.execute(delete(file_versions).where(here))


def restored(folder: Folder, database: Database, left_out: Callable[[PurePosixPath], bool]) -> None:
    """Forget, in a workspace that was just unpacked, the files that a backup leaves out.

    left_out: says of a path below the workspace whether it is such a file.
    """
    if keys.of(folder.path) is None:
        return
    recover(folder, database, writers=False)
    with database.write() as connection:
        rows = list(connection.execute(select(file_versions)))
        for row in rows:
            if left_out(PurePosixPath(row.path)) and not _there(folder, [row]):
                connection.execute(delete(file_versions).where(T.place == row.place, T.version == row.version))


def forget(connection: Connection, relative: str) -> None:
    """Forget the files of a folder that is deleted for good, inside the caller's transaction."""
    connection.execute(delete(file_versions).where(T.place.startswith(f"{relative}/", autoescape=True)))


def breaks(folder: Folder, database: Database) -> tuple[str, ...]:
    """Return which files of an encrypted workspace are not those that were written last, in sentences.

    Reads the header and the end of each file; the rest is checked whenever it is used.
    """
    key = keys.of(folder.path)
    if key is None:
        return ()
    found: list[str] = []
    for _ in range(LOOKS):
        found = _looked(folder, database)
        if not found:
            break
    return tuple(found)


def _looked(folder: Folder, database: Database) -> list[str]:
    key = keys.of(folder.path)
    assert key is not None
    found, met = list[str](), set[str]()
    with database.read() as connection:
        ours = _owned(connection)
        known: dict[str, list[AnyRow]] = defaultdict(list)
        for row in connection.execute(select(file_versions)):
            known[row.place].append(row)
    for file in private_files(folder):
        place = file.relative_to(folder.path).as_posix()
        if place.partition("/")[0] not in at_rest.TOPS or not ours(place):
            continue
        told = _told(place)
        met.add(told)
        said = files.version_of(file).hex()
        if not said:
            found.append(f"{place} is not encrypted: another program put it there.")
        elif said not in {row.version for row in known[told]}:
            was = (
                "an earlier one, or one from elsewhere"
                if known[told]
                else "one that was never written there, or removed"
            )
            found.append(f"{place} is not the file that was written last, but {was}.")
        else:
            try:
                with file.open("rb") as stored:
                    SealedFile(stored, key, place)
            except UnsealError:
                found.append(f"{place} was changed or cut.")
            except FileNotFoundError:
                continue
    for told, rows in known.items():
        lasting = [row for row in rows if row.state == IN_FORCE]
        if lasting and told not in met and ours(told) and not _there(folder, rows):
            found.append(f"{lasting[0].path} is missing.")
    return sorted(found)


def _owned(connection: Connection) -> Callable[[str], bool]:
    """Return what says of a place whether the workspace still holds what it belongs to."""
    known = {"corpora": corpora, "runs": runs, "releases": releases}
    there = {f"{top}/{i}" for top, table in known.items() for i in connection.execute(select(table.c.id)).scalars()}
    leaving = set(connection.execute(select(pending_removals.c.path)).scalars())

    def owned(place: str) -> bool:
        top, _, rest = place.partition("/")
        owner = f"{top}/{rest.partition('/')[0]}"
        return top not in known or (owner in there and owner not in leaving)

    return owned


def _there(folder: Folder, rows: Iterable[AnyRow]) -> dict[str, str]:
    """Return version → path of what of these rows lies on the disk, where it was put or where it went from there."""
    found: dict[str, str] = {}
    for row in rows:
        whole = PurePosixPath(*(part.removesuffix(UNFINISHED) for part in PurePosixPath(row.path).parts[:-1]))
        for path in dict.fromkeys((row.path, f"{whole}/{PurePosixPath(row.path).name}", str(row.place))):
            with suppress(ValueError):
                version = files.version_of(folder.path / path).hex()
                if version == row.version:
                    found[version] = path
    return found


def _this(place: str, version: bytes) -> ColumnElement[bool]:
    return and_(T.place == _told(place), T.version == version.hex())


def _told(place: str) -> str:
    return identity(place).decode("utf-8", "backslashreplace")


def _overwritten(path: Path) -> bool:
    """Say whether a file was being removed when its process was killed."""
    try:
        with path.open("rb") as file:
            return not any(file.read(HEAD))
    except OSError:
        return False


def _at_work(row: AnyRow) -> bool:
    if row.pid is None:
        return False
    return row.pid == os.getpid() or parts.writes(row.pid, datetime.fromisoformat(row.at).timestamp())
