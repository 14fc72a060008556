"""The ablation of the genetic algorithm: its settings, rounds, claims tested on planted values, and its figures."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from engine.errors import UserError
from engine.models.cancel import Cancelled
from engine.studies.base import parse, refused
from engine.studies.bench.bench import standard
from engine.studies.bench.compared import compare
from engine.studies.evolution_ablation.claims import ALL_VOTE, claims
from engine.studies.evolution_ablation.run import EvolutionAblationStudy, variants
from engine.studies.evolution_ablation.tables import BASE, KEYS, rounds_summary, table_3
from engine.studies.figures import figures
from tests.studies.bench_world import CLOCK, given, rows

STUDY = EvolutionAblationStudy()
ASKED = {
    "rounds": 2, "repeats": 3, "outputs": 10, "measures": "kid,alike", "each_round": "kid,alike", "noiseless": True,
    "without": "length", "rates": "1.0",
    "settings": "words=8, longest=40, keyword_count=5, domain=reviews, unreadable=flag",
}  # fmt: skip


@pytest.fixture(scope="module")
def steps():
    return list(STUDY.run(given(STUDY, ASKED)))


def test_one_thing_is_changed_at_a_time():
    found = variants(
        parse(STUDY.spec, {**ASKED, "without": "length,keywords,suppression,as printed", "rates": "0.8", "taus": "0.5"})
    )
    base = found[0].values
    assert found[0].name == BASE
    assert {v.name: dict(v.values.items() - base.items()) for v in found[1:]} == {
        "without length": {"length": False}, "without key words": {"keywords": False},
        "without suppression": {"suppression": "off"}, "suppression as printed": {"suppression": "as printed"},
        "τ = 0.5": {"tau": 0.5},
    }  # fmt: skip
    with pytest.raises(UserError, match="rounds is what this study varies"):
        variants(parse(STUDY.spec, {"settings": "rounds=3"}))
    with pytest.raises(UserError, match="at most 1"):
        parse(STUDY.spec, {"taus": "1.5"})


def test_every_round_of_every_run_is_measured(steps):
    rounds = steps[-1].tables["rounds"]
    assert set(rounds["round"]) == {1, 2}
    assert rounds.groupby(["variant", "repeat", "round"])["measure"].apply(list).map(set).eq({"kid", "alike"}).all()
    assert len(rounds) == 3 * 3 * 2 * 2
    runs, last = steps[-1].tables["runs"], rounds[rounds["round"] == 2]
    both = runs.merge(last, on=["variant", "repeat", "measure"])
    assert np.allclose(both["value_x"], both["value_y"], atol=1e-5)  # the last population is the output
    assert set(runs["kind"]) == {"none"}  # without noise there is no claim


def test_the_paper_s_table_has_a_row_a_measure_and_round(steps):
    table = steps[-1].tables["parts_left_out"]
    assert table["T"].tolist() == ["1", "2"] * 2
    assert list(table.columns) == ["measure", "T", BASE, "without length", "q = 1", "real text"]
    assert table[BASE].str.contains("±").all()


def test_a_resumed_study_ends_as_an_uninterrupted_one(steps):
    """Who votes is drawn from the system's entropy unless all do, so the rows at q = 1 are the seed's alone."""
    rest = list(STUDY.run(given(STUDY, ASKED, state=steps[3].state, tables=steps[3].tables)))
    assert len(rest) == 5
    for name in ("runs", "rounds"):
        ours, theirs = (t[-1].tables[name].drop(columns=CLOCK, errors="ignore") for t in (rest, steps))
        assert ours[["variant", "repeat", "measure"]].equals(theirs[["variant", "repeat", "measure"]])
        fixed = (ours["variant"] == "q = 1") | (ours["repeat"] == 0)
        assert fixed.sum() > 8
        pd.testing.assert_frame_equal(ours[fixed], theirs[fixed], check_dtype=False)


def test_it_stops_when_asked():
    def stop(stage, done, total):
        if "measuring round" in stage:
            raise Cancelled("stop")

    one = {**ASKED, "without": "", "rates": "", "repeats": 1}
    found = []
    with pytest.raises(Cancelled):
        found += STUDY.run(given(STUDY, one, progress=stop))
    assert found == []


def world(length=0.0, rise=0.0, rates=0.0, repeats=6, seed=0):
    """Return runs and rounds with planted effects: kid and alike of the method and of three changes."""
    rng = np.random.default_rng(seed)
    shifts = {BASE: ("", math.nan, 0.0), "without length": ("length", math.nan, length),
              "without suppression": ("suppression", math.nan, 0.0), "q = 1": ("q", 1.0, rates)}  # fmt: skip
    runs, rounds = [], []
    for name, (changed, level, shift) in shifts.items():
        keys = {"changed": changed, "level": level, "epsilon": "4"}
        runs.append(rows(name, "kid", shift + rng.normal(0.3, 0.02, repeats), **keys))
        for number in (1, 2, 3):
            climb = rise * number if changed == "suppression" else 0.0
            like = rng.normal(0.6, 0.01, repeats) + climb
            rounds.append(rows(name, "alike", like, "closer to real is better", 0.5, **keys).assign(round=number))
    return pd.concat(runs, ignore_index=True), pd.concat(rounds, ignore_index=True)


def verdicts(**planted):
    runs, rounds = world(**planted)
    names = [name for name in runs["variant"].unique() if name != BASE]
    comparison = compare(runs, [(name, BASE) for name in names])
    table = claims(runs, rounds, rows("x", "kid", [0.1]), comparison)
    held = dict(zip(table["claim"], table["verdict"], strict=True))
    for name, claim in (("without length", "Without lengths the result is worse"), ("q = 1", ALL_VOTE)):
        said = comparison.set_index("one").loc[name, "verdict"]
        assert {"worse": "holds", "better": "does not hold"}.get(said, said) == held[claim]
    return dict(zip(table["claim"], table["verdict"], strict=True))


def test_planted_effects_decide_what_holds():
    found = verdicts(length=0.2, rise=0.05, rates=-0.2)
    assert found["Without lengths the result is worse"] == "holds"
    assert found["Without suppression the result is worse"] == "cannot tell"
    assert found["Without suppression, likeness among the texts rises round by round"] == "holds"
    assert found[ALL_VOTE] == "does not hold"
    assert verdicts(length=-0.2)["Without lengths the result is worse"] == "does not hold"
    assert set(verdicts(length=0.2, repeats=2).values()) == {"too few repeats"}


def test_without_an_effect_nothing_is_claimed():
    held = sum(any(v != "cannot tell" for v in verdicts(seed=seed).values()) for seed in range(40))
    assert held <= 6  # 2 expected


def test_the_best_threshold_is_looked_for_near_private_texts_likeness():
    keys = {"changed": "τ", "epsilon": "4"}
    values = {0.3: 0.5, 0.5: 0.2, 0.9: 0.5}
    runs = pd.concat(
        rows(f"τ = {level:g}", "kid", [v, v + 0.01, v - 0.01, v + 0.005], level=level, **keys)
        for level, v in values.items()
    )
    table = claims(runs, None, rows("x", "alike", [0.6], "closer to real is better", 0.48), compare(runs, []))
    assert table["claim"].str.contains("τ = 0.5, nearest to private text's own likeness (0.48)", regex=False).all()
    assert table["verdict"].tolist() == ["holds", "holds"]


def test_figures_of_all_of_part_and_of_none(steps):
    made = dict(figures("evolution-ablation", steps[-1].tables))
    assert list(made) == ["parts", "rounds_kid", "rates_kid", "rounds_alike", "rates_alike"]
    assert made["parts"].takeaway.startswith("Of 6 claims of the paper, ")
    assert "Internal" in made["rounds_kid"].caveat
    assert "from round 1 to 2, dpga as it is" in made["rounds_alike"].takeaway
    assert {trace.name for trace in made["rates_kid"].plot.data} == {BASE, "q = 1"}
    early = dict(figures("evolution-ablation", steps[0].tables))
    assert list(early) == ["parts", "rounds_kid", "rounds_alike"]
    assert figures("evolution-ablation", {}) == []


def test_the_figure_of_thresholds_holds_each_against_the_method_as_it_is():
    keys = {"epsilon": "4"}
    runs = pd.concat([
        rows(BASE, "kid", [0.1, 0.11, 0.09], changed="", level=math.nan, **keys),
        rows("τ = 0.3", "kid", [0.5, 0.51, 0.49], changed="τ", level=0.3, **keys),
        rows("τ = 0.7", "kid", [0.1, 0.12, 0.09], changed="τ", level=0.7, **keys),
    ])  # fmt: skip
    tables = standard(runs, [("τ = 0.3", BASE), ("τ = 0.7", BASE)], 3, KEYS)
    tables |= {"runs": runs, "claims": claims(runs, None, tables["summary"], tables["comparison"])}
    made = dict(figures("evolution-ablation", tables))["tau_kid"]
    assert made.takeaway == (
        "KID: worse than dpga as it is: τ = 0.3; not to be told from dpga as it is: τ = 0.7."
    )  # fmt: skip
    assert list(made.plot.data[0].x) == [0.3, 0.7]


def test_tables_of_rounds_keep_measures_apart():
    _, rounds = world()
    table = rounds_summary(rounds)
    assert table["round"].tolist() == [1] * 4 + [2] * 4 + [3] * 4
    summary = table[table["round"] == 3].drop(columns="round")
    assert table_3(summary, None)["T"].tolist() == ["last"]


def test_what_rounds_cannot_carry_is_refused():
    asked = parse(STUDY.spec, {**ASKED, "each_round": "mauve"})
    facts = given(STUDY, ASKED).run.facts
    assert any("100 texts a side" in why for why in refused(STUDY, asked, facts, 20))
