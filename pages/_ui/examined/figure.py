"""A figure of the engine between its takeaway and what it does not show."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from pages._ui.texts import plain

if TYPE_CHECKING:
    from engine.figures.base import Figure


def draw(figure: Figure, *, key: str, limits: str = "") -> None:
    """Draw takeaway, plot and caveat; `limits` is added to the caveat."""
    st.markdown(plain(figure.takeaway))
    st.plotly_chart(figure.plot, key=key, alt=figure.alt, config={"displayModeBar": False})
    st.caption(plain(f"{figure.caveat} {limits}"))
