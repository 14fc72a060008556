"""Home, load, review, plan and runs in their empty, full, running and failed states, through AppTest."""

from __future__ import annotations

import csv
import io
import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

import engine
from engine.corpus.mapping import ColumnMapping

ROOT = Path(__file__).resolve().parents[2]
NEEDLE = "zqxv"
HOSTILE = f"Ann Lee wrote ![{NEEDLE}](http://evil.example/a.png) <script>{NEEDLE}()</script> from Lyon on 3 May 2021."


@dataclass(frozen=True)
class Small:
    """A workspace folder, a corpus with the file's own marks, and one in which nothing was looked for."""

    path: Path
    corpus: str
    bare: str

    def open(self) -> engine.Workspace:
        return engine.open_workspace(self.path)


def rows() -> list[dict[str, Any]]:
    """Return eighty made-up tickets with gold spans, the first one hostile to Markdown."""
    from engine.corpus.samples import generate

    made = generate("support_tickets", 80, 7).to_dict("records")
    spans = [{"start": 0, "end": 7, "label": "PERSON", "identifier_type": "direct"}]
    return [{"record_id": "A0", "text": HOSTILE, "source_id": "s0", "label": "other", "spans": spans}, *made]


def as_jsonl(records: list[dict[str, Any]]) -> bytes:
    return "\n".join(json.dumps(row) for row in records).encode()


def as_csv(records: list[dict[str, Any]]) -> bytes:
    out = io.StringIO()
    writer = csv.DictWriter(out, ["record_id", "text", "source_id", "label"], extrasaction="ignore")
    writer.writeheader()
    writer.writerows(records)
    return out.getvalue().encode()


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Small:
    path = tmp_path_factory.mktemp("small") / "workspace"
    workspace = engine.open_workspace(path)
    mapping = ColumnMapping(
        text="text", record_id="record_id", source_id="source_id", label="label", keep=(), spans="spans"
    )
    corpus = workspace.import_corpus(
        as_jsonl(rows()), "tickets.jsonl", mapping, name="Tickets *80*", unit="source", cap=20
    )
    bare = workspace.import_corpus(
        as_csv(rows()[:20]), "bare.csv", ColumnMapping(text="text", record_id="record_id"), name="Bare"
    )
    with workspace.db.write() as connection:  # the profile job that follows an import is not under test
        from engine.store import queue

        for job_id in queue.active_jobs(connection):
            queue.finish(connection, job_id, "done")
    workspace.close()
    return Small(path, corpus.id, bare.id)


@pytest.fixture
def small(made: Small, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Small]:
    """Return a copy of the workspace that this test may change; no worker starts."""
    from engine.jobs.lock import ProcessLock

    path = tmp_path / "workspace"
    shutil.copytree(made.path, path)
    monkeypatch.setenv("UNDERSTUDY_WORKSPACE", str(path))
    copy = replace(made, path=path)
    lock = ProcessLock(copy.open().folder.worker_lock)
    assert lock.acquire()
    yield copy
    lock.release()


@pytest.fixture
def open_page(small: Small, visit: Any) -> Any:
    """Return a function that opens a page with one of the two corpora chosen."""

    def go(page: str, *, bare: bool = False, **state: Any) -> AppTest:
        app: AppTest = visit(page, **{"_ui.next_corpus": small.bare if bare else small.corpus, **state})
        return app

    return go


def words(app: AppTest) -> str:
    """Return everything on the page that goes through Markdown or an alert."""
    kinds = ("title", "header", "subheader", "markdown", "caption", "error", "warning", "info", "success")
    return "\n".join(str(element.value) for kind in kinds for element in getattr(app, kind))


def labels(app: AppTest) -> list[str]:
    return [button.label for button in app.button]


def fail_job(workspace: engine.Workspace, job_id: str, why: str) -> None:
    from engine.store import queue

    with workspace.db.write() as connection:
        queue.finish(connection, job_id, "failed", why)


class TestFrame:
    def test_sidebar_says_what_is_known_of_a_corpus(self, small, open_page):
        text = words(open_page("home"))
        assert "everyone's records together" in text
        assert "left of ε = 10 (default limit)" in text
        assert "Missed identifiers" in text
        assert "No finished run yet" in text
        assert r"Tickets \*80\*" in text, "names are escaped"

    def test_a_folder_that_cannot_be_opened_fills_the_page(self, tmp_path, monkeypatch):
        path = tmp_path / "file"
        path.write_text("not a folder")
        monkeypatch.setenv("UNDERSTUDY_WORKSPACE", str(path))
        app = AppTest.from_file(str(ROOT / "pages/_ui/main.py"), default_timeout=30).run()
        assert not app.exception
        assert app.title[0].value == "The workspace cannot be opened"
        assert len(app.error) == 1
        assert not app.selectbox

    def test_a_page_reached_without_the_menu_shows_nothing(self, small):
        app = AppTest.from_file(str(ROOT / "pages/home.py"), default_timeout=30).run()
        assert app.title[0].value == "Please open this page through the menu"
        assert "Tickets" not in words(app)

    def test_leaving_draws_no_page_and_coming_back_does(self, small, open_page):
        app = open_page("home", **{"_ui.left": "stopped"})
        assert app.title[0].value == "You have left"
        assert "worker has stopped" in words(app)
        app.button(key="sidebar.leave.return").click().run()
        assert app.title[0].value == "Home"

    def test_leave_offers_to_keep_or_stop_the_worker(self, small, open_page):
        app = open_page("home")
        app.button(key="sidebar.leave").click().run()
        assert {"Keep the worker running", "Stop the worker"} <= set(labels(app))

    def test_running_job_shows_in_the_sidebar_of_another_page(self, small, open_page):
        small.open().detect(small.corpus)
        app = open_page("home")
        assert "Looking for identifiers" in words(app)
        assert "Waiting for its turn" in [bar.proto.text for bar in app.get("progress")]


class TestHome:
    def test_empty_offers_own_text_and_three_samples(self, empty, visit):
        app = visit("home")
        assert "Load your own" in labels(app)
        assert {"Try clinic letters", "Try support tickets", "Try court decisions"} <= set(labels(app))

    def test_next_step_of_a_row_leads_to_its_page(self, small, open_page):
        app = open_page("home")
        app.button(key=f"home.next.{small.corpus}").click().run()
        assert app.title[0].value == "Review"

    def test_rename(self, small, open_page):
        app = open_page("home")
        app.text_input(key=f"home.name.{small.corpus}").set_value("Letters 2021")
        app.button(key=f"home.rename.{small.corpus}").click().run()
        assert small.open().corpus(small.corpus).name == "Letters 2021"

    def test_delete_asks_first(self, small, open_page):
        app = open_page("home")
        app.button(key=f"home.delete.{small.corpus}").click().run()
        assert len(small.open().corpora()) == 2, "nothing goes before the second question"
        app.button(key=f"home.delete.sure.{small.corpus}").click().run()
        assert [corpus.id for corpus in small.open().corpora()] == [small.bare]
        assert not app.exception

    def test_sample_is_imported_and_becomes_current(self, empty, visit):
        app = visit("home")
        app.button(key="home.sample.try.court_decisions").click().run()
        assert not app.exception
        assert [corpus.name for corpus in engine.open_workspace(empty).corpora()] == ["Court decisions"]
        assert app.selectbox(key="sidebar.corpus").value == engine.open_workspace(empty).corpora()[0].id


class TestLoad:
    def upload(self, app: AppTest, name: str, content: bytes) -> AppTest:
        app.file_uploader(key="load.file.0").upload(name, content).run()
        assert not app.exception
        return app

    def test_empty_asks_for_a_file_and_offers_examples(self, empty, visit):
        app = visit("load")
        assert len(app.file_uploader) == 1
        assert not app.dataframe
        assert "Nothing is stored before you import" in words(app)

    def test_upload_map_and_import(self, empty, visit):
        app = visit("load")
        self.upload(app, "tickets.csv", as_csv(rows()))
        assert len(app.dataframe[0].value) == 10
        boxes = {box.label: box.value for box in app.selectbox if (box.key or "").startswith("load.map")}
        assert boxes["Text"] == "text"
        assert boxes["Person, case or author"] == "source_id"
        assert "people with" in words(app), "records a person are shown before the import"
        assert NEEDLE not in words(app)
        app.slider(key="load.holdout").set_value(30).run()
        app.button(key="load.import").click().run()
        assert not app.exception
        (corpus,) = engine.open_workspace(empty).corpora()
        assert (corpus.unit, corpus.holdout_rate, corpus.name) == ("source", 0.3, "tickets")
        assert app.radio(key="load.view").value == "What was loaded"
        assert "81 records" in words(app)

    def test_after_the_import_the_uploader_is_empty(self, empty, visit):
        app = visit("load")
        self.upload(app, "tickets.csv", as_csv(rows()))
        app.button(key="load.import").click().run()
        app.radio(key="load.view").set_value("Load a file").run()
        assert app.file_uploader(key="load.file.1").value is None
        assert "_ui.load.preview" not in app.session_state

    def test_a_broken_line_is_named_and_changes_nothing(self, empty, visit):
        app = visit("load")
        self.upload(app, "tickets.jsonl", b'{"text": "fine"}\n{"text": qqqq\n')
        text = words(app)
        assert "This file cannot be read" in text
        assert "tickets.jsonl" in text
        assert "2" in text
        assert "qqqq" not in text
        assert engine.open_workspace(empty).corpora() == []

    def test_a_refused_import_is_explained_beneath_the_button(self, empty, visit):
        app = visit("load")
        self.upload(app, "notes.csv", b"text,id\n" + b"\n".join(b"note %d about a visit,7" % i for i in range(12)))
        box = next(box for box in app.selectbox if (box.key or "").startswith("load.map.record"))
        box.set_value("id").run()
        app.button(key="load.import").click().run()
        assert not app.exception
        (error,) = app.error
        assert error.value.startswith("**Nothing was imported.**")
        assert "notes.csv" in error.value
        drawn = [type(element).__name__ for element in app.main]
        assert drawn.index("Error") > drawn.index("Button"), "beneath the button that was pressed"
        assert engine.open_workspace(empty).corpora() == []

    def test_path_on_this_machine(self, empty, visit, tmp_path):
        file = tmp_path / "tickets.jsonl"
        file.write_bytes(as_jsonl(rows()))
        app = visit("load")
        app.radio(key="load.way").set_value("Path on this machine").run()
        app.text_input(key="load.path").set_value(str(file)).run()
        assert not app.exception
        assert len(app.dataframe[0].value) == 10
        app.text_input(key="load.path").set_value(str(tmp_path / "missing.csv")).run()
        assert "missing.csv" in words(app)
        assert "check the path" in words(app)

    def test_person_needs_a_column(self, empty, visit):
        app = visit("load")
        self.upload(app, "notes.csv", b"text\n" + b"\n".join(b"note %d about a visit" % i for i in range(12)))
        unit = next(radio for radio in app.radio if (radio.key or "").startswith("load.unit"))
        unit.set_value("source").run()
        assert app.button(key="load.import").disabled
        assert "Choose the column that names the person" in words(app)

    def test_what_was_loaded_shows_figures_and_warnings(self, small, open_page):
        app = open_page("load")
        app.radio(key="load.view").set_value("What was loaded").run()
        assert not app.exception
        assert app.metric[0].value == "81"
        assert len(app.get("plotly_chart")) >= 3
        assert app.warning, "a small holdout is pointed out"

    def test_search_for_near_duplicates_is_shown_while_it_runs(self, small, open_page):
        from engine.store import queue

        with small.open().db.write() as connection:
            queue.enqueue(connection, "profile", corpus_id=small.bare)
        app = open_page("load", bare=True)
        app.radio(key="load.view").set_value("What was loaded").run()
        assert "Looking for near-duplicates" in words(app)


class TestReview:
    def test_without_a_corpus(self, empty, visit):
        assert "No corpus yet" in words(visit("review"))

    def test_first_time_starts_detection(self, small, open_page):
        app = open_page("review", bare=True)
        assert "Nothing was looked for yet" in words(app)
        app.button(key="review.detect.start").click().run()
        assert not app.exception
        (job,) = small.open().jobs()
        assert (job.kind, job.state) == ("detect", "queued")
        assert "You can leave this page" in words(app)

    def test_detection_can_be_cancelled(self, small, open_page):
        job_id = small.open().detect(small.bare)
        app = open_page("review", bare=True)
        app.button(key=f"review.detect.cancel.{job_id}").click().run()
        assert small.open().job(job_id).state == "cancelled"

    def test_failed_detection_says_why_and_can_start_again(self, small, open_page):
        workspace = small.open()
        fail_job(workspace, workspace.detect(small.bare), "The machine ran out of memory.")
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
        frame = small.open().record_spans(small.corpus, record)
        return [(row.label, row.state, bool(row.decided)) for row in frame.itertuples()]

    def test_accept_then_undo(self, small, open_page):
        app = self.opened(small, open_page)
        app.button(key="review.accept").click().run()
        assert self.states_of(small) == [("PERSON", "accepted", True)]
        app.button(key="review.undo").click().run()
        assert self.states_of(small) == [("PERSON", "accepted", False)]
        assert "Took back" in words(app)

    def test_reject_leaves_the_text_as_it_is(self, small, open_page):
        app = self.opened(small, open_page)
        app.button(key="review.reject").click().run()
        assert self.states_of(small) == [("PERSON", "rejected", True)]
        assert small.open().redacted(small.corpus, "A0") == HOSTILE

    def test_change_type(self, small, open_page):
        app = self.opened(small, open_page)
        span_id = small.open().record_spans(small.corpus, "A0")["span_id"].iloc[0]
        app.selectbox(key=f"review.type.{span_id}").set_value("USERNAME").run()
        app.button(key="review.relabel").click().run()
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
        frame, _ = workspace.values(small.corpus, limit=1)
        count = int(frame["count"].iloc[0])
        queue, _ = workspace.review_queue(small.corpus, limit=100)
        for record in queue["record_id"]:
            for row in workspace.record_spans(small.corpus, record).itertuples():
                if workspace.same_value(small.corpus, row.span_id) == count - 1:
                    app = open_page(
                        "review",
                        **{
                            f"_ui.review.record.{small.corpus}": record,
                            f"_ui.review.span.{small.corpus}": row.span_id,
                        },
                    )
                    assert app.button(key="review.alike.reject").label == f"Reject all {count:,}"
                    app.button(key="review.alike.reject").click().run()
                    assert workspace.span_counts(small.corpus)["rejected"] == count
                    return
        pytest.fail("no finding with that value")

    def test_next_and_previous_walk_through_the_findings(self, small, open_page):
        queue, _ = small.open().review_queue(small.corpus, limit=100)
        record = queue.loc[queue["spans"].idxmax(), "record_id"]
        total = int(queue["spans"].max())
        app = self.opened(small, open_page, record)
        assert f"Finding 1 of {total}" in words(app)
        app.button(key="review.next").click().run()
        assert f"Finding 2 of {total}" in words(app)
        app.button(key="review.previous").click().run()
        assert f"Finding 1 of {total}" in words(app)

    def test_a_finished_text_counts_as_reviewed_and_the_next_opens(self, small, open_page):
        app = open_page("review")
        first = app.session_state[f"_ui.review.record.{small.corpus}"]
        app.button(key="review.done").click().run()
        assert app.session_state[f"_ui.review.record.{small.corpus}"] != first
        assert small.open().record_spans(small.corpus, first)["decided"].all()
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
        known = small.open().detector_settings(small.corpus).known
        assert [(item.value, item.label) for item in known] == [("Ann Lee", "PERSON"), ("Lyon", "LOCATION")]

    def test_save_and_look_again_queues_a_job(self, small, open_page):
        app = open_page("review", **{"review.view": "Detector settings"})
        app.button(key="review.set.again").click().run()
        assert [job.kind for job in small.open().jobs()] == ["detect"]


class TestPlanAndRuns:
    def test_plan_without_a_corpus(self, empty, visit):
        assert "No corpus yet" in words(visit("plan"))

    def test_cards_state_guarantee_needs_and_cost(self, small, open_page):
        app = open_page("plan")
        text = words(app)
        assert "no formal guarantee" in text
        assert "Good for" in text
        assert "Costs here" in text
        assert "**Needs**" in text
        assert app.button(key="plan.start").disabled is False

    def test_nothing_starts_before_identifiers_were_looked_for(self, small, open_page):
        app = open_page("plan", bare=True)
        assert app.button(key="plan.start").disabled
        assert "Refused" in words(app)

    def test_a_setting_out_of_range_is_named(self):
        def page():
            import streamlit as st

            from engine.methods import get_method
            from pages._ui.parameters import checked

            st.text(str(checked(get_method("filter").spec, {"temperature": 9.0})))
            st.text(str(checked(get_method("filter").spec, {"temperature": 0.5})))

        app = AppTest.from_function(page, default_timeout=30).run()
        assert "Temperature" in app.error[0].value
        assert "less than or equal to 2" in app.error[0].value
        assert [element.value for element in app.text] == ["None", "{'temperature': 0.5}"]

    def test_changed_settings_reach_the_run(self, small, open_page):
        app = open_page("plan", **{"plan.method": "filter"})
        app.number_input(key=f"plan.set.{small.corpus}.filter.temperature").set_value(0.5).run()
        app.button(key="plan.start").click().run()
        assert small.open().runs(small.corpus)[0].parameters["temperature"] == 0.5

    def start(self, small, open_page, **settings: Any) -> tuple[AppTest, str]:
        app = open_page("plan", **{"plan.method": "filter"})
        app.number_input(key=f"plan.count.{small.corpus}").set_value(settings.get("count", 12)).run()
        app.button(key="plan.start").click().run()
        assert not app.exception
        (run, *_) = sorted(small.open().runs(small.corpus), key=lambda run: run.created, reverse=True)
        return app, run.id

    def test_start_queues_a_run_and_shows_it(self, small, open_page):
        app, run_id = self.start(small, open_page)
        run = small.open().run(run_id)
        assert (run.method, run.count, run.state) == ("filter", 12, "queued")
        assert app.title[0].value == "Runs"
        assert "Making synthetic text" in words(app)
        assert "Waiting for its turn" in [bar.proto.text for bar in app.get("progress")]

    def test_cancel_then_resume(self, small, open_page):
        app, run_id = self.start(small, open_page)
        job_id = small.open().run(run_id).job_id
        app.button(key=f"run.live.cancel.{job_id}").click().run()
        assert small.open().run(run_id).state == "cancelled"
        app = open_page("run")
        assert "was cancelled" in words(app)
        app.button(key="run.resume").click().run()
        assert small.open().run(run_id).state == "queued"

    def test_failed_run_says_why(self, small, open_page):
        _, run_id = self.start(small, open_page)
        workspace = small.open()
        fail_job(workspace, workspace.run(run_id).job_id, "The machine ran out of memory.")
        app = open_page("run")
        assert "This run stopped" in words(app)
        assert "out of memory" in words(app)
        assert "Resume" in labels(app)

    def test_no_runs_yet(self, small, open_page):
        app = open_page("run")
        assert "No runs yet" in words(app)
        app.button(key="run.none").click().run()
        assert app.title[0].value == "Plan"

    def test_done_run_shows_funnel_history_difference_and_script(self, small, open_page):
        _, first = self.start(small, open_page)
        _, second = self.start(small, open_page, count=20)
        workspace = small.open()
        from engine.store import queue
        from engine.store.schema import runs

        with workspace.db.write() as connection:
            for run_id in (first, second):
                queue.finish(connection, workspace.run(run_id).job_id, "done")
                connection.execute(
                    runs.update()
                    .where(runs.c.id == run_id)
                    .values(kept=10, funnel={"made": 14, "dropped: too near": 4, "kept": 10})
                )
        app = open_page("run", **{"run.choice": second})
        text = words(app)
        assert "14 made, 10 kept of 20 wanted." in text
        assert "outputs: 12 → 20" in text
        assert list(app.dataframe[0].value["Kept"]) == [10, 10]
        assert "synthesize" in app.code[0].value
        app.button(key="run.again").click().run()
        assert len(small.open().runs(small.corpus)) == 3

    def test_delete_asks_first(self, small, open_page):
        _, run_id = self.start(small, open_page)
        workspace = small.open()
        workspace.cancel(run_id)
        app = open_page("run")
        app.button(key="run.delete").click().run()
        assert len(workspace.runs(small.corpus)) == 1
        app.button(key="run.delete.sure").click().run()
        assert workspace.runs(small.corpus) == []
