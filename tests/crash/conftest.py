"""The workspaces of the crash tests, and the real web process with a browser to look at it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import engine
from engine.corpus.columns.mapping import ColumnMapping
from tests import postgres
from tests.browser.conftest import free_port, wait_until_healthy
from tests.jobs.conftest import ROOT, corpus, idle_seconds, workspace

__all__ = ["corpus", "idle_seconds", "workspace"]

SAMPLE = ColumnMapping(text="text", record_id="record_id", source_id="source_id", label="label", keep=(), spans="spans")


@pytest.fixture
def on_postgresql(tmp_path: Path) -> None:
    """Have the test's workspace, which is opened after this, kept in a PostgreSQL."""
    postgres.kept_in("postgresql", tmp_path / "workspace")


@pytest.fixture
def own_workspace(tmp_path: Path) -> Iterator[engine.Workspace]:
    """Return an open workspace whose worker is the product's own; it is stopped at the end."""
    opened = engine.open_workspace(tmp_path / "workspace", "tester")
    yield opened
    opened.jobs.stop_worker()
    opened.close()


class Web:
    """The real server process on one port, and a tab of a browser that looks at it."""

    def __init__(self, workspace: Path, log: Path, page: Any) -> None:
        self.port, self.log, self.page = free_port(), log, page
        self.environment = {**os.environ, "UNDERSTUDY_WORKSPACE": str(workspace), "OMP_NUM_THREADS": "1"}
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the server and open its first page, which looks for unfinished work."""
        url = f"http://localhost:{self.port}"
        command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.headless", "true"]
        command += ["--server.port", str(self.port), "--server.address", "localhost"]
        with self.log.open("ab") as output:
            self.process = subprocess.Popen(
                command, cwd=ROOT, env=self.environment, stdout=output, stderr=output, start_new_session=True
            )
        wait_until_healthy(url, self.process, self.log)
        self.page.goto(url)
        self.page.get_by_role("heading", level=1, name="Home").wait_for()

    def kill(self) -> None:
        """Kill the server (SIGKILL); its tab stays open on a page that nobody serves."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()


@pytest.fixture
def web(own_workspace: engine.Workspace, tmp_path: Path, browser: Any) -> Iterator[Web]:
    """Return a web process, not started; it is killed at the end, its worker is stopped."""
    page = browser.new_page()
    page.set_default_timeout(60_000)
    server = Web(own_workspace.path, tmp_path / "server.log", page)
    yield server
    server.kill()
    page.close()
