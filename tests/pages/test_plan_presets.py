"""Presets on the Plan page: what a press sets, which one stands, and what reaches the run."""

from __future__ import annotations

import pytest

import engine
from engine.methods import get_method, method_ids
from engine.methods.presets import presets_of
from pages._ui.methods import method_cards
from pages._ui.plan.presets import standing


def pills(app, seeded, method: str):
    return next(group for group in app.get("button_group") if group.key == f"plan.preset.{seeded.corpus}.{method}")


@pytest.mark.parametrize("method", ["surrogate", "filter", "aug-pe", "dp-topics", "goldfish", "private-prediction"])
def test_each_preset_stands_after_it_was_pressed_and_reaches_the_run(seeded, visit, method):
    app = visit("plan", **{method_cards.CHOICE: method})
    facts, spec = seeded.open().ledger.facts(seeded.corpus), get_method(method).spec
    assert pills(app, seeded, method).value == "standard"
    for preset in reversed(presets_of(method)):
        pills(app, seeded, method).set_value(preset.id).run()
        assert not app.exception
        assert pills(app, seeded, method).value == preset.id
        assert app.number_input(key=f"plan.count.{seeded.corpus}").value == preset.count(spec, facts)
        assert f"{preset.says[:1].upper()}{preset.says[1:]}." in [text.value for text in app.caption]
    app.button(key="plan.start").click().run()
    run = next(run for run in engine.open_workspace(seeded.path).runs.all(seeded.corpus) if run.state == "queued")
    quick = presets_of(method)[0]
    assert {name: run.parameters[name] for name in quick.parameters} == dict(quick.parameters)


def test_settings_of_ones_own_are_no_preset(seeded, visit):
    app = visit("plan", **{method_cards.CHOICE: "dp-topics"})
    app.number_input(key=f"plan.set.{seeded.corpus}.dp-topics.candidates").set_value(3).run()
    assert pills(app, seeded, "dp-topics").value is None
    assert "Settings of your own." in [text.value for text in app.caption]
    pills(app, seeded, "dp-topics").set_value("standard").run()
    assert app.number_input(key=f"plan.set.{seeded.corpus}.dp-topics.candidates").value == 4


def test_one_press_asks_for_as_many_outputs_as_uses_are_judged_by(seeded, visit):
    app = visit("plan", **{method_cards.CHOICE: "public"})
    wanted = app.number_input(key=f"plan.count.{seeded.corpus}")
    app = wanted.set_value(60).run()
    (offer,) = [button for button in app.button if button.key == "plan.enough"]
    assert offer.label.startswith("Make 120")
    app = offer.click().run()
    assert app.number_input(key=f"plan.count.{seeded.corpus}").value == 120
    assert not [button for button in app.button if button.key == "plan.enough"]


@pytest.mark.parametrize("method", method_ids())
def test_the_page_knows_each_preset_by_its_settings(seeded, method):
    facts, spec = seeded.open().ledger.facts(seeded.corpus), get_method(method).spec
    for preset in presets_of(method):
        found = standing(spec, facts, dict(preset.parameters), preset.count(spec, facts))
        same = [one.id for one in presets_of(method) if (one.parameters, one.count(spec, facts)) == (
            preset.parameters, preset.count(spec, facts))]  # fmt: skip
        assert found == same[0]
