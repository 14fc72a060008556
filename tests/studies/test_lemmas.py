"""Curves of lemmas beside those of word forms: counted by hand, never above, and said wherever they are drawn."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter

import numpy as np
import pytest

from engine.corpus.text.words import WORD, fold
from engine.errors import UserError
from engine.examine.curves import lbf, ngram_counts
from engine.examine.curves.ngram_sampling import draw_sources
from engine.models.cancel import Cancelled
from engine.pii.languages import lemmas as languages
from engine.studies import get_study, lemmas
from engine.studies.base import parse
from engine.studies.figures import figures
from engine.studies.units import unit_numbers
from tests.studies import rerun_world

STUDY = get_study("ngram-curves")
NEEDS = pytest.mark.skipif(languages.told_by("en") is None, reason="simplemma (extra `lemmas`) is not installed")
VALUES = {"n": [1, 2], "excluded": [1, 4], "trials": 3, "rounds": [1], "words": "both"}


def ran(given, values, **options):
    return list(STUDY.run(rerun_world.study_context(STUDY, values, given, **options)))


@pytest.fixture(scope="module")
def given():
    return rerun_world.context()


@pytest.fixture(scope="module")
def steps(given):
    return ran(given, VALUES)


@NEEDS
def test_lemmas_are_counted_as_by_hand(given, steps):
    import simplemma

    tables = steps[-1].tables
    units = unit_numbers(given.records, "source")
    texts = [[fold(simplemma.lemmatize(fold(w), lang="en")) for w in WORD.findall(t)] for t in given.records["text"]]
    out = set(draw_sources(int(units.max()) + 1, 4, 3, given.seed)[0].tolist())
    x, y = Counter(), Counter()
    for unit, text in zip(units, texts, strict=True):
        x.update(text)
        if int(unit) not in out:
            y.update(text)
    loss = lbf.loss_of_outputs(x, y)
    table = tables["direct_trials"].query(
        "words == 'lemmas' and n == 1 and censor == 0 and excluded == 4 and trial == 0"
    )
    assert table["standard_epsilon_at_0.01"].tolist() == pytest.approx([loss.epsilon(0.01)], rel=1e-9)
    assert table["floor"].tolist() == pytest.approx([lbf.floor(loss)], rel=1e-9)
    told = tables["direct_words"].set_index("words")
    forms = [fold(w) for t in given.records["text"] for w in WORD.findall(t)]
    first = [lemma for text in texts for lemma in text]
    assert told.loc["lemmas", "distinct"] == len(set(first)) < told.loc["forms", "distinct"] == len(set(forms))
    assert told.loc["lemmas", "changed"] == pytest.approx(np.mean([a != b for a, b in zip(forms, first, strict=True)]))
    assert told.loc["lemmas", "language"] == "en"


@NEEDS
def test_standard_delta_of_lemmas_is_never_above_that_of_forms(steps):
    table = steps[-1].tables["direct_curves"].query("censor == 0").set_index(["n", "excluded", "epsilon"])
    forms, first = (table[table["words"] == kind] for kind in ("forms", "lemmas"))
    for column in ("delta_standard", "standard_high", "floor"):
        gap = forms[column] - first[column]
        assert gap.notna().all()
        assert (gap >= -1e-12).all(), column
    assert (forms["delta_standard"] - first["delta_standard"]).max() > 1e-4
    assert set(first["observed"]) == {"one lemma", "two lemmas in a row"}


@NEEDS
def test_every_figure_says_what_was_counted(steps):
    made = dict(figures("ngram-curves", steps[-1].tables))
    assert {"curves_1", "curves_1_lemmas", "words_1", "words_2", "words_rarity_1", "rarity_lemmas"} <= set(made)
    for name, figure in made.items():
        json.loads(figure.plot.to_json())
        beside = name.startswith("words_")
        assert ("Counted are lemmas" in figure.caveat) is (name.endswith("_lemmas") or beside), name
        assert (lemmas.SAID["forms"] in figure.caveat) is (not name.endswith("_lemmas")), name
        assert figure.takeaway.startswith("Lemmas: ") is name.endswith("_lemmas"), name
        assert "thesis found" not in figure.takeaway or not name.endswith("_lemmas")
    assert "for word forms and for lemmas" in made["words_1"].takeaway
    assert "simplemma" in made["words_1"].caveat
    assert "sees one lemma" in made["curves_1_lemmas"].plot.layout.xaxis.title.text
    assert "sees one word form" in made["curves_1"].plot.layout.xaxis.title.text


@NEEDS
def test_it_goes_on_between_forms_and_lemmas_and_can_be_stopped(given, steps):
    assert [step.done for step in steps] == [1, 2, 3, 4]
    again = ran(given, VALUES, state=json.loads(json.dumps(steps[1].state)), tables=steps[1].tables)
    for name, table in steps[-1].tables.items():
        assert again[-1].tables[name].equals(table), name

    def stop(stage, done, total):
        if stage == "lemmas":
            raise Cancelled

    with pytest.raises(Cancelled):
        ran(given, VALUES, progress=stop)


def test_a_language_without_lemmas_is_said_in_words(given):
    """Japanese: nothing that can be installed knows it."""
    tables = ran(given, VALUES | {"language": "ja"})[-1].tables
    assert set(tables["direct_curves"]["words"]) == {"forms"}
    (said,) = tables["direct_words"].query("words == 'lemmas'")["said"]
    assert said.startswith("No lemmas for this language (Japanese)")
    for figure in dict(figures("ngram-curves", tables)).values():
        assert "No lemmas for this language (Japanese)" in figure.caveat
        assert lemmas.SAID["forms"] in figure.caveat
    with pytest.raises(UserError, match=r"No lemmas for this language \(Japanese\)"):
        ran(given, VALUES | {"language": "ja", "words": "lemmas"})


def test_forms_alone_are_what_they_were_and_say_so(given):
    tables = ran(given, VALUES | {"words": "forms"})[-1].tables
    assert tables["direct_words"]["words"].tolist() == ["forms"]
    assert all(lemmas.SAID["forms"] in figure.caveat for _, figure in figures("ngram-curves", tables))


def test_a_study_of_an_earlier_edition_begins_again(given):
    values = VALUES | {"words": "forms"}
    whole = ran(given, values)
    old = {name: table.drop(columns="words", errors="ignore") for name, table in whole[0].tables.items()}
    again = ran(given, values, state={"done": [1]}, tables=old)
    assert again[-1].tables["direct_curves"].equals(whole[-1].tables["direct_curves"])


def test_words_in_the_place_of_others():
    numbers = ngram_counts.Numbers()
    table = ngram_counts.tokens(["maja majad", "majas on"], numbers)
    made, distinct = ngram_counts.replaced(table, ["maja", "maja", "maja", "olema"])
    assert (made.ids.tolist(), made.offsets.tolist(), distinct) == ([0, 0, 0, 1], [0, 2, 4], 2)


@pytest.mark.parametrize("values", [{"words": "stems"}, {"language": "../et"}, {"language": "Estonian"}])
def test_other_settings_are_refused(values):
    with pytest.raises(UserError):
        parse(STUDY.spec, values)


def test_a_mixed_corpus_says_how_much_is_in_the_language():
    asked = lemmas.Counted(("lemmas",), languages.Lemmatiser("et", "a list", str), "et", 0.6)
    (said,) = asked.table(10, 5, 0.25)["said"]
    assert "Only 60% of the letters" in said
    assert "25% of the words" in said
    assert "Only" not in dataclasses.replace(asked, share=0.95).table(10, 5, 0.25)["said"].iloc[0]
