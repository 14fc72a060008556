"""Models tuned on lemmas beside models tuned on the records as written."""

from __future__ import annotations

import json

import pytest

from engine.pii.languages import lemmas as languages
from engine.studies.figures import figures
from engine.studies.surprisal import figures_lemmas
from engine.studies.surprisal.run import SurprisalStudy
from tests.studies.rerun_world import context, study_context

NEEDS = pytest.mark.skipif(languages.told_by("en") is None, reason="simplemma (extra `lemmas`) is not installed")
QUICK = {"models": 1, "excluded": 8, "scored": 20, "settings": "rank=2, epochs=1, tokens=12"}


def steps_of(parameters, run, **changes):
    study = SurprisalStudy()
    return list(study.run(study_context(study, QUICK | parameters, run, **changes)))


@pytest.fixture(scope="module")
def run():
    return context(40, unit="record")


@NEEDS
def test_both_are_tuned_asked_and_drawn_beside_each_other(run, tmp_path):
    fragment = str(run.records["record_id"].iloc[0])
    steps = steps_of({"words": "both", "fragments": (fragment,)}, run, scratch=tmp_path)
    tables = steps[-1].tables
    assert [step.done for step in steps] == [1, 2, 3]
    assert "lemmas" in steps[1].stage
    scores = tables["scores"]
    forms, first = (scores[scores["words"] == kind].reset_index(drop=True) for kind in ("forms", "lemmas"))
    assert forms["record_id"].equals(first["record_id"])
    assert forms["side"].equals(first["side"])  # the same people are left out
    assert not forms["surprisal"].equals(first["surprisal"])
    for name in ("models", "cdf", "curves"):
        assert set(tables[name]["words"]) == {"forms", "lemmas"}, name
    assert set(tables["fragments"]["words"]) == {"forms"}
    alone = steps_of({}, run)[-1].tables["scores"]
    assert alone["surprisal"].tolist() == pytest.approx(forms["surprisal"].tolist())

    made = dict(figures("surprisal", tables))
    assert {"auc", "auc_lemmas", "curves", "curves_lemmas", "words"} <= set(made)
    for name, figure in made.items():
        json.loads(figure.plot.to_json())
        assert (figures_lemmas.LEMMAS in figure.caveat) is (name.endswith("_lemmas") or name == "words"), name
        assert (figures_lemmas.FORMS in figure.caveat) is not name.endswith("_lemmas"), name
    assert "on lemmas" in made["words"].takeaway
    assert list(tmp_path.iterdir()) == []

    given = {"state": steps[0].state, "tables": steps[0].tables}
    again = steps_of({"words": "both", "fragments": (fragment,)}, run, **given)
    assert again[-1].tables["scores"].equals(scores)


def test_a_language_without_lemmas_is_said(run):
    tables = steps_of({"words": "both", "language": "ja"}, run)[-1].tables
    assert set(tables["models"]["words"]) == {"forms"}
    for figure in dict(figures("surprisal", tables)).values():
        assert "No lemmas for this language (Japanese)" in figure.caveat
        assert figures_lemmas.FORMS in figure.caveat
    old = {name: table.drop(columns="words") for name, table in tables.items() if name != "words"}
    assert set(dict(figures("surprisal", old))) == set(dict(figures("surprisal", tables)))
