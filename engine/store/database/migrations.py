"""Versioned migrations: one function a version, applied in order inside one transaction."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import Connection, inspect, select

from engine.errors import StorageError
from engine.store.database import dialect, schema
from engine.store.database.database import Database

APPEND_ONLY = ("audit", "ledger", "packs", "revocations", "own_policies", "members", "signatures", "waivers",
               "intruder_looks", "spot_looks")  # fmt: skip


def first_tables(connection: Connection) -> None:
    """Create the tables and forbid changes to append-only ones."""
    _make_missing_tables(connection)
    _forbid_changes(connection)


def ledger_tables(connection: Connection) -> None:
    """Add the ledger, stored mechanism outputs and accounting answers, and a population's number of units."""
    if "units" not in [column["name"] for column in inspect(connection).get_columns("populations")]:
        connection.exec_driver_sql("ALTER TABLE populations ADD COLUMN units INTEGER")
    connection.exec_driver_sql(
        "UPDATE populations SET units = COALESCE("
        "(SELECT json_extract(c.statistics, '$.train_units') FROM corpora AS c "
        "WHERE c.population = populations.id ORDER BY c.created LIMIT 1), "
        "(SELECT count(*) FROM unit_hashes AS u WHERE u.population = populations.id)) WHERE units IS NULL"
    )
    _make_missing_tables(connection)
    _forbid_changes(connection)


def removed_table(connection: Connection) -> None:
    """Add the list of what was deleted: a folder that is merely unknown is no longer removed."""
    _make_missing_tables(connection)


def declaration_table(connection: Connection) -> None:
    """Add what persons declared public of a corpus."""
    _make_missing_tables(connection)


def fitted_table(connection: Connection) -> None:
    """Add the digests of weights that were fitted to private text."""
    _make_missing_tables(connection)


def people_tables(connection: Connection) -> None:
    """Add marks of people by runs of words and source ids, and the questions whether populations are the same."""
    _make_missing_tables(connection)


def entity_column(connection: Connection) -> None:
    """Add the entity that a gold span mentions, as its file says."""
    if "entity_key" not in [column["name"] for column in inspect(connection).get_columns("spans")]:
        connection.exec_driver_sql("ALTER TABLE spans ADD COLUMN entity_key VARCHAR(32)")


def short_marks_table(connection: Connection) -> None:
    """Add marks of people by short records."""
    _make_missing_tables(connection)


def largest_units(connection: Connection) -> None:
    """Count the units of a population's largest corpus, no longer those of its first, for its default limit."""
    connection.exec_driver_sql(
        "UPDATE populations SET units = MAX(COALESCE(units, 0), COALESCE("
        "(SELECT MAX(json_extract(c.statistics, '$.train_units')) FROM corpora AS c "
        "WHERE c.population = populations.id), 0))"
    )


def seen_table(connection: Connection) -> None:
    """Add digests of outputs that were examined before their run was deleted."""
    _make_missing_tables(connection)


def equal_marks_table(connection: Connection) -> None:
    """Add marks of people by lines, and by what differs in a form."""
    _make_missing_tables(connection)


def pool_tables(connection: Connection) -> None:
    """Add pools of text made elsewhere, what comparisons of them found, and the prompt packs that left."""
    _make_missing_tables(connection)
    _forbid_changes(connection)


def revocation_table(connection: Connection) -> None:
    """Add the releases that were withdrawn."""
    _make_missing_tables(connection)
    _forbid_changes(connection)


def names_of_runs(connection: Connection) -> None:
    """Add how far a job of several parts is as a whole, and names and notes of runs."""
    for table, column, kind in (
        ("jobs", "whole", "JSON"),
        ("runs", "name", "VARCHAR NOT NULL DEFAULT ''"),
        ("runs", "note", "VARCHAR NOT NULL DEFAULT ''"),
    ):
        if column not in [known["name"] for known in inspect(connection).get_columns(table)]:
            connection.exec_driver_sql(f"ALTER TABLE {table} ADD COLUMN {column} {kind}")


def review_tables(connection: Connection) -> None:
    """Add what browsers sent of a review, and notes on records."""
    _make_missing_tables(connection)


def refusal_codes(connection: Connection) -> None:
    """Keep no words of why an act was refused; they could repeat what a browser had sent."""
    connection.exec_driver_sql("UPDATE review_acts SET refused = 'not possible' WHERE refused IS NOT NULL")


def policy_table(connection: Connection) -> None:
    """Add a workspace's own policies."""
    _make_missing_tables(connection)
    _forbid_changes(connection)


def member_tables(connection: Connection) -> None:
    """Add who holds which role, and what second persons signed."""
    _make_missing_tables(connection)
    _forbid_changes(connection)


def spot_check_tables(connection: Connection) -> None:
    """Add spot checks with their second readings, and waivers of rules."""
    _make_missing_tables(connection)
    _forbid_changes(connection)


def intruder_tables(connection: Connection) -> None:
    """Add trials in which a person says whom approved texts are of."""
    _make_missing_tables(connection)


def lease_table(connection: Connection) -> None:
    """Add who has taken a job, and until when it is theirs."""
    _make_missing_tables(connection)
    if "worker" not in [known["name"] for known in inspect(connection).get_columns("jobs")]:
        dialect.add_column(connection, "jobs", schema.jobs.c.worker)
    for table in ("jobs", "leases"):
        dialect.expect_changes(connection, table)


def _make_missing_tables(connection: Connection) -> None:
    """Create what is not there yet; one question for all tables, since a new database comes here for each version."""
    there = set(inspect(connection).get_table_names())
    missing = [table for name, table in schema.metadata.tables.items() if name not in there]
    schema.metadata.create_all(connection, tables=missing, checkfirst=False)


def _forbid_changes(connection: Connection) -> None:
    for table in APPEND_ONLY:
        dialect.forbid_changes(connection, table)


def member_accounts(connection: Connection) -> None:
    """Add which account at a provider signed in first as a person."""
    if "account" not in [column["name"] for column in inspect(connection).get_columns("members")]:
        connection.exec_driver_sql("ALTER TABLE members ADD COLUMN account VARCHAR")


def look_table(connection: Connection) -> None:
    """Add which texts intruder trials were drawn from."""
    _make_missing_tables(connection)
    _forbid_changes(connection)


def file_version_table(connection: Connection) -> None:
    """Add which version of each encrypted file is in force."""
    _make_missing_tables(connection)


def reader_table(connection: Connection) -> None:
    """Add which text lies ready for which of several reviewers."""
    _make_missing_tables(connection)
    dialect.expect_changes(connection, "readers")


def shard_table(connection: Connection) -> None:
    """Add the ranges of records in which several workers share a job."""
    _make_missing_tables(connection)
    dialect.expect_changes(connection, "shards")


def chained_decisions(connection: Connection) -> None:
    """Add numbers and digests of decisions; those that are there get theirs when the workspace is opened with its key.

    The columns of an earlier edition's table come last there, which no query rests on.
    """
    there = [known["name"] for known in inspect(connection).get_columns("decisions")]
    for column in (schema.decisions.c.number, schema.decisions.c.digest):
        if column.name not in there:
            dialect.add_column(connection, "decisions", column)
    index = next(one for one in schema.decisions.indexes if one.name == "ix_decision_number")
    index.create(connection, checkfirst=True)


def sealed_runs(connection: Connection) -> None:
    """Add digests of what runs have made; the runs that are there stay without any."""
    if "sealed" not in [known["name"] for known in inspect(connection).get_columns("runs")]:
        dialect.add_column(connection, "runs", schema.runs.c.sealed)


def span_state_index(connection: Connection) -> None:
    """Add the index by which marks are counted after each decision."""
    index = next(one for one in schema.spans.indexes if one.name == "ix_span_state")
    index.create(connection, checkfirst=True)


def blob_table(connection: Connection) -> None:
    """Add which files lie elsewhere too, and which machine is writing where."""
    _make_missing_tables(connection)
    if "machine" not in [known["name"] for known in inspect(connection).get_columns("pending_removals")]:
        dialect.add_column(connection, "pending_removals", schema.pending_removals.c.machine)


def read_before_column(connection: Connection) -> None:
    """Add how many records had been read before a spot check was drawn."""
    if "read_before" not in [known["name"] for known in inspect(connection).get_columns("spot_checks")]:
        dialect.add_column(connection, "spot_checks", schema.spot_checks.c.read_before)


def spot_look_table(connection: Connection) -> None:
    """Add which records spot checks were drawn from."""
    _make_missing_tables(connection)
    _forbid_changes(connection)


MIGRATIONS: tuple[Callable[[Connection], None], ...] = (
    first_tables,
    ledger_tables,
    removed_table,
    declaration_table,
    fitted_table,
    people_tables,
    entity_column,
    short_marks_table,
    largest_units,
    seen_table,
    equal_marks_table,
    pool_tables,
    revocation_table,
    names_of_runs,
    review_tables,
    refusal_codes,
    policy_table,
    member_tables,
    spot_check_tables,
    intruder_tables,
    lease_table,
    member_accounts,
    look_table,
    file_version_table,
    reader_table,
    shard_table,
    chained_decisions,
    sealed_runs,
    span_state_index,
    blob_table,
    read_before_column,
    spot_look_table,
)
VERSION = len(MIGRATIONS)
FIRST_ON_POSTGRESQL = 20  # the steps before it find nothing to change there, and are written in SQLite's words


def current_version(connection: Connection) -> int:
    """Return the version the database has; 0 for an empty one."""
    if not inspect(connection).has_table("schema_version"):
        return 0
    return connection.execute(select(schema.schema_version.c.version)).scalar() or 0


def _steps(connection: Connection, found: int) -> tuple[Callable[[Connection], None], ...]:
    if found == 0 and dialect.kind(connection) == dialect.POSTGRESQL:
        return (first_tables, *MIGRATIONS[FIRST_ON_POSTGRESQL:])
    return MIGRATIONS[found:]


def migrate(database: Database) -> int:
    """Bring the database to this program's version and return the version it had.

    Raises:
        StorageError: the workspace was written by a newer program.
    """
    with database.read() as connection:
        found = current_version(connection)
    if found < VERSION:
        with database.write() as connection:
            found = current_version(connection)  # another process may have been first
            for step in _steps(connection, found):
                step(connection)
            if found < VERSION:
                connection.execute(schema.schema_version.delete())
                connection.execute(schema.schema_version.insert().values(version=VERSION))
    if found > VERSION:
        raise StorageError(
            f"This workspace has schema version {found}; this program knows versions up to {VERSION}. "
            "Update Understudy, or choose another workspace with --workspace."
        )
    return found
