"""The ledger page asks whether two populations are the same people, joins them, and asks for lost spends."""

from __future__ import annotations

from sqlalchemy import select

from engine.store.budget import recognition, unknown
from engine.store.database.schema import corpora
from pages._ui.ledger import since as ledger_since
from tests.store.conftest import MAPPING, made_up


def other_corpus(workspace):
    """Import other people's text and return the corpus."""
    table = made_up(30).drop(columns="spans")
    table["text"] = [f"Ship {i} lay {i * 7 % 31} days in harbour and left for the north with salt." for i in range(30)]
    return workspace.corpora.import_table(table, type(MAPPING)(text="text"), name="Ships")


def test_a_question_is_answered_on_the_page(seeded, visit):
    workspace = seeded.open()
    other = other_corpus(workspace)
    own = workspace.corpora.get(seeded.corpus).population
    with workspace.session.db.write() as connection:
        recognition.ask(connection, own, other.population, {"sentence": "4 equal source ids"})
    app = visit("ledger", **{"_ui.next_corpus": seeded.corpus})
    assert any("4 equal source ids" in str(m.value) for m in app.markdown)
    assert any("until a person says" in str(m.value) for m in app.markdown)
    app.button(key=f"ledger.same.apart.{other.population}").click().run()
    assert not app.exception
    assert workspace.ledger.of(seeded.corpus).questions == ()
    assert workspace.corpora.get(other.id).population == other.population


def test_people_are_joined_on_the_page(seeded, visit):
    workspace = seeded.open()
    other = other_corpus(workspace)
    app = visit("ledger", **{"_ui.next_corpus": seeded.corpus})
    app.selectbox(key="ledger.join.other").set_value(other.id).run()
    app.button(key="ledger.join.do").click().run()
    assert workspace.corpora.get(other.id).population != workspace.corpora.get(seeded.corpus).population, "asked first"
    assert any("cannot be undone" in str(line.value) for line in app.markdown)
    app.button(key="ledger.join.sure").click().run()
    assert not app.exception
    assert workspace.corpora.get(other.id).population == workspace.corpora.get(seeded.corpus).population


def test_a_lost_spend_is_entered_on_the_page(seeded, visit):
    workspace = seeded.open()
    with workspace.session.db.write() as connection:
        assert connection.execute(select(corpora.c.id)).first()
        unknown.mark_all(
            connection,
            workspace.session.key,
            "ben",
            unknown.RESTORED,
            "2026-01-01T10:00:00+00:00",
            "Restored; unknown since.",
        )
    app = visit("ledger", **{"_ui.next_corpus": seeded.corpus})
    asked = [str(m.value) for m in (*app.markdown, *app.error) if "What was spent after" in str(m.value)]
    assert len(asked) == 1, "one box asks it, and nothing else repeats it"
    assert any("until the question above is answered" in str(said.value) for said in app.caption)
    keys = {one.key for one in app.button}
    assert not keys & {"ledger.since.set", "ledger.since.nothing"}, "no press alone makes the unknown count as nothing"
    app.radio(key=f"ledger.since.answer.{seeded.corpus}").set_value(ledger_since.SINCE[1]).run()
    assert app.button(key="ledger.since.set").disabled
    app.number_input(key=f"ledger.since.epsilon.{seeded.corpus}").set_value(1.5).run()
    app.button(key="ledger.since.set").click().run()
    assert not app.exception
    assert [str(toast.value) for toast in app.toast] == ["ε = 1.5 is counted as spent in the unknown time."]
    assert not app.success, "no notice that stays"
    view = workspace.ledger.of(seeded.corpus)
    assert view.unknown_since is None
    assert "entered ε = 1.5 at δ = 0 as spent in a time that the ledger lost" in view.sentence


def test_that_nothing_was_spent_is_stated_by_a_person_who_ticks_it(seeded, visit):
    workspace = seeded.open()
    with workspace.session.db.write() as connection:
        unknown.mark_all(
            connection, workspace.session.key, "ben", unknown.RESTORED, "2026-01-01T10:00:00+00:00", "Restored."
        )
    app = visit("ledger", **{"_ui.next_corpus": seeded.corpus})
    app.radio(key=f"ledger.since.answer.{seeded.corpus}").set_value(ledger_since.SINCE[0]).run()
    assert app.button(key="ledger.since.nothing").disabled
    app.checkbox(key=f"ledger.since.sure.{seeded.corpus}").check().run()
    app.button(key="ledger.since.nothing").click().run()
    assert not app.exception
    view = workspace.ledger.of(seeded.corpus)
    assert view.unknown_since is None
    assert f"{workspace.actor} stated that nothing was spent elsewhere." in view.sentence
    assert "ε = 0 at" not in view.sentence
