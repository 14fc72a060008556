"""Check both logs of a workspace, whatever state it is in, and hold an earlier export against the audit log.

The rows of decisions, runs, spot checks, intruder trials, roles, signatures and declarations are held against the lines
of the audit log that tell of them, the marks of a review against what was done to them, and the files of an encrypted
workspace against the versions that its database knows.

Privacy posture: line numbers, counts and digests of the log.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import func, select

from engine.store import audit
from engine.store.budget import fitted, held_people
from engine.store.budget import lines as ledger_lines
from engine.store.disk import heads
from engine.store.disk.address import default_path
from engine.store.disk.blobs import keeper
from engine.store.disk.encryption import versions
from engine.store.disk.folder import Folder
from engine.store.disk.opening import open_database
from engine.store.logs import file
from engine.store.logs import rows as other_rows
from engine.store.logs.breaks import breaks
from engine.store.review import held
from engine.store.review.spot import chained as spot_rows
from engine.store.runs import held as runs_held
from engine.store.runs.intruder import chained


@dataclass(frozen=True)
class Checked:
    """What was found of a workspace's two logs.

    Attributes:
        lines: of each log. broken: sentences on what does not hold, empty where all does. head: number of the audit
            log's last line, and the sha256 that an export of the whole log ends with. outside: sentences on what an
        earlier edition left, of which the log tells nothing, so that nobody can say whether it was changed.
    """

    lines: dict[str, int]
    broken: tuple[str, ...]
    head: tuple[int, str]
    outside: tuple[str, ...] = ()


def check_logs(path: Path | None = None, export: bytes | None = None) -> Checked:
    """Check the audit log and the ledger of a workspace that may be damaged or put back; nothing is written.

    Args:
        path: the folder; None means the default one. export: an earlier export of the audit log, to hold it against.

    Raises:
        StorageError: the workspace has no key or database, or lacks tables. UserError: `export` is none, or changed.
    """
    earlier = None if export is None else file.read(export)
    folder = Folder((Path(path) if path is not None else default_path()).absolute())
    key, database = open_database(folder, check_heads=False)
    lines, broken, outside = dict[str, int](), list[str](), list[str]()
    try:
        with keeper.reading(folder, database, key), database.read() as connection:
            for chain, called in ((audit.CHAIN, "Audit log"), (ledger_lines.CHAIN, "Ledger")):
                lines[chain.name] = int(connection.execute(select(func.count()).select_from(chain.table)).scalar_one())
                found = breaks(connection, chain, key, heads.kept(folder, chain.name))
                broken += [f"{called}: {one.sentence}" for one in found]
            broken += [f"Review: {one}" for one in held.breaks(connection, key)]
            broken += [f"Records: {one}" for one in held.tables(connection, folder, key)]
            broken += [f"Runs: {one}" for one in runs_held.breaks(connection, key, folder)]
            broken += [f"Other rows: {one}" for one in other_rows.breaks(connection, key)]
            broken += [f"People: {one}" for one in held_people.breaks(connection, key)]
            broken += [f"Weights: {one}" for one in fitted.breaks(connection, key)]
            outside += [f"People: {one}" for one in held_people.outside(connection)]
            outside += [f"Weights: {one}" for one in fitted.outside(connection)]
            outside += [f"Runs: {one}" for one in runs_held.outside(connection, key)]
            outside += [f"Other rows: {one}" for one in other_rows.outside(connection, key)]
            broken += [f"Spot checks: {one}" for one in spot_rows.breaks(connection, key)]
            broken += [f"Intruder trials: {one}" for one in chained.breaks(connection, key)]
            log = audit.read(connection, -1, 0).sort_values("seq").to_dict("records")
        broken += [f"Files: {one}" for one in versions.breaks(folder, database)]
    finally:
        database.close()
    rows = [{str(name): row[name] for name in row} for row in log]
    if earlier is not None:
        known = {int(str(row["seq"])): row for row in rows}
        broken += file.against(earlier, known) or file.untold(earlier, rows)
    last = int(str(rows[-1]["seq"])) if rows else 0
    return Checked(lines, tuple(broken), (last, file.head(file.chained(rows))), tuple(outside))
