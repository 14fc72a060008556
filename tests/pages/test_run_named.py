"""The Runs page: queue, names, whole outputs; and how an examination is offered and stopped."""

from __future__ import annotations

from types import SimpleNamespace

from engine.store import queue
from pages._ui.current import run_names
from pages._ui.runs.outputs import LINES, WIDTH, beginning
from pages._ui.texts import method_name, when
from tests.pages.small import HOSTILE, drawn_table, words


def examination(workspace, run_id, **progress):
    """Leave an examination at work, as the worker reports it."""
    job_id = workspace.jobs.examine(run_id)
    with workspace.session.db.write() as connection:
        assert queue.claim(connection, "heavy").id == job_id
        queue.progress(connection, job_id, stage="embedding: train", done=3, total=9, **progress)
    return job_id


WHOLE = {"number": 4, "parts": 31, "title": "copied text", "fraction": 0.2, "seconds_left": 240.0}


def test_the_queue_is_listed_in_turns_by_corpus(small, open_page, add_run):
    workspace = small.open()
    run = add_run(workspace, small.corpus, [{"text": "Soup."}])
    examination(workspace, run, whole=WHOLE)
    workspace.jobs.synthesize(small.corpus, "public", count=3)
    workspace.jobs.detect(small.bare)
    app = open_page("run")
    told = words(app)
    places = [told.index(part) for part in ("1. Measuring", "2. Looking for identifiers", "3. Making")]
    assert places == sorted(places)
    bars = [str(bar.proto.text) for bar in app.main.get("progress")]
    assert any("about 4 min left" in bar for bar in bars), "what is at work has its bar in the queue"
    assert any(str(one.key).startswith("run.queue.cancel.") for one in app.button)
    assert "Tickets \\*80\\*" in told  # a corpus' name is no Markdown
    assert "Waiting for its turn" in "\n".join(
        str(bar.proto.text) for bar in open_page("review", bare=True).get("progress")
    )
    assert "It waits for: measuring privacy and utility of Tickets" in words(open_page("review", bare=True))
    (measuring,) = [job.id for job in workspace.jobs.all(active_only=True) if job.kind == "examine"]
    workspace.jobs.cancel(measuring)
    told = words(open_page("review", bare=True))
    assert "(stopping)" in told
    assert "about 4 min left" not in told, "what stops takes no time by its parts"


def test_a_run_is_called_what_people_call_it_and_its_outputs_are_there_whole(small, open_page, add_run):
    workspace = small.open()
    texts = [f"Output {i}. {HOSTILE} {'soup ' * 80}end {i}" for i in range(7)]
    run = add_run(workspace, small.corpus, [{"text": text} for text in texts])
    app = open_page("run")
    shown = [str(text.value) for text in app.text]
    assert texts[0] in shown
    assert texts[6] not in shown
    app.text_input(key=f"run.name.{run}").set_value("For *the* board").run()
    app.text_area(key=f"run.note.{run}").set_value("Asked for in May.").run()
    app.button(key=f"run.named.keep.{run}").click().run()
    assert workspace.runs.get(run).name == "For *the* board"
    assert "Asked for in May." in [str(text.value) for text in app.text]
    assert "zqxv" not in words(app)
    assert any(label.startswith("For *the* board") for box in app.selectbox for label in box.options)


def test_an_examination_is_offered_full_or_quick_with_its_time(small, open_page, add_run):
    workspace = small.open()
    run = add_run(workspace, small.corpus, [{"text": "Soup came late."}] * 20)
    app = open_page("privacy")
    offers = [button.label for button in app.button if "about" in button.label]
    assert any(label.startswith("Examine this run (about") for label in offers)
    app.button(key=f"privacy.quick.{run}").click().run()
    with workspace.session.db.read() as connection:
        from sqlalchemy import select

        from engine.store.database.schema import jobs

        asked = connection.execute(select(jobs.c.arguments).where(jobs.c.kind == "examine")).scalar_one()
    assert asked["model_attacks"] is False


def test_stopping_an_examination_asks_first_and_answers_at_once(small, open_page, add_run):
    workspace = small.open()
    run = add_run(workspace, small.corpus, [{"text": "Soup."}])
    kept = {"kept": 3, "parts": 31, "state": ""}  # one that has ended is not among them: it measured nothing to keep
    job_id = examination(workspace, run, whole=WHOLE | {"number": 5}, cursor=kept)
    app = open_page("privacy")
    key = f"privacy.examine.cancel.{job_id}"
    app.button(key=key).click().run()
    assert "3 finished parts of 31 would be kept" in words(app)
    assert not workspace.jobs.get(job_id).stopping
    app.button(key=f"{key}.on").click().run()
    assert "measured again" not in words(app)
    app.button(key=key).click().run()
    app.button(key=f"{key}.stop").click().run()
    assert workspace.jobs.get(job_id).stopping
    assert "Stopping after the current step" in "\n".join(str(bar.proto.text) for bar in app.get("progress"))
    assert not [button for button in app.button if button.key == key]


def test_a_method_that_asks_for_no_model_is_not_said_to_have_used_one(small, open_page, add_run):
    workspace = small.open()
    for method, named in (("surrogate", False), ("filter", True)):
        run = add_run(workspace, small.corpus, [{"text": "Soup."}], method=method, title=method)
        assert ("Model: " in words(open_page("run", **{"_ui.run": run}))) == named


def history(app):
    """Return the rows of the table of all runs."""
    return [row for row in drawn_table(words(app)) if "Kept" in row]


def test_the_history_calls_each_run_what_its_picker_calls_it(small, open_page, add_run):
    workspace = small.open()
    runs = [add_run(workspace, small.corpus, [{"text": "Soup."}]) for _ in range(3)]
    for run in runs:
        workspace.runs.describe(run, name="For the board, as it asked in May", note="")
    labels = run_names(workspace.runs.all(small.corpus))
    listed = history(open_page("run"))
    assert [row["Run"] for row in listed] == list(labels.values())  # newest first, whole, the twins numbered
    assert len({row["Run"] for row in listed}) == 3
    assert {row["Method"] for row in listed} == {method_name(workspace.runs.get(runs[0]))}
    for run in runs:  # without a name of its own a run is called by its method, which needs no second column
        workspace.runs.describe(run, name="", note="")
    by_method = history(open_page("run"))
    assert "Method" not in by_method[0]
    assert all(row["Run"].startswith(method_name(workspace.runs.get(runs[0]))) for row in by_method)


def test_a_run_whose_examination_the_review_has_left_behind_says_so_beside_its_date():
    from pages._ui.runs.history import OLD, table

    def row(stale: bool, examined_at: str | None) -> str:
        run = SimpleNamespace(
            id="r-abcdefghjk", corpus_id="c-abcdefghjk", name="Letters", method="filter", title="Filter", state="done",
            stale=False, kept=1, count=1, examined_at=examined_at, examination_stale=stale, released_at=None,
            seconds=1.0, parameters={}, seed=0, created="2026-11-29T16:00:00+00:00",
            guarantee=SimpleNamespace(kind="none", epsilon=None),
        )  # fmt: skip
        shown = table([run], [run])
        assert "Examined" in shown or examined_at is None
        return str(shown.get("Examined", [""])[0])

    at = "2026-11-29T16:21:00+00:00"
    assert row(stale=True, examined_at=at) == when(at) + OLD
    assert row(stale=False, examined_at=at) == when(at)
    assert row(stale=True, examined_at=None) == ""


def test_a_long_output_is_cut_after_twelve_lines_at_a_word():
    short = "A visit. " * 20
    assert beginning(short) == short
    cut = beginning("word " * 400)
    assert cut.endswith("word …")
    assert len(cut) <= LINES * WIDTH + 2
    lines = "\n".join(f"Line {i}" for i in range(30))
    assert beginning(lines).splitlines() == [*(f"Line {i}" for i in range(LINES)), "…"]
    assert len(beginning("Dear Ada,\n\n" + "A visit. " * 400).splitlines()) == 3, "no cut behind a salutation"
    assert beginning("The first visit is over. " * 100).endswith("is over. …")
    assert beginning("\n".join(["x"] * LINES)) == "\n".join(["x"] * LINES), "as many as there is room for"


def test_the_rest_of_a_long_output_is_one_press_away(small, open_page, add_run):
    text = " ".join(f"word{i}" for i in range(400))
    run = add_run(small.open(), small.corpus, [{"text": text}])
    app = open_page("run")
    assert beginning(text) in [str(one.value) for one in app.text]
    app.button(key=f"run.outputs.whole.{run}.1.button").click().run()
    assert text in [str(one.value) for one in app.text]
    assert app.button(key=f"run.outputs.whole.{run}.1.button").label == "Less"


def test_a_run_with_a_proof_is_led_to_its_release_before_its_examination(small, open_page, add_run):
    from engine.dp.guarantee import Guarantee
    from tests.store.making import made_with

    workspace = small.open()
    run = add_run(workspace, small.corpus, [{"text": "Soup came late."}])
    assert "run.unexamined" not in {one.key for one in open_page("run").button}
    claim = Guarantee("dp", "Proven.", epsilon=2.0, delta=1e-6, unit="source", adjacency="zero-out")
    made_with(workspace.session, run, guarantee=claim.as_dict())
    app = open_page("run")
    first = {one.key for one in app.button if one.proto.type == "primary" and str(one.key).startswith("run.")}
    assert first == {"run.unexamined", f"run.named.keep.{run}"}, "and the one in a fold"
    app.button(key="run.unexamined").click().run()
    assert app.title[0].value == "Release"
    examination(workspace, run, whole=WHOLE)
    assert "run.unexamined" not in {one.key for one in open_page("run").button}
    for job in workspace.jobs.all(active_only=True):
        workspace.jobs.cancel(job.id)


def test_what_reads_badly_is_told_before_the_outputs():
    from types import SimpleNamespace

    from pages._ui.runs.outputs import tried_out, verdict

    found = [SimpleNamespace(name="readable", reference="none", value=0.25, n=60)]
    noted = {}
    workspace = SimpleNamespace(
        examinations=SimpleNamespace(findings=lambda _: found),
        runs=SimpleNamespace(diagnostics=lambda _: noted),
        plan=SimpleNamespace(
            methods=lambda: [
                SimpleNamespace(id="prompt", needs=("generator",)),
                SimpleNamespace(id="surrogate", needs=()),
            ]
        ),
    )
    run = SimpleNamespace(id="r-1", method="prompt", model="builtin", examined_at="2026-11-30T00:00:00Z")
    assert verdict(workspace, run) == (
        "Readability: 15 of 60 texts pass. The rules catch text that says nothing, not text that is poor."
    )
    assert tried_out(workspace, run) == (
        "**Most of these read badly: the built-in model is for trying out.** Choose a larger one."
    )
    found[0].value = 0.9
    assert tried_out(workspace, run).startswith("**The built-in model wrote these, and it is for trying out.**")
    run.method = "surrogate"
    assert tried_out(workspace, run) == "", "no model wrote these"
    run.method = "prompt"
    run.model, run.examined_at = "folder:large", None
    assert verdict(workspace, run) == "", "nothing was measured, so nothing is claimed"
    assert tried_out(workspace, run) == ""
    noted["readability"] = {"all": 54, "repetition": 6}
    assert verdict(workspace, run).startswith("In 6 of 60 texts only repetition was judged")


def test_a_policy_that_nobody_chose_is_not_called_chosen(small, open_page, add_run):
    add_run(small.open(), small.corpus, [{"text": "The soup came late."}])
    app = open_page("run")
    (line,) = [str(one.value) for one in app.sidebar.markdown if ":small[Run open now: " in str(one.value)]
    assert "Policy: Exploratory, inside only (no readers named yet)" in line
    assert "[· " not in line, "no line begins with a dot"
