"""A real server with its door, and visitors: of this account, of another one, with any header."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
NOBODY = 65534
TOKEN = re.compile(r"/\?token=(\S+)")
SOCKET = {
    "Upgrade": "websocket",
    "Connection": "Upgrade",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    "Sec-WebSocket-Version": "13",
}


@dataclass
class Answer:
    """What came back: status, headers in small letters, body."""

    status: int
    headers: dict[str, str] = field(default_factory=dict)
    body: str = ""


@dataclass
class Served:
    """A running server: its port, this start's token, its log and what it tried to reach outside."""

    port: int
    token: str
    log: Path
    outside: Path
    process: subprocess.Popen[bytes]

    @property
    def origin(self) -> str:
        """Return the server's own origin."""
        return f"http://localhost:{self.port}"

    def ask(self, path: str = "/", method: str = "GET", body: str = "", **headers: str) -> Answer:
        """Send one request; keyword `Sec_Fetch_Site` is header Sec-Fetch-Site; Host and Connection are filled in."""
        sent = {"Host": f"localhost:{self.port}", "Connection": "close"}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        if body:
            sent |= {"Content-Length": str(len(body)), "Content-Type": "application/x-www-form-urlencoded"}
        lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in sent.items()), "", body]
        with socket.create_connection(("127.0.0.1", self.port), timeout=20) as connection:
            connection.sendall("\r\n".join(lines).encode())
            got = b""
            while b"\r\n\r\n" not in got or sent["Connection"] == "close":
                part = connection.recv(65536)
                got += part
                if not part:
                    break
        head, _, rest = got.decode("utf-8", "replace").partition("\r\n\r\n")
        first, *others = head.split("\r\n")
        pairs = (line.partition(": ") for line in others)
        return Answer(int(first.split()[1]), {name.lower(): value for name, _, value in pairs}, rest)

    def connect(self, **headers: str) -> int:
        """Return the status of a WebSocket handshake: 101 where it was let in."""
        words = SOCKET | {name.replace("_", "-"): value for name, value in headers.items()}
        return self.ask("/_stcore/stream", **{name.replace("-", "_"): value for name, value in words.items()}).status


def as_account(uid: int, work: Callable[[], Any]) -> Any:
    """Return what the work gives in a process of another account; skip where this one may not become it."""
    import json

    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        pytest.skip("only root can act as another account of the machine")
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.setgroups([])
            os.setgid(uid)
            os.setuid(uid)
            os.write(writing, json.dumps(work()).encode())
            status = 0
        finally:
            os._exit(status)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        said = pipe.read()
    assert os.waitpid(child, 0)[1] == 0
    return json.loads(said)


def serve(folder: Path, *options: str) -> Served:
    """Start the program on a free port, with every attempt to reach another machine written down."""
    folder.mkdir(parents=True, exist_ok=True)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    log, outside = folder / "log", folder / "outside"
    outside.touch()
    paths = [str(ROOT / "tests" / "netguard"), os.environ.get("PYTHONPATH", "")]
    environment = {
        **os.environ,
        "UNDERSTUDY_WORKSPACE": str(folder / "workspace"),
        "UNDERSTUDY_NETGUARD": str(outside),
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
    }
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.headless", "true"]
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*command, "--server.port", str(port), "--", *options],
            cwd=ROOT,
            env=environment,
            stdout=output,
            stderr=output,
        )
    deadline = time.monotonic() + 90
    while process.poll() is None and time.monotonic() < deadline:
        printed = TOKEN.search(log.read_text("utf-8"))
        if printed:
            served = Served(port, printed.group(1), log, outside, process)
            try:
                served.ask("/_stcore/health")
            except OSError:
                time.sleep(0.1)
                continue
            return served
        time.sleep(0.1)
    process.kill()
    raise AssertionError(f"the server did not start: {log.read_text('utf-8')[-2000:]}")


def close(served: Served) -> None:
    """End a server."""
    served.process.terminate()
    served.process.wait(timeout=20)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Yield the program as the README starts it."""
    running = serve(tmp_path_factory.mktemp("door"))
    yield running
    close(running)
