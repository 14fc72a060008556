"""The filter around the chosen method: one switch on the plan page."""

from __future__ import annotations

import streamlit as st

import engine
from pages._ui.language import tr

ITSELF = "filter"
PREFIX = "filter:"


def ask(method: engine.MethodSpec, corpus_id: str) -> engine.MethodSpec:
    """Return the method's specification, or that of the method with the filter behind it where the switch is on."""
    if method.id == ITSELF:
        return method
    formal = method.kind == "dp"
    on = st.toggle(
        tr("Filter what comes out"),
        key=f"plan.filter.{corpus_id}.{method.id}",
        help=tr(
            "Identifiers that are still found are replaced and sentences near a sensitive phrase are redacted. "
            "Here it uses public rules alone, so the guarantee stays as it is."
        )
        if formal
        else tr(
            "Identifiers that are still found are replaced and sentences near a sensitive phrase are redacted. "
            "It uses this corpus' own detector and what the review accepted."
        ),
        wrap=True,
    )
    if not on:
        return method
    from engine import get_method

    return get_method(PREFIX + method.id).spec
