"""Starting OpenAI-compatible servers as processes: our small one, which tells what it saw, and the library's."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
STARTS_SECONDS = 180


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


@contextmanager
def library_serving(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the settings of an endpoint for `transformers serve`, with continuous batching, on a model's folder.

    The folder gets a chat template that joins the messages, if it has none.
    """
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    if not tokenizer.chat_template:
        tokenizer.chat_template = "{% for m in messages %}{{ m['content'] }}\n{% endfor %}"
        tokenizer.save_pretrained(folder)
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    command = "from transformers.cli.transformers import main; main()"
    asked = ("serve", str(folder), "--host", "127.0.0.1", "--port", str(port), "--device", "cpu")
    process = subprocess.Popen(
        [sys.executable, "-c", command, *asked, "--continuous-batching"],
        env={**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", "HF_HOME": str(folder / "home")},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        until = time.monotonic() + STARTS_SECONDS
        while not _healthy(port):
            assert process.poll() is None, "the server ended"
            assert time.monotonic() < until, "the server does not answer"
            time.sleep(0.5)
        yield {"name": "real", "url": f"http://127.0.0.1:{port}", "model": str(folder)}
    finally:
        process.kill()
        process.wait()


def _healthy(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5) as reply:
            return reply.status == 200
    except OSError:
        return False
