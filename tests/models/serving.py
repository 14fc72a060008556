"""Starting the small OpenAI-compatible server as a process of its own, and asking it what it saw."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Served:
    """A running server."""

    port: int
    process: subprocess.Popen[bytes]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def stats(self) -> dict[str, Any]:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/stats", timeout=20) as reply:
            return json.load(reply)

    def faults(self, *faults: Any) -> None:
        """Have the next requests fail in these ways, one each."""
        data = json.dumps({"faults": list(faults)}).encode()
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/control", data=data, timeout=20) as reply:
            reply.read()


@contextmanager
def serving(*arguments: str) -> Iterator[Served]:
    """Yield a server that was started with these arguments; end it afterwards."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.models.openai_server", *arguments],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, f"the server ended with {process.wait()}"
        yield Served(json.loads(line)["port"], process)
    finally:
        process.kill()
        process.wait()
