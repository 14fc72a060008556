"""Review: queue, decisions, values, states."""

from __future__ import annotations

import json
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

import engine
from engine import proposed_preset
from engine.store.database.schema import corpora, spans
from pages._ui.corpus import samples
from pages._ui.review import queue
from tests.pages.small import HOSTILE, NEEDLE, fail_job, words
from tests.store.span_tables import add_span, span_table


def desk(app: AppTest) -> dict[str, Any]:
    """Return what the page gives the desk in the browser."""
    (found,) = (one for one in app.get("bidi_component") if one.key.startswith("review."))
    data: dict[str, Any] = json.loads(found.proto.json)
    return data


def take() -> None:
    """Take the messages of a browser one after the other, as the desk's callback does."""
    import streamlit as st

    import engine
    from pages._ui.review import desk, state

    path, corpus, messages = st.session_state["sent"]
    for message in messages:
        desk.receive(engine.open_workspace(path), corpus, message)
    mine = state.desk(corpus)
    st.session_state["answer"] = (mine.reply, mine.done, mine.trouble)


def send(small: Any, *messages: dict[str, Any]) -> tuple[int, list[Any], str]:
    """Send messages to the callback of the desk; return the answer to the last."""
    app = AppTest.from_function(take, default_timeout=30)
    app.session_state["sent"] = (small.path, small.corpus, list(messages))
    app.run()
    assert not app.exception
    answer: tuple[int, list[Any], str] = app.session_state["answer"]
    return answer


def act(seq: int, action: str, **values: Any) -> dict[str, Any]:
    return {"client": "c0ffee00c0ffee00", "upon": 2**30, "seq": seq, "action": action, **values}


def moved() -> None:
    """Take a message, open another text from the server, and take one that the browser sent before it heard of it."""
    import streamlit as st

    import engine
    from pages._ui.review import desk, state

    path, corpus, first, second = st.session_state["moved"]
    mine, workspace = state.desk(corpus), engine.open_workspace(path)
    state.show(corpus, first)
    desk.receive(workspace, corpus, {"n": 1, "record": first, "page": 2, "went": mine.moves})
    state.show(corpus, second)
    where = []
    for number, went in ((2, mine.moves - 1), (3, mine.moves)):
        desk.receive(workspace, corpus, {"n": number, "record": first, "span": "s", "went": went})
        where.append((mine.record, mine.span, mine.reply))
    st.session_state["where"] = where


def test_a_message_from_before_a_move_does_not_take_the_desk_back(small):
    first, second = small.open().review.order(small.corpus)[:2]
    app = AppTest.from_function(moved, default_timeout=30)
    app.session_state["moved"] = (small.path, small.corpus, first, second)
    app.run()
    assert not app.exception
    assert app.session_state["where"] == [(second, None, 2), (first, "s", 3)], "what it holds is answered all the same"


class TestReview:
    def test_without_a_corpus(self, empty, visit):
        assert "Nothing loaded yet" in [one.value for one in visit("review").subheader]

    def test_first_time_starts_detection(self, small, open_page):
        app = open_page("review", bare=True)
        assert "Nothing was looked for yet" in words(app)
        app.button(key="review.detect.start").click().run()
        assert not app.exception
        (job,) = small.open().jobs.all()
        assert (job.kind, job.state) == ("detect", "queued")
        assert "You can leave this page" in words(app)

    def test_the_kind_of_text_is_asked_before_the_first_look(self, small, open_page):
        app = open_page("review", bare=True)
        kinds = app.radio(key=f"review.first.preset.{small.bare}")
        assert kinds.value == "general"
        kinds.set_value("legal").run()
        app.button(key="review.detect.start").click().run()
        assert not app.exception
        workspace = small.open()
        assert workspace.review.detector_settings(small.bare).preset == "legal"
        assert [job.kind for job in workspace.jobs.all()] == ["detect"]

    def test_a_kind_of_text_is_proposed_and_a_person_accepts_it(self, small, open_page):
        workspace = small.open()
        assert not [b for b in open_page("review", bare=True).button if b.key == "review.first.proposed"]
        workspace.descriptions.declare(small.bare, "discharge letter", "en", "clinical")
        app = open_page("review", bare=True)
        kind = f"review.first.preset.{small.bare}"
        assert app.radio(key=kind).value == "general"  # nothing changed by itself
        assert "no record was read for it" in words(app)
        app.button(key="review.first.proposed").click().run()
        assert app.radio(key=kind).value == "clinical"
        assert not [b for b in app.button if b.key == "review.first.proposed"]
        assert workspace.review.detector_settings(small.bare).preset == "general"
        app.button(key="review.detect.start").click().run()
        assert workspace.review.detector_settings(small.bare).preset == "clinical"

    def test_a_kind_of_text_is_proposed_too_where_it_was_read_as_another(self, small, open_page):
        workspace = small.open()
        workspace.descriptions.declare(small.corpus, "discharge letter", "en", "clinical")
        app = open_page("review", **{"review.view": "Detector settings"})
        button = app.button(key="review.set.proposed")
        assert button.label == "Use “Clinical notes” and look again"
        assert workspace.review.detector_settings(small.corpus).preset == "general", "nothing changed by itself"
        next(box for box in app.text_area if box.label == "Known identifiers").set_value("Ada Petrosyan")
        button.click().run()
        assert not app.exception
        assert workspace.review.detector_settings(small.corpus).preset == "clinical"
        known = workspace.review.detector_settings(small.corpus).known
        assert [one.value for one in known] == ["Ada Petrosyan"], "what was typed and not saved is not lost by it"
        assert [job.kind for job in workspace.jobs.all()] == ["detect"]

    def test_that_proposal_stands_above_the_findings_too_until_it_is_put_away(self, small, open_page):
        workspace = small.open()
        assert "review.proposal.use" not in [one.key for one in open_page("review").button]
        workspace.descriptions.declare(small.corpus, "discharge letter", "en", "clinical")
        assert "review.proposal.use" not in [one.key for one in open_page("review").button], "the file's marks stand"
        with workspace.session.db.write() as connection:
            connection.execute(corpora.update().where(corpora.c.id == small.corpus).values(span_source="detected"))
        app = open_page("review")
        assert "read as “General text”; by its name or columns it is “Clinical notes”" in words(app)
        assert desk(app)["above"] is True
        app.button(key="review.proposal.leave").click().run()
        assert "review.proposal.use" not in [one.key for one in app.button]
        assert desk(app)["above"] is False
        app = open_page("review")
        app.button(key="review.proposal.use").click().run()
        assert not app.exception
        assert workspace.review.detector_settings(small.corpus).preset == "clinical"
        assert [job.kind for job in workspace.jobs.all()] == ["detect"]

    def test_findings_are_compared_with_the_files_own_marks(self, small, open_page):
        app = open_page("review", **{"review.view": "Detector settings"})
        app.button(key="review.gold.compare").click().run()
        assert not app.exception
        said = words(app)
        assert "Direct identifiers that are masked wherever they stand: 100.0% (" in said
        assert "Masked words that the file marks too: 100.0% (" in said
        assert "the file marks" in said

    def test_a_sample_is_read_as_what_its_title_tells(self, empty):
        workspace = engine.open_workspace(empty)
        corpus = samples.import_one(workspace, "clinic_letters")
        assert workspace.review.detector_settings(corpus.id).preset == "clinical"
        assert workspace.descriptions.get(corpus.id) is None, "nothing is declared public by that"
        assert proposed_preset(["Support tickets"]) is None, "the guided first run goes as it went"

    def test_detection_can_be_cancelled(self, small, open_page):
        job_id = small.open().jobs.detect(small.bare)
        app = open_page("review", bare=True)
        app.button(key=f"review.detect.cancel.{job_id}").click().run()
        assert small.open().jobs.get(job_id).state == "cancelled"

    def test_failed_detection_says_why_and_can_start_again(self, small, open_page):
        workspace = small.open()
        fail_job(workspace, workspace.jobs.detect(small.bare), "The machine ran out of memory.")
        app = open_page("review", bare=True)
        assert "Looking for identifiers stopped" in words(app)
        assert "out of memory" in words(app)
        assert app.button(key="review.detect.start").disabled is False

    def test_marks_that_came_with_the_file_are_the_findings(self, small, open_page):
        counts = desk(open_page("review"))["counts"]
        assert counts["accepted"] > 80
        assert (counts["reviewed"], counts["records"]) == (0, 81)

    def test_record_text_goes_to_the_desk_and_through_no_markdown(self, small, open_page):
        app = open_page("review", **{"review.filter.search": NEEDLE})
        (sheet,) = [sheet for sheet in desk(app)["sheets"] if sheet["id"] == "A0"]
        assert sheet["text"] == HOSTILE
        assert NEEDLE not in words(app)
        assert all(NEEDLE not in button.label for button in app.button)

    def states_of(self, small, record: str = "A0") -> list[tuple[str, str, bool]]:
        frame = span_table(small.open(), small.corpus, record)
        return [(row.label, row.state, bool(row.decided)) for row in frame.itertuples()]

    def span(self, small, record: str = "A0") -> str:
        return str(span_table(small.open(), small.corpus, record)["span_id"].iloc[0])

    def test_a_message_is_stored_and_answered_and_a_second_time_not_again(self, small):
        steps = [act(1, "reject", span=self.span(small)), act(2, "add", record="A0", places=[[0, 3]], label="MISC")]
        message = {"n": 7, "acts": steps, "record": "A0", "span": None, "page": None, "notes": []}
        reply, done, trouble = send(small, message, {**message, "n": 8})
        assert (reply, trouble) == (8, "")
        assert [(client, seq, refused) for client, seq, refused, _ in done] == [
            ("c0ffee00c0ffee00", 1, ""),
            ("c0ffee00c0ffee00", 2, ""),
        ]
        assert sorted(self.states_of(small)) == [("MISC", "accepted", True), ("PERSON", "rejected", True)]
        assert "1 span added" in small.open().review.undo(small.corpus)
        assert "1 span rejected" in small.open().review.undo(small.corpus)
        assert small.open().review.undo(small.corpus) is None, "the second message changed something"

    def test_what_is_refused_is_answered_with_its_reason_and_the_rest_is_stored(self, small):
        steps = [act(1, "accept", span="p-999999"), act(2, "reject", span=self.span(small))]
        _, done, _ = send(small, {"n": 1, "acts": steps, "record": "A0"})
        assert "does not exist any more" in done[0][2]
        assert done[1][2] == ""
        assert self.states_of(small) == [("PERSON", "rejected", True)]

    @pytest.mark.parametrize(
        "acts",
        [
            "no list",
            [{"client": "short", "seq": 1, "action": "accept"}],
            [{"client": "c0ffee00c0ffee00", "seq": -1, "action": "accept"}],
            [{"client": "c0ffee00c0ffee00", "seq": 1, "action": "add", "record": "A0", "places": [[0]]}],
            [{"client": "c0ffee00c0ffee00", "seq": 1, "action": "delete everything", "span": "p-1"}],
        ],
    )
    def test_a_message_that_is_none_changes_nothing(self, small, acts):
        before = self.states_of(small)
        send(small, {"n": 1, "acts": acts})
        assert self.states_of(small) == before
        assert small.open().review.undo(small.corpus) is None

    def test_a_note_is_kept_and_the_audit_log_does_not_hold_it(self, small, open_page):
        send(small, {"n": 1, "acts": [], "notes": [["A0", f"ask the ward about {NEEDLE}"]]})
        app = open_page("review", **{"review.filter.search": NEEDLE})
        assert desk(app)["sheets"][0]["note"] == f"ask the ward about {NEEDLE}"
        log = small.open().audit.lines().to_csv()
        assert "review note written" in log
        assert NEEDLE not in log

    def test_the_order_stays_while_one_works_and_is_made_anew_on_request(self, small, open_page):
        app = open_page("review")
        before = [row["id"] for row in desk(app)["rows"]]
        small.open().review.mark_reviewed(small.corpus, before[:1])
        app.run()
        assert [row["id"] for row in desk(app)["rows"]] == before
        assert desk(app)["rows"][0]["reviewed"] is True
        app.button(key="review.sort").click().run()
        after = [row["id"] for row in desk(app)["rows"]]
        assert after != before
        assert desk(app)["go"]["record"] == before[0], "the open text stays open"

    def test_the_next_texts_lie_ready_and_read_ones_are_passed_over(self, small, open_page):
        order = small.open().review.order(small.corpus)
        small.open().review.mark_reviewed(small.corpus, order[1:3])
        data = desk(open_page("review", **{"review.filter.order": "Riskiest first"}))
        assert data["next"][0] == order[3]
        assert {data["go"]["record"], *data["next"]} <= {sheet["id"] for sheet in data["sheets"]}

    def test_what_points_at_a_person_and_stays_is_counted_and_listed_on_request(self, small, open_page):
        workspace = small.open()
        with workspace.session.db.write() as connection:
            stays = (spans.c.corpus_id == small.corpus, spans.c.position == 0)
            connection.execute(spans.update().where(*stays).values(state="rejected"))
        data = desk(open_page("review"))
        assert (data["pressing"], data["only"], data["total"]) == (1, False, 81)
        app = AppTest.from_function(take, default_timeout=30)
        app.session_state["review.filter.search"] = "soup"
        app.session_state["sent"] = (small.path, small.corpus, [{"n": 1, "see": "pressing"}])
        app.run()
        asked = {name: app.session_state[f"review.filter.{name}"] for name in ("state", "labels", "below", "search")}
        assert asked == {"state": queue.PRESSING, "labels": [], "below": 100, "search": ""}
        data = desk(open_page("review", **{"review.filter.state": queue.PRESSING}))
        assert (data["only"], data["total"], data["go"]["record"]) == (True, 1, "A0")

    def test_the_spot_check_is_told_beside_the_counts_and_leads_there(self, small, open_page):
        words_, sentence = desk(open_page("review"))["spot"]
        assert words_.endswith("random texts tell what is missed") or words_ == "Spot check"
        assert "drawn at random" in sentence or "random sample" in sentence
        app = AppTest.from_function(take, default_timeout=30)
        app.session_state["sent"] = (small.path, small.corpus, [{"n": 1, "see": "spot"}, {"n": 2, "see": "elsewhere"}])
        app.run()
        assert not app.exception
        assert app.session_state["review.view"] == "Spot check"

    def test_a_finished_text_counts_as_reviewed(self, small, open_page):
        first = small.open().review.order(small.corpus)[0]
        send(small, {"n": 1, "acts": [act(1, "finish", record=first)]})
        assert span_table(small.open(), small.corpus, first)["decided"].all()
        assert "Not known: 1 reviewed text, none drawn at random." in words(open_page("review")), (
            "the sidebar's estimate"
        )

    def test_the_same_words_are_counted_here_and_elsewhere(self, small):
        workspace = small.open()
        first = HOSTILE.index(NEEDLE)
        name = add_span(workspace, small.corpus, "A0", first, first + len(NEEDLE), "PERSON")
        assert workspace.review.alike(small.corpus, name) == {
            "total": 1,
            "decided": 1,
            "here": 1,
            "elsewhere": 0,
            "others": 0,
        }
        (sheet,) = workspace.review.sheets(small.corpus, ["A0"])
        ((_, places),) = [item for item in sheet.free.items() if item[0].startswith(sheet.spans[1].value_key)]
        assert [HOSTILE[a:b] for a, b in places] == [NEEDLE]
        send(small, {"n": 1, "acts": [act(1, "accept", span=name, same=True)]})
        assert NEEDLE not in workspace.review.redacted(small.corpus, "A0")
        send(small, {"n": 2, "acts": [act(2, "undo", of=["c0ffee00c0ffee00", 1])]})
        assert workspace.review.redacted(small.corpus, "A0").count(NEEDLE) == 1

    def test_filters_that_fit_nothing_say_so(self, small, open_page):
        app = open_page("review")
        app.text_input(key="review.filter.search").set_value("no such words anywhere").run()
        assert "No text fits" in words(app)
        assert not app.exception

    def test_values_are_listed_and_searchable(self, small, open_page):
        app = open_page("review", **{"review.view": "Value by value"})
        assert len(app.dataframe[0].value) == 50
        app.text_input(key="review.values.search").set_value("Ann Lee").run()
        assert list(app.dataframe[0].value["value"]) == ["Ann Lee"]

    def test_a_type_is_decided_in_bulk_after_a_look_at_drawn_texts_and_undone_as_one(self, small, open_page):
        app = open_page("review", **{"review.view": "By type and confidence"})
        assert "Choose a type" in words(app)
        assert all(button.key != "review.bulk.decide" for button in app.button), "nothing is decided without a choice"
        types = app.dataframe[0].value
        counts = small.open().review.span_counts(small.corpus)
        assert types["found"].sum() == counts["accepted"] + counts["rejected"]
        assert list(types["found"]) == sorted(types["found"], reverse=True)
        app.multiselect(key="review.bulk.labels").set_value(["PERSON"]).run()
        assert not app.exception
        workspace = small.open()
        people = workspace.review.span_counts(small.corpus)["by_label"]["PERSON"]
        assert app.button(key="review.bulk.decide").label == f"Decide {people:,}: they stay"
        assert sum(one.key.startswith("review.bulk.") for one in app.get("bidi_component")) == 10
        app.button(key="review.bulk.decide").click().run()
        assert workspace.review.span_counts(small.corpus)["by_label_state"]["PERSON"]["rejected"] == people
        app.button(key="review.undo").click().run()
        assert workspace.review.span_counts(small.corpus)["rejected"] == 0
        assert workspace.review.span_counts(small.corpus)["decided"] == 0

    def test_settings_are_checked_and_saved(self, small, open_page):
        app = open_page("review", **{"review.view": "Detector settings"})
        area = next(area for area in app.text_area if area.label == "Known identifiers")
        area.set_value("Ann Lee\nLyon | place").run()
        app.button(key="review.set.save").click().run()
        assert "Detector settings saved" in words(app)
        known = small.open().review.detector_settings(small.corpus).known
        assert [(item.value, item.label) for item in known] == [("Ann Lee", "PERSON"), ("Lyon", "LOCATION")]

    def test_another_kind_of_text_is_saved_with_the_settings(self, small, open_page):
        app = open_page("review", **{"review.view": "Detector settings"})
        next(radio for radio in app.radio if radio.label == "What kind of text is it?").set_value("clinical").run()
        app.button(key="review.set.save").click().run()
        assert small.open().review.detector_settings(small.corpus).preset == "clinical"

    def test_save_and_look_again_queues_a_job(self, small, open_page):
        app = open_page("review", **{"review.view": "Detector settings"})
        app.button(key="review.set.again").click().run()
        assert [job.kind for job in small.open().jobs.all()] == ["detect"]
