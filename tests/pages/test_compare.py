"""The compare page: better, worse or cannot tell; the board; texts side by side."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from engine.examine.findings import Finding
from pages._ui.compare import board as compare_board
from pages._ui.compare import table as compare_table


def words(app, *kinds: str) -> str:
    return "\n".join(str(e.value) for kind in kinds for e in getattr(app, kind))


def test_empty(empty, visit):
    assert "Nothing loaded yet" in words(visit("compare"), "subheader")


def test_one_examined_run_is_not_enough(seeded, visit):
    seeded.open().runs.delete(seeded.other)
    app = visit("compare")
    assert "Two examined runs are needed" in words(app, "subheader")


def test_full(seeded, visit):
    app = visit("compare", **{"compare.runs": [seeded.other, seeded.run]})
    assert app.multiselect(key="compare.runs").value == [seeded.other, seeded.run]
    sentence = next(m.value for m in app.markdown if "against" in m.value)
    assert "B · Three-stage filter" in sentence
    table = app.dataframe[0].value
    assert "A · Surrogate replacement" in table.columns
    column = "B against A"
    copies = table[(table["Finding"] == "Records with an eight-word copy") & (table["Held against"] == "training part")]
    assert copies[column].iloc[0] == "▲ better"  # 12 copies of 120 against 90 of 120


def test_context_is_shown_on_request(seeded, visit):
    app = visit("compare", **{"compare.runs": [seeded.other, seeded.run]})
    judged = app.dataframe[0].value
    assert all(judged["B against A"] != "")
    app.toggle(key="compare.context").set_value(True).run()
    full = app.dataframe[0].value
    assert len(full) > len(judged)
    assert "real records nobody used" in set(full["Held against"])


def test_one_run_chosen(seeded, visit):
    app = visit("compare", **{"compare.runs": [seeded.run]})
    assert "at least two" in words(app, "info")


@pytest.mark.parametrize("view", ["Board", "Texts"])
def test_views(seeded, visit, view):
    app = visit("compare", **{"compare.view": view, "compare.runs": [seeded.run, seeded.other]})
    if view == "Texts":
        shown = [str(e.value) for e in app.text]
        assert shown[0] == str(seeded.open().runs.synthetic(seeded.run, limit=1)["text"].iloc[0])
        app.number_input(key="compare.text").set_value(120).run()
        assert "point 833" in str(app.text[0].value)
    else:
        assert app.get("plotly_chart")


def test_running_and_failed(seeded, visit, add_run, import_small):
    workspace = seeded.open()
    corpus = import_small(workspace)
    run = add_run(workspace, corpus.id, [], state="failed", error="The disk is full.")
    app = visit("compare", **{"_ui.next_corpus": corpus.id})
    assert "The disk is full" in words(app, "error")
    add_run(workspace, corpus.id, [], state="running")
    app = visit("compare", **{"_ui.next_corpus": corpus.id})
    assert "running" in words(app, "info") + words(app, "markdown")
    assert workspace.runs.get(run).state == "failed"


def test_stale(seeded, visit):
    workspace = seeded.open()
    record = str(workspace.corpora.records(seeded.corpus, split="train", limit=1)["record_id"].iloc[0])
    workspace.review.add_span(seeded.corpus, record, 0, 3, "PERSON")
    assert "Out of date" in words(visit("compare"), "warning")


def test_board_offers_only_what_every_run_has():
    def finding(name: str, value: float, group: str = "privacy") -> Finding:
        return Finding(name, value, None, None, 1, "train", name, "lower is safer", group)  # type: ignore[arg-type]

    findings = {
        "a": [finding("pipp", 0.1), finding("verbatim_8gram", 0.2), finding("elp", float("nan"))],
        "b": [finding("verbatim_8gram", 0.2), finding("elp", 0.1), finding("mauve", 0.2, "utility")],
    }
    assert compare_board.common(findings, "privacy") == ["verbatim_8gram"]
    assert compare_board.common(findings, "utility") == []


def test_cell():
    nan = float("nan")
    assert compare_table.cell("pipp", 0.25, 0.2, 0.3) == "25.0% (20.0% to 30.0%)"
    assert compare_table.cell("pipp", 0.25, nan, nan) == "25.0%"
    assert compare_table.cell("pipp", nan, nan, nan) == "–"


def test_what_was_not_measured_is_neither_judged_nor_drawn():
    """Rows without a number in any run are left out; the sentence counts only what both runs have."""
    nothing = float("nan")

    def rows(value: float) -> list[Finding]:
        return [
            Finding("pipp", value, value - 0.01, value + 0.01, 100, "train", "share", "lower is safer", "privacy"),
            Finding("perplexity", nothing, None, None, 0, "train", "score", "lower is safer", "privacy"),
        ]

    table = compare_table.build({"r-1": rows(0.5), "r-2": rows(0.1)})
    (sentence,) = compare_table.sentences(table, {"r-1": "A · One", "r-2": "B · Two"})
    assert "privacy: better on 1, worse on 0, cannot tell on 0 of the 1 measured in both" in sentence

    def page() -> None:
        import streamlit as st

        from pages._ui.compare import table as compare_table

        compare_table.draw(st.session_state["table"], {"r-1": "A · One", "r-2": "B · Two"}, "privacy", context=False)

    app = AppTest.from_function(page, default_timeout=30)
    app.session_state["table"] = table
    app.run()
    assert list(app.dataframe[0].value["B against A"]) == ["▲ better"]
    assert "Left out: 1 row that" in words(app, "caption")
