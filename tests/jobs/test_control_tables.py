"""The control-code study: what its tables say, on numbers made by hand and on a small real run."""

from __future__ import annotations

import dataclasses
import math

import pandas as pd
import pytest

from engine.corpus.samples import load_sample
from engine.errors import UserError
from engine.jobs.studies import StudyContext, get_study
from engine.jobs.studies.base import TABLE_NAME
from engine.jobs.studies.control_measures import compared, gold_passages, interval, mauve, perplexity, summary
from engine.jobs.studies.control_tables import ControlCodesParameters, Inputs, detected, study, variants
from engine.methods.base import Context
from engine.models.builtin_lm import load_builtin_generator
from engine.models.embedder import load_embedder
from engine.models.operators_builtin import BuiltinOperators
from engine.pii.control_codes import to_block
from engine.pii.detect import RecordDetector
from engine.pii.settings import DetectorSettings


def runs(masked, plain):
    names = ["control-prefix-masked"] * 3 + ["control-prefix"] * 3
    return pd.DataFrame({"variant": names, "repeat": [0, 1, 2] * 2, "elp": [*masked, *plain]})


def test_interval_is_students_over_repeats():
    value, low, high = interval([1.0, 2.0, 3.0])
    assert value == 2.0
    assert high - value == pytest.approx(4.303 * 1.0 / math.sqrt(3))
    assert low == pytest.approx(2 * value - high)
    assert math.isnan(interval([1.0])[1])
    assert math.isnan(interval([])[0])


@pytest.mark.parametrize(
    ("masked", "plain", "verdict"),
    [
        ((0.10, 0.11, 0.12), (0.30, 0.31, 0.33), "below"),
        ((0.30, 0.31, 0.33), (0.10, 0.11, 0.12), "above"),
        ((0.10, 0.40, 0.12), (0.30, 0.11, 0.33), "cannot tell"),
        ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), "cannot tell"),
    ],
)
def test_verdict_follows_from_the_interval(masked, plain, verdict):
    table = compared(runs(masked, plain), "control-prefix-masked", "control-prefix", ["elp"])
    assert table["verdict"].tolist() == [verdict]


def test_summary_leaves_out_what_was_not_measured():
    table = summary(pd.DataFrame({"variant": ["a"] * 3, "repeat": range(3), "mauve": [0.5, float("nan"), 0.7]}))
    assert table["repeats"].tolist() == [2]
    assert table["value"].tolist() == [0.6]


def test_sweeps_name_every_row_once():
    for sweep, least in (("none", 5), ("examples", 11), ("weights", 13)):
        rows = variants(ControlCodesParameters(sweep=sweep))
        assert len(rows) == len({r.name for r in rows}) == least
        assert all(r.settings.get("identifiers", "direct") == "direct" for r in rows)


@pytest.fixture(scope="module")
def inputs():
    sample = load_sample("support_tickets").head(30)
    columns = ["record_id", "text", "source_id", "label"]
    rows = [
        {"record_id": r, **{k: s[k] for k in ("start", "end", "label", "identifier_type")}}
        for r, spans in zip(sample["record_id"], sample["spans"], strict=True)
        for s in spans
    ]
    context = Context(
        records=sample[columns].head(20).reset_index(drop=True),
        spans=pd.DataFrame(rows),
        count=0,
        parameters=ControlCodesParameters(),
        seed=1,
        surrogate_key=b"k" * 32,
        generator=load_builtin_generator(),
        operators=BuiltinOperators(),
    )
    return Inputs(context, sample[columns].tail(10), load_embedder(), RecordDetector(DetectorSettings()))


def test_a_small_study_measures_each_run(inputs):
    p = ControlCodesParameters(
        methods=("icl", "control-icl-blocked"), count=4, repeats=2, utility=False, minimum_tokens=4, identifiers="both"
    )
    steps = list(study(p, inputs))
    assert [(s.done, s.total) for s in steps] == [(1, 4), (2, 4), (3, 4), (4, 4)]
    rest = list(study(p, inputs, before=steps[1].tables))  # a stopped study goes on where it was
    assert [(s.done, s.total) for s in rest] == [(3, 4), (4, 4)]
    runs_table = steps[-1].tables["runs"]
    pd.testing.assert_frame_equal(rest[-1].tables["runs"], runs_table)
    assert runs_table.groupby("variant").size().to_dict() == {"icl": 2, "control-icl-blocked": 2}
    assert runs_table[["pipp", "elp", "rouge_2", "rouge_l"]].notna().all().all()
    counts = steps[-1].tables["counts"]
    assert (counts[counts["what"] == "kept"]["count"] == 4).all()
    gold = gold_passages(inputs.context.records, inputs.context.spans, "both")
    assert sum(to_block(gold).exempt.values()) < 40
    blocked = runs_table[runs_table["variant"] == "control-icl-blocked"]
    assert (blocked["pipp"] <= 0.5).all()  # quasi-identifiers of everyday words are let through


def test_unknown_entities_come_from_the_detector(inputs):
    spans = detected(inputs.context.records, inputs.detector)
    assert len(spans) > 20
    assert set(spans["identifier_type"]) <= {"direct", "quasi", "none"}
    assert list(spans.columns) == ["record_id", "start", "end", "label", "identifier_type"]


def test_tuning_on_text_of_the_kind_lowers_perplexity(inputs):
    texts = [str(t) for t in inputs.context.records["text"]][:10]
    unseen = [str(t) for t in inputs.unseen["text"]][:4]
    generator = inputs.context.generator
    assert perplexity(generator, texts, unseen, 1) < perplexity(generator, [], unseen, 1)
    assert math.isnan(mauve(inputs.embedder, texts, unseen, 1))  # ten texts are too few


def test_the_study_is_offered_and_hands_on_its_tables(inputs):
    found = get_study("control-codes")
    p = found.spec.parameters(methods=("icl",), count=2, repeats=2, utility=False, minimum_tokens=4)
    holdout = inputs.unseen
    spans = inputs.context.spans
    context = StudyContext(
        run=dataclasses.replace(inputs.context, embedder=inputs.embedder, spans=spans),
        holdout=holdout,
        holdout_spans=spans.iloc[:0],
        parameters=p,
    )
    steps = list(found.run(context))
    assert [(s.done, s.total) for s in steps] == [(1, 2), (2, 2)]
    assert all(TABLE_NAME.fullmatch(name) for name in steps[-1].tables)
    rest = list(found.run(dataclasses.replace(context, state=steps[0].state, tables=steps[0].tables)))
    assert [(s.done, s.total) for s in rest] == [(2, 2)]
    with pytest.raises(UserError, match="run detect"):
        list(found.run(dataclasses.replace(context, run=dataclasses.replace(context.run, spans=spans.iloc[:0]))))
