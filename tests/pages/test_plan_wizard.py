"""The six questions of the Plan page: what they propose for a corpus, and what their buttons do."""

from __future__ import annotations

from pages._ui import method_cards
from pages._ui.release import policy as release_policy


def words(app):
    return "\n".join(str(e.value) for kind in ("markdown", "caption", "info", "success") for e in getattr(app, kind))


def answer(app, corpus: str, **given):
    for name, value in given.items():
        kind = app.number_input if name == "units" else app.radio
        kind(key=f"plan.wizard.{corpus}.{name}").set_value(value)
    return app.run()


def test_answers_are_filled_in_from_the_corpus(seeded, visit):
    app = visit("plan")
    facts = seeded.open().ledger.facts(seeded.corpus)
    key = f"plan.wizard.{seeded.corpus}"
    assert app.radio(key=f"{key}.repeats").value == "Yes", "the corpus protects people with several records"
    assert app.number_input(key=f"{key}.units").value == facts.units
    assert "**Policy** Research release" in words(app)
    assert "*Unit*: One person has several records" in words(app)


def test_the_proposal_is_used(seeded, visit):
    app = visit("plan", **{method_cards.CHOICE: "filter"})
    answer(app, seeded.corpus, recipients="team")
    assert "**Method** Surrogates" in words(app)
    app.button(key="plan.wizard.use").click().run()
    assert app.session_state[method_cards.CHOICE] == "surrogate"
    assert app.session_state[release_policy.CHOICE] == "exploratory"
    assert "Surrogates is chosen" in words(app)


def test_another_unit_asks_for_another_import(seeded, visit):
    app = visit("plan")
    answer(app, seeded.corpus, repeats="Yes", recipients="team")
    assert "load the file again" not in words(app), "the corpus has this unit, and no noise depends on the cap"
    answer(app, seeded.corpus, repeats="No")
    assert "load the file again" in words(app)
    app.button(key="plan.wizard.load").click().run()
    assert app.title[0].value == "Load"


def test_reading_only_public_text_is_proposed_where_noise_would_hide_everything(seeded, visit):
    app = visit("plan")
    answer(app, seeded.corpus, recipients="public", units=60)
    assert "reads no private text at all" in words(app)


def test_reviewers_beside_private_text_change_the_proposal(seeded, visit):
    app = visit("plan")
    answer(app, seeded.corpus, recipients="public", beside="Yes", units=9_000)
    assert "before selection" in words(app)


def test_what_else_suits_is_offered_with_its_reason(seeded, visit):
    app = visit("plan")
    answer(app, seeded.corpus, repeats="No", recipients="researchers", label="No", units=12_000)
    assert "**Also suited**" in words(app)
    assert "to learn from under it" in words(app)
    app.button(key="plan.wizard.other.dp-finetune").click().run()
    assert app.session_state[method_cards.CHOICE] == "dp-finetune"
    assert app.session_state[release_policy.CHOICE] == "research"
