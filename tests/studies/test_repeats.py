"""Two settings over repeats: run, tested, said in words, resumed; and a method against itself."""

from __future__ import annotations

import pytest

from engine.errors import UserError
from engine.studies.base import parse
from engine.studies.figures import figures
from engine.studies.repeats.run import RepeatsStudy, variants
from tests.studies.bench_world import CLOCK, VOTES, given

STUDY = RepeatsStudy()
ASKED = {"first": "surrogate", "second": "public", "outputs": 30,
         "second_settings": "words=8, domain=reviews, unreadable=flag"}  # fmt: skip


@pytest.fixture(scope="module")
def steps():
    return list(STUDY.run(given(STUDY, ASKED)))


def test_a_copying_method_is_better_in_use_and_worse_in_copies_than_random_words(steps):
    table = steps[-1].tables["comparison"].set_index("measure")
    assert table["other"].str.startswith("public (words=8").all()
    assert table.loc["js_2gram", "verdict"] == "better"
    assert table.loc["kid", "verdict"] == "better"
    assert table.loc["verbatim_8gram", "difference"] > 0
    assert (table["repeats"] == 3).all()
    assert (table["p_paired"].dropna() >= 0.25).all()
    said = " ".join(steps[-1].tables["in_words"]["sentence"])
    assert "better in “" in said
    assert "no p value below 0.25" in said


def test_a_resumed_study_ends_as_an_uninterrupted_one(steps):
    rest = list(STUDY.run(given(STUDY, ASKED, state=steps[2].state, tables=steps[2].tables)))
    assert len(rest) == 3
    for name in ("runs", "summary", "comparison", "in_words"):
        ours, theirs = (t[-1].tables[name].drop(columns=CLOCK, errors="ignore") for t in (rest, steps))
        assert ours.equals(theirs), name


def test_the_figure_shows_each_repeat_beside_its_mean(steps):
    ((name, made),) = figures("repeats", steps[-1].tables)
    assert name == "repeats"
    assert made.takeaway.startswith("surrogate, against public")
    hollow = [trace for trace in made.plot.data if str(trace.marker.symbol).endswith("-open")]
    assert {len(trace.x) for trace in hollow} == {3}
    assert figures("repeats", {}) == []
    ((_, early),) = figures("repeats", steps[0].tables)
    assert "nothing to compare" in early.takeaway


def test_settings_that_make_no_comparison_are_refused():
    with pytest.raises(UserError, match="both settings are the same"):
        variants(parse(STUDY.spec, {"first": "dpga", "second": "dpga"}))
    with pytest.raises(UserError, match="offers no run without noise"):
        variants(parse(STUDY.spec, {"first": "dp-finetune", "noiseless": True}))
    with pytest.raises(UserError, match="does not exist"):
        variants(parse(STUDY.spec, {"first": "nothing"}))


def test_one_method_with_two_settings_and_no_noise():
    one, two = variants(
        parse(STUDY.spec, {"first": "aug-pe", "second": "aug-pe", "second_settings": "selection=sample, epsilon=2",
                           "noiseless": True})
    )  # fmt: skip
    assert (one.name, one.noiseless, one.keys["epsilon"]) == ("aug-pe", True, "∞")
    assert two.values == {"selection": "sample", "epsilon": 2}
    plain = variants(parse(STUDY.spec, {"first": "aug-pe", "first_settings": VOTES, "second": "surrogate"}))
    assert [v.keys["epsilon"] for v in plain] == ["4", ""]
