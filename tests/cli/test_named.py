"""The verb named: counts on the screen, names only in the file that was asked for."""

from __future__ import annotations

import stat

import pytest
from sqlalchemy import update

from engine.dp.groups import group_bound
from engine.dp.guarantee import Guarantee
from engine.store.database.schema import runs
from engine.store.store import Store
from tests.cli.in_process import run
from tests.store.conftest import CANARY, MAPPING, made_up
from tests.store.making import finished_run

CLAIM = Guarantee("dp", "A sentence.", epsilon=0.5, delta=1e-6, adjacency="zero-out")


@pytest.fixture
def made(tmp_path):
    """A workspace in which five names stand in eight letters each, with a run of each kind; its folder and the runs."""
    store = Store(tmp_path / "w", actor="Ada")
    corpus = store.corpora.import_table(made_up(), MAPPING, name="Letters", unit="record", holdout=0.0)
    found = [finished_run(store, corpus, ["Made-up note."]) for _ in range(2)]
    with store.session.db.write() as connection:
        connection.execute(update(runs).where(runs.c.id == found[0]).values(guarantee=CLAIM.as_dict()))
    store.close()
    return tmp_path / "w", *found


def test_counts_bounds_list_and_known_identifiers(made):
    workspace, formal, plain = made
    out = workspace.parent / "names.txt"
    said = run(workspace, "named", "Letters", "--at-least", 8, "--run", formal, "--out", out, "--make-known")
    assert (said["largest"], said["names"], said["by_units"]) == (8, 5, {"8": 5})
    assert [(b["size"], b["epsilon"], b["delta"]) for b in said["bounds"]] == [
        (k, group_bound(CLAIM, k).epsilon, pytest.approx(group_bound(CLAIM, k).delta)) for k in (2, 5, 8, 10)
    ]
    assert CANARY not in str(said)
    assert sorted(out.read_text("utf-8").split("\n")) == ["", *(f"{CANARY} {letter}" for letter in "ABCDE")]
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    assert said["made_known"] == 5
    assert "exists already" in run(workspace, "named", "Letters", "--out", out, expect=1)
    assert "no formal claim" in run(workspace, "named", "Letters", "--run", plain, expect=1)
    assert run(workspace, "named", "Letters", "--at-least", 9)["names"] == 0
    assert "--at-least" in run(workspace, "named", "Letters", "--at-least", 0, expect=1)
