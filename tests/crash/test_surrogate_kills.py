"""The product's own worker and a real method, killed (SIGKILL) in the middle."""

import pytest

from engine.training.samples import generate
from tests.crash.conftest import SAMPLE
from tests.crash.killing import completed, enqueue, kill_worker, strike_at_random


@pytest.mark.parametrize("kills", [2, pytest.param(20, marks=[pytest.mark.slow, pytest.mark.timeout(600)])])
def test_a_killed_surrogate_run_equals_an_undisturbed_one(own_workspace, kills):
    letters = generate("support_tickets", max(1200, 300 * kills), 5)
    corpus = own_workspace.corpora.import_table(letters, SAMPLE, name="Tickets", unit="source", cap=50)
    own_workspace.review.use_gold(corpus.id)

    def begin():
        return enqueue(own_workspace, corpus.id, "surrogate", seed=4)

    expected = completed(begin())
    tables, hits = strike_at_random(
        begin, kill_worker, kills, nudge=own_workspace.jobs.ensure_worker, pause_seconds=0.02
    )
    assert len(hits) == kills
    assert all(table == expected for table in tables)
    assert len({row[1] for row in expected[0]}) == expected[2] > 200 * kills
