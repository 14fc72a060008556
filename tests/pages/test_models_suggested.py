"""Open models suggested for this machine, the public description, and what Plan says of the built-in model."""

from __future__ import annotations

import pytest

from engine.models.offered import machine as machines
from engine.models.offered.machine import Machine
from pages._ui.models.chosen import CHOICE
from tests.pages.small import words

WHY = "Apache licence; agreed by the data board on 3 May."
OFFICE = Machine("cpu", 16 * 10**9, 4, (), False, False, False)


@pytest.fixture(autouse=True)
def office(monkeypatch):
    monkeypatch.setattr(machines, "this_machine", lambda: OFFICE)


def choose(app, model: str) -> None:
    """Choose a model as a click on its row does."""
    app.session_state[CHOICE] = model
    app.run()
    assert not app.exception


def test_the_page_proposes_says_what_each_needs_and_asks_for_consent(small, open_page, monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    app = open_page("models")
    told = words(app)
    assert "This machine has 4 processor cores, 16 GB of memory and no graphics card" in told
    assert "The built-in model is for trying out" in told
    texts = f"{min(500, small.open().ledger.public_facts(small.corpus).units)} texts"
    assert texts != "500 texts"
    assert f"for {texts}." in told, "the number that a run of this corpus makes, as on Plan"
    table = next(frame.value for frame in app.dataframe if texts in frame.value)
    assert len(table) == 1 + 10
    assert table["Model"][0] == "Built-in, for trying out"
    called = [here.partition(" · ")[0] for here in table["Model"]]
    uses = dict(zip(called, table["Good enough for"], strict=True))
    assert uses["Built-in, for trying out"] == "trying out"
    assert uses["SmolLM2-135M"] == "training it here"  # follows no instructions
    assert uses["Qwen2.5-0.5B-Instruct"] == "rewriting and imitating"
    large = table["Memory"].str.endswith("too large")
    assert large.any()
    assert set(table[large][texts]) == {"–"}, "no time for what cannot run here"
    assert set(table[large]["Good enough for"]) == {"too large here"}
    assert "–" not in set(table[~large][texts]), "of the built-in model as Plan reckons it"
    assert "The largest one that suits it is **SmolLM2-1.7B-Instruct**" in told, "as the column calls it"
    told_of = {here.partition(" · ")[2] for here in table["Model"]}
    assert told_of >= {"largest fit", "first try"}
    assert {"yes, built in", "no, not tried"} == set(table["On this machine"])
    assert "apache-2.0" in set(table["Licence"])
    assert app.container(key="models.card.builtin").markdown  # the first row is open until another one is chosen
    assert app.button(key="models.suggested.look.best").label == "Look at SmolLM2-1.7B-Instruct, the largest that suits"
    app.button(key="models.suggested.look.first").click().run()
    assert "Licence: apache-2.0" in words(app)
    assert not [box for box in app.container if box.key == "models.card.builtin"]
    assert "Commit 7ae557604adf67be50417f59c2c2f167def9a775" in words(app)
    assert not [box for box in app.text_area if box.key == "models.suggested.text"], "two ways, none taken yet"
    app.button(key="models.suggested.way.disk").click().run()
    assert "load the files of **Qwen/Qwen2.5-0.5B-Instruct**, commit 7ae557604adf" in words(app)
    app.button(key="models.suggested.way.hub").click().run()
    app.text_area(key="models.suggested.text").set_value(WHY)
    app.text_input(key="models.suggested.host").set_value("127.0.0.1:9").run()
    app.button(key="models.suggested.fetch").click().run()
    assert not app.exception
    workspace = small.open()
    job = next(job for job in workspace.jobs.all() if job.kind == "fetch")
    (given,) = workspace.hub.consents()
    assert (given.model, given.revision) == (
        "Qwen/Qwen2.5-0.5B-Instruct", "7ae557604adf67be50417f59c2c2f167def9a775",
    )  # fmt: skip
    assert job.state == "queued"
    app.selectbox(key="models.suggested.language").select("et").run()
    choose(app, "utter-project/EuroLLM-1.7B-Instruct")
    assert "could be confirmed beforehand" in words(app)


def test_a_description_is_kept_and_texts_are_asked_for_it(small, open_page):
    app = open_page("models")
    key = f"models.describe.{small.corpus}"
    app.text_input(key=f"{key}.kind").set_value("support ticket 42").run()
    app.button(key=f"{key}.keep").click().run()
    assert "no numbers" in words(app)
    app.text_input(key=f"{key}.kind").set_value("support ticket")
    app.selectbox(key=f"{key}.domain").select("reviews").run()
    app.button(key=f"{key}.keep").click().run()
    assert small.open().descriptions.get(small.corpus).kind == "support ticket"
    app.button(key="models.first.builtin").click().run()
    assert not app.exception
    assert [job.kind for job in small.open().jobs.all() if job.kind == "first texts"] == ["first texts"]


def test_texts_are_shown_as_text_and_what_they_say_of_the_model(small, open_page):
    from engine.store import model_settings

    workspace = small.open()
    workspace.descriptions.declare(small.corpus, "cooking recipe")
    hostile = "![x](http://evil.example/a.png) <script>1</script>"
    with workspace.session.db.write() as connection:
        result = {
            "description": {"kind": "cooking recipe", "language": "en", "domain": "generic"}, "cosine": 0.02,
            "texts": [hostile, "two", "three", "four", ""], "tokens": 100, "seconds": 2.0, "at": "2026-01-01T00:00",
        }  # fmt: skip
        model_settings.save_first_texts(connection, "builtin", result)
    app = open_page("models")
    assert [text.value for text in app.text[:5]] == [hostile, "two", "three", "four", "(empty)"]
    assert "evil.example" not in words(app)
    assert "are not about that" in words(app)


def test_plan_says_that_the_built_in_model_is_not_made_for_such_text(small, open_page):
    app = open_page("plan", **{"plan.method": "public"})
    assert "has not learned" not in words(app)
    key = f"plan.describe.{small.corpus}"
    app.text_input(key=f"{key}.kind").set_value("cooking recipe").run()
    app.button(key=f"{key}.keep").click().run()
    assert not app.exception
    assert "The built-in model has not learned from text called “cooking recipe”" in words(app)


def test_numbers_may_be_kept_in_fewer_bits_and_what_that_needs_is_said(small, open_page, tmp_path, monkeypatch):
    from engine.models.folder import precision
    from tests.models.families import make_family

    monkeypatch.setattr(precision, "find_spec", lambda name: None)
    small.open().models.import_folder(make_family("qwen", tmp_path / "q"), "q")
    app = open_page("models", **{CHOICE: "folder:q"})
    key = "models.precision.folder:q"
    app.selectbox(key=key).select("8 bit").run()
    assert not app.exception
    assert small.open().models.info("folder:q").precision == "8 bit"
    assert "needs the package bitsandbytes or torchao" in words(app)
    app.selectbox(key=key).select("").run()
    assert "needs the package" not in words(app)
    assert small.open().models.info("folder:q").problem == ""
