"""Several runs in one go on the Plan page: asked for, summed up, refused, started once."""

from __future__ import annotations

import pytest

import engine
from pages._ui.methods import method_cards
from pages._ui.plan.words import card_of
from tests.pages.test_budget import bars, knob, words


@pytest.fixture
def plan(seeded, visit):
    """Return a function that opens the Plan page on a method, labels bought by nobody."""

    def opened(method: str = "aug-pe"):
        app = visit("plan", **{method_cards.CHOICE: method, "plan.sweep.box": True})
        if method == "aug-pe":
            app.selectbox(key=knob(seeded, "labels")).set_value("public")
        return app

    return opened


def field(seeded, name: str, method: str = "aug-pe") -> str:
    return f"plan.sweep.{seeded.corpus}.{method}.{name}"


def test_the_sum_of_all_runs_is_shown_and_all_are_started(seeded, plan):
    app = plan()
    app.text_input(key=field(seeded, "epsilons")).set_value("0.5, 1").run()
    table = next(frame.value for frame in app.dataframe if "Seed" in frame.value)
    titles = [card_of(engine.get_method(name).spec).name for name in ("public", "aug-pe", "aug-pe")]
    assert list(table["Method"]) == titles, "as the cards call them"
    assert list(table["ε"]) == ["0", "0.50", "1"]
    alone = [bar for bar in bars(app) if bar.startswith("After")]
    assert len(alone) == 2  # of the one planned run, and of all
    app.number_input(key=f"plan.count.{seeded.corpus}").set_value(20).run()
    app.button(key="plan.sweep.start").click().run()
    assert not app.exception
    workspace = seeded.open()
    made = [run for run in workspace.runs.all(seeded.corpus) if run.state == "queued"]
    assert sorted((run.method, run.guarantee.epsilon, run.count) for run in made) == [
        ("aug-pe", 0.5, 20), ("aug-pe", 1.0, 20), ("public", 0.0, 20),
    ]  # fmt: skip
    assert app.title[0].value == "Runs"
    kinds = list(workspace.ledger.of(seeded.corpus).lines["kind"])
    assert kinds.count("reserve") == 2


def test_nothing_of_it_is_computed_while_it_is_folded(seeded, visit):
    app = visit("plan", **{method_cards.CHOICE: "aug-pe"})
    assert "plan.sweep.start" not in [button.key for button in app.button]


def test_past_the_limit_nothing_can_be_started(seeded, plan):
    app = plan()
    app.text_input(key=field(seeded, "epsilons")).set_value("9, 9.5").run()
    said = words(app)
    assert "does not fit behind those before it" in said
    assert app.button(key="plan.sweep.start").disabled
    assert not app.button(key="plan.start").disabled  # the one planned run fits


@pytest.mark.parametrize(
    ("typed", "said"), [("one", "Budgets are numbers"), ("0", "must be above 0"), ("1e9", "at most")]
)
def test_what_is_no_budget_is_said(seeded, plan, typed, said):
    app = plan()
    app.text_input(key=field(seeded, "epsilons")).set_value(typed).run()
    assert said in words(app)
    assert not app.exception


def test_a_method_without_a_claim_is_repeated(seeded, plan):
    app = plan("filter")
    app.number_input(key=field(seeded, "repeats", "filter")).set_value(3).run()
    table = next(frame.value for frame in app.dataframe if "Seed" in frame.value)
    assert list(table["Seed"]) == [0, 1, 2]
    assert set(table["ε"]) == {"nothing proven"}
