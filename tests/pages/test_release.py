"""The release page: check-list, approval by stable id, build, downloads, and each state."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date, timedelta

import pytest
from streamlit.testing.v1 import AppTest

import engine
from engine import GATE_AGAIN, GATE_EXAMINE, GATE_OLDER
from engine.errors import RefusedError
from pages._ui.parts import wrapped
from pages._ui.privacy import data, verdict
from pages._ui.release import asking, together
from pages._ui.release import policy as release_policy
from pages._ui.release import records as release_records
from pages._ui.release import rules as release_rules
from pages._ui.texts import method_name, plain
from tests.store.span_tables import add_span


def texts(app, kind: str = "markdown") -> str:
    return "\n".join(str(element.value) for element in getattr(app, kind))


def everything(app) -> str:
    kinds = ("markdown", "caption", "info", "warning", "error", "success", "subheader", "title")
    return "\n".join(texts(app, kind) for kind in kinds)


def decision(app, action: str):
    """Return the button that decides on the record shown; its key names that record."""
    return next(one for one in app.button if (one.key or "").startswith(f"release.{action}."))


def approve(app) -> None:
    """Approve the record shown, saying yes where its high risk is asked about."""
    decision(app, "approved").click().run()
    sure = next((one for one in app.button if (one.key or "").startswith("release.sure.")), None)
    if sure is not None:
        sure.click().run()


def dialogs(app) -> list[str]:
    """Return the titles of what stands over the page."""
    found, waiting = [], list(app._tree.children.values())
    while waiting:
        one = waiting.pop()
        if getattr(one, "type", "") == "dialog":
            found.append(getattr(one.proto, "dialog", one.proto).title)
        waiting += list(getattr(one, "children", {}).values())
    return found


def test_empty(empty, visit):
    app = visit("release")
    assert "Nothing loaded yet" in texts(app, "subheader")
    assert app.button(key="release.load").label == "Load a file"


def test_no_runs_yet(empty, visit, import_small):
    import engine

    import_small(engine.open_workspace(empty))
    app = visit("release")
    assert app.button(key="release.plan").label == "Plan a run"


def test_exploratory_opens_once_a_record_is_approved(seeded, visit):
    app = visit("release", **{"_ui.run": seeded.run})
    assert "The gate is closed" in texts(app, "error")
    assert app.button(key="release.build").disabled
    approve(app)
    assert not app.exception
    assert seeded.open().runs.approval_counts(seeded.run)["approved"] == 1
    assert "The gate is open" in texts(app, "warning"), "not in green where measured values are high"
    assert not app.button(key="release.build").disabled
    app.button(key="release.build").click().run()
    high = seeded.open().releases.gate(seeded.run, "exploratory").high_rules()
    assert high
    asked = texts(app, "warning")
    assert all(plain(rule.sentence) in asked for rule in high), "the question says what was measured"
    (side,) = data.load(seeded.open(), [seeded.open().runs.get(seeded.run)])
    leaking = [one.text.partition(":")[0] for one in verdict.sentences(side) if one.level == "leak"]
    assert leaking
    n = len(leaking)
    assert texts(app, "warning").count(f"Privacy shows {n} leak{'s' * (n > 1)} of this run:") == 2, "so is what leaks"
    assert all(one[1:] in texts(app, "warning") for one in leaking)
    assert f"Open, but Privacy shows {n} leak" in everything(app)
    kinds = {str(one.key): one.proto.type for one in app.button}
    assert (kinds["release.build.sure"], kinds["release.build.keep"]) == ("secondary", "primary"), "it ends every claim"
    said = plain(seeded.open().releases.policy("exploratory").sentence)
    assert texts(app, "caption").count(said) == 2, "and for whom it is, on the page and in the question"


def test_check_list_says_what_would_help(seeded, visit):
    app = visit("release", **{"_ui.run": seeded.run, "release.policy.choice": "public"})
    shown = everything(app)
    for line in seeded.open().releases.gate(seeded.run, "public").rules:
        assert app.container(key=f"release.rule.{line.rule}").markdown[0].value.count(line.title.split(" (")[0]) == 1
    open_rules = seeded.open().releases.gate(seeded.run, "public").open_rules()
    helps = [line for line in shown.split("\n") if "What would help: " in line]
    assert helps
    assert len(helps) == len(set(helps)), "what helps several rules stands once"
    ways = [release_rules._way(line, release_rules._short(line)) for line in open_rules if line.remedy != GATE_EXAMINE]
    assert {plain(way) for way in release_rules.said_once(ways) if way} <= {
        line.partition("What would help: ")[2].rstrip("]") for line in helps
    }
    assert "not met" in shown
    assert app.text_input(key="release.second")
    assert app.button(key="release.build").disabled


def test_what_helps_several_rules_is_said_once_with_the_most_texts():
    ways = [
        "Set more aside, or make one of more texts.",
        "Mend A.",
        "Set more aside, or make one of 1,000 texts or more.",
    ]
    assert release_rules.said_once(ways) == ["", "Mend A.", ways[2]]
    assert release_rules.said_once([*ways, ways[0], ""]) == ["", "Mend A.", "", ways[2], ""]


def test_a_policy_that_cannot_be_met_leads_on(seeded, visit):
    app = visit("release", **{"_ui.run": seeded.run, "release.policy.choice": "proof"})
    assert "cannot be met by this run" in everything(app)
    assert app.button(key=f"release.prove.{seeded.run}").label == "Plan a run with a proof"
    app.button(key=f"release.inside.{seeded.run}").click().run()
    assert not app.exception
    assert app.session_state["release.policy.choice"] == "exploratory"
    assert "cannot be met by this run" not in everything(app)
    app = visit("release", **{"_ui.run": seeded.run})
    assert app.session_state["release.policy.choice"] == "exploratory", "kept with the corpus"


def test_what_cannot_open_the_gate_is_folded_behind_what_leads_on_and_takes_no_key(seeded, visit):
    app = visit("release", **{"_ui.run": seeded.run})
    app.text_input(key="release.card.purpose").set_value("Trying a search").run()
    app.radio(key=release_policy.CHOICE).set_value("public").run()
    assert not app.exception
    assert "nothing there opens this gate" in app.expander(key=f"{release_policy.FOLDED}.{seeded.run}").label
    keys = [one.key or "" for one in app.button]
    assert not [key for key in keys if key.startswith(("release.approved.", "release.rejected.", "release.rest."))]
    assert not [one for one in app.text_input if (one.key or "").startswith("release.card.")]
    order = [one.key for one in app.container(key="release.never").button]
    assert order[:2] == [f"release.inside.{seeded.run}", f"release.prove.{seeded.run}"]
    app.button(key=f"release.inside.{seeded.run}").click().run()
    assert decision(app, "approved")
    assert app.text_input(key="release.card.purpose").value == "Trying a search", "folding forgets nothing"


def test_a_record_of_high_risk_is_approved_after_a_question_and_one_of_low_risk_at_once(seeded, visit):
    workspace = seeded.open()
    rows = workspace.runs.synthetic(seeded.run, limit=500, order="risk")
    high, low = rows.iloc[0], rows.iloc[-1]
    assert high["risk"] > asking.LOW >= low["risk"]
    app = visit("release", **{"_ui.run": seeded.run})
    for answer in ("rejected", "sure"):
        decision(app, "approved").click().run()
        assert workspace.runs.approval_counts(seeded.run)["approved"] == 0
        assert f"Risk {high['risk']:.2f}" in texts(app, "warning")
        assert app.session_state[release_records.ASKED] == (seeded.run, high["record_id"])
        assert decision(app, "sure").proto.shortcut.upper() == "A"
        assert decision(app, "sure").proto.type == "secondary"
        (keys,) = (one for one in app.get("bidi_component") if "release.keys" in one.key)
        told = json.loads(keys.proto.json)
        assert told["record"] == high["record_id"], "the browser is told, in plain values"
        decision(app, answer).click().run()
        assert release_records.ASKED not in app.session_state
        if answer == "rejected":
            decision(app, "previous").click().run()
            assert not [one for one in app.button if (one.key or "").startswith("release.sure.")]
    assert workspace.runs.approval_counts(seeded.run)["approved"] == 1

    ids = list(rows["record_id"])
    page = (len(ids) - 1) // release_records.SIZE
    shown = {f"release.record.{seeded.run}": low["record_id"], f"release.page.{seeded.run}": page + 1}
    app = visit("release", **{"_ui.run": seeded.run, **shown})
    decision(app, "approved").click().run()
    assert workspace.runs.approval_counts(seeded.run)["approved"] == 2, "without a question"


@pytest.mark.parametrize(("risk", "asks"), [(0.95, True), (0.51, True), (0.5, False), (0.1, False)])
def test_what_may_be_approved_with_others_is_not_asked_about(risk, asks):
    assert asking.asks_first(risk) is asks
    assert not asking.asks_first(float("nan")), "without an examination nothing is known to ask about"


def test_refused_release_changes_nothing(seeded, visit):
    """The button's limits are in the engine too: a forged click is refused there."""
    with pytest.raises(RefusedError):
        seeded.open().releases.make(seeded.run, "exploratory")
    assert seeded.open().releases.all() == []


def test_decisions_follow_ids_and_move_on(seeded, visit):
    app = visit("release", **{"_ui.run": seeded.run})
    first, second = list(seeded.open().runs.synthetic(seeded.run, limit=2, order="risk")["record_id"])
    decision(app, "rejected").click().run()
    assert app.session_state[f"release.record.{seeded.run}"] == second
    approve(app)
    rows = seeded.open().runs.synthetic(seeded.run, ids=[first, second])
    assert list(rows["approval"]) == ["rejected", "approved"]
    decision(app, "previous").click().run()
    assert app.session_state[f"release.record.{seeded.run}"] == second
    decision(app, "pending").click().run()
    assert list(seeded.open().runs.synthetic(seeded.run, ids=[first, second])["approval"]) == ["rejected", "pending"]


def test_shortcuts(seeded, visit):
    app = visit("release", **{"_ui.run": seeded.run})
    shortcuts = {decision(app, name).proto.shortcut.upper() for name in ("approved", "rejected", "next", "previous")}
    assert shortcuts == {"A", "X", "J", "K"}


def test_rest_is_counted_before_it_is_approved(seeded, visit):
    app = visit("release", **{"_ui.run": seeded.run})
    expected = seeded.open().runs.pending_below(seeded.run, 0.2)
    assert expected
    button = app.button(key=f"release.rest.below.{seeded.run}")
    assert f"{expected:,}" in button.label
    button.click().run()
    assert seeded.open().runs.approval_counts(seeded.run)["approved"] == expected
    assert f"{expected:,} records approved together" in texts(app, "success")


def test_build_and_download(seeded, visit):
    workspace = seeded.open()
    workspace.runs.approve_all_pending(seeded.run)
    app = visit("release", **{"_ui.run": seeded.run})
    app.text_input(key="release.card.title").set_value("River walks").run()
    app.button(key="release.build").click().run()
    assert dialogs(app) == ["Release these records?"], "the question stands over the page, wherever that was moved to"
    assert "That cannot be undone" in texts(app)
    assert workspace.releases.all() == [], "the question comes first"
    app.button(key="release.build.sure").click().run()
    assert not app.exception
    (made,) = workspace.releases.all()
    assert made.records == workspace.runs.get(seeded.run).kept
    assert "released" in texts(app, "success")
    assert "River walks" in workspace.releases.file(made.id, "DATA_CARD.md").decode()
    keys = {button.key for button in app.get("download_button")}
    at_once = {f"release.zip.{where}{made.id}" for where in ("", "dock.")}
    assert keys == {*at_once, *(f"release.download.{made.id}.{name}" for name in made.files)}
    assert {"records.csv", "DATA_CARD.md", "manifest.json"} <= set(made.files)
    assert "sha256sum --check SHA256SUMS" in texts(app, "code")
    assert made.path in texts(app, "code")
    assert made.manifest_sha256 in texts(app, "code")


def test_formats_are_asked_for(seeded, visit):
    seeded.open().runs.approve_all_pending(seeded.run)
    app = visit("release", **{"_ui.run": seeded.run, "release.formats": ["jsonl"]})
    app.button(key="release.build").click().run()
    app.button(key="release.build.sure").click().run()
    (made,) = seeded.open().releases.all()
    assert {name for name in made.files if name.startswith("records")} == {"records.jsonl"}


def test_the_question_before_an_unbounded_total_can_be_answered_no_and_comes_once(seeded, visit):
    workspace = seeded.open()
    workspace.runs.approve_all_pending(seeded.run)
    app = visit("release", **{"_ui.run": seeded.run})
    app.button(key="release.build").click().run()
    app.button(key="release.build.keep").click().run()
    assert workspace.releases.all() == []
    assert not workspace.ledger.of(seeded.corpus).unbounded
    workspace.releases.make(seeded.run, "exploratory", accept_unbounded=True)
    app = visit("release", **{"_ui.run": seeded.run})
    app.button(key="release.build").click().run()
    assert "this release changes nothing in that" in texts(app)
    assert app.button(key="release.build.sure").label == "Release it"
    app.button(key="release.build.sure").click().run()
    assert len(workspace.releases.all()) == 2


def test_a_run_without_examination_claims_nothing(seeded, visit, add_run):
    workspace = seeded.open()
    run = add_run(workspace, seeded.corpus, [{"text": "Only one.", "label": None, "lineage": None}])
    app = visit("release", **{"_ui.run": run})
    line = app.container(key="release.rule.current").markdown[0].value
    assert "check_circle" not in line
    assert ":green[" not in line
    assert everything(app).count("not known, counts as not met") == 1, "said once, of all rules that wait"
    assert "The findings describe the records as they are now" not in everything(app)
    assert "Riskiest first" not in texts(app)
    assert "Riskiest first" in texts(visit("release", **{"_ui.run": seeded.run}))


def test_a_high_measured_value_is_amber_not_green(seeded, visit):
    workspace = seeded.open()
    workspace.runs.approve_all_pending(seeded.other)  # three quarters of this run are copies
    app = visit("release", **{"_ui.run": seeded.other})
    line = app.container(key="release.rule.copies-measured").markdown[0].value
    assert "measured, high" in line
    assert ":green[" not in line
    assert "high" in texts(app, "warning")


def test_page_and_sidebar_speak_of_the_same_run(seeded, visit):
    workspace = seeded.open()
    workspace.runs.approve_all_pending(seeded.run)
    for run, word in ((seeded.run, "Open"), (seeded.other, "Closed")):
        app = visit("release", **{"_ui.run": run})
        gate = app.container(key="sidebar.line.release").markdown[0].value
        assert method_name(workspace.runs.get(run)) in gate
        assert word in gate
        assert ("The gate is open" in texts(app, "warning")) is (word == "Open")
    app.selectbox(key="release.run").set_value(seeded.run).run()
    gate = app.container(key="sidebar.line.release").markdown[0].value
    assert method_name(workspace.runs.get(seeded.run)) in gate
    assert "The gate is open" in texts(app, "warning")


def test_download_checks_again(seeded):
    from pages._ui.release.made import _reader

    workspace = seeded.open()
    workspace.runs.approve_all_pending(seeded.run)
    made = workspace.releases.make(seeded.run, "exploratory", accept_unbounded=True)
    assert _reader(workspace, made.id, "records.csv")().startswith(b'"id"')
    (workspace.folder.release(made.id) / "records.csv").write_bytes(b"changed")
    with pytest.raises(RefusedError, match="changed after its release"):
        _reader(workspace, made.id, "records.csv")()


def test_stale_run_keeps_the_gate_closed(seeded, visit):
    workspace = seeded.open()
    workspace.runs.approve_all_pending(seeded.run)
    record = str(workspace.corpora.records(seeded.corpus, split="train", limit=1)["record_id"].iloc[0])
    add_span(workspace, seeded.corpus, record, 0, 3, "PERSON")
    app = visit("release", **{"_ui.run": seeded.run})
    assert "Out of date" in texts(app, "warning")
    helps = [line for line in everything(app).split("\n") if "What would help: " in line]
    assert len(helps) == 1, "nothing that is done with this run opens its gate"
    assert GATE_AGAIN in helps[0]
    assert everything(app).count(GATE_OLDER) == 1, "said once of all rules whose findings are older"
    assert "The gate is closed" in texts(app, "error")
    assert app.button(key="release.build").disabled


def test_running_and_failed_runs(seeded, visit, add_run, add_job, import_small):
    workspace = seeded.open()
    corpus = import_small(workspace)
    run = add_run(workspace, corpus.id, [], state="running")
    job = add_job(workspace, "synthesize", "running", corpus_id=corpus.id, run_id=run)
    app = visit("release", **{"_ui.next_corpus": corpus.id})
    assert "still being made" in texts(app)
    workspace.jobs.cancel(job)
    workspace.runs.delete(run)
    add_run(workspace, corpus.id, [], state="failed", error="The machine ran out of memory.")
    app = visit("release", **{"_ui.next_corpus": corpus.id})
    assert "The machine ran out of memory" in texts(app, "error")
    assert app.button(key="release.runs")


def test_one_record_without_risk(seeded, visit, add_run):
    workspace = seeded.open()
    run = add_run(workspace, seeded.corpus, [{"text": "Only one.", "label": None, "lineage": None}])
    app = visit("release", **{"_ui.run": run})
    shown = app.dataframe[0].value
    assert list(shown.columns) == ["Decision", "Text"]
    assert decision(app, "next").disabled
    app.button(key=f"release.rest.all.{run}").click().run()
    assert "1 record that nobody decided on is approved unread" in texts(app, "warning")
    assert app.button(key=f"release.rest.all.{run}").disabled, "a second press on the same place answers nothing"
    assert workspace.runs.approval_counts(run)["approved"] == 0, "the question comes first"
    app.button(key=f"release.rest.unread.{run}").click().run()
    assert workspace.runs.approval_counts(run)["approved"] == 1


def test_the_text_is_the_wide_column_and_is_read_over_several_lines(seeded, visit, add_run):
    workspace = seeded.open()
    run = add_run(workspace, seeded.corpus, [{"text": "A record of many words. " * 20, "label": "dis*charged"}])
    app = visit("release", **{"_ui.run": run})
    table = app.dataframe[0]
    assert list(table.value.columns) == ["Decision", "Text"]
    widths = {name: one.get("width") for name, one in json.loads(table.proto.columns).items()}
    assert widths["Text"] > 2 * widths["Decision"]
    assert table.proto.row_height == wrapped.ROW
    assert "dis\\*charged" in everything(app)  # the label stands beside the text, escaped


def test_record_text_is_only_plain_table_text(seeded, visit, add_run):
    hostile = "=cmd() ![x](http://example.org/x.png) <script>alert(1)</script> **bold**"
    workspace = seeded.open()
    run = add_run(workspace, seeded.corpus, [{"text": hostile, "label": None, "lineage": None}])
    app = visit("release", **{"_ui.run": run})
    assert "example.org" not in everything(app)
    assert "example.org" in str(app.dataframe[0].value["Text"].iloc[0])


def test_chosen_record_falls_back_to_the_first_of_the_page(monkeypatch):
    import streamlit as st

    monkeypatch.setattr(st, "session_state", {"release.record.r": "s-9"})
    assert release_records._current("r", ["s-1", "s-2"]) == "s-1"
    assert release_records._current("r", ["s-8", "s-9"]) == "s-9"
    assert release_records._current("r", []) is None


def press_late() -> None:
    """Make the call of a press that comes after another record has become the current one."""
    import streamlit as st

    from pages._ui.release import records as release_records

    release_records._decide(*st.session_state["press"])


@pytest.mark.parametrize("both", [False, True])
def test_a_key_pressed_too_early_approves_nothing(seeded, both):
    """Neither the record before, decided already, nor the next one, nor one for which two keys came at once."""
    workspace = seeded.open()
    rows = workspace.runs.synthetic(seeded.run, limit=2, order="risk")
    first, second = list(rows["record_id"])
    app = AppTest.from_function(press_late, default_timeout=30)
    app.session_state[f"release.record.{seeded.run}"] = first if both else second
    if both:
        for state in ("approved", "rejected"):
            app.session_state[f"release.{state}.{seeded.run}.{first}"] = True
    app.session_state["press"] = (workspace, seeded.run, rows.iloc[0], "approved", [first, second])
    app.run()
    assert not app.exception
    assert workspace.runs.approval_counts(seeded.run)["approved"] == 0
    assert "was not counted" in str(app.session_state["_ui.notices"])


def test_the_bar_names_the_run_and_says_how_far_the_approval_is(seeded, visit):
    workspace = seeded.open()
    title = method_name(workspace.runs.get(seeded.run))
    total = sum(workspace.runs.approval_counts(seeded.run).values())
    app = visit("release", **{"_ui.run": seeded.run})
    assert title in texts(app, "error"), "the closed gate names its run"
    assert any("Closed" in m.value for m in app.markdown)
    assert any(title in m.value and f"0 of {total} records decided" in m.value for m in app.markdown), "so does the bar"
    approve(app)
    assert title in texts(app, "error") + texts(app, "warning")
    assert any(f"1 of {total} records decided, 1 approved" in bar.proto.text for bar in app.get("progress"))


def test_without_a_proof_the_policy_of_proof_alone_shows_what_is_lacking_alone(seeded, visit):
    app = visit("release", **{"_ui.run": seeded.run, "release.policy.choice": "proof"})
    first = texts(app).index("The method carries a formal guarantee")
    assert "more rules are not met, and do not matter before" in "".join(one.label for one in app.expander)
    assert first < texts(app).index("Nothing private had a say"), "what nobody can mend stands first"


def test_a_run_the_review_has_left_behind_is_to_be_made_again_and_not_approved(seeded, visit):
    workspace = seeded.open()
    before = visit("release", **{"_ui.run": seeded.run})
    assert decision(before, "approved").proto.type == "primary"
    frame = workspace.corpora.frame(seeded.corpus)
    record = frame[frame["split"] == "train"]["record_id"].iloc[0]
    span = workspace.review.spans(seeded.corpus, record)[0]
    workspace.review.decide(seeded.corpus, [span.span_id], "reject")
    assert workspace.runs.get(seeded.run).stale
    folded = f"{release_policy.FOLDED}.{seeded.run}"
    app = visit("release", **{"_ui.run": seeded.run})
    assert not [one for one in app.button if (one.key or "").startswith("release.approved.")], (
        "no key on what is folded"
    )
    app = visit("release", **{"_ui.run": seeded.run, folded: True})
    assert "make it again, and examine that run" in texts(app, "warning") + texts(app)
    assert decision(app, "approved").proto.type == "secondary"
    assert decision(app, "approved").disabled
    assert "a decision here would not count there" in texts(app, "caption")


def test_a_preview_leaves_no_release_no_mark_and_no_file(seeded, visit):
    workspace = seeded.open()
    before = len(workspace.ledger.of(seeded.corpus).lines)
    app = visit("release", **{"_ui.run": seeded.run})
    app.button(key="release.preview").click().run()
    assert not app.exception
    assert texts(app).count("Internal preview · not a release") == 10
    assert next(iter(workspace.runs.synthetic(seeded.run, limit=1)["text"])) in texts(app, "text")
    assert not app.get("download_button")
    assert workspace.releases.all() == []
    assert not workspace.ledger.of(seeded.corpus).unbounded
    assert len(workspace.ledger.of(seeded.corpus).lines) == before
    assert workspace.audit.lines(limit=1).iloc[0]["action"] == "internal preview"


def test_hostile_text_stays_text_in_the_preview(seeded, visit, add_run):
    hostile = "![x](http://example.org/x.png) <script>alert(1)</script> **bold**"
    run = add_run(seeded.open(), seeded.corpus, [{"text": hostile, "label": None, "lineage": None}])
    app = visit("release", **{"_ui.run": run})
    app.button(key="release.preview").click().run()
    assert texts(app, "text") == hostile
    assert "example.org" not in everything(app)


def test_bulk_approval_names_the_lowest_risk_and_is_disabled_at_none(seeded, visit):
    workspace = seeded.open()
    lowest = workspace.runs.lowest_pending_risk(seeded.run)
    assert lowest is not None
    app = visit("release", **{"_ui.run": seeded.run})
    assert f"The lowest risk of an undecided record is {lowest:.2f}." in texts(app, "caption")
    workspace.runs.approve_all_pending(seeded.run, 0.2)
    left = workspace.runs.lowest_pending_risk(seeded.run)
    assert left is not None
    assert left > 0.2
    app = visit("release", **{"_ui.run": seeded.run})
    button, start = app.button(key=f"release.rest.below.{seeded.run}"), together.begin(left)
    assert button.disabled == (left > 0.5)
    assert button.disabled == ("None that is left is of low risk" in texts(app, "caption"))
    if button.disabled:
        assert button.label == "No undecided record has a risk of at most 0.20"
    else:
        assert f"{workspace.runs.pending_below(seeded.run, start)} undecided record" in button.label


@pytest.mark.parametrize(
    ("lowest", "start"),
    [(0.0, 0.2), (0.19, 0.2), (0.2, 0.2), (0.21, 0.25), (0.3, 0.3), (0.31, 0.35), (0.5, 0.5), (0.51, 0.2), (None, 0.2)],
)
def test_approving_together_begins_where_it_holds_some_record_and_never_at_high_ones(lowest, start):
    assert together.begin(lowest) == pytest.approx(start)
    assert together.begin(lowest) >= (lowest or 0.0) or lowest > 0.5


def test_the_question_says_how_many_leave_of_what_risk_and_how_many_stay(seeded, visit):
    workspace = seeded.open()
    worst = workspace.runs.synthetic(seeded.run, limit=3, order="risk")
    chosen = [str(worst["record_id"].iloc[1])]
    workspace.runs.approve(seeded.run, chosen, "approved")
    assert workspace.runs.highest_approved_risk(seeded.run) == pytest.approx(float(worst["risk"].iloc[1]))
    app = visit("release", **{"_ui.run": seeded.run})
    app.button(key="release.build").click().run()
    asked, stay = texts(app), workspace.runs.get(seeded.run).kept - 1
    assert "**1 record** of the run" in asked
    assert f"The highest risk among them is {worst['risk'].iloc[1]:.2f}. {stay:,} records stay here." in asked


def test_a_policy_the_run_cannot_meet_is_said_first_and_approving_is_not_the_next_step(seeded, visit):
    """Public release needs a proof, which this run has not, whatever is approved."""
    folded = f"{release_policy.FOLDED}.{seeded.run}"
    app = visit("release", **{"_ui.run": seeded.run, "release.policy.choice": "public", folded: True})
    box = app.container(key="release.never")
    assert "cannot be met by this run, whatever you approve" in box.markdown[0].value
    rules = {(one.key or "") for one in box.get("container")} if box.get("container") else set()
    said = "\n".join(one.value for one in box.markdown)
    assert "The method carries a formal guarantee" in said, rules
    assert "Only approved records leave" not in said
    assert decision(app, "approved").proto.type == "secondary"
    assert any("**Closed**]. Not met: “" in one.value for one in app.markdown)
    first = next(one.value for one in app.markdown if "**Closed**]. Not met: “" in one.value)
    assert "and " in first.rpartition("”")[2], "how many more, as the sidebar says"
    assert first.partition("Not met: ")[2] in app.container(key="sidebar.line.release").markdown[0].value
    other = visit("release", **{"_ui.run": seeded.run, "release.policy.choice": "exploratory"})
    assert decision(other, "approved").proto.type == "primary"
    assert "whatever you approve" not in texts(other)


@pytest.mark.parametrize(
    ("finding", "reference", "value", "threshold", "remedy", "said"),
    [
        ("pipp_excess", "holdout", 0.159, 0.05, "who were set aside, and 32 are too few. Load more.",
         "Too few were set aside to tell: “Records with a private entity” could be up to 15.9 points above chance; "
         "5.0 points allowed."),
        ("pipp_direct", "train above holdout", 0.314, 0.1, "Plan one.", "up to 31.4 points above that of what was set"),
        ("pipp_excess", "holdout", 0.0501, 0.05, "Plan one.", "up to just over 5.0 points above chance"),
    ],
)  # fmt: skip
def test_a_limit_is_said_in_one_line_with_the_measure_it_goes_by(finding, reference, value, threshold, remedy, said):
    words = f"A rule. Value, upper end of its 95% interval: {value}; at most {threshold} is allowed."
    line = engine.RuleVerdict("one", "Title", finding, reference, threshold, value, False, words, remedy)
    assert said in release_rules._short(line)
    assert not release_rules._short(replace(line, passed=None)), "what is not known is said in the rule's own words"
    assert not release_rules._short(replace(line, sentence="There is no interval."))


def test_the_policy_is_that_of_the_readers_on_plan_and_what_is_chosen_here_is_kept(seeded, visit):
    workspace = seeded.open()
    app = visit("release", **{"_ui.run": seeded.run})
    assert app.radio(key=release_policy.CHOICE).value == "exploratory"
    assert "No readers are named on Plan yet" in texts(app, "caption")
    workspace.plan.remember(seeded.corpus, {"method": "surrogate"})
    app = visit("release", **{"_ui.run": seeded.run})
    assert app.radio(key=release_policy.CHOICE).value == "exploratory", "what Plan shows at first is no answer"
    assert "No readers are named on Plan yet" in texts(app, "caption")
    workspace.plan.remember(seeded.corpus, {"method": "surrogate", "recipients": "organisation"})
    app = visit("release", **{"_ui.run": seeded.run})
    assert app.radio(key=release_policy.CHOICE).value == "internal"
    assert "As answered on Plan." in texts(app, "caption")
    line = app.container(key="sidebar.line.release").markdown[0].value
    assert "Policy of the readers on Plan: Internal sharing" in line
    app.radio(key=release_policy.CHOICE).set_value("public").run()
    assert "Policy chosen on Release: Public release" in app.container(key="sidebar.line.release").markdown[0].value
    assert "whose policy is “Internal sharing”" in texts(app, "caption")
    again = visit("release", **{"_ui.run": seeded.run})
    assert again.radio(key=release_policy.CHOICE).value == "public", "a reload forgets nothing"
    assert workspace.plan.remembered(seeded.corpus)["method"] == "surrogate", "Plan's own answers stand"
    workspace.plan.remember(seeded.corpus, {**workspace.plan.remembered(seeded.corpus), "recipients": "researchers"})
    assert visit("release", **{"_ui.run": seeded.run}).radio(key=release_policy.CHOICE).value == "research"


def test_words_are_asked_for_kept_and_offered_again(seeded, visit):
    workspace = seeded.open()
    workspace.runs.approve_all_pending(seeded.run)
    app = visit("release", **{"_ui.run": seeded.run})
    app.button(key="release.build").click().run()
    assert "its purpose, its recipient, a contact, a licence, a day of review" in texts(app, "warning")
    app.button(key="release.build.keep").click().run()
    for name in ("purpose", "recipient", "contact", "licence"):
        app.text_input(key=f"release.card.{name}").set_value(f"The {name}")
    app.run()
    app.button(key="release.build").click().run()
    app.button(key="release.build.sure").click().run()
    (made,) = workspace.releases.all()
    assert made.words["purpose"] == "The purpose"
    again = visit("release", **{"_ui.run": seeded.run})
    assert again.text_input(key="release.card.recipient").value == "The recipient"
    assert not again.text_input(key="release.card.purpose").value, "a purpose is asked for each time"


def test_a_withdrawn_release_offers_no_download_but_the_list(seeded, visit):
    workspace = seeded.open()
    workspace.runs.approve_all_pending(seeded.run)
    made = workspace.releases.make(seeded.run, "exploratory", accept_unbounded=True)
    app = visit("release", **{"_ui.run": seeded.run})
    assert app.button(key=f"release.revoke.{made.id}").disabled
    app.text_input(key=f"release.reason.{made.id}").set_value("A **name** was found.").run()
    app.button(key=f"release.revoke.{made.id}").click().run()
    assert not app.exception
    assert workspace.releases.get(made.id).reason == "A **name** was found."
    assert "Withdrawn on" in texts(app, "error")
    assert {button.key for button in app.get("download_button")} == {"release.revocations"}


def test_a_key_that_cannot_sign_is_a_sentence_and_releases_nothing(seeded, visit, tmp_path):
    workspace = seeded.open()
    workspace.runs.approve_all_pending(seeded.run)
    app = visit("release", **{"_ui.run": seeded.run, "release.key": str(tmp_path / "nowhere")})
    app.button(key="release.build").click().run()
    app.button(key="release.build.sure").click().run()
    assert "key: nowhere cannot be read" in texts(app, "error")
    assert workspace.releases.all() == []


def test_answers_of_the_assessment_are_kept_and_two_editions_made(seeded, visit):
    app = visit("release", **{"_ui.run": seeded.run})
    corpus = seeded.open().runs.get(seeded.run).corpus_id
    app.text_area(key=f"release.assessment.{corpus}.purpose").set_value("Trying a search").run()
    assert seeded.open().assessments.answers(corpus) == {"purpose": "Trying a search"}
    app.button(key="release.assessment.external").click().run()
    assert not app.exception
    assert app.session_state["release.assessment.made"]["edition"] == "external"
    assert "Trying a search" in app.session_state["release.assessment.made"]["page"]
    app.text_area(key=f"release.assessment.{corpus}.safeguards").set_value("None").run()
    assert "release.assessment.made" not in app.session_state, "what was made no longer says what was answered"
    who = app.selectbox(key=f"release.assessment.{corpus}.attacker_membership")
    assert who.value is None
    who.select("model").run()
    assert seeded.open().assessments.answers(corpus)["attacker_membership"] == "model"
    again = visit("release", **{"_ui.run": seeded.run})
    assert again.selectbox(key=f"release.assessment.{corpus}.attacker_membership").value == "model"
    again.button(key="release.assessment.external").click().run()
    page = again.session_state["release.assessment.made"]["page"]
    assert "Expected here: The model that wrote the text, or its answers." in page


def test_private_words_in_the_assessment_are_refused_with_a_notice(seeded, visit):
    workspace = seeded.open()
    corpus = workspace.runs.get(seeded.run).corpus_id
    text = workspace.corpora.frame(corpus, "holdout", ["text", "split"])["text"].iloc[0]
    app = visit("release", **{"_ui.run": seeded.run})
    app.text_area(key=f"release.assessment.{corpus}.purpose").set_value(text[:1500]).run()
    app.button(key="release.assessment.external").click().run()
    assert not app.exception
    assert "release.assessment.made" not in app.session_state
    assert "Purpose repeats more than" in texts(app, "error")
    assert text[:60] not in texts(app, "error")


def test_rules_that_are_met_are_folded_behind_those_to_read(seeded, visit):
    app = visit("release", **{"_ui.run": seeded.run})
    met = next(box for box in app.expander if "are met" in box.label)
    assert not met.proto.expanded
    assert "Nothing changed since the examination" in texts(met)
    assert "Nothing changed since the examination" not in texts(app.container(key="release.checklist"))
    assert "Only approved records leave" in texts(app.container(key="release.checklist"))


def test_an_arrow_stands_before_the_record_that_is_shown(seeded, visit):
    app = visit("release", **{"_ui.run": seeded.run})
    shown = list(app.dataframe[0].value["Decision"])
    assert [place for place, decision in enumerate(shown) if decision.startswith(release_records.SHOWN)] == [0]
    next(one for one in app.button if (one.key or "").startswith("release.next.")).click().run()
    shown = list(app.dataframe[0].value["Decision"])
    assert [place for place, decision in enumerate(shown) if decision.startswith(release_records.SHOWN)] == [1]


def test_the_worst_that_could_be_is_never_rounded_down():
    def short(worst: float) -> str:
        words = f"A rule. Value, upper end of its 95% interval: {worst}; at most 0.05 is allowed."
        return release_rules._short(
            engine.RuleVerdict("one", "Title", "pipp_excess", "holdout", 0.05, worst, False, words, "Plan one.")
        )

    assert "up to 15.1 points above chance" in short(0.15017)
    assert "up to 15.0 points above chance" in short(0.15)
    assert "just over 5.0 points" in short(0.05017)
    assert short(float("nan")), "a number that is none is no fault of the page"


def test_what_is_typed_for_readers_is_kept_with_its_run_until_it_is_released(seeded, visit, add_run):
    other = add_run(seeded.open(), seeded.corpus, [{"text": "made up words", "label": None}] * 3)
    app = visit("release", **{"_ui.run": seeded.run})
    app.text_input(key="release.card.purpose").set_value("Teaching").run()
    app.text_input(key="release.card.licence").set_value("CC0").run()
    day = date.today() + timedelta(days=40)
    app.date_input(key="release.card.review").set_value(day).run()
    again = visit("release", **{"_ui.run": seeded.run})
    assert [again.text_input(key=f"release.card.{one}").value for one in ("purpose", "licence")] == ["Teaching", "CC0"]
    assert again.date_input(key="release.card.review").value == day
    assert "Kept with this run" in texts(again, "caption")
    assert not visit("release", **{"_ui.run": other}).text_input(key="release.card.purpose").value
    seeded.open().runs.approve_all_pending(seeded.run)
    again = visit("release", **{"_ui.run": seeded.run})
    again.button(key="release.build").click().run()
    again.button(key="release.build.sure").click().run()
    assert seeded.open().releases.all()[0].words["purpose"] == "Teaching"
    assert not visit("release", **{"_ui.run": seeded.run}).text_input(key="release.card.purpose").value


def test_a_second_name_is_kept_and_signs_only_by_a_tick_for_what_stands_there(seeded, visit):
    def met(app) -> bool:
        return "Signed by a second person." in everything(app)

    def tick(app):
        return next(one for one in app.checkbox if (one.key or "").startswith("release.second.signs."))

    app = visit("release", **{"_ui.run": seeded.run, "release.policy.choice": "public"})
    app.text_input(key="release.second").set_value("Mary Second").run()
    assert "Mary Second looked at this check-list and at these records" in tick(app).label
    assert not met(app), "a name alone signs nothing"
    tick(app).check().run()
    assert met(app)
    seeded.open().runs.approve_all_pending(seeded.run)
    app.run()
    assert not tick(app).value
    assert not met(app), "the records are others by now"
    tick(app).check().run()
    assert met(app)
    app.text_input(key="release.second").set_value("Mary Third").run()
    assert not met(app), "another name signed nothing"
    again = visit("release", **{"_ui.run": seeded.run, "release.policy.choice": "public"})
    assert again.text_input(key="release.second").value == "Mary Third"
    assert not tick(again).value, "the name is kept, the signature is not"
