"""Likely noise: what an examination set aside is told on Privacy and listed in Review, by digest alone."""

from __future__ import annotations

import pandas as pd

from engine.examine.values.shared import COLUMNS, TABLE
from pages._ui.privacy import leaks as privacy_leaks
from pages._ui.review import values as review_values
from tests.store.span_tables import add_span


def words(app, *kinds: str) -> str:
    return "\n".join(str(e.value) for kind in (kinds or ("markdown", "caption")) for e in getattr(app, kind))


def set_aside(workspace, seeded, *, found: bool = True) -> str:
    """Mark the first word of a training record, and have the examinations say that it was set aside; return it."""
    row = workspace.corpora.records(seeded.corpus, split="train", limit=1).iloc[0]
    record, word = str(row["record_id"]), str(row["text"]).split()[0]
    add_span(workspace, seeded.corpus, record, 0, len(word), "ORGANISATION")
    rows = [(0, record, 0, len(word), "ORGANISATION", "quasi", 1, 90, 100)] if found else []
    for run in (seeded.run, seeded.other):
        pd.DataFrame(rows, columns=COLUMNS).to_parquet(workspace.session.folder.run(run) / f"{TABLE}.parquet")
    return word


def test_what_was_set_aside_leads_to_its_values_in_review(seeded, visit):
    workspace = seeded.open()
    word = set_aside(workspace, seeded)
    app = visit("privacy", **{"privacy.view": "Leaks", "privacy.run": seeded.run})
    found = {(f.name, f.reference): f for f in workspace.examinations.findings(seeded.run)}
    count = found["strict_pipp", "train"].settings["set_aside"]
    assert count > 1  # years and the like, in the records of many people
    assert f"Not counted: {count} values" in words(app)
    app.button(key=f"privacy.shared.{seeded.run}").click().run()
    assert not app.exception
    assert app.session_state["review.view"] == review_values.VIEW
    assert app.title[0].value == "Review"
    assert app.checkbox(key=review_values.NOISE).value
    (table,) = (frame.value for frame in app.dataframe if "value" in frame.value)
    assert list(table["value"]) == [word]
    app = visit("review", **{"review.view": review_values.VIEW})
    assert len(next(frame.value for frame in app.dataframe if "value" in frame.value)) > 1


def test_nothing_is_offered_where_nothing_was_set_aside(seeded, visit):
    set_aside(seeded.open(), seeded, found=False)
    app = visit("review", **{"review.view": review_values.VIEW})
    assert not [box for box in app.checkbox if box.key == review_values.NOISE]


def test_a_mark_that_names_nobody_leads_to_its_value_in_review(seeded, visit):
    workspace = seeded.open()
    app = visit("privacy", **{"privacy.view": "Leaks", "privacy.run": seeded.run})
    (menu,) = [one for one in app.get("menu_button") if one.label == "No identifier"]
    record = str(menu.key).rsplit(".", 1)[1]
    text = str(workspace.runs.synthetic(seeded.run, ids=[record]).iloc[0]["text"])
    values = privacy_leaks.values_of(text, privacy_leaks.of_record(workspace, seeded.run, record))
    assert values
    assert all(value in " ".join(text.split()) for value in values)
    value = list(values)[1]
    menu.click(value).run()
    assert not app.exception
    assert app.title[0].value == "Review"
    assert app.session_state["review.view"] == review_values.VIEW
    (table,) = (frame.value for frame in app.dataframe if "value" in frame.value)
    assert len(table)
    assert all(value.casefold() in str(one).casefold() for one in table["value"])


def test_a_finding_leads_to_the_decisions_on_its_records(seeded, visit):
    app = visit("privacy", **{"privacy.run": seeded.other})
    app.button(key=f"privacy.release.{seeded.other}").click().run()
    assert not app.exception
    assert app.title[0].value == "Release"
    assert app.selectbox(key="release.run").value == seeded.other


def test_a_list_of_passages_that_is_cut_says_so(seeded, visit, monkeypatch):
    assert "At least" not in words(visit("privacy", **{"privacy.view": "Leaks", "privacy.run": seeded.run}))
    monkeypatch.setattr("engine.LEAKS_LISTED", 5)
    app = visit("privacy", **{"privacy.view": "Leaks", "privacy.run": seeded.run})
    assert "records of" in words(app).split("At least ", 1)[1][:16]
