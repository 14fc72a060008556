"""How sure an attacker may become: the control, the ε that follows, and that both are one number, kept."""

from __future__ import annotations

import pytest

from engine.dp.accounting.closed_form import epsilon_for, posterior
from engine.errors import UserError
from pages._ui.methods import method_cards
from pages._ui.plan.certainty import LEAST, MOST, epsilon_of_percent

AUG_PE = {method_cards.CHOICE: "aug-pe"}


@pytest.mark.parametrize("prior", [1e-6, 0.01, 0.1, 0.5, 0.9])
@pytest.mark.parametrize("epsilon", [0.0, 1e-3, 0.5, 4.0, 12.0])
def test_epsilon_is_the_exact_inverse_of_the_posterior(prior, epsilon):
    assert epsilon_for(prior, posterior(prior, epsilon)) == pytest.approx(epsilon, abs=1e-8)


def test_hand_checked_values():
    assert epsilon_for(0.1, 0.5) == pytest.approx(2.1972245773362196)  # odds 1/9 become 1: ln 9
    assert epsilon_for(0.2, 0.2) == pytest.approx(0.0)
    for prior, after in ((0.0, 0.5), (0.5, 0.4), (0.5, 1.0)):
        with pytest.raises(UserError, match="certainty"):
            epsilon_for(prior, after)


def test_no_step_of_the_control_promises_less_than_it_says():
    steps = [epsilon_of_percent(percent) for percent in range(LEAST, MOST + 1)]
    assert steps == sorted(set(steps))
    for percent, epsilon in zip(range(LEAST, MOST + 1), steps, strict=True):
        assert posterior(0.1, epsilon) <= percent / 100
        assert posterior(0.1, epsilon + 2e-4) > percent / 100


def test_the_control_sets_epsilon_and_the_number_moves_the_control(seeded, visit):
    app = visit("plan", **AUG_PE)
    sure, number = f"plan.sure.{seeded.corpus}", f"plan.epsilon.{seeded.corpus}"
    assert (app.slider(key=sure).value, app.number_input(key=number).value) == (86.0, 4.0)
    app.slider(key=sure).set_value(50.0).run()
    assert app.number_input(key=number).value == epsilon_of_percent(50)
    said = "\n".join(text.value for text in app.caption)
    assert "at most **50%** sure" in said
    app.number_input(key=number).set_value(0.68).run()
    assert app.slider(key=sure).value == 18.0
    app.button(key="plan.start").click().run()
    assert seeded.open().runs.all(seeded.corpus)[0].parameters["epsilon"] == 0.68


def test_it_is_one_number_for_all_methods_and_survives_a_reload(seeded, visit):
    app = visit("plan", **AUG_PE)
    app.slider(key=f"plan.sure.{seeded.corpus}").set_value(30.0).run()
    again = visit("plan", **{method_cards.CHOICE: "rpsg-public"})
    assert again.slider(key=f"plan.sure.{seeded.corpus}").value == 30.0
    assert again.number_input(key=f"plan.epsilon.{seeded.corpus}").value == epsilon_of_percent(30)


def test_a_choice_that_bounds_nothing_has_no_such_control(seeded, visit):
    app = visit("plan", **{method_cards.CHOICE: "rpsg"})
    assert not [one for one in app.slider if str(one.key).startswith("plan.sure")]
    assert app.number_input(key=f"plan.set.{seeded.corpus}.rpsg.epsilon").label == "ε of the noisy choice"
