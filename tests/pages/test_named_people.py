"""Named people on the review page: how many units a name stands in, what a claim is worth for them, the list."""

from __future__ import annotations

from dataclasses import replace

from sqlalchemy import update

from engine.corpus.columns.mapping import ColumnMapping
from engine.dp.guarantee import Guarantee
from engine.store.database.schema import runs
from tests.pages.conftest import add_run
from tests.pages.small import NEEDLE, as_jsonl, words

BAD = f"Zoe ![{NEEDLE}](http://evil.example/a.png)"
VIEW = {"review.view": "Named people"}


def brought(small):
    """Import twelve letters in which a hostile name stands in all and a plain one in four; return the corpus' id."""
    made = []
    for i in range(12):
        names = [BAD, "Imre Falk"] if i < 4 else [BAD]
        text = f"Letter {i} by {' and '.join(names)} about number {i * 7919 % 1000}."
        spans = [
            {"start": text.index(n), "end": text.index(n) + len(n), "label": "PERSON", "identifier_type": "direct"}
            for n in names
        ]
        made.append({"record_id": f"L{i}", "text": text, "source_id": f"q{i}", "label": "other", "spans": spans})
    mapping = ColumnMapping(text="text", record_id="record_id", source_id="source_id", label="label", spans="spans")
    corpus = small.open().corpora.import_file(as_jsonl(made), "l.jsonl", mapping, name="L", unit="source", holdout=0.0)
    return corpus.id


def test_the_names_in_most_units_stand_first_and_go_onto_the_list(small, open_page):
    corpus = brought(small)
    app = open_page("review", **VIEW, **{"_ui.next_corpus": corpus})
    assert not app.exception
    shown = app.dataframe[0].value
    assert list(zip(shown["name"], shown["units"], shown["known"], strict=True)) == [
        (BAD, 12, ""), ("Imre Falk", 4, "")
    ]  # fmt: skip
    assert NEEDLE not in words(app)  # a name stands in the table's text column alone
    app.number_input(key="review.named.least").set_value(5).run()
    assert list(app.dataframe[0].value["name"]) == [BAD]
    button = app.button(key="review.named.known")
    assert button.disabled, "what the tagger took for names is no list of people: one press must not black out words"
    assert button.label == "Tick the names that are people"
    app.session_state[app.dataframe[0].key] = {"selection": {"rows": [0], "columns": [], "cells": []}}
    app.run()
    assert app.button(key="review.named.known").label == "Add 1 chosen name to the known identifiers"
    app.button(key="review.named.known").click().run()
    assert not app.exception
    assert "1 value put on the list of known identifiers" in words(app)
    assert [one.value for one in small.open().review.detector_settings(corpus).known] == [BAD]
    assert (app.dataframe[0].value["known"] == "✓").all()
    assert NEEDLE not in words(app)


def test_a_claim_is_said_for_a_group_of_the_largest_size(small, open_page):
    workspace, corpus = small.open(), brought(small)
    claim = Guarantee("dp", "A sentence.", epsilon=0.5, delta=0.0, unit="source", adjacency="zero-out")
    run_id = add_run(workspace, corpus, [])
    with workspace.session.db.write() as connection:
        connection.execute(update(runs).where(runs.c.id == run_id).values(guarantee=claim.as_dict()))
    app = open_page("review", **VIEW, **{"_ui.next_corpus": corpus})
    largest = workspace.named.spread(corpus).largest
    assert largest == 12
    assert "holds for that person less strictly" in words(app)
    assert "can become at most **98%** sure" in words(app), "10% at e^6 times the odds"
    assert list(app.dataframe[0].value["bound"]) == ["at most 98%", "at most 46%"]
    assert f"12: ε = {0.5 * largest:.3g}, δ = 0" in words(app), "in the fold"
    worse = replace(claim, epsilon=6.0)
    with workspace.session.db.write() as connection:
        connection.execute(update(runs).where(runs.c.id == run_id).values(guarantee=worse.as_dict()))
    app = open_page("review", **VIEW, **{"_ui.next_corpus": corpus})
    assert "**worth practically nothing** for that person: they are named in the texts of 12 people" in words(app)
    assert app.dataframe[0].value["bound"].iloc[0] == "no bound to speak of"
    pending = replace(claim, pending=True)
    with workspace.session.db.write() as connection:
        connection.execute(update(runs).where(runs.c.id == run_id).values(guarantee=pending.as_dict()))
    assert "bound" not in open_page("review", **VIEW, **{"_ui.next_corpus": corpus}).dataframe[0].value


def test_where_nobody_stands_in_two_it_says_so(small, open_page):
    workspace = small.open()
    frame, _ = workspace.values.table(small.corpus, labels=("PERSON",), limit=10_000)
    workspace.values.decide(small.corpus, list(frame["value_key"]), "reject", again=True)
    assert workspace.named.spread(small.corpus).largest == 0
    app = open_page("review", **VIEW)
    assert not app.exception
    assert "No name that is marked as a person stands in the texts of two" in words(app)
    assert any("What this counts" in one.label for one in app.expander)
