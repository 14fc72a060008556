"""Packages beside the program are given to `pip-audit`, which asks a service about each: one on this machine here."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from engine.release import sbom
from tests.cli.in_process import run


class Service(ThreadingHTTPServer):
    """Answers as the database of open-source vulnerabilities does; knows of what is planted alone."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.asked: dict[str, str] = {}
        self.planted = ""


class Answer(BaseHTTPRequestHandler):
    server: Service

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        name = asked["package"]["name"]
        self.server.asked[name] = asked["version"]
        weak = {"id": "PLANTED-1", "summary": "Planted.", "details": "Planted.", "affected": [
            {"package": {"name": name, "ecosystem": "PyPI"},
             "ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "9999"}]}]}]}  # fmt: skip
        said = json.dumps({"vulns": [weak]} if name == self.server.planted else {}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def service() -> Iterator[Service]:
    with Service() as one:
        thread = threading.Thread(target=one.serve_forever, daemon=True)
        thread.start()
        yield one
        one.shutdown()
        thread.join()


@pytest.mark.slow
def test_every_package_is_asked_about_and_a_weak_one_is_named(service, tmp_path):
    run(tmp_path / "w", "sbom", "--out", tmp_path / "sbom.json", "--pins", tmp_path / "pins.txt")
    command = [
        sys.executable, "-m", "pip_audit", "-r", str(tmp_path / "pins.txt"), "--no-deps", "--disable-pip", "-s", "osv",
        "--osv-url", f"http://127.0.0.1:{service.server_port}/v1/query", "--progress-spinner", "off", "-f", "json",
    ]  # fmt: skip

    def audited() -> tuple[int, dict[str, list[str]]]:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=240, cwd=tmp_path)
        assert done.stdout, done.stderr
        found = json.loads(done.stdout)["dependencies"]
        return done.returncode, {one["name"]: [each["id"] for each in one.get("vulns", [])] for one in found}

    known = {one.name: one.version for one in sbom.packages()}
    status, found = audited()
    assert service.asked == known
    assert (status, [name for name, weak in found.items() if weak]) == (0, [])
    service.planted = "jinja2"
    status, found = audited()
    assert (status, {name: weak for name, weak in found.items() if weak}) == (1, {"jinja2": ["PLANTED-1"]})
