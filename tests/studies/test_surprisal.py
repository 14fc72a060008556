"""Tuned models asked about those they have seen: memory is seen, the control is not, nothing stays behind."""

import numpy as np
import pandas as pd
import pytest

from engine.errors import UserError
from engine.studies.surprisal.run import SurprisalStudy, renamed, with_words
from engine.studies.surprisal.tables import extraction_rates
from tests.studies.rerun_world import context, study_context

LEARN = "rank=0, epochs=8, records_a_step=10, rate=0.02, tokens=24"
QUICK = {"models": 2, "excluded": 5, "scored": 40, "settings": LEARN}


def steps_of(parameters, run=None, **changes):
    study = SurprisalStudy()
    return list(study.run(study_context(study, QUICK | parameters, run or context(40, unit="record"), **changes)))


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    scratch = tmp_path_factory.mktemp("s")
    run = context(40, unit="record", seed=0)
    fragments = tuple(run.records["record_id"].iloc[:2])
    steps = steps_of({"excluded": 20, "prefixes": 2, "prefix_words": 3, "fragments": fragments}, run, scratch=scratch)
    return steps, scratch


def test_what_was_seen_surprises_less_and_the_control_does_not(whole):
    table = whole[0][-1].tables["models"].query("model == -1").set_index("score")
    assert set(table.index) == {"surprisal", "a token", "against untuned"}
    best = table.loc["against untuned"]
    assert best["low"] > 0.5
    assert best["median_difference"] > 0
    assert best["control_low"] < 0.5 < best["control_high"]
    assert best["auc"] >= table.loc["surprisal", "auc"] - 0.05


def test_the_curves_lie_above_the_control(whole):
    curves = whole[0][-1].tables["curves"].query("score == 'against untuned'")
    main, control = (curves[curves["comparison"] == name].sort_values("epsilon") for name in ("main", "control"))
    assert main["standard_low"].iloc[0] >= control["standard_low"].iloc[0] == 0.0
    assert main["gain"].iloc[0] > control["gain"].iloc[0]
    assert (main["standard_high"] <= 1).all()


def test_all_tables_are_there_and_hold_no_text(whole):
    steps, scratch = whole
    tables = steps[-1].tables
    assert [step.done for step in steps] == [1, 2, 3]
    assert {"scores", "models", "cdf", "qq", "ratio", "curves", "memorised", "memorised_mean", "extraction",
            "fragments"} <= set(tables)  # fmt: skip
    assert tables["memorised_mean"].set_index("measure")["low"].iloc[1] > 0
    assert tables["extraction"]["prefixes"].tolist() == [4] * 6
    assert list(scratch.iterdir()) == []
    words = {w for t in context(40).records["text"] for w in t.split() if w.isalpha() and w.istitle() and len(w) > 4}
    cells = {str(v) for n, f in tables.items() if n != "fragments" for c in f for v in f[c].unique()}
    assert not cells & words


def test_a_table_of_an_earlier_edition_keeps_the_words_that_agreed():
    old = pd.DataFrame({"asked": [4, 4], "words": [4, 1], "longest": [4, 2]})
    new = with_words(renamed(old))
    assert new["agreed"].tolist() == [4, 1]
    assert new["words"].tolist() == ["forms", "forms"]
    assert with_words(renamed(new)).equals(new)


def test_fragments_get_an_answer_with_numbers(whole):
    table = whole[0][-1].tables["fragments"]
    assert len(table) == 2
    assert (table["low"] <= table["loss"]).all()
    assert (table["loss"] <= table["high"]).all()
    assert table["answer"].str.contains("odds that its writer was in training").all()


def test_it_goes_on_behind_the_last_model():
    study, settings = SurprisalStudy(), {"settings": "rank=2, epochs=1, tokens=12"}
    first = steps_of(settings)
    given = study_context(
        study, QUICK | settings, context(40, unit="record"), state=first[0].state, tables=first[0].tables
    )
    rest = list(study.run(given))
    assert [step.done for step in rest] == [2]
    assert rest[-1].tables["scores"].equals(first[-1].tables["scores"])


def test_only_tuned_models_are_asked():
    with pytest.raises(UserError, match="choose one of finetune"):
        steps_of({"method": "public", "settings": ""})
    with pytest.raises(UserError, match="1 of the ids"):
        steps_of({"settings": "rank=2, epochs=1, tokens=12", "models": 1, "fragments": ("nobody",)})


def test_rates_count_whole_continuations():
    table = pd.DataFrame(
        {"strategy": "greedy", "side": "included", "asked": 3, "agreed": [3, 2, 3, 0], "longest": [3, 2, 3, 1]}
    )
    found = extraction_rates(table).iloc[0]
    assert found["share"] == 0.5
    assert np.isclose(found["mean_words"], 2.0)
    assert found["low"] < 0.5 < found["high"]
