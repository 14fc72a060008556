"""A run that cannot know who was in: no attack of the whole battery claims anything.

Each interval is widened so far that chance passes it far less often than once in 10,000 runs.
"""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from engine.examine.findings.verdict import privacy_verdict
from engine.examine.stats.simultaneous import BLIND
from engine.workspace import Workspace
from tests.whole_battery import world

WIDER = 3.5  # nearly seven standard errors
RECORDS = 260  # so few that attacks on trained models are kept small


def claims(workspace: Workspace, run: str) -> list[str]:
    """Return attacks and excesses above chance by far, and assert that everything was tried."""
    attacks = workspace.examinations.table(run, "attacks")
    assert attacks is not None
    assert set(attacks["attack"]) >= world.ATTACKS | world.MODEL_ATTACKS
    judged = attacks[attacks["observes"] != BLIND]
    lows = [row.auc - WIDER * (row.auc - row.low) for row in judged.itertuples() if math.isfinite(row.low)]
    assert len(lows) >= len(world.ATTACKS | world.MODEL_ATTACKS)
    above = [name for name, low in zip(judged["attack"], lows, strict=False) if low > 0.5]
    for f in workspace.examinations.findings(run):
        if f.name.endswith("_excess") and f.low is not None and f.value - WIDER * (f.value - f.low) > 0:
            above.append(f.name)
    return above


def examined_run(
    test_data: Path, path: Path, patch: pytest.MonkeyPatch, method: str, count: int, **values: object
) -> None:
    table = world.notes(test_data)
    with world.opened(path, table.iloc[-6000:], patch) as workspace:
        records = world.corpus_of(table.iloc[:RECORDS].copy())
        corpus = workspace.corpora.import_table(records, world.MAPPING, name="Notes", holdout=0.4)
        workspace.review.use_gold(corpus.id)
        run = world.made(workspace, corpus.id, method, count, **values)
        world.examined(workspace, run, model_attacks=True)
        assert claims(workspace, run) == []
        guarantee = workspace.runs.get(run).guarantee.as_dict()
        said = privacy_verdict(
            workspace.examinations.findings(run), workspace.examinations.table(run, "attacks"), guarantee
        )
        assert not [s for s in said if s.finding == "guarantee" and s.level == "leak"]
        parts = set(workspace.examinations.table(run, "parts")["part"])
        assert {"models trained on the text", "people at risk"} <= parts


@pytest.mark.slow
def test_notes_of_other_people_claim_nothing(tmp_path: Path, test_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    examined_run(test_data, tmp_path / "workspace", monkeypatch, "leaking", 100)


@pytest.mark.slow
def test_public_prompts_claim_nothing(tmp_path: Path, test_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    examined_run(test_data, tmp_path / "workspace", monkeypatch, "public", 80, words=25, domain="clinical")
