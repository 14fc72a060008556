"""Models that were added: import, server, consent, self-test on the models page; the choice on the plan page."""

from __future__ import annotations

import pytest

from pages._ui.methods import method_cards
from pages._ui.models.chosen import CHOICE
from pages._ui.plan import model as plan_model
from tests.models.tiny_models import make_chat

KEY = "sk-page-16180339"
WHY = "Agreed in contract 7 with the computing centre."
FAR = {"name": "far", "url": "https://models.example.com/v1", "model": "big"}
HOST = "models.example.com:443"


def words(app, *kinds: str) -> str:
    return "\n".join(str(e.value) for kind in (kinds or ("markdown", "caption")) for e in getattr(app, kind))


@pytest.fixture(scope="module")
def chat_folder(tmp_path_factory):
    return make_chat(tmp_path_factory.mktemp("models") / "Tiny")


def test_a_folder_is_looked_at_then_imported_then_removed(seeded, visit, chat_folder):
    app = visit("models")
    app.text_input(key="models.add.folder").set_value("/nowhere").run()
    assert "no such folder" in words(app, "error")
    app.text_input(key="models.add.folder").set_value(str(chat_folder)).run()
    assert "GPT2LMHeadModel" in words(app, "success")
    assert "apache" in words(app, "success")
    assert app.text_input(key="models.add.name").value == "tiny"
    app.button(key="models.add.import").click().run()
    assert not app.exception
    assert "was imported" in words(app, "success")
    assert app.container(key="models.card.folder:tiny").markdown
    assert app.text_input(key="models.add.folder").value == ""
    assert [m.id for m in seeded.open().models.all()] == ["builtin", "folder:tiny"]
    app.button(key="models.remove.folder:tiny").click().run()
    assert [m.id for m in seeded.open().models.all()] == ["builtin"]


def test_a_server_is_kept_and_its_key_leaves_the_session(seeded, visit):
    app = visit("models")
    app.text_input(key="models.add.s.name").set_value("far")
    app.text_input(key="models.add.s.url").set_value("http://models.example.com/v1")
    app.text_input(key="models.add.s.model").set_value("big")
    app.selectbox(key="models.add.s.source").set_value("file").run()
    app.text_input(key="models.add.s.key").set_value(KEY)
    app.button(key="models.add.server").click().run()
    assert "in the clear" in words(app, "error")
    app.text_input(key="models.add.s.url").set_value("https://models.example.com/v1")
    app.number_input(key="models.add.s.concurrency").set_value(9)
    app.text_input(key="models.add.s.key").set_value(KEY)
    app.button(key="models.add.server").click().run()
    assert not app.exception
    kept = seeded.open().models.endpoints()["far"]
    assert (kept.concurrency, kept.key_source, kept.prompts) == (9, "file", "instruct")
    assert (seeded.path / "keys" / "far").read_text() == KEY
    assert app.session_state["models.add.s.key"] == ""
    assert KEY not in repr(app.session_state)
    assert "No corpus may be sent there" in words(app, "warning")


def test_consent_is_asked_for_in_writing(seeded, visit):
    seeded.open().models.add_endpoint(FAR)
    app = visit("models", **{CHOICE: "endpoint:far"})
    app.button(key="models.consent.far").click().run()
    assert HOST in words(app, "warning")
    app.button(key="models.consent.do.far").click().run()
    assert seeded.open().models.consents() == []  # nothing was written yet
    app = visit("models", **{CHOICE: "endpoint:far"})
    app.button(key="models.consent.far").click().run()
    app.text_area(key="models.consent.text.far").set_value(WHY)
    app.text_input(key="models.consent.host.far").set_value(HOST)
    app.button(key="models.consent.do.far").click().run()
    given = seeded.open().models.consents()
    assert [(c.corpus_id, c.text, c.host) for c in given] == [(seeded.corpus, WHY, HOST)]
    app = visit("models", **{CHOICE: "endpoint:far"})
    assert WHY in words(app, "text")
    app.button(key=f"models.withdraw.far.{seeded.corpus}").click().run()
    assert seeded.open().models.consents() == []


def test_a_self_test_is_queued_and_its_result_shown(seeded, visit):
    app = visit("models")
    app.button(key="models.try.builtin").click().run()
    assert seeded.open().jobs.all()[0].kind == "selftest"
    assert app.button(key="models.try.builtin").disabled
    from engine.store import model_settings, queue

    workspace = seeded.open()
    with workspace.session.db.write() as connection:
        queue.cancel(connection, workspace.jobs.all()[0].id)
        check = {"name": "writes a line", "ok": False, "detail": "0 tokens"}
        result = {"ok": False, "at": "2026-01-01T10:00:00", "checks": [check], "line": "![x](http://example.org/p.png)"}
        model_settings.save_test(connection, "builtin", result)
    app = visit("models")
    assert "A check failed" in words(app, "error")
    assert "![x]" in words(app, "text")  # what a model wrote goes through no Markdown
    assert "![x]" not in words(app)


def test_a_model_leads_to_a_plan_with_it(seeded, visit, chat_folder):
    seeded.open().models.import_folder(chat_folder, "tiny")
    app = visit("models", **{CHOICE: "folder:tiny"})
    app.button(key="models.plan.folder:tiny").click().run()
    assert app.session_state[plan_model.CHOICE] == "folder:tiny"
    assert app.title[0].value == "Plan"


def test_the_plan_asks_for_a_model_where_there_are_two(seeded, visit, chat_folder):
    app = visit("plan", **{method_cards.CHOICE: "public"})
    assert not [s for s in app.selectbox if s.key == plan_model.CHOICE]
    workspace = seeded.open()
    workspace.models.add_endpoint(FAR)
    app = visit("plan", **{method_cards.CHOICE: "public"})
    assert app.selectbox(key=plan_model.CHOICE).value == "builtin"
    assert not app.button(key="plan.start").disabled
    app.selectbox(key=plan_model.CHOICE).set_value("endpoint:far").run()
    (said,) = [element.value for element in app.markdown if "**Cannot start.**" in element.value]
    assert "no written consent" in said
    assert app.button(key="plan.start").disabled
    workspace.models.give_consent(seeded.corpus, "far", WHY, HOST)
    app.run()
    assert not app.button(key="plan.start").disabled
    assert "covered by no guarantee" in words(app, "warning")
    app.session_state[method_cards.CHOICE] = "rpsg"
    app.run()
    (said,) = [element.value for element in app.markdown if "**Cannot start.**" in element.value]
    assert "can be trained" in said
    app.session_state[method_cards.CHOICE] = "surrogate"
    app.run()
    assert not [s for s in app.selectbox if s.key == plan_model.CHOICE]  # it needs no model


def test_a_run_is_started_with_the_chosen_model(seeded, visit, chat_folder):
    workspace = seeded.open()
    workspace.models.import_folder(chat_folder, "tiny")
    app = visit("plan", **{method_cards.CHOICE: "public"})
    app.selectbox(key=plan_model.CHOICE).set_value("folder:tiny").run()
    app.button(key="plan.start").click().run()
    assert not app.exception
    assert workspace.runs.all(seeded.corpus)[0].model == "folder:tiny"
