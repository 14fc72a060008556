"""Runs with a guarantee in a real worker: no record reaches the method, the ledger pays, nothing is drawn twice."""

import os
import signal
import time
from types import SimpleNamespace

import numpy as np
import pytest

from engine.errors import RefusedError, UserError
from engine.jobs.drafts import Buys
from engine.jobs.worker import private
from engine.jobs.worker.private import private_embed
from tests.jobs.conftest import wait, without_worker
from tests.store.conftest import MAPPING, made_up
from tests.store.making import examine

DELTA = 1e-5


def asked(workspace, corpus, method="counts", **parameters):
    """Ask for a run and return its id and job."""
    run_id = workspace.jobs.synthesize(corpus.id, method, count=50, parameters={"delta": DELTA, **parameters})
    return run_id, workspace.runs.get(run_id).job_id


def finished(workspace, corpus, method="counts", **parameters):
    """Make a run and return its id."""
    run_id, job_id = asked(workspace, corpus, method, **parameters)
    job = wait(workspace, job_id)
    assert job.state == "done", job.error
    return run_id


def lines(workspace, corpus, run_id=None):
    """Return the kinds of the ledger's lines, of one run or all."""
    frame = workspace.ledger.of(corpus.id).lines
    return list(frame["kind"] if run_id is None else frame[frame["run_id"] == run_id]["kind"])


def stored(workspace, run_id):
    """Return a run's mechanism outputs as they lie in the database: key to bytes."""
    with workspace.session.db.read() as connection:
        rows = connection.exec_driver_sql(
            f'SELECT "key", "values" FROM mechanism_outputs WHERE run_id = \'{run_id}\' ORDER BY seq'
        ).all()
    return {row[0]: row[1] for row in rows}


@pytest.fixture
def small(workspace):
    """Return a corpus of its own without spans, under a limit of ε = 2."""
    made = workspace.corpora.import_table(made_up(), MAPPING, name="Letters", holdout=0.25, labels_public=True)
    workspace.ledger.set_limit(made.id, 2.0, DELTA)
    return made


def test_a_run_reserves_draws_and_settles(workspace, small):
    run_id = finished(workspace, small)
    assert lines(workspace, small, run_id) == ["reserve", "spend", "spend", "spend", "settle"]
    assert workspace.runs.diagnostics(run_id) == {"records seen": 0, "spans seen": 0}
    view = workspace.ledger.of(small.id)
    assert view.total_epsilon == pytest.approx(1.0, rel=1e-3)
    assert (view.reserved_share, view.unbounded) == (0.0, False)
    outputs = stored(workspace, run_id)
    texts = list(workspace.runs.synthetic(run_id)["text"])
    for t, values in enumerate(outputs.values()):
        assert texts[t] == f"Round {t} counted {[float(v).hex() for v in np.frombuffer(values)]}."
    assert [number for number, _ in workspace.examinations.snapshots(run_id)] == [0, 1, 2]
    assert workspace.examinations.tables(run_id) == []
    assert set(view.lines["actor"]) == {"tester", "worker"}  # one chain, whoever writes
    assert workspace.ledger.verify()["ok"]
    assert {"name": "ledger", "ok": True, "detail": "6 lines, chain holds"} in workspace.doctor.check()["checks"]


def test_a_run_past_the_limit_is_refused_and_leaves_nothing(workspace, small):
    plan = workspace.plan.draft(small.id, "counts", parameters={"delta": DELTA, "epsilon": 3.0})
    assert plan.what_if.sentence in plan.blockers
    with pytest.raises(RefusedError):
        asked(workspace, small, epsilon=3.0)
    assert workspace.runs.all() == []
    assert lines(workspace, small) == ["limit"]
    fits = workspace.plan.draft(small.id, "counts", parameters={"delta": DELTA})
    assert (fits.blockers, fits.what_if.allowed) == ([], True)


def test_a_claim_that_is_still_computed_is_pending_everywhere(workspace, small, monkeypatch):
    asked_for = {"delta": DELTA, "laplace": 0.2}
    without_worker(workspace, monkeypatch)
    claim = workspace.plan.guarantee("counts", corpus_id=small.id, parameters=asked_for)
    assert claim.pending
    assert (claim.kind, claim.epsilon, claim.delta) == ("dp", 1.0, DELTA)
    assert workspace.plan.guarantee("counts", corpus_id=small.id, parameters=asked_for) == claim
    assert [job.kind for job in workspace.jobs.all()].count("account") == 1
    plan = workspace.plan.draft(small.id, "counts", parameters=asked_for)
    assert (plan.guarantee.pending, plan.what_if) == (True, None)
    assert workspace.plan.guarantee_curve("counts", corpus_id=small.id, parameters=asked_for).pending
    run_id, _ = asked(workspace, small, laplace=0.2)
    assert workspace.runs.get(run_id).guarantee.pending
    assert lines(workspace, small, run_id) == []


def test_the_worker_answers_and_the_page_then_knows(workspace, small):
    asked_for = {"delta": DELTA, "laplace": 0.2}
    assert workspace.plan.guarantee("counts", corpus_id=small.id, parameters=asked_for).pending
    run_id, job_id = asked(workspace, small, laplace=0.2)
    assert wait(workspace, job_id).state == "done"
    assert lines(workspace, small, run_id)[0] == "reserve"
    assert lines(workspace, small, run_id).count("spend") == 4
    claim = workspace.plan.guarantee("counts", corpus_id=small.id, parameters=asked_for)
    assert not claim.pending
    assert workspace.runs.get(run_id).guarantee.noise == claim.noise
    assert claim == workspace.plan.wait_guarantee("counts", corpus_id=small.id, parameters=asked_for)
    deadline = time.monotonic() + 30
    while workspace.plan.guarantee_curve("counts", corpus_id=small.id, parameters=asked_for).pending:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    curve = workspace.plan.guarantee_curve("counts", corpus_id=small.id, parameters=asked_for)
    at_claim = curve.epsilons.index(1.0)  # the claimed ε is a point of the curve
    assert curve.standard[at_claim] == pytest.approx(DELTA, rel=0.01)
    assert curve.standard[at_claim] <= curve.strict[at_claim] < 1.0
    assert len(curve.epsilons) == len(curve.strict) > 10
    while any(job.kind == "account" for job in workspace.jobs.all()):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert not any(job.kind == "account" for job in workspace.jobs.all(active_only=False))


def test_the_worker_refuses_what_the_budget_does_not_cover(workspace, small):
    run_id, job_id = asked(workspace, small, epsilon=2.5, laplace=0.2)
    job = wait(workspace, job_id)
    run = workspace.runs.get(run_id)
    assert (job.state, run.state, run.kept) == ("failed", "failed", 0)
    parameters = {"delta": DELTA, "epsilon": 2.5, "laplace": 0.2}
    claim = workspace.plan.wait_guarantee("counts", corpus_id=small.id, parameters=parameters)
    sentence = workspace.ledger.what_if(small.id, claim).sentence
    assert run.error == sentence
    assert lines(workspace, small, run_id) == []
    assert stored(workspace, run_id) == {}


def test_a_failure_before_any_output_gives_back_and_a_resume_reserves_again(workspace, small):
    run_id, job_id = asked(workspace, small, fail_at=0)
    assert wait(workspace, job_id).state == "failed"
    assert lines(workspace, small, run_id) == ["reserve", "give_back"]
    assert workspace.ledger.of(small.id).share == 0.0
    wait(workspace, workspace.jobs.resume(run_id))
    assert lines(workspace, small, run_id) == ["reserve", "give_back"] * 2


def test_a_failure_after_an_output_keeps_the_reservation(workspace, small):
    run_id, job_id = asked(workspace, small, fail_at=1)
    assert wait(workspace, job_id).state == "failed"
    assert lines(workspace, small, run_id) == ["reserve", "spend"]
    before = stored(workspace, run_id)
    wait(workspace, workspace.jobs.resume(run_id))
    assert stored(workspace, run_id) == before
    assert lines(workspace, small, run_id) == ["reserve", "spend"]
    workspace.runs.delete(run_id)
    assert lines(workspace, small, run_id) == ["reserve", "spend", "settle"]


def test_cancelling_a_queued_run_gives_back(workspace, small, monkeypatch):
    without_worker(workspace, monkeypatch)
    run_id, _ = asked(workspace, small)
    share = workspace.ledger.of(small.id).share
    assert share > 0
    assert workspace.jobs.cancel(run_id)
    assert lines(workspace, small, run_id) == ["reserve", "give_back"]
    with pytest.raises(RefusedError):
        asked(workspace, small, epsilon=2.01)
    taken, _ = asked(workspace, small, epsilon=1.5)
    with pytest.raises(RefusedError):  # somebody else took the budget meanwhile
        asked(workspace, small, epsilon=1.5)
    workspace.runs.delete(taken)
    assert lines(workspace, small, taken) == ["reserve", "give_back"]


def test_a_resume_is_refused_where_the_budget_went_elsewhere(workspace, small, monkeypatch):
    without_worker(workspace, monkeypatch)
    first, _ = asked(workspace, small, epsilon=1.5)
    workspace.jobs.cancel(first)
    asked(workspace, small, epsilon=1.5)
    with pytest.raises(RefusedError):
        workspace.jobs.resume(first)
    assert workspace.runs.get(first).state == "cancelled"


def test_a_run_without_a_claim_is_a_touch_once(workspace, corpus):
    run_id = finished_slow(workspace, corpus)
    assert lines(workspace, corpus, run_id) == ["touch"]
    chosen = finished(workspace, corpus, "choice")
    assert lines(workspace, corpus, chosen) == ["touch"]
    sentences = workspace.ledger.of(corpus.id).lines.set_index("run_id")["sentence"]
    assert "without a formal guarantee" in sentences[run_id]
    assert "only its choice among candidates is noisy" in sentences[chosen]
    assert list(stored(workspace, chosen)) == ["choice"]
    workspace.session.db.close()


def finished_slow(workspace, corpus):
    run_id = workspace.jobs.synthesize(corpus.id, "slow", count=6, parameters={"fail_at": 5})
    wait(workspace, workspace.runs.get(run_id).job_id)
    wait(workspace, workspace.jobs.resume(run_id))
    return run_id


def test_killing_the_worker_redraws_nothing_and_spends_nothing_twice(workspace, small):
    rounds = 12
    run_id, job_id = asked(workspace, small, rounds=rounds, seconds=0.15)
    seen, kills, deadline = {}, 0, time.monotonic() + 120
    while kills < 3:
        assert time.monotonic() < deadline
        workspace.jobs.ensure_worker()
        drawn = stored(workspace, run_id)
        if len(drawn) > len(seen) + 1:
            pid = workspace.jobs.worker_status()["pid"]
            if pid is None:
                continue
            os.kill(pid, signal.SIGKILL)
            while workspace.jobs.worker_status()["alive"]:
                time.sleep(0.01)
            kills, seen = kills + 1, stored(workspace, run_id)
            assert workspace.runs.get(run_id).state == "running"
        time.sleep(0.01)
    assert wait(workspace, job_id, seconds=90).state == "done"
    outputs = stored(workspace, run_id)
    assert {key: outputs[key] for key in seen} == seen
    assert list(outputs) == [f"counts/{t}" for t in range(rounds)]
    assert lines(workspace, small, run_id) == ["reserve", *["spend"] * rounds, "settle"]
    texts = list(workspace.runs.synthetic(run_id)["text"])
    assert texts == [
        f"Round {t} counted {[float(v).hex() for v in np.frombuffer(outputs[f'counts/{t}'])]}." for t in range(rounds)
    ]
    assert workspace.ledger.of(small.id).total_epsilon == pytest.approx(1.0, rel=1e-3)
    assert workspace.ledger.verify()["ok"]


def test_private_embeddings_are_made_once_and_go_with_the_corpus(workspace, small):
    finished(workspace, small, feature="votes", rounds=2, epsilon=0.5)
    (path,) = workspace.folder.corpus(small.id).glob("embeddings_*.npy")
    made = path.stat().st_mtime_ns
    table = np.load(path, allow_pickle=False)
    assert table.shape == (workspace.ledger.facts(small.id).records, 384)
    assert path.stat().st_mode & 0o077 == 0
    finished(workspace, small, feature="votes", rounds=1, epsilon=0.5)
    assert path.stat().st_mtime_ns == made
    workspace.corpora.delete(small.id)
    assert not path.exists()


class Padded:
    """An embedder whose rows depend on what else is in the call, as padding and half precision make them."""

    id = "padded"

    def embed(self, texts):
        """Return rows that carry the longest text of the call."""
        longest = max((len(text) for text in texts), default=0)
        return np.array([[len(text), longest] for text in texts], dtype=np.float32).reshape(len(texts), 2)


class Running:
    """What a task offers here; `check` raises after so many looks, as a kill would."""

    def __init__(self, workspace, corpus_id, looks=10_000):
        self.store, self.corpus_id, self.looks = workspace, corpus_id, looks
        self.models = SimpleNamespace(embedder=Padded)

    def check(self):
        """Go on, or stop for good."""
        self.looks -= 1
        if self.looks < 0:
            raise KeyboardInterrupt

    def report(self, stage, done, total):
        """Say nothing."""


def test_embedding_goes_on_where_it_was_cut_off(workspace, small, monkeypatch):
    monkeypatch.setattr(private, "CHUNK", 5)
    monkeypatch.setattr(private, "KEEP", 10)
    records = workspace.corpora.frame(small.id, "train")
    texts = [str(text) for text in records["text"]]
    assert len(texts) > 20
    with pytest.raises(KeyboardInterrupt):
        private_embed(Running(workspace, small.id, looks=3), records)(texts)
    folder = workspace.folder.corpus(small.id)
    (part,) = folder.glob("embeddings_*.npy")
    assert part.name.endswith(".part.npy")
    assert len(np.load(part, allow_pickle=False)) == 10
    left = -(-(len(texts) - 10) // 5)
    whole = private_embed(Running(workspace, small.id, looks=left), records)(texts)
    assert (whole == np.concatenate([Padded().embed([text]) for text in texts])).all()
    (path,) = folder.glob("embeddings_*.npy")
    assert not path.name.endswith(".part.npy")


def test_one_record_never_moves_the_embedding_of_another(workspace, small):
    """Embedded in one batch, leaving out the longest record would change every row."""
    records = workspace.corpora.frame(small.id, "train")
    texts = [str(text) for text in records["text"]]
    whole = private_embed(Running(workspace, small.id), records)(texts)
    longest = max(range(len(texts)), key=lambda i: len(texts[i]))
    (path,) = workspace.folder.corpus(small.id).glob("embeddings_*.npy")
    path.unlink()
    rest = [text for i, text in enumerate(texts) if i != longest]
    without = private_embed(Running(workspace, small.id), records.drop(index=longest))(rest)
    assert (np.delete(whole, longest, axis=0) == without).all()
    assert not (Padded().embed(texts)[:-1] == Padded().embed(rest)).all()


def test_what_the_budget_buys_is_pending_then_there_or_said_to_be_unknown(workspace, small, monkeypatch):
    without_worker(workspace, monkeypatch)
    assert workspace.plan.buys(small.id, "counts", {"delta": DELTA}).pending
    assert [job.kind for job in workspace.jobs.all()].count("signal") == 1
    for _ in range(2):  # another number of outputs is another question, asked once
        assert workspace.plan.buys(small.id, "counts", {"delta": DELTA}, 20).pending
        assert [job.kind for job in workspace.jobs.all()].count("signal") == 2
    assert workspace.plan.buys(small.id, "slow", {}) == Buys(False)
    with pytest.raises(UserError):
        workspace.plan.buys(small.id, "counts", {"epsilon": -1})


def test_a_whole_output_is_released_with_its_statement_whole(workspace, small, tmp_path):
    """Everything approved, nothing measured: the card's claim covers the records as they are; else none leave so."""
    run_id = finished(workspace, small)
    assert not workspace.releases.makes_unbounded(run_id)
    first = str(workspace.runs.synthetic(run_id, limit=1)["record_id"].iloc[0])
    for decide in (lambda: None, lambda: workspace.runs.approve(run_id, [first], "rejected")):
        decide()
        assert not workspace.releases.gate(run_id, "proof", signed_off_by="Grace").passed  # a record is held back
        workspace.runs.approve_all_pending(run_id)
    with pytest.raises(RefusedError, match="whole output"):
        workspace.releases.make(run_id, "proof", signed_off_by="Grace")
    workspace.runs.approve(run_id, [first], "approved")
    with pytest.raises(RefusedError, match="second person"):
        workspace.releases.make(run_id, "proof")
    made = workspace.releases.make(run_id, "proof", signed_off_by="Grace", out=tmp_path / "bundle")
    card = (tmp_path / "bundle" / "DATA_CARD.md").read_text()
    assert "The statement covers these records as they are" in card
    assert "differential privacy before selection" not in card
    assert made.records == workspace.runs.get(run_id).kept
    assert not workspace.ledger.of(small.id).unbounded
    examine(workspace, run_id, [])  # from here on a release follows a look at private data
    with pytest.raises(RefusedError, match="Nothing private had a say"):
        workspace.releases.make(run_id, "proof", signed_off_by="Grace")
