"""The grid of sizes and temperatures: its cells, what each axis does, also in the paper's own table, its figures."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pandas as pd
import pytest

from engine.errors import UserError
from engine.models.cancel import Cancelled
from engine.studies.base import parse, refused
from engine.studies.figures import figures
from engine.studies.rpsg_grid.run import RpsgGridStudy, variants
from engine.studies.rpsg_grid.tables import SIZE, TEMPERATURE, effects, in_words, table_17, whole_repeats
from tests.studies import bench_world
from tests.studies.bench_world import CLOCK, rows

STUDY = RpsgGridStudy()
ASKED = {
    "method": "rpsg-public", "sizes": "12,16", "temperatures": "0.8,1.2", "repeats": 2, "measures": "kid,self_bleu",
    "settings": "candidates=2, nll_keep=1, epochs=1, words=8, domain=reviews, unreadable=flag",
}  # fmt: skip
# Ma and Rajtmajer, RPSG, Table 17, Self-BLEU at temperatures 0.2 and 1.2, three runs each.
SELF_BLEU = {
    (200, 0.2): (0.222, 0.12, 0.102), (200, 1.2): (0.144, 0.098, 0.081), (500, 0.2): (0.308, 0.187, 0.179),
    (500, 1.2): (0.226, 0.162, 0.136), (1000, 0.2): (0.276, 0.267, 0.251), (1000, 1.2): (0.247, 0.191, 0.276),
    (2000, 0.2): (0.384, 0.328, 0.327), (2000, 1.2): (0.323, 0.246, 0.295),
}  # fmt: skip


def grid(values, measure="self_bleu"):
    """Return runs of a grid: values a repeat by size and temperature."""
    return pd.concat(
        [rows(f"{s} at {t}", measure, v, "closer to real is better", 0.1, size=s, temperature=t)
         for (s, t), v in values.items()], ignore_index=True,
    )  # fmt: skip


class Embedder:
    """Unit vectors that follow from a text's words, as wide as the built-in sentiment model reads them."""

    id = "all-MiniLM-L6-v2"

    def embed(self, texts):
        made = np.zeros((len(texts), 384), np.float32)
        for i, text in enumerate(texts):
            for word in ["", *text.split()]:
                made[i, sum(map(ord, word)) % 384] += 1.0
        return made / np.linalg.norm(made, axis=1, keepdims=True)


def given(parameters, **options):
    """Return the study's context, with an embedder that the sentiment model takes."""
    context = bench_world.given(STUDY, parameters, **options)
    return dataclasses.replace(context, run=dataclasses.replace(context.run, embedder=Embedder()))


@pytest.fixture(scope="module")
def steps():
    return list(STUDY.run(given(ASKED)))


def test_every_size_meets_every_temperature(steps):
    found = variants(parse(STUDY.spec, ASKED))
    assert [(v.outputs, v.values["temperature"]) for v in found] == [(12, 0.8), (12, 1.2), (16, 0.8), (16, 1.2)]
    runs = steps[-1].tables["runs"]
    each = runs.drop_duplicates(["variant", "repeat"])
    assert each["texts"].tolist() == [12, 12, 16, 16] * 2
    assert set(steps[-1].tables) == {"summary", "effects", "sizes_and_temperatures", "in_words", "runs", "time"}
    with pytest.raises(UserError, match="temperature is what this study varies"):
        variants(parse(STUDY.spec, {"settings": "temperature=1"}))
    with pytest.raises(UserError, match="at most 2"):
        parse(STUDY.spec, {"temperatures": "3"})


def test_a_resumed_study_makes_the_runs_that_are_left(steps):
    rest = list(STUDY.run(given(ASKED, state=steps[5].state, tables=steps[5].tables)))
    assert [step.stage.split(";")[0] for step in rest] == [step.stage.split(";")[0] for step in steps[6:]]
    old, new = steps[5].tables["runs"], rest[-1].tables["runs"]
    pd.testing.assert_frame_equal(new.head(len(old)).drop(columns=CLOCK), old.drop(columns=CLOCK), check_dtype=False)


def test_it_stops_when_asked():
    def stop(stage, done, total):
        if "measuring" in stage:
            raise Cancelled("stop")

    found = []
    with pytest.raises(Cancelled):
        found += STUDY.run(given({**ASKED, "sizes": "12"}, progress=stop))
    assert found == []


def test_the_papers_own_table_says_what_the_paper_says():
    tested = effects(grid(SELF_BLEU)).set_index("axis")
    assert tested.loc[SIZE, "verdict"] == tested.loc[SIZE, "paper"] == "rises"
    mean = pd.Series({cell: np.mean(values) for cell, values in SELF_BLEU.items()})  # every size at both temperatures
    by_size = mean.groupby(level=0).mean()
    assert tested.loc[SIZE, "slope"] == pytest.approx(np.polyfit(np.log2(by_size.index), by_size, 1)[0])
    warm, cold = (mean[:, temperature].mean() for temperature in (1.2, 0.2))
    assert tested.loc[TEMPERATURE, "slope"] == pytest.approx((warm - cold) / 10)
    assert tested.loc[TEMPERATURE, "paper"] == "falls"
    assert tested.loc[TEMPERATURE, "slope"] < 0


@pytest.mark.parametrize("repeats", [3, 6])
def test_a_planted_slope_is_found_and_none_is_not(repeats):
    rng = np.random.default_rng(repeats)
    shape = [(s, t) for s in (50, 100, 200) for t in (0.5, 1.0)]
    found = effects(grid({(s, t): math.log2(s) + rng.normal(0, 0.1, repeats) for s, t in shape})).set_index("axis")
    assert found.loc[SIZE, "verdict"] == "rises"
    assert found.loc[SIZE, "slope"] == pytest.approx(1.0, abs=0.2)
    false = 0
    for _ in range(60):
        tested = effects(grid({cell: rng.normal(0, 1, repeats) for cell in shape}))
        false += tested["verdict"].isin(("rises", "falls")).any()
    assert false <= 8  # 3 expected


def test_what_moves_with_the_number_of_texts_by_itself_is_said():
    rising = {(s, t): [math.log2(s) + 0.01 * i for i in range(3)] for s in (50, 100) for t in (0.5, 1.0)}
    for measure, told in (("self_bleu", True), ("kid", False), ("next_word", False)):
        tested = effects(
            grid({cell: np.array(v) * (1 + i / 50) for i, (cell, v) in enumerate(rising.items())}, measure)
        )
        assert tested.set_index("axis").loc[SIZE, "verdict"] == "rises"
        assert ("without any method" in " ".join(in_words(tested, 3, 3)["sentence"])) is told


def test_a_grid_that_is_not_whole_is_not_tilted_by_what_is_missing():
    cells = {(s, t): [float(s)] * 3 for s in (50, 100) for t in (0.5, 1.0)}
    runs = grid(cells)
    holes = runs.copy()
    holes.loc[(holes["size"] == 50) & (holes["temperature"] == 0.5), "value"] = math.nan
    assert set(effects(holes)["verdict"]) == {"not measured"}
    stopped = runs[~((runs["repeat"] == 2) & (runs["size"] == 100))]
    assert set(effects(stopped)["verdict"]) == {"too few repeats"}
    assert set(effects(stopped)["repeats"]) == {2}
    one = effects(runs[runs["temperature"] == 0.5])
    assert one["axis"].tolist() == [SIZE]
    assert whole_repeats(stopped) == [0, 1]
    said = " ".join(in_words(effects(stopped), 2, 3)["sentence"])
    assert "“SELF_BLEU” has too few repeats" in said
    assert "2 of 3 repeats are there" in said
    assert "With 2 repeats a setting no interval" in said
    fixed = in_words(effects(runs.assign(value=runs["value"] + runs["size"])), 3, 3)["sentence"]
    assert "“SELF_BLEU” moves by the same in every repeat, so that no test fits" in fixed[0]
    assert "cannot be told" not in fixed[0]
    assert "are there" not in " ".join(fixed)


def test_the_table_and_the_figures(steps):
    table = table_17(steps[-1].tables["summary"])
    assert table[["size", "temperature"]].to_numpy().tolist() == [[12, 0.8], [12, 1.2], [16, 0.8], [16, 1.2]]
    made = dict(figures("rpsg-grid", steps[-1].tables))
    assert list(made) == ["kid", "self_bleu"]
    assert [trace.name for trace in made["kid"].plot.data] == ["temperature 0.8", "temperature 1.2"]
    assert "too few repeats" in made["kid"].takeaway
    assert "Internal" in made["kid"].caveat
    assert figures("rpsg-grid", {}) == []
    assert "one cell" in dict(figures("rpsg-grid", steps[0].tables))["kid"].takeaway


def test_the_smallest_size_decides_what_can_be_measured():
    facts = given(ASKED).run.facts
    (why,) = refused(STUDY, parse(STUDY.spec, {"sizes": "5, 300", "measures": "kid"}), facts, 20)
    assert "with 5 outputs" in why
