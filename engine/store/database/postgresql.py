"""A workspace's database on PostgreSQL: connections, how transactions begin, and what its errors mean.

Every transaction that writes first takes the lock of one empty table, before anything is read: so writers follow each
other as on SQLite, and what each reads is the latest. They are serialisable besides; short writes that wait for
nobody (claims, heartbeats) can make one of them fail, which is then done again (`Database.retried`).

Privacy posture: an address, a value and what the server says of them never stand in a message of ours; the server
gets values apart from statements. Deleted rows are gone for every reader, and stay on the server's disk, in its log and
in its replicas until those are cleared: unlike a file of SQLite, nothing is overwritten.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL

from engine.errors import StorageError

if TYPE_CHECKING:
    from collections.abc import Callable

LEAST = 14
WRITER = "writer"  # an empty table: whoever has its lock writes
WRITER_MOVED = f"{WRITER}_moved"  # what it is called once the workspace was moved away
MOVED = (
    "This workspace was moved to another place with `workspace copy`, so it is no longer opened here: two that go on "
    "would spend one budget twice. Open the new one. Nothing was changed."
)
MAKING = 0x756E6465  # advisory lock while that table is made
MODES = {
    "DEFERRED": ("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",),
    "IMMEDIATE": ("BEGIN ISOLATION LEVEL SERIALIZABLE", f"LOCK TABLE {WRITER} IN EXCLUSIVE MODE"),
    "BRIEF": ("BEGIN ISOLATION LEVEL READ COMMITTED",),
}
CONFLICTS = ("40001", "40P01")
HELD = "55P03"
SENTENCES = {
    "28": "The database refuses the name or the password. Check workspace.toml, PGPASSFILE or PGPASSWORD.",
    "3D000": "The server has no database of the name in workspace.toml. Make it with createdb, or correct the name.",
    "42501": "The database lets this user not do what the program needs. Make the user the owner of the database.",
    "23000": "The lines of this table are append-only: none is changed or deleted.",
    "42P01": "The workspace database is damaged: a table is missing. Restore it from a backup.",
    "25006": "The database is read-only. Name its main server in workspace.toml, not a copy that follows it.",
    "53100": "The disk that holds the database is full. Free some space, then try again.",
    "53300": "The database has no connection left. Close other programs, or raise its max_connections.",
    "55P03": "Another program holds the workspace for too long. Wait a moment and try again; "
    "if it stays so, stop the worker on the settings page.",
    "40001": "Another program changed the same rows at this moment. Try again.",
    "40P01": "Another program changed the same rows at this moment. Try again.",
    "XX001": "The workspace database is damaged. Restore it from a backup.",
    "XX002": "The workspace database is damaged. Restore it from a backup.",
}
AWAY = (
    "The database of this workspace does not answer. Check that PostgreSQL runs and that workspace.toml names the "
    "right machine and database."
)
NUL = "A text holds a character with the number zero, which PostgreSQL cannot keep. Remove it from the file."
ABSENT = (
    "This workspace is kept in PostgreSQL, and the Python package psycopg is not installed. "
    "Install it: pip install 'understudy[postgresql]'"
)


def make_engine(url: URL, patience: float, to_json: Callable[[object], str]) -> Engine:
    """Return the engine of a PostgreSQL database that is ready for `MODES`.

    Args:
        url: its address. patience: seconds to wait for another writer. to_json: writes values of JSON columns.

    Raises:
        StorageError: the driver is not installed, or the server is older than `LEAST`.
    """
    try:
        engine = create_engine(
            url, hide_parameters=True, json_serializer=to_json, isolation_level="AUTOCOMMIT", pool_size=4,
            max_overflow=12, pool_pre_ping=True, connect_args={"application_name": "understudy", "connect_timeout": 10},
        )  # fmt: skip
    except ModuleNotFoundError:
        raise StorageError(ABSENT) from None

    @event.listens_for(engine, "connect")
    def on_connect(connection: object, _: object) -> None:
        with connection.cursor() as cursor:  # type: ignore[attr-defined]
            cursor.execute(f"SET lock_timeout = {int(patience * 1000)}")
            # A writer whose machine went away holds the lock until the server notices.
            cursor.execute("SET tcp_keepalives_idle = 30")
            cursor.execute("SET tcp_keepalives_interval = 10")
            cursor.execute("SET tcp_keepalives_count = 3")

    @event.listens_for(engine, "begin")
    def on_begin(connection: Connection) -> None:
        for statement in MODES[connection.get_execution_options().get("begin_mode", "DEFERRED")]:
            connection.exec_driver_sql(statement)

    return engine


def prepare(engine: Engine, *, keyed: bool) -> None:
    """Check the server's version, and make the table whose lock writers take where it is not there.

    keyed: whether the folder that names it holds the workspace's key; one that was moved away took it along.

    Raises:
        StorageError: the server is too old, or the workspace was moved away.
    """
    with engine.connect().execution_options(begin_mode="BRIEF") as connection, connection.begin():
        version = int((connection.dialect.server_version_info or (0,))[0])
        if version < LEAST:
            raise StorageError(f"The database is PostgreSQL {version}; this program needs version {LEAST} or later.")
        if connection.exec_driver_sql(f"SELECT to_regclass('{WRITER_MOVED}')").scalar() is not None:
            if keyed:
                raise StorageError(MOVED)
            return
        if connection.exec_driver_sql(f"SELECT to_regclass('{WRITER}')").scalar() is None:
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({MAKING})")
            connection.exec_driver_sql(f"CREATE TABLE IF NOT EXISTS {WRITER} ()")


def state_of(error: BaseException) -> str | None:
    """Return the five characters by which PostgreSQL tells an error, empty where it could not be reached.

    None where the error is not PostgreSQL's.
    """
    original = getattr(error, "orig", None) or error
    if not type(original).__module__.startswith("psycopg"):
        return None
    return getattr(original, "sqlstate", None) or ""


def describe(error: BaseException, state: str) -> str:
    """Return what to do about an error of PostgreSQL; what it says of itself may quote a private value."""
    if state in SENTENCES:
        return SENTENCES[state]
    if state[:2] in SENTENCES:
        return SENTENCES[state[:2]]
    original = getattr(error, "orig", None) or error
    if not state and "NUL" in str(original):
        return NUL
    if state[:2] in ("08", "57") or (not state and type(original).__name__ == "OperationalError"):
        return _unreached(str(original))
    told = f"PostgreSQL error {state}" if state else type(original).__name__
    return f"The database refused a statement ({told}). Nothing of it was kept."


def _unreached(said: str) -> str:
    """Return what to do where no connection was made; before one is, errors come without their five characters."""
    said = said.lower()
    if "password" in said or "authentication" in said or ("role" in said and "does not exist" in said):
        return SENTENCES["28"]
    if "database" in said and "does not exist" in said:
        return SENTENCES["3D000"]
    if "too many" in said:
        return SENTENCES["53300"]
    return AWAY
