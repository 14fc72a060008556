"""What a run took, as its row and the notes of its server tell."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from engine.examine.prepare import Effort
from engine.jobs.tasks.examine import effort_of

COUNTS = {"requests": 12, "retries": 1, "tokens_in": 900, "tokens_out": 300, "counted": 12, "waited_seconds": 0.5}


@pytest.mark.parametrize(
    ("notes", "effort"),
    [
        ({}, Effort(40, 8.0)),
        ({"endpoint": "none"}, Effort(40, 8.0)),
        ({"endpoint": {**COUNTS, "cost": 0.25}}, Effort(40, 8.0, 12, 900, 300, 0.25)),
        ({"endpoint": {"requests": "odd", "cost": None}}, Effort(40, 8.0)),
    ],
)
def test_notes_of_a_server_are_read(notes: Any, effort: Effort) -> None:
    row: Any = SimpleNamespace(kept=40, seconds=8.0, diagnostics=notes)
    assert effort_of(row) == effort
