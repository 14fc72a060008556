"""The control-code study: what its tables say, on numbers made by hand and on a small real run."""

from __future__ import annotations

import dataclasses
import math

import pandas as pd
import pytest

from engine.corpus.samples import load_sample
from engine.errors import UserError
from engine.methods.base import Context
from engine.models.builtin.embedder import load_embedder
from engine.models.builtin.language_model import load_builtin_generator
from engine.models.cancel import Cancelled
from engine.models.prompts.operators_builtin import BuiltinOperators
from engine.pii.control_codes import Passage, to_block
from engine.pii.detect.detector import RecordDetector
from engine.pii.detect.settings import DetectorSettings
from engine.pii.spans import Span
from engine.studies import StudyContext, get_study
from engine.studies.base import TABLE_NAME, needs_of, parse
from engine.studies.control_codes.measures import (
    Made,
    compared,
    gold_passages,
    interval,
    mauve,
    measured,
    perplexity,
    summary,
    validity,
)
from engine.studies.control_codes.paper import cell, first_table, paper_tables
from engine.studies.control_codes.paper import validity as validity_table
from engine.studies.control_codes.parameters import ControlCodesParameters
from engine.studies.control_codes.tables import Inputs, detected, study, variants
from engine.studies.figures import figures


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
    for sweep, least in (("none", 5), ("examples", 14), ("weights", 13), ("each", 22)):
        rows = variants(ControlCodesParameters(sweep=sweep))
        assert len(rows) == len({r.name for r in rows}) == least
        assert all(r.settings.get("identifiers", "direct") == "direct" for r in rows)
    few = variants(ControlCodesParameters(sweep="each", repeats=3, sweep_repeats=1))
    assert {(bool(r.sweep), r.repeats) for r in few} == {(False, 3), (True, 1)}


def test_each_setting_has_every_method_and_the_sweep_stays_in_the_first():
    rows = variants(ControlCodesParameters(identifiers="each", entities="each", sweep="examples"))
    assert len(rows) == len({r.name for r in rows}) == 6 * 5 + 9
    assert {(r.identifiers, r.entities) for r in rows if r.sweep} == {("direct", "known")}
    assert all(r.settings.get("identifiers", r.identifiers) == r.identifiers for r in rows)


def test_an_interval_of_a_share_ends_at_0_and_1():
    """Two repeats once read "16.67 ± 211.77" per cent."""
    runs_of = pd.DataFrame({"method": "icl", "pipp": [0.0, 1 / 3], "elp": [0.9, 1.0], "rouge_l": [0.4, 0.41],
                            "perplexity": [30.0, 31.0], "texts": 6})  # fmt: skip
    assert cell(runs_of, "pipp") == "16.67 (0.00 to 100.00)"
    assert cell(runs_of, "elp").startswith("95.00 (")
    assert cell(runs_of, "elp").endswith(" to 100.00)")
    assert cell(runs_of, "rouge_l") == f"0.4050 ± {12.706 * 0.005:.4f}"
    assert cell(runs_of, "perplexity") == f"30.5 ± {12.706 * 0.5:.1f}"
    for measure in ("pipp", "elp", "rouge_l"):
        value, low, high = measured(runs_of, measure)
        assert 0.0 <= low <= value <= high <= 1.0


def test_dp_sgd_is_a_row_that_is_asked_for():
    p = ControlCodesParameters(methods=("icl", "dp-finetune"), identifiers="each", entities="each", epsilon=3.0)
    rows = [v for v in variants(p) if v.method == "dp-finetune"]
    assert len(rows) == 6
    assert all(dict(v.settings) == {"epsilon": 3.0} for v in rows)
    assert "dp-finetune" not in ControlCodesParameters().methods
    assert ControlCodesParameters().epsilon == 8.0
    assert "train" in needs_of(
        get_study("control-codes"), ControlCodesParameters(methods=("dp-finetune",), utility=False)
    )


def by_hand():
    """Three repeats of the two tuned methods, known and unknown, with numbers chosen by hand, and real text."""
    rows = []
    for entities, more in (("known", 0.0), ("unknown", 0.1)):
        for method, level in (("control-prefix", 0.3), ("control-prefix-masked", 0.2)):
            for repeat, step in enumerate((-0.01, 0.0, 0.01)):
                measured = dict.fromkeys(("pipp", "elp", "rouge_2", "rouge_l", "mauve"), level + more + step)
                counted = {"texts": 100, "valid": 95 + repeat, "valid_with_value": 0, "tried_again": repeat}
                rows.append({"variant": f"{method} ({entities})", "method": method, "identifiers": "direct",
                             "entities": entities, "sweep": "", "repeat": repeat, "perplexity": 50.0 + repeat,
                             **measured, **counted})  # fmt: skip
    real = {"variant": "real training text", "method": "real training text", "identifiers": "", "entities": "",
            "sweep": "", "repeat": 0, "perplexity": 40.0, "mauve": 0.9}  # fmt: skip
    return pd.DataFrame([real, *rows])


def test_tables_bear_the_papers_numbers_and_cells():
    found = paper_tables(by_hand())
    assert {"table_1", "table_2", "table_4", "masked_against_plain", "validity"} == set(found)
    first = found["table_1"].set_index("method")
    half = 4.303 * 0.01 / math.sqrt(3)
    assert first.loc["control-prefix", "pipp"] == f"30.00 ± {100 * half:.2f}"
    assert first.loc["control-prefix-masked", "rouge_l"] == f"0.2000 ± {half:.4f}"
    assert first.loc["control-prefix-masked", "in the paper"] == "Fine-tuning w/ masking"
    assert found["table_2"].set_index("method").loc["control-prefix", "elp"].startswith("40.00")
    useful = found["table_4"].set_index("method")
    assert useful.loc["real training text", "perplexity, known"] == "40.0"
    assert useful.loc["control-prefix", "mauve, unknown"].startswith("0.4000")
    verdicts = found["masked_against_plain"].set_index(["entities", "measure"])["verdict"]
    assert verdicts["known", "rouge_2"] == "below"
    assert verdicts["unknown", "perplexity"] == "cannot tell"


def swept(variant, method, sweep, repeat, elp):
    return {"variant": variant, "method": method, "identifiers": "direct", "entities": "known", "sweep": sweep,
            "repeat": repeat, "elp": elp, "pipp": 0.0, "rouge_2": 0.1, "rouge_l": 0.2, "texts": 10, "valid": 10,
            "valid_with_value": 0, "tried_again": 0}  # fmt: skip


def test_a_sweep_stands_beside_the_setting_it_departs_from():
    rows = [swept(m, m, "", r, 0.1) for r in (0, 1) for m in ("icl", "control-icl", "control-prefix")]
    rows += [swept(f"{m}, 1 example", m, "examples", r, 0.2) for r in (0, 1) for m in ("icl", "control-icl")]
    table = paper_tables(pd.DataFrame(rows))["sweep_examples"]
    assert list(table["variant"]) == [
        "icl, 3 examples (as set)", "icl, 1 example", "control-icl, 3 examples (as set)", "control-icl, 1 example",
    ]  # fmt: skip
    assert list(table["elp"]) == ["10.00 ± 0.00", "20.00 ± 0.00"] * 2
    assert set(table["repeats"]) == {"2"}
    measured = by_hand().assign(mauve=float("nan"))
    assert "mauve" not in set(paper_tables(measured)["masked_against_plain"]["measure"])


def test_none_seen_is_no_certain_none():
    runs = pd.DataFrame([swept("icl", "icl", "", r, 0.0) for r in (0, 1)])
    row = paper_tables(runs)["table_1"].iloc[0]
    # Wilson 1927 for none of 20: z²/(20 + z²)
    assert row["pipp"] == f"0.00, at most {100 * 1.96**2 / (20 + 1.96**2):.2f}"
    assert (row["elp"], row["rouge_2"]) == ("0.00", "0.1000 ± 0.0000")
    found = summary(runs[["variant", "repeat", "pipp", "elp", "texts"]]).set_index("measure")
    assert (found.loc["pipp", "low"], round(found.loc["pipp", "high"], 3)) == (0.0, 0.161)
    assert found.loc["elp", ["low", "high"]].isna().all()
    seen = pd.DataFrame([swept("icl", "icl", "", r, r / 10) | {"pipp": r / 10} for r in (0, 1)])
    assert paper_tables(seen)["table_1"].iloc[0]["pipp"] == "5.00 (0.00 to 68.53)"  # 5 ± 63.53, cut at none
    wide = summary(seen[["variant", "repeat", "pipp"]]).iloc[0]
    assert (wide["low"], round(wide["high"], 2)) == (0.0, 0.69)  # 0.05 ± 12.706 · 0.05, cut at none


def test_the_first_table_is_named_by_corpus_and_model():
    notes = ["Seen at [**Hospital 18**] today.", "[**Name 3**] was well.", "No mark here."]
    assert first_table(notes, "builtin") == first_table(notes, "folder:big") == "table_3"
    assert first_table(notes[2:], "builtin") == first_table([], "builtin") == "table_1"
    assert first_table(notes[1:], "folder:big") == "table_5"
    found = paper_tables(by_hand(), "table_5")
    assert "table_1" not in found
    pd.testing.assert_frame_equal(found["table_5"], paper_tables(by_hand())["table_1"])


def test_a_trainable_model_is_needed_only_where_something_is_tuned():
    found = get_study("control-codes")
    codes = {"methods": ["icl", "control-icl"], "utility": False}
    assert "train" not in needs_of(found, parse(found.spec, codes))
    assert "train" in needs_of(found, parse(found.spec, {**codes, "utility": True}))
    assert "train" in needs_of(found, parse(found.spec, {**codes, "methods": ["control-prefix"]}))


def test_a_method_of_another_kind_is_refused_before_anything_runs():
    with pytest.raises(UserError, match="methods"):
        parse(get_study("control-codes").spec, {"methods": ["icl", "rpsg"]})


def test_passes_of_tuning_are_set_for_prefixes_alone():
    rows = variants(ControlCodesParameters(epochs=1, sweep="weights"))
    assert {r.method for r in rows if r.settings.get("epochs") == 1} == {"control-prefix", "control-prefix-masked"}
    assert sum("epochs" in r.settings for r in rows) == 2 + 8


def test_none_seen_still_has_an_upper_end_and_the_worst_repeat_is_named():
    table = validity_table(by_hand().iloc[1:]).set_index("variant")
    row = table.loc["control-prefix (known)"]
    assert (row["texts"], row["valid"], row["fewest_valid"], row["tried_again"]) == (300, 288, 95, 3)
    assert row["share"] == 0
    assert 0.01 < row["high"] < 0.02


def test_valid_is_long_and_no_repetition():
    words = " ".join(f"word{i}" for i in range(120))
    secret = Passage("a", 0, "Ann Bloggs came.", (Span("a", 0, 10, "PERSON", 1.0, "gold", "direct"),))
    texts = (words, "too short", "again and " * 80, words + " Ann Bloggs")
    found = validity(Made(texts, (), {}, {"too short": 2}), [secret], lambda text: len(text.split()))
    assert found == {"texts": 4, "valid": 2, "valid_with_value": 1, "tried_again": 2}


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


def test_the_baseline_is_written_once_and_counted_in_every_setting(inputs):
    p = ControlCodesParameters(
        methods=("icl",), count=3, repeats=1, utility=False, minimum_tokens=4, identifiers="each", entities="each"
    )
    calls = []
    steps = list(study(p, inputs, lambda stage, done, total: calls.append(stage)))
    assert steps[-1].done == 6
    assert len(set(calls)) == 1  # one run made texts
    runs_table = steps[-1].tables["runs"]
    assert runs_table["rouge_l_max"].nunique() == 1
    assert {"table_1", "table_2", "table_6", "table_14", "table_15", "both_unknown"} <= set(steps[-1].tables)


def test_dp_sgd_says_what_is_proven_and_is_written_once(inputs):
    p = ControlCodesParameters(
        methods=("dp-finetune", "icl"), count=2, repeats=1, utility=False, minimum_tokens=4, steps=1, entities="each"
    )
    stages = []
    last = list(study(p, inputs, lambda stage, done, total: stages.append(stage)))[-1]
    assert len({stage for stage in stages if "dp-finetune" in stage}) == 1
    for name in ("table_1", "table_2"):
        table = last.tables[name].set_index("method")
        assert table.loc["dp-finetune", "in the paper"] == "DP-SGD"
        assert table.loc["dp-finetune", "guarantee"].startswith("ε = 8, δ = 0.001 a record (")
        assert "make no difference" in table.loc["dp-finetune", "codes"]
        assert table.loc["icl", ["guarantee", "codes"]].tolist() == ["none", "none"]
    found = last.tables["runs"].set_index(["method", "entities"])
    assert found.loc["dp-finetune", "rouge_l"].nunique() == 1  # the same texts, known or unknown
    assert set(found["texts"]) == {2}
    assert "guarantee" not in set(last.tables["summary"]["measure"])
    assert "DP-SGD" in {
        name for trace in dict(figures("control-codes", last.tables))["private"].plot.data for name in trace.x
    }


def test_a_model_that_cannot_be_trained_is_refused_where_training_is_asked_for(inputs):
    class Untrained:
        id, capabilities = "untrained", frozenset({"block_tokens"})

    found = get_study("control-codes")
    run = dataclasses.replace(inputs.context, generator=Untrained(), embedder=inputs.embedder)
    for values in ({"methods": ("icl",), "utility": True}, {"methods": ("control-prefix",), "utility": False}):
        p = found.spec.parameters(**values)
        context = StudyContext(run=run, holdout=inputs.unseen, holdout_spans=inputs.context.spans, parameters=p)
        with pytest.raises(UserError, match="can be trained"):
            list(found.run(context))


def test_unknown_entities_come_from_the_detector(inputs):
    spans = detected(inputs.context.records, inputs.detector)
    assert len(spans) > 20
    assert set(spans["identifier_type"]) <= {"direct", "quasi", "none"}
    assert list(spans.columns) == ["record_id", "start", "end", "label", "identifier_type"]


def test_tuning_on_text_of_the_kind_lowers_perplexity(inputs):
    birds = [f"Entry {i}: {i % 7} gulls, {i % 5} terns; wind {i % 9} north-west, sea slight." for i in range(14)]
    texts, unseen = birds[:10], birds[10:]  # of a kind that the model was not trained on
    generator = inputs.context.generator
    told: list[tuple[int, int]] = []
    tuned = perplexity(generator, texts, unseen, 1, on_batch=lambda done, total: told.append((done, total)))
    assert tuned < perplexity(generator, [], unseen, 1)
    assert told
    assert told[-1][0] <= told[-1][1]

    def stopped(done, total):
        raise Cancelled

    with pytest.raises(Cancelled):  # a study is cancelled within a batch of measuring too
        perplexity(generator, texts, unseen, 1, on_batch=stopped)
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
