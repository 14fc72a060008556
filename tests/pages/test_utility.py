"""The utility page: states, uses with words, the map, lengths and phrases."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import get_args

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from engine.examine.findings.make import finding, missing
from engine.examine.findings.uses import Mark, Use, clearly_lost, headline, use_table
from engine.examine.measures import MEASURES
from engine.examine.stats.intervals import Interval
from pages._ui.utility import map as utility_map
from pages._ui.utility import sentences as utility_sentences
from pages._ui.utility import verdict as utility_verdict
from tests.pages.small import drawn_table


def words(app, *kinds: str) -> str:
    return "\n".join(str(e.value) for kind in kinds for e in getattr(app, kind))


def test_empty(empty, visit):
    assert visit("utility").button(key="utility.load").label == "Load a file"


def test_what_could_help_is_what_the_run_can_change():
    assert utility_verdict.could_help(written=True, proven=True) == (
        "What could help: another language model, a corpus of more people, or a larger ε, which is spent for good."
    )
    tried = utility_verdict.could_help(written=True, proven=True, tries_out=True)
    assert tried.startswith("The built-in model wrote this, and it is for trying out: change that first.")
    assert "spent for good" in tried
    assert "ε" not in utility_verdict.could_help(written=True, proven=False, tries_out=True)
    assert "ε" not in utility_verdict.could_help(written=False, proven=False)
    assert "another method" in utility_verdict.could_help(written=False, proven=False)


def test_a_run_that_is_too_short_says_how_long_one_would_do():
    more_texts = utility_verdict.more_texts
    few = Use("Sharing statistics", "unknown", "", "length_distance", 0.1, 33, 50, "texts")
    assert more_texts([few], 60) == (
        "The run has 60 texts, of which 33 could be held against as many real ones: one use needs about 120."
    )
    several = [few, replace(few, least=100), replace(few, least=2_300)]
    assert more_texts(several, 60).endswith("3 uses need more, about 190 for 2 of them, about 4,190 for all.")
    assert more_texts(several, 60, 430).endswith("for all. This method can make 430 of these records.")
    assert more_texts(several, 60, 5_000) == more_texts(several, 60)
    assert utility_verdict.enough(several, 60) == 190, "one that takes far more does not speak for the others"
    assert more_texts([replace(few, mark="tick")], 60) == ""
    assert more_texts([replace(few, counted="tokens")], 60) == ""
    assert "of which" not in more_texts([few, few], 33)


def test_uses_that_wait_for_texts_stand_in_one_line_behind_those_that_are_judged():
    wait = Use("Sharing statistics", "unknown", "Rests on few.", "length_distance", 0.1, 28, 50, "texts")
    other = replace(wait, use="Teaching")
    judged = replace(wait, use="Training a classifier", mark="cross", sentence="Too far.")
    silent = replace(wait, use="Searching", size=None, sentence="Nothing was measured.")
    told = utility_verdict.lines([wait, judged, silent, other])
    assert [names for names, *_ in told] == [
        ["**Training a classifier**"], ["**Sharing statistics**", "**Teaching**"], ["**Searching**"],
    ]  # fmt: skip
    assert told[1][1:] == ("unknown", "They rest on 28 texts; 50 are needed.")
    larger = replace(wait, use="Searching", least=4_600, sentence="About 4,600 would be needed.")
    told = utility_verdict.lines([wait, larger, other])
    assert [names for names, *_ in told] == [["**Sharing statistics**", "**Teaching**"], ["**Searching**"]]
    assert told[0][2] == "They rest on 28 texts; 50 are needed."
    alone = utility_verdict.lines([wait, judged])
    assert [names for names, *_ in alone] == [["**Sharing statistics**"], ["**Training a classifier**"]]


def test_running_and_failed(seeded, visit, add_run, add_job, import_small):
    workspace = seeded.open()
    corpus = import_small(workspace)
    add_run(workspace, corpus.id, [], state="failed", error="The disk is full.")
    assert "The disk is full" in words(visit("utility", **{"_ui.next_corpus": corpus.id}), "error")
    run = add_run(workspace, corpus.id, [{"text": "Made up.", "label": None, "lineage": None}])
    add_job(workspace, "examine", "running", corpus_id=corpus.id, run_id=run)
    app = visit("utility", **{"_ui.next_corpus": corpus.id, "_ui.run": run})
    assert app.get("progress")
    assert "appear here when the examination ends" in words(app, "caption")


def test_full(seeded, visit):
    app = visit("utility", **{"_ui.run": seeded.run})
    lines = [m.value for m in app.container(key="utility.verdict").markdown]
    uses = use_table(seeded.open().examinations.findings(seeded.run))
    assert len(lines) == len(utility_verdict.lines(uses)) <= len(uses)
    for use in uses:
        (line,) = [line for line in lines if f"**{use.use}**" in line]
        assert utility_verdict.MARKS[use.mark][1] in line  # the word, not only the colour
    topics = [box for box in app.expander if box.label.startswith("**")]
    assert [box.proto.expanded for box in topics] == [True] + [False] * (len(topics) - 1)
    assert topics[0].label.startswith("**Words and language** · ")
    marks = clearly_lost(seeded.open().examinations.findings(seeded.run))
    assert "cross" in marks.values()  # the outputs repeat one sentence
    for mark, word in (("cross", "far from real text"), ("warning", "apart")):
        told = [re.search(rf": (\d+) {word}]", box.label) for box in topics]
        assert sum(int(found.group(1)) for found in told if found) == list(marks.values()).count(mark)
    table = [row for box in topics for row in drawn_table(words(box, "markdown"))]
    assert {"Synthetic text", "Real against real", "Unrelated text", "Good is"} <= set(table[0])
    assert not any(row["Synthetic text"] == "not estimable" for row in table)  # they stand in one sentence
    assert all(any(row[name] for name in ("Synthetic text", "Real against real", "Unrelated text")) for row in table)
    (read,) = [one for one in app.caption if "measures could not be taken" in one.value]
    assert "Real against real" in read.help
    assert "Far from real text: clearly more than 35%" in read.help
    (drawn,) = [one for one in app.markdown if "Left: as good as real text." in (one.help or "")]
    assert "main measures" in drawn.value, "what the chart does not say stands in its help"
    (first,) = [one for one in app.caption if one.value.startswith("This is a first look")]
    assert "loses at most 10%" in first.help
    assert len(app.caption) <= 4, "no grey paragraph round the chart"
    (head,) = [m.value for m in app.container(key="utility.head").markdown]
    assert headline(uses) in head
    assert any(use.mark == "cross" for use in uses)
    said = words(app.container(key="utility.help"), "markdown")
    assert "A corpus of more people helps too" in said or "What could help: " in said
    assert app.button(key="utility.help.plan").label == "Plan a run"
    meant = visit("utility", **{"_ui.run": seeded.run, "utility.view": "What the numbers mean"})
    (told,) = [one.value for one in meant.caption if one.value.startswith("Not estimable here: ")]
    assert "Mixture of topics and styles" in told


@pytest.mark.parametrize(
    "view", ["Map of texts", "Lengths and phrases", "Classifier", "What the numbers mean", "All numbers"]
)
def test_views(seeded, visit, view):
    app = visit("utility", **{"_ui.run": seeded.run, "utility.view": view})
    if view == "Map of texts":
        assert "no map" in words(app, "caption")  # examined without an encoder
    elif view == "Lengths and phrases":
        assert "Half of the synthetic records" in words(app, "markdown")
        assert set(app.dataframe[0].value["Phrase"].str.split().str.len()) == {1}
    elif view == "Classifier":
        assert "labels of the holdout" in words(app, "markdown")
    elif view == "All numbers":
        assert len(app.dataframe[0].value) == sum(
            f.group == "utility" for f in seeded.open().examinations.findings(seeded.run)
        )
    else:
        assert "Keep in mind: " in words(app, "markdown")


def test_labels_stand_in_a_table_and_never_in_markdown(seeded, visit):
    label = "[rash](http://x) **bold**"
    rows = [
        (label, "train", 0.4, 0.3, 0.5, 0.4, 40, 100.0, ""), (label, "real", 0.6, 0.5, 0.7, 0.6, 40, 100.0, ""),
        (label, "gap", 0.2, -0.05, 0.45, np.nan, 40, np.nan, ""),
        ("rare", "train", np.nan, np.nan, np.nan, np.nan, 3, np.nan, "fewer than 10 holdout records"),
    ]  # fmt: skip
    columns = ["label", "reference", "f1", "low", "high", "recall", "asked", "trained_on", "why"]
    groups = pd.DataFrame(
        [("sex", "F", "train", 0.4, 0.3, 0.5, 2, 30, ""), ("sex", "F", "real", 0.5, 0.4, 0.6, 2, 30, "")],
        columns=["column", "value", "reference", "f1", "low", "high", "labels", "asked", "why"],
    )
    tables = {"classifier_labels": pd.DataFrame(rows, columns=columns), "classifier_groups": groups}
    seeded.open().examinations.save_tables(seeded.run, tables)
    app = visit("utility", **{"_ui.run": seeded.run, "utility.view": "Classifier"})
    table = app.dataframe[0].value.set_index("Label")
    assert table.loc[label, "Synthetic"] == "0.40 (0.30 to 0.50)"
    assert table.loc[label, "Lost"] == "0.20 (−0.05 to 0.45)"
    assert table.loc["rare", "Synthetic"] == "too few"
    assert app.dataframe[1].value["Value"].tolist() == ["F"]
    assert "rash" not in words(app, "markdown", "caption")


def test_columns_stand_beside_chance_and_what_text_does_not_tell_is_said(seeded, visit):
    name = "[ward](http://x) **bold**"
    rows = [
        (task, reference, value, *ends, 3, 120, 200.0, "" if task == name else "the text does not tell")
        for task in (name, "year")
        for reference, value, ends in (
            ("train", 0.5, (0.4, 0.6)), ("real", 0.7, (0.6, 0.8)), ("gap", 0.2, (0.05, 0.35)),
            ("teacher", 0.8, (0.7, 0.9)), ("chance", 0.33, (np.nan, np.nan)),
        )
    ]  # fmt: skip
    columns = ["task", "reference", "f1", "low", "high", "values", "asked", "trained_on", "why"]
    seeded.open().examinations.save_tables(seeded.run, {"classifier_columns": pd.DataFrame(rows, columns=columns)})
    app = visit("utility", **{"_ui.run": seeded.run, "utility.view": "Classifier"})
    (table,) = [t.value for t in app.dataframe if "Column" in t.value and "Chance" in t.value]
    table = table.set_index("Column")
    assert table.loc[name, "Synthetic"] == "0.50 (0.40 to 0.60)"
    assert table.loc[name, "Chance"] == "0.33"
    assert table["Told?"].to_dict() == {name: "yes", "year": "not clearly"}
    assert "ward" not in words(app, "markdown", "caption")


def test_types_of_details_stand_beside_real_text(seeded, visit):
    rows = [("PERSON", "train", 0.4, 0.3, 0.5, 40), ("PERSON", "real", 0.6, 0.5, 0.7, 40),
            ("PERSON", "gap", 0.2, -0.05, 0.45, 40)]  # fmt: skip
    table = pd.DataFrame(rows, columns=["type", "reference", "f1", "low", "high", "asked"])
    seeded.open().examinations.save_tables(seeded.run, {"extraction_types": table})
    app = visit("utility", **{"_ui.run": seeded.run, "utility.view": "Classifier"})
    (shown,) = [t.value for t in app.dataframe if "Type" in t.value]
    assert shown.iloc[0].to_dict() == {
        "Type": "person name", "Asked": 40, "Synthetic": "0.40 (0.30 to 0.50)", "As much real": "0.60 (0.50 to 0.70)",
        "Lost": "0.20 (−0.05 to 0.45)",
    }  # fmt: skip


def test_a_transformer_is_trained_on_request(seeded, visit):
    app = visit("utility", **{"_ui.run": seeded.run, "utility.view": "Classifier"})
    app.button(key=f"utility.tuned.{seeded.run}").click().run()
    workspace = seeded.open()
    (job,) = [j for j in workspace.jobs.all() if j.kind == "examine" and j.run_id == seeded.run]
    assert not [b for b in app.button if b.key == f"utility.tuned.{seeded.run}"]
    workspace.jobs.cancel(job.id)


@pytest.mark.parametrize(
    ("held", "said"),
    [
        (
            "the people asked and those trained on, each time from another start; not of writing the text anew",
            "Brackets",
        ),
        ("the people asked; not of training or writing the text anew", "One training a side"),  # as it was kept before
    ],
)
def test_brackets_of_a_trained_transformer_say_what_they_hold(held, said):
    def show(interval_is_of: str) -> None:
        from engine.examine.findings.make import finding
        from engine.examine.stats.intervals import Interval
        from pages._ui.utility.classifier import trained

        interval = Interval(0.5, 0.4, 0.6, 60, "bootstrap", "a source")
        names = (("tuned_f1", "train"), ("tuned_f1", "real"), ("tuned_gap", "real"))
        found = [finding(name, reference, interval, interval_is_of=interval_is_of) for name, reference in names]
        trained(None, None, found)  # where the transformer is trained, neither workspace nor run is asked

    app = AppTest.from_function(show, args=(held,)).run()
    assert not app.exception
    (caption,) = app.caption
    assert caption.value.startswith(said)


def test_map_shows_ids_and_reads_synthetic_text_only(seeded, visit):
    workspace = seeded.open()
    made = [str(i) for i in workspace.runs.synthetic(seeded.run, limit=3)["record_id"]]
    private = [str(i) for i in workspace.corpora.records(seeded.corpus, split="train", limit=3)["record_id"]]
    table = pd.DataFrame({
        "x": np.arange(6.0), "y": np.arange(6.0), "kind": ["synthetic"] * 3 + ["private"] * 3,
        "record_id": made + private, "label": None,
    })  # fmt: skip
    workspace.examinations.save_tables(seeded.run, {"map": table})
    app = visit("utility", **{"_ui.run": seeded.run, "utility.view": "Map of texts"})
    (chart,) = app.get("plotly_chart")
    spec = chart.spec
    text = str(workspace.runs.synthetic(seeded.run, limit=1)["text"].iloc[0])
    assert made[0] in spec
    assert text[:30] not in spec
    assert not [record for record in private if f'"{record}"' in spec]
    assert not app.text


def test_topics_are_named_with_their_shares(seeded, visit):
    table = pd.DataFrame({
        "topic": [2, 1], "words": ["knee, walking", ""], "synthetic_share": [0.25, 0.75], "real_share": [0.5, 0.5],
        "synthetic_texts": [1, 3], "real_texts": [2, 2], "internal": True,
    })  # fmt: skip
    seeded.open().examinations.save_tables(seeded.run, {"topics": table})
    app = visit("utility", **{"_ui.run": seeded.run, "utility.view": "Map of texts"})
    shown = app.dataframe[0].value
    assert list(shown["Telling words"]) == ["knee, walking", "(none is common enough)"]
    assert list(shown["Difference"]) == [-25.0, 25.0]
    assert "never leaves with a release" in words(app, "caption")


def test_likeness_among_texts_stands_beside_both_private_halves(seeded, visit):
    app = visit("utility", **{"_ui.run": seeded.run, "utility.view": "Map of texts"})
    assert not app.get("plotly_chart"), "examined before it was kept"
    kinds = ("synthetic", "private", "other private")
    table = pd.concat([pd.DataFrame({"kind": k, "cosine": [0.1, 0.5], "share": [0.4, 0.6], "texts": 9}) for k in kinds])
    seeded.open().examinations.save_tables(seeded.run, {"likeness": table})
    app = visit("utility", **{"_ui.run": seeded.run, "utility.view": "Map of texts"})
    assert len(json.loads(app.get("plotly_chart")[0].spec)["data"]) == 3
    assert "alike by at least 0.50" in words(app, "markdown")


def test_chosen_points_are_told_apart_by_curve():
    points = [
        {"customdata": ["s-1", "synthetic", ""]},
        {"customdata": ["s-1", "synthetic", "Another run"]},
        {"customdata": ["", "private", ""]},
        {"customdata": ["x"]},
        {"customdata": None},
        {},
    ]
    assert utility_map.chosen({"selection": {"points": points}}) == {
        ("synthetic", ""): ["s-1"], ("synthetic", "Another run"): ["s-1"], ("private", ""): [""],
    }  # fmt: skip
    assert utility_map.chosen(None) == {}


def test_points_carry_kind_and_run_and_ids_of_synthetic_records_alone():
    from engine.figures.text_map import text_map

    table = pd.DataFrame(
        {"x": [0.0, 1.0], "y": [0.0, 1.0], "kind": ["synthetic", "private"], "record_id": ["s-1", "C1"]}
    )
    drawn = [point for trace in text_map(table, others={"B": table}).plot.data for point in trace.customdata.tolist()]
    assert drawn == [["", "private", ""], ["s-1", "synthetic", ""], ["s-1", "synthetic", "B"]]


def plane(seeded, run: str) -> pd.DataFrame:
    """Return the map of a run on the plane of its corpus, as an examination with an embedder keeps it."""
    workspace = seeded.open()
    made = [str(i) for i in workspace.runs.synthetic(run, limit=12)["record_id"]]
    private = [str(i) for i in workspace.corpora.records(seeded.corpus, split="train", limit=12)["record_id"]]
    at = np.arange(24.0)
    return pd.DataFrame({
        "kind": ["private"] * 12 + ["synthetic"] * 12, "record_id": private + made, "label": ["a", "b", None] * 8,
        "x": at, "y": at % 5, "tsne_x": at % 7, "tsne_y": at, "nearest": [np.nan] * 12 + [0.1] * 12,
    })  # fmt: skip


def test_the_map_by_label_distance_layout_and_run(seeded, visit):
    workspace = seeded.open()
    for run in (seeded.run, seeded.other):
        workspace.examinations.save_tables(run, {"map": plane(seeded, run)})
    app = visit("utility", **{"_ui.run": seeded.run, "utility.view": "Map of texts"})
    for colour in ("label", "nearest"):
        app.radio(key="utility.map.colour").set_value(colour).run()
        assert not app.exception
    app.radio(key="utility.map.layout").set_value("tsne").run()
    app.multiselect(key=f"utility.map.others.{seeded.run}").set_value([seeded.other]).run()
    assert not app.exception
    spec = json.loads(app.get("plotly_chart")[0].spec)
    runs = {point[2] for trace in spec["data"] for point in trace["customdata"] if point[1] == "synthetic"}
    assert len(runs) == 2


def test_a_run_on_another_plane_is_not_drawn(seeded, visit):
    workspace = seeded.open()
    workspace.examinations.save_tables(seeded.run, {"map": plane(seeded, seeded.run)})
    workspace.examinations.save_tables(seeded.other, {"map": plane(seeded, seeded.other).tail(12)})
    app = visit("utility", **{"_ui.run": seeded.run, "utility.view": "Map of texts"})
    app.multiselect(key=f"utility.map.others.{seeded.run}").set_value([seeded.other]).run()
    assert "is not drawn" in words(app, "caption")


def test_a_damaged_plane_is_laid_out_again(seeded):
    workspace = seeded.open()
    assert workspace.examinations.corpus_map(seeded.corpus) is None
    workspace.examinations.save_corpus_map(seeded.corpus, plane(seeded, seeded.run))
    assert workspace.examinations.corpus_map(seeded.corpus) is not None
    path = workspace.session.folder.corpus(seeded.corpus) / "map.parquet"
    path.write_bytes(path.read_bytes()[:100])
    assert workspace.examinations.corpus_map(seeded.corpus) is None


def test_every_mark_has_a_word():
    assert set(utility_verdict.MARKS) == set(get_args(Mark))
    assert len({word for _, word, _ in utility_verdict.MARKS.values()}) == len(get_args(Mark))


def test_settings_of_each_number_stand_beside_it(seeded, visit):
    app = visit("utility", **{"_ui.run": seeded.run, "utility.view": "All numbers"})
    table = app.dataframe[0].value
    known = [f for f in seeded.open().examinations.findings(seeded.run) if f.group == "utility"]
    assert len(table) == len(known)
    for said, one in zip(table["Settings"], known, strict=True):
        for name, value in one.settings.items():
            if name in ("method", "source", "why") or value in (None, [], {}):
                assert f"{name}: " not in said
            else:
                assert f"{name.replace('_', ' ')}: " in said
    (sizes,) = [f for f in known if f.name == "length_distance" and f.reference == "train"]
    assert f"texts a side: {sizes.settings['texts_a_side']:,}" in table["Settings"][known.index(sizes)]


def test_perplexities_and_chance_are_said_where_they_were_measured(monkeypatch):
    said: list[str] = []
    monkeypatch.setattr(utility_sentences.st, "caption", said.append)
    bits = {"train": 7.0, "real": 5.5, "unrelated": 10.0}
    findings = [
        finding("next_word_loss", side, Interval(value, None, None, 9, "none", "none"), untrained=13.0)
        for side, value in bits.items()
    ]  # fmt: skip
    utility_sentences.language(findings)
    assert "128 from the synthetic text, 45.3 from as much real text, 1,024 from as much unrelated text" in said[0]
    assert "8,192 without training" in said[0]
    assert utility_sentences.perplexity(25.0) == "over a million"
    assert "knows" not in said[0]  # no share of next words was measured
    known = finding("next_word", "train", Interval(0.2, None, None, 9, "none", "none"), untrained=0.004)
    utility_sentences.language([*findings, known])
    assert "Without training the model knows 0.4% of the next words" in said[1]
    utility_sentences.language(findings[:1])
    utility_sentences.language([missing("next_word_loss", side, "too few") for side in ("train", "real")])
    assert len(said) == 2
    far, near = (
        finding("kid", side, Interval(0.1, None, None, 9, "none", "none"), p=p)
        for side, p in (("train", 0.001), ("real", 0.43))
    )
    utility_sentences.meaning([far, near])
    assert "p = 0.001 for the synthetic text, p = 0.43 for real against real" in said[2]
    utility_sentences.meaning([far])
    assert len(said) == 3


def test_what_measured_meaning_is_said_where_it_was_not_the_english_model():
    def page(embedder: str, why: str) -> None:
        from engine.examine.findings.embedders import marked
        from engine.examine.findings.make import finding
        from engine.examine.stats.intervals import Interval
        from pages._ui.utility import sentences

        found = [finding("kid", side, Interval(0.1, 0.0, 0.2, 90, "", ""), p=0.5) for side in ("train", "real")]
        sentences.meaning(marked(found, embedder, why))

    def said(embedder: str, why: str = "") -> str:
        app = AppTest.from_function(page, kwargs={"embedder": embedder, "why": why}).run()
        assert not app.exception
        return words(app, "caption")

    assert "Meaning was measured" not in said("all-MiniLM-L6-v2")
    assert "by character n-grams, since most of the text is not English: they follow words more" in said(
        "character n-grams", "most of the text is not English"
    )
    assert "by character n-grams: they follow words" in said("character n-grams")
    assert "by the sentence model many (12345678)." in said("many (12345678)")


def test_measures_that_lie_apart_are_named_above_their_table():
    from pages._ui.utility.measures import named, said

    marks = {"js_2gram": "cross", "kid": "warning"}
    names = ["js_2gram", "kid", "mauve"]
    told = named(names, marks)
    assert told.count(MEASURES["js_2gram"].title) == told.count(MEASURES["kid"].title) == 1
    assert told.index("Far from real text:") < told.index(MEASURES["js_2gram"].title) < told.index("Apart:")
    assert MEASURES["mauve"].title not in told
    assert len(said(names, marks)) == 3, "the heading counts what the line names"
    assert named(["mauve"], marks) == ""


def test_as_many_texts_can_be_made_as_plan_offers(seeded):
    """Utility said 93, one a person, where Plan offers 402, one a record."""
    workspace = seeded.open()
    run = workspace.runs.get(seeded.other)
    spec = next(one for one in workspace.plan.methods() if one.id == run.method)
    assert (spec.one_to_one, spec.kind) != (True, "dp")
    most = utility_verdict._most(workspace, run)
    assert most == (workspace.ledger.facts(seeded.corpus).records if spec.one_to_one else None)
    assert {one.kind for one in workspace.plan.methods() if one.one_to_one}.isdisjoint({"dp"}), "Plan takes all records"


def test_the_measures_are_folded_and_plan_leads_where_no_use_could_be_judged(seeded, visit, monkeypatch):
    app = visit("utility", **{"_ui.run": seeded.run})
    assert not [box for box in app.expander if box.label.startswith("The measures: ")]
    wait = Use("Teaching", "unknown", "Rests on few.", "length_distance", 0.1, 28, 50, "texts")
    monkeypatch.setattr(utility_verdict, "use_table", lambda findings: (wait, replace(wait, use="Searching")))
    app = visit("utility", **{"_ui.run": seeded.run})
    (box,) = [box for box in app.expander if box.label.startswith("The measures: ")]
    assert not box.proto.expanded
    assert app.button(key="utility.few.plan").proto.type == "primary"
