"""The pools page: nothing yet, prompts that are listed and declared, files that come back, a comparison, refusals."""

from __future__ import annotations

import json
import re
from pathlib import Path

from engine.store import queue
from pages._ui.methods import method_cards
from pages._ui.pool import view
from tests.pages.small import HOSTILE, NEEDLE
from tests.pool_runs import chosen

MADE = {"origin": "a model elsewhere", "licence": "CC0", "declared": True}


def words(app, *kinds: str) -> str:
    found = kinds or ("markdown", "caption", "error", "warning", "info", "success", "subheader")
    return "\n".join(str(e.value) for kind in found for e in getattr(app, kind))


def answers(prompts) -> bytes:
    lines = [
        {
            "custom_id": one.id,
            "response": {"body": {"choices": [{"message": {"content": f"Parcel {i} came too late."}}]}},
        }
        for i, one in enumerate(prompts)
    ]
    return "\n".join(map(json.dumps, lines)).encode()


def cells(app) -> str:
    return "\n".join(str(table.value.to_dict()) for table in app.dataframe)


def ticked(app, start: str):
    return next(box for box in app.checkbox if str(box.key).startswith(start))


def step(app):
    return app.button_group(key="pool.view")


PROMPTS, LEFT, BACK, CHOOSE = ({"pool.view": one} for one in view.VIEWS)


def test_an_empty_workspace_says_how_to_begin(empty, visit):
    app = visit("pool")
    assert app.session_state["pool.view"] == view.PROMPTS, "the first step, where nothing left and nothing came"
    assert "**No pool yet · step 1 of 4.** Write prompts from public words." in words(app, "markdown")
    app.button(key="pool.at_hand.bring").click().run()  # whoever has public text needs no prompts
    assert step(app).value == "3 · Bring it back"
    assert "pool.at_hand.bring" not in {one.key for one in app.button}
    app = visit("pool", **CHOOSE)
    assert "No pool yet" in words(app)
    app.button(key="pool.none.prompts").click().run()
    assert step(app).value == "1 · Write prompts"
    app = visit("pool", **CHOOSE)
    app.button(key="pool.none.bring").click().run()
    assert step(app).value == "3 · Bring it back"
    app = visit("pool", **LEFT)
    app.button(key="pool.left.none.prompts").click().run()
    assert step(app).value == "1 · Write prompts"
    app = visit("pool", **BACK)
    assert [b for b in app.button if b.key == "pool.in.import"] == []  # no file yet
    assert "Nothing has left this machine" in words(visit("pool", **LEFT))
    app = visit("pool", **PROMPTS)
    shown = words(app)
    assert "no record, no count, no name of a corpus" in shown
    assert app.button(key="pool.pack.write").disabled  # nothing was declared


def test_the_steps_are_numbered_and_the_last_one_leads_to_the_plan(small, open_page):
    app = open_page("pool", **BACK)
    steps = [
        f"{n} · {name}" for n, name in enumerate(("Write prompts", "Run it elsewhere", "Bring it back", "Choose"), 1)
    ]
    assert step(app).options == steps == list(view.VIEWS)
    for state, (name, sentence) in zip((PROMPTS, LEFT, BACK, CHOOSE), view.STEPS, strict=True):
        app = open_page("pool", **state)
        said = words(app, "title", "subheader", "markdown", "caption")
        assert said.count(sentence) == 1, "the sentence of the step that is open"
        assert [other for _, other in view.STEPS if other in said] == [sentence], "and of no other one"
        assert name not in words(app, "title", "subheader"), "a step is named once, where it is chosen"
    app = open_page("pool", **BACK)
    step(app).set_value(view.LEFT).run()
    assert "Download a pack" in words(app, "markdown"), "a press on a step opens it"
    assert [b for b in app.button if b.key == "pool.plan"] == []  # nothing to choose from yet
    rows = "\n".join(json.dumps({"text": f"The garden number {i} is lovely in the evening."}) for i in range(600))
    small.open().pools.import_file(rows.encode(), "p.jsonl", name="gardens", **MADE)
    app = open_page("pool")
    app.button(key="pool.plan").click().run()
    assert not app.exception
    assert app.title[0].value == "Plan"
    assert app.session_state[method_cards.CHOICE] == "dp-select"


def test_what_was_measured_is_what_the_readme_says(empty, visit):
    app = visit("pool")
    said = str(app.title[0].proto.help)
    tables = (Path(__file__).resolve().parents[2] / "README.md").read_text("utf-8")
    rows = tables[tables.index("| bioRxiv, n = 300 |") :].split("\n\n")[0].splitlines()
    assert "3,000 abstracts of arXiv" in rows[-1]
    of = {row.split("`")[1]: row.split("|") for row in rows if "`" in row}
    first = {name: re.findall(r"\.\d\d", row[3] if name != "public" else row[2])[0] for name, row in of.items()}
    assert set(first) == {"public", "aug-pe", "dp-topics", "dp-select"}
    assert (
        f"the real text was 0{first['dp-select']}, that of the others 0{first['dp-topics']} and 0{first['aug-pe']}"
        in said
    )
    assert f"0{first['public']} where no private text was read" in said
    assert float(first["dp-select"]) == min(map(float, first.values()))


def test_a_kind_that_nobody_declared_says_why_it_is_the_last_one(small, open_page):
    why, kind = "Nobody has declared what kind of text", f"pool.pack.domain.{small.corpus}"
    app = open_page("pool", **PROMPTS)
    assert app.selectbox(key=kind).value == "generic"
    assert why in words(app, "warning")
    assert f"{kind}.use" not in {one.key for one in app.button}, "no public word tells a kind"
    app.selectbox(key=kind).set_value("clinical").run()
    assert why not in words(app, "warning"), "a person chose"
    small.open().descriptions.declare(small.corpus, "opening hours", "en", "generic")
    app = open_page("pool", **PROMPTS)
    assert app.selectbox(key=kind).value == "generic"
    assert why not in words(app, "warning"), "and here one declared it"


def test_a_kind_that_public_words_tell_is_taken_once_somebody_says_that_it_may_be_known(small, open_page):
    workspace = small.open()
    workspace.corpora.rename(small.corpus, "Clinic letters")
    app = open_page("pool", **PROMPTS)
    kind = f"pool.pack.domain.{small.corpus}"
    assert app.selectbox(key=kind).value == "generic", "nothing is chosen unasked"
    assert app.button(key=f"{kind}.use").disabled
    app.checkbox(key=f"{kind}.may.clinical").check().run()
    workspace.corpora.rename(small.corpus, "Court rulings")
    app.run()
    assert app.button(key=f"{kind}.use").disabled, "the tick was for another kind"
    workspace.corpora.rename(small.corpus, "Clinic letters")
    app.run()
    app.checkbox(key=f"{kind}.may.clinical").check().run()
    app.button(key=f"{kind}.use").click().run()
    assert not app.exception
    assert app.selectbox(key=kind).value == "clinical"
    assert "Nobody has declared" not in words(app, "warning")


def test_labels_of_the_corpus_come_only_where_somebody_takes_them(small, open_page):
    workspace = small.open()
    workspace.labels.declare(small.corpus, ["late", "broken"])
    app = open_page("pool", **PROMPTS)
    field = f"pool.pack.labels.{small.corpus}"
    assert not app.text_area(key=field).value, "nothing of the private corpus stands in a field of public words unasked"
    assert "declared them public on" in words(app, "caption")
    app.button(key=f"pool.pack.take.{small.corpus}").click().run()
    assert not app.exception
    assert app.text_area(key=field).value.splitlines() == list(workspace.labels.public(small.corpus))


def test_a_pack_is_logged_once_it_is_declared_and_other_words_are_declared_anew(seeded, visit):
    app = visit("pool", **PROMPTS)
    app.text_area(key="pool.pack.topics").set_value("late parcels").run()
    assert "late parcels" in cells(app)
    ticked(app, "pool.pack.declared").check().run()
    app.text_area(key="pool.pack.topics").set_value("late parcels\nrefunds").run()
    assert app.button(key="pool.pack.write").disabled
    ticked(app, "pool.pack.declared").check().run()
    app.button(key="pool.pack.write").click().run()
    assert not app.exception
    workspace = seeded.open()
    (pack,) = workspace.packs.all()
    assert pack.prompts == 500
    assert f"Pack {pack.id} is written and logged" in words(app, "success").replace("\\", "")
    assert app.session_state["pool.view"] == view.LEFT
    assert pack.digest in words(app, "caption")
    assert "names the model" in words(app, "caption")  # OpenAI's format comes first and wants one
    app.text_input(key=f"pool.left.model.{pack.id}").set_value("some-model").run()
    assert not app.exception
    assert [str(line) for line in workspace.audit.lines()["action"]].count(
        "prompt pack file made"
    ) == 0  # no download yet


def test_words_that_break_a_rule_are_said(empty, visit):
    app = visit("pool", **PROMPTS)
    app.text_input(key="pool.pack.lengths").set_value("none").run()
    assert "No prompts can be written" in words(app, "error")
    assert "lengths" in words(app, "error")


def test_a_file_becomes_a_pool_with_its_declaration(seeded, visit, tmp_path):
    workspace = seeded.open()
    pack = workspace.packs.write({"domain": "reviews", "labels": ["a", "b"], "count": 6}, declared=True)
    (tmp_path / "answers.jsonl").write_bytes(answers(workspace.packs.prompts_of(pack.id)))
    app = visit("pool")
    app.text_input(key="pool.in.path").set_value(str(tmp_path / "answers.jsonl")).run()
    assert "answers of a language-model service: 6 texts" in words(app, "success")
    assert app.button(key="pool.in.import").disabled
    ticked(app, "pool.in.declared").check().run()
    app.button(key="pool.in.import").click().run()
    assert "Nothing was imported" in words(app, "error")
    assert "name" in words(app, "error")
    for name, value in (("name", "parcels"), ("origin", "a model elsewhere"), ("licence", "CC0")):
        next(box for box in app.text_input if str(box.key).startswith(f"pool.in.{name}.")).set_value(value)
    app.run()
    app.button(key="pool.in.import").click().run()
    assert not app.exception
    assert workspace.pools.get("parcels").labels == {"a": 3, "b": 3}
    shown = words(visit("pool"))
    assert "parcels" in shown
    assert "Answers prompt pack" in shown
    assert "I declare that these texts were made without" in shown


def test_a_damaged_file_is_said_and_nothing_is_stored(empty, visit, tmp_path):
    app = visit("pool", **BACK)
    damaged = {"cut.jsonl": b'{"text": "half', "n.txt": b"a\x00b", "p.pdf": b"%PDF", "none.csv": None}
    for name, data in damaged.items():
        if data is not None:
            (tmp_path / name).write_bytes(data)
        app.text_input(key="pool.in.path").set_value(str(tmp_path / name)).run()
        assert not app.exception
        assert "This file cannot be read" in words(app, "error"), name


def test_texts_of_a_pool_go_through_no_markdown_and_a_comparison_is_explained(seeded, visit):
    workspace = seeded.open()
    rows = "\n".join(json.dumps({"text": text}) for text in (HOSTILE, "The garden is lovely in the evening."))
    workspace.pools.import_file(rows.encode(), "p.jsonl", name="odd", **MADE)
    app = visit("pool")
    assert NEEDLE not in words(app)
    assert NEEDLE in cells(app)
    assert "reads private text outside any bound" in words(app, "markdown")
    app.button(key="pool.check.do.odd").click().run()
    assert not app.exception
    with workspace.session.db.read() as connection:
        assert len(queue.active_jobs(connection, kind="pool check")) == 1
    app = visit("pool")
    assert not app.exception  # with the job's progress
    app.button(key="pool.delete.odd").click().run()
    assert workspace.pools.all() == []


def test_a_finished_run_s_winners_make_the_next_pack(seeded, visit):
    workspace = seeded.open()
    rows = "\n".join(json.dumps({"text": f"The garden number {i} is lovely in the evening."}) for i in range(12))
    workspace.pools.import_file(rows.encode(), "p.jsonl", name="gardens", **MADE)
    run = chosen(workspace, seeded.corpus, "gardens", count=5, epsilon=1.0)
    app = visit("pool", **PROMPTS)
    app.selectbox(key="pool.pack.run").set_value(run).run()
    listed = cells(app)
    assert "Noisy votes" in listed
    assert f"protected output of run {run}" in listed
    ticked(app, "pool.pack.declared").check().run()
    app.button(key="pool.pack.write").click().run()
    (pack,) = workspace.packs.all()
    assert (pack.run_id, pack.prompts) == (run, 20)


def test_the_plan_says_how_to_get_a_pool_and_offers_the_one_that_is_there(seeded, visit):
    app = visit("plan", **{method_cards.CHOICE: "dp-select"})
    assert "No pool yet" in words(app)
    assert "**Cannot start.**] No pool is chosen" in words(app)
    assert app.button(key="plan.start").disabled
    workspace = seeded.open()
    rows = "\n".join(json.dumps({"text": f"The garden number {i} is lovely in the evening."}) for i in range(600))
    workspace.pools.import_file(rows.encode(), "p.jsonl", name="gardens", **MADE)
    app = visit("plan", **{method_cards.CHOICE: "public"})
    app.button(key="plan.pool.use").click().run()
    assert app.session_state[method_cards.CHOICE] == "dp-select"
    assert "custodian declared on" in words(app, "markdown").replace("\\", "")
    assert "Nobody has compared" in words(app, "warning")
    assert not app.button(key="plan.start").disabled
    app.button(key="plan.start").click().run()
    assert not app.exception
    run = workspace.runs.all(seeded.corpus)[0]
    assert (run.method, run.parameters["pool"]) == ("dp-select", "gardens")
