"""A real server process, a real Chromium, and a watch over everything that leaves either of them."""

from __future__ import annotations

import ipaddress
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil
import pytest

import engine
from engine.jobs.worker import launch

ROOT = Path(__file__).resolve().parents[2]
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = [
    "--no-sandbox",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
START_SECONDS = 60


def chromium() -> str | None:
    """Return the path of an installed Chromium: the environment's choice, else the first found."""
    named = os.environ.get("UNDERSTUDY_CHROMIUM")
    found = [named] if named else [shutil.which(name) for name in NAMES]
    return next((path for path in found if path and Path(path).exists()), None)


def is_loopback(address: str) -> bool:
    """Return whether a host name or address is this machine."""
    host = address.strip("[]").partition("%")[0]
    if host in ("", "localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@dataclass
class Watch:
    """Collects each socket of the server and of its worker that is not loopback."""

    server: int
    worker_folder: Path
    foreign: set[str] = field(default_factory=set)
    looked: int = 0
    seen: set[int] = field(default_factory=set)
    _stop: threading.Event = field(default_factory=threading.Event)
    _known: list[psutil.Process] = field(default_factory=list)
    _listed: float = 0.0

    def processes(self) -> list[psutil.Process]:
        """Return the server, the worker of its workspace, and their children."""
        roots = [self.server]
        for process in psutil.process_iter(["cmdline"]):
            words = process.info["cmdline"] or []
            if "engine.cli.worker" in words and str(self.worker_folder) in words:
                roots.append(process.pid)
        found = []
        for pid in roots:
            try:
                process = psutil.Process(pid)
                found += [process, *process.children(recursive=True)]
            except psutil.Error:
                continue
        return found

    def look(self) -> None:
        """Look once at every socket; the processes themselves are listed anew twice a second, which is dearer."""
        if time.monotonic() - self._listed > 0.5:
            self._known, self._listed = self.processes(), time.monotonic()
        for process in self._known:
            try:
                connections = process.net_connections(kind="inet")
            except psutil.Error:
                continue
            self.seen.add(process.pid)
            for connection in connections:
                ends = [connection.raddr] if connection.raddr else [connection.laddr]
                self.foreign |= {str(end.ip) for end in ends if end and not is_loopback(end.ip)}
        self.looked += 1

    def run(self) -> None:
        """Look ten times a second until told to stop."""
        while not self._stop.wait(0.1):
            self.look()

    def stop(self) -> None:
        """End the watch."""
        self._stop.set()


@dataclass
class Server:
    """A running application: its address, workspace folder, process and socket watch."""

    url: str
    workspace: Path
    process: subprocess.Popen[bytes]
    watch: Watch
    log: Path

    def open(self) -> engine.Workspace:
        """Return the workspace the server works on."""
        return engine.open_workspace(self.workspace)


def free_port() -> int:
    """Return a port nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_until_healthy(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    """Wait for the first answer of the server."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            break
        try:
            with urllib.request.urlopen(f"{url}/_stcore/health", timeout=1):
                return
        except OSError:
            time.sleep(0.1)
    raise AssertionError(f"the server did not start: {log.read_text('utf-8')[-2000:]}")


@pytest.fixture
def acting() -> str:
    """Return who acts in the workspace of `server`; nobody said so where it is empty."""
    return "custodian"


@contextmanager
def serving(workspace: Path, log: Path) -> Iterator[Server]:
    """Run `streamlit run app.py` on a workspace; end it and its worker afterwards."""
    port = free_port()
    environment = {**os.environ, "UNDERSTUDY_WORKSPACE": str(workspace), "OMP_NUM_THREADS": "2"}
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.headless", "true"]
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*command, "--server.port", str(port)], cwd=ROOT, env=environment, stdout=output, stderr=output
        )
    watch = Watch(process.pid, workspace)
    thread = threading.Thread(target=watch.run, daemon=True)
    try:
        url = f"http://localhost:{port}"
        wait_until_healthy(url, process, log)
        thread.start()
        yield Server(url, workspace, process, watch, log)
    finally:
        watch.stop()
        if workspace.exists():
            launch.stop_worker(engine.open_workspace(workspace).folder, 1.0)  # nobody goes on with its work
        process.terminate()
        process.wait(timeout=20)


@pytest.fixture
def server(tmp_path: Path, acting: str) -> Iterator[Server]:
    """Run the application on a fresh workspace."""
    workspace = tmp_path / "workspace"
    if acting:
        opened = engine.open_workspace(workspace)
        opened.settings.set_actor(acting)
        opened.close()
    with serving(workspace, tmp_path / "server.log") as running:
        yield running


@contextmanager
def launched() -> Iterator[Any]:
    """Yield a running Chromium; skip where there is none, fail where CI is set."""
    path = chromium()
    if path is None:
        reason = "no Chromium found: install one or set UNDERSTUDY_CHROMIUM to its path"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        instance = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield instance
        instance.close()


@dataclass
class Requests:
    """Every address the browser asked for."""

    urls: list[str] = field(default_factory=list)

    def foreign(self) -> list[str]:
        """Return the addresses that are not on this machine."""
        parts = [(url, urlsplit(url)) for url in self.urls]
        return [
            url for url, part in parts if part.scheme not in ("data", "blob") and not is_loopback(part.hostname or "")
        ]


# What a browser reports and no test fails for: a pattern of the message with its address, and why.
TOLERATED: dict[str, str] = {
    r"net::ERR_ABORTED": "the browser drops what it was fetching when a page is left or loaded again",
    r"404.*/[a-z]+/_stcore/(health|host-config)\b": "Streamlit asks below a page's own path first, then at the root",
}


@dataclass
class Faults:
    """What the browser reports of its pages: errors in the console, uncaught exceptions, requests without an answer."""

    found: list[str] = field(default_factory=list)

    def watch(self, context: Any) -> None:
        """Listen to every page of a browser context, now and later."""
        context.on("console", lambda said: said.type == "error" and self.add("console", said.text, said.location))
        context.on("weberror", lambda error: self.add("exception", str(error.error)))
        context.on("requestfailed", lambda request: self.add("request", f"{request.url}: {request.failure}"))
        context.on("response", lambda answer: answer.status >= 400 and self.add("answer", _refused(answer)))

    def add(self, kind: str, message: str, where: object = "") -> None:
        """Note a fault that is not tolerated."""
        fault = f"{kind}: {message} {where}".strip()
        if not any(re.search(pattern, fault) for pattern in TOLERATED):
            self.found.append(fault)


def _refused(answer: Any) -> str:
    return f"{answer.status} {answer.url}"


@contextmanager
def watched(context: Any) -> Iterator[Faults]:
    """Yield what a browser context reports, and fail at the end where that is anything."""
    faults = Faults()
    faults.watch(context)
    yield faults
    assert not faults.found, "the browser reported: " + "\n".join(faults.found[:20])


@pytest.fixture
def tab(browser: Any) -> Iterator[tuple[Any, Requests]]:
    """Open a tab whose requests and sockets are recorded; what its browser reports as a fault fails the test."""
    requests = Requests()
    context = browser.new_context(viewport={"width": 1360, "height": 900}, accept_downloads=True)
    with watched(context):
        yield _recorded(context.new_page(), requests), requests
        context.close()


def _recorded(page: Any, requests: Requests) -> Any:
    page.set_default_timeout(60_000)
    page.on("request", lambda request: requests.urls.append(request.url))
    page.on("websocket", lambda websocket: requests.urls.append(websocket.url))
    return page
