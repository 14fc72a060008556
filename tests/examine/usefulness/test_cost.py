"""What a thousand records cost, by hand; what was not counted is told apart from nothing."""

from __future__ import annotations

import math

import pandas as pd

from engine.examine.findings.findings import Finding
from engine.examine.prepare import Effort, ExamineInput, prepare
from engine.examine.usefulness.cost import examine_cost

SPANS = pd.DataFrame(columns=["record_id", "start", "end", "label", "identifier_type"])
ONE = pd.DataFrame({"record_id": ["a"], "text": ["x y"], "source_id": ["a"], "label": None, "lineage": None})


def found(effort: Effort | None) -> dict[str, Finding]:
    part = examine_cost(prepare(ExamineInput(ONE, ONE, ONE, SPANS, SPANS, effort=effort)))
    return {one.name: one for one in part.findings}


def test_of_a_server_with_prices() -> None:
    rows = found(Effort(250, 60.0, requests=300, tokens_in=4_000, tokens_out=1_000, money=0.5))
    assert {name: one.value for name, one in rows.items()} == {
        "seconds_per_1000": 240.0, "tokens_per_1000": 20_000.0, "money_per_1000": 2.0
    }  # fmt: skip
    assert all(one.n == 250 and one.low is None and one.reference == "none" for one in rows.values())


def test_of_a_server_without_prices_and_of_this_machine() -> None:
    rows = found(Effort(250, 60.0, requests=300, tokens_in=4_000, tokens_out=1_000))
    assert rows["tokens_per_1000"].value == 20_000.0
    assert "no price" in rows["money_per_1000"].settings["why"]
    local = found(Effort(250, 60.0))
    assert local["seconds_per_1000"].value == 240.0
    for name in ("tokens_per_1000", "money_per_1000"):
        assert math.isnan(local[name].value)
        assert "a model on this machine did" in local[name].settings["why"]


def test_of_nothing_known_or_kept() -> None:
    for effort in (None, Effort(0, 60.0)):
        assert all(math.isnan(one.value) and "not told" in one.settings["why"] for one in found(effort).values())
