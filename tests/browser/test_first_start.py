"""The first start of a person who has never used Streamlit, at a desktop: nothing is asked in the terminal."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.browser.conftest import ROOT, free_port, wait_until_healthy


def test_the_first_start_asks_for_no_address(tmp_path):
    port, log = free_port(), tmp_path / "server.log"
    # A fresh home has no record of an earlier answer; BROWSER keeps a real one from opening.
    own = {"HOME": str(tmp_path), "USERPROFILE": str(tmp_path), "BROWSER": "true"}
    environment = {**os.environ, **own, "UNDERSTUDY_WORKSPACE": str(tmp_path / "workspace")}
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.headless", "false"]
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*command, "--server.port", str(port)],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.PIPE,  # stays open and silent, as a terminal in which nobody types
            stdout=output,
            stderr=output,
        )
    try:
        wait_until_healthy(f"http://localhost:{port}", process, log)
        assert "Email" not in log.read_text("utf-8")
    finally:
        process.kill()
        process.communicate()
