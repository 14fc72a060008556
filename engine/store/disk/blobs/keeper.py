"""Which version of each file that lies elsewhere is in force; putting, bringing here, removing.

A version's row is there before the first byte of it is: `written`, by whom; `in force` once all of it is there; and
`removed` before it is taken away. So whatever a killed process left has a row, and `sweep` goes by rows alone. A file
has at most one version in force. A writer's row that was taken for a dead one's is no longer there when it comes to
put its version in force, and then it is not.

Privacy posture: paths below the workspace, random keys, sizes and times.
"""

from __future__ import annotations

import hmac
import os
import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import ColumnElement, Connection, and_, delete, or_, select, update

from engine.at_rest import elsewhere, sealed
from engine.at_rest.keys import DataKey
from engine.at_rest.sealed import UnsealError
from engine.errors import InternalError, StorageError
from engine.store.audit import now
from engine.store.database.database import Database
from engine.store.database.dialect import insert
from engine.store.database.schema import blobs, corpora, releases, removed, runs, settings
from engine.store.disk import parts
from engine.store.disk.address import blobs_url
from engine.store.disk.blobs import place as places
from engine.store.disk.blobs.here import NOTHING, Here, Known, look
from engine.store.disk.blobs.names import kind, owner, shared
from engine.store.disk.blobs.place import BlobError, BlobPlace, NoBlobError
from engine.store.disk.folder import PARTS, Folder, file_errors, part_beside
from engine.store.disk.lock import locked
from engine.store.disk.place import working_place
from engine.store.rows import AnyRow

WRITTEN, IN_FORCE, REMOVED = "written", "in force", "removed"
TOLD = "place of blobs"  # a setting: the random id of the place, and whether all of the workspace lies there
LOOKS = 20  # at a file that others replace meanwhile
TIDY_SECONDS = 60.0
ADOPTING = 3600.0  # seconds that another process may take to put a whole workspace there
T = blobs.c

NO_PLACE = (
    "The tables of this workspace lie at a place that its workspace.toml does not name on this machine. Add the line "
    'blobs = "URL", the same on every machine, and open it again. Nothing was changed.'
)
NEEDS_POSTGRESQL = (
    "A place of blobs is for a workspace that several machines share, and so one in PostgreSQL: a database file is of "
    "one machine. Move it with `workspace copy` first. Nothing was changed."
)
NOT_HERE = (
    "Not all tables of this workspace lie in this folder, so it cannot be the one that puts them where workspace.toml "
    "says. Open the workspace on the machine that has them first. Nothing was changed."
)
MISSING = "{kind} is missing where the workspace's blobs lie. Restore the workspace from a backup."
DAMAGED = (
    "{kind} was cut short or changed where the workspace's blobs lie, so it is not used. Restore the workspace from a "
    "backup."
)
TAKEN = "What was just written took so long that this process was taken for a dead one. Try again."


class DamagedBlobError(BlobError, UnsealError):
    """A blob is missing, or not what was put there."""


@dataclass(frozen=True)
class State:
    """How a workspace's blobs are.

    scheme: of the URL. count, size: of what is in force, size in bytes as it lies there. bad: what of it is missing or
    has another size, in words, a word for each. strays: blobs there of which no row tells. leaving: those that are
    still to be removed.
    """

    scheme: str
    count: int
    size: int
    bad: tuple[str, ...]
    strays: int
    leaving: int


def opened(folder: Folder, database: Database, key: bytes, *, put: bool = True) -> Blobs | None:
    """Return what keeps a workspace's files elsewhere, None where they lie in its folder alone.

    A workspace whose `workspace.toml` names a place for the first time is put there as a whole.

    put: False where nothing is to be written; a workspace that was not yet put there lies in its folder alone then.

    Raises:
        StorageError: the place cannot be used, or is not that of this workspace.
    """
    url = blobs_url(folder)
    with database.read() as connection:
        told = _told(connection)
    if url is None:
        if told is not None:
            raise StorageError(NO_PLACE)
        return None
    if database.is_file:
        raise StorageError(NEEDS_POSTGRESQL)
    if told is not None and told[1]:
        found = Blobs(folder, database, key, url, told[0])
        if put:
            found.put_rest()
        return found
    if not put:
        return None
    with locked(folder.path / "blobs.lock", ADOPTING):
        with database.read() as connection:
            told = _told(connection)  # another process may have been first
            if told is None or not told[1]:
                _demand_whole(connection, folder)
        found = Blobs(folder, database, key, url, told[0] if told else secrets.token_hex(8))
        if told is None or not told[1]:
            found.adopt()
    return found


@contextmanager
def reading(folder: Folder, database: Database, key: bytes) -> Iterator[Blobs | None]:
    """Have what is read within this brought here, for who has a workspace open without a session; nothing is put.

    Raises:
        StorageError: the place cannot be used, or is not that of this workspace.
    """
    found = opened(folder, database, key, put=False)
    if found is None:
        yield None
        return
    elsewhere.follow(folder.path, found)
    try:
        yield found
    finally:
        elsewhere.drop(folder.path, found)


def _told(connection: Connection) -> tuple[str, bool] | None:
    value = connection.execute(select(settings.c.value).where(settings.c.key == TOLD)).scalar()
    return (str(value["id"]), bool(value["whole"])) if isinstance(value, dict) else None


def _demand_whole(connection: Connection, folder: Folder) -> None:
    tables = [folder.records(one) for one in connection.execute(select(corpora.c.id)).scalars()]
    bundles = [folder.release(one) for one in connection.execute(select(releases.c.id)).scalars()]
    if not all(path.exists() for path in (*tables, *bundles)):
        raise StorageError(NOT_HERE)


class Blobs:
    """Keeps the finished files of one workspace elsewhere; implements `engine.at_rest.elsewhere.Elsewhere`.

    Attributes:
        url: as `workspace.toml` has it. ident: what this workspace's part of it is called.
        tidy: called about once a minute while files are read, outside of writes.
    """

    def __init__(
        self, folder: Folder, database: Database, key: bytes, url: str, ident: str, *, there: BlobPlace | None = None
    ) -> None:
        """Open nothing yet.

        Args:
            folder: of the workspace. database: of it. key: of it. url: where the blobs lie. ident: random name of this
            workspace's part of that. there: in place of what the URL names.
        """
        self.url, self.tidy = url, _nothing
        self._folder, self._database, self.ident = folder, database, ident
        self._key = DataKey(hmac.new(key, b"blobs", "sha256").digest())
        self._machine = working_place(folder, key)
        self._place = there or places.at(url, ident)
        self._here = Here(folder.path)
        self._tidied = time.monotonic()

    def adopt(self) -> None:
        """Put a whole workspace there that has lain in its folder alone so far.

        Raises:
            StorageError: the place cannot be used.
        """
        self._place.make()
        self._tell(whole=False)
        with self._database.read() as connection:
            ours = _owners(connection)
        files = self._files()
        self.settle([path for path in files if owner(path) in ours])
        self._tell(whole=True)

    def put_rest(self) -> None:
        """Put corpora, runs and releases there of which nothing is: a program made them that did not know of the place.

        What cannot be put now is for the next opening.
        """
        with self._database.read() as connection:
            ours = _owners(connection) - {owner(path) for path in connection.execute(select(T.path)).scalars()}
        if not any((self._folder.path / one).is_dir() for one in ours):
            return
        known = self._here.below("")
        with suppress(BlobError):
            self.settle([path for path in self._files() if owner(path) in ours and path not in known])

    def _tell(self, *, whole: bool) -> None:
        value = {"id": self.ident, "whole": whole}
        with self._database.write() as connection:
            told = _told(connection)
            if told is not None and told[0] != self.ident:
                raise StorageError("Another machine is putting this workspace there. Open it again in a while.")
            row = insert(connection, settings).values(key=TOLD, value=value)
            connection.execute(row.on_conflict_do_update(index_elements=["key"], set_={"value": value}))

    def begin(self, place: str) -> None:
        """Note that this process is about to write a file here, which is therefore the one to be read here."""
        if shared(place):
            self._here.begin(place)

    def settle(self, places: Sequence[str]) -> None:
        """Put files that have their names; returns once they are there and in force.

        Raises:
            StorageError: one could not be put. Those in force before are.
        """
        files = [path for path in places if shared(path) and _is_file(self._folder.path / path)]
        if not files:
            return
        self._demand_no_write()
        force = self._in_force(files)
        known = {path: self._here.below(path).get(path, NOTHING) for path in files}
        new = [path for path in files if not self._is_here(path, known[path], force.get(path))]
        if new:
            self._put_all(new)
        for path in set(files) - set(new):
            if known[path].pid is not None:  # written again, and the same
                self._here.settled(path, known[path].key, look(self._folder.path / path))

    def _put_all(self, files: Sequence[str]) -> None:
        keys = {path: secrets.token_hex(16) for path in files}
        seen: dict[str, tuple[int, int, int]] = {}
        try:
            for path in files:
                with file_errors(), (self._folder.path / path).open("rb") as content:
                    seen[path] = look(content.fileno())
                    size = sealed.stored_size(seen[path][0])
                    values = {"key": keys[path], "path": path, "size": size, "state": WRITTEN, "at": now()}
                    with self._database.brief() as connection:
                        connection.execute(blobs.insert().values(machine=self._machine, pid=os.getpid(), **values))
                    pieces = sealed.sealing(content, seen[path][0], self._key, f"{path}/{keys[path]}")
                    self._place.put(keys[path], pieces, size)
            before = self._database.retried(lambda connection: _enforce(connection, keys))
        except BaseException:
            with suppress(StorageError):
                self._here.abandon(files)
                self._condemn(and_(T.key.in_(keys.values()), T.state == WRITTEN))
                self._take_away(keys.values())
            raise
        for path in files:
            self._here.settled(path, keys[path], seen[path])
        self._take_away(before)

    def fetch(self, place: str) -> None:
        """Have here what is in force of a file, or of a folder with all below it.

        Raises:
            BlobError: the place cannot be reached. DamagedBlobError: a blob is missing, or not what was put there.
        """
        if place and place.partition("/")[0] not in PARTS:
            return
        for _ in range(LOOKS):
            known = self._here.below(place)
            force = self._in_force_below(place)
            try:
                for path, row in force.items():
                    before = known.get(path, NOTHING)
                    if not self._is_here(path, before, row) and not before.being_written:
                        self._bring(row, before)
            except NoBlobError:
                if self._in_force_below(place) == force:
                    missing = next(iter(self._missing(force)), None)
                    raise DamagedBlobError(MISSING.format(kind=kind(missing or path))) from None
                continue  # replaced by another machine meanwhile
            for path in known.keys() - force.keys():
                if not known[path].being_written:
                    self._here.withdraw(path, known[path])
            break
        if time.monotonic() - self._tidied > TIDY_SECONDS and not self._database.writes:
            self._tidied = time.monotonic()
            self.tidy()

    def leave(self, place: str) -> None:
        """Note, before it is removed here, that a file, or a folder with all below it, is no longer in force."""
        if place.partition("/")[0] in PARTS:
            self._demand_no_write()
            self._condemn(and_(_below(place), T.state == IN_FORCE))

    def left(self, place: str) -> None:
        """Remove there what `leave` was told of; what cannot be reached now is removed by `sweep`."""
        if place.partition("/")[0] in PARTS:
            self._here.forget(place)
            with self._database.read() as connection:
                keys = list(connection.execute(select(T.key).where(_below(place), T.state == REMOVED)).scalars())
            self._take_away(keys)

    def sweep(self) -> None:
        """Remove there what killed writers left, what deleted corpora and runs left, and what is still to be removed.

        What cannot be reached now stays for the next time.
        """
        with self._database.read() as connection:
            written = list(connection.execute(select(blobs).where(T.state == WRITTEN)))
            owners = {owner(path) for path in connection.execute(select(T.path).distinct()).scalars()}
            gone = owners & set(connection.execute(select(removed.c.path)).scalars())
        dead = [row.key for row in written if not self._at_work(row)]
        if dead or gone:
            late = or_(*(_below(path) for path in sorted(gone)), T.key.in_(dead))
            self._condemn(and_(late, or_(T.state == IN_FORCE, T.key.in_(dead))))
        with self._database.read() as connection:
            keys = list(connection.execute(select(T.key).where(T.state == REMOVED)).scalars())
        self._take_away(keys)

    def state(self) -> State:
        """Return how the blobs are, by the size of each.

        Raises:
            BlobError: the place cannot be reached.
        """
        before = self._in_force_below("")
        there = self._place.sizes()
        force = {path: row for path, row in self._in_force_below("").items() if row == before.get(path)}
        with self._database.read() as connection:
            rows = {row.key: row.state for row in connection.execute(select(T.key, T.state))}
            tables = {f"corpora/{one}/records.parquet" for one in connection.execute(select(corpora.c.id)).scalars()}
        bad = [path for path, row in force.items() if there.get(row.key) != row.size]
        bad += sorted(tables - force.keys())
        return State(
            scheme=places.scheme(self.url),
            count=len(force),
            size=sum(row.size for row in force.values()),
            bad=tuple(sorted(map(kind, bad))),
            strays=len(there.keys() - rows.keys()),
            leaving=sum(state == REMOVED for state in rows.values()),
        )

    def in_force(self, connection: Connection) -> dict[str, bool]:
        """Return each file that is in force by its path, and whether this machine's folder has it as it is there.

        connection: inside whose transaction the answer is to hold.
        """
        known = self._here.below("")
        rows = connection.execute(select(blobs).where(T.state == IN_FORCE))
        return {row.path: self._is_here(row.path, known.get(row.path, NOTHING), row) for row in rows}

    def _bring(self, row: AnyRow, before: Known) -> None:
        file = self._folder.path / row.path
        part = part_beside(file)
        try:
            with self._place.reading(row.key) as stored, file_errors():
                _make_folders(self._folder.path, file.parent)
                descriptor = os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
                with os.fdopen(descriptor, "wb") as out:
                    for piece in sealed.unsealing(stored, row.size, self._key, f"{row.path}/{row.key}"):
                        out.write(piece)
            self._here.exchange(row.path, before, part, row.key)
        except UnsealError:
            raise DamagedBlobError(DAMAGED.format(kind=kind(row.path))) from None
        finally:
            part.unlink(missing_ok=True)

    def _is_here(self, path: str, known: Known, row: AnyRow | None) -> bool:
        return row is not None and known.key == row.key and known.is_at(self._folder.path / path)

    def _in_force(self, files: Sequence[str]) -> dict[str, AnyRow]:
        with self._database.read() as connection:
            rows = connection.execute(select(blobs).where(T.path.in_(files), T.state == IN_FORCE))
            return {row.path: row for row in rows}

    def _in_force_below(self, place: str) -> dict[str, AnyRow]:
        query = select(blobs).where(T.state == IN_FORCE, *([_below(place)] if place else []))
        with self._database.read() as connection:
            return {row.path: row for row in connection.execute(query)}

    def _missing(self, force: dict[str, AnyRow]) -> list[str]:
        there = self._place.sizes()
        return [path for path, row in force.items() if row.key not in there]

    def _condemn(self, which: ColumnElement[bool]) -> None:
        with self._database.brief() as connection:
            values = {"state": REMOVED, "pid": None, "machine": None, "at": now()}
            connection.execute(update(blobs).where(which).values(**values))

    def _take_away(self, keys: Iterable[str]) -> None:
        """Remove blobs, then their rows; those that cannot be reached keep their rows."""
        gone = []
        with suppress(BlobError):
            for key in keys:
                self._place.remove(key)
                gone.append(key)
        if gone:
            with self._database.brief() as connection:
                connection.execute(delete(blobs).where(T.key.in_(gone), T.state == REMOVED))

    def _files(self) -> list[str]:
        """Return the finished files in this machine's folder."""
        found = (file for part in PARTS for file in (self._folder.path / part).rglob("*") if _is_file(file))
        paths = (file.relative_to(self._folder.path).as_posix() for file in found)
        return sorted(path for path in paths if shared(path))

    def _demand_no_write(self) -> None:
        if self._database.writes:  # it would wait for itself; and what it noted could be rolled back
            raise InternalError("a file that lies elsewhere is written or removed inside a transaction")

    def _at_work(self, row: AnyRow) -> bool:
        began = datetime.fromisoformat(row.at)
        if row.machine != self._machine:
            return (datetime.now(UTC) - began).total_seconds() < parts.OLD_SECONDS
        return row.pid == os.getpid() or parts.writes(row.pid, began.timestamp())


def _enforce(connection: Connection, keys: dict[str, str]) -> list[str]:
    """Put versions in force, by path, and return the keys of those they replace."""
    before: list[str] = []
    for path, key in keys.items():
        mine = update(blobs).where(T.key == key, T.state == WRITTEN)
        if not connection.execute(mine.values(state=IN_FORCE, machine=None, pid=None, at=now())).rowcount:
            raise StorageError(TAKEN)
        others = and_(T.path == path, T.state == IN_FORCE, T.key != key)
        replaced = list(connection.execute(select(T.key).where(others)).scalars())
        connection.execute(update(blobs).where(T.key.in_(replaced)).values(state=REMOVED, at=now()))
        before += replaced
    return before


def _owners(connection: Connection) -> set[str]:
    known = {"corpora": corpora, "runs": runs, "releases": releases}
    return {f"{top}/{one}" for top, table in known.items() for one in connection.execute(select(table.c.id)).scalars()}


def _below(place: str) -> ColumnElement[bool]:
    return or_(T.path == place, T.path.startswith(f"{place}/", autoescape=True))


def _is_file(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _make_folders(top: Path, folder: Path) -> None:
    for one in reversed([folder, *folder.parents]):
        if top in one.parents:
            one.mkdir(mode=0o700, exist_ok=True)


_nothing: Callable[[], None] = lambda: None  # noqa: E731
