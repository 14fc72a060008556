"""Fixtures every test may use: where real test text lies, and an empty workspace folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # as in the worker; tests beside each other share the cores


@pytest.fixture(scope="session")
def test_data() -> Path:
    """Return the folder of real test text, or skip where it is not at hand."""
    folder = Path(os.environ.get("UNDERSTUDY_TEST_DATA") or ROOT / ".." / "shared" / "data").resolve()
    if not folder.is_dir():
        pytest.skip("no real test data here: set UNDERSTUDY_TEST_DATA to its folder")
    return folder


@pytest.fixture
def workspace_path(tmp_path: Path) -> Path:
    """Return the path of a workspace folder that does not exist yet."""
    return tmp_path / "workspace"


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Return the one Chromium of the session: its driver cannot be started twice in a process."""
    from tests.browser.conftest import launched

    with launched() as instance:
        yield instance
