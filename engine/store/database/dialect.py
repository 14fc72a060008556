"""What SQLite and PostgreSQL say in different words: the one place for it.

Everything else in the store is written in what both understand. What a statement is for stands at its function.
"""

from __future__ import annotations

import json
from collections.abc import Collection

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Connection,
    Float,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    Update,
    bindparam,
    exists,
    func,
    literal,
    not_,
    select,
    text,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import GenericFunction

SQLITE, POSTGRESQL = "sqlite", "postgresql"
WHOLE = BigInteger().with_variant(Integer(), SQLITE)  # 64 bits on both; SQLite numbers rows of INTEGER alone
BYTEWISE = "C"  # PostgreSQL's name for the order of code points, in which SQLite compares text
REFUSAL = "understudy_append_only"
REFUSING = (  # what that function of PostgreSQL does
    " BEGIN RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'integrity_constraint_violation'; END "
)


def kind(connection: Connection) -> str:
    """Return `SQLITE` or `POSTGRESQL`."""
    return connection.dialect.name


def order_text_alike(metadata: MetaData) -> None:
    """Have PostgreSQL keep and compare text as SQLite does: of any length, byte by byte."""
    for table in metadata.tables.values():
        for column in table.columns:
            if isinstance(column.type, Text):
                column.type = column.type.with_variant(Text(collation=BYTEWISE), POSTGRESQL)
            elif isinstance(column.type, String):
                column.type = column.type.with_variant(String(collation=BYTEWISE), POSTGRESQL)


def insert(connection: Connection, table: Table) -> sqlite.Insert:
    """Return an INSERT with `on_conflict_do_nothing` and `on_conflict_do_update`, alike in both."""
    made = postgresql.insert(table) if kind(connection) == POSTGRESQL else sqlite.insert(table)
    return made  # type: ignore[return-value]  # the two are alike in what is used of them


def move(table: Table, where: ColumnElement[bool], **key: object) -> Update:
    """Return an UPDATE of parts of a primary key that leaves the rows whose new key is taken already.

    Args:
        table: what is changed. where: which rows; no two of them may get the same key. key: column → its new value.
    """
    there = table.alias("there")
    same = [there.c[c.name] == (literal(key[c.name], c.type) if c.name in key else c) for c in table.primary_key]
    return update(table).where(where, not_(exists(select(literal(1)).select_from(there).where(*same)))).values(**key)


def add_column(connection: Connection, table: str, column: Column[object]) -> None:
    """Add a column to a table of an earlier version."""
    form = connection.dialect.type_compiler_instance.process(column.type)
    connection.exec_driver_sql(f"ALTER TABLE {table} ADD COLUMN {column.name} {form}")


class among(GenericFunction[bool]):
    """The condition that a column's whole number is in a JSON list: `among(column, "[1, 2]")`, however long it is.

    Its type stays unsaid: SQLAlchemy compares what is Boolean with 1, and SQLite uses no index for that.
    """

    inherit_cache = True


def one_of(column: ColumnElement[int], numbers: Collection[int]) -> ColumnElement[bool]:
    """Return the condition that a column holds one of these numbers, however many they are."""
    return among(column, bindparam(None, json.dumps(sorted(int(n) for n in numbers)), type_=Text()))


@compiles(among, SQLITE)
def _among_sqlite(element: among, compiler: SQLCompiler, **options: object) -> str:
    column, listed = (compiler.process(part, **options) for part in element.clauses)
    return f"{column} IN (SELECT value FROM json_each({listed}))"


@compiles(among, POSTGRESQL)
def _among_postgresql(element: among, compiler: SQLCompiler, **options: object) -> str:
    column, listed = (compiler.process(part, **options) for part in element.clauses)
    return f"{column} IN (SELECT CAST(value AS BIGINT) FROM json_array_elements_text(CAST({listed} AS JSON)))"


class placed(GenericFunction[bool]):
    """The condition that a position is of a record in a JSON list of ids: `placed(column, corpus, '["a", "b"]')`.

    Each id is looked up by itself: SQLite, which does not count rows, reads a whole corpus for a list of a dozen.
    """

    inherit_cache = True


def of_records(column: ColumnElement[int], corpus_id: str, record_ids: Collection[str]) -> ColumnElement[bool]:
    """Return the condition that a column holds the position of one of these records of a corpus."""
    listed = json.dumps([str(record) for record in record_ids])
    return placed(column, bindparam(None, corpus_id, type_=Text()), bindparam(None, listed, type_=Text()))


@compiles(placed, SQLITE)
def _placed_sqlite(element: placed, compiler: SQLCompiler, **options: object) -> str:
    column, corpus, listed = (compiler.process(part, **options) for part in element.clauses)
    return (
        f"{column} IN (SELECT own.position FROM json_each({listed}) AS asked "
        f"CROSS JOIN record_index AS own ON own.corpus_id = {corpus} AND own.record_id = asked.value)"
    )


@compiles(placed, POSTGRESQL)
def _placed_postgresql(element: placed, compiler: SQLCompiler, **options: object) -> str:
    column, corpus, listed = (compiler.process(part, **options) for part in element.clauses)
    return (
        f"{column} IN (SELECT own.position FROM record_index AS own WHERE own.corpus_id = {corpus} "
        f"AND own.record_id IN (SELECT value FROM json_array_elements_text(CAST({listed} AS JSON))))"
    )


class clock(GenericFunction[float]):
    """The seconds since 1970 by the database's clock: the same for every machine that works on it."""

    type = Float()
    inherit_cache = True


@compiles(clock, SQLITE)
def _clock_sqlite(element: clock, compiler: SQLCompiler, **options: object) -> str:
    return "((julianday('now') - 2440587.5) * 86400.0)"


@compiles(clock, POSTGRESQL)
def _clock_postgresql(element: clock, compiler: SQLCompiler, **options: object) -> str:
    return "CAST(extract(epoch FROM clock_timestamp()) AS DOUBLE PRECISION)"


def forbid_changes(connection: Connection, table: str) -> None:
    """Have the database refuse to change or delete lines of a table."""
    if kind(connection) == SQLITE:
        for verb in ("UPDATE", "DELETE"):
            connection.exec_driver_sql(f"CREATE TRIGGER IF NOT EXISTS {_refusal(table, verb)}")
        return
    connection.exec_driver_sql(
        f"CREATE OR REPLACE FUNCTION {REFUSAL}() RETURNS trigger LANGUAGE plpgsql AS $${REFUSING.replace('%', '%%')}$$"
    )
    for verb in ("UPDATE", "DELETE", "TRUNCATE"):
        each = "STATEMENT" if verb == "TRUNCATE" else "ROW"
        connection.exec_driver_sql(
            f"CREATE OR REPLACE TRIGGER {table}_no_{verb.lower()} BEFORE {verb} ON {table} "
            f"FOR EACH {each} EXECUTE FUNCTION {REFUSAL}()"
        )


def _refusal(table: str, verb: str) -> str:
    """Return the trigger by which SQLite refuses to change lines of a table, as it keeps it."""
    return (
        f"{table}_no_{verb.lower()} BEFORE {verb} ON {table} BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END"
    )


def strangers(connection: Connection) -> list[str]:
    """Return the triggers, rules and views that the program did not make, in words, in whatever table they are.

    The database acts by them beside what it is told, or answers one question otherwise than the next.
    """
    if kind(connection) == SQLITE:
        query = "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE type IN ('trigger', 'view')"
        rows = connection.exec_driver_sql(query).all()
        return sorted(f"the {row.type} {row.name}" for row in rows if not _own(row.tbl_name, row.sql))
    found = text(
        "SELECT 'trigger', t.tgname FROM pg_trigger AS t JOIN pg_class AS c ON c.oid = t.tgrelid "
        "JOIN pg_proc AS p ON p.oid = t.tgfoid "
        "WHERE NOT t.tgisinternal AND c.relnamespace = current_schema()::regnamespace "
        "AND NOT (p.proname = :refusal AND p.prosrc = :refusing AND t.tgqual IS NULL) "
        "UNION ALL SELECT 'rule', rulename FROM pg_rules WHERE schemaname = current_schema() "
        "UNION ALL SELECT 'view', c.relname FROM pg_class AS c "
        "WHERE c.relkind IN ('v', 'm') AND c.relnamespace = current_schema()::regnamespace "
        "AND NOT EXISTS (SELECT 1 FROM pg_depend AS d WHERE d.objid = c.oid AND d.deptype = 'e')"  # of an extension
    )
    named = connection.execute(found, {"refusal": REFUSAL, "refusing": REFUSING})
    return sorted(f"the {what} {name}" for what, name in named)


def _own(table: str, said: str | None) -> bool:
    """Say whether a trigger of SQLite is one of those that refuse to change lines."""
    return any(said == f"CREATE TRIGGER {_refusal(table, verb)}" for verb in ("UPDATE", "DELETE"))


def expect_changes(connection: Connection, table: str) -> None:
    """Have PostgreSQL leave room in a table whose rows change all the time, and clear it up often."""
    if kind(connection) == POSTGRESQL:
        connection.exec_driver_sql(f"ALTER TABLE {table} SET (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.005)")


def sound(connection: Connection) -> bool:
    """Say whether the database finds itself undamaged; a PostgreSQL is its administrators' to check."""
    return kind(connection) == POSTGRESQL or connection.exec_driver_sql("PRAGMA quick_check(1)").scalar() == "ok"


def number_on(connection: Connection, table: Table) -> None:
    """Have a table whose rows came with their numbers go on after the highest of them; SQLite does so by itself."""
    column = table.autoincrement_column
    if kind(connection) == SQLITE or column is None:
        return
    highest = select(func.max(column)).scalar_subquery()
    sequence = func.pg_get_serial_sequence(table.name, column.name)
    connection.execute(select(func.setval(sequence, func.coalesce(highest, 1), highest.is_not(None))))
