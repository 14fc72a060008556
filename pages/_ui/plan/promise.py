"""What a run would promise, live while its knobs move: ε and δ, the sentence, the curve, the noise.

How to use:
    budget = knobs(method, facts, key=...)                 # epsilon and delta where the method has them
    draw(workspace, corpus, method, parameters, guarantee)
Closed forms are there at once. What needs more is computed by the worker; until then it is said to be
pending, and `wait` looks once a second and runs the page when the answer is there.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import pandas as pd
import streamlit as st

import engine
from engine import MAX_DELTA, MIN_DELTA, JSONObject, default_delta, delta_strict, epsilon_of, gaussian_mu, posterior
from engine.figures.budget import guarantee_curve, probability
from pages._ui import method_cards, states
from pages._ui.examined import figure as examined_figure
from pages._ui.parameters import limits
from pages._ui.sliders import slider
from pages._ui.texts import UNIT_NOUNS, plain, share

EPSILONS = (0.1, 16.0)  # ends of the slider, inside the method's own limits
BOUND = "ε, how much a single unit may change what leaves"
CHOICE_ONLY = "ε that the noisy choice is made for; it bounds nothing that leaves"
OWN = ("epsilon", "delta")  # parameters that have a knob here instead of in the form


def knobs(method: engine.MethodSpec, facts: engine.Facts, *, key: str) -> dict[str, float]:
    """Draw ε and δ for a method that has them; return what differs from the defaults."""
    fields = method.parameters.model_fields
    values: dict[str, float] = {}
    if "epsilon" in fields:
        low, high = limits(fields["epsilon"])
        start = float(fields["epsilon"].get_default())
        ends = max(EPSILONS[0], low or 0.0), min(EPSILONS[1], high or math.inf)
        title = BOUND if method.kind == "dp" else CHOICE_ONLY
        chosen = slider(
            title, *ends, start, 0.1, key=f"{key}.epsilon",
            help="Smaller protects more and tells less. Below 1 is strong, above 8 is weak.",
        )  # fmt: skip
        if chosen != start:
            values["epsilon"] = round(chosen, 6)
    if "delta" in fields:
        usual = default_delta(facts.units)
        low, high = limits(fields["delta"])
        given = st.number_input(
            "δ, what is allowed on top of the factor of ε", min_value=max(low or 0.0, MIN_DELTA),
            max_value=min(high or 1.0, MAX_DELTA), value=None,
            step=1e-6, format="%.2e", key=f"{key}.delta", placeholder=f"{usual:.2e}",
            help="Anything that leaves is at most e^ε times as likely with a person's data as without them, plus δ. "
            f"Left empty: {usual:.2e}.",
        )  # fmt: skip
        formula = "at most 0.001, and 1 / (N ln N)" if usual >= MAX_DELTA else "1 / (N ln N)"
        st.caption(f"Default {formula}, with N = {facts.units:,}: δ = {usual:.2e}, {probability(usual)}.")
        if given is not None:
            values["delta"] = float(given)
    return values


def draw(
    workspace: engine.Workspace,
    corpus: engine.CorpusSummary,
    method: engine.MethodSpec,
    parameters: JSONObject,
    guarantee: engine.Guarantee,
) -> None:
    """Draw the guarantee and what follows from it."""
    method_cards.badge(guarantee.kind)
    st.markdown(plain(guarantee.sentence))
    if guarantee.kind == "dp" and guarantee.epsilon:
        curve = states.act(workspace.plan.guarantee_curve, method.id, corpus_id=corpus.id, parameters=dict(parameters))
        states.flash()
        if curve is None:
            st.caption("The curve cannot be computed for these settings.")
        elif guarantee.pending or curve.pending:
            wait(lambda: _pending(workspace, corpus, method, parameters), key="plan.wait.curve")
        else:
            _prior(corpus, guarantee, curve)
            figure = guarantee_curve(curve.epsilons, curve.standard, curve.strict, *guarantee.bound)
            examined_figure.draw(figure, key="plan.curve")
    noise_table(guarantee)
    accounted(guarantee)
    groups(guarantee, "records" if corpus.unit == "record" else "people")
    if not guarantee.assumptions and not guarantee.voided_by:
        return
    with st.expander("What it relies on, and what breaks it", key="plan.assumptions"):
        st.markdown("\n".join(f"- Relies on: {plain(line)}" for line in guarantee.assumptions))
        st.markdown("\n".join(f"- Broken by: {plain(line)}" for line in guarantee.voided_by))


def _pending(
    workspace: engine.Workspace,
    corpus: engine.CorpusSummary,
    method: engine.MethodSpec,
    parameters: JSONObject,
) -> bool:
    given = dict(parameters)
    try:
        if workspace.plan.guarantee(method.id, corpus_id=corpus.id, parameters=given).pending:
            return True
        return workspace.plan.guarantee_curve(method.id, corpus_id=corpus.id, parameters=given).pending
    except engine.UserError:  # it cannot be computed; the page says why
        return False


@st.fragment(run_every="1s")
def wait(pending: Callable[[], bool], *, key: str, what: str = "The exact accounting") -> None:
    """Say that an answer is being computed; run the page once when it is there."""
    if not pending():
        st.rerun()
    with st.container(key=key):
        st.caption(f":material/hourglass_top: {what} is being computed and appears here by itself.")


def strict_at(guarantee: engine.Guarantee, curve: engine.BudgetCurve, epsilon: float) -> float:
    """Return Pr[privacy loss > ε]: by formula where one holds, else from the curve, of which ε is a point."""
    mu = gaussian_mu(guarantee.mechanisms)
    if mu is not None:
        return delta_strict(mu, epsilon)
    below = [y for x, y in zip(curve.epsilons, curve.strict, strict=True) if x <= epsilon + 1e-12]
    return float(below[-1]) if below else 1.0


def _prior(corpus: engine.CorpusSummary, guarantee: engine.Guarantee, curve: engine.BudgetCurve) -> None:
    """Draw the attacker's-prior slider and what it comes to."""
    noun = UNIT_NOUNS[corpus.unit]
    prior = slider("How sure an attacker is beforehand", 1, 99, 10, 1, key="plan.prior", unit="%", persist=True)
    epsilon, _ = guarantee.bound
    after = posterior(prior / 100, epsilon)
    chance = strict_at(guarantee, curve, epsilon)
    st.markdown(prior_sentence(prior / 100, after, chance, noun, guarantee.adjacency))


def prior_sentence(prior: float, after: float, chance: float, noun: str, adjacency: str) -> str:
    """Return what an attacker can become sure of, with the probability that this fails."""
    what = f"{noun} is in the data"
    if adjacency.startswith("replace"):
        what = f"{noun} has one text rather than another"
    return (
        f"If someone is already **{_percent(prior)}** sure that {what}, after the release they can be at most "
        f"**{_percent(after)}** sure. This bound fails with a chance of at most {probability(chance)}."
    )


def _percent(value: float) -> str:
    """Return a fraction as percent, rounded so that certainty is never claimed."""
    return share(value, 0) if 0.01 <= value <= 0.99 else f"{100 * value:.2g}%" if value < 0.01 else _high(value)


def _high(value: float) -> str:
    digits = 1
    while digits < 6 and f"{100 * value:.{digits}f}" == f"{100:.{digits}f}":
        digits += 1
    return f"{100 * value:.{digits}f}%"


def noise_table(guarantee: engine.Guarantee) -> None:
    """Draw the noise of each statistic, if there is any."""
    if not guarantee.noise:
        return
    rows = [
        {
            "Statistic": name.replace("_", " "),
            "Noise (σ)": noise.get("sigma"),
            "One unit changes it by": noise.get("sensitivity"),
        }
        for name, noise in guarantee.noise.items()
    ]
    numbers = {name: st.column_config.NumberColumn(format="%.3g") for name in ("Noise (σ)", "One unit changes it by")}
    st.markdown("**Noise on each statistic**")
    st.dataframe(
        pd.DataFrame(rows), hide_index=True, column_config=numbers, alt="Standard deviation of the noise by statistic"
    )


def groups(guarantee: engine.Guarantee, noun: str) -> None:
    """Draw what the promise is worth for several who belong together, where a formula holds."""
    if guarantee.kind != "dp" or not guarantee.epsilon or guarantee.pending:
        return
    found = {size: gaussian_mu(guarantee.mechanisms, size) for size in (2, 5)}
    words = [f"{size} {noun}: ε = {epsilon_of(mu, guarantee.bound[1]):.3g}" for size, mu in found.items() if mu]
    if words:
        st.caption(f"For several who belong together, such as a family, at the same δ: {'; '.join(words)}.")


def accounted(guarantee: engine.Guarantee) -> None:
    """Draw the totals recomputed from the events, side by side."""
    names = {
        "epsilon_pld": "by loss distributions (upper end)",
        "epsilon_pld_low": "by loss distributions (lower end)",
        "epsilon_rdp": "by Rényi divergence, as a check",
        "epsilon_paper": "by the formula of the paper",
    }
    found = [
        (names[name], value) for name, value in guarantee.accounting.items() if name in names and value is not None
    ]
    if guarantee.kind == "dp" and found:
        st.caption(
            "Recomputed from the planned noise: " + "; ".join(f"ε = {v:.4g} {words}" for words, v in found) + "."
        )
