"""Pair experiments: noise gives no excess, a copying method does, nothing is run twice, no word is kept."""

import dataclasses

import numpy as np
import pytest

from engine.errors import UserError
from engine.studies.bench.settings import parsed_settings
from engine.studies.pairs.keep import Keep, together, words_of
from engine.studies.pairs.run import PairsStudy, plan
from engine.studies.units import some_units, unit_numbers
from tests.studies.rerun_world import QUICK, context, sample, study_context

COPY = {"method": "surrogate", "settings": "without_spans=copy, copies_accepted=1000"}
QUIET = {"count": 12, "trainings": 2, "generations": 1, "excluded": (5,), "n": (1,)}


def at(tables, kind, n=1):
    curves = tables["curves"]
    return curves[(curves["kind"] == kind) & (curves["n"] == n)].set_index("epsilon")["delta_standard"].to_numpy()


def finished(parameters, run=None, **changes):
    study = PairsStudy()
    steps = list(study.run(study_context(study, QUIET | parameters, run or context(), **changes)))
    return steps, steps[-1].tables


def test_a_copying_method_shows_exactly_what_drawing_words_directly_does(tmp_path):
    run = context(unit="record")
    run = dataclasses.replace(run, spans=run.spans.iloc[:1])  # nothing to replace: a plain copy
    steps, tables = finished(COPY | {"n": (1, 3), "excluded": (10,), "trainings": 3}, run, scratch=tmp_path / "s")
    assert (len(steps), steps[-1].done, steps[-1].total) == (9, 9, 9)
    for n in (1, 3):
        assert at(tables, "null", n).max() < 0.02  # one record of forty differs by a surrogate
        excess = tables["curves"].query("kind == 'excess' and n == @n")
        assert excess["standard_low"].max() > 0.1
        assert at(tables, "synthetic matched", n) == pytest.approx(at(tables, "direct", n), abs=0.02)
    shares = tables["reproduced"].set_index("of")["share"]
    assert shares["from X"] > 0.95
    assert shares["from X without U"] < 0.05
    assert abs(shares["difference of X and X"]) < 0.05
    assert tables["answer"]["leakage"].tolist() == [1, 1]
    meaning = tables["semantic"].set_index(["score", "comparison"])
    for score in ("highest", "mean"):
        low, high = meaning.loc[(score, "twice on the same records"), ["low", "high"]].tolist()
        assert low + high == pytest.approx(1.0), "equal scores tell nothing, and so few of them not much of that"
        assert 0.2 < low < 0.5
    assert meaning.loc[("mean", "with and without"), ["auc", "verdict"]].tolist() == [1.0, "leakage"]
    assert tables["summary"]["variant"].tolist()[-1] == "mean cosine, twice on the same records, |U| = 10, set 1"
    assert (tables["excess"]["p"] <= 0.05).all()


def test_a_method_that_reads_nothing_shows_no_excess():
    _, tables = finished({"method": "public", "settings": "words=12", "count": 60, "trainings": 3})
    assert at(tables, "synthetic single").max() > 0.05  # one text a side: noise that looks like leakage
    assert np.abs(at(tables, "excess")).max() < 0.05
    assert tables["excess"]["p"].min() > 0.05
    assert at(tables, "claimed").max() == 0.0
    meaning = tables["semantic"]
    assert set(meaning["verdict"]) == {"chance"}
    assert ((meaning["low"] <= 0.5) & (meaning["high"] >= 0.5)).all()
    difference = tables["reproduced"].set_index("of").loc["difference"]
    assert difference["low"] <= 0 <= difference["high"]


def test_a_tuned_model_writes_all_generations_of_a_training():
    values = ", ".join(f"{k}={v}" for k, v in (QUICK | {"epochs": 1, "records_a_step": 8}).items())
    steps, tables = finished({"method": "finetune", "settings": values, "count": 4, "generations": 2, "trainings": 1})
    assert len(steps) == 3
    runs = tables["runs"]
    assert runs.groupby(["side", "training"]).size().tolist() == [2, 2, 2]
    assert set(runs["texts"]) == {4}
    assert {"points", "shift", "top", "believed", "composed", "summary"} <= set(tables)


def test_it_goes_on_where_it_was_stopped(tmp_path):
    study = PairsStudy()
    whole, tables = finished(COPY, scratch=tmp_path / "a")
    first = study_context(study, QUIET | COPY, context(), scratch=tmp_path / "b")
    steps = [step for step, _ in zip(study.run(first), range(3), strict=False)]
    told = []
    rest = study_context(
        study, QUIET | COPY, context(), state=steps[-1].state, tables=steps[-1].tables, scratch=tmp_path / "b",
        progress=lambda stage, done, total: told.append(stage),
    )  # fmt: skip
    more = list(study.run(rest))
    assert len(steps) + len(more) == len(whole)
    assert not any("with everyone, run 1" in stage for stage in told)
    for name, frame in tables.items():
        assert frame.equals(more[-1].tables[name]), name


def test_lost_generations_are_made_again():
    study = PairsStudy()
    whole, tables = finished(COPY)
    state = {"done": len(whole) - 1}
    again = list(study.run(study_context(study, QUIET | COPY, context(), state=state, tables=whole[-2].tables)))
    assert again[-1].tables["curves"].equals(tables["curves"])


def test_nothing_kept_or_shown_holds_a_word(tmp_path):
    _, tables = finished(COPY, scratch=tmp_path / "kept")
    records, _ = sample()
    words = {word for text in records["text"] for word in text.split() if word.isalpha() and len(word) > 6}
    kept = b"".join(path.read_bytes() for path in (tmp_path / "kept").iterdir())
    assert kept
    assert not any(word.encode() in kept for word in words)
    assert not any(path.stat().st_mode & 0o077 for path in (tmp_path / "kept").iterdir())
    cells = {str(v) for frame in tables.values() for column in frame for v in frame[column].unique()}
    assert not cells & words


def test_digests_number_the_same_words_alike():
    one, two = words_of(["One two one", "three"], b"k" * 32), words_of(["two THREE"], b"k" * 32)
    (first, second), size = together([one, two])
    assert size == 3
    assert first.ids[1] == second.ids[0]
    assert first.ids[3] == second.ids[1]
    assert one.part(1, 2).texts == 1
    assert set(words_of(["one"], b"k" * 32).digests) != set(words_of(["one"], b"j" * 32).digests)
    keep = Keep(None)
    keep.save("x", one)
    assert keep.load("x") is one
    assert keep.load("y") is None


def test_units_and_samples_are_whole():
    records, _ = sample()
    units = unit_numbers(records, "source")
    assert len(set(units)) == records["source_id"].nunique()
    some = some_units(records, "source", 15, 1)
    assert 15 <= len(some) < 40
    inside = set(some["source_id"])
    assert len(records[records["source_id"].isin(inside)]) == len(some)
    assert some_units(records, "source", 0, 1).equals(records)
    with pytest.raises(UserError, match="no source"):
        unit_numbers(records.assign(source_id=None), "source")


def test_x_is_run_twice_as_often():
    p = PairsStudy.spec.parameters(**COPY | {"trainings": 2, "generations": 3})
    runs = plan(p, 2, 0)
    assert [sum(run.excluded == side for run in runs) for side in (None, 0, 1)] == [12, 6, 6]
    assert len({run.seed for run in runs}) == len(runs)
    fits = plan(PairsStudy.spec.parameters(trainings=2, generations=3), 2, 0)
    assert [sum(run.excluded == side for run in fits) for side in (None, 0, 1)] == [4, 2, 2]


@pytest.mark.parametrize(
    ("text", "found"),
    [("", {}), ("epochs=3, rank=8", {"epochs": 3, "rank": 8}), ("a=x, b=y z", {"a": "x", "b": "y z"}),
     ('keep=["A", "B"], c=1.5', {"keep": ["A", "B"], "c": 1.5}),
     ("shares=yes=0.3; no=0.7", {"shares": "yes=0.3; no=0.7"})],
)  # fmt: skip
def test_settings_are_read(text, found):
    assert parsed_settings(text) == found


def test_settings_without_a_name_are_refused():
    with pytest.raises(UserError, match="name=value"):
        parsed_settings("quickly")


def test_it_needs_what_its_method_needs():
    study = PairsStudy()
    assert "spans" in study.needs(study.spec.parameters(method="surrogate"))
    assert "embedder" in study.needs(study.spec.parameters(method="aug-pe"))
    assert "spans" not in study.needs(study.spec.parameters(method="finetune"))
