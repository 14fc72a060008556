"""A synthetic record that is a real one is found in whatever spelling, and comes first in the order of approval."""

from __future__ import annotations

import pandas as pd
import pytest

from engine.examine.findings.risk import record_risk
from engine.examine.prepare import ExamineInput, prepare
from engine.examine.repeats.originals import examine_originals

REAL = ["No complaints.", "Seen on 31 August 2006 by Dr Łukasz; rest, fluids.", "…"]
HELD = ["Nothing new since Monday."]


def frame(texts: list[str], first: str) -> pd.DataFrame:
    ids = [f"{first}{i}" for i in range(len(texts))]
    return pd.DataFrame({"record_id": ids, "text": texts, "source_id": None, "label": None, "lineage": None})


@pytest.mark.parametrize(
    ("text", "train", "holdout"),
    [
        ("no  COMPLAINTS", 1, 0),
        ("Seen on August 31st, 2006, by Dr. Lukasz: rest; fluids", 1, 0),
        ("Nothing new since\u200b Monday", 0, 1),
        ("No complaints. Seen again.", 0, 0),
        ("Seen on 30 August 2006 by Dr Łukasz; rest, fluids.", 0, 0),
        ("", 0, 0),
        ("... ", 0, 0),  # without words marks are compared
    ],
)
def test_originals_are_found(text: str, train: int, holdout: int) -> None:
    spans = pd.DataFrame({"record_id": [], "start": [], "end": [], "label": [], "identifier_type": []})
    made = frame(["Something else entirely.", text], "s")
    part = examine_originals(prepare(ExamineInput(made, frame(REAL, "t"), frame(HELD, "h"), spans, spans)))
    found = {f.reference: f.value * 2 for f in part.findings}
    assert found == {"train": train, "holdout": holdout}
    assert list(part.tables["originals"]["record_id"]) == (["s1"] if train or holdout else [])
    risk = record_risk(part.signals, 2)
    assert list(risk) == [0.0, 1.0 if train or holdout else 0.0]
