"""The ledger page: uses and releases of the whole workspace, the audit log and its check.

What is about a corpus' budget is tested in test_budget.py.
"""

from __future__ import annotations

import sqlite3

from pages._ui.ledger import events as ledger_events


def words(app, *kinds: str) -> str:
    return "\n".join(str(e.value) for kind in kinds for e in getattr(app, kind))


def test_empty(empty, visit):
    app = visit("ledger")
    assert "Nothing has happened yet" in words(app, "subheader")
    assert app.button(key="ledger.verify").disabled


WHOLE = {"ledger.scope": "Whole workspace"}


def events(app):
    return next(frame.value for frame in app.dataframe if "Effect on the formal total" in frame.value)


def test_a_release_without_proof_makes_the_total_unbounded(seeded, visit):
    workspace = seeded.open()
    workspace.runs.approve_all_pending(seeded.run)
    workspace.releases.make(seeded.run, "exploratory", accept_unbounded=True)
    app = visit("ledger", **WHOLE)
    assert "1 release left" in words(app, "markdown")
    table = events(app)
    row = table[table["What"] == "Released"].iloc[0]
    assert row["Effect on the formal total"] == "unbounded from here on"
    assert "exploratory" in row["Details"]


def test_audit_holds_and_a_change_is_found(seeded, visit):
    app = visit("ledger")
    app.button(key="ledger.verify").click().run()
    assert "hold together" in words(app, "success")
    with sqlite3.connect(seeded.open().folder.database) as connection:  # someone with the file in hand
        for (name,) in connection.execute("select name from sqlite_master where type = 'trigger'").fetchall():
            connection.execute(f"drop trigger {name}")
        connection.execute("update audit set actor = 'nobody' where seq = 2")
    app.button(key="ledger.verify").click().run()
    assert "Line 2 is the first" in words(app, "error")


def test_export_has_every_line_and_no_text(seeded):
    workspace = seeded.open()
    for number in range(30):
        workspace.audit.note("looked", f"r-{number}")
    exported = ledger_events.all_lines(workspace).decode()
    assert exported.count("\n") == workspace.audit.verify()["lines"] + 1
    text = str(workspace.corpora.records(seeded.corpus, limit=1)["text"].iloc[0])
    assert text[:40] not in exported


def test_scope(seeded, visit, import_small):
    workspace = seeded.open()
    other = import_small(workspace)
    app = visit("ledger", **{"_ui.next_corpus": other.id})
    assert "Spends, touches and releases" in words(app, "subheader")
    app = visit("ledger", **{"_ui.next_corpus": other.id}, **WHOLE)
    assert "Spends, touches and releases" not in words(app, "subheader")
    assert {"Loaded", "Run finished", "Examined"} <= set(events(app)["What"])


def test_running_and_failed_runs_are_told_apart(seeded, visit, add_run):
    workspace = seeded.open()
    add_run(workspace, seeded.corpus, [], state="failed", error="x")
    add_run(workspace, seeded.corpus, [], state="running")
    details = list(events(visit("ledger", **WHOLE))["Details"])
    assert sum("failed" in line for line in details) == 1
    assert not any("running" in line for line in details)
