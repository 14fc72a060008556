"""A figure of the engine between its takeaway and what it does not show."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from pages._ui.texts import plain

if TYPE_CHECKING:
    from engine.figures.base import Figure


def draw(figure: Figure, *, key: str, limits: str = "", folded: bool = False) -> None:
    """Draw takeaway, plot and caveat; `limits` is added to the caveat, which `folded` puts into the takeaway's help."""
    caveat = plain(f"{figure.caveat} {limits}".strip())
    st.markdown(plain(figure.takeaway), help=caveat if folded else None)
    st.plotly_chart(figure.plot, key=key, alt=figure.alt, config={"displayModeBar": False})
    if not folded:
        st.caption(caveat)
