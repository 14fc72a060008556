"""Review: queue, decisions, values, states."""

from __future__ import annotations

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.small import HOSTILE, NEEDLE, fail_job, words
from tests.store.span_tables import span_table


def button(app: AppTest, start: str) -> Any:
    """Return the button whose key starts so; the rest names the finding or text that is shown."""
    return next(one for one in app.button if (one.key or "").startswith(start))


def press_late() -> None:
    """Make the call of a press that comes after another card has become the current one."""
    import streamlit as st

    from pages._ui.review import card as review_card

    review_card._decide(*st.session_state["press"])


class TestReview:
    def test_without_a_corpus(self, empty, visit):
        assert "No corpus yet" in words(visit("review"))

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

    def test_findings_are_compared_with_the_files_own_marks(self, small, open_page):
        app = open_page("review", **{"review.view": "Detector settings"})
        app.button(key="review.gold.compare").click().run()
        assert not app.exception
        said = words(app)
        assert "Direct identifiers that are masked wherever they stand: 100.0% (" in said
        assert "Masked words that the file marks too: 100.0% (" in said
        assert "the file marks" in said

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
        app = open_page("review")
        assert "What happens to findings nobody looks at" in words(app)
        assert int(app.metric[0].value.replace(",", "")) > 80

    def test_record_text_goes_through_no_markdown(self, small, open_page):
        app = open_page("review", **{f"_ui.review.record.{small.corpus}": "A0"})
        assert any("A0" in element.value for element in app.text)
        assert NEEDLE not in words(app)
        assert all(NEEDLE not in button.label for button in app.button)
        app.text_input(key="review.add.phrase.A0").set_value(NEEDLE).run()
        assert NEEDLE not in words(app)
        assert "Found in 2 places" in words(app)

    def opened(self, small, open_page, record: str = "A0") -> AppTest:
        return open_page("review", **{f"_ui.review.record.{small.corpus}": record})

    def states_of(self, small, record: str = "A0") -> list[tuple[str, str, bool]]:
        frame = span_table(small.open(), small.corpus, record)
        return [(row.label, row.state, bool(row.decided)) for row in frame.itertuples()]

    def test_accept_then_undo(self, small, open_page):
        app = self.opened(small, open_page)
        button(app, "review.accept.").click().run()
        assert self.states_of(small) == [("PERSON", "accepted", True)]
        app.button(key="review.undo").click().run()
        assert self.states_of(small) == [("PERSON", "accepted", False)]
        assert "Took back" in words(app)

    def test_reject_leaves_the_text_as_it_is(self, small, open_page):
        app = self.opened(small, open_page)
        button(app, "review.reject.").click().run()
        assert self.states_of(small) == [("PERSON", "rejected", True)]
        assert small.open().review.redacted(small.corpus, "A0") == HOSTILE

    def test_change_type(self, small, open_page):
        app = self.opened(small, open_page)
        span_id = span_table(small.open(), small.corpus, "A0")["span_id"].iloc[0]
        app.selectbox(key=f"review.type.{span_id}").set_value("USERNAME").run()
        button(app, "review.relabel.").click().run()
        assert self.states_of(small) == [("USERNAME", "accepted", True)]

    def test_typed_words_are_added_at_each_place(self, small, open_page):
        app = self.opened(small, open_page)
        app.text_input(key="review.add.phrase.A0").set_value("Lyon").run()
        app.selectbox(key="review.add.type").set_value("LOCATION").run()
        app.button(key="review.add.add").click().run()
        assert ("LOCATION", "accepted", True) in self.states_of(small)

    def test_selected_text_is_shown_before_it_is_added(self, small, open_page):
        start = HOSTILE.index("3 May")
        app = open_page(
            "review",
            **{
                f"_ui.review.record.{small.corpus}": "A0",
                "_ui.review.pending": {"record_id": "A0", "start": start, "end": start + 10},
            },
        )
        assert "3 May 2021" in [element.value for element in app.text]
        app.selectbox(key="review.addition.type").set_value("DATE").run()
        app.button(key="review.addition.add").click().run()
        assert ("DATE", "accepted", True) in self.states_of(small)

    def test_all_like_this_says_how_many_first(self, small, open_page):
        workspace = small.open()
        frame, _ = workspace.values.table(small.corpus, limit=1)
        count = int(frame["count"].iloc[0])
        queue, _ = workspace.review.queue(small.corpus, limit=100)
        for record in queue["record_id"]:
            for row in span_table(workspace, small.corpus, record).itertuples():
                if workspace.review.same_value(small.corpus, row.span_id) == count - 1:
                    app = open_page(
                        "review",
                        **{
                            f"_ui.review.record.{small.corpus}": record,
                            f"_ui.review.span.{small.corpus}": row.span_id,
                        },
                    )
                    assert app.button(key="review.alike.reject").label == f"Reject all {count:,}"
                    app.button(key="review.alike.reject").click().run()
                    assert workspace.review.span_counts(small.corpus)["rejected"] == count
                    return
        pytest.fail("no finding with that value")

    def test_the_same_words_without_a_mark_are_marked_with_an_accepted_name(self, small, open_page):
        workspace = small.open()
        text = workspace.review.record_text(small.corpus, "A0")
        first = text.index(NEEDLE)
        name = workspace.review.add_span(small.corpus, "A0", first, first + len(NEEDLE), "PERSON")
        place = {f"_ui.review.record.{small.corpus}": "A0", f"_ui.review.span.{small.corpus}": name}
        app = open_page("review", **place)
        box = app.checkbox(key=f"review.same.{name}")
        assert box.value is True
        assert box.label == "1 more place in this text, not marked: mark it too"
        button(app, "review.accept.").click().run()
        assert not app.exception
        assert NEEDLE not in workspace.review.redacted(small.corpus, "A0")
        workspace.review.undo(small.corpus)
        app = open_page("review", **place)
        app.checkbox(key=f"review.same.{name}").uncheck().run()
        button(app, "review.accept.").click().run()
        assert workspace.review.redacted(small.corpus, "A0").count(NEEDLE) == 1

    def test_next_and_previous_walk_through_the_findings(self, small, open_page):
        queue, _ = small.open().review.queue(small.corpus, limit=100)
        record = queue.loc[queue["spans"].idxmax(), "record_id"]
        total = int(queue["spans"].max())
        app = self.opened(small, open_page, record)
        assert f"Finding 1 of {total}" in words(app)
        button(app, "review.next.").click().run()
        assert f"Finding 2 of {total}" in words(app)
        button(app, "review.previous.").click().run()
        assert f"Finding 1 of {total}" in words(app)

    def test_a_finished_text_counts_as_reviewed_and_the_next_opens(self, small, open_page):
        app = open_page("review")
        first = app.session_state[f"_ui.review.record.{small.corpus}"]
        button(app, "review.done.").click().run()
        assert app.session_state[f"_ui.review.record.{small.corpus}"] != first
        assert span_table(small.open(), small.corpus, first)["decided"].all()
        assert "judged by 1 reviewed text." in words(app), "the sidebar's estimate"

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

    def test_a_second_key_on_a_card_decides_nothing_about_the_next(self, small, open_page):
        """A press that the browser sent before the next card was drawn still names the card it was made on."""
        from pages._ui.review import state as review_state

        queue, _ = small.open().review.queue(small.corpus, limit=100)
        record = queue.loc[queue["spans"].idxmax(), "record_id"]
        first, second = span_table(small.open(), small.corpus, record)["span_id"].iloc[:2]

        app = self.opened(small, open_page, record)
        button(app, f"review.accept.{first}").click().run()
        assert app.session_state[review_state._key(small.corpus, "span")] == second
        before = self.states_of(small, record)
        app = AppTest.from_function(press_late, default_timeout=30)
        for name, value in (("record", record), ("span", second)):
            app.session_state[review_state._key(small.corpus, name)] = value
        app.session_state["press"] = (small.open(), small.corpus, record, [first, second], first, "reject")
        app.run()
        assert self.states_of(small, record) == before
        assert "was not counted" in str(app.session_state["_ui.notices"])
