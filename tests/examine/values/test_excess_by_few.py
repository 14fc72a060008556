"""The excess of entities is taken by at most so many synthetic texts: it says by how many, and what it then finds."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from engine.examine.findings.findings import UNSHARED, Finding
from engine.examine.prepare import ExamineInput, prepare
from engine.examine.values import leaks

NAMES = ("pipp_excess", "elp_excess")
DRAWS = 40


def records(rng: np.random.Generator, count: int, mark: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return records that each hold one name of two thousand, marked, two records a person."""
    rows, spans = [], []
    for i in range(count):
        name = f"name{rng.integers(2000)}"
        rows.append((f"{mark}{i}", f"seen by {name} again", f"{mark}p{i // 2}"))
        spans.append((f"{mark}{i}", 8, 8 + len(name), "PERSON", "direct"))
    columns = ["record_id", "start", "end", "label", "identifier_type"]
    return pd.DataFrame(rows, columns=["record_id", "text", "source_id"]), pd.DataFrame(spans, columns=columns)


def excess(seed: int, texts: int, *, copied: float, grouped: bool = False) -> dict[str, Finding]:
    """Return both excesses of texts, some of which hold the name of a training record, the others any name."""
    rng = np.random.default_rng(seed)
    (train, marked), (holdout, held), (made, _) = (
        records(rng, n, mark) for n, mark in ((400, "t"), (200, "h"), (texts, "s"))
    )
    sources = rng.integers(0, len(train), texts)
    copies = rng.random(texts) < copied
    made["text"] = np.where(copies, train["text"].to_numpy()[sources], made["text"])
    made = made.assign(lineage=train["record_id"].to_numpy()[sources] if grouped else None)
    unit = "source" if grouped else "record"
    part = leaks.examine_leaks(prepare(ExamineInput(made, train, holdout, marked, held, unit=unit, seed=seed)))
    return {f.name: f for f in part.findings if f.name in NAMES and f.reference == "holdout"}


@pytest.mark.parametrize("grouped", [False, True])
def test_it_says_by_how_many_texts(monkeypatch: pytest.MonkeyPatch, grouped: bool) -> None:
    whole = excess(1, 90, copied=0.3, grouped=grouped)
    assert {f.settings["texts"] for f in whole.values()} == {90}
    assert whole["pipp_excess"].n == 90
    for found in whole.values():  # the two shares that it is the difference of
        (ours, _), (theirs, _) = (found.settings[place] for place in UNSHARED)
        assert found.value == pytest.approx(ours - theirs)
    assert [whole["pipp_excess"].settings[place][1] for place in UNSHARED] == [90, 90]
    monkeypatch.setattr(leaks, "MOST_TEXTS", 30)
    few = excess(1, 90, copied=0.3, grouped=grouped)
    assert {f.settings["texts"] for f in few.values()} == {30}
    assert few["pipp_excess"].n == 30
    assert few["pipp_excess"].value != whole["pipp_excess"].value


@pytest.mark.parametrize("most", [40, pytest.param(120, marks=pytest.mark.slow)])
def test_a_leak_is_seen_by_some_of_the_texts_and_none_is_made_up(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    """Of DRAWS draws each: no leak is called one about once in forty by each measure, a planted one nearly always."""
    monkeypatch.setattr(leaks, "MOST_TEXTS", most)
    null = pd.DataFrame([{name: f.low > 0 for name, f in excess(s, 200, copied=0.0).items()} for s in range(DRAWS)])
    assert (null.mean() <= 0.15).all(), null.mean()
    planted = pd.DataFrame([{name: f.low > 0 for name, f in excess(s, 200, copied=0.6).items()} for s in range(DRAWS)])
    assert planted["pipp_excess"].mean() >= 0.5, planted.mean()
    assert planted["pipp_excess"].mean() > null["pipp_excess"].mean() + 0.3
