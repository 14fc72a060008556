"""Likely noise: what an examination set aside is told on Privacy and listed in Review, by digest alone."""

from __future__ import annotations

import pandas as pd

from engine.examine.values.shared import COLUMNS, TABLE
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
