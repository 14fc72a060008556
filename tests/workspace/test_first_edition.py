"""A workspace of the first edition, written by its command line at d6c9a14: it opens, adds up, verifies and runs on.

It holds 36 made-up tickets of 12 people, a run of surrogates and one of votes (both examined and released), one from
examples, one of votes that was killed and resumed, one that was killed and left; and a backup made before the last.
"""

from __future__ import annotations

import shutil
import tarfile
from pathlib import Path

import pandas as pd
import pytest

from engine import open_workspace
from engine.dp.accounting.accountant import ExactAccountant
from engine.dp.events import Event
from engine.errors import UserError
from engine.release.bundle.verify import verify
from engine.store import restore
from tests.jobs.conftest import wait

PACKED = Path(__file__).parent / "first_edition.tar.xz"
SURROGATE, EXAMPLES, VOTES = "r-72q5j7ey7j", "r-pkszq4jrsq", "r-36tbcb6f4r"
RESUMED, CUT = "r-8vz3427pee", "r-nzh5ns4kha"
MADE = {SURROGATE: 30, EXAMPLES: 4, VOTES: 6, RESUMED: 6}


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory):
    """Return the folder as the first edition left it: `workspace`, `bundle` and `backup.understudy`."""
    folder = tmp_path_factory.mktemp("first")
    with tarfile.open(PACKED) as archive:
        safe = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}  # not before Python 3.11.4
        archive.extractall(folder, **safe)
    return folder


@pytest.fixture
def opened(unpacked, tmp_path):
    shutil.copytree(unpacked / "workspace", tmp_path / "workspace")
    workspace = open_workspace(tmp_path / "workspace", "tester")
    yield workspace
    workspace.jobs.stop_worker()
    workspace.close()


def test_everything_of_it_is_there(opened):
    (corpus,) = opened.corpora.all()
    assert (corpus.records, corpus.units, corpus.holdout_units, corpus.unit) == (36, 12, 2, "source")
    assert opened.review.span_counts(corpus.id)["accepted"] > 60
    assert {run.id for run in opened.runs.all(corpus.id)} == {*MADE, CUT}
    for run, made in MADE.items():
        frame = opened.runs.synthetic_frame(run)
        assert len(frame) == made
        assert frame["text"].str.split().str.len().min() > 3
    for run in (SURROGATE, VOTES):
        names = {finding.name for finding in opened.examinations.findings(run)}
        assert {"pipp", "verbatim_8gram", "nearest_similarity"} <= names
        assert opened.examinations.table(run, "parts")["seconds"].sum() > 0
    assert opened.audit.verify()["ok"]


def test_its_ledger_adds_up(opened):
    (corpus,) = opened.corpora.all()
    assert opened.ledger.verify() == {"ok": True, "lines": 25, "first_bad": None}
    view = opened.ledger.of(corpus.id)
    assert view.unbounded
    for run in opened.runs.all(corpus.id):
        if run.method == "aug-pe":
            events = [Event.from_dict(event) for event in run.guarantee.events]
            again = ExactAccountant().account(events, run.guarantee.delta)
            assert again.epsilon == pytest.approx(run.guarantee.epsilon, rel=1e-3)


def test_its_bundles_verify_and_a_changed_one_does_not(unpacked, tmp_path):
    bundles = sorted((unpacked / "bundle").iterdir())
    assert len(bundles) == 2
    for bundle in bundles:
        assert verify(bundle)["ok"]
    changed = shutil.copytree(bundles[0], tmp_path / "changed")
    records = changed / "records.csv"
    records.write_bytes(records.read_bytes() + b"\n")
    assert not verify(changed)["ok"]


def test_its_backup_restores_and_says_what_is_not_known(unpacked, tmp_path):
    restored = open_workspace(restore(unpacked / "backup.understudy", tmp_path / "again", "tester"), "tester")
    try:
        (corpus,) = restored.corpora.all()
        assert {run.id for run in restored.runs.all(corpus.id)} == set(MADE)
        assert restored.ledger.of(corpus.id).unknown_since
        assert restored.ledger.verify()["ok"]
    finally:
        restored.close()


def test_a_run_it_left_is_not_gone_on_with_and_a_new_one_ends(opened):
    (corpus,) = opened.corpora.all()
    before = opened.ledger.of(corpus.id)
    started = opened.jobs.synthesize(corpus.id, "surrogate")
    wait(opened, opened.runs.get(started).job_id)
    new = opened.runs.get(started)
    assert (new.state, new.kept) == ("done", MADE[SURROGATE])
    left = opened.runs.get(CUT)
    assert left.state in ("failed", "cancelled")
    with pytest.raises(UserError, match="earlier edition"):
        opened.jobs.resume(CUT)
    after = opened.ledger.of(corpus.id)
    assert after.lines["kind"].value_counts()["spend"] == before.lines["kind"].value_counts()["spend"]
    pd.testing.assert_frame_equal(after.lines.head(len(before.lines)), before.lines)
