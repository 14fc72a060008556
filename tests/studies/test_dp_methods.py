"""Methods at several numbers of records: nested sets, one floor, who leads, and what is refused beforehand."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from engine.errors import UserError
from engine.studies import get_study
from engine.studies.base import parse, refused
from engine.studies.bench import compared
from engine.studies.bench.bench import Bench
from engine.studies.dp_methods.run import DpMethodsStudy, best, pairs, variants
from engine.studies.figures import figures
from tests.studies.bench_world import VOTES, given, rows

STUDY = DpMethodsStudy()
ASKED = {"methods": ["aug-pe", "dpga"], "sizes": [40, 20], "epsilons": [4], "settings": VOTES, "measures": ["kid"]}


@pytest.fixture(scope="module")
def last():
    """Return the last tables of a study of two repeats, on a network of a few thousand weights."""
    return list(STUDY.run(given(STUDY, {**ASKED, "methods": ["aug-pe"], "repeats": 2})))[-1].tables


def test_every_method_runs_at_every_number_and_epsilon():
    found = variants(parse(STUDY.spec, {**ASKED, "epsilons": [4, 1]}))
    assert [v.name for v in found][:3] == ["public", "aug-pe at n = 20, ε = 1", "aug-pe at n = 20, ε = 4"]
    assert len(found) == 1 + 2 * 2 * 2
    assert {v.records for v in found[1:]} == {20, 40}
    assert found[0].records == 0
    held = pairs(found)
    assert ("dpga at n = 40, ε = 4", "public") in held
    assert ("aug-pe at n = 40, ε = 4", "dpga at n = 40, ε = 4") in held
    assert ("aug-pe at n = 20, ε = 4", "dpga at n = 40, ε = 4") not in held


def test_smaller_sets_lie_within_larger_ones_and_claims_are_of_their_own_size():
    p = parse(STUDY.spec, ASKED)
    bench = Bench(given(STUDY, ASKED), p, variants(p))
    bench.prepare()
    by = {v.name: v for v in bench.variants}
    small, large = (bench.records_of(by[f"aug-pe at n = {n}, ε = 4"]) for n in (20, 40))
    assert (len(small), len(large)) == (20, 40)
    assert set(small["record_id"]) < set(large["record_id"])
    claims = [bench.terms[f"aug-pe at n = {n}, ε = 4"] for n in (20, 40)]
    assert [one.facts.units for one in claims] == [20, 40]
    assert claims[0].guarantee.epsilon == claims[1].guarantee.epsilon == 4.0


def test_runs_are_measured_alike_and_the_leader_is_named(last):
    runs = last["runs"].drop_duplicates(["variant", "repeat"])
    assert runs["n"].tolist() == [0, 20, 40] * 2
    assert last["runs"]["value"].notna().all()
    assert not set(last["runs"].columns) & {"text", "record_id"}
    found = last["best"]
    assert found["n"].tolist() == [20, 40]
    assert set(found["best"]) == {"aug-pe"}
    assert set(found["verdict"]) == {compared.FEW}  # two repeats say nothing
    names = [name for name, _ in figures("dp-methods", last)]
    assert names == ["kid, ε = 4"]
    figure = figures("dp-methods", last)[0][1]
    assert list(figure.plot.data[0].x) == ["20", "40"]
    assert figures("dp-methods", {}) == []


def told(values: dict[str, list[float]], direction: str = "lower is better") -> pd.Series:
    runs = pd.concat([
        rows(name, "kid", scores, direction, method=name.split()[0], epsilon="0" if name == "public" else "1",
             n=0 if name == "public" else 20)
        for name, scores in values.items()
    ])  # fmt: skip
    names = [name for name in values if name != "public"]
    held = [(name, "public") for name in names] + [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    found = best(compared.summary(runs, ("method", "epsilon", "n")), compared.compare(runs, held), "kid")
    assert len(found) == 1
    return found.iloc[0]


def test_the_leader_has_the_best_mean_and_its_equals_beside_it():
    one = told({"public": [9.0, 9.1, 8.9], "aug-pe at": [5.0, 5.1, 4.9], "dpga at": [5.05, 4.8, 5.1],
                "dp-topics at": [7.0, 7.1, 6.9]})  # fmt: skip
    assert (one["best"], one["not_told_apart"], one["verdict"]) == ("dpga", "aug-pe", compared.BETTER)
    assert one["public"] == pytest.approx(9.0)
    worse = told({"public": [1.0, 1.1, 0.9], "aug-pe at": [5.0, 5.1, 4.9]})
    assert (worse["best"], worse["verdict"]) == ("aug-pe", compared.WORSE)
    high = told({"public": [0.1, 0.11, 0.09], "aug-pe at": [0.5, 0.51, 0.49], "dpga at": [0.3, 0.31, 0.29]},
                "higher is better")  # fmt: skip
    assert (high["best"], high["verdict"], high["not_told_apart"]) == ("aug-pe", compared.BETTER, "")
    lost = told({"public": [9.0, 9.1, 8.9], "aug-pe at": [math.nan] * 3, "dpga at": [8.0, 9.0, 10.0]})
    assert (lost["best"], lost["verdict"]) == ("dpga", compared.UNTOLD)


def test_what_does_not_fit_is_refused_before_the_first_run():
    facts = given(STUDY, ASKED).run.facts
    assert refused(STUDY, parse(STUDY.spec, ASKED), facts, 20) == []
    (why,) = refused(STUDY, parse(STUDY.spec, {**ASKED, "sizes": [4000]}), facts, 20)
    assert "4,000 records are asked for; the training part has 40" in why
    with pytest.raises(UserError, match="dp-select chooses from a pool"):
        variants(parse(STUDY.spec, {"methods": "dp-select"}))
    assert variants(parse(STUDY.spec, {"methods": "dp-select", "pool": "made"}))
    with pytest.raises(UserError, match="at least 20"):
        parse(STUDY.spec, {"sizes": "5"})
    with pytest.raises(UserError, match="epsilon is what this study varies"):
        variants(parse(STUDY.spec, {**ASKED, "settings": "epsilon=3"}))
    assert "pool" in get_study("dp-methods").needs(parse(STUDY.spec, {"methods": "dp-select", "pool": "made"}))
