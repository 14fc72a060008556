"""Values an output are kept where outputs name their records, and only replaced by what is examined again."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest

from engine.examine.compare import compare
from engine.examine.each import COLUMNS, each_output, renewed
from engine.examine.examination import ExamineInput, examine_run
from engine.examine.prepare import prepare

WORDS = "the patient came in with a cough and was sent home after two quiet days of rest and tea".split()


def corpus(count: int, start: int) -> pd.DataFrame:
    rng = np.random.default_rng(start)
    texts = [" ".join(rng.permutation(WORDS)) + f" {start + i}" for i in range(count)]
    return pd.DataFrame(
        {"record_id": [f"d-{start + i}" for i in range(count)], "text": texts, "label": None,
         "source_id": [f"p-{(start + i) // 2}" for i in range(count)]}
    )  # fmt: skip


@pytest.fixture(scope="module")
def given() -> ExamineInput:
    spans = pd.DataFrame(columns=["record_id", "start", "end", "label", "identifier_type"])
    train, holdout = corpus(60, 0), corpus(60, 1000)
    made = train.rename(columns={"record_id": "lineage"}).assign(record_id=[f"s-{i}" for i in range(60)])
    return ExamineInput(made, train, holdout, spans, spans, unit="source", utility=False, model_attacks=False)


def test_its_mean_is_the_finding(given):
    out = examine_run(given)
    table = out.tables["each"]
    assert list(table.columns) == COLUMNS
    known = {(f.name, f.reference): f for f in out.findings}
    checked = 0
    for (name, reference), rows in table.groupby(["name", "reference"]):
        found = known[name, reference]
        if np.isfinite(found.value):
            assert rows["value"].mean() == pytest.approx(found.value, abs=1e-9), name
            checked += 1
        assert set(rows["item"]) <= set(given.train["record_id"])
        assert all(unit.startswith("s:p-") for unit in rows["unit"])
    assert checked >= 6


def test_nothing_is_kept_where_outputs_do_not_name_their_records(given):
    prepared = prepare(dataclasses.replace(given, synthetic=given.synthetic.assign(lineage=None)))
    assert each_output(prepared, "readable", "none", np.ones(60)) == {}
    half = given.synthetic.assign(lineage=[None, *given.synthetic["lineage"][1:]])
    assert each_output(prepare(dataclasses.replace(given, synthetic=half)), "readable", "none", np.ones(60)) == {}


def test_of_many_outputs_a_sample_of_units_is_kept(given, monkeypatch):
    whole = {name: rows.set_index("item")["value"] for name, rows in examine_run(given).tables["each"].groupby("name")}
    monkeypatch.setattr("engine.examine.each.MOST", 20)
    table = examine_run(given).tables["each"]
    kept = {name: set(rows["item"]) for (name, _), rows in table.groupby(["name", "reference"])}
    assert {len(items) for items in kept.values()} == {20}
    assert len({frozenset(items) for items in kept.values()}) == 1  # the same for every measure
    assert all(rows.nunique() == 10 for _, rows in table.groupby("name")["unit"])  # whole people
    for name, rows in table.groupby("name"):
        assert (rows.set_index("item")["value"] == whole[name][rows["item"]]).all()
    other = dataclasses.replace(given, synthetic=given.synthetic.iloc[10:].reset_index(drop=True))
    again = set(examine_run(other).tables["each"]["item"])
    before = next(iter(kept.values()))
    assert before - set(given.train["record_id"][:10]) <= again  # runs share what they can share
    prepared = prepare(given)
    few = each_output(prepared, "closeness", "train", np.arange(15.0), np.arange(15))["each"]
    assert few["value"].tolist() == list(range(15))  # a part that looks at few has chosen already


def test_two_examinations_are_paired(given):
    changed = given.synthetic["text"].where(np.arange(60) >= 30, "Something else was said here about the weather.")
    other = dataclasses.replace(given, synthetic=given.synthetic.assign(text=changed))
    outs = {"a": examine_run(given), "b": examine_run(other)}
    table = compare({k: o.findings for k, o in outs.items()}, {k: o.tables["each"] for k, o in outs.items()})
    row = table[(table["name"] == "verbatim_8gram") & (table["reference"] == "train")].iloc[0]
    assert (row["b pairs"], row["b against first"]) == (30, "better")  # sixty records of thirty people
    assert row["b difference"] == pytest.approx(-0.5)


def test_only_what_is_examined_again_is_replaced():
    def rows(name: str, value: float) -> pd.DataFrame:
        return pd.DataFrame([[name, "none", "d-1", "p-1", value]], columns=COLUMNS)

    before = pd.concat([rows("readable", 1.0), rows("verbatim_8gram", 1.0)])
    now = renewed(before, rows("readable", 0.0), frozenset({"readable"}))
    assert dict(zip(now["name"], now["value"], strict=True)) == {"verbatim_8gram": 1.0, "readable": 0.0}
    assert renewed(before, None, frozenset({"readable"}))["name"].tolist() == ["verbatim_8gram"]
    assert list(renewed(None, None, frozenset()).columns) == COLUMNS
    assert renewed(None, rows("readable", 0.5), frozenset())["value"].tolist() == [0.5]
