"""Methods on the Plan page, shown by what they promise."""

from __future__ import annotations

from pages._ui import method_cards
from pages._ui.current import RUN, RUNS
from pages._ui.method_cards import ALL, CHOICE, PROMISES, SHOWN


def titles(app) -> list[str]:
    return list(app.radio(key=CHOICE).options)


def show(app, promise: str):
    (control,) = (group for group in app.button_group if group.key == SHOWN)
    return control.set_value(promise).run()


def test_every_kind_of_promise_is_on_the_page_and_every_method_makes_one(seeded):
    kinds = {spec.kind for spec in seeded.open().plan.methods()}
    assert kinds <= {kind for group in PROMISES.values() for kind in group}


def test_only_methods_with_the_promise_asked_for_are_shown_and_one_of_them_is_chosen(seeded, visit):
    app = visit("plan", **{CHOICE: "filter"})
    specs = seeded.open().plan.methods()
    assert len(titles(app)) == len(specs)
    app = show(app, "A proven bound")
    assert not app.exception
    proven = [spec for spec in specs if spec.kind == "dp"]
    assert titles(app) == [spec.title for spec in proven]
    assert app.session_state[CHOICE] == proven[0].id
    app = show(app, ALL)
    assert len(titles(app)) == len(specs)
    assert app.session_state[CHOICE] == proven[0].id


def test_a_method_chosen_elsewhere_is_never_hidden(seeded, visit):
    app = visit("plan", **{CHOICE: "surrogate", SHOWN: "A proven bound"})
    assert app.session_state[SHOWN] == method_cards.ALL
    assert app.session_state[CHOICE] == "surrogate"


def test_a_run_that_was_started_is_the_one_that_is_shown(seeded, visit):
    app = visit("plan", **{CHOICE: "surrogate", RUNS: seeded.run, RUN: seeded.run})
    app = app.button(key="plan.start").click().run()
    assert not app.exception
    new = {run.id for run in seeded.open().runs.all()} - {seeded.run, seeded.other}
    assert {app.session_state[RUNS]} == {app.session_state[RUN]} == new
