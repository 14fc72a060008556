"""What a worker is started with: libraries offline, threads that wait without spinning, the wishes of its user."""

from __future__ import annotations

import json
import sys

from engine.jobs.worker import launch
from engine.workspace import open_workspace

WRITE = "import json, os, sys; open(sys.argv[1], 'w').write(json.dumps(dict(os.environ)))"


def test_a_worker_waits_patiently_and_stays_offline(tmp_path, monkeypatch):
    workspace = open_workspace(tmp_path / "workspace")
    out = tmp_path / "environment.json"
    monkeypatch.setattr(launch, "worker_command", lambda folder: [sys.executable, "-c", WRITE, str(out)])
    for wish, got in ((None, "PASSIVE"), ("ACTIVE", "ACTIVE")):
        monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
        if wish:
            monkeypatch.setenv("OMP_WAIT_POLICY", wish)
        assert launch._start(workspace.folder).wait(30) == 0
        found = json.loads(out.read_text("utf-8"))
        assert found["OMP_WAIT_POLICY"] == got
        assert found["HF_HUB_OFFLINE"] == "1"
    workspace.close()
