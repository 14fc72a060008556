"""The ledger page: uses and releases of the whole workspace, the audit log and its check.

What is about a corpus' budget is tested in test_budget.py.
"""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pandas as pd

from engine import ReleaseSummary
from pages._ui.ledger import events as ledger_events
from pages._ui.ledger import names as ledger_names
from pages._ui.ledger import since as ledger_since
from pages._ui.ledger import words as ledger_words
from pages._ui.parts import wrapped
from pages._ui.plan import wizard
from pages._ui.texts import when


def words(app, *kinds: str) -> str:
    return "\n".join(str(e.value) for kind in kinds for e in getattr(app, kind))


def test_empty(empty, visit):
    app = visit("ledger")
    assert "No budget and no use yet" in words(app, "subheader")
    assert not [one.key for one in (*app.radio, *app.tabs, *app.dataframe)], "nothing stands above what is empty"
    assert "ledger.verify" not in [one.key for one in app.button], "there is no line to check"


WHOLE = {"ledger.scope": "Whole workspace"}


def events(app):
    return next(frame.value for frame in app.dataframe if "Effect on the formal total" in frame.value)


def test_a_release_without_proof_makes_the_total_unbounded(seeded, visit):
    workspace = seeded.open()
    workspace.runs.approve_all_pending(seeded.run)
    workspace.releases.make(seeded.run, "exploratory", accept_unbounded=True)
    app = visit("ledger", **WHOLE)
    assert "1 release built" in words(app, "markdown")
    table = events(app)
    row = table[table["What"] == "Released"].iloc[0]
    assert row["Effect on the formal total"] == "unbounded from here on"
    assert row["Details"].endswith("policy “Exploratory”")


def test_audit_holds_and_a_change_is_found(seeded, visit):
    app = visit("ledger")
    app.button(key="ledger.verify").click().run()
    assert "hold together" in words(app, "success")
    with sqlite3.connect(seeded.open().folder.database) as connection:  # someone with the file in hand
        for (name,) in connection.execute("select name from sqlite_master where type = 'trigger'").fetchall():
            connection.execute(f"drop trigger {name}")
        connection.execute("update audit set actor = 'nobody' where seq = 2")
    app.button(key="ledger.verify").click().run()
    assert "Line 2 was changed." in words(app, "error")


def test_a_run_that_was_changed_and_one_of_an_earlier_edition_are_told(seeded, visit):
    from tests.store.test_held_runs import earlier

    workspace = seeded.open()
    earlier(workspace)
    app = visit("ledger")
    app.button(key="ledger.verify").click().run()
    assert "hold together" in words(app, "success")
    assert any("outside of the log" in box.label for box in app.expander)
    assert f"Run {seeded.run}: an earlier edition made it" in words(app, "markdown")
    with sqlite3.connect(workspace.folder.database) as connection:
        connection.execute("update runs set method = 'public' where id = ?", (seeded.run,))
    app.button(key="ledger.verify").click().run()
    assert f"Run {seeded.run}: its corpus, method or count is another" in words(app, "error")


def test_both_files_can_be_asked_for(seeded, visit):
    app = visit("ledger")
    buttons = {one.proto.id.rsplit("-", 1)[-1]: one.proto.disabled for one in app.get("download_button")}
    assert {"ledger.export.csv": False, "ledger.export.json": False}.items() <= buttons.items()


def test_scope(seeded, visit, import_small):
    workspace = seeded.open()
    other = import_small(workspace)
    app = visit("ledger", **{"_ui.next_corpus": other.id})
    assert [button for button in app.button if button.key == "ledger.lines.verify"]
    app = visit("ledger", **{"_ui.next_corpus": other.id}, **WHOLE)
    assert not [button for button in app.button if button.key == "ledger.lines.verify"]
    assert {"Loaded", "Run finished", "Examined"} <= set(events(app)["What"])


def test_running_and_failed_runs_are_told_apart(seeded, visit, add_run):
    workspace = seeded.open()
    add_run(workspace, seeded.corpus, [], state="failed", error="x")
    add_run(workspace, seeded.corpus, [], state="running")
    details = list(events(visit("ledger", **WHOLE))["Details"])
    assert sum("failed" in line for line in details) == 1
    assert not any("running" in line for line in details)


def audit(app):
    return next(frame.value for frame in app.dataframe if "Chained hash" in frame.value)


def test_the_log_speaks_in_names_and_follows_the_scope(seeded, visit, import_small):
    workspace = seeded.open()
    other = import_small(workspace)
    workspace.runs.approve_all_pending(seeded.run)
    workspace.runs.describe(seeded.run, name="The one for teaching", note="")
    gone = import_small(workspace)
    workspace.corpora.delete(gone.id)
    whole = audit(visit("ledger", **WHOLE))
    shown = dict(zip(whole["What"] + " " + whole["Id"], whole["About"], strict=True))
    assert "The one for teaching" in shown[f"Records approved together {seeded.run}"]
    assert shown[f"Corpus imported {other.id}"] == "Small"
    assert shown[f"Corpus deleted {gone.id}"] == "a deleted corpus"
    assert not any("pop-" in line or "c-" in line for line in whole["Details"])
    mine = audit(visit("ledger", **{"_ui.next_corpus": other.id}))
    assert set(mine["About"]) == {"Small"}
    first = audit(visit("ledger", **{"_ui.next_corpus": seeded.corpus}))
    assert {seeded.run, seeded.corpus} <= set(first["Id"])
    assert other.id not in set(first["Id"])


def test_an_examination_that_was_cancelled_stands_in_the_log(seeded, visit):
    workspace = seeded.open()
    assert workspace.jobs.cancel(workspace.jobs.examine(seeded.run, model_attacks=False))
    log = audit(visit("ledger", **{"_ui.next_corpus": seeded.corpus}))
    assert list(log["What"][:2]) == ["Job cancelled", "Examination started"]
    assert set(log["Id"][:2]) == {seeded.run}
    assert log["What happened"].iloc[0] == "Job cancelled: measuring privacy and …"
    assert log["What happened"].iloc[1] == "Examination started: a quick look"


def test_people_of_corpora_that_are_called_the_same_are_told_apart(seeded):
    from pages._ui.ledger import names

    workspace = seeded.open()
    workspace.corpora.rename(workspace.corpora.import_sample("court_decisions").id, "Twin")
    workspace.corpora.rename(workspace.corpora.import_sample("support_tickets").id, "Twin")
    groups = {corpus.population for corpus in workspace.corpora.all() if corpus.name == "Twin"}
    assert len(groups) == 2
    found = names.read(workspace)
    assert len({found[group] for group in groups}) == 2
    assert all("people of Twin" in found[group] for group in groups)


def test_a_release_with_a_proof_is_not_called_unbounded(seeded, visit):
    from engine.dp.guarantee import Guarantee
    from tests.store.making import made_with

    workspace = seeded.open()
    claim = Guarantee(
        "dp", "Proven.", epsilon=2.0, delta=1e-6, unit="source", adjacency="zero-out", scope="the complete output"
    )
    made_with(workspace.session, seeded.run, guarantee=claim.as_dict())
    workspace.runs.approve_all_pending(seeded.run)
    workspace.releases.make(seeded.run, "exploratory", accept_unbounded=False)
    table = events(visit("ledger", **WHOLE)).set_index("What")
    column = "Effect on the formal total"
    assert table.loc["Released", column] == "none beyond what the run drew"
    assert "drew on the budget: ε = 2" in set(table.loc["Run finished", column])
    assert "none while it stays here" in set(table.loc["Run finished", column])  # the other run has no proof


def test_a_trial_and_a_waiver_are_named_by_their_run():
    from pages._ui.ledger.names import subject_of

    names = {"r-abcdefghjk": "Surrogates, second"}
    told = '{"run": "r-abcdefghjk", "texts": 20}'
    assert subject_of("i-abcdefghjk", told, names) == "intruder trial of Surrogates, second"
    assert subject_of("w-abcdefghjk", '{"run": "r-bbbbbbbbbb"}', names) == "waiver of a deleted run"
    assert subject_of("i-abcdefghjk", "{}", names) == "an intruder trial"
    assert subject_of("w-abcdefghjk", "not json", names) == "a waiver"
    assert subject_of("r-abcdefghjk", told, names) == "Surrogates, second"


def test_details_of_the_log_are_words_and_digests_stand_apart_and_short():
    line = json.dumps({
        "groups": {"privacy": "5" * 64, "utility": "6" * 64}, "findings": 285, "corpus": "c-abcdefghij",
        "end": "7" * 64, "epsilon": 0.1234567, "changed": [],
    })  # fmt: skip
    names = {"c-abcdefghij": "Letters"}
    assert ledger_names.details(line, names) == "285 findings · ε = 0.1235 · corpus: Letters"
    assert ledger_names.digests(line, names) == (
        "groups: privacy 555555555555…, utility 666666666666…, end: 777777777777…"
    )
    assert ledger_names.digests("not json", names) == ""
    assert (ledger_names.who("worker"), ledger_names.who("Mara Quill")) == ("the program", "Mara Quill")
    kept = ledger_names.details(json.dumps({"setting": "plan.answers.c-abcdefghij"}), {"c-abcdefghij": "Letters"})
    assert kept == "answers on Plan and Release, Letters"
    machine = "made after 2026-11-28T22:07:24.075+00:00; unknown"
    assert ledger_names.dated(machine) == f"made after {when('2026-11-28T22:07:24.075+00:00')}; unknown"


def test_beside_an_epsilon_stands_the_certainty_that_it_allows():
    assert ledger_since.sure(4.0) == "at most 85.9%", "10% at e^4 times the odds"
    assert ledger_since.sure(30.0) == "more than 99.9%"
    assert ledger_since.beside(4.0) == "10% → at most 85.9%"
    assert ledger_since.beside(None) is None
    assert ledger_since.beside(0.0) is None


def test_nothing_is_left_of_a_budget_that_is_void(seeded, visit):
    workspace = seeded.open()
    workspace.runs.approve_all_pending(seeded.run)
    workspace.releases.make(seeded.run, "exploratory", accept_unbounded=True)
    app = visit("ledger", **{"ledger.scope": "Whole workspace"})
    budgets = next(frame.value for frame in app.dataframe if "Formal total" in frame.value)
    assert list(budgets["Formal total"]) == ["unbounded"]
    assert list(budgets["Left, ε"]) == ["as before for a single run; no total"]
    assert list(budgets["In use"]) == ["unbounded"]


def test_the_latest_line_is_shown_in_full_and_another_one_by_choice(seeded, visit):
    workspace = seeded.open()
    workspace.runs.approve_all_pending(seeded.run)
    workspace.releases.make(seeded.run, "exploratory", accept_unbounded=True)
    app = visit("ledger", **{"_ui.next_corpus": seeded.corpus})
    assert "Released without a formal guarantee" in words(app.container(key="ledger.lines.full"), "markdown")
    lines = workspace.ledger.of(seeded.corpus).lines
    first = lines.sort_values("seq").iloc[0]
    app.session_state["ledger.lines.open"] = str(first["seq"])
    app.run()
    assert str(first["sentence"])[:20] in words(app.container(key="ledger.lines.full"), "markdown")
    assert "**Details**" in words(app.container(key="ledger.audit.full"), "markdown")
    assert "Records released" not in words(app.container(key="ledger.audit.full"), "markdown"), "its row says so"
    assert "Chained hash" not in words(app.container(key="ledger.audit.full"), "markdown")
    assert "Chained hash: " in next(str(code.value) for code in app.code), "digests are folded"
    assert any(str(one.value).endswith("what is missing here is of the workspace itself.") for one in app.caption)


def lines_shown(app):
    return next(frame.value for frame in app.dataframe if "In use after" in frame.value).set_index("Budget line")


def test_from_the_line_that_ends_the_total_on_no_share_is_said_to_be_in_use(seeded, visit):
    """Before, the line that made the total unbounded said "In use after 0%"."""
    workspace = seeded.open()
    workspace.ledger.set_limit(seeded.corpus, 6.0, 1e-6)
    workspace.runs.approve_all_pending(seeded.run)
    workspace.releases.make(seeded.run, "exploratory", accept_unbounded=True)
    workspace.ledger.set_limit(seeded.corpus, 5.0, 1e-6)
    lines = workspace.ledger.of(seeded.corpus).lines
    ended = int(lines.loc[lines["kind"] == "release", "seq"].iloc[0])
    after = lines_shown(visit("ledger", **{"_ui.next_corpus": seeded.corpus}))["In use after"]
    assert after[ended] == "unbounded"
    assert set(after[after.index > ended]) == {"unbounded"}, "and on the limit that was set later"
    assert set(after[after.index < ended]) == {"0%"}


def test_lines_and_events_are_filtered_by_kind(seeded, visit):
    workspace = seeded.open()
    workspace.runs.approve_all_pending(seeded.run)
    workspace.releases.make(seeded.run, "exploratory", accept_unbounded=True)
    app = visit("ledger", **WHOLE)
    app.button_group(key="ledger.events.kinds").select("Released").run()
    assert set(events(app)["What"]) == {"Released"}
    app = visit("ledger", **{"_ui.next_corpus": seeded.corpus})
    app.button_group(key="ledger.kinds").select("release").run()
    assert set(next(f.value for f in app.dataframe if "In use after" in f.value)["What"]) == {"Released"}


LONG = "What the ward's teaching group asked for in May, by labels"


def test_a_long_name_is_read_whole_in_every_table(small, open_page, add_run):
    workspace = small.open()
    run = add_run(workspace, small.corpus, [{"text": "Soup."}])
    audit_of = [frame for frame in open_page("ledger").dataframe if str(frame.key).startswith("ledger.audit")]
    assert [frame.proto.row_height for frame in audit_of] == [wrapped.LINE]
    workspace.runs.describe(run, name=LONG, note="")
    for state, key in (({}, "ledger.audit"), (WHOLE, "ledger.events")):
        frame = next(one for one in open_page("ledger", **state).dataframe if str(one.key).startswith(key))
        assert any(LONG in str(cell) for cell in frame.value.to_numpy().ravel()), key
        assert frame.proto.row_height == wrapped.ROW, key
        drawn = json.loads(frame.proto.columns)
        assert all(drawn[name].get("width") for name in frame.proto.column_order), key  # none is left to be squeezed


def test_rows_are_as_high_as_their_longest_cell_needs():
    frame = pd.DataFrame({"Run": ["a" * 10, "b" * 40], "ε": ["1", "2" * 99]})
    assert wrapped.row_height(frame, {"Run": 300}) == wrapped.LINE
    assert wrapped.row_height(frame, {"Run": 120}) == wrapped.ROW
    assert wrapped.row_height(frame, {"Run": 300, "ε": 60}) == wrapped.ROW
    assert wrapped.row_height(frame.iloc[:0], {"Run": 1}) == wrapped.LINE


def test_what_a_line_notes_of_the_limit_is_a_percentage():
    assert ledger_names.details('{"share_after": 0.302376, "outputs": 3}', {}) == (
        "limit in use after: 30% · outputs: 3"
    )


CHANGED = "beside: nothing → no; method: aug-pe → surrogate; policy: internal → exploratory; recipients: nothing → team"


def test_a_detail_of_the_log_is_said_in_words_and_an_unknown_one_by_its_own_key():
    names = {"policy internal": "Internal sharing", "policy exploratory": "Exploratory", "r-abcdefghjk": "The run"}
    released = {
        "accepted_unbounded": False, "policy": "exploratory", "records": 2, "run": "r-abcdefghjk", "waivers": [],
        "signed_by": "", "row": "8" * 64, "rows": ["9" * 64], "brand_new": "as it is",
    }  # fmt: skip
    assert ledger_names.details(json.dumps(released), names) == (
        "2 records · policy: Exploratory · no total without bound was accepted · brand new: as it is · run: The run"
    )
    signed = {"signed_by": "c" * 64, "second_person": "Mary Second", "second_signed_in": False}
    assert ledger_names.details(json.dumps(signed), names) == "second person: Mary Second · name typed, no sign-in"
    assert "signed with the key" in ledger_words.said("signed_by", "c" * 64, "c")
    answers = {"setting": "plan.answers.c-abcdefghij", "changed": CHANGED}
    assert ledger_names.details(json.dumps(answers), names) == (
        "Compared with the original: none yet → no; Method on Plan: Votes on invented texts → Replace what identifies; "
        "Release policy: Internal sharing → Exploratory; "
        "Readers named on Plan: none yet → people who may read the original"
    )
    assert ledger_words.changes("what a later edition writes", names) == "what a later edition writes"
    assert {key: said.lower() for key, said in wizard.RECIPIENTS.items()} == ledger_words.READERS


def test_a_release_names_its_second_person_among_the_events(monkeypatch):
    made = ReleaseSummary("rel-1", "r-1", "c-1", "2026-11-30T16:00:00+00:00", 3, "proof", "", {}, {})
    signed = replace(made, second_person="Mary Second")
    workspace: Any = SimpleNamespace(
        corpora=SimpleNamespace(all=list), runs=SimpleNamespace(all=lambda _: []),
        releases=SimpleNamespace(
            all=lambda _: [made, signed, replace(signed, second_signed_in=True)], policies=tuple),
    )  # fmt: skip
    monkeypatch.setattr(ledger_events, "corpus_names", lambda _: {})
    end = "a deleted run: 3 records, policy “proof”"
    assert sorted(ledger_events.events(workspace, None)["what"]) == [
        end, f"{end}; second person: Mary Second (name typed, no sign-in)",
        f"{end}; second person: Mary Second (signed in)",
    ]  # fmt: skip


def log_of(*lines: tuple[str, str, dict[str, object]]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"seq": 9 - at, "at": "2026-11-29T16:00:00+00:00", "actor": actor, "action": action, "subject": "c-1",
             "detail": json.dumps(detail), "hash": "a" * 64}
            for at, (actor, action, detail) in enumerate(lines)
        ]
    )  # fmt: skip


def test_lines_that_are_alike_in_a_row_are_one_row_and_each_can_be_read():
    policy = {"setting": "plan.answers.c-abcdefghij"}
    log = log_of(
        ("Mara", "setting changed", {**policy, "changed": "policy: internal → public"}),
        ("Mara", "setting changed", {**policy, "changed": "policy: nothing → internal"}),
        ("Mara", "setting changed", {"setting": "domain"}),
        ("Mara", "review decisions", {"accepted": 2, "decisions": 9}),
        ("Mara", "review decisions", {"accepted": 1, "rejected": 3, "decisions": 7}),
        ("Ben", "review decisions", {"accepted": 1, "decisions": 3}),
        ("Ben", "records released", {"records": 2}),
        ("Ben", "records released", {"records": 3}),
    )
    shown = ledger_events.audit_table(log, {"policy public": "Public"})
    assert list(shown["What happened"]) == [
        "Release policy: Public, 2 times",
        "Setting changed: Kind of text",
        "Review decisions, 2 times: 3 accepted",
        "Review decisions: 1 accepted",
        "Records released: 2 records",
        "Records released: 3 records",
    ]
    assert list(shown["Audit line"]) == [9, 7, 6, 4, 3, 2], "a row stands at the place of its latest line"
    assert shown["Details"].iloc[2] == "3 accepted · 3 rejected · decisions in all: 9"
    assert [line.split(" · ")[0] for line in shown["Lines"].iloc[2].split("\n")] == ["Line 6", "Line 5"]
    assert shown["Digests"].iloc[2].count("Chained hash: ") == 2
    assert wrapped.row_height(shown, {"What happened": ledger_events.AUDIT["What happened"]}) == wrapped.LINE


def test_a_changed_policy_or_reader_does_not_hide_behind_a_method_that_was_looked_at():
    policy, names = {"setting": "plan.answers.c-abcdefghij"}, {"policy public": "Public", "policy proof": "Proof"}
    log = log_of(
        ("Mara", "setting changed", {**policy, "changed": "method: filter → surrogate"}),
        ("Mara", "setting changed", {**policy, "changed": "method: icl → filter"}),
        ("Mara", "setting changed", {**policy, "changed": "policy: proof → public"}),
        ("Mara", "setting changed", {**policy, "changed": "method: aug-pe → icl; policy: nothing → proof"}),
        ("Mara", "setting changed", {**policy, "changed": "method: nothing → aug-pe; recipients: nothing → public"}),
    )
    shown = ledger_events.audit_table(log, names)
    assert [len(lines.split("\n")) for lines in shown["Lines"]] == [2, 2, 1]
    assert [row.partition(": ")[0] for row in shown["What happened"]] == [
        "Method on Plan", "Release policy", "Readers named on Plan",
    ]  # fmt: skip
    assert shown["What happened"].iloc[1] == "Release policy: Public, 2 times"


def test_a_reason_of_several_lines_is_one_line_of_the_log():
    log = log_of(("Mara", "rule waived", {"rule": "x", "reason": "one\ntwo\n\nthree"}))
    shown = ledger_events.audit_table(log, {})
    assert "\n" not in shown["Lines"].iloc[0]
    assert "one two three" in shown["Lines"].iloc[0]


def test_what_is_looked_at_on_release_is_one_row_of_the_log_that_can_be_opened(seeded, visit):
    workspace = seeded.open()
    for policy in ("public", "internal", "exploratory"):
        workspace.plan.remember(seeded.corpus, {"policy": policy})
    before = len(workspace.audit.lines(limit=50))
    app = visit("ledger", **{"_ui.next_corpus": seeded.corpus})
    assert audit(app)["What happened"].iloc[0] == "Release policy: Exploratory, 3 times"
    each = next(box for box in app.expander if box.label == "The 3 lines of this row")
    assert "Release policy: Public release → Internal sharing" in words(each, "markdown")
    assert len(workspace.audit.lines(limit=50)) == before, "the log itself holds every line"
