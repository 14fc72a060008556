"""A PostgreSQL for tests: one server a process, in a temporary folder, without a port and without root's rights.

It is found where Debian's package puts it, or on the path. Where there is none, tests that need it are skipped and
say so.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
import time
from itertools import count
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ROLE = "understudy"
SETTINGS = {
    "listen_addresses": "", "fsync": "off", "full_page_writes": "off", "synchronous_commit": "off",
    "max_connections": "120", "shared_buffers": "48MB", "autovacuum": "off", "log_min_messages": "fatal",
}  # fmt: skip
ABSENT = "PostgreSQL is not installed here (Debian: apt-get install postgresql)"


def programs() -> Path | None:
    """Return the folder of PostgreSQL's programs, of the latest version there is, None without any."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda p: int(p.parts[-3]))
    named = shutil.which("initdb")
    return found[-1].parent if found else Path(named).parent if named else None


class Server:
    """A running server; its databases belong to a role that may do nothing else."""

    def __init__(self, bin_folder: Path) -> None:
        self.bin, self._numbers = bin_folder, count(1)
        self.home = Path(tempfile.mkdtemp(prefix="pg-"))
        self.owner = next((name for name in ("postgres", "nobody") if _known(name)), None) if _root() else None
        if self.owner:
            shutil.chown(self.home, self.owner)
        self.home.chmod(0o755)  # the socket is for the tests, which are another user
        self._run("initdb", "-D", str(self.home / "data"), "-U", "postgres", "-A", "trust", "-E", "UTF8",
                  "--locale=C.UTF-8", "--no-sync")  # fmt: skip
        options = [f"-c{name}={value}" for name, value in SETTINGS.items()]
        self.process = subprocess.Popen(
            [self.bin / "postgres", "-D", self.home / "data", "-k", str(self.home), *options],
            cwd=self.home, user=self.owner, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        self._wait()
        self.ask("postgres", f"CREATE ROLE {ROLE} LOGIN")

    def database(self) -> str:
        """Make a database and return its address."""
        name = f"w{next(self._numbers)}"
        self.ask("postgres", f"CREATE DATABASE {name} OWNER {ROLE}")
        return f"postgresql://{ROLE}@/{name}?host={self.home}"

    def ask(self, database: str, statement: str) -> list[tuple[object, ...]]:
        """Run a statement as the server's own user and return what it found."""
        import psycopg

        with psycopg.connect(host=str(self.home), user="postgres", dbname=database, autocommit=True) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def stop(self) -> None:
        """End the server and remove its folder."""
        self.process.send_signal(3)  # SIGQUIT: at once
        self.process.wait(timeout=30)
        shutil.rmtree(self.home, ignore_errors=True)

    def _wait(self) -> None:
        deadline = time.monotonic() + 30
        while subprocess.run([self.bin / "pg_isready", "-q", "-h", str(self.home)], check=False).returncode:
            assert time.monotonic() < deadline, "PostgreSQL does not start"
            assert self.process.poll() is None, "PostgreSQL ended at its start"
            time.sleep(0.05)

    def _run(self, program: str, *arguments: str) -> None:
        subprocess.run([self.bin / program, *arguments], cwd=self.home, user=self.owner, check=True,
                       stdout=subprocess.DEVNULL)  # fmt: skip


_servers: list[Server] = []


def server() -> Server:
    """Return this process' server, started when it is first asked for."""
    found = programs()
    if found is None:
        pytest.skip(ABSENT)
    if not _servers:
        _servers.append(Server(found))
    return _servers[0]


def stop() -> None:
    """End this process' server where there is one."""
    while _servers:
        _servers.pop().stop()


def workspace_on(folder: Path, address: str) -> Path:
    """Make a folder whose workspace is kept in a database, and return it."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    (folder / "workspace.toml").write_text(f'database = "{address}"\n', encoding="utf-8")
    return folder


# Files of `tests` whose tests run on both databases; named are those that take the file of SQLite in hand, or take
# minutes. The other files of `tests/store` are about files: folders, copies of them, encryption, blobs, migrations.
BOTH: dict[str, tuple[str, ...]] = {
    "store/budget/test_equal_recognition.py": (),
    "store/budget/test_recognition.py": ("test_a_large_file_is_recognised_in_sane_time_and_space",),
    "store/people/test_calls.py": (),
    "store/people/test_members.py": (),
    "store/people/test_reasons.py": (),
    "store/review/test_bulk.py": (),
    "store/review/test_memory.py": (),
    "store/review/test_named.py": (),
    "store/review/test_spot_checks.py": (),
    "store/review/test_spot_rows.py": (),
    "store/test_assessments.py": (),
    "store/test_audit_file.py": ("test_a_log_put_back_to_the_moment_of_the_export_is_found_out",),
    "store/test_damaged_tables.py": (),
    "store/test_intruder.py": (),
    "store/test_labels.py": (),
    "store/test_own_policies.py": (),
    "store/test_releases.py": (),
    "store/test_waivers.py": (),
    "store/budget/test_held_people.py": (),
    "store/budget/test_ledger.py": (),
    "store/budget/test_limit_of_several.py": ("test_a_workspace_of_the_first_edition_counts_its_largest_corpus",),
    "store/budget/test_short_recognition.py": ("test_a_large_chat_is_recognised_in_sane_time",),
    "store/disk/test_backup.py": (),
    "store/disk/test_opening.py": (
        "test_what_is_missing_is_named_and_nothing_is_destroyed", "test_a_lost_database_put_back_opens_again",
        "test_a_database_that_leaves_its_place_stops_reads_and_writes",
    ),
    "store/review/test_readers.py": (),
    "store/review/test_held_attacks.py": (
        "test_a_flag_of_another_kind_is_found", "test_an_undo_of_a_decision_that_was_changed_for_a_moment_is_told",
    ),
    "store/review/test_held.py": (
        "test_a_flag_that_is_neither_yes_nor_no_is_found", "test_a_long_walk_of_acts_and_undos_holds_at_every_step",
        "test_edited_rows_are_found", "test_a_backup_and_a_copy_hold_as_they_did",
    ),
    "store/review/test_station.py": (),
    "store/review/test_steps.py": (
        "test_notes_are_kept_changed_removed_and_go_with_the_corpus",
        "test_nothing_that_a_browser_sent_is_kept_of_what_was_refused",
    ),
    "store/test_at_once.py": (),
    "store/test_audit.py": (),
    "store/test_concurrency.py": (),
    "store/test_corpora.py": (),
    "store/test_deletion.py": ("test_the_search_for_traces_finds_some",),
    "store/test_ledger_chain.py": (),
    "store/test_runs.py": (),
    "store/test_shards.py": (),
}  # fmt: skip

SOME = {  # of a file
    "store/test_rollback.py": ("test_processes_killed_while_they_write_never_look_like_a_rollback",),
    "store/test_held_attacks.py": (
        "test_a_review_that_went_on_is_not_hidden_by_its_old_number", "test_what_the_program_did_holds",
        "test_two_records_that_changed_places_in_the_index_are_told",
        "test_a_trigger_anywhere_is_told_and_stops_a_release", "test_a_corpus_is_not_given_to_other_people",
        "test_exact_values_are_not_put_in_the_place_of_noisy_ones",
    ),
    "store/test_held_rows.py": ("test_a_row_that_was_changed_removed_or_brought_in_is_told_until_it_is_put_back",),
    "store/test_held_runs.py": (
        "test_a_part_that_was_changed_is_told_by_page_gate_and_check_until_it_is_put_back",
        "test_what_was_changed_does_not_come_to_hold_by_later_acts",
        "test_a_run_that_grows_in_batches_holds_at_every_step",
        "test_nothing_is_approved_or_examined_under_a_trigger",
        "test_a_run_of_an_earlier_edition_is_told_as_that_and_stays_so",
        "test_a_change_that_is_put_back_before_the_release_is_recorded_is_noticed",
    ),
}  # fmt: skip


def on_both(metafunc: pytest.Metafunc) -> None:
    """Have a test run on both databases where its file is of `BOTH`; on PostgreSQL among the slow ones."""
    place, name = metafunc.definition.path.relative_to(ROOT / "tests").as_posix(), metafunc.function.__name__
    if (place in BOTH and name not in BOTH[place]) or name in SOME.get(place, ()):
        both = ["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)]
        metafunc.parametrize("backend", both, indirect=True)


def kept_in(backend: str, folder: Path) -> str:
    """Have a workspace that will be opened in a folder be kept in this database; return its name."""
    if backend == "postgresql":
        workspace_on(folder, server().database())
    return backend


def _root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0


def _known(name: str) -> bool:
    try:
        pwd.getpwnam(name)
    except KeyError:
        return False
    return True
