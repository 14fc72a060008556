"""The sweep over ε on a few notes: which runs there are, resuming, stopping, refusing, and its figures."""

from __future__ import annotations

import dataclasses

import pandas as pd
import pytest

from engine.errors import UserError
from engine.methods import methods
from engine.models.cancel import Cancelled
from engine.studies import get_study
from engine.studies.base import parse, refused
from engine.studies.epsilon_sweep.parameters import BUDGETED
from engine.studies.epsilon_sweep.run import EpsilonSweepStudy, pairs, variants
from engine.studies.figures import figures
from tests.studies.bench_world import CLOCK, VOTES, given

STUDY = EpsilonSweepStudy()
ASKED = {"methods": ["aug-pe"], "epsilons": [4, 1], "settings": VOTES}


@pytest.fixture(scope="module")
def steps():
    return list(STUDY.run(given(STUDY, ASKED)))


def fixed(tables, name="runs"):
    """Return the rows that seeds alone decide: those without noise drawn anew."""
    table = tables[name]
    return table[table["epsilon"].isin(["0", "∞"])].drop(columns=CLOCK, errors="ignore").reset_index(drop=True)


def test_every_method_with_a_budget_is_offered():
    with_epsilon = {m.spec.id for m in methods() if "epsilon" in m.spec.parameters.model_fields}
    assert set(BUDGETED) == with_epsilon - {"paid-choice"}  # which is made among runs, and a study has none
    assert "detector" in get_study("epsilon-sweep").needs(parse(STUDY.spec, {"methods": "rpsg"}))


def test_runs_go_from_nothing_private_to_no_noise_in_rounds(steps):
    runs = steps[-1].tables["runs"]
    each = runs.drop_duplicates(["variant", "repeat"])
    assert each["epsilon"].tolist() == ["0", "1", "4", "∞"] * 3
    assert each["repeat"].tolist() == [0] * 4 + [1] * 4 + [2] * 4
    assert set(runs.loc[runs["epsilon"] == "∞", "kind"]) == {"none"}
    assert set(runs.loc[runs["epsilon"] == "1", "kind"]) == {"dp"}
    assert not set(runs.columns) & {"text", "record_id"}
    assert runs["value"].notna().all()
    assert [step.done for step in steps] == list(range(1, 13))
    assert "left" in steps[0].stage
    assert steps[-1].tables["time"]["left"].tolist() == ["done"]


def test_noise_is_drawn_anew_and_seeds_never_reach_it(steps):
    again = next(iter(STUDY.run(given(STUDY, {**ASKED, "public": False, "repeats": 1})))).tables["runs"]
    first = steps[1].tables["runs"].query("variant == 'aug-pe at ε = 1'")
    assert not first["value"].reset_index(drop=True).equals(again["value"])


def test_a_resumed_study_ends_as_an_uninterrupted_one(steps):
    rest = list(STUDY.run(given(STUDY, ASKED, state=steps[5].state, tables=steps[5].tables)))
    assert len(rest) == 6
    assert fixed(rest[-1].tables).equals(fixed(steps[-1].tables))
    assert fixed(rest[-1].tables, "summary").equals(fixed(steps[-1].tables, "summary"))


def test_it_stops_when_asked_and_keeps_no_half_run():
    context = given(STUDY, ASKED)
    calls = []

    def cancelled():
        calls.append(1)
        return len(calls) > 3

    stopped = dataclasses.replace(context, run=dataclasses.replace(context.run, cancelled=cancelled))
    found = []
    with pytest.raises(Cancelled):
        found += STUDY.run(stopped)
    assert found == []


def test_what_does_not_fit_is_refused_before_the_first_run():
    with pytest.raises(UserError, match=r"mauve.*100 texts a side"):
        list(STUDY.run(given(STUDY, {**ASKED, "measures": "mauve"})))
    with pytest.raises(UserError, match=r"hours: .* runs take about"):
        list(STUDY.run(given(STUDY, {**ASKED, "hours": 0.001})))
    facts = given(STUDY, ASKED).run.facts
    assert refused(STUDY, parse(STUDY.spec, ASKED | {"measures": "kid"}), facts, 20) == []
    (why,) = refused(STUDY, parse(STUDY.spec, ASKED | {"measures": "next_word"}), facts, 3)
    assert "the holdout has 3 records" in why
    with pytest.raises(UserError, match="'shouting' is no measure"):
        parse(STUDY.spec, {"measures": "shouting"})
    with pytest.raises(UserError, match="each ε must lie above 0"):
        parse(STUDY.spec, {"epsilons": "0, 1"})
    with pytest.raises(UserError, match="epsilon is what this study varies"):
        variants(parse(STUDY.spec, {"settings": "epsilon=3"}))
    with pytest.raises(UserError, match=r"none of .* has a parameter 'temprature'"):
        variants(parse(STUDY.spec, {"settings": "temprature=3"}))


def test_a_method_that_cannot_claim_its_bound_is_refused_by_name():
    with pytest.raises(UserError, match="aug-pe at ε = 1: "):
        list(STUDY.run(given(STUDY, {**ASKED, "settings": f"{VOTES}, delta=0.5"})))


def test_settings_go_to_the_methods_that_have_them():
    found = variants(parse(STUDY.spec, {"methods": "aug-pe,dp-finetune", "settings": "variations=2, steps=3, words=9"}))
    by = {v.name: v.values for v in found}
    assert by["public"] == {"words": 9}
    assert by["aug-pe at ε = 1"] == {"variations": 2, "words": 9, "epsilon": 1.0}
    assert "steps" in by["dp-finetune at ε = 4"]
    assert "dp-finetune without noise" not in by  # training without noise is another method


def test_each_run_is_held_against_the_floor_its_own_ceiling_and_its_like():
    found = pairs(variants(parse(STUDY.spec, {"methods": "dpga,aug-pe", "epsilons": "1"})))
    assert ("dpga at ε = 1", "public") in found
    assert ("aug-pe at ε = 1", "aug-pe without noise") in found
    assert ("dpga at ε = 1", "aug-pe at ε = 1") in found
    assert ("dpga without noise", "dpga without noise") not in found
    assert len(found) == len(set(found)) == 8


def test_figures_show_each_measure_against_epsilon(steps):
    made = dict(figures("epsilon-sweep", steps[-1].tables))
    assert list(made) == ["kid", "js_2gram", "length_distance", "neighbours_jaccard_1", "verbatim_8gram"]
    kid = made["kid"]
    assert list(kid.plot.data[0].x) == ["1", "4", "∞"]
    assert {a.text for a in kid.plot.layout.annotations} == {"Real text", "Public text (ε = 0)"}
    assert "public" in kid.takeaway
    assert "Internal" in kid.caveat
    assert "95% intervals over repeats" in kid.caveat
    assert "Choosing an ε" in kid.caveat


def test_figures_of_part_of_a_study_and_of_none(steps):
    assert figures("epsilon-sweep", {}) == []
    assert figures("epsilon-sweep", steps[0].tables) == []  # public text alone has no ε
    early = dict(figures("epsilon-sweep", steps[1].tables))["kid"]
    assert "too few repeats to compare with public" in early.takeaway
    assert "they need 3 repeats" in early.caveat
    blank = {name: t.assign(value=float("nan")) if "value" in t else t for name, t in steps[-1].tables.items()}
    assert figures("epsilon-sweep", blank) == []


def test_tables_can_be_kept_and_read_again(steps, tmp_path):
    from engine.store.records import read_table, write_table

    for name, table in steps[-1].tables.items():
        write_table(tmp_path / f"{name}.parquet", table)
        pd.testing.assert_frame_equal(read_table(tmp_path / f"{name}.parquet"), table, check_dtype=False)
