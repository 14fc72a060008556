"""What stands in the bar of a job: of a run, its steps as the run before had them, and one time for the whole."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from engine.store.views import Whole
from pages._ui.parts.progress import fraction, status_line


@pytest.mark.parametrize(
    ("kind", "parts", "said"),
    [
        ("synthesize", 4, "Step 2 of 4: writing texts · about 3 min left"),
        ("synthesize", 1, "Writing texts · about 3 min left"),  # a first run: its other steps are not known
        ("examine", 4, "Part 2 of 4: writing texts · about 3 min left"),
    ],
)
def test_one_bar_and_one_time_for_the_whole_job(kind, parts, said):
    job = SimpleNamespace(
        kind=kind, state="running", stopping=False, done=60, total=60, stage="generating", seconds_left=0.0,
        whole=Whole(min(2, parts), parts, "generating", 0.4, 180.0),
    )  # fmt: skip
    assert status_line(job) == said
    assert fraction(job) == 0.4, "a step that is done fills no bar"
