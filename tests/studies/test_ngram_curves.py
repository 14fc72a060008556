"""The study that draws n-grams straight from a corpus: its tables against counting by hand, and its figures."""

from __future__ import annotations

import dataclasses
import json
import math
from collections import Counter

import numpy as np
import pandas as pd
import pytest

from engine.corpus.text.words import WORD, fold
from engine.errors import UserError
from engine.examine.curves import lbf
from engine.examine.curves.ngram_sampling import draw_sources
from engine.examine.stats import powerlaw
from engine.models.cancel import Cancelled
from engine.studies import get_study
from engine.studies.base import parse
from engine.studies.figures import figures
from engine.studies.ngram_curves.figures import growth
from engine.studies.ngram_curves.figures_beside import lengths
from engine.studies.units import unit_numbers
from tests.studies import rerun_world

STUDY = get_study("ngram-curves")


def ran(given, values, **options):
    return list(STUDY.run(rerun_world.study_context(STUDY, values, given, **options)))


@pytest.fixture(scope="module")
def given():
    return rerun_world.context()


@pytest.fixture(scope="module")
def tables(given):
    return ran(given, {"n": [1, 3], "excluded": [1, 4, 1000], "trials": 3, "rounds": [1, 5]})[-1].tables


def opened(table, n=1):
    return table[(table["n"] == n) & (table["censor"] == 0)]


def test_it_is_counted_as_by_hand(given, tables):
    units = unit_numbers(given.records, "source")
    texts = [[fold(word) for word in WORD.findall(text)] for text in given.records["text"]]
    for trial in range(3):
        out = set(draw_sources(int(units.max()) + 1, 4, 3, given.seed)[trial].tolist())
        x, y = Counter(), Counter()
        for unit, text in zip(units, texts, strict=True):
            x.update(text)
            if int(unit) not in out:
                y.update(text)
        loss = lbf.loss_of_outputs(x, y)
        table = opened(tables["direct_trials"])
        row = table[(table["excluded"] == 4) & (table["trial"] == trial)].iloc[0]
        assert row["standard_epsilon_at_0.01"] == pytest.approx(loss.epsilon(0.01), rel=1e-9)
        assert row["epsilon_at_0.01"] == pytest.approx(loss.epsilon(0.01, strict=True), rel=1e-9)
        assert row["floor"] == pytest.approx(lbf.floor(loss), rel=1e-9)
    counts = Counter(Counter(word for text in texts for word in text).values())
    rarity = tables["direct_rarity"]
    rarity = rarity[(rarity["n"] == 1) & (rarity["of"] == "all")].set_index("occurrences")["share"]
    assert rarity[2] == pytest.approx(1.0 - counts[1] / sum(counts.values()))


def test_sizes_that_no_corpus_has_are_left_out(given, tables):
    assert set(tables["direct_curves"]["excluded"]) == {1, 4}
    with pytest.raises(UserError, match="can be left out"):
        ran(given, {"excluded": [100_000]})


def test_rare_words_behind_a_mark_give_less_away(given, tables):
    hidden = tables["direct_trials"]
    hidden = hidden[(hidden["n"] == 1) & (hidden["censor"] == 2)].set_index(["excluded", "trial"])["floor"]
    plain = opened(tables["direct_trials"]).set_index(["excluded", "trial"])["floor"]
    assert len(hidden) == len(plain) == 6
    assert (hidden <= plain).all()
    assert hidden.mean() < plain.mean()
    alone = ran(given, {"n": [1], "excluded": [4], "trials": 2, "censor": 0})[-1].tables
    assert set(alone["direct_curves"]["censor"]) == {0}


def test_drawing_has_no_cap(given):
    """All records of a training source count, those over the cap too, and nobody held out; tables say what is left."""
    records, _ = rerun_world.sample()
    first = ~records["source_id"].duplicated()
    held = records["source_id"].isin(set(records["source_id"].iloc[:6]))
    run = dataclasses.replace(given, records=records[first & ~held])
    parts = {"over_cap": records[~first], "holdout": records[first & held]}
    values = {"n": [1], "excluded": [2], "trials": 2, "censor": 0, "rounds": []}
    found = {}
    for part in ("uncapped", "train", "all"):
        study = rerun_world.study_context(STUDY, {**values, "part": part}, run, holdout=parts["holdout"])
        found[part] = list(STUDY.run(dataclasses.replace(study, over_cap=parts["over_cap"])))[-1].tables
    row = {part: tables["direct_part"].iloc[0] for part, tables in found.items()}
    everyone, inside = len(records), int((~held).sum())
    assert [row[part]["records"] for part in row] == [inside, int((first & ~held).sum()), everyone]
    assert [row[part]["left_out_over_cap"] for part in row] == [0, int((~first & ~held).sum()), 0]
    assert [row[part]["left_out_held_out"] for part in row] == [everyone - inside, everyone - inside, 0]
    words = {part: int(tables["direct_power"]["ngrams"].iloc[0]) for part, tables in found.items()}
    counted = [len(WORD.findall(fold(text))) for text in records["text"]]
    assert words["uncapped"] == sum(c for c, out in zip(counted, held, strict=True) if not out)
    assert words["all"] == sum(counted)
    assert row["train"]["units"] == row["uncapped"]["units"]
    shown = dict(figures("ngram-curves", found["uncapped"]))
    assert f"Drawn from {inside:,} of {everyone:,} records" in shown["curves_1"].caveat
    assert "held out" in shown["curves_1"].caveat


def test_an_adversary_who_chooses_afterwards_is_no_worse(tables):
    table = tables["direct_adaptive"]
    far = table[table["epsilon"] > math.log(2.0)]  # nearer, one that is fixed before can gain by reading a "no"
    assert len(far)
    assert (far["delta"] >= far["delta_fixed"] - 1e-12).all()
    assert set(table["rounds"]) == {1, 5}
    at = table[np.isclose(table["epsilon"], math.log(1.2)) & (table["n"] == 1) & (table["excluded"] == 4)]
    one, five = (float(at[at["rounds"] == k]["delta"].iloc[0]) for k in (1, 5))
    assert five > one
    curves = opened(tables["direct_curves"])
    strict = curves[(curves["excluded"] == 4) & np.isclose(curves["epsilon"], math.log(1.2))]["delta"].iloc[0]
    assert one == pytest.approx(strict)  # with one word seen definition 10 is theorem 5
    figure = dict(figures("ngram-curves", tables))["adaptive_1"]
    assert "attacker's odds" in figure.caveat


def test_it_goes_on_where_it_stopped_and_can_be_stopped(given, tables):
    values = {"n": [1, 3], "excluded": [1, 4], "trials": 3}
    first, second = ran(given, values)
    (again,) = ran(given, values, state=json.loads(json.dumps(first.state)), tables=first.tables)
    for name, table in second.tables.items():
        assert again.tables[name].equals(table), name

    def stop(stage, done, total):
        raise Cancelled

    with pytest.raises(Cancelled):
        ran(given, values, progress=stop)


def test_records_can_be_left_out_instead_of_people(given):
    sources = ran(given, {"n": [1], "excluded": [1], "trials": 2})[-1].tables["direct_power"]["sources"].iloc[0]
    records = ran(given, {"n": [1], "excluded": [1], "trials": 2, "adjacency": "record"})[-1].tables["direct_power"]
    assert records["sources"].iloc[0] == len(given.records) > sources
    nobody = dataclasses.replace(given, records=given.records.assign(source_id=None))
    with pytest.raises(UserError, match="names no source"):
        ran(nobody, {"n": [1], "adjacency": "source"})


@pytest.mark.parametrize("values", [{"n": [4]}, {"n": [0, 1]}])
def test_other_lengths_are_refused(given, values):
    with pytest.raises(UserError, match="1 to 3"):
        ran(given, values)


def test_every_figure_is_drawn_and_says_what_it_shows(tables):
    made = dict(figures("ngram-curves", tables))
    names = ("curves", "strict", "censored", "growth", "loss", "adaptive")
    assert set(made) == {f"{name}_{n}" for name in names for n in (1, 3)} | {"rarity", "rarity_one", "lengths"}
    for figure in made.values():
        assert all((figure.takeaway, figure.caveat, figure.alt))
        json.loads(figure.plot.to_json())
    lines = [trace.name for trace in made["curves_1"].plot.data if trace.showlegend is not False]
    assert lines == ["1 left out", "4 left out"]
    fit = tables["direct_power"]
    fit = opened(fit)
    fit = fit[(fit["measure"] == "strict") & (fit["at_delta"] == 0.01)].iloc[0]
    if math.isfinite(fit["exponent"]):
        assert f"power {fit['exponent']:.2f}" in made["growth_1"].takeaway
    assert "occur once" in made["rarity"].takeaway
    assert "within the texts of the unit of middle size" in made["rarity_one"].takeaway
    assert "Median ε at δ = 0.01" in made["lengths"].takeaway
    assert "takes the δ below which no ε is finite" in made["censored_1"].takeaway
    assert {a.text for a in made["loss_1"].plot.layout.annotations} == {"1 left out", "4 left out"}


def test_tables_of_an_earlier_edition_are_still_drawn(tables):
    old = {name: table for name, table in tables.items() if name not in ("direct_part", "direct_adaptive")}
    for name in ("direct_curves", "direct_trials", "direct_power"):
        old[name] = old[name][old[name]["censor"] == 0]
        if name != "direct_power":
            old[name] = old[name].drop(columns="censor")
    old["direct_rarity"] = old["direct_rarity"].query("of == 'all'").drop(columns="of")
    made = dict(figures("ngram-curves", old))
    assert set(made) == {f"{name}_{n}" for name in ("curves", "strict", "growth", "loss") for n in (1, 3)} | {
        "rarity", "lengths"}  # fmt: skip


def test_a_crossing_is_named():
    rows = [{"n": n, "excluded": size, "epsilon_at_0.01": value * (1 + t / 50)}
            for (n, size), value in {(1, 1): 0.006, (3, 1): 0.0006, (1, 10): 0.04, (3, 10): 0.05}.items()
            for t in range(4)]  # fmt: skip
    told = lengths(pd.DataFrame(rows)).takeaway
    assert "3 words in a row lose less until, with 10 left out, they lose more" in told
    assert "0.0062 for one word" in told


def test_growth_follows_a_planted_power_law(tables):
    trials = opened(tables["direct_trials"]).copy()
    trials["epsilon_at_0.001"] = 0.01 * trials["excluded"] ** 0.5
    trials["epsilon_at_0.01"] = np.inf
    fits = tables["direct_power"]
    fits = opened(fits).query("measure == 'strict'").copy()
    rows = [powerlaw.fit(trials["excluded"], trials[f"epsilon_at_{d:g}"]).as_dict() for d in (0.001, 0.01)]
    for name in ("factor", "exponent", "low", "high", "infinite", "used"):
        fits[name] = [row[name] for row in rows]
    figure = growth(trials, fits)
    assert "power 0.50" in figure.takeaway
    assert "thesis found 0.83" in figure.takeaway
    assert f"infinite in {len(trials)} trials" in figure.takeaway


@pytest.mark.parametrize(("written", "read"), [("1,3", (1, 3)), (2, (2,)), ("2", (2,)), ([3], (3,))])
def test_several_values_can_be_written_with_commas(written, read):
    assert parse(STUDY.spec, {"n": written}).n == read


def test_words_among_numbers_are_refused():
    with pytest.raises(UserError, match=r"n\.1 of study 'ngram-curves'"):
        parse(STUDY.spec, {"n": "1,many"})
