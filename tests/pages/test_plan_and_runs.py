"""Plan and runs in their empty, full, running and failed states."""

from __future__ import annotations

from typing import Any

from streamlit.testing.v1 import AppTest

from pages._ui.plan.words import CARDS, FACES
from tests.pages.small import drawn_table, fail_job, labels, words


class TestPlanAndRuns:
    def test_plan_without_a_corpus(self, empty, visit):
        assert "Nothing loaded yet" in [one.value for one in visit("plan").subheader]

    def test_cards_state_guarantee_needs_and_cost(self, small, open_page):
        app = open_page("plan")
        text = words(app)
        assert FACES["heuristic"][0] in text, "the words of the card"
        assert "**Nothing is proven:**" in text
        assert "on this machine" in text
        assert app.button(key="plan.start").disabled is False

    def test_nothing_starts_before_identifiers_were_looked_for(self, small, open_page):
        app = open_page("plan", bare=True)
        assert app.button(key="plan.start").disabled
        assert "Cannot start" in words(app)

    def test_a_setting_out_of_range_is_named(self):
        def page():
            import streamlit as st

            from engine.methods import get_method
            from pages._ui.methods.parameters import checked

            st.text(str(checked(get_method("filter").spec, {"temperature": 9.0})))
            st.text(str(checked(get_method("filter").spec, {"temperature": 0.5})))

        app = AppTest.from_function(page, default_timeout=30).run()
        assert "Variety of the wording" in app.error[0].value
        assert "less than or equal to 2" in app.error[0].value
        assert [element.value for element in app.text] == ["None", "{'temperature': 0.5}"]

    def test_changed_settings_reach_the_run(self, small, open_page):
        app = open_page("plan", **{"plan.method": "filter"})
        app.number_input(key=f"plan.set.{small.corpus}.filter.temperature").set_value(0.5).run()
        app.button(key="plan.start").click().run()
        assert small.open().runs.all(small.corpus)[0].parameters["temperature"] == 0.5

    def start(self, small, open_page, **settings: Any) -> tuple[AppTest, str]:
        app = open_page("plan", **{"plan.method": "filter"})
        app.number_input(key=f"plan.count.{small.corpus}").set_value(settings.get("count", 12)).run()
        app.button(key="plan.start").click().run()
        assert not app.exception
        (run, *_) = sorted(small.open().runs.all(small.corpus), key=lambda run: run.created, reverse=True)
        return app, run.id

    def test_start_queues_a_run_and_shows_it(self, small, open_page):
        app, run_id = self.start(small, open_page)
        run = small.open().runs.get(run_id)
        assert (run.method, run.count, run.state) == ("filter", 12, "queued")
        assert app.title[0].value == "Runs"
        assert "Making synthetic text" in words(app)
        assert "Waiting for its turn" in [bar.proto.text for bar in app.get("progress")]

    def test_cancel_then_resume(self, small, open_page):
        app, run_id = self.start(small, open_page)
        job_id = small.open().runs.get(run_id).job_id
        app.button(key=f"run.live.cancel.{job_id}").click().run()
        assert small.open().runs.get(run_id).state == "cancelled"
        app = open_page("run")
        assert "was cancelled" in words(app)
        app.button(key="run.resume").click().run()
        assert small.open().runs.get(run_id).state == "queued"

    def test_failed_run_says_why(self, small, open_page):
        _, run_id = self.start(small, open_page)
        workspace = small.open()
        fail_job(workspace, workspace.runs.get(run_id).job_id, "The machine ran out of memory.")
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
        from engine.store.database.schema import runs

        with workspace.session.db.write() as connection:
            for run_id, drops in ((first, {"dropped: too near": 4}),
                                  (second, {"dropped: too near": 3, "dropped: too short": 1})):  # fmt: skip
                queue.finish(connection, workspace.runs.get(run_id).job_id, "done")
                connection.execute(
                    runs.update().where(runs.c.id == run_id).values(kept=10, funnel={"made": 14, **drops, "kept": 10})
                )
        app = open_page("run", **{"run.choice": first})
        assert "14 made, 10 kept of 12 wanted; 4 dropped: too near." in words(app)
        assert not app.get("plotly_chart"), "one reason needs no bars"
        app = open_page("run", **{"run.choice": second})
        text = words(app)
        assert "14 made, 10 kept of 20 wanted." in text
        assert app.get("plotly_chart")
        assert "outputs: 12 → 20" in text
        kinds = {one.key: one.proto.type for one in app.button}
        assert (kinds["run.again"], kinds["run.quick"]) == ("secondary", "primary")
        frame = workspace.corpora.frame(small.corpus)
        record = frame[frame["split"] == "train"]["record_id"].iloc[0]
        workspace.review.decide(small.corpus, [workspace.review.spans(small.corpus, record)[0].span_id], "reject")
        assert workspace.runs.get(second).stale
        old = open_page("run", **{"run.choice": second})
        kinds = {one.key: one.proto.type for one in old.button}
        assert (kinds["run.again"], kinds["run.quick"], kinds["run.examine"]) == ("primary", "secondary", "secondary")
        assert old.button(key="run.again").label == "Run it again with today's review"
        order = [one.key for one in old.button]
        assert order.index("run.again") < order.index("run.examine")
        history = [row for row in drawn_table(text) if "Kept" in row]
        assert [row["Kept"] for row in history] == ["10 of 20", "10 of 12"]
        assert "synthesize" in app.code[0].value
        assert "with a new seed" in app.button(key="run.again").help
        app.button(key="run.again").click().run()
        made = small.open().runs.all(small.corpus)
        assert len(made) == 3
        assert len({run.seed for run in made}) == 2

    def test_delete_asks_first(self, small, open_page):
        _, run_id = self.start(small, open_page)
        workspace = small.open()
        workspace.jobs.cancel(run_id)
        app = open_page("run")
        app.button(key="run.delete").click().run()
        assert len(workspace.runs.all(small.corpus)) == 1
        app.button(key="run.delete.sure").click().run()
        assert workspace.runs.all(small.corpus) == []

    def test_a_run_is_called_what_its_card_is_called(self, small, open_page):
        self.start(small, open_page)
        (run,) = small.open().runs.all(small.corpus)
        card = CARDS[run.method].name
        app = open_page("run")
        assert app.selectbox(key="run.choice").options[0].startswith(card)
        assert f"Method: {card}." in words(app)
        assert f"called {run.title} in the literature" in words(app), "that name stands in the fold"
        assert "builtin" not in words(app)

    def test_an_examination_starts_from_the_run_itself(self, small, open_page):
        _, run_id = self.start(small, open_page)
        workspace = small.open()
        from engine.store import queue
        from engine.store.database.schema import runs

        with workspace.session.db.write() as connection:
            queue.finish(connection, workspace.runs.get(run_id).job_id, "done")
            connection.execute(
                runs.update().where(runs.c.id == run_id).values(kept=10, funnel={"made": 10, "kept": 10})
            )
        app = open_page("run")
        assert "about" in app.button(key="run.examine").label
        app.button(key="run.quick").click().run()
        assert app.title[0].value == "Privacy"
        (job,) = [one for one in workspace.jobs.all(active_only=True) if one.kind == "examine"]
        assert job.run_id == run_id
        assert open_page("run").button(key="run.measured").label == "Watch the examination"


def test_findings_nobody_looked_at_are_counted_once(small, open_page):
    """A finding that nobody looked at is accepted or rejected all the same: it is one finding, not two."""
    workspace = small.open()
    from engine.store.database.schema import corpora

    with workspace.session.db.write() as connection:
        connection.execute(corpora.update().where(corpora.c.id == small.corpus).values(span_source="detected"))
    counts = workspace.review.span_counts(small.corpus)
    (surrogate,) = [spec for spec in workspace.plan.methods() if spec.id == "surrogate"]
    (said,) = workspace.plan.unreviewed(surrogate, workspace.corpora.get(small.corpus))
    assert f"of the {counts['accepted'] + counts['rejected']:,} findings" in said
