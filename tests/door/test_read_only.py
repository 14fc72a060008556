"""The program as the container file starts it: it may write to the workspace and the temporary folder alone.

A real server in a mount namespace of its own, in which every file system is read-only but one in memory, and with all
capabilities dropped. It runs as this account; a container's own account is a number that this machine does not know.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.door.conftest import ROOT, TOKEN, Served, close
from tests.static.test_container import FILE, last_stage, lines

# Every mount that is no view of the kernel becomes read-only here; then the home is a file system in memory.
INSIDE = """
set -e
while read -r _ place _; do
  case "$place" in /proc*|/sys*|/dev*) ;; *) mount -o remount,ro,bind "$place" 2>/dev/null || true ;; esac
done < /proc/self/mounts
mount -t tmpfs -o size=2g,mode=0700,noexec,nosuid,nodev tmpfs "$HOME"
if touch "$PROBE" 2>/dev/null; then echo "the root is not read-only"; exit 9; fi
exec setpriv --bounding-set=-all --inh-caps=-all --no-new-privs "$@"
"""


def isolated() -> str:
    """Return why this machine cannot make such a namespace, empty where it can."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return "only root can make a mount namespace here"
    if not (shutil.which("unshare") and shutil.which("setpriv")):
        return "unshare or setpriv is not installed"
    tried = subprocess.run(["unshare", "-m", "mount", "-o", "remount,ro,bind", "/"], capture_output=True, check=False)
    return "" if tried.returncode == 0 else "this machine forbids mount namespaces"


def surroundings(home: Path) -> dict[str, str]:
    """Return the environment that the container file gives, with a folder of this test in the place of its own two."""
    stage = last_stage(lines(FILE.read_text("utf-8")))
    given = dict(word.split("=", 1) for one in stage if one.word == "ENV" for word in shlex.split(one.rest))
    home.mkdir()
    return {
        **{name: value.replace("/tmp", str(home)) for name, value in given.items()},
        "PATH": os.environ["PATH"], "HOME": str(home), "TMPDIR": str(home), "PYTHONPATH": str(ROOT),
        "UNDERSTUDY_WORKSPACE": str(home / "workspace"), "PROBE": str(ROOT / ".probe"),
    }  # fmt: skip


def inside(*words: str) -> list[str]:
    """Return the command that runs Python with these words in such a namespace."""
    return ["unshare", "-m", "--propagation", "private", "sh", "-c", INSIDE, "sh", sys.executable, *words]


@pytest.mark.skipif(bool(isolated()), reason=isolated())
def test_the_workspace_is_made_and_read(tmp_path: Path):
    home = tmp_path / "home"
    done = subprocess.run(
        inside("-m", "engine", "corpora"), cwd=ROOT, env=surroundings(home), capture_output=True, text=True,
        timeout=120, check=False,
    )  # fmt: skip
    assert (done.returncode, json.loads(done.stdout)) == (0, {"corpora": []}), done.stderr
    assert not any(home.iterdir()), "what was written lay in memory alone"


@pytest.mark.skipif(bool(isolated()), reason=isolated())
def test_it_starts_and_answers_with_nothing_else_to_write_to(tmp_path: Path):
    stage = last_stage(lines(FILE.read_text("utf-8")))
    words = json.loads(next(one.rest for one in stage if one.word == "CMD"))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    words[words.index("--server.port") + 1] = str(port)
    home, log = tmp_path / "home", tmp_path / "log"
    environment = surroundings(home)
    with log.open("wb") as output:
        process = subprocess.Popen(inside("-m", *words), cwd=ROOT, env=environment, stdout=output, stderr=output)
    served = Served(port, "", log, tmp_path / "outside", process)
    try:
        token = _token(process, log)
        assert served.ask("/").status == 401, "everybody is asked"
        come = served.ask(f"/?token={token}")
        cookie = come.headers["set-cookie"].partition(";")[0]
        assert served.ask("/", Cookie=cookie).status == 200
        assert served.ask("/_stcore/health", Cookie=cookie).status == 200
        assert served.connect(Origin=served.origin, Cookie=cookie) == 101
        held = Path(f"/proc/{process.pid}/status").read_text("utf-8")
        assert [line.split()[1] for line in held.splitlines() if line.startswith("CapEff")] == ["0" * 16]
        said = log.read_text("utf-8")
        for wrong in ("Permission denied", "Read-only file system", "Traceback"):
            assert wrong not in said, said[-2000:]
        assert not any(home.iterdir()), "what was written lies in memory alone"
    finally:
        close(served)


def _token(process: subprocess.Popen[bytes], log: Path) -> str:
    deadline = time.monotonic() + 120
    while process.poll() is None and time.monotonic() < deadline:
        printed = TOKEN.search(log.read_text("utf-8"))
        if printed:
            time.sleep(0.5)  # it is printed as the server begins to listen
            return printed.group(1)
        time.sleep(0.2)
    raise AssertionError(f"the server did not start: {log.read_text('utf-8')[-2000:]}")
