"""A server process' worth of a model hub, on loopback: a listing, files, a redirect to a file server."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

COMMIT = "0123456789abcdef0123456789abcdef01234567"
LARGE = ".safetensors"


@dataclass
class FakeHub:
    """What is served, what was asked for, and what goes wrong on purpose.

    status: of every answer, where not 0. spoiled: a file whose bytes differ from what is listed. leads: where
    redirects of weights lead, empty for this server.
    """

    folder: Path
    url: str = ""
    asked: list[str] = field(default_factory=list)
    status: int = 0
    spoiled: str = ""
    leads: str = ""

    @property
    def host(self) -> str:
        """Return host:port."""
        return self.url.removeprefix("http://")

    def listing(self) -> bytes:
        """Return what the hub says about its one model, someone/tiny."""
        found = []
        for path in sorted(self.folder.rglob("*")):
            if path.is_file():
                body = path.read_bytes()
                git = hashlib.sha1(f"blob {len(body)}\0".encode() + body).hexdigest()
                entry = {"rfilename": path.relative_to(self.folder).as_posix(), "size": len(body), "blobId": git}
                if path.suffix == LARGE:
                    entry["lfs"] = {"sha256": hashlib.sha256(body).hexdigest(), "size": len(body), "pointerSize": 134}
                found.append(entry)
        return json.dumps({"id": "someone/tiny", "sha": COMMIT, "siblings": found, "gated": False}).encode()

    def answer(self, path: str) -> tuple[int, bytes, str]:
        """Return status, body and where to go on."""
        self.asked.append(path)
        if self.status:
            return self.status, b"", ""
        plain = path.partition("?")[0]
        if plain == "/api/models/someone/tiny/revision/main":
            return 200, self.listing(), ""
        if plain.startswith(f"/someone/tiny/resolve/{COMMIT}/"):
            name = plain.rpartition("/")[2]
            if name.endswith(LARGE):
                return 302, b"", f"{self.leads}/store/{name}"
        elif plain.startswith("/store/"):
            name = plain.rpartition("/")[2]
        else:
            return 404, b"{}", ""
        body = (self.folder / name).read_bytes()
        return 200, body[:-1] + b"~" if name == self.spoiled else body, ""


@contextmanager
def hub(folder: Path) -> Iterator[FakeHub]:
    """Serve a model folder as someone/tiny for as long as the block runs."""
    made = FakeHub(folder)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, body, onward = made.answer(self.path)
            self.send_response(status)
            if onward:
                self.send_header("Location", onward)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield made
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
