"""What a run would promise, live while its knobs move: ε and δ, the sentence, the curve, the noise.

How to use:
    found = curve(workspace, corpus, method, parameters, guarantee, model)    # asked for once a draw
    sentence(workspace, corpus, method, parameters, guarantee, found, model)  # beside the attacker's certainty
    budget = knobs(workspace, corpus, method, facts, key=...)          # ε itself and δ, among the details
    draw(corpus, guarantee, found)
Closed forms are there at once. What needs more is computed by the worker; until then it is said to be
pending, and `wait` looks once a second and runs the page when the answer is there.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pandas as pd
import streamlit as st

import engine
from engine import (
    MAX_DELTA,
    MIN_DELTA,
    JSONObject,
    default_delta,
    epsilon_of,
    failure,
    gaussian_failure,
    gaussian_mu,
    posterior,
    upward,
)
from engine.figures.budget import chance_at_most, guarantee_curve
from pages._ui import states
from pages._ui.examined import figure as examined_figure
from pages._ui.language import localised, mark, tr
from pages._ui.methods.parameters import limits
from pages._ui.parts.sliders import slider
from pages._ui.plan import certainty
from pages._ui.texts import UNIT_NOUNS, number, plain, significant

OWN = ("epsilon", "delta")  # parameters that have a knob here instead of in the form


def knobs(
    workspace: engine.Workspace, corpus: engine.CorpusSummary, method: engine.MethodSpec, facts: engine.Facts, *,
    key: str,
) -> dict[str, float]:  # fmt: skip
    """Draw ε itself and δ for a method that has them; return δ where it differs from the default."""
    fields = method.parameters.model_fields
    values: dict[str, float] = {}
    if certainty.applies(method):
        low, high = limits(fields["epsilon"])
        certainty.exact(workspace, corpus, (float(low or 0.0), float(high or 100.0)))
    if "delta" in fields:
        usual = default_delta(facts.units)
        low, high = limits(fields["delta"])
        given = st.number_input(
            tr("δ, what is allowed on top of the factor of ε"), min_value=max(low or 0.0, MIN_DELTA),
            max_value=min(high or 1.0, MAX_DELTA), value=None,
            step=1e-6, format="%.2e", key=f"{key}.delta", placeholder=f"{usual:.2e}", persist_state="session",
            help=tr(
"Anything that leaves is at most e^ε times as likely with a person's data as without "
"them, plus δ. Left empty: {usual}.", usual=significant(usual, ".2e")),
        )  # fmt: skip
        formula = tr("at most 0.001, and 1 / (N ln N)") if usual >= MAX_DELTA else "1 / (N ln N)"
        st.caption(
            tr(
                "Default {formula}, with N = {units}: δ = {usual}, {chance}.",
                formula=formula,
                units=number(facts.units),
                usual=significant(usual, ".2e"),
                chance=chance_at_most(usual),
            )
        )
        st.caption(not_that_chance(usual if given is None else float(given)))
        if given is not None:
            values["delta"] = float(given)
    return values


def curve(
    workspace: engine.Workspace,
    corpus: engine.CorpusSummary,
    method: engine.MethodSpec,
    parameters: JSONObject,
    guarantee: engine.Guarantee,
    model: str,
) -> engine.BudgetCurve | None:
    """Return δ at each ε; None where the guarantee has no such curve, or none can be computed, which is then said."""
    if guarantee.kind != "dp" or not guarantee.epsilon:
        return None
    found = states.act(
        workspace.plan.guarantee_curve, method.id, corpus_id=corpus.id, parameters=dict(parameters), model=model
    )
    states.flash()
    return found


def sentence(
    workspace: engine.Workspace,
    corpus: engine.CorpusSummary,
    method: engine.MethodSpec,
    parameters: JSONObject,
    guarantee: engine.Guarantee,
    curve: engine.BudgetCurve | None,
    model: str,
) -> None:
    """Draw what an attacker who was 10% sure can become sure of, as soon as it is known."""
    if curve is None:
        return
    if guarantee.pending or curve.pending:
        wait(lambda: _pending(workspace, corpus, method, parameters, model), key="plan.wait.curve")
        return
    said = _said(corpus, guarantee, curve, certainty.BEFORE)
    more = tr("That is ε = {bound}.", bound=localised(upward(guarantee.bound[0], 4)))
    st.caption(f"{said} {one_point(guarantee) or more}")


def draw(corpus: engine.CorpusSummary, guarantee: engine.Guarantee, curve: engine.BudgetCurve | None) -> None:
    """Draw the guarantee and what follows from it."""
    st.markdown(plain(guarantee.sentence))
    if guarantee.kind == "dp" and guarantee.epsilon:
        if curve is None:
            st.caption(tr("The curve cannot be computed for these settings."))
        elif not (guarantee.pending or curve.pending):
            prior = slider(
                tr("How sure an attacker is beforehand"), 1, 99, 10, 1, key="plan.prior", unit="%", persist=True
            )
            st.markdown(_said(corpus, guarantee, curve, prior / 100))
            if guarantee.counts_earlier:
                st.caption(f"{one_point(guarantee)} " + tr("The noise below is that of this run alone."))
            else:
                figure = guarantee_curve(curve.epsilons, curve.standard, curve.strict, *guarantee.bound)
                examined_figure.draw(figure, key="plan.curve")
    noise_table(guarantee)
    accounted(guarantee)
    groups(guarantee, tr("records") if corpus.unit == "record" else tr("people"))
    if guarantee.assumptions or guarantee.voided_by:
        st.markdown(tr("**What it relies on, and what breaks it**"))
        st.markdown("\n".join(f"- {tr('Relies on: {line}', line=plain(line))}" for line in guarantee.assumptions))
        st.markdown("\n".join(f"- {tr('Breaks it: {line}', line=plain(line))}" for line in guarantee.voided_by))


def _pending(
    workspace: engine.Workspace,
    corpus: engine.CorpusSummary,
    method: engine.MethodSpec,
    parameters: JSONObject,
    model: str,
) -> bool:
    given = dict(parameters)
    try:
        if workspace.plan.guarantee(method.id, corpus_id=corpus.id, parameters=given).pending:
            return True
        return workspace.plan.guarantee_curve(method.id, corpus_id=corpus.id, parameters=given, model=model).pending
    except engine.UserError:  # it cannot be computed; the page says why
        return False


@st.fragment(run_every="1s")
def wait(pending: Callable[[], bool], *, key: str, what: str = "") -> None:
    """Say that an answer is being computed; run the page once when it is there."""
    if not pending():
        st.rerun()
    with st.container(key=key):
        st.caption(
            tr(
                ":material/hourglass_top: {what} is being computed and appears here by itself.",
                what=what or tr("The exact accounting"),
            )
        )


def chance_at(guarantee: engine.Guarantee, curve: engine.BudgetCurve) -> float:
    """Return a bound on Pr[loss of what leaves > ε] at the claimed ε: by formula where one holds, else by the curve."""
    mu = gaussian_mu(guarantee.mechanisms)
    if mu is not None:
        return gaussian_failure(mu, guarantee.bound[0])
    return failure(guarantee.bound[0], [guarantee.bound, *zip(curve.epsilons, curve.standard, strict=True)])


def _said(corpus: engine.CorpusSummary, guarantee: engine.Guarantee, curve: engine.BudgetCurve, prior: float) -> str:
    """Return what an attacker with this prior can become sure of under a claim."""
    epsilon = guarantee.bound[0]
    if guarantee.counts_earlier:
        epsilon, chance = above_point(guarantee)
    else:
        chance = chance_at(guarantee, curve)
    return prior_sentence(prior, posterior(prior, epsilon), chance, UNIT_NOUNS[corpus.unit], guarantee.adjacency)


def above_point(guarantee: engine.Guarantee) -> tuple[float, float]:
    """Return an ε, and the chance that the loss passes it, of a claim of which one point (ε, δ) is known.

    At the point itself no chance below 1 follows from a δ above 0; where ε is larger by ln 2 it is at most 2δ.
    """
    epsilon, delta = guarantee.bound
    above = epsilon + math.log(2.0) if delta else epsilon
    return above, failure(above, [(epsilon, delta)])


def one_point(guarantee: engine.Guarantee) -> str:
    """Return that a claim adds up several runs, and its one point; empty for a claim of its own run alone."""
    if not guarantee.counts_earlier:
        return ""
    epsilon, delta = guarantee.bound
    return tr(
        "This claim adds up several runs, so one point is known of it: ε = {epsilon} at δ = {delta}.",
        epsilon=localised(upward(epsilon, 4)),
        delta=localised(upward(delta)),
    )


def in_words(guarantee: engine.Guarantee, prior: float = certainty.BEFORE) -> str:
    """Return what a claim means for an attacker with this prior; empty where only its curve would say how it fails."""
    if guarantee.kind != "dp" or not guarantee.epsilon or guarantee.unit not in UNIT_NOUNS:
        return ""
    epsilon = guarantee.bound[0]
    if guarantee.counts_earlier:
        epsilon, chance = above_point(guarantee)
    else:
        mu = gaussian_mu(guarantee.mechanisms)
        if mu is None:
            return ""
        chance = gaussian_failure(mu, epsilon)
    noun = UNIT_NOUNS[guarantee.unit]
    said = prior_sentence(prior, posterior(prior, epsilon), chance, noun, guarantee.adjacency or "zero-out")
    return f"{said} {one_point(guarantee)}".rstrip()


def not_that_chance(delta: float) -> str:
    """Return what δ bounds, beside the chance that a bound on the privacy loss fails; empty where it is 0."""
    if not delta:
        return ""
    return tr(
        "δ = {delta} is another number: what any probability may have beyond e^ε times the other.",
        delta=localised(upward(delta)),
    )


def prior_sentence(prior: float, after: float, chance: float, noun: str, adjacency: str) -> str:
    """Return what an attacker can become sure of, with the probability that this fails."""
    noun = tr(noun)
    if adjacency.startswith("replace"):
        what = tr("{noun} has one text rather than another", noun=noun)
    else:
        what = tr("{noun} is in the data", noun=noun)
    return tr(
        "If someone is already **{prior}** sure that {what}, after the release they can be at "
        "most **{after}** sure. This bound fails with a chance of at most {chance}.",
        prior=_percent(prior),
        what=what,
        after=_percent(after),
        chance=chance_at_most(chance),
    )


def _percent(value: float) -> str:
    """Return a fraction as percent, rounded so that certainty is never claimed."""
    if 0.01 <= value <= 0.99:
        return localised(f"{math.ceil(100 * value - 1e-6)}%")
    return localised(f"{100 * value:.2g}%" if value < 0.01 else _high(value))


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
    columns: dict[str, Any] = {
        name: st.column_config.NumberColumn(tr(name), format="%.3g")
        for name in (mark("Noise (σ)"), mark("One unit changes it by"))
    }
    columns["Statistic"] = st.column_config.TextColumn(tr("Statistic"))
    st.markdown(tr("**Noise on each statistic**"))
    st.dataframe(
        pd.DataFrame(rows),
        hide_index=True,
        column_config=columns,
        alt=tr("Standard deviation of the noise by statistic"),
    )


def groups(guarantee: engine.Guarantee, noun: str) -> None:
    """Draw what the promise is worth for several who belong together, where a formula holds for the whole claim."""
    if guarantee.kind != "dp" or not guarantee.epsilon or guarantee.pending or guarantee.counts_earlier:
        return
    found = {size: gaussian_mu(guarantee.mechanisms, size) for size in (2, 5)}
    words = [
        f"{size} {noun}: ε = {localised(upward(epsilon_of(mu, guarantee.bound[1])))}"
        for size, mu in found.items()
        if mu
    ]
    if words:
        st.caption(
            tr("For several who belong together, such as a family, at the same δ: {words}.", words="; ".join(words))
        )


def accounted(guarantee: engine.Guarantee) -> None:
    """Draw the totals recomputed from the events, side by side, where the claim is that of these events alone."""
    names = {
        "epsilon_pld": mark("by loss distributions (upper end)"),
        "epsilon_pld_low": mark("by loss distributions (lower end)"),
        "epsilon_rdp": mark("by Rényi divergence, as a check"),
        "epsilon_paper": mark("by the formula of the paper"),
    }
    found = [
        (names[name], value) for name, value in guarantee.accounting.items() if name in names and value is not None
    ]
    if guarantee.kind == "dp" and found and not guarantee.counts_earlier:
        st.caption(
            tr(
                "Recomputed from the planned noise: {found}.",
                found="; ".join(
                    f"ε = {significant(float(value), '.4g')} {tr(words)}"
                    for words, value in found
                    if isinstance(value, int | float)
                ),
            )
        )
