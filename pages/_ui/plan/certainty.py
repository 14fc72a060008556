"""How sure an attacker may become, as the control; ε follows from it.

One number a corpus, whatever method is chosen: what is asked for protects people, not a method. It is kept in the
store, so that it survives a reload.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import streamlit as st

import engine
from engine import epsilon_for, posterior
from pages._ui.language import localised, tr
from pages._ui.texts import UNIT_NOUNS

BEFORE = 0.10  # how sure the attacker of the question is beforehand
LEAST, MOST = 11, 99  # ends of the control, in percent
START = 4.0
LOWEST = 0.01  # the least ε that can be asked for
_FINE = 1e4


def held(workspace: engine.Workspace, corpus_id: str) -> float:
    """Return the ε that stands for a corpus: of this session, else as it was last left, else 4."""
    own = place(corpus_id)
    if own not in st.session_state:
        found = workspace.plan.remembered(corpus_id).get("epsilon")
        st.session_state[own] = float(found) if isinstance(found, int | float) and 0 < found <= 100 else START
    return float(st.session_state[own])


def applies(method: engine.MethodSpec) -> bool:
    """Return whether a method's own ε and δ bound all that leaves; a choice among runs adds to what these spent."""
    return method.kind == "dp" and {"epsilon", "delta"} <= set(method.parameters.model_fields)


def place(corpus_id: str) -> str:
    """Return where a session keeps the ε of a corpus."""
    return f"plan.budget.{corpus_id}"


def epsilon_of_percent(percent: float) -> float:
    """Return the ε, rounded down to four digits, at which an attacker who was 10% sure becomes at most so sure."""
    return max(1.0, math.floor(epsilon_for(BEFORE, percent / 100.0) * _FINE)) / _FINE


def ask(workspace: engine.Workspace, corpus: engine.CorpusSummary) -> float:
    """Draw the control and return ε."""
    epsilon, key = held(workspace, corpus.id), f"plan.sure.{corpus.id}"
    sure = 100.0 * posterior(BEFORE, epsilon)
    shown = min(MOST, max(LEAST, math.ceil(sure - 1e-6)))
    said = localised(f"{shown}%") if sure <= MOST else tr("more than {share}", share=localised(f"{MOST}%"))
    st.session_state[key] = float(shown)

    def moved() -> None:
        keep(workspace, corpus.id, epsilon_of_percent(float(st.session_state[key])))

    what = tr(UNIT_NOUNS[corpus.unit])
    st.slider(  # its value stands in the label, which screen readers find too
        tr(
            "At most how sure may an attacker become, who was {before} sure? {said}", before=localised("10%"), said=said
        ),
        float(LEAST),
        float(MOST),
        step=1.0,
        format=" ",
        key=key,
        on_change=moved,
        help=tr(
            "Sure that {what} is in the data. Lower protects more and needs more people. The "
            "strength ε of the proof follows from it.",
            what=what,
        ),
    )
    return epsilon


def exact(workspace: engine.Workspace, corpus: engine.CorpusSummary, ends: tuple[float, float]) -> None:
    """Draw ε itself, for who thinks in it."""
    key = f"plan.epsilon.{corpus.id}"
    st.session_state[key] = held(workspace, corpus.id)

    def typed() -> None:
        keep(workspace, corpus.id, float(st.session_state[key]))

    st.number_input(
        tr("ε, how much a single person may change what leaves"), min_value=max(LOWEST, ends[0]), max_value=ends[1],
        step=0.1, format="%.4g", key=key, on_change=typed,
        help=tr("Follows from the attacker's certainty above. Below 1 is strong, above 8 is weak."),
    )  # fmt: skip


def to_what_is_left(workspace: engine.Workspace, corpus_id: str, draft: engine.Draft) -> Callable[[], None] | None:
    """Return what sets ε to what a budget leaves for a run of Gaussian noise; None where that is not the obstacle."""
    found = draft.what_if
    if found is None or found.allowed or draft.guarantee.epsilon is None:
        return None
    left = math.floor(found.remaining_before * _FINE) / _FINE
    if not LOWEST <= left < draft.guarantee.epsilon:
        return None
    return partial(keep, workspace, corpus_id, left)


def keep(workspace: engine.Workspace, corpus_id: str, epsilon: float) -> None:
    """Keep ε for a corpus, here and in the store."""
    st.session_state[place(corpus_id)] = epsilon
    workspace.plan.remember(corpus_id, {**workspace.plan.remembered(corpus_id), "epsilon": epsilon})
