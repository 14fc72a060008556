"""The verbs about the workspace itself: audit log, backup, installation; and the demonstration.

Privacy posture: results hold ids, counts, settings and findings; never record text.
"""

from __future__ import annotations

import shlex
import tempfile
import time
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from engine.cli.arguments import Argument
from engine.cli.terminal import opened, say, unlock, wait_for, write_new
from engine.cli.workspace.encryption import secret_of_backup
from engine.errors import RefusedError, UserError
from engine.json_types import JSON

if TYPE_CHECKING:
    from engine.workspace import Workspace


AUDIT: list[Argument] = [
    (
        ("--verify",),
        {"action": "store_true", "help": "check audit log and ledger; exit status 2 if a chain is broken"},
    ),
    (
        ("--against",),
        {"type": Path, "metavar": "FILE", "help": "with --verify: an earlier export, whose lines must all be there"},
    ),
    (
        ("--export",),
        {
            "type": Path,
            "metavar": "FILE",
            "help": "write the log to a .json or .csv file that checks by itself",
        },
    ),
    (("--corpus",), {"help": "lines about this corpus only, by id or name"}),
]


def audit(options: Namespace) -> Mapping[str, object]:
    """Print the audit log, write it to a file, or check its chain and the ledger's."""
    if options.verify and (options.export is not None or options.corpus is not None):
        raise UserError("audit: --verify checks the whole log; it goes with neither --export nor --corpus")
    if options.against is not None and not options.verify:
        raise UserError("audit: --against FILE goes with --verify")
    if options.verify:
        return _verified(options)
    workspace = opened(options)
    if options.export is None:
        return {"audit": workspace.audit.lines(limit=1_000_000, corpus_id=options.corpus).to_dict(orient="records")}
    kind = options.export.suffix.lower().removeprefix(".")
    if options.export.exists():
        raise UserError(f"export: {options.export.name} exists already; name a file that does not")
    data = workspace.audit.export(kind, options.corpus)
    write_new(options.export, data)
    return {"exported": str(options.export), "bytes": len(data)}


def _verified(options: Namespace) -> Mapping[str, object]:
    """Check both logs, and an earlier export where one is named; refuse where anything does not hold."""
    from engine.store import check_logs

    unlock(options)
    try:
        export = None if options.against is None else options.against.read_bytes()
    except OSError as error:
        raise UserError(f"against: the file cannot be read: {error.strerror or 'unknown reason'}") from None
    found = check_logs(options.workspace, export)
    if found.broken:
        raise RefusedError("\n".join(found.broken))
    seq, digest = found.head
    return {
        "ok": True, "lines": found.lines["audit"], "first_bad": None,
        "ledger": {"ok": True, "lines": found.lines["ledger"], "first_bad": None},
        "head": {"line": seq, "sha256": digest}, "not_under_the_log": list(found.outside),
    }  # fmt: skip


def backup(options: Namespace) -> Mapping[str, object]:
    """Write a backup file."""
    opened(options).disk.backup(options.file)
    return {"backup": str(options.file), "bytes": options.file.stat().st_size}


def restore(options: Namespace) -> Mapping[str, object]:
    """Restore a backup into the (empty) workspace folder."""
    from engine.store import default_workspace_path
    from engine.store import restore as restore_backup

    target = options.workspace or default_workspace_path()
    restore_backup(options.file, target, "command line", secret=secret_of_backup(options))
    say("What was spent after the backup is unknown: enter it with `ledger CORPUS --spent-since EPSILON DELTA`.")
    return {"workspace": str(target)}


def doctor(options: Namespace) -> Mapping[str, object]:
    """Check the installation; with --bundle write a support file too."""
    workspace = opened(options)
    result = dict(workspace.doctor.check())
    if options.bundle:
        workspace.doctor.support_file(options.bundle)
        result["bundle"] = str(options.bundle)
    return result


def demo(options: Namespace) -> Mapping[str, object]:
    """Go the whole way on a sample corpus in a workspace of its own, print the findings, and keep it where asked to."""
    from engine import open_workspace

    kept = _kept(options)
    unlock(options)
    with tempfile.TemporaryDirectory(prefix="understudy-demo-", ignore_cleanup_errors=True) as folder:
        workspace = open_workspace(kept or options.workspace or Path(folder) / "workspace", "demo")
        try:
            found = _demo(workspace, Path(folder))
        finally:
            workspace.jobs.stop_worker()
    if kept is None:
        return found
    command = f"streamlit run app.py -- --workspace {shlex.quote(str(kept))}"
    say(f"demo: kept; look at it in the browser: {command}")
    return {**found, "workspace": str(kept), "open": command}


def _kept(options: Namespace) -> Path | None:
    """Return the new folder that the demonstration's workspace stays in, or None where it goes.

    Raises:
        UserError: there is something in it already, or two folders were named.
    """
    if options.keep is None:
        return None
    if options.keep and options.workspace:
        raise UserError("demo: name the folder with --keep or with --workspace, not with both")
    folder = Path(options.keep or options.workspace or "understudy-demo").expanduser().absolute()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UserError(f"demo: {folder.name} exists already; name a folder that does not: --keep FOLDER")
    return folder


def _demo(workspace: Workspace, folder: Path) -> Mapping[str, object]:
    started = time.monotonic()
    corpus = workspace.corpora.import_sample("support_tickets")
    say(f"demo: {corpus.records} made-up support tickets of {corpus.units} units")
    wait_for(workspace, workspace.jobs.detect(corpus.id))
    findings: dict[str, list[dict[str, JSON]]] = {}
    run_ids = []
    for method, count in (("surrogate", None), ("filter", 32)):
        run_id = workspace.jobs.synthesize(corpus.id, method, count=count)
        wait_for(workspace, workspace.runs.get(run_id).job_id)
        wait_for(
            workspace, workspace.jobs.examine(run_id, model_attacks=False)
        )  # a demonstration ends in a minute or two
        findings[method] = [finding.as_dict() for finding in workspace.examinations.findings(run_id)]
        run_ids.append(run_id)
    workspace.runs.approve_all_pending(run_ids[-1], None)
    released = workspace.releases.make(run_ids[-1], "exploratory", out=folder / "bundle", accept_unbounded=True)
    return {
        "corpus": corpus.id,
        "runs": run_ids,
        "findings": [{"method": method, **row} for method, rows in findings.items() for row in rows],
        "comparison": workspace.examinations.compare(run_ids).to_dict(orient="records"),
        "release": {"policy": "exploratory", "records": released.records},
        "seconds": round(time.monotonic() - started, 1),
    }
