"""The study that draws n-grams straight from a corpus: its tables against counting by hand, and its figures."""

from __future__ import annotations

import dataclasses
import json
import math
from collections import Counter

import numpy as np
import pytest

from engine.analysis import lbf, powerlaw
from engine.attacks.ngram_sampling import draw_sources
from engine.attacks.words import WORD, fold
from engine.errors import UserError
from engine.figures.direct import growth
from engine.figures.studies import figures
from engine.jobs.studies import get_study
from engine.jobs.studies.base import parse
from engine.jobs.studies.pairs_units import unit_numbers
from engine.models.cancel import Cancelled
from tests.jobs import rerun_world

STUDY = get_study("ngram-curves")


def ran(given, values, **options):
    return list(STUDY.run(rerun_world.study_context(STUDY, values, given, **options)))


@pytest.fixture(scope="module")
def given():
    return rerun_world.context()


@pytest.fixture(scope="module")
def tables(given):
    return ran(given, {"n": [1, 3], "excluded": [1, 4, 1000], "trials": 3})[-1].tables


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
        table = tables["direct_trials"]
        row = table[(table["n"] == 1) & (table["excluded"] == 4) & (table["trial"] == trial)].iloc[0]
        assert row["standard_epsilon_at_0.01"] == pytest.approx(loss.epsilon(0.01), rel=1e-9)
        assert row["epsilon_at_0.01"] == pytest.approx(loss.epsilon(0.01, strict=True), rel=1e-9)
        assert row["floor"] == pytest.approx(lbf.floor(loss), rel=1e-9)
    counts = Counter(Counter(word for text in texts for word in text).values())
    rarity = tables["direct_rarity"]
    rarity = rarity[rarity["n"] == 1].set_index("occurrences")["share"]
    assert rarity[2] == pytest.approx(1.0 - counts[1] / sum(counts.values()))


def test_sizes_that_no_corpus_has_are_left_out(given, tables):
    assert set(tables["direct_curves"]["excluded"]) == {1, 4}
    with pytest.raises(UserError, match="can be left out"):
        ran(given, {"excluded": [100_000]})


def test_rare_words_behind_a_mark_give_less_away(given, tables):
    hidden = ran(given, {"n": [1], "excluded": [4], "trials": 3, "censor": 3})[-1].tables["direct_trials"]
    open_ = tables["direct_trials"]
    assert hidden["floor"].mean() < open_[(open_["n"] == 1) & (open_["excluded"] == 4)]["floor"].mean()


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
    assert set(made) == {f"{name}_{n}" for name in ("curves", "strict", "growth", "loss") for n in (1, 3)} | {"rarity"}
    for figure in made.values():
        assert all((figure.takeaway, figure.caveat, figure.alt))
        json.loads(figure.plot.to_json())
    lines = [trace.name for trace in made["curves_1"].plot.data if trace.showlegend is not False]
    assert lines == ["1 left out", "4 left out"]
    fit = tables["direct_power"]
    fit = fit[(fit["n"] == 1) & (fit["measure"] == "strict") & (fit["at_delta"] == 0.01)].iloc[0]
    if math.isfinite(fit["exponent"]):
        assert f"power {fit['exponent']:.2f}" in made["growth_1"].takeaway
    assert "occur once" in made["rarity"].takeaway


def test_growth_follows_a_planted_power_law(tables):
    trials = tables["direct_trials"]
    trials = trials[trials["n"] == 1].copy()
    trials["epsilon_at_0.001"] = 0.01 * trials["excluded"] ** 0.5
    trials["epsilon_at_0.01"] = np.inf
    fits = tables["direct_power"]
    fits = fits[(fits["n"] == 1) & (fits["measure"] == "strict")].copy()
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
