"""The real web process, a page of it open, killed (SIGKILL) in the middle of a run: alone, and with its worker.

Only the web processes start workers here, as in use; the test itself looks and kills.
"""

import os
import signal

import pytest

from engine.jobs.worker import launch
from engine.training.samples import generate
from tests.crash.conftest import SAMPLE
from tests.crash.killing import completed, enqueue, kill_worker, strike_at_random, until

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]


def web_alone(web):
    """Kill the web process; the worker, no child of it, must go on while there is none."""

    def strike(job):
        before, worker = job.look(), job.workspace.jobs.worker_status()["pid"]
        web.kill()
        until(lambda: job.look()[0] > before[0] or job.look()[1] != "running", job.workspace)
        went_on = job.look()[1] == "running" and job.workspace.jobs.worker_status()["pid"] == worker
        web.start()
        return went_on

    return strike


def web_and_worker(web):
    """Kill both; nobody may go on, and the next web process must bring the next worker."""

    def strike(job):
        os.kill(web.process.pid, signal.SIGKILL)
        cut_off = kill_worker(job)
        web.kill()
        assert not job.workspace.jobs.worker_status()["alive"]
        web.start()
        return cut_off

    return strike


@pytest.mark.parametrize(
    ("striker", "kills", "records"),
    [
        pytest.param(web_and_worker, 1, 1500, id="both once", marks=pytest.mark.slow),
        pytest.param(web_and_worker, 5, 6000, id="both five times", marks=pytest.mark.long),
        pytest.param(web_alone, 5, 6000, id="web five times", marks=pytest.mark.long),
    ],
)
def test_killing_the_web_process_changes_nothing(own_workspace, web, monkeypatch, striker, kills, records):
    tickets = own_workspace.corpora.import_table(
        generate("support_tickets", records, 5), SAMPLE, name="Tickets", unit="record"
    )
    own_workspace.review.use_gold(tickets.id)

    def begin():
        return enqueue(own_workspace, tickets.id, "surrogate", seed=5)

    expected = completed(begin())
    own_workspace.jobs.stop_worker()
    own_workspace.folder.worker_log.write_text("")
    monkeypatch.setattr(launch, "ensure_worker", lambda folder: False)
    web.start()

    def begin_and_look():
        job = begin()
        web.page.reload()  # whoever starts a run is on a page
        return job

    tables, hits = strike_at_random(begin_and_look, striker(web), kills, seed=12, pause_seconds=0.02)
    assert len(hits) == kills
    assert all(table == expected for table in tables)
    assert len({row[1] for row in expected[0]}) == expected[2] > 0
    recovered = own_workspace.folder.worker_log.read_text().count("recovered 1 job(s)")
    assert recovered == (kills if striker is web_and_worker else 0)
