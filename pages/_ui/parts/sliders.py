"""A slider that says its value in its label.

Streamlit writes the value beside the knob in the accent colour, which is too faint on the dark ground; so it
is left out there and stands in the label, where screen readers find it too.

How to use: `epsilon = slider("ε of the run", 0.1, 16.0, 4.0, 0.1, key="ledger.whatif")`.
"""

from __future__ import annotations

import streamlit as st

from pages._ui.language import localised


def slider(
    title: str,
    low: float,
    high: float,
    start: float | None,
    step: float,
    *,
    key: str,
    unit: str = "",
    persist: bool = False,
    help: str | None = None,
) -> float:
    """Draw a slider and return its value, which also stands in its label.

    Args:
        start: its value at first, or None where the session state holds it already, since something else sets it too.
    """
    value = float(st.session_state[key] if start is None else st.session_state.get(key, start))
    shown = localised(f"{value:.10g}%") if unit == "%" else localised(f"{value:.10g}") + (f" {unit}" if unit else "")
    begin = None if start is None else float(start)
    chosen = st.slider(
        f"{title}: {shown}", float(low), float(high), begin, float(step), format=" ", key=key, help=help,
        persist_state="session" if persist else None,
    )  # fmt: skip
    return float(chosen)
