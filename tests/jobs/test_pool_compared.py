"""A run from a pool that may have been cut by a comparison with the records is none without a look at private data."""

from __future__ import annotations

import pytest

from engine.jobs.tasks.pool_check import TOUCHED
from engine.release import get_policy
from engine.release.card.card import BEFORE_SELECTION, NOT_COMPARED, WHOLE
from engine.store.budget import lines as ledger_lines
from engine.store.budget.reservations import population_of
from engine.store.runs.compared import POOL_CHECK
from tests.jobs.conftest import without_worker
from tests.jobs.test_packs import MADE
from tests.pool_runs import chosen

TEXTS = [f"Letter {i}: the knee was sore for {i} days and then it went away again." for i in range(40)]


def imported(workspace, name, texts=TEXTS):
    return workspace.pools.import_file("\n".join(["text", *texts]).encode(), "p.csv", name=name, **MADE)


def compared(workspace, corpus, name):
    """Leave the line that a comparison writes before it looks."""
    session = workspace.session
    with session.db.write() as connection:
        population = population_of(connection, corpus.id)
        ledger_lines.write(
            connection, session.key, "ada", population, "touch", what=POOL_CHECK, sentence=TOUCHED.format(name=name),
            share_after=ledger_lines.last_share(connection, population),
        )  # fmt: skip


def asked(workspace, corpus, pool):
    """Return whether a run from a pool meets "nothing private had a say", as its card has it, and what is said."""
    run_id = chosen(workspace, corpus.id, pool, epsilon=2.0, delta=1e-5)
    workspace.runs.approve_all_pending(run_id)
    verdict = workspace.releases.gate(run_id, "proof")
    (line,) = (line for line in verdict.rules if line.rule == "unmeasured")
    card = " ".join(workspace.releases.card(run_id, get_policy("proof"), {}).markdown.split())
    assert (WHOLE in card, NOT_COMPARED in card) == (line.passed, line.passed)
    assert (BEFORE_SELECTION in card) is not line.passed
    return line.passed, line.sentence


@pytest.fixture
def alone(workspace, corpus, monkeypatch):
    without_worker(workspace, monkeypatch)
    workspace.ledger.set_limit(corpus.id, 30.0, 1e-4)


@pytest.mark.parametrize("name", ["first", "second"])
def test_a_pool_brought_in_again_without_what_a_comparison_showed_is_no_proof(workspace, corpus, alone, name):
    imported(workspace, "first")
    compared(workspace, corpus, "first")
    if name == "first":
        workspace.pools.delete("first")
    imported(workspace, name, TEXTS[3:])
    passed, said = asked(workspace, corpus, name)
    assert passed is False
    assert "compared with the original records" in said


def test_the_pool_that_was_compared_stays_one_as_it_was(workspace, corpus, alone):
    imported(workspace, "first")
    imported(workspace, "other", TEXTS[3:])
    before = chosen(workspace, corpus.id, "other", epsilon=2.0, delta=1e-5)
    compared(workspace, corpus, "first")
    assert asked(workspace, corpus, "first")[0] is True
    workspace.pools.delete("first")
    imported(workspace, "again")
    assert asked(workspace, corpus, "again")[0] is True, "the same texts, imported before it"
    workspace.runs.approve_all_pending(before)
    verdict = workspace.releases.gate(before, "proof")
    assert next(line for line in verdict.rules if line.rule == "unmeasured").passed is True
