"""Home, empty and full."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import engine
from pages._ui.corpus import corpus_rows
from pages._ui.home import activity
from pages._ui.home.first_steps import BEGUN, HELD
from pages._ui.runs.unexamined import CAUTION
from pages._ui.texts import run_title
from tests.pages.small import labels


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
        assert small.open().corpora.get(small.corpus).name == "Letters 2021"

    def test_delete_asks_first(self, small, open_page):
        app = open_page("home")
        app.button(key=f"home.delete.{small.corpus}").click().run()
        assert len(small.open().corpora.all()) == 2, "nothing goes before the second question"
        app.button(key=f"home.delete.sure.{small.corpus}").click().run()
        assert [corpus.id for corpus in small.open().corpora.all()] == [small.bare]
        assert not app.exception

    def test_sample_is_imported_and_becomes_current(self, empty, visit):
        app = visit("home")
        app.button(key="home.sample.try.court_decisions").click().run()
        assert not app.exception
        assert [corpus.name for corpus in engine.open_workspace(empty).corpora.all()] == ["Court decisions"]
        assert app.selectbox(key="sidebar.corpus").value == engine.open_workspace(empty).corpora.all()[0].id


def ticked(app):
    """Return the steps of the first release that are done, by their titles: ticked, or to be looked at inside."""
    lines = [str(line.value) for line in app.markdown if " · :small[" in str(line.value)]
    return [line.split("] ")[1].split(" · ")[0] for line in lines if line.startswith((":green[", f":orange[{HELD}]"))]


def half(app):
    """Return the steps that are half done, by their titles."""
    lines = [str(line.value) for line in app.markdown if " · :small[" in str(line.value)]
    return [line.split("] ")[1].split(" · ")[0] for line in lines if line.startswith(f":orange[{BEGUN}]")]


ALL = ["Load text", "Look for identifiers", "Review what was found", "Make synthetic text", "Examine it",
       "Approve records", "Build the release"]  # fmt: skip


class TestFirstSteps:
    def list_of(self, app):
        return next(box for box in app.expander if "first release" in box.label)

    def test_an_empty_workspace_begins_with_one_press(self, empty, visit):
        app = visit("home")
        assert ticked(app) == []
        assert self.list_of(app).proto.expanded
        assert app.button(key="home.step.go.release").disabled
        assert app.button(key="home.step.sample").label == "Start with support tickets"
        app.button(key="home.step.sample").click().run()
        assert not app.exception
        assert ticked(app) == ALL[:2], "the sample came with its identifiers"
        (corpus,) = engine.open_workspace(empty).corpora.all()
        assert corpus.name == "Support tickets"
        grey = {step: app.button(key=f"home.step.go.{step}").disabled
                for step in ("review", "run", "examine", "approve", "release")}  # fmt: skip
        assert grey == {"review": False, "run": False, "examine": True, "approve": True, "release": True}
        first = [one.key for one in app.button if one.proto.type == "primary" and one.key.startswith("home.")]
        assert first == ["home.step.go.review"], "one thing stands out on the screen"

    def test_lines_tick_themselves_from_what_was_done(self, seeded, visit):
        workspace = seeded.open()
        app = visit("home")
        assert ticked(app) == [*ALL[:2], *ALL[3:5]], "what was examined is done, whoever it may go to"
        (line,) = [str(one.value) for one in app.markdown if "Examine it · :small[" in str(one.value)]
        inside = "for inside eyes only" in line or "may not leave" in line
        assert line.startswith(":orange[" if inside else ":green["), "no green tick at what stays inside"
        assert half(app) == []
        record = workspace.corpora.records(seeded.corpus, limit=1)["record_id"].iloc[0]
        workspace.review.mark_reviewed(seeded.corpus, [record])
        workspace.runs.approve_all_pending(seeded.run)
        app = visit("home", **{"_ui.run": seeded.run})
        assert ticked(app) == [*ALL[:2], *ALL[3:6]]
        assert half(app) == [ALL[2]], "read in part"
        assert "5 of 7 done, 1 in part" in self.list_of(app).label
        workspace.releases.make(seeded.run, "exploratory", accept_unbounded=True)
        app = visit("home")
        assert ticked(app) == [*ALL[:2], *ALL[3:]]
        assert not self.list_of(app).proto.expanded, "it folds when it is done"

    def test_the_line_of_the_examination_says_what_it_found_and_leads_there(self, seeded, visit):
        app = visit("home", **{"_ui.run": seeded.run})
        (line,) = [str(one.value) for one in app.markdown if "Examine it" in str(one.value)]
        assert BEGUN not in line, "an examination that ended is no half one"
        suits = engine.headline(engine.use_table(seeded.open().examinations.findings(seeded.run))).rstrip(".")
        assert suits[1:] in line
        assert any(start in line for start in ("may not leave", "for inside eyes only", "may go to"))
        app.button(key="home.step.see.examine").click().run()
        assert app.title[0].value == "Privacy"

    def test_an_open_line_leads_to_its_page_with_its_corpus(self, small, open_page):
        app = open_page("home", bare=True)
        assert ticked(app) == ALL[:1]
        app.button(key="home.step.go.detect").click().run()
        assert app.title[0].value == "Review"
        assert app.selectbox(key="sidebar.corpus").value == small.bare

    def test_it_can_be_put_away_and_stays_away(self, small, open_page):
        app = open_page("home")
        assert self.list_of(app).proto.expanded
        app.button(key="home.steps.away").click().run()
        assert not self.list_of(app).proto.expanded
        assert not self.list_of(open_page("home")).proto.expanded

    def test_work_that_goes_on_is_shown_as_such(self, seeded, visit):
        job = seeded.open().jobs.examine(seeded.other)
        app = visit("home")
        assert app.button(key="home.step.go.review").label == "Review"
        assert any("waiting" in str(line.value) for line in app.markdown), "it stands under what is next"
        seeded.open().jobs.cancel(job)

    def test_a_job_that_begins_after_the_page_was_drawn_shows_its_bar(self, seeded, visit, monkeypatch):
        job = seeded.open().jobs.examine(seeded.other)
        monkeypatch.setattr(
            activity, "still_running", lambda workspace, job_id: replace(workspace.jobs.get(job_id), state="running")
        )
        app = visit("home")
        assert not any("waiting" in str(line.value) for line in app.markdown)
        assert app.button(key=f"home.job.cancel.{job}")
        seeded.open().jobs.cancel(job)


class TestOneRun:
    """What the list, the row and what is next say is of one run."""

    def test_an_examination_of_another_run_is_not_taken_for_that_of_this_one(self, seeded, visit, add_job):
        from engine.store.database.schema import runs

        workspace = seeded.open()
        with workspace.session.db.write() as connection:
            connection.execute(runs.update().where(runs.c.id == seeded.other).values(examined_at=None))
        add_job(workspace, "examine", "running", corpus_id=seeded.corpus, run_id=seeded.other)
        app = visit("home", **{"_ui.run": seeded.run})
        assert app.button(key=f"home.next.{seeded.corpus}").label == "Release"
        assert app.button(key="home.step.see.examine").label == "Privacy"
        title = run_title(seeded.open().runs.get(seeded.run))
        assert any(f"run “{title}" in box.label for box in app.expander), "the list names its run"
        app = visit("home", **{"_ui.run": seeded.other})
        assert app.button(key=f"home.next.{seeded.corpus}").label == "Watch the examination"
        watch = app.button(key="home.step.go.examine")
        assert (watch.label, watch.proto.type) == ("Watch the examination", "primary")
        assert app.button(key="home.step.go.approve").proto.type == "tertiary"

    def test_a_run_with_a_proof_is_led_to_its_release_and_told_what_an_examination_takes(self, seeded, visit, add_run):
        from engine.dp.guarantee import Guarantee
        from tests.store.making import made_with

        workspace = seeded.open()
        run = add_run(workspace, seeded.corpus, [{"text": "The soup came late."}])
        app = visit("home", **{"_ui.run": run})
        assert app.button(key="home.step.go.examine").proto.type == "primary"
        assert CAUTION not in "".join(str(line.value) for line in app.markdown)
        claim = Guarantee("dp", "Proven.", epsilon=2.0, delta=1e-6, unit="source", adjacency="zero-out")
        made_with(workspace.session, run, guarantee=claim.as_dict())
        app = visit("home", **{"_ui.run": run})
        assert app.button(key="home.step.go.approve").proto.type == "primary"
        assert any(CAUTION in str(line.value) for line in app.markdown)
        assert app.button(key=f"home.next.{seeded.corpus}").label == "Release"

    def test_what_may_not_leave_is_not_to_be_approved_and_what_left_is_said(self, seeded, visit):
        workspace = seeded.open()
        app = visit("home", **{"_ui.run": seeded.other})
        assert app.button(key="home.step.go.approve").label == "Approve", "no readers are named: it stays inside"
        workspace.plan.remember(seeded.corpus, {"recipients": "public"})
        app = visit("home", **{"_ui.run": seeded.other})
        assert app.button(key="home.step.go.approve").label == "See why it cannot leave"
        said = "\n".join(str(one.value) for one in (*app.markdown, *app.caption))
        assert "breaks rules of the policy for its readers" in said
        assert "Readers named on Plan: anyone" in said, "the last activity in words"
        workspace.runs.approve_all_pending(seeded.run)
        made = workspace.releases.make(seeded.run, "exploratory", accept_unbounded=True)
        app = visit("home", **{"_ui.run": seeded.run})
        assert "download it there, or withdraw it" in "\n".join(str(one.value) for one in app.caption)
        workspace.releases.revoke(made.id, "A name was found.")
        app = visit("home", **{"_ui.run": seeded.run})
        assert "and that was withdrawn" in "\n".join(str(one.value) for one in app.caption)


class TestActivity:
    def test_a_run_the_review_has_left_behind_is_named_and_leads_to_plan(self, seeded, visit):
        workspace = seeded.open()
        frame = workspace.corpora.frame(seeded.corpus)
        record = frame[frame["split"] == "train"]["record_id"].iloc[0]
        assert not visit("home").warning
        workspace.review.decide(seeded.corpus, [workspace.review.spans(seeded.corpus, record)[0].span_id], "reject")
        app = visit("home")
        (said,) = [box.value for box in app.warning]
        many = sum(run.stale for run in workspace.runs.all(seeded.corpus) if run.state == "done")
        begins = "One run was made" if many == 1 else f"{many} runs were made"
        assert said.startswith(f"{begins} before you changed the review of ")
        assert "“" in said
        assert said.endswith("again only if you want to use it.")
        app = visit("home", **{"_ui.run": seeded.run})
        assert workspace.runs.get(seeded.run).stale
        again = app.button(key="home.step.go.run")
        assert (again.label, again.proto.type, again.disabled) == ("Make it again", "primary", False)
        assert app.button(key="home.step.go.approve").disabled, "nothing of it can be released"
        assert "home.step.see.examine" not in {one.key for one in app.button}, "its measurements are out of date"
        assert f"home.then.go.{seeded.corpus}" not in {one.key for one in app.button}
        assert app.button(key=f"home.next.{seeded.corpus}").label == "Plan a run"
        app.button(key=f"home.stale.go.{seeded.corpus}").click().run()
        assert app.title[0].value == "Plan"

    def test_what_the_ledger_asks_comes_first_and_leads_there(self, small, open_page, monkeypatch):
        from dataclasses import replace

        from engine.store.budget.ledger import Ledger

        assert f"home.asked.go.{small.corpus}" not in {one.key for one in open_page("home").button}
        of = Ledger.of

        def lost(self, corpus_id):
            view = of(self, corpus_id)
            return replace(view, unknown_since="2026-11-28T22:07:24+00:00") if corpus_id == small.corpus else view

        monkeypatch.setattr(Ledger, "of", lost)
        app = open_page("home")
        keys = [str(one.key) for one in app.button if str(one.key).startswith(("home.asked.go", "home.then.go"))]
        assert keys[0] == f"home.asked.go.{small.corpus}"
        app.button(key=keys[0]).click().run()
        assert app.title[0].value == "Ledger and audit"
        assert app.selectbox(key="sidebar.corpus").value == small.corpus

    def test_acts_alike_in_a_row_are_one_and_named(self, small, open_page):
        workspace = small.open()
        for record in workspace.corpora.records(small.corpus, limit=3)["record_id"]:
            workspace.review.mark_reviewed(small.corpus, [record])
        said = [str(line.value) for line in open_page("home").markdown]
        (line,) = [line for line in said if line.startswith("Review decisions")]
        assert "3 times" in line
        assert "Tickets \\*80\\*" in line, "a name is no Markdown"

    def test_what_is_next_leads_there(self, small, open_page):
        app = open_page("home")
        app.button(key=f"home.then.go.{small.bare}").click().run()
        assert app.title[0].value == "Review"
        assert app.selectbox(key="sidebar.corpus").value == small.bare


def test_what_is_being_done_is_not_offered_again(seeded, visit, add_job):
    workspace = seeded.open()
    (corpus,) = workspace.corpora.all()
    step = workspace.corpora.get(corpus.id).next_step
    kind = {"release": None, "examine": "examine", "detect": "detect", "run": "synthesize"}.get(step)
    if kind is None:  # the seeded corpus is examined: take that back
        from engine.store.database.schema import runs

        with workspace.session.db.write() as connection:
            connection.execute(runs.update().values(examined_at=None))
        kind = "examine"
    assert f"home.then.go.{corpus.id}" in {one.key for one in visit("home").button}
    add_job(workspace, kind, "running", corpus_id=corpus.id, run_id=seeded.run)
    app = visit("home", **{"_ui.run": seeded.run})
    assert f"home.then.go.{corpus.id}" not in {one.key for one in app.button}, "its job stands there instead"
    assert app.button(key=f"home.next.{corpus.id}").label.startswith("Watch the ")


def test_while_identifiers_are_looked_for_again_that_is_what_is_next(small, open_page, add_job):
    assert ALL[1] in ticked(open_page("home"))
    job = add_job(small.open(), "detect", "running", corpus_id=small.corpus)
    app = open_page("home")
    (line,) = [str(one.value) for one in app.markdown if "Look for identifiers**" in str(one.value)]
    assert "being looked for again" in line
    assert ALL[1] not in ticked(app)
    watch = app.button(key="home.step.go.detect")
    assert (watch.label, watch.proto.type) == ("Watch the search", "primary")
    assert app.button(key=f"home.next.{small.corpus}").label == "Watch the search"
    assert f"home.job.cancel.{job}" in {one.key for one in app.button}


def test_every_page_of_an_empty_workspace_begins_with_the_sample(empty, visit):
    for page in ("plan", "review", "run", "privacy", "utility", "compare", "release"):
        app = visit(page)
        assert app.button(key=f"{page}.sample").label == "Start with a made-up sample", page
        assert app.button(key=f"{page}.load").label == "Load a file", page
    app.button(key="release.sample").click().run()
    assert [corpus.name for corpus in engine.open_workspace(empty).corpora.all()] == ["Support tickets"]


def test_a_review_that_is_begun_is_ticked_in_part_and_the_first_card_is_the_one_that_is_offered(visit, empty):
    def station(reviewed: int, undecided: int) -> tuple[str, bool | None]:
        corpus = SimpleNamespace(created="2026-01-02T03:04:05+00:00", detected_at=None, span_source="gold",
                                 reviewed=reviewed)  # fmt: skip
        return corpus_rows.stations(corpus, [], undecided=undecided)[2][:2]

    assert station(0, 0) == ("Review begun", False)
    assert station(3, 7) == ("Review begun", None)
    assert station(10, 0) == ("Reviewed", True)
    app = visit("home")
    tries = [one.key for one in app.button if (one.key or "").startswith("home.sample.try.")]
    assert tries[0] == "home.sample.try.support_tickets"
