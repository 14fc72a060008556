"""The command line called as a function: the same arguments, output and exit status without the start of a process.

`tests/cli/test_command_line.py` runs real processes; what is tested elsewhere is what a verb does.
"""

from __future__ import annotations

import contextlib
import gc
import io
import json
import os
from pathlib import Path
from typing import Any
from unittest import mock

from engine.__main__ import main

NETGUARD = Path(__file__).resolve().parents[1] / "netguard"


def run(workspace: Path, *arguments: Any, expect: int = 0) -> Any:
    """Run a verb on a workspace; return what it printed: JSON, or the messages where a failure is expected."""
    environment = {
        "UNDERSTUDY_WORKSPACE": str(workspace),
        "PYTHONPATH": str(NETGUARD),  # of a worker it starts
        "UNDERSTUDY_NETGUARD": str(workspace.parent / "connections.txt"),
    }
    out, said = io.StringIO(), io.StringIO()
    with mock.patch.dict(os.environ, environment), contextlib.redirect_stdout(out), contextlib.redirect_stderr(said):
        try:
            status = main([*map(str, arguments)])
        except SystemExit as ended:  # wrong options end the parser
            status = int(ended.code or 0)
    gc.collect()  # a process that ends closes its database
    assert status == expect, out.getvalue() + said.getvalue()
    return json.loads(out.getvalue()) if expect == 0 else said.getvalue()
