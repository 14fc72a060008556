"""What stands in the bar of a job: of a run, its steps as the run before had them, and one time for the whole."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from engine.examine import expected
from engine.store.views import Whole
from pages._ui.parts import charts
from pages._ui.parts.progress import fraction, status_line
from pages._ui.parts.stages import STAGES


@pytest.mark.parametrize(
    ("kind", "parts", "said"),
    [
        ("synthesize", 4, "40% · about 3 min left · at work: writing texts · 60 of 60"),
        ("synthesize", 1, "40% · about 3 min left · at work: writing texts · 60 of 60"),
        ("examine", 4, "40% · about 3 min left · at work: writing texts"),
    ],
)
def test_one_bar_and_one_time_for_the_whole_job(kind, parts, said):
    job = SimpleNamespace(
        kind=kind, state="running", stopping=False, done=60, total=60, stage="generating", seconds_left=0.0,
        whole=Whole(min(2, parts), parts, "generating", 0.4, 180.0),
    )  # fmt: skip
    assert status_line(job) == said
    assert fraction(job) == 0.4, "a step that is done fills no bar"


def test_each_part_of_an_examination_is_called_by_plain_words():
    known = {one.title for one in expected.parts(expected.Sizes(100, 100), tuned=True)}
    assert known <= STAGES.keys()
    assert not {"closeness", "blind baseline", "neighbours", "planted canaries"} & set(STAGES.values())


def test_a_histogram_is_marked_at_round_numbers_where_its_bars_allow_it():
    eights = [40 + 8 * i for i in range(29)]
    assert eights[:: charts.marked_every(eights)] == [40, 80, 120, 160, 200, 240]
    assert charts.marked_every([7 + 3 * i for i in range(12)]) == 2, "no bar of these begins at a round number twice"


@pytest.mark.parametrize(
    ("took", "said"), [(None, "time left not known yet"), (300.0, "time left not known yet, the last one took 5 min")]
)
def test_an_examination_that_has_hardly_begun_promises_no_time(took, said):
    job = SimpleNamespace(
        kind="examine", state="running", stopping=False, done=1, total=60, stage="generating", seconds_left=0.0,
        whole=Whole(2, 34, "generating", 0.05, 180.0),
    )  # fmt: skip
    assert said in status_line(job, took)
    assert "3 min" not in status_line(job, took)


@pytest.mark.parametrize(("done", "told"), [(0.32, False), (0.5, True)])
def test_an_examination_that_goes_on_promises_no_time_by_what_was_kept(done, told):
    job = SimpleNamespace(
        kind="examine", state="running", stopping=False, done=1, total=60, stage="generating", seconds_left=0.0,
        whole=Whole(9, 34, "generating", done, 180.0, began=0.3),
    )  # fmt: skip
    assert ("3 min" in status_line(job)) == told
    assert status_line(job).startswith(f"{round(100 * done)}%"), "the share is of the whole"


@pytest.mark.parametrize(("left", "said"), [(None, "longer than planned"), (120.0, "about 2 min left of this step")])
def test_a_job_longer_than_planned_promises_no_time_for_the_whole(left, said):
    job = SimpleNamespace(
        kind="synthesize", state="running", stopping=False, done=1, total=60, stage="generating", seconds_left=left,
        whole=Whole(1, 1, "generating", 0.9, 3.0, over=True),
    )  # fmt: skip
    assert said in status_line(job)
    assert "3 s" not in status_line(job)
