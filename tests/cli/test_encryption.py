"""An encrypted workspace as a person uses it: at the command line, and with real workers along the whole path."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import engine
from engine.at_rest import header, keys, sealed, unlocking
from engine.store.disk.encryption import encryption
from tests.cli.in_process import run as called
from tests.jobs.conftest import wait
from tests.store.conftest import CANARY, MAPPING, made_up
from tests.store.disk.test_encryption import OLD, private, readable

ROOT = Path(__file__).resolve().parents[2]
WORDS, OTHER = "correct horse battery staple", "quite another long sentence"
FORMS = [word.encode(form) for word in (*CANARY.split(), "sore knee") for form in ("utf-8", "utf-16-le", "utf-32-le")]


def run(workspace: Path, *arguments: Any, typed: str = "", expect: int = 0, **environment: str) -> Any:
    """Run a verb in a process of its own; what is typed comes as standard input."""
    done = subprocess.run(
        [sys.executable, "-m", "engine", "--workspace", str(workspace), *map(str, arguments)], cwd=ROOT, text=True,
        env={**os.environ, **environment}, input=typed, capture_output=True, check=False, timeout=240,
    )  # fmt: skip
    assert done.returncode == expect, done.stdout + done.stderr
    for line in typed.splitlines():
        assert line not in done.stdout + done.stderr
    return json.loads(done.stdout) if expect == 0 else done.stderr


@pytest.fixture(autouse=True)
def forget_keys():
    yield
    keys._held.clear()


@pytest.mark.slow
def test_a_passphrase_at_the_command_line(tmp_path):
    path = tmp_path / "w"
    assert "differ" in run(path, "encrypt", typed=f"{WORDS}\n{OTHER}\n", expect=1)
    assert "12 signs" in run(path, "encrypt", typed="short\nshort\n", expect=1)
    assert not path.exists()
    assert run(path, "encrypt", typed=f"{WORDS}\n{WORDS}\n")["opens_with"] == "passphrase"
    assert "not the passphrase" in run(path, "corpora", typed=f"{OTHER}\n", expect=1)
    assert "no terminal" in run(path, "corpora", expect=1)
    (tmp_path / "key").write_bytes(os.urandom(32))
    named = {"UNDERSTUDY_KEY_FILE": str(tmp_path / "key")}  # that of another workspace
    assert run(path, "corpora", typed=f"{WORDS}\n", **named) == {"corpora": []}
    assert "--new-passphrase" in run(path, "rekey", typed=f"{WORDS}\n", expect=1)
    assert run(path, "rekey", "--new-passphrase", typed=f"{WORDS}\n{OTHER}\n{OTHER}\n")["generation"] == 2
    assert "not the passphrase" in run(path, "audit", "--verify", typed=f"{WORDS}\n", expect=1)
    assert run(path, "audit", "--verify", typed=f"{OTHER}\n")["ok"]
    file = tmp_path / "backup.zip"
    run(path, "backup", file, typed=f"{OTHER}\n")
    assert "not the passphrase" in run(tmp_path / "again", "restore", file, typed=f"{WORDS}\n", expect=1)
    run(tmp_path / "again", "restore", file, typed=f"{OTHER}\n")
    assert run(tmp_path / "again", "corpora", typed=f"{OTHER}\n") == {"corpora": []}
    assert run(path, "decrypt", typed=f"{OTHER}\n")["state"] == "plain"
    assert run(path, "corpora") == {"corpora": []}
    assert "not encrypted" in run(path, "decrypt", expect=1)


def test_verbs_of_encryption(tmp_path, monkeypatch):
    path, key = tmp_path / "w", tmp_path / "key"
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    assert called(path, "encrypt", "--key-file", key)["state"] == "encrypted"
    keys.drop(path)
    assert "--key-file" in called(path, "corpora", expect=1)
    assert called(path, "corpora", "--key-file", key) == {"corpora": []}
    assert "already" in called(path, "encrypt", "--key-file", key, expect=1)
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{WORDS}\n{WORDS}\n"))
    assert called(path, "rekey", "--new-passphrase")["generation"] == 2
    keys.drop(path)
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{WORDS}\n"))
    assert called(path, "runs") == {"runs": []}
    assert called(path, "decrypt")["state"] == "plain"
    assert called(path, "corpora") == {"corpora": []}


@pytest.mark.long
def test_a_key_file_at_the_command_line(tmp_path):
    path, key, other = tmp_path / "w", tmp_path / "key", tmp_path / "other"
    run(path, "encrypt", "--key-file", key)
    other.write_bytes(os.urandom(32))
    assert "--key-file" in run(path, "corpora", expect=1)
    assert "not the key file" in run(path, "corpora", "--key-file", other, expect=1)
    assert run(path, "corpora", "--key-file", key) == {"corpora": []}
    assert run(path, "corpora", UNDERSTUDY_KEY_FILE=str(key)) == {"corpora": []}
    assert "cannot be read" in run(path, "corpora", UNDERSTUDY_KEY_FILE=str(tmp_path / "none"), expect=1)
    file = tmp_path / "backup.zip"
    run(path, "backup", file, UNDERSTUDY_KEY_FILE=str(key))
    assert "--key-file" in run(tmp_path / "again", "restore", file, expect=1)
    run(tmp_path / "again", "restore", file, UNDERSTUDY_KEY_FILE=str(key))
    assert run(tmp_path / "again", "corpora", "--key-file", key) == {"corpora": []}
    run(path, "rekey", "--new-key-file", other, "--key-file", key)
    assert "not the key file" in run(path, "corpora", "--key-file", key, expect=1)
    assert run(path, "corpora", "--key-file", other) == {"corpora": []}
    assert "outside" in run(tmp_path / "w2", "encrypt", "--key-file", tmp_path / "w2" / "key", expect=1)


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_a_passphrase_that_is_typed_is_not_shown(tmp_path):
    import pty

    shown: list[bytes] = []
    answers = iter([WORDS, WORDS])

    def read(descriptor: int) -> bytes:
        data = os.read(descriptor, 1024)
        shown.append(data)
        if data.rstrip().endswith((b"passphrase:", b"more:")):
            os.write(descriptor, f"{next(answers)}\n".encode())
        return data

    os.environ["PYTHONPATH"] = str(ROOT)
    status = pty.spawn([sys.executable, "-m", "engine", "--workspace", str(tmp_path / "w"), "encrypt"], read)
    assert os.waitstatus_to_exitcode(status) == 0, b"".join(shown)
    assert b"New passphrase" in b"".join(shown)
    assert WORDS.encode() not in b"".join(shown)
    assert encryption.state(tmp_path / "w") == "encrypted"


class Watch:
    """Looks, while something runs, at every file that changes below some folders, for words that must not be there."""

    def __init__(self, *folders: Path) -> None:
        self.folders, self.found, self.looked = folders, set[str](), set[tuple[str, int, int]]()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        assert self._thread.is_alive(), "it looked to the end"
        self._stop.set()
        self._thread.join()

    def _files(self) -> list[Path]:
        found: list[Path] = []
        for folder in self.folders:
            try:
                found += folder.rglob("*")
            except OSError:  # a folder went while it was looked through; the next look comes at once
                continue
        return found

    def _run(self) -> None:
        while not self._stop.wait(0.01):
            for file in self._files():
                try:
                    status = file.lstat()
                    mark = (str(file), status.st_mtime_ns, status.st_size)
                    if file.is_file() and mark not in self.looked:
                        self.looked.add(mark)
                        data = file.read_bytes()
                        if any(form in data for form in FORMS) or data[:4] == b"PAR1":
                            self.found.add(str(file))
                except OSError:
                    continue


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_whole_path_leaves_nothing_that_can_be_read(tmp_path, monkeypatch):
    path, temporary, out = tmp_path / "w", tmp_path / "temporary", tmp_path / "out"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    encryption.encrypt(OLD, path)
    workspace = engine.open_workspace(path, "tester")
    try:
        with Watch(path, temporary) as watch:
            corpus = workspace.corpora.import_table(made_up(60), MAPPING, name="Letters", unit="record", holdout=0.25)
            done(workspace, workspace.jobs.detect(corpus.id))
            records = workspace.corpora.records(corpus.id, limit=1)
            span = workspace.review.spans(corpus.id, str(records["record_id"].iloc[0]))[0]
            workspace.review.decide(corpus.id, [span.span_id], "accept")
            runs = [
                made(workspace, corpus.id, "surrogate"),
                made(workspace, corpus.id, "finetune", count=4, parameters={"epochs": 1}),
                made(workspace, corpus.id, "aug-pe", count=4, parameters={"epsilon": 1.0, "delta": 1e-3, "rounds": 1}),
            ]
            done(workspace, workspace.jobs.examine(runs[1], model_attacks=False))
            workspace.runs.approve_all_pending(runs[1], None)
            workspace.releases.make(runs[1], "exploratory", out=out, accept_unbounded=True)
            workspace.disk.backup(tmp_path / "backup.zip")
        worker = workspace.jobs.worker_status()["pid"]
        assert worker is not None
        secret_in(Path(f"/proc/{worker}"), keys.of(path))
    finally:
        workspace.jobs.stop_worker()
        workspace.close()
    assert watch.found == set()
    assert len(watch.looked) > 100
    assert readable(path) == []
    assert readable(temporary) == []
    kept = private(path)
    assert {file.name for file in kept} >= {"records.parquet", "model.safetensors", "each.parquet"}
    assert [file for file in kept if not sealed.is_sealed(file.read_bytes())] == []
    assert not any(sealed.is_sealed(file.read_bytes()) for file in out.iterdir()), "what leaves is not encrypted"
    assert run(path, "verify", out)
    keys.drop(path)
    unlocking.unlock(path, OLD)
    encryption.decrypt(path)
    assert readable(path), "all of it can be read again"


def secret_in(process: Path, key: keys.DataKey | None) -> None:
    """Say that a process' command line and environment hold neither the key nor its passphrase."""
    assert key is not None
    if process.exists():
        for name in ("cmdline", "environ"):
            data = (process / name).read_bytes()
            for value in (key._value, key.database, OLD.value):
                assert value not in data
                assert value.hex().encode() not in data


def made(workspace: Any, corpus: str, method: str, **settings: Any) -> str:
    run_id = str(workspace.jobs.synthesize(corpus, method, **settings))
    done(workspace, workspace.runs.get(run_id).job_id)
    return run_id


def done(workspace: Any, job: str) -> None:
    ended = wait(workspace, job, seconds=300.0)
    assert ended.state == "done", ended.error


def test_a_worker_that_gets_no_key_ends_and_says_why(tmp_path):
    encryption.encrypt(OLD, tmp_path / "w")
    command = [sys.executable, "-m", "engine.cli.worker", "--workspace", str(tmp_path / "w")]
    alone = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    assert alone.returncode == 1
    assert "locked" in alone.stderr
    empty = subprocess.run([*command, "--key-from-stdin"], cwd=ROOT, capture_output=True, check=False, input=b"")
    assert empty.returncode == 1
    wrong = subprocess.run([*command, "--key-from-stdin"], cwd=ROOT, capture_output=True, check=False, input=b"w" * 32)
    assert wrong.returncode == 1
    assert b"another workspace" in wrong.stderr
    assert header.read(tmp_path / "w") is not None
